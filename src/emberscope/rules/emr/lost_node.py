"""A node was lost, and the state that it had before says why.

## What it means
`Exit status: -100` with “Container released on a *lost* node” is YARN's word that the node has gone, and not why. Where
the state of the nodes is among the inputs, a full disk, a load beyond the cores or memory that was gone just before
tells it from a spot instance that was taken back.

## What it costs
All containers of the node, and the shuffle files on its disks, which other nodes have to make again.

## What to do
Mend what the node lacked: disk, memory or cores. Where its state was good, look at spot interruptions and at scaling.

## When to ignore it
When the node was taken out on purpose, by scaling in, while nothing that mattered ran on it any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.instance_state import FULL_DISK, HIGH_LOAD, LITTLE_MEMORY, NODE_SEEN
from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, Where
from emberscope.rules.emr.node_state import BAD_DIRECTORY
from emberscope.rules.emr.told import told
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

LOST_NODE: Final = "emr_lost_node"

_WHY: Final = (
    (BAD_DIRECTORY, "its disks were taken out of use by YARN (UNHEALTHY)", "disk"),
    (FULL_DISK, "its disk was full", "disk"),
    (LITTLE_MEMORY, "it had no memory left", "load"),
    (HIGH_LOAD, "its load was far beyond its cores", "load"),
)


class Limits(Struct, frozen=True):
    """The state of a node counts if it was written so long before the loss at most: two of EMR's intervals."""

    before_ms: int = 30 * 60_000


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, LOST_NODE)
    if not rows:
        return
    for signature, words, kind in _WHY:
        state = [row for row in said(run, signature) if _belongs(row, rows, limits.before_ms)]
        if state:
            yield _finding(rows, state, words, kind)
            return
    seen = [row for row in said(run, NODE_SEEN) if _belongs(row, rows, limits.before_ms)]
    if seen:
        yield _finding(rows, seen, "disk, load and memory were in order before", "taken")


def _belongs(state: Said, lost: tuple[Said, ...], before_ms: int) -> bool:
    """Whether a node's state can tell of one of the losses: the same time, as far as both are known."""
    # Not the host of the driver, which wrote it.
    hosts = {_short(row.fields["host"]) for row in lost if row.fields.get("host")}
    # An instance's id cannot be held against the names of hosts.
    if state.host and hosts and _short(state.host) not in hosts and not state.host.startswith("i-"):
        return False
    times = [row.time_ms for row in lost if row.time_ms is not None]
    if state.time_ms is None or not times:
        return True
    return any(0 <= time - state.time_ms <= before_ms for time in times)


def _short(host: str) -> str:
    return host.partition(".")[0]


def _finding(rows: tuple[Said, ...], state: list[Said], words: str, kind: str) -> Finding:
    advice = {
        "disk": (
            Advice(
                "cluster", "More EBS capacity (larger volumes, or more of them) on core and task nodes, or more nodes."
            ),
            Advice("check", "The CloudWatch metrics MRUnhealthyNodes and MRLostNodes at that time."),
        ),
        "load": (
            Advice("cluster", "Fewer executors on a node, or larger nodes (`emberscope calc packing`)."),
            Advice("check", "The CloudWatch metrics MRLostNodes and CPU of that instance."),
        ),
        "taken": (
            Advice("check", "Spot interruptions and the scaling activities of the cluster at that time."),
            Advice("cluster", "On-demand instances for core nodes; decommissioning before spot nodes go."),
        ),
    }[kind]
    node = next((row.fields["host"] for row in rows if row.fields.get("host")), None) or state[0].host
    return told(
        f"Node {node or 'of a container'} was lost (exit status -100): {words}",
        "Containers with exit status -100 were released because their node was lost; the cause is the node, not the "
        f"program: {words}. YARN gives up a node whose disks are beyond 90 %, and one that does not answer; a spot "
        "instance that is reclaimed looks the same.",
        rows,
        advice,
        consequence="lost",
        confidence=0.8 if kind != "taken" else 0.5,
        more=tuple(row.evidence() for row in state[:3]),
        where=Where(host=node),
    )


RULE = Rule(
    code="L15",
    name="lost-node-state",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(
        Signature(
            LOST_NODE,
            r"(?:on host: (?P<host>[\w.-]+?)\. )?Exit status: -100\b|Container released on a \*lost\* node",
            ("Exit status: -100", "on a *lost* node"),
        ),
    ),
)
