"""The same rows worked out more than once: parts of plans that do the same to the same data, and were not shared."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.rules.plan.work import StageWork, Work, work_of
from emberscope.rules.plans import Node, Plan, plans
from emberscope.tables.run import once

if TYPE_CHECKING:
    from emberscope.tables.run import Run

# Operators that change no row and how many there are: what stands under them is what is told.
_PASSED: Final = re.compile(
    r"Project(?:Exec)?(?:Transformer)?$|ColumnarToRow|RowToColumnar|ShuffleRead|^Sort$|^InputAdapter$"
)
_SCAN: Final = re.compile(r"(?:^|Photon|Gpu|Comet|Native)(?:Batch|File)?Scan(?:Exec)?(?:Transformer)?$")
# What of a scan tells which rows it gives: the columns that it reads differ from query to query.
_SHUFFLE: Final = re.compile(r"Exchange(?:Source)?$")
_COLUMNAR: Final = re.compile(r"(?i)parquet|\borc\b|delta|iceberg|hudi")
_LOCATION: Final = re.compile(r"Location: \w+(?:\(\d+ paths\))?\[[^\]]*\]?")
_FILTERS: Final = re.compile(
    r"(?:PartitionFilters|PushedFilter?s|DataFilters|RuntimeFilters): \[.*?\](?=, \w+: |, ?$|$)"
)
_IDS: Final = re.compile(r"#\d+L?|,? ?\[(?:plan_)?id=#?\d+\]")
_COLUMN: Final = re.compile(r"\w+#\d+")
_AS: Final = re.compile(r" AS (\w+#\d+)")
_OBJECTS: Final = re.compile(r"@[0-9a-f]{5,}|Lambda\$?/?[\w$/]+")

Part = int
"""Stands for all parts of plans that do the same: the operator, what it works on, and what it was told to do."""


class Occurrence(Struct, frozen=True):
    """One part of a plan, by the operator that its rows come out of, and the stages in which it ran."""

    plan: Plan
    node: Node
    stage_ids: frozenset[int]


class SameWork(Struct, frozen=True):
    """Parts of plans that did the same, in the order of their executions, and how many operators each of them has."""

    occurrences: tuple[Occurrence, ...]
    operators: int

    @property
    def scans(self) -> tuple[Node, ...]:
        """What reads the rows, in the first of them."""
        node = self.occurrences[0].node
        return tuple(scan for scan in (node, *node.below()) if is_scan(scan))

    @property
    def only_reads_columns(self) -> bool:
        """Whether nothing is done but to read and filter a columnar format: then to keep the rows gains little."""
        columnar = all(_COLUMNAR.search(scan.title + scan.detail) for scan in self.scans)
        return columnar and self.operators <= 1 + (self.occurrences[0].node.name.endswith("Filter"))

    def repeated_work(self, run: Run, told: Collection[int]) -> Work:
        """The work of all occurrences but the first, in stages that were not `told`: of each no more than the cheapest
        of them took, since a stage does more than its part of the plan."""
        first, *rest = (work_of(run, occurrence.stage_ids) for occurrence in self.occurrences)
        least_ms = min(work.run_ms for work in (first, *rest))
        used = {stage.tasks.key for stage in first.stages}
        stages: list[StageWork] = []
        for work in rest:
            share = min(1.0, least_ms / work.run_ms) if work.run_ms > 0 else 0.0
            for stage in work.stages:
                if stage.tasks.key not in used and stage.tasks.key[0] not in told:
                    stages.append(stage.part(share))
                    used.add(stage.tasks.key)
        return Work(tuple(stages))

    @property
    def sources(self) -> tuple[str, ...]:
        """What is read, in the words of the plan."""
        return tuple(dict.fromkeys(source_of(scan) for scan in self.scans))


def is_scan(node: Node) -> bool:
    """Whether it reads rows from outside of Spark's memory, or from an RDD."""
    return _is_scan(node.name) and not node.title.startswith("Scan In-memory")


# Plans have many operators, but few names.
@lru_cache(1024)
def _is_scan(name: str) -> bool:
    return _SCAN.search(name) is not None


@lru_cache(1024)
def _is_passed(name: str) -> bool:
    return _PASSED.search(name) is not None


@lru_cache(1024)
def _is_shuffle(name: str) -> bool:
    return _SHUFFLE.search(name) is not None


def source_of(scan: Node) -> str:
    """`parquet file:/data/orders`, as far as the plan tells."""
    location = _LOCATION.search(scan.detail)
    title = _IDS.sub("", scan.title).removeprefix("Scan ").removeprefix("Photon").removeprefix("Scan ")
    title = title.partition("[")[0].strip()
    if location is None:
        return "an RDD" if title in ("", "Scan", "ExistingRDD") else title
    path = location[0].partition("[")[2].removesuffix("]")
    return f"{title} {path}".strip()


@once
def same_work_across(run: Run) -> Sequence[SameWork]:
    """What several executions worked out, each for itself; the parts with most operators first."""
    known = _known(run)
    found = []
    for part, occurrences in known.occurrences.items():
        group = _by_execution(occurrences)
        if len(group) > 1 and not _told_above(known, group):
            found.append(SameWork(tuple(group), known.operators[part]))
    return _ordered(found)


