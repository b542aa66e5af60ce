"""Logs of jobs with one fault, and of their healthy twins, as runs (tests/data/findings, tests/data/eventlog)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from emberscope.eventlog.read import read_event_log
from emberscope.tables.run import Run

DATA = Path(__file__).parents[1] / "data"


@cache
def fault_log(name: str) -> Run:
    return read_event_log(str(DATA / "findings" / f"{name}.zstd"))


@cache
def event_log(name: str) -> Run:
    return read_event_log(str(DATA / "eventlog" / name))
