"""Grows a real event log: its own events again and again, with new ids and later times.

    python benchmarks/eventlogs_make.py LOG OUT --megabytes N

LOG is an event log as Spark wrote it, plain or compressed; OUT is plain. Each copy has its own ids of jobs, stages,
tasks, RDDs, accumulators and SQL executions, and its times follow those of the copy before. Events about the
application, its settings and its executors come once, as in a real log; so does ApplicationEnd, at the end. A last
line that is cut is left out.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from emberscope.eventlog.codecs import decompress
from emberscope.eventlog.lines import stream_of
from emberscope.eventlog.parts import parts_of

_ONCE_BEFORE: Final = (
    "LogStart",
    "ApplicationStart",
    "EnvironmentUpdate",
    "ExecutorAdded",
    "BlockManagerAdded",
    "ResourceProfileAdded",
    "MiscellaneousProcessAdded",
    "DBCEventLoggingListenerMetadata",
)
_ONCE_AFTER: Final = ("ExecutorRemoved", "BlockManagerRemoved", "ApplicationEnd")
_IDS: Final = {
    "Job ID": "job",
    "Stage ID": "stage",
    "Stage IDs": "stage",
    "Task ID": "task",
    "RDD ID": "rdd",
    "executionId": "execution",
    "rootExecutionId": "execution",
    "spark.sql.execution.id": "execution",
    "spark.sql.execution.root.id": "execution",
    "accumulatorId": "accumulator",
}
_TIMES: Final = frozenset(
    ("Submission Time", "Completion Time", "Launch Time", "Finish Time", "Getting Result Time", "Timestamp", "time")
)

# Places for numbers, without and within quotes: characters that no log has.
_NUMBER: Final = "\ue000"
_TEXT: Final = "\ue001"


class Template:
    """One event as text with places for its ids and times."""

    def __init__(self, event: dict[str, Any]) -> None:
        self.numbers: list[tuple[int, str]] = []
        text = json.dumps(self._marked(event, "", ""), ensure_ascii=False, separators=(",", ":"))
        text = text.replace("%", "%%").replace(f'"{_NUMBER}"', "%d").replace(_TEXT, "%d")
        self._text = text + "\n"

    def _marked(self, value: Any, key: str, around: str) -> Any:
        if isinstance(value, dict):
            return {name: self._marked(inner, name, key) for name, inner in value.items()}
        if isinstance(value, list):
            if key == "accumUpdates":
                return [[self._place(pair[0], "accumulator"), *pair[1:]] for pair in value]
            return [self._marked(inner, key, around) for inner in value]
        kind = self._kind(value, key, around)
        return value if kind is None else self._place(value, kind)

    def _kind(self, value: Any, key: str, around: str) -> str | None:
        if isinstance(value, str) and not (key in _IDS and value.isdigit()):
            return None
        if value is None or isinstance(value, bool | float):
            return None
        if key in _TIMES:
            return "time" if value else None
        if key == "ID" and around == "Accumulables":
            return "accumulator"
        if key == "Parent IDs":
            return "rdd" if around == "RDD Info" else "stage"
        return _IDS.get(key)

    def _place(self, value: Any, kind: str) -> Any:
        self.numbers.append((int(value), kind))
        return _TEXT if isinstance(value, str) else _NUMBER

    def text(self, shift: dict[str, int]) -> str:
        return self._text % tuple(value + shift[kind] for value, kind in self.numbers)


def events_of(path: str) -> Iterator[dict[str, Any]]:
    """The events of a log; lines that are no JSON are left out."""
    for part in parts_of(path)[0]:
        with open(part.path, "rb") as file:
            for line in stream_of(decompress(file, part.codec, [])):
                try:
                    yield json.loads(line)
                except ValueError:
                    print(f"left out: a line of {len(line)} bytes that is not whole", file=sys.stderr)


def grow(source: str, out: Path, size_bytes: int) -> int:
    """Writes `out`; gives back how many copies are in it."""
    before, after, repeated = [], [], []
    for event in events_of(source):
        name = str(event["Event"]).rpartition(".")[2].removeprefix("SparkListener")
        place = before if name in _ONCE_BEFORE else after if name in _ONCE_AFTER else repeated
        place.append(Template(event))
    steps: dict[str, int] = {}
    times = [value for template in repeated for value, kind in template.numbers if kind == "time"]
    for template in repeated:
        for value, kind in template.numbers:
            if kind != "time":
                steps[kind] = max(steps.get(kind, 0), value + 1)
    steps["time"] = max(times) - min(times) + 1000
    nothing = dict.fromkeys(steps, 0)
    copies = 0
    shift = nothing
    with out.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(template.text(nothing) for template in before)
        while file.tell() < size_bytes:
            shift = {kind: step * copies for kind, step in steps.items()}
            file.writelines(template.text(shift) for template in repeated)
            copies += 1
        file.writelines(template.text(shift) for template in after)
    return copies


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log")
    parser.add_argument("out", type=Path)
    parser.add_argument("--megabytes", type=int, required=True)
    given = parser.parse_args()
    copies = grow(given.log, given.out, given.megabytes * 1_000_000)
    print(f"{given.out}: {copies} copies, {given.out.stat().st_size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
