"""What EMR writes about a node every quarter of an hour (`instance-state` logs), and the same commands typed by hand.

The file is the output of `uptime`, `free`, `df`, `ps` and others, one behind the other, with no logger's records in
it. What a rule asks for becomes rows of `log_events` whose `signatures` are the names here.
"""

from __future__ import annotations

import json
import re
from calendar import timegm
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from emberscope.errors import UsageError
from emberscope.units import parse_bytes

FULL_DISK: Final = "emr_full_disk"
HIGH_LOAD: Final = "emr_high_load"
LITTLE_MEMORY: Final = "emr_little_memory"
BUSY_PROCESS: Final = "emr_busy_process"
NODE_SEEN: Final = "emr_node_seen"

FULL_PERCENT: Final = 90
"""YARN takes no more work on a disk that is fuller (`max-disk-utilization-per-disk-percentage`)."""
BUSY_PERCENT: Final = 50.0
_LOAD_RATIO: Final = 1.5
_LEAST_FREE: Final = 0.05
_MOST_PROCESSES: Final = 5

_DISK: Final = re.compile(
    r"^(?P<device>\S+)\s+(?:\w+\s+)?(?P<size>[\d.]+[KMGTP]?)\s+(?P<used>[\d.]+[KMGTP]?)\s+(?P<free>[\d.]+[KMGTP]?)\s+"
    r"(?P<percent>\d{1,3})%\s+(?P<mount>/\S*)\s*$"
)
_LOAD: Final = re.compile(r"load averages?: (?P<one>[\d.]+),? (?P<five>[\d.]+),? (?P<fifteen>[\d.]+)")
_MEMORY: Final = re.compile(r"^Mem:\s+(?P<total>\d+)\s+(?P<used>\d+)\s+(?P<free>\d+)(?P<more>[\s\d]*)$")
_PROCESS: Final = re.compile(
    r"^(?P<user>\S+)\s+(?P<pid>\d+)\s+(?P<cpu>\d+\.\d)\s+(?P<memory>\d+\.\d)\s+\d+\s+\d+\s+\S+\s+\S+\s+\S+\s+\S+\s+"
    r"(?P<command>\S.*)$"
)
_CORES: Final = re.compile(r"\((?P<cores>\d+) CPU\)|^(?:CPU\(s\)|cpu cores)\s*:\s*(?P<count>\d+)")
_DATE: Final = re.compile(
    r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?P<month>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s+(?P<day>\d{1,2}) "
    r"(?P<clock>\d\d:\d\d:\d\d) (?:UTC|GMT) (?P<year>\d{4})\b"
)
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_HOST: Final = re.compile(r"^Linux \S+ \((?P<host>[\w.-]+)\)")
_NODE: Final = re.compile(r"(?:^|/)node/(?P<node>i-[0-9a-f]+)/|(?:^|/)(?P<only>i-[0-9a-f]{8,})/")

# Signs of such a file: one of these lines is not enough, as people paste `df` anywhere.
_SIGNS: Final = (
    re.compile(rb"^#?\s*(?:ps auxwww|iostat -|netstat -|df -h|free -m|uptime\b|dmesg)", re.M),
    re.compile(rb"^Filesystem\s+(?:Type\s+)?(?:Size|1K-blocks)\s+Used\s+Avail", re.M),
    re.compile(rb"load averages?: [\d.]+", re.M),
    re.compile(rb"^USER\s+PID\s+%CPU\s+%MEM", re.M),
    re.compile(rb"^\s+total\s+used\s+free", re.M),
)
_LEAST_SIGNS: Final = 2


class Line(Struct, frozen=True):
    """One fact of a node: the signature it is asked for by, its line, its number from 1, and its parts."""

    signature: str
    text: str
    line: int
    fields: dict[str, str]


class NodeState(Struct, frozen=True):
    """What one file says of one node. `time_ms` is the last moment that it names, null where it names none."""

    host: str | None
    time_ms: int | None
    cores: int | None
    lines: tuple[Line, ...]


def looks_like_instance_state(head: bytes) -> bool:
    """Whether a text begins as the state of a machine does: by two signs at least."""
    return sum(1 for sign in _SIGNS if sign.search(head)) >= _LEAST_SIGNS


