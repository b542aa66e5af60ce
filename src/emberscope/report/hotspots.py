"""Hot code and the heap as tables: self and total by method, with the finding that names it; objects by class."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow.compute as pc

from emberscope.profile.ancestry import levels, totals, tree_arrays
from emberscope.profile.classify import families_by_frame
from emberscope.profile.fold import NO_STACK, fold, natural_weight, unit_of
from emberscope.tables.samples import EVENTS

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from emberscope.rules.evaluate import Ranked
    from emberscope.tables.run import Run

MOST_METHODS: Final = 25
MOST_CLASSES: Final = 20
# Names shorter than this (`run`, `get`) stand in many sentences that do not mean them.
_LEAST_NAME: Final = 5
_MOST_LINKED: Final = 300
_SIGNS: Final = re.compile(r"[.*+?^${}()|\[\]\\]")


def search_of(name: str) -> str | None:
    """The expression by which the flame graph finds just this frame; None where it is too long to link."""
    if name == NO_STACK or len(name) > _MOST_LINKED:
        return None
    return "^" + _SIGNS.sub(r"\\\g<0>", name) + "$"


@dataclass(frozen=True, slots=True)
class Method:
    """`self` counts samples with the method on top, `total` those with it anywhere, each once.

    `stage` is the stage of most of its own samples with that share of them, None where most are in none; `finding` the
    number of the first finding that names it, `stage_finding` of the first one on that stage, where most of it is.
    """

    name: str
    family: str
    self_weight: int
    total_weight: int
    self_ratio: float
    total_ratio: float
    stage: int | None
    stage_ratio: float
    finding: int | None
    stage_finding: int | None

    @property
    def search(self) -> str | None:
        """The expression by which the flame graph finds just this method; None where it is too long to link."""
        return search_of(self.name)


@dataclass(frozen=True, slots=True)
class HeapClass:
    """Objects of one class: `weight` in the unit of the table, `samples` that it rests on."""

    name: str
    weight: int
    ratio: float
    samples: int


@dataclass(frozen=True, slots=True)
class Heap:
    """Objects by class, of samples of `event` (live or alloc)."""

    event: str
    unit: str
    weight: int
    samples: int
    classes: tuple[HeapClass, ...]
    hidden: int


@dataclass(frozen=True, slots=True)
class Hotspots:
    """The methods of one event, by self; `hidden` more have samples of their own."""

    event: str
    unit: str
    weight: int
    methods: tuple[Method, ...]
    hidden: int

    def document(self) -> dict[str, Any]:
        return asdict(self)


def hotspots(run: Run, findings: Sequence[Ranked] = ()) -> Hotspots | None:
    """The hottest methods by the first event that there is, CPU if it can be; None where nothing was sampled."""
    samples = run.tables.get("samples")
    if samples is None or not samples.num_rows or "stacks" not in run.tables or "frames" not in run.tables:
        return None
    present = set(pc.unique(samples["event"]).to_pylist())
    event = next((event for event in EVENTS if event in present), None)
    if event is None:
        return None
    samples = samples.select(["event", "count", "value", "stack", "stage_id"])
    samples = samples.filter(pc.equal(samples["event"], event))
    weight = natural_weight(samples, event)
    stacks, frames = run.tables["stacks"], run.tables["frames"]
    tree = fold(samples, stacks, frames, weight=weight)
    selfs, sums = method_weights(tree.parents, tree.frames, tree.self_weights, len(tree.names))
    whole = int(tree.self_weights.sum())
    order = np.lexsort((np.arange(len(selfs)), -sums, -selfs))
    ranked = [int(frame) for frame in order if selfs[frame] > 0]
    families = families_by_frame(frames)
    stage_of = _stages(samples, stacks, list(ranked[:MOST_METHODS]), weight)
    methods = []
    for frame in ranked[:MOST_METHODS]:
        stage, stage_weight = stage_of.get(frame, (None, 0))
        methods.append(
            Method(
                tree.names[frame],
                families[frame],
                int(selfs[frame]),
                int(sums[frame]),
                _ratio(selfs[frame], whole),
                _ratio(sums[frame], whole),
                stage,
                _ratio(stage_weight, selfs[frame]),
                _named_by(tree.names[frame], findings),
                _of_stage(stage, findings) if 2 * stage_weight >= selfs[frame] else None,
            )
        )
    if tree.self_weights[0]:
        alone = int(tree.self_weights[0])
        ratio = _ratio(alone, whole)
        methods.append(Method(NO_STACK, "none", alone, alone, ratio, ratio, None, 0.0, None, None))
    return Hotspots(event, unit_of(samples, weight), whole, tuple(methods), max(0, len(ranked) - MOST_METHODS))


def method_weights(
    parents: NDArray[np.int32], frames: NDArray[np.int32], weights: NDArray[np.int64], count: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Self and total weight of each frame; a method that calls itself counts once for each stack."""
    through = totals(parents, weights)
    selfs, sums = np.zeros(count, np.int64), np.zeros(count, np.int64)
    np.add.at(selfs, frames[frames >= 0], weights[frames >= 0])
    # The nearest caller with the same frame, by level: each node inherits its caller's answers where it differs.
    outermost = _outermost(parents, frames, through)
    np.add.at(sums, frames[outermost], through[outermost])
    return selfs, sums


