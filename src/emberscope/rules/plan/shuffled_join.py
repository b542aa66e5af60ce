"""A join shuffled a large table although the other side was small enough to be sent to every executor.

## What it means
To join two tables, Spark sends both through a shuffle, so that rows with equal keys meet, and mostly sorts them. Where
one side is small, it can instead copy that side to every executor (a broadcast); the large side then stays where it is.
Spark decides by its estimate of the size before the query runs, or by the real size while it runs (adaptive execution):
it broadcasts up to spark.sql.autoBroadcastJoinThreshold, 10 MiB by default. Here one side was small beside the other,
and both were shuffled all the same.

## What it costs
The time in which the tasks wrote the large side's shuffle, waited for it and sorted it: the schedule is replayed
without it. Reading and joining the rows stay. What the broadcast would take is not counted.

## What to do
Write broadcast(small) around the small DataFrame in the join, or /*+ BROADCAST(name) */ in SQL. Or raise the threshold,
where a value for it stands below. Keep adaptive execution on: it sees the real sizes. But it can change the join only
after the shuffle of the small side, mostly with the large side's under way; the hint saves both. The small side has to
fit into the memory of the driver and of each executor, where it takes several times its size on disk.

## When to ignore it
When the small side grows with the data and will not stay small, or when the threshold was lowered because broadcasts
had failed for lack of memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Rule, set_conf
from emberscope.rules.plan.joins import Join, joins
from emberscope.rules.plan.work import READS, at, work_of
from emberscope.rules.plans import Node, Plan, plans
from emberscope.rules.price import priced
from emberscope.rules.settings import MIB, bytes_setting, memory_words
from emberscope.units import format_bytes, format_ms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.simulate.stage_tasks import StageKey
    from emberscope.tables.run import Run

_THRESHOLD: Final = "spark.sql.autoBroadcastJoinThreshold"
_GIB: Final = 1 << 30
# Which side may be sent to all: the one whose rows without a partner are not asked for.
_SIDES: Final = {
    "Inner": (0, 1),
    "Cross": (0, 1),
    "LeftOuter": (1,),
    "LeftSemi": (1,),
    "LeftAnti": (1,),
    "ExistenceJoin": (1,),
    "RightOuter": (0,),
}


class Limits(Struct, frozen=True):
    """The sizes are those of DataFlint, which asks nothing of the other side where the small one is below 10 MB; the
    100 MiB for that, and the floors, are our proposal or the catalogue's."""

    # A side of so many bytes at most is small beside another of so many at least.
    tiny_bytes: int = 10 * MIB
    beside_tiny_bytes: int = 100 * MIB
    small_bytes: int = 100 * MIB
    beside_small_bytes: int = 10 * _GIB
    medium_bytes: int = 1000 * MIB
    beside_medium_bytes: int = 300 * _GIB
    large_bytes: int = 5 * _GIB
    beside_large_bytes: int = 1024 * _GIB
    floor_ms: int = 10_000  # wall time of the stages, or ... (catalogue)
    least_app_ratio: float = 0.01  # ... their share of the application (catalogue)
    floor_saved_ms: int = 5_000  # task time that goes away (proposal)

    def is_small(self, size: float, other: float) -> bool:
        return (
            (size <= self.tiny_bytes and other >= self.beside_tiny_bytes)
            or (size <= self.small_bytes and other >= self.beside_small_bytes)
            or (size <= self.medium_bytes and other >= self.beside_medium_bytes)
            or (size <= self.large_bytes and other >= self.beside_large_bytes)
        )


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    for plan in plans(run).values():
        for join in joins(plan):
            if "SortMergeJoin" not in join.node.name and "ShuffledHashJoin" not in join.node.name:
                continue
            shuffles = [_shuffle_below(child) for child in join.node.children]
            for small, large in ((0, 1), (1, 0)):
                if small not in _broadcastable(join.node):
                    continue
                found = _judge(run, plan, join, shuffles[small], shuffles[large], limits)
                if found is not None:
                    yield found
                    break


def _broadcastable(join: Node) -> tuple[int, ...]:
    return next((sides for kind, sides in _SIDES.items() if f", {kind}" in join.detail), ())


def _shuffle_below(node: Node) -> Node | None:
    """The shuffle that feeds this side of the join, with nothing between that changes its size."""
    while not node.name.endswith("Exchange"):
        if len(node.children) != 1 or node.name not in ("Sort", "AQEShuffleRead", "CustomShuffleReader", "Project"):
            return None
        node = node.children[0]
    return None if "Broadcast" in node.name or "Reused" in node.name else node


