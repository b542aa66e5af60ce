"""Several inputs about one application as one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from emberscope.tables.coverage import total
from emberscope.tables.run import Run


def join(runs: Sequence[Run]) -> list[Run]:
    """The runs, with a recording put to the event log of its application where there is one of each.

    A recording does not say whose it is, so nothing is guessed where there are several of either: they stay apart.
    """
    logs = [run for run in runs if "tasks" in run.tables and "samples" not in run.tables]
    recordings = [run for run in runs if "tasks" not in run.tables and "samples" in run.tables]
    if len(logs) != 1 or len(recordings) != 1 or not _may_be_one(logs[0], recordings[0]):
        return list(runs)
    log, recording = logs[0], recordings[0]
    together = replace(
        log,
        tables={**log.tables, **recording.tables},
        coverage=total([log.coverage, recording.coverage]),
        recordings=recording.recordings,
        recorder=recording.recorder,
    )
    return [together if run is log else run for run in runs if run is not recording]


def _may_be_one(log: Run, recording: Run) -> bool:
    """Whether the two were there at the same time, and do not name two applications."""
    names = {log.application.app_id, recording.application.app_id} - {None}
    start_ms, length_ms = log.application.app_start_ms, log.application.observed_ms
    if len(names) > 1 or start_ms is None or length_ms is None:
        return len(names) <= 1
    return any(
        facts.start_ms is not None
        and facts.start_ms <= start_ms + length_ms
        and start_ms <= facts.start_ms + (facts.duration_ms or 0)
        for facts in recording.recordings
    )
