"""Answers to questions in plain words: they rest on words alone, so each says what input would confirm it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from emberscope.logs.question import READ_AS_WORDS
from emberscope.rules.base import Advice, Finding, Rule
from emberscope.rules.families import family_of

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_WORDS: Final = frozenset({"log_events", "conf"})

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


def only_words(run: Run) -> bool:
    """Whether all that is known of a run is a question in plain words, with the lines that were pasted into it."""
    return set(run.tables) <= _WORDS and any(note.message == READ_AS_WORDS for note in run.coverage.notes)


def confirmed(finding: Finding, rule: Rule[Any], run: Run) -> Finding:
    """The finding with what input would confirm it, where it rests on words alone; else as it is."""
    if not only_words(run):
        return finding
    check = Advice("check", _BY_FAMILY.get(family_of(rule), _EVENT_LOG))
    return replace(finding, advice=(*finding.advice, check))
