"""A recording straight to folded stacks, without tables: what the command line does most, and the quickest way to it.

Neither numpy nor Arrow is imported: a recording of some megabytes is folded in less time than loading them takes.
"""

from __future__ import annotations

import os
from array import array
from functools import partial
from typing import Final, NamedTuple

from emberscope.jfr.choice import MOST_SAMPLES, of_stacks, sleeping_keys, words_of
from emberscope.jfr.chunk import Chunk, Refused
from emberscope.jfr.events import DATA_LOSS, SAMPLES_LOST_EVENT, SLEEPING, SampleEvent
from emberscope.jfr.losses import Losses
from emberscope.jfr.parallel import in_order, useful_threads
from emberscope.jfr.parts import chunks_of, nothing_read
from emberscope.jfr.sampled import Sampled, Traces, sampled
from emberscope.jfr.source import Source, opened
from emberscope.jfr.stacks import IS_EMPTY, IS_TRUNCATED, IS_UNRESOLVED, name_frame
from emberscope.kernel import add, folded, tally, where
from emberscope.tables.coverage import Coverage
from emberscope.tables.frame_kinds import ENDINGS
from emberscope.tables.stack_tree import StackTree

_GOOD_FLAGS: Final = bytes((0, IS_EMPTY))
_SAFE: Final = str.maketrans({";": ":", "\r": " ", "\n": " "})


class Folded(NamedTuple):
    """Folded stacks in UTF-8, which event they are of, how many samples they are, and what is missing."""

    text: bytes
    event: str
    samples: int
    coverage: Coverage


def fold_recording(
    recording: str | os.PathLike[str] | bytes,
    path: str,
    event: str | None,
    *,
    lines: bool = False,
    compilation: bool = False,
) -> Folded | None:
    """The stacks of all samples of an event, by their number. Without `event` cpu, or wall where there is none.

    None where there are no such samples. `path` is for messages. Raises `InputError` and `OSError` as `read_recording`.
    """
    with opened(recording) as (source, missing):
        for word in ("cpu", "wall") if event is None else (event,):
            found = _fold(source, missing, path, word, lines, compilation)
            if found.samples:
                return found
    return None


def _fold(source: Source, missing: str, path: str, event: str, lines: bool, compilation: bool) -> Folded:
    losses, tree = Losses(path), StackTree()
    headers = list(chunks_of(source, missing, losses))
    read_one = partial(sampled, source, choice=of_stacks(frozenset((event,)), lines), compilation=compilation)
    weights = _Weights()
    read = 0
    results = in_order(read_one, headers, useful_threads(source.size))
    for header in headers:
        chunk = next(results)
        if isinstance(chunk, Refused):
            losses.of_refused(header, chunk.code, chunk.reason)
            continue
        read += 1
        _add(chunk, event, tree, weights, losses)
        losses.of_chunk(chunk.chunk)
        del chunk  # before the next one is asked for, so that there is never one more than threads
    if not read:
        raise nothing_read(path, source, missing, losses)
    weights.grow(len(tree))
    names = "\0".join(name.replace("\0", " ") if "\0" in name else name for name in tree.labels())
    safe = names.translate(_SAFE).split("\0") if tree.names else []
    if compilation:
        safe = [name + ENDINGS.get(kind, "") for name, kind in zip(safe, tree.kinds, strict=True)]
    text = folded(tree.parents(), tree.frames(), memoryview(weights.by_node), safe)
    return Folded(text, event, weights.total, losses.coverage())


class _Weights:
    """The number of samples at each node of the tree over all chunks."""

    def __init__(self) -> None:
        self.by_node = array("q")

    def grow(self, size: int) -> None:
        """Room for so many nodes."""
        self.by_node.frombytes(bytes(8 * (size - len(self.by_node))))

    def add(self, nodes: memoryview, weights: memoryview) -> None:
        with memoryview(self.by_node) as view:
            add(view, nodes, weights)

    @property
    def total(self) -> int:
        return sum(self.by_node)


def _add(sampled: Sampled, event: str, tree: StackTree, weights: _Weights, losses: Losses) -> None:
    """Count the samples of one chunk at their nodes."""
    chunk, stacks = sampled.chunk, sampled.stacks
    place = tree.graft(stacks, name_frame) if stacks is not None else memoryview(bytes(4)).cast("i")
    weights.grow(len(tree))
    for traces in sampled.traces:
        if event not in words_of(traces.spec):
            continue
        if traces.superseded:
            losses.of_superseded(traces.spec.name, len(traces.keys))
            continue
        rows, counts = _rows(chunk, traces, event), _counts(chunk, traces.spec)
        weights.add(place, tally(traces.nodes, counts, rows, len(place)))
        if bytes(traces.flags).strip(_GOOD_FLAGS):
            by_flags = tally(memoryview(array("i", traces.flags)), counts, rows, 8).tolist()
            losses.add_samples(
                unresolved=sum(n for flags, n in enumerate(by_flags) if flags & IS_UNRESOLVED),
                truncated=sum(n for flags, n in enumerate(by_flags) if flags & IS_TRUNCATED),
            )
    lost_bytes, lost_samples = chunk.numbers(DATA_LOSS, "amount"), chunk.numbers(SAMPLES_LOST_EVENT, "lostSamples")
    losses.by_recorder(sum(lost_bytes or ()))
    losses.by_sampler(sum(lost_samples or ()) if event == "cpu" else 0)


def _rows(chunk: Chunk, traces: Traces, event: str) -> memoryview | None:
    """The rows of a type that are of this event; None for all of them."""
    spec = traces.spec
    states = chunk.numbers(spec.name, spec.state) if spec.sleeping else None
    asleep = sleeping_keys(chunk, SLEEPING) if states is not None else frozenset()
    if spec.sleeping and event == spec.sleeping:
        return where(states, asleep) if states is not None and asleep else memoryview(b"")
    if states is None or not asleep:
        return None
    return where(states, frozenset(states.tolist()) - asleep)


def _counts(chunk: Chunk, spec: SampleEvent) -> memoryview | None:
    """How many samples each event stands for; None where that is one."""
    view = chunk.numbers(spec.name, spec.count) if spec.count else None
    if view is None or view.format not in "qihHbB":
        return None
    return memoryview(array("q", (min(max(n, 1), MOST_SAMPLES) for n in view.tolist())))