@once
def same_work_within(run: Run) -> Sequence[SameWork]:
    """What one execution worked out more than once; the parts with most operators first."""
    known = _known(run)
    found = []
    for part, occurrences in known.occurrences.items():
        of_plan: dict[int, list[Occurrence]] = {}
        for occurrence in occurrences:
            of_plan.setdefault(occurrence.plan.sql, []).append(occurrence)
        for sql, group in of_plan.items():
            above = known.above(group[0].node)
            larger = () if above is None else known.occurrences.get(above, ())
            if len(group) > 1 and sum(occurrence.plan.sql == sql for occurrence in larger) < len(group):
                found.append(SameWork(tuple(group), known.operators[part]))
    return _ordered(found)


def _ordered(found: list[SameWork]) -> Sequence[SameWork]:
    return sorted(found, key=lambda same: (-same.operators, -len(same.occurrences), same.occurrences[0].plan.sql))


class _Known(Struct):
    """All parts: which part each operator is, and where each part that reads something and ran is."""

    part_of: dict[int, Part]
    operators: dict[Part, int]
    occurrences: dict[Part, list[Occurrence]]

    def above(self, node: Node) -> Part | None:
        """The part that the operator's rows go into; None where that is nothing or cannot be said."""
        above = node.parent
        while above is not None and _is_passed(above.name):
            above = above.parent
        return None if above is None else self.part_of.get(id(above))


def _told_above(known: _Known, group: Sequence[Occurrence]) -> bool:
    """Whether a larger part is shared by all executions that share this one."""
    above = known.above(group[0].node)
    if above is None:
        return False
    shared = {occurrence.plan.root_sql for occurrence in known.occurrences.get(above, ())}
    return shared >= {occurrence.plan.root_sql for occurrence in group}


def _by_execution(occurrences: Sequence[Occurrence]) -> list[Occurrence]:
    first_of = {occurrence.plan.root_sql: occurrence for occurrence in reversed(occurrences)}
    return sorted(first_of.values(), key=lambda found: (found.plan.started_ms or 0, found.plan.sql))


@once
def _known(run: Run) -> _Known:
    known = _Known({}, {}, {})
    parts: dict[Hashable, Part] = {}
    reading: dict[Part, bool] = {}
    for plan in plans(run).values():
        if plan.failed:
            continue
        stages: dict[int, frozenset[int]] = {}
        # A second time for what hangs on a reuse, whose original comes before it in the plan.
        for _ in range(1 + any(node.same_as for node in plan.nodes)):
            for node in reversed(plan.nodes):
                below = [known.part_of.get(id(child)) for child in node.children]
                if node.cached or None in below or id(node) in known.part_of:
                    continue
                if node.same_as is not None:
                    again = known.part_of.get(id(node.same_as))
                    if again is None:
                        continue
                    if not node.children:
                        known.part_of[id(node)], stages[id(node)] = again, frozenset()
                        continue
                    below.append(again)
                under = frozenset(stage for child in node.children for stage in stages[id(child)])
                passed = _is_passed(node.name) and len(below) == 1
                only = below[0] if passed else None
                part = parts.setdefault((_label(node), *below), len(parts)) if only is None else only
                known.part_of[id(node)] = part
                # A shuffle is read in the stage after it, which does more.
                stages[id(node)] = under if node.children and _is_shuffle(node.name) else under | set(node.stage_ids)
                if not passed:
                    known.operators[part] = 1 + sum(known.operators[of] for of in below if of is not None)
                reading[part] = is_scan(node) or any(reading[of] for of in below if of is not None)
                if not passed and reading[part] and stages[id(node)]:
                    known.occurrences.setdefault(part, []).append(Occurrence(plan, node, stages[id(node)]))
    return known


def _label(node: Node) -> Hashable:
    if is_scan(node):
        location = _LOCATION.search(node.detail)
        title = _IDS.sub("", node.title).partition("[")[0]
        filters = tuple(_FILTERS.findall(_IDS.sub("", node.detail)))
        # An RDD is told by the numbers of its columns; a path may be cut short, so that the rows have to agree too.
        named = node.detail if location is None and title.startswith("Scan") and "[" in node.detail else ""
        return (title, location and location[0], filters, named, node.rows)
    if not node.children:
        return (node.detail or node.title, node.rows)
    return (node.name, _OBJECTS.sub("", _IDS.sub("", node.detail)), _computed_below(node))


def _computed_below(node: Node) -> tuple[str, ...]:
    """How the columns that an operator names are worked out right below it, in projections that are passed over."""
    named = set(_COLUMN.findall(node.detail))
    found = []
    for child in node.children:
        while _is_passed(child.name) and len(child.children) == 1:
            for end in _AS.finditer(child.detail):
                if end[1] in named:
                    found.append(_IDS.sub("", _expression_before(child.detail, end.start())))
            child = child.children[0]
    return tuple(sorted(found))


def _expression_before(text: str, end: int) -> str:
    """The expression that ends there: back to a comma or a bracket outside of its own brackets."""
    depth, start = 0, end
    while start > 0:
        letter = text[start - 1]
        if letter in ")]}":
            depth += 1
        elif letter in "([{":
            depth -= 1
        if depth < 0 or (letter == "," and depth == 0):
            break
        start -= 1
    return text[start:end].strip()
