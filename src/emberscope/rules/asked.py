"""Answers to questions in plain words: they rest on words alone, so each says what input would confirm it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from emberscope.rules.base import Advice, Finding, Rule
from emberscope.rules.families import family_of
from emberscope.tables.run import once

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_WORDS: Final = frozenset({"log_events", "conf"})
_CLOCKED: Final = ("time_ms", "level", "logger", "role")

_LOGS: Final = (
    "To confirm it, give the driver's log and the log of the executor or container that ended (`yarn logs "
    "-applicationId ID`, `kubectl logs` and `kubectl describe pod`): `emberscope diagnose LOGS`."
)
_EVENT_LOG: Final = "To confirm it, give the event log of the run: `emberscope diagnose EVENTLOG`."
_BY_FAMILY: Final = {
    "failures": _LOGS,
    "emr": _LOGS,
    "executors": _LOGS,
    "profilers": (
        "To confirm it, give what the JVM and the profiler wrote to standard error, and the recording itself: "
        "`emberscope diagnose LOG`, `emberscope summary RECORDING`."
    ),
}


@once
def only_words(run: Run) -> bool:
    """Whether all that is known of a run is text without clock, level or process: a question, or lines out of a log."""
    events = run.tables.get("log_events")
    if events is None or not set(run.tables) <= _WORDS or not events.num_rows:
        return False
    return all(events[name].null_count == events.num_rows for name in _CLOCKED)


def confirmed(finding: Finding, rule: Rule[Any], run: Run) -> Finding:
    """The finding with what input would confirm it, where it rests on words alone; else as it is."""
    if not only_words(run):
        return finding
    check = Advice("check", _BY_FAMILY.get(family_of(rule), _EVENT_LOG))
    return replace(finding, advice=(*finding.advice, check))
