"""Are our stacks those of async-profiler's `jfrconv`, count by count? `recordings_jfrconv.py --jar JAR FILE...`

JAR is `tools.profiler:jfr-converter:4.5` of Maven Central. One event kind at a time: `jfrconv -o collapsed KIND`
against `emberscope flame --event KIND --format folded`, counts and, where both have them, bytes. What is mapped:

- jfrconv's suffixes `_[j]` etc. are dropped, and names that have a Java one are spelled as we spell them
  (`emberscope.tables.frames.frame_name`): hidden classes without their address, Scala's inner functions.
- jfrconv adds the class of an object or lock as a leaf of its own; it is dropped.
- Our frame `[truncated]` is dropped. Samples without a stack, our line `[no stack]`, stand under the class alone where
  jfrconv adds one, and are left out by it where not.
- A frame without a method is `unknown` to it. It leaves `;` in names, where we write `:`: both are taken as the same.
- jfrconv sums types that we keep apart, and in files of the JDK it cannot tell them apart. Such a file is taken apart
  first, a type at a time, by `jfr scrub` of a JDK of 19 or newer (`--jdk HOME`).

What is left, by intent: async-profiler's execution samples in state RUNNABLE are CPU to us and wall to jfrconv, and it
does not know `profiler.WallClockSleeping` of Pyroscope's fork.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from emberscope.jfr.stacks import UNRESOLVED_FRAME
from emberscope.tables.frame_names import frame_name

EMBERSCOPE = str(Path(sys.executable).with_name("emberscope"))
_JAVA_SUFFIX = re.compile(r"_\[[ij01]\]$")
_JAVA_NATIVE = re.compile(r"[\w$]+(/[\w$]+)+\.[\w$]+")
"""A native method of a Java class, which has no suffix; C functions hold no slash."""
_OTHER_SUFFIX = re.compile(r"_\[[ks]\]$")


@dataclass(frozen=True)
class Kind:
    """What jfrconv and we call an event kind, the event types in it, and whether jfrconv adds a class as leaf."""

    option: str
    event: str
    types: tuple[str, ...]
    has_class: bool = False
    has_bytes: bool = False


SAMPLED = ("jdk.ExecutionSample", "jdk.CPUTimeSample", "jdk.NativeMethodSample", "profiler.WallClockSample")
KINDS = (
    Kind("--cpu", "cpu", ("jdk.ExecutionSample",)),
    Kind("--cpu-time", "cpu", ("jdk.CPUTimeSample",)),
    Kind("--wall", "native", ("jdk.NativeMethodSample",)),
    Kind("--wall", "wall", ("profiler.WallClockSample", "jdk.ExecutionSample")),
    Kind("--alloc", "alloc", ("jdk.ObjectAllocationInNewTLAB", "jdk.ObjectAllocationOutsideTLAB"), True, True),
    Kind("--alloc", "alloc", ("jdk.ObjectAllocationSample",), True, True),
    Kind("--lock", "lock", ("jdk.JavaMonitorEnter", "jdk.ThreadPark"), True),
    Kind("--live", "live", ("profiler.LiveObject",), True, True),
    Kind("--nativemem", "nativemem", ("profiler.Malloc",), False, True),
    Kind("--nativelock", "nativelock", ("profiler.NativeLock",)),
)
CLASHING = (set(SAMPLED), set(KINDS[4].types + KINDS[5].types))
"""Types that jfrconv adds up in files of the JDK."""


def spelled(frame: str) -> str:
    if _JAVA_SUFFIX.search(frame) or _JAVA_NATIVE.fullmatch(frame):
        owner, _, method = _JAVA_SUFFIX.sub("", frame).rpartition(".")
        return frame_name(owner, method) if owner else method
    return _OTHER_SUFFIX.sub("", frame)


def cpu_option(java: str, jar: str, file: Path) -> str:
    """The option by which jfrconv gives our samples of CPU; none where it gives them only with all others.

    That is so in files of the JDK, of whose states jfrconv knows none: they must hold no other samples.
    """
    if event_counts(file)["jdk.CPUTimeSample"]:
        return "--cpu-time"
    return "--cpu" if of_jfrconv(java, jar, file, "--cpu") else ""


def of_jfrconv(java: str, jar: str, file: Path, option: str, *more: str, has_class: bool = False) -> Counter[str]:
    with tempfile.NamedTemporaryFile(suffix=".collapsed") as target:
        command = [java, "-jar", jar, "-o", "collapsed", *option.split(), *more, str(file), target.name]
        ran = subprocess.run(command, capture_output=True, text=True)
        if ran.returncode or "Exception" in ran.stderr:
            raise ValueError(f"jfrconv: {ran.stderr.strip().splitlines()[-1][:200]}")
        text = Path(target.name).read_text(encoding="utf-8", errors="replace")
    counts: Counter[str] = Counter()
    known: dict[str, str] = {}
    for line in text.splitlines():
        stack, _, count = line.rpartition(" ")
        frames = stack.split(";")
        if has_class and frames[-1].endswith(("_[i]", "_[k]")):
            del frames[-1]
        for frame in frames:
            if frame not in known:
                known[frame] = spelled(frame)
        counts[";".join([known[frame] for frame in frames]).replace(":", ";")] += int(count)
    return counts


def of_ours(file: Path, event: str, unit: str) -> tuple[Counter[str], int]:
    """The counts, and how many samples have no stack."""
    command = [EMBERSCOPE, "flame", str(file), "--event", event, "--unit", unit, "--format", "folded"]
    text = subprocess.run(command, capture_output=True, check=True).stdout.decode("utf-8")
    counts: Counter[str] = Counter()
    for line in text.splitlines():
        stack, _, count = line.rpartition(" ")
        counts[stack.removeprefix("[truncated];").replace(UNRESOLVED_FRAME, "unknown").replace(":", ";")] += int(count)
    return counts, counts.pop("[no stack]", 0)


def event_counts(file: Path) -> Counter[str]:
    found = subprocess.run([EMBERSCOPE, "summary", str(file), "--json"], capture_output=True, text=True).stdout
    return Counter(json.loads(found)["recordings"][0]["event_counts"])


def states(file: Path) -> Counter[str]:
    """How many samples of each word for kinds."""
    found = subprocess.run([EMBERSCOPE, "summary", str(file), "--json"], capture_output=True, text=True).stdout
    return Counter(json.loads(found)["recordings"][0]["samples"])


def difference(ours: Counter[str], theirs: Counter[str]) -> str:
    """Empty where both are equal, else the totals and the first stack that differs."""
    ours, theirs = +ours, +theirs
    if ours == theirs:
        return ""
    different = sorted(stack for stack in ours.keys() | theirs.keys() if ours[stack] != theirs[stack])
    first = different[0]
    return (
        f"{len(different)} stacks differ; totals {ours.total()} and jfrconv's {theirs.total()}; "
        f"{ours[first]} and {theirs[first]} of {first[-300:]}"
    )


def check(java: str, jar: str, file: Path, kind: Kind, label: str) -> bool:
    """One line of the table, of a file in which jfrconv's kind has no other types."""
    good = True
    for unit, more in [("samples", ()), *([("bytes", ("--total",))] if kind.has_bytes else [])]:
        try:
            option = cpu_option(java, jar, file) if kind.event == "cpu" else kind.option
            theirs = of_jfrconv(java, jar, file, option, *more, has_class=kind.has_class)
            ours, without = of_ours(file, kind.event, unit)
            without -= theirs.pop("", 0)
        except ValueError as fault:
            print(f"| {label} | {kind.event} | {unit} | not compared: {fault} |", flush=True)
            continue
        fault = difference(ours, theirs)
        said = fault or f"equal: {len(ours):,} stacks, {ours.total():,}"
        said += f"; {without:,} without a stack are left out by jfrconv" if without else ""
        print(f"| {label} | {kind.event} | {unit} | {said} |", flush=True)
        good = good and not fault
    return good


