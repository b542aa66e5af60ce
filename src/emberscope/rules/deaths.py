"""Which failures are echoes of which: what kills a process, what is lost with it, what that ends.

One death is told many times: the process that was killed, the executor that the driver misses, shuffle output that is
gone, tasks, stages and jobs that give up, the exit code of it all. A finding of any of these goes under that of an
earlier step where the two name the same processes, or none, where the earlier one was seen first, or where one line
of a log says both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from emberscope.rules.base import Finding
    from emberscope.rules.evaluate import Ranked

# A loss is noticed by some long before others: the driver waits two minutes for a heartbeat (spark.network.timeout),
# and a cluster manager gives its reason when the executor has long been missed.
NOTICED_WITHIN_MS: Final = 120_000
# What names no common process belongs together only where one came soon after the other (our proposal).
_SOON_MS: Final = 30 * 60_000

# What takes a process away, by itself or with its machine.
_KILLS: Final = ("K1", "K2", "K4", "K5", "K10", "K20", "K60", "K62", "K64", "L10", "L15")
# The same, where it is the JVM's or the worker's own doing.
_CRASHES: Final = ("K11", "K13", "K15", "K17", "K40", "K61", "K80", "K81", "L11", "P7", "P17", "P18")
# What keeps a process from answering while it lives.
_STANDSTILLS: Final = ("K82", "K83")
_LOSSES: Final = ("K3", "K12", "H3")
_FETCHES: Final = ("K6", "L14")
_NETWORK: Final = ("K26", "K63")

BY_PROCESS: Final[dict[str, tuple[str, ...]]] = {
    "K2": ("K1", "K4", "K20", "K60", "K62", "L15"),
    "K3": _KILLS,
    "K4": ("L15",),
    "K12": (*_KILLS, *_CRASHES, *_STANDSTILLS, "K3"),
    "K13": ("K5", *_STANDSTILLS),
    "K70": ("K1", "K2", "K5", "K17"),
    "K80": ("P17",),
    "K82": ("K5",),
    "K83": ("K5", "K82"),
    "H3": (*_KILLS, *_CRASHES, *_STANDSTILLS, "K3", "K12"),
    "K26": (*_KILLS, *_LOSSES),
    "K6": (*_KILLS, *_CRASHES, *_STANDSTILLS, *_LOSSES, *_NETWORK),
    "L14": (*_KILLS, *_CRASHES, *_STANDSTILLS, *_LOSSES, *_NETWORK),
    "K19": (*_KILLS, *_CRASHES, "K12", "H3"),
}
"""Consequence and its causes, told by the processes that both name."""

# What went wrong in the end: only its words tell which of the troubles before it, if any, was why.
_ENDS: Final = ("H4", "H5", "K19", "K25", "L5", "L13")

SAME_CASE: Final[dict[str, tuple[str, ...]]] = {
    "K6": ("L14",),
    "K8": ("L2",),
    "K10": ("L10",),
    "K11": ("L11",),
    "K15": ("L12",),
}
"""What a managed cluster's own rule tells better: the general one stands under it where both quote the same."""

TWINS: Final[dict[str, str]] = {"K1": "C6", "K2": "C6", "K17": "C6", "K5": "C5", "K7": "C8"}
"""What words tell and what figures tell of one trouble. A line of a log is the witness, and comes first; words that
stand only in the event log say less than its figures do."""

_EXECUTORS: Final = re.compile(r"\b[Ee]xecutors? ((?:\d+(?:, | and )?)+)")


def death_causes(item: Ranked, others: Sequence[Ranked]) -> tuple[int, ...]:
    """The indices of those `others` that caused what `item` tells."""
    code = item.rule.code
    return tuple(
        index
        for index, other in enumerate(others)
        if other is not item
        and (
            (other.rule.code in BY_PROCESS.get(code, ()) and (_same_line(item, other) or _of_one_death(item, other)))
            or (other.rule.code in SAME_CASE.get(code, ()) and (_same_line(item, other) or _seen_before(other, item)))
            or (code in _ENDS and _is_told_by(item, other))
            or _is_lesser_twin(item, other)
        )
    )


