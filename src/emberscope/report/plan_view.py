"""A plan as the page shows it: its picture, its operators as a table, and what is to be said of it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from emberscope.report.plan_changes import changes, changes_words
from emberscope.report.plan_svg import Links, plan_svg, title_of
from emberscope.report.plan_tree import Operator, Plan, cut
from emberscope.report.plan_words import base_name, shortened, telling
from emberscope.units import format_count

_MOST_SLOW: Final = 5
_FEW_BOXES: Final = 8  # a plan of fewer is seen at a glance


@dataclass(frozen=True, slots=True)
class TableRow:
    """One operator for those who read the plan as a table. `level` counts from 1, the result;
    `same_as` leads to what is used again."""

    level: int
    operator: Operator
    detail: str
    code: int | None
    same_as: str
    metrics: str


@dataclass(frozen=True, slots=True)
class PlanView:
    """A plan as picture and as table, and what is to be said of it. `slowest` are the operators with the most time of
    tasks: their words, their links and the time in ms."""

    picture: Markup
    rows: tuple[TableRow, ...]
    notes: tuple[str, ...]
    slowest: tuple[tuple[str, str, float], ...]
    changed: str
    changes: tuple[str, ...]
    before: Markup | None
    boxes: int


def plan_view(whole: Plan, before: Plan | None, updates: int, links: Links, label: str, most: int) -> PlanView:
    """The view of a plan with at most so many operators in its picture. `before` is the plan before it ran, `updates`
    how often adaptive execution changed it, `label` says what the plan is of."""
    plan = cut(whole, most)
    said = changes(whole, before)
    first = None
    if before and updates and _shape(before) != _shape(whole):
        first = plan_svg(cut(before, most), Links(f"{links.prefix}-before"), f"{label} before it ran")
    return PlanView(
        plan_svg(plan, links, label),
        tuple(_table(plan, links.prefix)),
        tuple(_notes(whole, plan)),
        tuple(_slowest(plan, links)),
        changes_words(updates, said) if updates else "",
        tuple(said),
        first,
        len(plan.operators) + (len(before.operators) if before and first else 0),
    )


def blamed(plan: Plan, stage: int | None, title: str, summary: str) -> int | None:
    """The operator that a finding about a stage speaks of: what spilled most, called the Python function that it names,
    or has the name that it says first; None for none."""
    of_stage = [operator for operator in plan.operators if stage is None or stage in operator.stages]
    if "spill" in title:
        spilling = max(of_stage, key=lambda operator: operator.figures.spilled_bytes or 0, default=None)
        if spilling and spilling.figures.spilled_bytes:
            return spilling.node_id
    called = re.findall(r"(\w+)\(\)", title)
    for operator in of_stage:
        if "Python" in operator.name and any(f"{name}(" in operator.detail for name in called):
            return operator.node_id
    words = f"{title} {summary}"
    names = {name: words.find(name) for name in {base_name(operator.name) for operator in plan.operators}}
    named = [operator for operator in of_stage if names[base_name(operator.name)] >= 0]
    best = min(named, key=lambda o: (names[base_name(o.name)], -len(base_name(o.name))), default=None)
    return best.node_id if best else None


def _shape(plan: Plan) -> list[tuple[int | None, str]]:
    return [(operator.parent, base_name(operator.name)) for operator in plan.operators]


def _table(plan: Plan, prefix: str) -> Iterable[TableRow]:
    levels: list[int] = []
    shown = {operator.node_id for operator in plan.operators}
    for operator in plan.operators:
        level = 1 if operator.parent is None else levels[operator.parent] + 1
        levels.append(level)
        code = plan.codes[operator.code].number if operator.code is not None else None
        told = title_of(operator).partition("\n")[2].replace("\n", "; ")
        again = f"#{prefix}-{operator.same_as}" if operator.same_as in shown else ""
        yield TableRow(level, operator, telling(operator.name, operator.detail), code, again, told)


def _notes(whole: Plan, plan: Plan) -> Iterable[str]:
    hidden = len(whole.operators) - len(plan.operators)
    if hidden:
        yield (
            f"{format_count(len(plan.operators))} of {format_count(len(whole.operators))} operators are shown, those "
            f"that took most time and all above them; boxes say where the other {format_count(hidden)} are left out."
        )
    if whole.repeated:
        times = "once" if whole.repeated == 1 else f"{format_count(whole.repeated)} times"
        yield f"What is used again ({times}) is drawn once; dashed lines lead to it."


def _slowest(plan: Plan, links: Links) -> Iterable[tuple[str, str, float]]:
    if len(plan.operators) < _FEW_BOXES:
        return
    timed = [o for o in plan.operators if o.figures.in_tasks and (o.figures.time_ms or 0) >= links.task_ms / 100 > 0]
    for operator in sorted(timed, key=lambda o: -(o.figures.time_ms or 0))[:_MOST_SLOW]:
        words = f"{operator.name} {shortened(telling(operator.name, operator.detail), 32)}".strip()
        yield words, f"#{links.prefix}-{operator.node_id}", operator.figures.time_ms or 0
