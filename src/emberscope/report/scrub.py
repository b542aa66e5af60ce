"""Inputs as they can be handed on: secrets taken out, and names replaced by the same pseudonyms in every file.

`report/redaction.py` does that to the tables of a run. Here it is done to what a run is read from, so that whoever is
given it can read it with the same result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from emberscope.redact import REPLACEMENT, Redactor
from emberscope.report.pseudonyms import LITERAL, Pseudonyms
from emberscope.report.redaction import setting

_SECRET: Final = r"[\w.\-]*(?:secret|passw(?:or)?d|passphrase|token|access[._-]?key|credential)[\w.\-]*"

# A name and its secret, apart from each other as configurations have them: in columns, in XML, in lists of variables.
# Each with what must stand in a text for it to be tried.
_APART: Final = (
    ("", re.compile(rf"^([ \t]*(?:export[ \t]+)?{_SECRET}[ \t]+)(?![=:<(])(\S+)[ \t]*$", re.I | re.M)),
    (":", re.compile(rf"^([ \t]*{_SECRET}:[ \t]{{1,80}})(?![<{{\[])(\S[^\n]*)$", re.I | re.M)),
    ("<name>", re.compile(rf"(<name>\s*{_SECRET}\s*</name>\s*<value>)([^<]+)(?=</value>)", re.I)),
    ("value:", re.compile(rf"(\bname:\s*['\"]?{_SECRET}['\"]?\s*\n\s*value:[ \t]*)(\S[^\n]*)", re.I)),
)

# Where logs say whose machines and users these are: names that no pattern of addresses would know.
_HOST: Final = r"((?=[\w\-]*[.\d\-])[A-Za-z][\w.\-]{3,})"
"""With a dot, a digit or a hyphen: any other word may as well be one of English."""
_HOSTS: Final = (
    re.compile(rf"\b(?:[Hh]ost|[Hh]ostname|nodeName|[Nn]ode)[:=] ?\"?{_HOST}"),
    re.compile(rf"\bon (?:host |node ){_HOST}"),
    re.compile(rf"\b[Ee]xecutor \d+ (?:on|from) {_HOST}"),
    re.compile(rf"\({_HOST}, executor (?:\d+|driver)\b"),
    re.compile(rf"\(TID \d+\) \({_HOST} executor (?:\d+|driver)\b"),
    re.compile(rf"^Node:[ \t]+{_HOST}/", re.M),
)
_USERS: Final = (
    re.compile(r"(?:view|modify) acls to: ([A-Za-z][\w.\-]*)"),
    re.compile(r"\b(?:user|ugi)=\"?([A-Za-z][\w.\-]{3,})"),
)
_SELF_EVIDENT: Final = re.compile(r"ip-\d+-\d+-\d+-\d+|(?:host|user|path|group)-\d+$|\d")
"""Known without having been learned: names of EC2 by their form, pseudonyms of ours, addresses."""
_NO_NAMES: Final = frozenset({"true", "false", "null", "none", "unknown", "class", "application", "with", "view"})

# Fields that hold Spark's own words and numbers of things: whatever the application is called, they stay as they are.
_OWN_WORDS: Final = frozenset(
    {
        *("Event", "App ID", "Executor ID", "executorId", "Spark Version", "Class Name", "Locality", "nodeName"),
        *("metricType", "Result", "Variability", "Timestamp", "id", "runId", "queryId", "app_id", "schema", "kind"),
        *("executor_id", "role", "spark_version", "apiVersion", "phase", "type", "uid", "sha256", "containerID"),
    }
)
_HOST_FIELDS: Final = frozenset({"Host", "host", "hostname", "hostName", "hostIP", "podIP", "spark.driver.host"})
_USER_FIELDS: Final = frozenset({"User", "user", "userName", "userId", "user.name"})
_NAME_FIELDS: Final = frozenset({"App Name", "app_name", "spark.app.name"})
_PLANS: Final = frozenset({"physicalPlanDescription", "simpleString", "metadata"})
_STATEMENTS: Final = frozenset({"description", "statement", "Stage Name", "RDD Name", "Name", "name"})
_SETTINGS: Final = frozenset(
    {
        *("Spark Properties", "Hadoop Properties", "System Properties", "Metrics Properties", "JVM Information"),
        *("Properties", "modifiedConfigs", "configuration", "conf", "sparkConf", "hadoopConf"),
    }
)
_SWITCHES: Final = re.compile(r"(?:true|false|\d{1,6}(?:ms|s|m|h|d)?)?", re.IGNORECASE)
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Scrub:
    """Remembers what it called what, over all files that it is given. With `keep_names` it takes out secrets alone.

    Files with names in fields of their own (event logs) are best given first: what is learned there is replaced in
    all that follow.
    """

    def __init__(self, *, keep_names: bool = False) -> None:
        self.keep_names = keep_names
        self._names = Pseudonyms()
        self._secrets = Redactor()
        self._secret_pairs = 0

    @property
    def secrets(self) -> int:
        """How many were taken out until now."""
        return self._secrets.count + self._secret_pairs

    def text(self, text: str) -> str:
        """Any number of whole lines of a log or of a configuration."""
        text = self._secrets.lines(text)
        for sign, pattern in _APART:
            if sign in text:
                text, count = pattern.subn(_hidden, text)
                self._secret_pairs += count
        if self.keep_names:
            return text
        self._learn("host", _HOSTS, text)
        self._learn("user", _USERS, text)
        return self._names.lines(text)

    def event(self, line: bytes) -> bytes:
        """A line of an event log; one that is none, because it is cut, as any text."""
        try:
            found = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return self.text(line.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
        end = b"\n" if line.endswith(b"\n") else b""
        return msgspec.json.encode(self._value("", found, in_log=True)) + end

    def document(self, found: Any) -> Any:
        """A JSON document, of ours or of a cluster manager."""
        return self._value("", found, in_log=False)

    def path(self, name: str) -> str:
        """The name of a file below what was given: folders of applications, containers and attempts stay."""
        if self.keep_names:
            return name
        return "/".join(self._names.text(part) for part in name.split("/"))

    def _learn(self, kind: str, patterns: Iterable[re.Pattern[str]], text: str) -> None:
        for pattern in patterns:
            for name in set(pattern.findall(text)):
                clean = name.rstrip(".")
                if clean.lower() not in _NO_NAMES and not _SELF_EVIDENT.match(clean):
                    self._names.know(kind, clean)

    def _value(self, key: str, value: Any, *, in_log: bool) -> Any:
        if isinstance(value, dict):
            return self._fields(key, value, in_log=in_log)
        if isinstance(value, list):
            return [self._value(key, one, in_log=in_log) for one in value]
        if not isinstance(value, str) or not value or value.isdigit():
            return value
        return self._string(key, value, in_log=in_log)

    def _fields(self, key: str, fields: dict[str, Any], *, in_log: bool) -> dict[str, Any]:
        if key in _SETTINGS:
            return {name: self._setting(name, value) for name, value in fields.items()}
        if key == "Classpath Entries":
            return {self._class_path(name): value for name, value in fields.items()}
        if not in_log and fields.get("kind") == "Secret" and isinstance(fields.get("data"), dict):
            fields = {**fields, "data": dict.fromkeys(fields["data"], REPLACEMENT)}
        variable = fields.get("name")
        if isinstance(variable, str) and isinstance(fields.get("value"), str) and self._secrets.is_secret(variable):
            self._secret_pairs += 1
            fields = {**fields, "value": REPLACEMENT}
        if key in _PLANS:
            return {name: self._string(key, text, in_log=in_log) for name, text in fields.items()}
        return {name: self._value(name, value, in_log=in_log) for name, value in fields.items()}

    def _string(self, key: str, value: Any, *, in_log: bool) -> Any:
        if not isinstance(value, str):
            return self._value(key, value, in_log=in_log)
        if key in _OWN_WORDS and (in_log or key != "nodeName"):
            return value
        if self._secrets.is_secret(key):
            self._secret_pairs += 1
            return REPLACEMENT
        value = self._secrets.text(value) or ""
        if self.keep_names:
            return value
        if key in _HOST_FIELDS or key == "nodeName":
            return self._known("host", value)
        if key in _USER_FIELDS:
            return self._known("user", value)
        if key in _NAME_FIELDS:
            self._names.know("application", value if len(value) > 8 else None)
            return "application"
        return self._cleaner(key)(value)

    def _cleaner(self, key: str) -> Callable[[str], str]:
        if key in _PLANS:
            return self._names.plan
        return self._names.statement if key in _STATEMENTS else self._names.text

    def _known(self, kind: str, name: str) -> str:
        self._names.know(kind, name)
        return self._names.of(kind, name)

    def _setting(self, name: str, value: Any) -> Any:
        if not isinstance(value, str):
            return self._value(name, value, in_log=True)
        if self._secrets.is_secret(name) and not _SWITCHES.fullmatch(value) and not name.endswith("provider"):
            self._secret_pairs += 1
            return REPLACEMENT
        value = self._secrets.setting(name, value)
        if self.keep_names or value == REPLACEMENT:
            return value
        if name in _HOST_FIELDS:
            return self._known("host", value)
        if name in _USER_FIELDS:
            return self._known("user", value)
        if name == "spark.job.description":
            return self._names.statement(value)
        if name == "spark.jobGroup.id":
            return value if _UUID.fullmatch(value) else self._names.of("group", value)
        return value if value in ("", LITERAL) else setting(name, value, self._names)

    def _class_path(self, entry: str) -> str:
        entry = self._secrets.text(entry) or ""
        folder, slash, name = entry.rpartition("/")
        if self.keep_names or not slash:
            return entry
        return f"{self._names.text(folder + slash)}/{name}"


def _hidden(found: re.Match[str]) -> str:
    return found[0] if found[2].startswith("***") else f"{found[1]}{REPLACEMENT}"
