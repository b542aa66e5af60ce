"""What a text gives away, by rule: hosts, users, paths, addresses, the application's name, and literals of SQL.

The same thing has the same pseudonym everywhere: host-1, user-1, path-1. Rather too much than too little is replaced;
what a diagnosis rests on (numbers of settings, names of columns, tables and operators, classes, call sites by file and
line) stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

LITERAL: Final = "?"

# Words too common to be replaced wherever they stand; where a field is known to hold a user or host they are.
_COMMON: Final = frozenset(
    {"localhost", "127.0.0.1", "0.0.0.0", "root", "spark", "hadoop", "hdfs", "yarn", "livy", "driver", "user", "admin"}
)
_LEAST_NAME: Final = 4
_MOST_SEEN: Final = 50_000
"""Texts whose answer is remembered: those of an event log come again and again."""
_HOST_SCHEMES: Final = frozenset({"http", "https", "spark", "k8s", "ftp", "thrift", "rpc", "mesos", "ws", "wss"})

_URL: Final = re.compile(r"\b([A-Za-z][A-Za-z0-9+.\-]{1,20}):(/{1,3})([^\s,;'\"\])}>|]+)")
_WORD: Final = re.compile(r"[\w\-][\w.\-]*")
_PATH: Final = re.compile(r"(?<![\w/:.<@*\-])/(?:[\w.@+=%~\-*${}]+/)+[\w.@+=%~\-*${}]*")
_WINDOWS: Final = re.compile(r"\b[A-Za-z]:\\(?:[\w.@+=%~\- ]+\\)*[\w.@+=%~\-]*")
_SOURCE_LINE: Final = re.compile(r"/([\w.\-]+\.(?:py|scala|java|kt|sql|R|ipynb)(?::\d+)?)$")
_ENDING: Final = re.compile(r"\.(?:parquet|orc|avro|csv|json|txt|gz|snappy|zst|delta|jar|py|zip|log|conf|jfr|sql|xml)$")
_DISK: Final = re.compile(r"/(?:(?:mnt|data|disk|ssd|nvme|media|local)_?\d*|tmp|dev/shm|var(?:/log|/lib)?)/(?=.)")
"""Which disk is full, or slow, is what a path is most often looked at for."""
_CONTAINERS: Final = re.compile(r"(?<=/)(?:application_\d+_\d+|container_(?:e\d+_)?\d+_\d+_\d+_\d+)(?=/|$)")
_JDBC: Final = re.compile(r"\bjdbc:[^\s,\])}]+")
_MAIL: Final = re.compile(r"\b[\w.+\-]+@[\w\-]+(?:\.[\w\-]+)+\b")
_IPV4: Final = re.compile(r"(?<![\w.\-])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])")
_EC2: Final = re.compile(r"\bip-\d+-\d+-\d+-\d+(?:\.[\w\-]+)*")
# A source file and its line look the same: Dataset.scala:3129.
_HOST_PORT: Final = re.compile(
    r"(?<![\w./\-])((?:[A-Za-z0-9\-]+\.)+(?!(?:scala|java|kt|py|sql|R|ipynb|cpp|hpp|cc?|h|go|rs|js)\b)"
    r"[A-Za-z][A-Za-z0-9\-]*):(\d{2,5})\b"
)

_QUOTED: Final = re.compile(r"'(?:[^'\\]|\\.|'')*'")
_DOUBLE: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_NUMBER: Final = re.compile(r"(?<![\w.#])\d+(?:\.\d+)?(?![\w.])")
_STATEMENT: Final = re.compile(
    r"^\W*(?:select|with|insert|create|merge|update|delete|replace|cache|explain|from|values|call|truncate|load)\b",
    re.I,
)

# Literals in the text of plans, which Spark writes without quotes: after comparisons, in lists, in pushed filters.
_COLUMN: Final = r"\w+#\d+L?"
_PLAN: Final = (
    (re.compile(rf"(<=>|!=|>=|<=|=|>|<)(\s+)(?!{_COLUMN})([^()\[\],#]+)(?=[),\]])"), rf"\1\2{LITERAL}"),
    (re.compile(r"\b(IN|INSET)\s+\([^()]*\)"), rf"\1 ({LITERAL})"),
    (re.compile(r"\bINSET\s+(?!\()[^()\[\]]+(?=[)\]])"), f"INSET {LITERAL}"),
    (re.compile(r"\b(R?LIKE|ILIKE)\s+[^()\[\],]+"), rf"\1 {LITERAL}"),
    (
        re.compile(
            r"\b(EqualTo|EqualNullSafe|GreaterThan|GreaterThanOrEqual|LessThan|LessThanOrEqual|StringStartsWith"
            r"|StringEndsWith|StringContains|In|StartsWith|EndsWith|Contains)\(([^(),]+),[^()]*\)"
        ),
        rf"\1(\2,{LITERAL})",
    ),
    (re.compile(r"(?<=[\[,])(\s*)(?![\w.]+\()[^\[\],#()]+( AS \w+#\d+)"), rf"\1{LITERAL}\2"),
)


class Pseudonyms:
    """Remembers what it called what."""

    def __init__(self) -> None:
        self._names: dict[str, dict[str, str]] = {}
        self._meanings: dict[str, str] = {}
        self._firsts: set[str] = set()
        self._phrases: dict[str, str] = {}
        self._phrase: re.Pattern[str] | None = None
        self._seen: dict[tuple[str, str], str] = {}

    def of(self, kind: str, name: str) -> str:
        """The pseudonym of a name that is known to be of this kind."""
        if name in ("", "localhost", "127.0.0.1", "0.0.0.0"):
            return name
        known = self._names.setdefault(kind, {})
        return known.setdefault(name, f"{kind}-{len(known) + 1}")

    def know(self, kind: str, name: str | None) -> None:
        """Replace this name wherever it stands by itself in a text, where it is no common word."""
        if not name:
            return
        pseudonym = self.of(kind, name) if kind != "application" else "application"
        if len(name) >= _LEAST_NAME and name.lower() not in _COMMON and not name.isdigit():
            if name in self._meanings or name in self._phrases:
                return
            self._seen.clear()
            if _WORD.fullmatch(name):
                self._meanings[name] = pseudonym
                self._firsts.add(name.partition(".")[0])
                return
            self._phrases[name] = pseudonym
            words = "|".join(re.escape(word) for word in sorted(self._phrases, key=lambda w: (-len(w), w)))
            self._phrase = re.compile(rf"(?<![\w\-])(?:{words})(?![\w\-])")

    def text(self, text: str) -> str:
        """Free text: messages, names of jobs, values of settings."""
        return self._once("text", text, self._text)

    def lines(self, text: str) -> str:
        """As `text`, of many lines at once, which do not come again."""
        return self._text(text)

    def plan(self, text: str) -> str:
        """The text of a plan or of one operator, without its literals."""
        return self._once("plan", text, self._plan)

    def statement(self, text: str) -> str:
        """A description that may be a statement of SQL: then without its literals too."""
        return self._once("statement", text, self._statement)

    def _once(self, kind: str, text: str, clean: Callable[[str], str]) -> str:
        if not text:
            return text
        known = self._seen.get((kind, text))
        if known is None:
            if len(self._seen) >= _MOST_SEEN:
                self._seen.clear()
            known = self._seen[kind, text] = clean(text)
        return known

    def _text(self, text: str) -> str:
        if "jdbc:" in text:
            text = _JDBC.sub(lambda found: self.of("path", found[0]), text)
        if ":/" in text:
            text = _URL.sub(self._url, text)
        if ":\\" in text:
            text = _WINDOWS.sub(lambda found: self._path(found[0]), text)
        text = _PATH.sub(lambda found: self._path(found[0]), text)
        if "@" in text:
            text = _MAIL.sub(lambda found: self.of("user", found[0]), text)
        if "ip-" in text:
            text = _EC2.sub(lambda found: self.of("host", found[0]), text)
        text = _IPV4.sub(lambda found: self.of("host", found[0]), text)
        text = _HOST_PORT.sub(lambda found: f"{self.of('host', found[1])}:{found[2]}", text)
        if self._phrase is not None:
            text = self._phrase.sub(lambda found: self._phrases[found[0]], text)
        return _WORD.sub(self._word, text) if self._meanings else text

    def _word(self, found: re.Match[str]) -> str:
        """A word, or names with dots between them, with what is known of it replaced: the longest parts first."""
        word = found[0]
        if word in self._meanings:
            return self._meanings[word]
        parts = word.split(".")
        for start, part in enumerate(parts):
            if part not in self._firsts:
                continue
            for end in range(len(parts), start, -1):
                known = self._meanings.get(".".join(parts[start:end]))
                if known is not None:
                    return ".".join((*parts[:start], known, *parts[end:]))
        return word

    def _plan(self, text: str) -> str:
        text = _QUOTED.sub(LITERAL, self._text(text))
        for pattern, replacement in _PLAN:
            text = pattern.sub(replacement, text)
        return text

    def _statement(self, text: str) -> str:
        text = _QUOTED.sub(LITERAL, self._text(text))
        return _NUMBER.sub(LITERAL, _DOUBLE.sub(LITERAL, text)) if _STATEMENT.match(text) else text

    def _url(self, found: re.Match[str]) -> str:
        scheme, slashes, rest = found[1], found[2], found[3]
        if scheme.lower() not in _HOST_SCHEMES:
            return f"{scheme}:{slashes}{self._path(found[0])}"
        authority, slash, path = rest.partition("/")
        host, colon, port = authority.rpartition("@")[2].partition(":")
        shown = self.of("host", host) if not re.fullmatch(r"host-\d+", host) else host
        return f"{scheme}:{slashes}{shown}{colon}{port}{slash}{self.of('path', found[0]) if path else ''}"

    def _path(self, path: str) -> str:
        """A pseudonym that keeps what kind of file it is, the line of a source, the disk, and whose container's."""
        line = _SOURCE_LINE.search(path)
        if line is not None:
            return f"{self.of('path', path[: line.start()])}/{line[1]}"
        disk, ending = _DISK.match(path), _ENDING.search(path)
        whose = "".join(f"/{name}" for name in _CONTAINERS.findall(path))
        return (disk[0] if disk else "") + self.of("path", path) + whose + (ending[0] if ending else "")
