"""Every log of real Spark that the rules are tested on, each read and diagnosed once."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from emberscope.eventlog.read import read_event_log
from emberscope.rules.evaluate import SEVERITIES, Diagnosis, evaluate
from emberscope.tables.run import Run
from tests.runs import FINDINGS

OTHERS = FINDINGS.parent / "eventlog"
PATHS = {path.stem: path for path in sorted(FINDINGS.glob("*.zstd"))} | {
    path.stem: path
    for path in (*sorted(OTHERS.glob("spark-*.*")), *sorted(OTHERS.glob("spark-*/eventlog_v2_*")))
    if path.stem.startswith(("spark-", "eventlog_v2_")) and not (path.is_dir() and path.parent == OTHERS)
}
MEDIUM = SEVERITIES.index("medium")


@cache
def log_run(name: str) -> Run:
    return read_event_log(str(PATHS[name]))


@cache
def diagnosis(name: str) -> Diagnosis:
    return evaluate(log_run(name))


def worst(told: Diagnosis) -> int:
    """The place of the worst severity among `SEVERITIES`; one more than all where nothing was found."""
    return min((SEVERITIES.index(one.severity) for one in told.findings), default=len(SEVERITIES))


def severe(told: Diagnosis) -> list[tuple[str, str, str]]:
    """What is of medium severity or above: code, severity, title."""
    found = [one for one in told.findings if SEVERITIES.index(one.severity) <= MEDIUM]
    return [(one.rule.code, one.severity, one.finding.title) for one in found]


# All that the twin of python_memory does is done in Python, which F3 says of any job that is long enough.
HEALTHY = tuple(
    name for name in PATHS if (name.endswith("_healthy") and name != "python_memory_healthy") or name == "findings_none"
)


def text_of(path: Path) -> bytes:
    """An event log in one file, unpacked."""
    import zstandard

    data = path.read_bytes()
    unpacked: Any = zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True)
    return bytes(unpacked.read())
