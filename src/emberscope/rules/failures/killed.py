"""A process was killed by signal 9 (exit code 137).

## What it means
137 is 128 + 9: SIGKILL, which no process can answer, so that its own log just ends. On Kubernetes it is most often the
kernel, which kills what passes the memory limit of its container (`OOMKilled`); on a machine that is full it is the
kernel too (`dmesg` says so); YARN's NodeManager kills containers that pass their limit and says that itself; a node
that is taken back kills all that runs on it. The exit code alone does not tell these apart: what else is there does.

## What it costs
The executor with its tasks, its cache and often its shuffle output; of the driver, the application.

## What to do
For a memory limit give the container more room beside the heap (`spark.executor.memoryOverhead`, or its factor), not
more heap; for a machine that is full put less on it; for nodes that are taken back see the rules of lost nodes. Where
it cannot be told, look at the pod's status, the kernel's log of that host and the NodeManager's log at that time.

## When to ignore it
When somebody ended the process on purpose, or when it was killed after the application had ended.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Consequence, Finding, Reads, Rule, set_conf
from emberscope.rules.failures.aborted import followed
from emberscope.rules.failures.container_limit import CONTAINER_LIMIT, is_echo
from emberscope.rules.failures.ending import Limits, failure, is_question, named
from emberscope.rules.failures.killed_context import By, killed_by
from emberscope.rules.failures.room import SIZE, is_driver, more_overhead, size_of
from emberscope.rules.said import Said, said
from emberscope.rules.settings import number_setting
from emberscope.tables.log_events import LOG_EVENTS
from emberscope.units import format_bytes

if TYPE_CHECKING:
    from emberscope.tables.run import Run

KILLED: Final = Signature(
    name="killed",
    pattern=r"(?P<oomkilled>OOMKilled)|(?P<cgroup>Memory cgroup out of memory)|"
    r"(?P<kernel>[Oo]ut of memory: Kill(?:ed)? process (?P<pid>\d+) \((?P<program>[^)]+)\))|"
    r"(?P<possible>SIGKILL, possible container OOM)|"
    r"(?P<code>(?:[Cc]ode|[Ss]tatus)\"?(?: is| was|:|=)?\s*\(?137)\b",
    literals=(
        "OOMKilled",
        "Memory cgroup out of memory",
        "ut of memory: Kill",
        "SIGKILL, possible container OOM",
        "ode 137",
        "ode is 137",
        "ode was 137",
        "ode: 137",
        "ode (137",
        "ode=137",
        "tatus 137",
        "tatus: 137",
        "tatus=137",
        "tatus is 137",
        "Exit Code: ",
        "exitCode",
    ),
    words=(
        (r"oom ?killed",),
        (r"\b137\b", r"exit|code|status|kill|container|executor|pod|step|driver"),
        (r"sigkill|signal 9|kill -9", r"executor|container|driver|pod|spark"),
        (r"oom.?killer|killed by the kernel",),
        (r"\bpods?\b|container", r"\boom\b", r"limit|kill|memory"),
    ),
)
_LIMIT: Final = re.compile(rf"memory limit:? (?P<limit>{SIZE})")


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    limited = said(run, CONTAINER_LIMIT.name)
    rows = [row for row in said(run, KILLED.name) if not any(is_echo(row, limit) for limit in limited)]
    # A question that also shows lines is judged by the lines.
    if any(not is_question(row) for row in rows):
        rows = [row for row in rows if not is_question(row)]
    groups: dict[tuple[bool, By], list[Said]] = {}
    by_process: dict[tuple[str | None, str | None, bool], list[Said]] = {}
    for row in rows:
        by_process.setdefault((row.executor_id, row.container_id, is_driver(row)), []).append(row)
    for (_, _, driver), some in by_process.items():
        groups.setdefault((driver, killed_by(run, some)), []).extend(some)
    sure = [key for key in groups if key[1] != "unknown"]
    if len(sure) == 1:  # lines that name nobody are echoes of those that do
        nameless = [row for key in groups if key not in sure for row in groups[key] if not row.executor_id]
        groups = {key: some for key, some in groups.items() if key in sure or any(r.executor_id for r in some)}
        groups[sure[0]] += [row for row in nameless if row not in groups[sure[0]]]
    for (driver, by), some in groups.items():
        yield _killed(run, some, driver, by)


_BY: Final[dict[By, str]] = {
    "cgroup": "OOMKilled at its memory limit",
    "evicted": "killed by the kubelet, which evicted its pod",
    "machine": "killed by the kernel: the machine ran out of memory",
    "node": "killed when its node was taken away",
    "user": "killed on purpose",
    "unknown": "killed by SIGKILL (exit code 137)",
}
_MECHANISM: Final[dict[By, str]] = {
    "cgroup": "Exit code 137 is 128 + 9, SIGKILL: the kernel kills a container whose memory passes the cgroup limit, "
    "which is heap plus memory overhead. The heap is bounded, so Python workers, direct buffers or native memory "
    "outgrew the overhead; a larger heap alone does not help.",
    "evicted": "Exit code 137 is SIGKILL. The kubelet freed resources of the node: the pod used more than it had "
    "requested. It is the node that was short, not the limit of this container.",
    "machine": "Exit code 137 is SIGKILL. The kernel's OOM killer ends the largest process when the whole machine is "
    "full: heaps and overheads on that host, with all else there, add up to more than it has.",
    "node": "Exit code 137 is SIGKILL. The lines around tell of a spot reclaim, preemption, decommission or lost "
    "node: memory was not the reason, and more of it does not help.",
    "user": "Exit code 137 is SIGKILL. The lines around say that somebody ended it; memory was not the reason.",
    "unknown": "Exit code 137 is 128 + 9, SIGKILL. Most often a memory limit of the container (OOMKilled by its "
    "cgroup, or YARN's checker), but a full machine, an eviction or a node that was taken back end the same; these "
    "lines alone do not tell which.",
}


def _killed(run: Run, rows: Sequence[Said], driver: bool, by: By) -> Finding:
    name = "The driver" if driver else named(rows)
    guessed = by == "unknown" and any("possible container OOM" in row.text for row in rows)
    verb = "were" if name.startswith("Executors") else "was"
    words = f"{_BY[by]}, most likely for its container's memory" if guessed else _BY[by]
    found = [size_of(value) for row in rows for value in _limits(row)]
    limit = max((size for size in found if size), default=None)
    of = f" ({format_bytes(limit)})" if limit and by in ("cgroup", "unknown") else ""
    return failure(
        run,
        rows,
        title=f"{name or 'A container'} {verb} {words}{of}",
        summary=_MECHANISM[by],
        advice=_advice(run, rows, driver, by, limit),
        confidence={"unknown": 0.75 if guessed else 0.6}.get(by, 0.92),
        consequence="ended" if driver else _consequence(run, rows),
    )


def _consequence(run: Run, rows: Sequence[Said]) -> Consequence:
    after = followed(run, rows)
    return "lost" if after == "hint" else after


def _advice(run: Run, rows: Sequence[Said], driver: bool, by: By, limit: int | None) -> Iterator[Advice]:
    if by == "unknown":
        yield Advice(
            "check",
            "Look for OOMKilled in `kubectl describe pod`, for “Out of memory: Kill” in dmesg of the host, for “memory "
            "limits” in the NodeManager's log, and for spot or decommission notices at that time.",
        )
    if by in ("cgroup", "unknown"):
        yield more_overhead(run, rows, limit=limit, driver=driver)
        cores = int(number_setting(run, "spark.executor.cores", 0))
        if cores > 1 and not driver:
            yield set_conf("spark.executor.cores", cores - 1, f"Or fewer tasks at one time (now {cores}).")
        yield Advice(
            "code", "Or use less beside the heap: smaller batches for Python workers, more partitions, fewer cores."
        )
    elif by == "evicted":
        yield Advice("cluster", "Request what the pod uses (request equal to limit), and put fewer pods on a node.")
    elif by == "machine":
        yield Advice(
            "cluster",
            "Let heap and memory overhead of all executors of a node, with daemons and other programs, fit its memory: "
            "smaller or fewer executors. Standalone workers: SPARK_WORKER_MEMORY below what the machine has.",
        )
    elif by == "node":
        yield Advice("check", "See the finding on the lost or decommissioned node; keep the driver on nodes that stay.")
    else:
        yield Advice("check", "Ask who ended it: the audit log of the cluster manager names the user.")


def _limits(row: Said) -> Iterator[str]:
    for found in _LIMIT.finditer(row.text):
        yield found["limit"]


RULE = Rule(
    code="K2",
    name="killed",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(KILLED,),
)
