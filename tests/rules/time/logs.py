"""Logs of the jobs of `tests/jobs/faults`, each with one fault, and of their healthy twins (tests/data/findings)."""

from __future__ import annotations

from functools import cache

from emberscope.eventlog.read import read_event_log
from emberscope.rules.evaluate import SEVERITIES, Ranked, evaluate
from emberscope.tables.run import Run
from tests.runs import FINDINGS


@cache
def faulty(name: str, *, healthy: bool = False) -> Run:
    return read_event_log(str(FINDINGS / f"{name}{'_healthy' if healthy else ''}.zstd"))


def first_of(name: str) -> Ranked:
    """What is first told of a fault."""
    return evaluate(faulty(name)).findings[0]


def severities_of_twin(name: str) -> set[str]:
    """The severities of medium and above that are told of a fault's healthy twin."""
    found = {ranked.severity for ranked in evaluate(faulty(name, healthy=True)).findings}
    return found & set(SEVERITIES[: SEVERITIES.index("medium") + 1])