def _judge(run: Run, plan: Plan, join: Join, few: Node | None, many: Node | None, limits: Limits) -> Finding | None:
    if few is None or many is None:
        return None
    few_bytes, many_bytes = few.metrics.get("data size"), many.metrics.get("data size")
    if few_bytes is None or many_bytes is None:
        return None
    if not limits.is_small(few_bytes, many_bytes):
        return None
    written = set(many.stage_ids) - set(join.node.stage_ids)
    work = work_of(run, written | set(join.node.stage_ids))
    changed = _without_shuffle(run, join, written)
    saved_ms = sum(float(lengths.sum()) for lengths in work.times(1.0).values()) - sum(
        float(lengths.sum()) for lengths in changed.values()
    )
    if saved_ms < limits.floor_saved_ms or not work.is_worth_a_word(run, limits.floor_ms, limits.least_app_ratio):
        return None
    price = priced(run, changed, "Writing, waiting for and sorting the large side's shuffle left out.")
    side = "left" if few in (join.node.children[0], *join.node.children[0].below()) else "right"
    keys = f" by {join.keys}" if join.keys else ""
    # Whoever switched broadcasts off may have had a reason.
    off = (run.setting(_THRESHOLD) or "").strip().startswith(("-", "0"))
    return Finding(
        title=f"A join{keys} shuffled {format_bytes(many_bytes)} to meet {format_bytes(few_bytes)}",
        summary=f"{plan.words}: {join.node.name}{keys} moved both sides through a shuffle, although its {side} side "
        f"has only {format_bytes(few_bytes)} and could be sent to every executor.",
        where=at(plan, work),
        evidence=(
            Evidence(
                f"{side} side {format_bytes(few_bytes)}, other side {format_bytes(many_bytes)}",
                "plan_metrics: data size",
                few_bytes,
                "bytes",
            ),
            Evidence(
                f"writing, waiting for and sorting the large side took the tasks {format_ms(saved_ms)}",
                "tasks.shuffle_write_time_ns, tasks.shuffle_fetch_wait_ms, plan_metrics: sort time",
                round(saved_ms),
                "ms",
            ),
        ),
        advice=tuple(_advice(run, plan, keys, side, few_bytes, off=off)),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=round(saved_ms),
        saving_basis=price.basis,
        confidence=0.3 if off else 0.7,
    )


def _without_shuffle(run: Run, join: Join, written: set[int]) -> dict[StageKey, NDArray[np.float64]]:
    """Durations without the large side's shuffle: its writing, the wait for it, and the sorts of the join."""
    found = {}
    for stage in work_of(run, written).stages:
        lengths = stage.tasks.durations_ms()
        spent = stage.tasks.amounts("shuffle_write_time_ns") / 1e6
        found[stage.tasks.key] = np.maximum(0.0, (lengths - spent)[~np.isnan(lengths)])
    sort_ms = sum(node.metrics.get("sort time", 0.0) for child in join.node.children for node in _sorts(child))
    joined = work_of(run, join.node.stage_ids)
    for stage in joined.stages:
        lengths = stage.tasks.durations_ms()
        run_ms = stage.tasks.run_ms()
        spent = stage.tasks.amounts("shuffle_fetch_wait_ms") + run_ms * (sort_ms / max(joined.run_ms, sort_ms, 1.0))
        found[stage.tasks.key] = np.maximum(0.0, (lengths - spent)[~np.isnan(lengths)])
    return found


def _sorts(node: Node) -> Iterator[Node]:
    while not node.name.endswith("Exchange"):
        if node.name == "Sort":
            yield node
        if len(node.children) != 1:
            return
        node = node.children[0]


def _advice(run: Run, plan: Plan, keys: str, side: str, size: float, *, off: bool) -> Iterator[Advice]:
    site = f" ({plan.call_site})" if plan.call_site else ""
    yield Advice("code", f"Put broadcast(...) around the {side} side of the join{keys}{site}.")
    if off or size > bytes_setting(run, _THRESHOLD, "10m"):
        said = f" The application sets it to {run.setting(_THRESHOLD)}, perhaps on purpose." if off else ""
        yield set_conf(
            _THRESHOLD,
            memory_words(max(10 * MIB, size * 1.5)),
            f"One and a half times the {side} side of this join; Spark compares its own estimate with it.{said}",
        )


RULE = Rule(code="F1", name="shuffled-join", since="0.1", reads=READS, limits=Limits(), check=check)
