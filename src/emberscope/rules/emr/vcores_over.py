"""YARN gives away more cores than a node has, because it counts only memory.

## What it means
The usual scheduler of YARN fills a node by memory alone (`DefaultResourceCalculator`). EMR derives the size of
executors from the core nodes; on task nodes with more memory for each core, far more of these executors fit than there
are cores. Each of them runs its tasks all the same, so that they wait for a processor; and Spark, which counts the
cores of all executors, cuts files into more and smaller tasks.

## What it costs
Tasks on such nodes take several times as long, heartbeats come late, and the parallelism is larger than the cluster.

## What to do
Let YARN count cores too, or use node types with the same ratio of memory to cores. `emberscope calc packing` shows what
a node takes of an executor's shape, `emberscope calc sizing` which shape suits it.

## When to ignore it
When tasks wait for the network most of their time, and more of them than cores are what was wanted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.errors import UsageError
from emberscope.logs.instance_state import NODE_SEEN
from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, Where, set_conf
from emberscope.rules.emr.told import told
from emberscope.rules.said import Said, said
from emberscope.rules.settings import MIB
from emberscope.rules.sizing.node_packing import cores_by_host
from emberscope.simulate.containers import EMR_OVERHEAD_RATIO, EMR_STEP_MIB, Packed, container_of, packed
from emberscope.simulate.instance_types import node_of
from emberscope.tables.log_events import LOG_EVENTS
from emberscope.units import parse_bytes

if TYPE_CHECKING:
    from emberscope.tables.run import Run

ASKED: Final = "emr_vcores_asked"

_TYPE: Final = re.compile(r"\b[a-z]{1,3}\d[a-z-]*\.\d{0,2}x?large\b", re.IGNORECASE)
_CORES: Final = re.compile(
    r"executor[ .-]?cores\W{1,4}(\d{1,2})\b|\b(\d{1,2})[ -](?:v?cores?|v?cpus?)\b", re.IGNORECASE
)
_MEMORY: Final = re.compile(
    r"executor[ .-]?memory\W{1,4}(\d{1,6} ?[mg])i?b?\b|\b(\d{1,6} ?[mg])i?b?\b(?= (?:memory|heap|ram|executor))",
    re.IGNORECASE,
)


class Limits(Struct, frozen=True):
    """So much more than a node has is no rounding any more (our proposal)."""

    over_ratio: float = 1.25


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    yield from _seen(run, limits)
    asked = said(run, ASKED)
    if asked:
        yield _asked(asked, limits)


def _seen(run: Run, limits: Limits) -> Iterator[Finding]:
    """Nodes whose cores are known by their state, and the cores of the executors that were on them."""
    if "executors" not in run.tables:
        return
    given = {host.partition(".")[0]: cores for host, cores in cores_by_host(run).items()}
    rows: dict[str, Said] = {}
    for row in said(run, NODE_SEEN):
        host = (row.host or "").partition(".")[0]
        cores = int(row.fields.get("cores") or 0)
        if cores and given.get(host, 0) > limits.over_ratio * cores:
            rows.setdefault(host, row)
    if not rows:
        return
    host = max(rows, key=lambda name: given[name] / int(rows[name].fields["cores"]))
    cores = int(rows[host].fields["cores"])
    yield told(
        f"Executors have {given[host]} cores on node {host}, which has {cores}",
        f"YARN gave away {given[host] - cores} vcores more than the node has (over-subscription), as it counts memory "
        "alone: tasks wait for a processor, and the parallelism of Spark is larger than the cluster.",
        (rows[host],),
        _advice(),
        consequence="risk",
        more=(Evidence(f"{given[host]} cores at one time on {host}", "executors.cores", given[host], "cores"),),
        where=Where(host=host),
    )


def _asked(rows: tuple[Said, ...], limits: Limits) -> Finding:
    nodes = _packed(rows[0].text)
    over = [one for one in nodes if one.vcores > limits.over_ratio * one.node.cores]
    facts = "; ".join(
        f"{one.node.name}: {one.yarn_mib:,} MiB for YARN hold {one.containers} containers, {one.vcores} vcores on "
        f"{one.node.cores} cores, {one.vcores_over} too many"
        for one in over
    )
    title = "YARN gives away more vcores than nodes have, as it counts only memory"
    if over:
        title = f"{over[0].vcores_over} vcores more than {over[0].node.name} has are given away by YARN"
    return told(
        title,
        "Executors are sized for the core nodes, and YARN fills other nodes by memory alone: on a type with more "
        "memory for each core there is over-subscription of vcores. "
        f"{facts + '. ' if facts else ''}Tasks then wait for a processor.",
        rows,
        _advice(),
        consequence="risk",
        confidence=0.7,
    )


def _packed(text: str) -> list[Packed]:
    """The nodes that a question names, packed with the executor that it names; none where it does not name both."""
    cores, memory = _group(_CORES, text), _group(_MEMORY, text)
    if not cores or not memory:
        return []
    heap = parse_bytes(memory) // MIB
    if not heap or not int(cores):
        return []
    container = container_of(heap, int(cores), ratio=EMR_OVERHEAD_RATIO, step_mib=EMR_STEP_MIB)
    found = []
    for name in dict.fromkeys(_TYPE.findall(text.lower())):
        try:
            found.append(packed(node_of(name), container))
        except UsageError:
            continue
    return found


def _group(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.search(text)
    return next((group for group in found.groups() if group), None) if found else None


def _advice() -> tuple[Advice, ...]:
    return (
        Advice(
            "cluster",
            "capacity-scheduler: yarn.scheduler.capacity.resource-calculator="
            "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator, so that cores count too.",
        ),
        set_conf(
            "spark.yarn.heterogeneousExecutors.enabled",
            "true",
            "EMR 5.32, 6.2 and later: executors that suit each type of node.",
        ),
        Advice("cluster", "Or node types with the same memory for each core; `emberscope calc packing` compares them."),
    )


RULE = Rule(
    code="L18",
    name="vcores-over",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(
        # No line of a log says it: it is told by the state of nodes, or asked in words.
        Signature(
            ASKED,
            r"vcores? over-?subscription",
            ("core over",),
            ((r"\bv?cores?\b|\bv?cpus?\b", r"over-?\s?subscri|over-?commit|more v?cores than"),),
        ),
    ),
)
