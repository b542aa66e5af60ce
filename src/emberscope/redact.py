"""Secrets are taken out on the way in, so that no table, report or bundle can show one.

Settings and variables go by their name, as Spark's own `spark.redaction.regex` has it; texts (values, plans, error
messages, command lines) by what secrets look like. Rather too much than too little: a word is cheap, a leaked key is
not.
"""

from __future__ import annotations

import re
from typing import Final

REPLACEMENT: Final = "*********(redacted)"
"""Spark's own mark."""

DEFAULT_KEY_REGEX: Final = r"(?i)secret|password|token|access[.]?key"
"""Default of `spark.redaction.regex`."""

_SECRET_NAMES: Final = re.compile(
    r"secret|passw(?:or)?d|passphrase|pwd|token(?!iz)|(?:access|api|account|private|encryption)[._-]?key|credential"
    r"|[._-](?:key|pat|dsn|auth|cookie)$",
    re.IGNORECASE,
)
_NO_SECRETS: Final = frozenset({"PWD", "OLDPWD"})
"""Directories, as shells call them."""

_WORDS: Final = (
    r"(?:secret|passw(?:or)?d|passphrase|pwd|token(?!iz)|access[._-]?key|api[._-]?key|account[._-]?key|credential)"
)
# A schema such as struct<token:string> is no secret, nor is what has been replaced before.
_TYPES: Final = (
    r"(?:string|binary|boolean|tinyint|smallint|int|bigint|long|float|double|decimal|date|timestamp|array|map|struct)\b"
)
_VALUE: Final = rf"""(?!{_TYPES}|\*\*\*)("[^"\n]*"|'[^'\n]*'|[^\s"',;&)}}\]]+)"""

# Literals of which one must be there before the pattern is tried: plans are long and mostly clean.
_PATTERNS: Final = (
    (
        ("secret", "passw", "passphrase", "pwd", "token", "key", "credential"),
        re.compile(rf"({_WORDS}[\w.\-]{{0,40}}[\"']?\s{{0,3}}[=:]\s{{0,3}}){_VALUE}", re.IGNORECASE),
    ),
    (("--",), re.compile(rf"(--[\w.\-]{{0,40}}?{_WORDS}[\w\-]{{0,40}}\s{{1,3}})(?!-){_VALUE}", re.IGNORECASE)),
    (("://",), re.compile(r"(://[^\s/@:\"']{0,200}:)([^\s/@\"']{1,200})(?=@)")),
    (("jdbc:oracle",), re.compile(r"(jdbc:oracle:\w+:[^\s/@]{1,100}/)([^\s@/]{1,200})(?=@)", re.IGNORECASE)),
    (("akia", "asia"), re.compile(r"()(\b(?:AKIA|ASIA)[0-9A-Z]{16}\b)")),
    (("bearer", "basic"), re.compile(r"(\b(?:bearer|basic)\s{1,3})([\w.~+/=\-]{16,})", re.IGNORECASE)),
    (("sig=", "signature="), re.compile(r"([?&](?:sig|X-Amz-Signature|X-Goog-Signature)=)([^&\s\"']+)", re.IGNORECASE)),
    (("eyj",), re.compile(r"()(\beyJ[\w\-]{10,}\.[\w\-]{10,}\.[\w\-]+)")),
    (("ghp_", "gho_", "ghs_", "ghu_", "ghr_"), re.compile(r"()(\bgh[pousr]_[A-Za-z0-9]{30,})")),
    (("xox",), re.compile(r"()(\bxox[abprs]-[\w\-]{10,})")),
    (("dapi",), re.compile(r"()(\bdapi[0-9a-f]{32}\b)")),
    (("private key",), re.compile(r"()(-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*-----|\Z))")),
)


_MOST_CHARACTERS: Final = 8 << 20
_LITERALS: Final = tuple(literal for literals, _ in _PATTERNS for literal in literals)


class Redactor:
    """Takes secrets out and counts them in `count`. `key_regex` follows the log once its settings are known."""

    def __init__(self) -> None:
        self.count = 0
        self._keys = [re.compile(DEFAULT_KEY_REGEX)]
        self._seen: dict[str, str] = {}
        self._seen_characters = 0

    def follow(self, key_regex: str) -> None:
        """Also hide what the log's own `spark.redaction.regex` hides. One that Python cannot read is left aside."""
        if key_regex == DEFAULT_KEY_REGEX or len(key_regex) > 500:
            return
        try:
            custom = re.compile(key_regex)
        except re.error:
            return
        self._keys = [re.compile(DEFAULT_KEY_REGEX), custom]

    def setting(self, key: str, value: str) -> str:
        """The value of a setting, hidden where the key (or, for a custom regex, the value) says so."""
        if value == REPLACEMENT or not value:
            return value
        if any(keys.search(key) for keys in self._keys) or any(keys.search(value) for keys in self._keys[1:]):
            self.count += 1
            return REPLACEMENT
        return self._clean(value)

    def is_secret(self, name: str) -> bool:
        """Whether an environment variable, property or field of this name holds a secret."""
        if name in _NO_SECRETS:
            return False
        return _SECRET_NAMES.search(name) is not None or any(keys.search(name) for keys in self._keys)

    def text(self, text: str | None) -> str | None:
        """A text without what looks like a secret."""
        if not text:
            return text
        known = self._seen.get(text)
        if known is None:
            known = self._clean(text)
            # The same stage names and call sites come again and again; one copy of each is kept.
            if len(text) < 10_000:
                if len(self._seen) > 20_000 or self._seen_characters > _MOST_CHARACTERS:
                    self._seen.clear()
                    self._seen_characters = 0
                self._seen[text] = known
                self._seen_characters += len(text)
        return known

    def lines(self, text: str) -> str:
        """As `text`, of a long one: its lines are searched one by one, those without a sign of a secret not at all."""
        if "PRIVATE KEY" in text:  # it goes over many lines
            return self._clean(text)
        return "\n".join(
            self._clean(line) if any(map(line.lower().__contains__, _LITERALS)) else line for line in text.split("\n")
        )

    def texts(self, texts: list[str] | None) -> list[str] | None:
        """As `text`, of each of them."""
        return None if texts is None else [self.text(text) or "" for text in texts]

    def _clean(self, text: str) -> str:
        low = text.lower()
        if not any(map(low.__contains__, _LITERALS)):
            return text
        for literals, pattern in _PATTERNS:
            if any(literal in low for literal in literals):
                text, replaced = pattern.subn(rf"\g<1>{REPLACEMENT}", text)
                self.count += replaced
        return text


def shorten(text: str | None, limit: int = 4000) -> str | None:
    """A long text without its middle: Python errors name their cause at the end, Java errors at the beginning."""
    if text is None or len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[{len(text) - 2 * half} characters left out]\n{text[-half:]}"
