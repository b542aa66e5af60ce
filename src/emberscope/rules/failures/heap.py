"""A JVM ran out of memory: its heap, or another part of it that has a limit of its own.

## What it means
An OutOfMemoryError names the part that was full. `Java heap space` and `GC overhead limit exceeded` are the heap, of
the driver (collected rows, broadcasts, state of the UI, plans) or of an executor (what one task holds: a large
partition, a group, a whole file). `Direct buffer memory` is Netty's, `Metaspace` that of classes, `unable to create
native thread` the operating system's. `Unable to acquire … bytes` is Spark's own share of the heap for sorts and joins.
Heartbeats that fail and executors that are lost right after are consequences of the collections before it.

## What it costs
The task and often the whole process with its tasks, its cache and its shuffle output; the application where it was the
driver, as it always is in local mode.

## What to do
Of an executor: more and smaller partitions, or more heap for each task (`spark.executor.memory` up,
`spark.executor.cores` down). Of the driver: collect and broadcast less, or `spark.driver.memory`; in local mode that is
the only heap there is.

## When to ignore it
When the record that asked for an absurd amount is broken: then mend what reads it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.failures.aborted import followed
from emberscope.rules.failures.ending import Limits, failure, groups_of, who
from emberscope.rules.failures.heap_place import Place, place_of
from emberscope.rules.said import Said, said
from emberscope.rules.settings import MIB, bytes_setting, has_all_settings, memory_words, number_setting
from emberscope.tables.log_events import LOG_EVENTS
from emberscope.units import format_bytes

if TYPE_CHECKING:
    from emberscope.tables.run import Run

HEAP: Final = Signature(
    name="out-of-memory",
    pattern=r"java\.lang\.OutOfMemoryError(?:: (?P<what>Java heap space|GC overhead limit exceeded|"
    r"Requested array size exceeds VM limit|Direct buffer memory|Cannot reserve \d+ bytes of direct buffer memory|"
    r"Metaspace|PermGen space|Compressed class space|[Uu]nable to create (?:new )?native thread|"
    r"Unable to acquire \d+ bytes of memory))?|"
    r"\bOutOfMemoryError: (?P<short>Java heap space|GC overhead limit exceeded)|"
    r"OutOfDirectMemoryError: (?P<direct>failed to allocate \d+ byte)|"
    r"Unable to acquire (?P<asked>\d{1,18}) bytes of memory, got (?P<got>\d{1,18})|UNABLE_TO_ACQUIRE_MEMORY|"
    r"There is (?P<native>insufficient memory for the Java Runtime Environment)",
    literals=(
        "OutOfMemoryError",
        "OutOfDirectMemoryError",
        "UNABLE_TO_ACQUIRE_MEMORY",
        "Unable to acquire ",
        "insufficient memory for the Java Runtime",
    ),
    words=(
        (
            r"out ?of ?memory|\boom(s|ed|ing|'?d)?\b|heap space|gc overhead",
            r"driver|executor|spark|heap|job|task|stage",
        ),
        (r"gc overhead|heap space",),
    ),
)
_STEP: Final = 512 * MIB


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    groups: dict[tuple[str, Place], list[Said]] = {}
    for row in said(run, HEAP.name):
        place = place_of(run, row)
        if place not in ("history", "reader"):
            groups.setdefault((_kind(row), place), []).append(row)
    if any(kind != "heap" for kind, _ in groups):
        groups = {key: rows for key, rows in groups.items() if key[0] != "unknown"} or groups
    for (kind, place), rows in groups.items():
        if kind in ("heap", "unknown"):
            yield _heap(run, rows, place)
        else:
            yield _other(run, rows, kind, place)


def _kind(row: Said) -> str:
    found = groups_of(row, HEAP)
    what = (found.get("what") or found.get("short") or "").lower()
    if "direct" in found or "direct" in what:
        return "direct"
    if "native" in found:
        return "machine"
    if "asked" in found or "acquire" in what or "UNABLE_TO_ACQUIRE" in row.text:
        return "execution"
    if "array size" in what:
        return "array"
    if "thread" in what:
        return "threads"
    if what in ("metaspace", "permgen space", "compressed class space"):
        return "classes"
    return "heap" if what else "unknown"


def _heap(run: Run, rows: Sequence[Said], place: Place) -> Finding:
    name = who(rows)
    overhead = any("GC overhead" in row.text for row in rows)
    space = any("heap space" in row.text for row in rows)
    how = "GC overhead limit exceeded" if overhead else "Java heap space" if space else "OutOfMemoryError"
    gc = (
        "“GC overhead limit exceeded” means that nearly all time went into collecting garbage while almost nothing "
        "came free. "
        if overhead
        else ""
    )
    if place == "local":
        title = f"The only heap of this local-mode application is full ({how})"
        summary = (
            f"{gc}In local mode driver and executor are one JVM: spark.driver.memory (--driver-memory, -Xmx) sizes it "
            "and spark.executor.memory has no effect. Heartbeats that time out are a consequence of its garbage "
            "collections."
        )
    elif place == "driver":
        title = f"The driver's heap is full ({how})"
        summary = (
            f"{gc}The driver holds what is collected, tables that are broadcast, plans, and the state of its UI. More "
            "executors or executor memory do not help."
        )
    else:
        what = name if place == "executor" and name else "An executor" if place == "executor" else "A JVM"
        title = f"{what} ran out of heap ({how})"
        unknown = "" if place == "executor" else " The lines do not say whether it was the driver's or an executor's."
        summary = (
            f"{gc}A task holds more than its share of the heap: too few, large partitions (one unsplittable file, a "
            "hot key, wide rows), or lists and maps kept per key. More partitions mend that where more memory is not "
            f"the point.{unknown}"
        )
    return failure(
        run,
        rows,
        title=title,
        summary=summary,
        advice=_heap_advice(run, rows, place),
        confidence=0.9 if place != "unknown" else 0.75,
        consequence="ended" if place in ("driver", "local") else followed(run, rows),
    )


def _heap_advice(run: Run, rows: Sequence[Said], place: Place) -> Iterator[Advice]:
    if place in ("driver", "local"):
        yield _larger(run, "spark.driver.memory")
        yield Advice(
            "code",
            "Or hold less per task: repartition the input, and keep no whole lists of rows."
            if place == "local"
            else "Or bring less to it: no collect or toPandas of large results, smaller broadcasts "
            "(spark.sql.autoBroadcastJoinThreshold).",
        )
        return
    yield Advice(
        "code",
        "Use more partitions: repartition() right after reading few or unsplittable files, a larger "
        "spark.sql.shuffle.partitions after a shuffle.",
    )
    yield _larger(run, "spark.executor.memory")
    cores = int(number_setting(run, "spark.executor.cores", 0))
    if cores > 1:
        yield set_conf("spark.executor.cores", max(1, cores // 2), f"Or fewer tasks that share a heap (now {cores}).")
    if place == "unknown":
        yield Advice("check", "See whose log the line stands in: for the driver's it is spark.driver.memory.")


def _larger(run: Run, key: str) -> Advice:
    """A larger heap: a size to paste where it is known what it is now, else by how much."""
    if run.setting(key) is None and not has_all_settings(run):
        return Advice(
            "cluster",
            f"Raise {key} by half, and by 1 GiB at least. What it is now does not stand in what was given; where "
            "nobody set it, it is 1g, and 2g is the next size.",
        )
    size = bytes_setting(run, key, "1g", unit="m") or 1 << 30
    value = memory_words(math.ceil(max(1.5 * size, size + (1 << 30)) / _STEP) * _STEP)
    return set_conf(key, value, f"Now {format_bytes(size)}.")


_OTHERS: Final = {
    "direct": (
        "ran out of direct memory (Netty's buffers outside the heap)",
        "Direct buffers lie outside the heap and have their own limit (-XX:MaxDirectMemorySize, or about the heap). "
        "Fetching many or large blocks at one time fills them.",
    ),
    "classes": (
        "ran out of Metaspace, the memory of classes",
        "Metaspace is bounded by -XX:MaxMetaspaceSize. Many generated or proxied classes, or class loaders that are "
        "never let go, fill it; the heap has nothing to do with it.",
    ),
    "threads": (
        "could not start another thread",
        "“Unable to create native thread” is the operating system's refusal: the limit of processes (ulimit -u, the "
        "pids limit of the container) or memory for stacks. A larger heap makes it worse.",
    ),
    "execution": (
        "had too little memory for a sort, a join or an aggregation",
        "Spark could not get the least execution memory that a task needs: its unified memory (spark.memory.fraction "
        "of the heap) is shared by the tasks that run at one time and by cached data.",
    ),
    "array": (
        "asked for an array beyond what the JVM allows",
        "“Requested array size exceeds VM limit”: one object (a row, a collected group, a serialized value) would need "
        "over two billion elements. No heap is large enough; the object must be smaller.",
    ),
    "machine": (
        "found the machine without memory: the operating system refused it",
        "The JVM asked the operating system and got nothing: the machine or container is full, whatever the heap "
        "holds. A larger heap makes it worse.",
    ),
}


def _other(run: Run, rows: Sequence[Said], kind: str, place: Place) -> Finding:
    names = {"driver": "The driver", "local": "The driver", "executor": who(rows) or "An executor"}
    words, summary = _OTHERS[kind]
    asked = next((groups_of(row, HEAP) for row in rows if "asked" in groups_of(row, HEAP)), None)
    figures = (
        f" A task asked for {format_bytes(int(asked['asked']))} and got {format_bytes(int(asked['got']))}."
        if asked
        else ""
    )
    return failure(
        run,
        rows,
        title=f"{names.get(place, 'A JVM')} {words}",
        summary=summary + figures,
        advice=_other_advice(run, kind, "driver" if place in ("driver", "local") else "executor"),
        confidence=0.9,
        consequence="ended" if place in ("driver", "local") else followed(run, rows),
    )


def _other_advice(run: Run, kind: str, part: str) -> Iterator[Advice]:
    options = f"spark.{part}.extraJavaOptions"
    if kind == "direct":
        yield Advice("cluster", f"Set -XX:MaxDirectMemorySize in {options}, and as much more memoryOverhead.")
        yield set_conf("spark.reducer.maxSizeInFlight", "24m", "Half of the default: less is fetched at one time.")
    elif kind == "classes":
        yield Advice(
            "cluster", f"Raise -XX:MaxMetaspaceSize in {options} (512m, say), with as much more memoryOverhead."
        )
    elif kind == "threads":
        yield Advice("cluster", "Raise `ulimit -u` of the user (nproc) or the pids limit of the container.")
        yield Advice("code", "Look what starts threads without end: clients or pools that are made per task.")
    elif kind == "execution":
        yield Advice("code", "Use more partitions (spark.sql.shuffle.partitions), so that a task needs less.")
        cores = int(number_setting(run, "spark.executor.cores", 0))
        yield _larger(run, "spark.executor.memory")
        if cores > 1:
            yield set_conf("spark.executor.cores", max(1, cores // 2), f"Or fewer tasks share it (now {cores}).")
    elif kind == "array":
        yield Advice(
            "code", "Split what is built as one: more partitions, no collect_list of whole groups, smaller rows."
        )
    else:
        yield Advice("check", "Look at free memory and other processes of the host (`free -m`, dmesg).")
        yield Advice(
            "cluster", "Run fewer executors per node, or smaller ones: heap and overhead must fit the machine."
        )


RULE = Rule(
    code="K5",
    name="out-of-memory",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(HEAP,),
)
