"""Python workers, or an executor with all its processes, came to the limit of their memory.

## What it means
The heap is only a part of an executor: Python workers, network buffers and the JVM itself need memory beside it. A
Python worker that reaches its limit (`spark.executor.pyspark.memory`, or what the machine has) fails with a
MemoryError, and Spark runs the task again, up to four times in all (`spark.task.maxFailures`). YARN and Kubernetes end
an executor whose processes together take more than it asked for: heap, overhead, off-heap memory and that of Python.

## What it costs
The time of the attempts that failed with a MemoryError, replayed without them. Where nothing was lost yet there is no
price: the next larger input may be the one that fails. Executors that were ended for their memory are reported, with
their price, by lost-executors (H3).

## What to do
Where Python keeps whole partitions, let rows go as they are done with (yield them one by one, or batch by batch), or
make partitions smaller. Otherwise give the container room where it is short: the advice names the setting, with a value
from this run. More heap does not help Python.

## When to ignore it
When a single worker failed on a machine that others had filled, and its work was done elsewhere without much loss.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, Where, set_conf
from emberscope.rules.memory.container import (
    OVERHEAD,
    PYSPARK_MEMORY,
    ProcessPeak,
    container,
    has_container,
    overhead_bytes,
    process_peaks,
    rounded_up,
)
from emberscope.rules.memory.lost_work import LostWork, ended, lost_with
from emberscope.rules.memory.recorded import PROCESSES_RECORD, RSS
from emberscope.rules.places import place_of, places
from emberscope.rules.settings import bytes_setting, memory_words
from emberscope.tables.executor_metrics import EXECUTOR_METRICS
from emberscope.tables.executors import EXECUTORS
from emberscope.tables.jobs import JOBS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import counted, format_bytes, format_ms, format_ratio

if TYPE_CHECKING:
    from emberscope.tables.run import Run

# A line that Python ends with: MemoryError, numpy's and Arrow's own kinds of it.
PYTHON_MEMORY: Final = r"(?m)^(?:[\w.]+\.)?_?(?:Array|Arrow)?MemoryError\b"
_FRAME: Final = re.compile(r'File "(?:[^"]*/)?([^"/]+)", line (\d+), in (\S+)')


class Limits(Struct, frozen=True):
    """The share that is called near the limit is our proposal. EMR's guide asks for half more overhead, or for what was
    taken and a tenth."""

    near_ratio: float = 0.9  # what the processes took over what the container may take (proposal)
    more: float = 1.5  # so much more overhead at once (EMR's guide asks for half more, or what was taken and a tenth)
    spare: float = 1.1  # beside what was taken
    python_more: float = 2.0  # times the limit of Python: an error at it does not say how much was lacking (proposal)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    python = lost_with(run, PYTHON_MEMORY)
    if python is not None:
        yield _out_of_python_memory(run, limits, python)
    if has_container(run):
        peak = max(process_peaks(run).values(), key=lambda one: one.together_bytes, default=None)
        if peak is not None and peak.together_bytes >= limits.near_ratio * container(run).limit_bytes:
            yield _near(run, limits, peak)


def _out_of_python_memory(run: Run, limits: Limits, lost: LostWork) -> Finding:
    place = place_of(places(run), lost.worst_stage)
    line, function = _users_line(lost.message)
    where = replace(place.where, line=line) if line else place.where
    limit = bytes_setting(run, PYSPARK_MEMORY, "0", unit="m")
    price = lost.price(run)
    hit = ended(run, PYTHON_MEMORY)
    who = f" in `{function}` ({line})" if line else ""
    return Finding(
        title=f"Python ran out of memory{who}",
        summary=f"{place.sentence}: {counted(lost.count, 'task attempt')} failed with a MemoryError of Python{who}, "
        f"after {format_ms(lost.core_ms)} of work in all." + (" The job failed with it." if hit else ""),
        where=where,
        evidence=(
            Evidence(
                f"{counted(lost.count, 'task attempt')} ended with `{lost.said}`",
                "tasks.error_message",
                lost.count,
                "tasks",
            ),
            *_python_limit(run, limit),
            *_python_peak(run),
        ),
        advice=tuple(_python_advice(run, limits, limit, line, function)),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=round(lost.core_ms),
        saving_basis=price.basis,
        confidence=0.95,
        consequence="ended" if hit else "lost",
    )


def _python_limit(run: Run, limit: int) -> Iterator[Evidence]:
    if limit:
        yield Evidence(
            f"{PYSPARK_MEMORY} gives the Python workers of an executor {format_bytes(limit)} in all",
            "conf",
            limit,
            "bytes",
        )
    else:
        text = f"{PYSPARK_MEMORY} is not set: the container or the machine had no more"
        yield Evidence(text, "conf")


def _python_peak(run: Run) -> Iterator[Evidence]:
    most = max((peak.python_bytes for peak in process_peaks(run).values()), default=0.0)
    if most > 0:
        text = f"the Python workers of one executor held {format_bytes(most)} at most"
        yield Evidence(text, "executor_metrics.process_python_rss_bytes", most, "bytes")


def _python_advice(run: Run, limits: Limits, limit: int, line: str | None, function: str | None) -> Iterator[Advice]:
    here = f"`{function}` ({line})" if line else "the function"
    yield Advice(
        "code",
        f"Look in {here} at what it keeps: a list of all rows, a whole group or file at once. Yield results one by one "
        "or batch by batch, and make groups or partitions smaller.",
    )
    if limit:
        value = memory_words(rounded_up(limits.python_more * limit))
        text = (
            f"Or {limits.python_more:g} times the {format_bytes(limit)} of now: how much more it needed, the error "
            "does not say. The container grows by as much."
        )
        yield set_conf(PYSPARK_MEMORY, value, text)
    elif has_container(run):
        yield _more_overhead(run, limits, None)


def _near(run: Run, limits: Limits, peak: ProcessPeak) -> Finding:
    share = peak.together_bytes / container(run).limit_bytes
    return Finding(
        title=f"Executors took {format_ratio(share)} of their container's memory",
        summary=f"The processes of executor {peak.executor_id} took {format_bytes(peak.together_bytes)} of the "
        f"{format_bytes(container(run).limit_bytes)} that its container may take. The next larger input may be the one "
        "for which it is ended.",
        where=Where(executor=peak.executor_id),
        evidence=tuple(_container_evidence(run, peak)),
        advice=(_more_overhead(run, limits, peak),),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis="Nothing was lost so far, so it has no price.",
        confidence=0.8,
        consequence="risk",
    )


def _container_evidence(run: Run, peak: ProcessPeak | None) -> Iterator[Evidence]:
    of = container(run)
    parts = f"heap {format_bytes(of.heap_bytes)}, overhead {format_bytes(of.overhead_bytes)}"
    parts += f", off-heap {format_bytes(of.off_heap_bytes)}" if of.off_heap_bytes else ""
    parts += f", Python {format_bytes(of.python_bytes)}" if of.python_bytes else ""
    yield Evidence(f"the container may take {format_bytes(of.limit_bytes)} ({parts})", "conf", of.limit_bytes, "bytes")
    if peak is not None:
        python = "" if peak.recorded else f", Python {format_bytes(peak.python_bytes)}"
        yield Evidence(
            f"the processes of executor {peak.executor_id} took {format_bytes(peak.together_bytes)}: the JVM "
            f"{format_bytes(peak.jvm_bytes)}{python}",
            f"series.{RSS}"
            if peak.recorded
            else "executor_metrics.process_jvm_rss_bytes + process_python_rss_bytes + process_other_rss_bytes",
            peak.together_bytes,
            "bytes",
        )


def _more_overhead(run: Run, limits: Limits, peak: ProcessPeak | None) -> Advice:
    of = container(run)
    now = overhead_bytes(run, of.heap_bytes)
    beside = 0.0 if peak is None else limits.spare * (peak.together_bytes - of.heap_bytes - of.python_bytes)
    value = rounded_up(max(limits.more * now, beside))
    because = (
        f"the processes took {format_bytes(peak.together_bytes)}, {format_bytes(of.heap_bytes)} of it may be heap"
        if peak is not None and beside > limits.more * now
        else "half more than now"
    )
    return set_conf(OVERHEAD, memory_words(value), f"Now {format_bytes(now)}; {because}.")


def _users_line(message: str) -> tuple[str | None, str | None]:
    """The last frame of a Python traceback that is not Spark's own: `job.py:12` and its function."""
    frames = [found for found in _FRAME.finditer(message) if "/pyspark" not in found[0]]
    if not frames:
        return None, None
    return f"{frames[-1][1]}:{frames[-1][2]}", frames[-1][3]


RULE = Rule(
    code="C6",
    name="container-limit",
    since="0.1",
    reads=(Reads(TASKS), Reads(EXECUTORS), Reads(STAGES), Reads(JOBS)),
    limits=Limits(),
    check=check,
    partly=(
        Reads(
            EXECUTOR_METRICS,
            ("process_jvm_rss_bytes",),
            record=PROCESSES_RECORD,
            series=RSS,
        ),
    ),
)