def parts(file: Path, jdk: Path | None, scratch: Path) -> list[tuple[Path, str, Kind]]:
    """What can be compared: the file itself, or the events of one kind taken out of it."""
    counts, words = event_counts(file), states(file)
    jobs = []
    for number, kind in enumerate(KINDS):
        present = [name for name in kind.types if counts[name]]
        if not present or not words[kind.event]:
            continue
        clash = next((group for group in CLASHING if group.intersection(kind.types)), set())
        others = [name for name in clash if counts[name] and name not in kind.types]
        own_states = any(name.startswith("profiler.") for name in counts) and kind.event in ("cpu", "wall")
        if not others or own_states:
            jobs.append((file, file.name, kind))
        elif jdk is not None:
            alone = scratch / f"{number}.jfr"
            command = [str(jdk / "bin" / "jfr"), "scrub", "--include-events", ",".join(present), str(file), str(alone)]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            jobs.append((alone, f"{file.name}, only {' and '.join(present)}", kind))
        else:
            print(f"| {file.name} | {kind.event} | | not compared: needs --jdk, {', '.join(others)} are in it |")
    return jobs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jar", required=True)
    parser.add_argument("--java", default="java")
    parser.add_argument("--jdk", type=Path, metavar="HOME", help="of 19 or newer, for jfr scrub")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    given = parser.parse_args()
    print("| file | event | unit | |\n|---|---|---|---|")
    good = True
    for file in given.files:
        with tempfile.TemporaryDirectory() as scratch:
            for part, label, kind in parts(file, given.jdk, Path(scratch)):
                good = check(given.java, given.jar, part, kind, label) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
