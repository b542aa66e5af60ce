"""What was seen of a run, and what was not: one line for the first screen, then every note."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emberscope.sources.recorder_cost import own_cpu_words
from emberscope.tables.coverage import Coverage
from emberscope.tables.samples import EVENTS
from emberscope.units import counted, format_count, format_ms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emberscope.tables.coverage import Note
    from emberscope.tables.run import Run

_HOW_TO_LOG = "spark.eventLog.enabled=true, or `emberscope run`, and a report of both"
_HOW_TO_RECORD = "start the application with `emberscope run`"


@dataclass(frozen=True, slots=True)
class Seen:
    """`log` and `recorder` are a sentence each; `lost` are the notes of what is missing, `facts` those of how the data
    were made, which lost nothing."""

    log: str
    recorder: str
    lost: tuple[Note, ...]
    facts: tuple[Note, ...]

    @property
    def verdict(self) -> str:
        said = f"{counted(len(self.lost), 'thing')} {'is' if len(self.lost) == 1 else 'are'} known to be missing."
        if not self.lost:
            said = "Nothing of what was recorded is known to be lost."
        return said + (" Names are redacted." if any(note.code == "redacted" for note in self.facts) else "")


def seen(run: Run) -> Seen:
    notes = run.coverage.notes
    lost = tuple(note for note in notes if not Coverage((note,)).complete)
    return Seen(_log(run), _recorder(run), lost, tuple(note for note in notes if note not in lost))


def _log(run: Run) -> str:
    application = run.application
    if "tasks" not in run.tables:
        return f"No event log: nothing is known of jobs, stages, tasks and SQL. To get it: {_HOW_TO_LOG}."
    events = sum(application.event_counts.values())
    read = f"Event log: {counted(events, 'event')}" if events else "Event log: read"
    end = "to the end of the application" if application.complete else "no end of the application in it"
    bad = application.malformed_lines
    unreadable = f", {counted(bad, 'line')} of it unreadable" if bad else ""
    return f"{read}, {end}{unreadable}."


def _recorder(run: Run) -> str:
    if not run.recordings and "samples" not in run.tables:
        return f"Recorder: not used, so no flame graph. To get one: {_HOW_TO_RECORD}."
    samples = sample_counts(run)
    period_ns = run.recorder.get("sample_period_ns")
    each = f" (one each {format_ms(period_ns / 1e6)})" if isinstance(period_ns, int | float) else ""
    said = [f"{format_count(count)} {event}{each if event == 'cpu' else ''}" for event, count in samples.items()]
    used = own_cpu_words(run.recorder.get("own_cpu", []))
    cost = f" Its own threads used {used}." if used else ""
    return f"Recorder: {_processes(run)}samples: {', '.join(said) or 'none'}.{cost}"


def sample_counts(run: Run) -> dict[str, int]:
    """Samples by event, in the order of `tables/samples.py`."""
    table = run.tables.get("samples")
    if table is None or not table.num_rows:
        return {}
    grouped = table.group_by(["event"]).aggregate([("count", "sum")]).to_pylist()
    found = {row["event"]: int(row["count_sum"] or 0) for row in grouped}
    return {event: found[event] for event in EVENTS if event in found}


def _processes(run: Run) -> str:
    """Which of the executors were recorded."""
    samples, executors = run.tables.get("samples"), run.tables.get("executors")
    if samples is None or not samples.num_rows:
        return ""
    recorded = set(samples["executor_id"].unique().to_pylist()) - {None}
    known: Sequence[str] = [] if executors is None else executors["executor_id"].to_pylist()
    workers = [one for one in known if one != "driver"]
    if not recorded or not known:
        return ""
    of_workers = sum(one in recorded for one in workers)
    driver = " and the driver" if "driver" in recorded else ", not the driver"
    if not workers:
        return "the driver, which ran the tasks; " if "driver" in recorded else ""
    return f"{of_workers} of {counted(len(workers), 'executor')}{driver}; "
