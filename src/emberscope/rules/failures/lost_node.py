"""A node of the cluster was lost, and the containers on it with it.

## What it means
The cluster manager gave containers up because their machine left the cluster. YARN says so by exit status -100,
"Container released on a *lost* node". A machine leaves when it is terminated (spot capacity that is taken back,
scaling in, somebody ends it), when its node manager is silent for too long (no CPU or memory left, or the network), or
when YARN takes it for unhealthy: most often since a local disk passed the utilization threshold of 90 percent.

## What it costs
All tasks that ran there, and all shuffle output that lay there: stages that read it fail to fetch and have it made
again.

## What to do
Find out which it was. The resource manager's log has the node with LOST (silent) or UNHEALTHY (with the directories
that are full); the cloud's console has terminations and spot interruptions; on EMR the metrics MRLostNodes and
MRUnhealthyNodes tell when. Full disks: larger or more volumes, fewer old logs and less shuffle. Spot: keep the driver
and what must not be lost on nodes that stay, and let Spark move blocks away in time. No setting of the executors'
memory helps.

## When to ignore it
When it was one spot node, little work was made again and the job went on: that is the price of spot nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.failures.ending import Limits, failure, groups_of, named
from emberscope.rules.failures.moved_away import moved_away
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

LOST_NODE: Final = Signature(
    name="lost-node",
    pattern=r"(?P<status>Container released on a \*?lost\*? node|[Ee]xit ?(?:status|[Cc]ode):? -100\b)|"
    r"Node (?P<unhealthy>\S+) reported UNHEALTHY(?: with details: (?P<details>[^\n]+))?|"
    r"Deactivating Node (?P<node>\S+) as it is now (?P<state>LOST|UNHEALTHY)|"
    r"Expired:(?P<silent>\S+:\d+) Timed out after (?P<seconds>\d+) sec|"
    r"(?P<dirs>\b\d{1,4}/\d{1,4} (?:local|log)-dirs (?:are bad|have errors|usable space is below)[^\n]*)|"
    r"(?P<disks>[Ee]xit (?:status|code):? -101\b)|"
    r"Removing (?P<worker>worker-\S+) because we got no heartbeat in (?P<quiet>\d+) seconds|"
    r"(?P<k8s>NodeNotReady|imminent node shutdown|NodeShutdown|NodeLost|DeletingNode)",
    literals=(
        "lost* node",
        "a lost node",
        "xit status: -100",
        "xit code: -100",
        "xit code -100",
        "xitCode: -100",
        "xit status: -101",
        "xit code: -101",
        "reported UNHEALTHY",
        "as it is now LOST",
        "as it is now UNHEALTHY",
        "Expired:",
        "-dirs are bad",
        "-dirs have errors",
        "-dirs usable space is below",
        "because we got no heartbeat in",
        "NodeNotReady",
        "imminent node shutdown",
        "NodeShutdown",
        "NodeLost",
        "DeletingNode",
    ),
    words=(
        (r"\bnodes?\b.{0,40}\b(lost|unhealthy)\b",),
        (r"\blost\W* nodes?\b",),
        (r"exit (status|code):? ?-100",),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, LOST_NODE.name)
    if rows:
        yield _lost(run, rows)


def _lost(run: Run, rows: tuple[Said, ...]) -> Finding:
    found = [groups_of(row, LOST_NODE) for row in rows]
    full = next((text for one in found if (text := one.get("details") or one.get("dirs"))), None)
    is_disk = full is not None or any("disks" in one for one in found)
    silent = next((one for one in found if "silent" in one or "quiet" in one), None)
    names = dict.fromkeys(
        name for one in found for key in ("unhealthy", "node", "silent", "worker") if (name := one.get(key))
    )
    node = f"Node {', '.join(list(names)[:3])}" if names else "A node"
    hurt = named(rows)
    with_it = f", and {hurt[0].lower()}{hurt[1:]} with it" if hurt and hurt != "The driver" else ""
    code = " (exit status -100)" if any("status" in one for one in found) else ""
    if is_disk:
        why = f"YARN took it for unhealthy because of its disks{f' (“{full[:160]}”)' if full else ''}. "
    elif silent is not None:
        seconds = silent.get("seconds") or silent.get("quiet")
        why = f"Nothing was heard from it for {seconds} s: it was terminated, frozen, or cut off. "
    else:
        why = (
            "Its machine was terminated (spot reclaim, scaling in), or was marked unhealthy for a full disk, or fell "
            "silent for want of CPU or memory: these lines cannot tell which. "
        )
    return failure(
        run,
        rows,
        title=f"{node} was lost{code}{with_it}",
        summary=f"The containers were given up because their node left the cluster. {why}It is no fault of the "
        "application, and no memory setting of it helps; shuffle output that lay there has to be made again.",
        advice=_advice(run, is_disk=is_disk),
        confidence=0.95 if found[0] else 0.8,
    )


def _advice(run: Run, *, is_disk: bool) -> Iterator[Advice]:
    if is_disk:
        yield Advice(
            "cluster",
            "Give the nodes larger or more local volumes (EBS on EMR), and clear old logs and caches: above 90 % of "
            "use (yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage) YARN takes a node "
            "out.",
        )
    else:
        yield Advice(
            "check",
            "Look at the resource manager's log (LOST or UNHEALTHY, with details), the cloud's events (spot "
            "interruption, termination) and on EMR the metrics MRLostNodes and MRUnhealthyNodes at that time.",
        )
        yield Advice(
            "cluster",
            "Full disk: larger or more volumes. Spot reclaim: nodes that stay for what must not be lost. Silent node: "
            "leave CPU and memory to the system and the node manager.",
        )
    yield from moved_away(run)


RULE = Rule(
    code="K4",
    name="lost-node",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(LOST_NODE,),
)
