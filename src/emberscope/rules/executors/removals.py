"""Executors that went away: why, in words, and what each took with it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from emberscope.tables.run import once

if TYPE_CHECKING:
    from emberscope.tables.run import Run

Why = Literal[
    "memory", "heap", "disk", "heartbeat", "node", "preempted", "decommissioned", "asked", "terminated", "crash"
]

# The first that matches counts. Reasons are those of Spark 1.5 to 4.x on YARN, Kubernetes, standalone and Databricks;
# exit codes are Spark's own (SparkExitCode, ExecutorExitCode) and those of signals.
_REASONS: Final[tuple[tuple[Why, re.Pattern[str]], ...]] = (
    ("decommissioned", re.compile(r"(?i)decommission|spot (instance|loss)")),
    ("preempted", re.compile(r"(?i)preempt|was deleted by a user or the framework")),
    ("memory", re.compile(r"(?i)memory limits|oomkilled|container oom|sigkill|\b(code|status):? ?137\b|\b-10[34]\b")),
    ("node", re.compile(r"(?i)lost\W* node|exit status: -100|\bnode.{0,20}(lost|unhealthy)|host.{0,20}lost")),
    ("heap", re.compile(r"(?i)OutOfMemory|\b(code|status):? ?52\b")),
    ("disk", re.compile(r"(?i)No space left|\b(code|status):? ?53\b")),
    ("heartbeat", re.compile(r"(?i)heartbeat|\b(code|status):? ?56\b")),
    (
        "asked",
        re.compile(r"(?i)killed by driver|explicit termination request|remove(d)? idle|finished running|shutdown"),
    ),
    ("terminated", re.compile(r"(?i)sigterm|\b(code|status):? ?143\b")),
)

WORDS: Final[dict[Why, str]] = {
    "memory": "it was killed, most often for want of memory (of its container, or of the machine)",
    "heap": "its heap was full",
    "disk": "its disk was full or could not be used",
    "heartbeat": "the driver heard nothing from it for too long (long garbage collections, an overloaded machine, or "
    "the network)",
    "node": "its node was lost",
    "preempted": "the cluster gave its place to somebody else",
    "decommissioned": "it or its node was decommissioned",
    "asked": "the driver let it go",
    "terminated": "it was told to end (exit code 143): by the cluster manager, or with its node",
    "crash": "its process ended",
}


class Removal(Struct, frozen=True):
    """One executor that was removed. `lived_ms` is None where its start is not known."""

    executor_id: str
    host: str | None
    cores: int
    added_ms: int | None
    removed_ms: int
    reason: str
    why: Why

    @property
    def lived_ms(self) -> int | None:
        return None if self.added_ms is None else max(0, self.removed_ms - self.added_ms)


def why_of(reason: str | None, decommissioned: bool | None = None) -> Why:
    if decommissioned:
        return "decommissioned"
    return next((why for why, pattern in _REASONS if pattern.search(reason or "")), "crash")


@once
def removals(run: Run) -> tuple[Removal, ...]:
    """By time, then by id."""
    table = run.tables.get("executors")
    if table is None:
        return ()
    columns = ["executor_id", "host", "cores", "added_ms", "removed_ms", "removed_reason", "decommissioned"]
    found = [
        Removal(
            row["executor_id"] or "",
            row["host"],
            row["cores"] or 1,
            row["added_ms"],
            row["removed_ms"],
            row["removed_reason"] or "",
            why_of(row["removed_reason"], row["decommissioned"]),
        )
        for row in table.select(columns).to_pylist()
        if row["removed_ms"] is not None
    ]
    return tuple(sorted(found, key=lambda one: (one.removed_ms, one.executor_id)))
