"""The folded stacks that another reader expects of recordings: `*_expected_collapsed.txt.gz` beside them.

They are from the tests of grafana's jfr-parser. A line is `frame;frame;… [value value…]`, root first, a frame
`package/Class.method:line`. What the names of the files mean:

| name | events | values |
|---|---|---|
| process_cpu | ExecutionSample in any state but sleeping | number x period in ns |
| memory_alloc_in_new_tlab, memory_alloc_outside_tlab, memory_alloc_sample | one allocation event each | number, bytes |
| block | ThreadPark | number, duration |
| mutex | JavaMonitorEnter | number, duration |

What has to be mapped: a line -1 is written as 4294967295; durations are ticks, although they are called nanoseconds;
names have their numbers and addresses (here and there `_` in their place) and native functions their library, where we
spell both as `emberscope.tables.frames` says.
"""

from __future__ import annotations

import functools
import gzip
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from emberscope.jfr.header import Header, split
from emberscope.jfr.recording import read_recording
from emberscope.jfr.source import opened
from emberscope.tables.frame_names import NO_NAME, frame_name
from tests.jfr.recordings import paths

SUFFIX = "_expected_collapsed.txt.gz"
_KIND = re.compile(r"^(?P<recording>.+)_(?P<number>\d)_(?P<kind>process_cpu|memory_alloc|block|mutex)(?P<rest>.*)")
_NATIVE = re.compile(r"(?:.*\.so(?:\.\d+)*|vdso)\.(?P<name>.+)")
_NUMBERED = re.compile(r"(?<=Accessor)_$")
_MINUS_ONE = "4294967295"


@dataclass
class Stacks:
    """How many events stand on each stack, and the sums of their values in nanoseconds or bytes."""

    counts: Counter[str] = field(default_factory=Counter)
    values: Counter[str] = field(default_factory=Counter)


def kind_of(file: Path) -> tuple[str, str, str | None]:
    """The recording's name, our event and our variant."""
    found = _KIND.match(file.name)
    assert found is not None, file.name
    kind, rest = found["kind"], found["rest"]
    if kind == "process_cpu":
        return found["recording"], "cpu", None
    if kind == "memory_alloc":
        variant = next(word for word in ("in_new_tlab", "outside_tlab", "sample") if rest.startswith(f"_{word}"))
        return found["recording"], "alloc", "sampled" if variant == "sample" else variant
    return found["recording"], "lock", "park" if kind == "block" else "enter"


@functools.cache
def spelled(frame: str) -> str:
    place, _, line = frame.rpartition(":")
    line = "-1" if line == _MINUS_ONE else line
    if place.startswith("."):  # no class: a function or a whole library
        return f"{place[1:] or NO_NAME}:{line}"
    if native := _NATIVE.fullmatch(place):
        return f"{native['name']}:{line}"
    owner, _, method = place.rpartition(".")
    return f"{frame_name(_NUMBERED.sub('', owner), method)}:{line}"


def expected(file: Path, event: str, ticks_per_second: int) -> Stacks:
    stacks = Stacks()
    for line in gzip.decompress(file.read_bytes()).decode().splitlines():
        stack, _, numbers = line.rpartition(" [")
        values = [int(number) for number in numbers.rstrip("]").split()]
        name = ";".join(map(spelled, stack.split(";")))
        if event == "cpu":
            stacks.values[name] += values[0]
        else:
            stacks.counts[name] += values[0]
            stacks.values[name] += values[1] * 10**9 // ticks_per_second if event == "lock" else values[1]
    return stacks


def ours(recording: Path, event: str, variant: str | None) -> Stacks:
    read = read_recording(recording, recording.name, lines=True)
    texts = [";".join(path).removeprefix("[truncated]:0;") for path in paths(read.stacks, read.frames, lines=True)]
    stacks = Stacks()
    for row in read.samples.to_pylist():
        if row["event"] == event and variant in (None, row["variant"]):
            stacks.counts[texts[row["stack"]]] += row["count"]
            stacks.values[texts[row["stack"]]] += row["value"]
    return stacks


def ticks_per_second(recording: Path) -> int:
    with opened(recording) as (source, _):
        return next(part.ticks_per_second for part in split(source) if isinstance(part, Header))


def difference(file: Path) -> str:
    """What of a file of expected stacks is otherwise in ours; empty where nothing is."""
    name, event, variant = kind_of(file)
    recording = file.with_name(f"{name}.jfr.gz")
    theirs = expected(file, event, ticks_per_second(recording))
    mine = ours(recording, event, variant)
    rounding = {stack: mine.counts[stack] if event == "lock" else 0 for stack in mine.counts}
    different = [
        stack
        for stack in sorted(theirs.values.keys() | mine.values.keys())
        if abs(theirs.values[stack] - mine.values[stack]) > rounding.get(stack, 0)
        or (theirs.counts and theirs.counts[stack] != mine.counts[stack])
    ]
    if not different:
        return ""
    first = different[0]
    return (
        f"{len(different)} of {len(theirs.values)} stacks differ: {mine.counts[first]} {mine.values[first]}, "
        f"not {theirs.counts[first]} {theirs.values[first]}, of {first}"
    )
