"""Which values of which types a reading needs, so that the kernel passes over all else."""

from __future__ import annotations

import functools
from collections.abc import Collection
from typing import Final

from emberscope.jfr.chunk import Choice, Chunk
from emberscope.jfr.events import (
    ACTIVE_SETTING,
    DATA_LOSS,
    FREE,
    HEAP_CLASS,
    HEAP_CLASS_FIELDS,
    MARK_EVENTS,
    SAMPLE_EVENTS,
    SAMPLES_LOST_EVENT,
    SERIES_EVENTS,
    SPAN_CPU,
    SPAN_EVENTS,
    SPAN_NUMBERS,
    SPAN_TEXTS,
    SampleEvent,
)
from emberscope.jfr.stacks import stack_pools

STATE: Final = "jdk.types.ThreadState"
OLD_OBJECT: Final = "jdk.types.OldObject"

MOST_SAMPLES: Final = (1 << 31) - 1
"""More than any event of a sampler stands for: what a damaged event says beyond is held here."""

_POOLS: Final[Choice] = {
    STATE: frozenset(("name",)),
    OLD_OBJECT: frozenset(("type",)),
    "java.lang.Thread": frozenset(("osName", "osThreadId", "javaName", "javaThreadId")),
    "jdk.types.CodeBlobType": frozenset(("type",)),
    "jdk.types.CompilerType": frozenset(("compiler",)),
    "jdk.types.DeoptimizationReason": frozenset(("reason",)),
    "jdk.types.VMOperationType": frozenset(("type",)),
    "jdk.types.GCWhen": frozenset(("when",)),
    "jdk.types.NMTType": frozenset(("name",)),
    "jdk.types.NetworkInterfaceName": frozenset(("networkInterface",)),
    "profiler.types.UserEventType": frozenset(("name",)),
}
_SETTING_PATHS: Final = frozenset(("startTime", "id", "name", "value"))


@functools.cache
def of_tables(lines: bool) -> tuple[Choice, Choice]:
    """What the tables `samples`, `spans`, `series`, `marks` and `heap_classes` need: of events and of pools."""
    events: dict[str, set[str]] = {ACTIVE_SETTING: set(_SETTING_PATHS), DATA_LOSS: {"amount"}}

    def want(name: str, *paths: str) -> None:
        events.setdefault(name, set()).update(filter(None, paths))

    for spec in SAMPLE_EVENTS:
        want(spec.name, spec.time, spec.thread, "stackTrace", spec.state, spec.value, spec.count, spec.times)
        want(spec.name, spec.class_of.partition(".")[0], spec.address, spec.task, *(field for field, _ in spec.flags))
    for name in SPAN_EVENTS:
        want(name, "startTime", "duration", *(field for field, _ in SPAN_NUMBERS.values()), *SPAN_TEXTS.values())
        want(name, *SPAN_CPU)
    for series in SERIES_EVENTS:
        want(series.name, "startTime", *series.fields, *series.labels, series.thread)
    for mark in MARK_EVENTS:
        want(mark.name, "startTime", "duration", mark.thread, mark.label, mark.text)
    want(FREE, "startTime", "address")
    want(HEAP_CLASS, *HEAP_CLASS_FIELDS)
    return {name: frozenset(paths) for name, paths in events.items()}, {**_POOLS, **stack_pools(lines)}


@functools.cache
def of_stacks(words: frozenset[str], lines: bool) -> tuple[Choice, Choice]:
    """What it takes to count the stacks of samples of these events."""
    events = {
        spec.name: frozenset(filter(None, ("stackTrace", spec.state if spec.sleeping else "", spec.count)))
        for spec in SAMPLE_EVENTS
        if words & words_of(spec)
    }
    lost = {DATA_LOSS: frozenset(("amount",)), SAMPLES_LOST_EVENT: frozenset(("lostSamples",))}
    return {**events, **lost}, {STATE: _POOLS[STATE], **stack_pools(lines)}


def words_of(spec: SampleEvent) -> frozenset[str]:
    """The events that rows of this type may be."""
    return frozenset(filter(None, (spec.event, spec.sleeping)))


def is_superseded(spec: SampleEvent, present: Collection[str]) -> bool:
    """Whether a chunk with events of the types `present` counts the same by a better type."""
    return any(better in present for better in spec.superseded_by)


def sleeping_keys(chunk: Chunk, sleeping: str) -> frozenset[int]:
    """Keys of the thread state with this name."""
    keys, names = chunk.numbers(STATE, "(key)"), chunk.texts(STATE, "name")
    if keys is None or names is None:
        return frozenset()
    return frozenset(key for key, name in zip(keys.tolist(), names, strict=True) if name == sleeping)
