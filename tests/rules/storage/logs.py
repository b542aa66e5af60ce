"""Logs of Spark for the rules about files: jobs with one fault and their healthy twins (`tests/jobs/faults`)."""

from __future__ import annotations

from functools import cache

from emberscope.eventlog.read import read_event_log
from emberscope.tables.run import Run
from tests.runs import FINDINGS


@cache
def fault(name: str) -> Run:
    """The log of a faulty job, or of its twin (`<fault>_healthy`)."""
    return read_event_log(str(FINDINGS / f"{name}.zstd"))
