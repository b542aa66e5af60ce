"""What else is there about a process that was killed by signal 9: who did it, as far as the lines around tell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

from emberscope.tables.run import once

if TYPE_CHECKING:
    from emberscope.rules.said import Said
    from emberscope.tables.run import Run

By = Literal["cgroup", "evicted", "machine", "node", "user", "unknown"]
"""The limit of the container, the kubelet, the kernel of a full machine, the loss of its node, somebody, not known."""

# The first that is found counts.
_SIGNS: Final[tuple[tuple[By, re.Pattern[str]], ...]] = (
    (
        "cgroup",
        re.compile(r"OOMKilled|Memory cgroup out of memory|CONSTRAINT_MEMCG|memory\.max|memory\.limit_in_bytes"),
    ),
    ("evicted", re.compile(r"\bEvicted\b|The node was low on resource|exceeds its request of")),
    ("machine", re.compile(r"(?<!cgroup )[Oo]ut of memory: Kill|oom-kill:constraint=CONSTRAINT_NONE|global_oom")),
    (
        "node",
        re.compile(
            r"(?i)container released on a \W?lost|\bspot (instance|interruption|loss|node|reclaim)|preempt|"
            r"decommission(ed|ing)|interruption notice|node.{0,40}\b(was|is|been) (lost|removed|deleted|shut ?down)|"
            r"instance.{0,20}(reclaimed|terminated)|NodeShutdown|Terminated by node"
        ),
    ),
    ("user", re.compile(r"(?i)killed by (the )?user|yarn application -kill|was deleted by a user|kill -9")),
)


def killed_by(run: Run, rows: Sequence[Said]) -> By:
    """Who killed the process of these rows: by their own words, else by those about the same executor, container or
    host, else by those that name nobody."""
    texts = [f"{row.message}\n{row.text}" for row in rows]
    executors = {row.executor_id for row in rows if row.executor_id}
    containers = {row.container_id for row in rows if row.container_id}
    hosts = {row.host for row in rows if row.host}
    own = {row.event_id for row in rows}
    near, loose = [], []
    for event in _signs(run):
        if event["event_id"] in own:
            continue
        names = (event["executor_id"], event["container_id"], event["host"])
        if names[0] in executors or names[1] in containers or names[2] in hosts:
            near.append(event["text"])
        elif not any(names) or not (executors or containers or hosts):
            loose.append(event["text"])
    return next((by for some in (texts, near, loose) for by in _told(some)), "unknown")


def _told(texts: Sequence[str]) -> list[By]:
    return [by for by, sign in _SIGNS if any(sign.search(text) for text in texts)][:1]


@once
def _signs(run: Run) -> list[dict[str, Any]]:
    """The events in which any of the signs is."""
    table = run.tables.get("log_events")
    if table is None:
        return []
    rows = table.select(["event_id", "executor_id", "container_id", "host", "text"]).to_pylist()
    return [row for row in rows if row["text"] and any(sign.search(row["text"]) for _, sign in _SIGNS)]
