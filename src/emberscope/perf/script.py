"""The text of `perf script`: a line about each sample, then its frames, leaf first, then an empty line."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from emberscope.errors import InputError
from emberscope.perf.gather import UNKNOWN_ORIGIN, Gathered
from emberscope.perf.names import jit_frame
from emberscope.perf.text import lines_of, whole_lines
from emberscope.tables.frame_kinds import KERNEL, NATIVE
from emberscope.tables.recording import Origin, Recording
from emberscope.tables.stack_tree import StackTree

_HEADER: Final = re.compile(
    r"\s*(?P<comm>\S|\S.*\S)\s+(?:-?\d+/)?(?P<tid>-?\d{1,18})\s+(?:\[\d+\]\s+)?(?:[^\s\d:]\S{3,5}\s+)?"
    r"(?P<seconds>\d{1,10})\.(?P<fraction>\d{1,9}):\s+(?:(?P<period>\d{1,15})\s+)?"
    r"(?P<event>[\w/.,=*-]+(?::[\w/.,=*-]+)*):(?:\s+(?P<rest>.*))?"
)
_FRAME: Final = re.compile(
    r"\s*(?P<address>[0-9a-f]+)\s+(?P<symbol>\S|\S.*?\S)(?:\+0x[0-9a-f]+)?(?:\s+\((?P<dso>(?:[^()]|\([^()]*\))*)\))?\s*"
)
_OTHER_RECORD: Final = re.compile(r".*\bPERF_RECORD_(?P<kind>[A-Z0-9_]+)(?:.*\blost:?\s+(?P<lost>\d{1,15}))?.*")
_UNKNOWN: Final = "[unknown]"
_JIT_MAP: Final = re.compile(r"(?:^|/)(?:perf-\d+\.map|jitted-\d+-\d+\.so)$")
_KERNEL: Final = re.compile(r"\[(?:guest\.)?kernel[.\]].*|.*\.ko(?:\.\w+)?|.*\[bpf.*")
_KERNEL_HALF: Final = 1 << 63
_LONGEST_LINE: Final = 1 << 14
_DEEPEST: Final = 127
"""Frames that the kernel keeps of a stack by default (`kernel.perf_event_max_stack`)."""
_FIRST_EPOCH_SECOND: Final = 1_000_000_000
"""Later times are of a clock that counts from 1970 (`perf record -k CLOCK_REALTIME`): no machine runs for 30 years."""

# What a sample of the processor's time is, best first: the clocks have a period in ns, cycles have none.
_CPU_EVENTS: Final = ("cpu-clock", "task-clock", "cycles", "cpu-cycles", "ref-cycles")
_CLOCKS: Final = frozenset(_CPU_EVENTS[:2])


@dataclass(slots=True)
class _Sample:
    """One sample while its frames are being read; `frames` are those of the tree, leaf first."""

    thread_name: str
    os_thread_id: int
    time_ns: int
    event: str
    value: int | None
    frames: list[int] = field(default_factory=list)
    ended: bool = False


def read_perf_script(
    data: bytes, path: str, *, origin: Origin = UNKNOWN_ORIGIN, tree: StackTree | None = None
) -> Recording:
    """Samples and facts of the output of `perf script`, plain or in gzip.

    The arguments are those of `jfr.recording.read_recording`. Samples of the processor's time (cpu-clock, task-clock,
    cycles) are of event cpu; where several of these were recorded, those of the best one. All other events are only
    counted. `time_ns` is by perf's clock, which counts from the start of the machine: `facts.start_ms` is null unless
    it counts from 1970. `value` is the period in ns of the clocks, null of cycles. Methods out of a JIT map
    (`perf-PID.map`) are named as in table frames. Raises `InputError` where there is no sample.
    """
    got = Gathered(path, tree, "time_ns", "value", "truncated", "os_thread_id", "thread_name")
    samples = _samples(got, data)
    if not samples:
        hint = "A sample begins like `java 4711 [002] 812.500000: 10101010 cpu-clock:`."
        raise InputError(path, "this is not the output of `perf script`: it holds no sample.", hint=hint)
    event_counts = Counter(sample.event for sample in samples)
    kinds = {event: _cpu_event(event) for event in event_counts}
    chosen = next((kind for kind in _CPU_EVENTS if kind in kinds.values()), None)
    for event, count in sorted(event_counts.items()):
        if chosen is None or kinds[event] != chosen:
            reason = f"time is told by {chosen}" if chosen else "they do not tell where time went"
            got.note("limited", f"{count} samples of {event} are only counted: {reason}", samples=count)
    cpu = [sample for sample in samples if chosen is not None and kinds[sample.event] == chosen]
    _add(got, cpu)
    start_ns = min(sample.time_ns for sample in samples)
    end_ns = max(sample.time_ns for sample in samples)
    since_epoch = start_ns >= _FIRST_EPOCH_SECOND * 1_000_000_000
    start_ms = start_ns // 1_000_000 if since_epoch else None
    return got.recording("perf-script", origin, event_counts, start_ms, (end_ns - start_ns) // 1_000_000)


def looks_like_perf_script(head: bytes) -> bool:
    """Whether a file that begins so is the output of `perf script`: its first lines are a sample and its frames."""
    lines = [line for line in whole_lines(head) if line.strip() and not line.startswith("#")]
    first = next((number for number, line in enumerate(lines) if not _OTHER_RECORD.fullmatch(line)), None)
    if first is None or _HEADER.fullmatch(lines[first]) is None:
        return False
    understood = sum(1 for line in lines if _HEADER.fullmatch(line) or (line[:1].isspace() and _FRAME.fullmatch(line)))
    return understood >= 0.5 * len(lines)


def _samples(got: Gathered, data: bytes) -> list[_Sample]:
    samples: list[_Sample] = []
    open_sample: _Sample | None = None
    frames: dict[str, int] = {}
    lost = 0
    for line, has_end in lines_of(got.plain(data)):
        if not has_end and not line.endswith(")"):  # half a line would be read as a shorter name
            got.note("cut", "the last line is cut", lines=1)
        elif len(line) > _LONGEST_LINE:
            got.malformed_lines += 1
        elif not line.strip():
            if open_sample is not None:
                open_sample.ended, open_sample = True, None
        elif line.startswith("#"):
            continue
        elif open_sample is not None and line[0].isspace() and (frame := _frame(line, frames, got.tree)) is not None:
            open_sample.frames.append(frame)
        elif (header := _HEADER.fullmatch(line)) is not None:
            open_sample = _begun(header)
            samples.append(open_sample)
            rest = header["rest"] or ""
            if (
                rest.endswith(")") and (frame := _frame(rest, frames, got.tree)) is not None
            ):  # without -g the one frame is on the same line
                open_sample.frames.append(frame)
                open_sample.ended, open_sample = True, None
        elif (other := _OTHER_RECORD.fullmatch(line)) is not None:
            lost += int(other["lost"] or 0) if other["kind"].startswith("LOST") else 0
        else:
            got.malformed_lines += 1
    if samples and samples[-1] is open_sample:
        got.note("cut", "the last sample does not end: its stack may be cut")
    if lost:
        got.note("dropped_events", f"{lost} events were lost by the recorder, as it says itself", events=lost)
    return samples


def _begun(header: re.Match[str]) -> _Sample:
    period = int(header["period"]) if header["period"] else None
    return _Sample(
        thread_name=header["comm"],
        os_thread_id=int(header["tid"]),
        time_ns=min(int(header["seconds"]), 9_000_000_000) * 1_000_000_000 + int(header["fraction"].ljust(9, "0")),
        event=header["event"],
        value=period if _cpu_event(header["event"]) in _CLOCKS else None,
    )


def _cpu_event(event: str) -> str | None:
    """Which of `_CPU_EVENTS` this is, in the spelling of perf: `cycles:u`, `cpu_core/cycles/`."""
    name = event.split("/")[1] if event.count("/") > 1 else event
    name = re.split(r"[:,]", name)[0]
    return name if name in _CPU_EVENTS else None


def _add(got: Gathered, samples: list[_Sample]) -> None:
    without_symbol = deep = 0
    names = got.tree.names
    for sample in samples:
        without_symbol += bool(sample.frames) and names[sample.frames[0]] == _UNKNOWN
        deep += len(sample.frames) >= _DEEPEST
        got.add(
            1,
            got.tree.node(reversed(sample.frames)),
            time_ns=sample.time_ns,
            value=sample.value,
            truncated=len(sample.frames) >= _DEEPEST or not sample.ended,
            os_thread_id=sample.os_thread_id,
            thread_name=sample.thread_name,
        )
    if without_symbol:
        message = f"{without_symbol} samples are in code for which perf had no symbol"
        got.note("unresolved", message, samples=without_symbol)
    if deep:
        message = f"{deep} samples have stacks as deep as perf keeps: their root side may be missing"
        got.note("truncated_stacks", message, samples=deep)


def _frame(line: str, frames: dict[str, int], tree: StackTree) -> int | None:
    """The frame of a line `address symbol+0xoffset (library)`, or None where it is none."""
    known = frames.get(line)
    if known is not None:
        return known
    found = _FRAME.fullmatch(line)
    if found is None:
        return None
    symbol, dso = found["symbol"], found["dso"] or ""
    if _JIT_MAP.search(dso):
        name, kind = jit_frame(symbol)
    elif _KERNEL.fullmatch(dso) or int(found["address"], 16) >= _KERNEL_HALF:
        name, kind = symbol, KERNEL
    else:
        name, kind = symbol, NATIVE
    frames[line] = tree.frame(name, kind)
    return frames[line]