def read_instance_state(text: str, path: str = "") -> NodeState:
    """The facts that matter: full disks, load beyond the cores, memory that is gone, processes that take most CPU.

    `path` tells the node where the text does not (EMR's layout: `node/i-…/daemons/instance-state/…`).
    """
    lines = text.splitlines()
    cores = _first(lines, _CORES, ("cores", "count"))
    host = _first(lines, _HOST, ("host",)) or _of_path(path)
    found = [*_disks(lines), *_load(lines, int(cores) if cores else None), *_memory(lines), *_processes(lines)]
    return NodeState(host, _time_ms(lines), int(cores) if cores else None, tuple(sorted(found, key=lambda f: f.line)))


def log_events(state: NodeState, path: str) -> list[dict[str, Any]]:
    """The facts as rows of table `log_events`, without `event_id`, behind one that says that the node was seen."""
    cores = {"cores": str(state.cores)} if state.cores else {}
    seen = Line(NODE_SEEN, f"state of a node{f' of {state.cores} cores' if state.cores else ''}", 1, {})
    return [
        {
            "time_ms": state.time_ms,
            "last_ms": state.time_ms,
            "count": 1,
            "level": None,
            "logger": "instance-state",
            "message": fact.text,
            "text": fact.text,
            "causes": [],
            "frames": [],
            "signatures": [fact.signature],
            "fields": json.dumps({fact.signature: {**fact.fields, **cores}}),
            "file": path,
            "line": fact.line,
            "role": "node",
            "host": state.host,
        }
        for fact in (seen, *state.lines)
    ]


def _disks(lines: list[str]) -> Iterator[Line]:
    seen: set[str] = set()
    for number, line in enumerate(lines, 1):
        found = _DISK.match(line)
        if found is None or int(found["percent"]) < FULL_PERCENT or found["mount"] in seen:
            continue
        # What has no disk of its own, and images that are full by nature.
        if found["device"] in ("tmpfs", "devtmpfs", "none", "udev") or found["mount"].startswith("/snap/"):
            continue
        seen.add(found["mount"])
        yield Line(FULL_DISK, line.strip(), number, found.groupdict())


def _load(lines: list[str], cores: int | None) -> Iterator[Line]:
    for number, line in enumerate(lines, 1):
        found = _LOAD.search(line)
        if found is not None:
            if cores and float(found["five"]) > _LOAD_RATIO * cores:
                yield Line(HIGH_LOAD, line.strip(), number, found.groupdict())
            return


def _memory(lines: list[str]) -> Iterator[Line]:
    """`free` of new systems says in its last column what is available; of old ones only what is free and cached."""
    header = ""
    for number, line in enumerate(lines, 1):
        if "total" in line and "used" in line and "free" in line:
            header = line
        found = _MEMORY.match(line)
        if found is None:
            continue
        rest = [int(word) for word in found["more"].split()]
        available = rest[-1] if "available" in header and rest else int(found["free"]) + sum(rest[-2:])
        total = int(found["total"])
        if total and available < _LEAST_FREE * total:
            yield Line(LITTLE_MEMORY, line.strip(), number, {"total": str(total), "available": str(available)})
        return


def _processes(lines: list[str]) -> Iterator[Line]:
    """The busiest processes, each once."""
    seen: set[str] = set()
    for number, line in enumerate(lines, 1):
        found = _PROCESS.match(line)
        if found is None or float(found["cpu"]) < BUSY_PERCENT or found["pid"] in seen:
            continue
        seen.add(found["pid"])
        parts = {name: found[name] for name in ("user", "pid", "cpu", "memory")}
        yield Line(BUSY_PROCESS, line.strip(), number, {**parts, "command": found["command"][:500]})
        if len(seen) >= _MOST_PROCESSES:
            return


def _first(lines: list[str], pattern: re.Pattern[str], names: tuple[str, ...]) -> str | None:
    for line in lines:
        found = pattern.search(line)
        if found is not None:
            return next((found[name] for name in names if found[name]), None)
    return None


def _of_path(path: str) -> str | None:
    found = _NODE.search(path.replace("\\", "/"))
    return (found["node"] or found["only"]) if found else None


def _time_ms(lines: list[str]) -> int | None:
    """The first date in UTC that the text names."""
    for line in lines:
        found = _DATE.search(line)
        if found is not None:
            hours, minutes, seconds = map(int, found["clock"].split(":"))
            month = _MONTHS.index(found["month"]) + 1
            return 1000 * timegm((int(found["year"]), month, int(found["day"]), hours, minutes, seconds))
    return None


def size_bytes(text: str) -> int | None:
    """A size of `df -h` (`1.5T`, `200G`); None for what is no size."""
    try:
        return parse_bytes(text.lower())
    except UsageError:
        return None
