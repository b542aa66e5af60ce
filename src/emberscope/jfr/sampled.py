"""A chunk decoded and its samples put on stacks: the share of the work that threads do side by side."""

from __future__ import annotations

from typing import NamedTuple

from emberscope.jfr.choice import is_superseded
from emberscope.jfr.chunk import Choice, Chunk, Refused, decode
from emberscope.jfr.events import SAMPLE_EVENTS, SampleEvent
from emberscope.jfr.header import Header
from emberscope.jfr.source import Source
from emberscope.jfr.stacks import IS_EMPTY, IS_UNRESOLVED, stacks_of
from emberscope.kernel import Stacks


class Traces(NamedTuple):
    """The stacks of the events of one type, a value each: `keys` (int64), local `nodes` (int32), `flags` (uint8).

    `superseded`: a better type of the same chunk counts the same.
    """

    spec: SampleEvent
    keys: memoryview
    nodes: memoryview
    flags: memoryview
    superseded: bool


class Sampled(NamedTuple):
    """A chunk, its stacks (None where it describes none) and those of its sample events."""

    chunk: Chunk
    stacks: Stacks | None
    traces: tuple[Traces, ...]


def sampled(source: Source, header: Header, choice: tuple[Choice, Choice], compilation: bool) -> Sampled | Refused:
    """Read and decode one chunk of a recording. Refusals are results, so that a thread can hand them on."""
    try:
        chunk = decode(header, source.lend(header.offset, header.available), *choice)
    except Refused as refused:
        return refused
    stacks = stacks_of(chunk, compilation)
    traces = []
    for spec in SAMPLE_EVENTS:
        count = chunk.rows(spec.name)
        if not count:
            continue
        keys = chunk.numbers(spec.name, "stackTrace")
        if keys is None or keys.format != "q":
            keys = memoryview(bytes(8 * count)).cast("q")
        nodes, flags = stacks.nodes(keys) if stacks is not None else _without_stacks(keys)
        traces.append(Traces(spec, keys, nodes, flags, is_superseded(spec, chunk.event_counts)))
    return Sampled(chunk, stacks, tuple(traces))


def _without_stacks(keys: memoryview) -> tuple[memoryview, memoryview]:
    flags = bytes(IS_UNRESOLVED if key else IS_EMPTY for key in keys)
    return memoryview(bytes(4 * len(keys))).cast("i"), memoryview(flags)