def is_echo(item: Ranked, others: Sequence[Ranked], causes: Sequence[int]) -> bool:
    """Whether one of these causes is an earlier step of the same death, not another view of the same trouble."""
    return any(others[index].rule.code in BY_PROCESS.get(item.rule.code, ()) for index in causes)


def without_circles(causes_of: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The same without the causes that would close a circle."""
    kept: dict[int, tuple[int, ...]] = {}

    def visit(index: int, way: frozenset[int]) -> None:
        if index in kept:
            return
        way |= {index}
        causes = tuple(cause for cause in causes_of[index] if cause not in way)
        for cause in causes:
            visit(cause, way)
        kept[index] = causes

    for index in range(len(causes_of)):
        visit(index, frozenset())
    return [kept[index] for index in range(len(causes_of))]


def _of_one_death(item: Ranked, cause: Ranked) -> bool:
    """Whether the two name a common process, or one of them none, and the cause was there first."""
    if item.app_id != cause.app_id or not _seen_before(cause, item):
        return False
    # A fetch fails in one executor for want of another: only that one, where it is named, is what it is about.
    is_fetch = item.rule.code in _FETCHES
    mine = _named(f"{item.finding.title}\n{item.finding.summary}") if is_fetch else executors_of(item.finding)
    its = executors_of(cause.finding)
    if mine and its:
        return bool(mine & its)
    if item.at_ms is not None and cause.at_ms is not None and item.at_ms - cause.at_ms > _SOON_MS:
        return False
    a, b = item.finding.where, cause.finding.where
    if not is_fetch and not (mine or its) and a.host is not None and b.host is not None and a.host != b.host:
        return False
    return a.stage is None or b.stage is None or a.stage == b.stage or bool(mine or its)


def _is_lesser_twin(item: Ranked, other: Ranked) -> bool:
    if TWINS.get(item.rule.code) == other.rule.code:
        is_lesser = not _lines(item.finding)
    elif TWINS.get(other.rule.code) == item.rule.code:
        is_lesser = bool(_lines(other.finding))
    else:
        return False
    mine, its = executors_of(item.finding), executors_of(other.finding)
    return is_lesser and (not mine or not its or bool(mine & its))


def _is_told_by(item: Ranked, cause: Ranked) -> bool:
    """Whether what ended work repeats the words by which the cause was found: a job that failed quotes its exception.

    The rules of logs only: others have no words. What is itself an end is no cause of one.
    """
    if not cause.rule.signatures or cause.rule.code in _ENDS or not _seen_before(cause, item):
        return False
    if _same_line(item, cause):
        return True
    told = _words(item.finding)
    return any(re.search(one.pattern, told, re.M) for one in cause.rule.signatures if _may_match(one.literals, told))


def _may_match(literals: Sequence[str], text: str) -> bool:
    return any(literal in text for literal in literals)


def _seen_before(cause: Ranked, item: Ranked) -> bool:
    if cause.at_ms is None or item.at_ms is None:
        return True
    return cause.at_ms <= item.at_ms + NOTICED_WITHIN_MS


def _same_line(a: Ranked, b: Ranked) -> bool:
    return bool(_lines(a.finding) & _lines(b.finding))


def _lines(finding: Finding) -> set[tuple[str, int]]:
    return {(one.source, one.line) for one in finding.evidence if one.line is not None}


def executors_of(finding: Finding) -> set[str]:
    """The executors that a finding is about, or names; `driver` where it is about that."""
    if finding.where.executor == "driver" or finding.title.startswith("The driver'"):
        return {"driver"}
    named = _named(_words(finding))
    return named if finding.where.executor is None else {*named, finding.where.executor}


def _named(text: str) -> set[str]:
    return {number for numbers in _EXECUTORS.findall(text) for number in re.findall(r"\d+", numbers)}


def _words(finding: Finding) -> str:
    return "\n".join((finding.title, finding.summary, *(one.text for one in finding.evidence)))