def _outermost(parents: NDArray[np.int32], frames: NDArray[np.int32], through: NDArray[np.int64]) -> NDArray[np.int64]:
    """The nodes with weight whose frame is in none of their callers."""
    weighed = through > 0
    repeated = _may_repeat(parents, frames, weighed)
    suspects = np.flatnonzero(weighed & (frames >= 0) & repeated[np.maximum(frames, 0)])
    found = weighed & (frames >= 0)
    at, mine = parents[suspects], frames[suspects]
    while len(suspects):
        again = frames[at] == mine
        found[suspects[again]] = False
        on = ~again & (parents[at] >= 0)
        suspects, at, mine = suspects[on], parents[at[on]], mine[on]
    return np.flatnonzero(found)


def _may_repeat(parents: NDArray[np.int32], frames: NDArray[np.int32], weighed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """By frame: whether it stands at two depths at least, without which it cannot be its own caller."""
    count = int(frames.max(initial=-1)) + 1
    least, most = np.full(count, np.iinfo(np.int32).max), np.full(count, -1)
    for depth, nodes in enumerate(levels(parents)):
        mine = frames[nodes[weighed[nodes]]]
        mine = mine[mine >= 0]
        least[mine] = np.minimum(least[mine], depth)
        most[mine] = depth
    return most > least if count else np.zeros(1, np.bool_)


def _stages(
    samples: pa.Table, stacks: pa.Table, wanted: Sequence[int], weight: str
) -> dict[int, tuple[int | None, int]]:
    """For each of these frames the stage with most of its own samples, None for outside of stages, and how many."""
    _, frame_of = tree_arrays(stacks)
    leaf = frame_of[samples["stack"].fill_null(0).to_numpy()]
    stages = samples["stage_id"].fill_null(-1).to_numpy()
    amounts = samples[weight].to_numpy()
    found: dict[int, tuple[int | None, int]] = {}
    for frame in wanted:
        mine = leaf == frame
        ids, places = np.unique(stages[mine], return_inverse=True)
        sums = np.bincount(places, amounts[mine])
        best = int(np.argmax(sums))
        found[frame] = (int(ids[best]) if ids[best] >= 0 else None, int(sums[best]))
    return found


def _named_by(name: str, findings: Sequence[Ranked]) -> int | None:
    """The number of the first finding whose words hold the method: in full, as Class.method, or a Python function."""
    pieces = name.rsplit(".", 2)
    spellings = {name, ".".join(pieces[-2:])}
    if len(pieces[-1]) >= _LEAST_NAME:
        spellings.add(f"{pieces[-1]}()")
    for number, ranked in enumerate(findings, 1):
        said = ranked.finding
        words = " ".join([said.title, said.summary, *(e.text for e in said.evidence), *(a.text for a in said.advice)])
        if any(spelling in words for spelling in spellings):
            return number
    return None


def _of_stage(stage: int | None, findings: Sequence[Ranked]) -> int | None:
    """The number of the first finding on this stage."""
    return next(
        (n for n, one in enumerate(findings, 1) if stage is not None and one.finding.where.stage == stage), None
    )


def heaps(run: Run) -> tuple[Heap, ...]:
    """Live objects and allocation by class, of what was recorded with its class."""
    samples = run.tables.get("samples")
    if samples is None or not samples.num_rows:
        return ()
    samples = samples.select(["event", "count", "value", "object_class"])
    found = []
    for event in ("live", "alloc"):
        mine = samples.filter(pc.and_(pc.equal(samples["event"], event), pc.is_valid(samples["object_class"])))
        if mine.num_rows:
            found.append(_heap(mine, event))
    return tuple(found)


def _heap(samples: pa.Table, event: str) -> Heap:
    weight = natural_weight(samples, event)
    sums = [(weight, "sum"), ("count", "sum")] if weight != "count" else [("count", "sum")]
    rows = samples.group_by(["object_class"]).aggregate(sums).to_pylist()
    rows.sort(key=lambda row: (-row[f"{weight}_sum"], row["object_class"]))
    whole = sum(row[f"{weight}_sum"] for row in rows)
    classes = tuple(
        HeapClass(row["object_class"], row[f"{weight}_sum"], _ratio(row[f"{weight}_sum"], whole), row["count_sum"])
        for row in rows[:MOST_CLASSES]
    )
    count = sum(row["count_sum"] for row in rows)
    return Heap(event, unit_of(samples, weight), whole, count, classes, len(rows) - len(classes))


def _ratio(part: Any, whole: Any) -> float:
    return float(part) / float(whole) if whole else 0.0
