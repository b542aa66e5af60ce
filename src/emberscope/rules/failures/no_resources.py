"""The application got no executors: it asks for more than the cluster has free, or than it allows.

## What it means
The driver has tasks and nobody to run them. Either the cluster is full (others hold it, the queue is at its limit), or
one executor or the driver asks for more memory or cores than any node or the cluster's largest container has, so that
it can never be placed; or executors start and die before they register, because they cannot reach the driver.

## What it costs
All of the time until there is an executor: nothing runs, and the driver holds its own place in the cluster meanwhile.

## What to do
Compare what one executor asks for (heap, overhead, cores) with what one node offers and with what is free. Ask for
less per executor or for fewer, wait, or give the cluster or the queue more. If there is room and executors keep
failing, look into their logs: they often cannot reach the driver's host and port.

## When to ignore it
When it was logged a few times while a cluster was starting or growing, and tasks then ran.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Consequence, Finding, Reads, Rule, set_conf
from emberscope.rules.failures.ending import Limits, consequence_of, failure, groups_of, is_question
from emberscope.rules.said import Said, said
from emberscope.rules.settings import memory_words
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

NO_RESOURCES: Final = Signature(
    name="no-resources",
    pattern=r"(?P<waiting>Initial job has not accepted any resources)|"
    r"Required (?P<who>executor|AM) memory \((?P<heap>\d+)(?:\+(?P<beside>\d+))?(?: MB)?\)[^\n]*?is above the max "
    r"threshold \((?P<max>\d+)|(?P<refused>Invalid resource request[^\n]*)|"
    r"(?P<queue>[Qq]ueue(?:'s)? (?:AM )?resource limit exceeded[^\n]*|User's AM resource limit exceeded[^\n]*)|"
    r"(?P<nodes>\b\d{1,6}/\d{1,6} nodes are available: [^\n]*)|"
    r"(?P<quota>exceeded quota: [^\n]*)|"
    r"(?P<cloud>InsufficientInstanceCapacity|VcpuLimitExceeded|MaxSpotInstanceCountExceeded|InstanceLimitExceeded|"
    r"ZONE_RESOURCE_POOL_EXHAUSTED|QUOTA_EXCEEDED|QuotaExceeded|SkuNotAvailable|AllocationFailed)",
    literals=(
        "Initial job has not accepted any resources",
        "is above the max threshold",
        "Invalid resource request",
        "resource limit exceeded",
        "nodes are available: ",
        "exceeded quota: ",
        "InsufficientInstanceCapacity",
        "VcpuLimitExceeded",
        "MaxSpotInstanceCountExceeded",
        "InstanceLimitExceeded",
        "ZONE_RESOURCE_POOL_EXHAUSTED",
        "QUOTA_EXCEEDED",
        "QuotaExceeded",
        "SkuNotAvailable",
        "AllocationFailed",
    ),
    words=(
        (r"(not|n't) (accept|get|have)\w* (any )?(resources|executors)",),
        (r"\b(stuck|hangs?|waits?|forever|pending)\b", r"\baccepted\b|no executors|unschedulable"),
        (r"insufficient (cpu|memory|pods)",),
        (r"\b(pods?|executors?|drivers?)\b", r"\bpending\b", r"memory|\bcpus?\b|cores|nodes?\b|resource|schedul"),
        (r"\b(jobs?|applications?)\b[^.]{0,80}\bpending\b", r"memory|\bcpus?\b|cores|resource|schedul|queue"),
        (r"\b(remains?|stays?|stuck|sits?|keeps?|only)\b[^.]{0,30}\baccepted\b", r"\b(jobs?|applications?|yarn)\b"),
        (r"\bjobs?\b|application", r"\bwaiting\b (since|for) ?\d", r"\bcores?\b|workers?|slaves?"),
        (r"\bquotas?\b", r"\b(pods?|executors?)\b", r"fails? to (run|start)|(not|n't) start|no more resources|exceed"),
    ),
)
_OVERHEAD: Final = re.compile(r"overhead \((\d+)(?: MB)?\)")
_LEAST_MIB: Final = 512
_PODS: Final = re.compile(r"\bpods?\b|kubernetes|\bk8s\b", re.IGNORECASE)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, NO_RESOURCES.name)
    if rows:
        yield _none(run, rows)


def _none(run: Run, rows: tuple[Said, ...]) -> Finding:
    found = [groups_of(row, NO_RESOURCES) for row in rows]
    first = next((one for one in found if one and "waiting" not in one), found[0])
    title = "No executor could be had: the application asks for more resources than the cluster has free"
    said_so = ""
    if "max" in first:
        heap, most = int(first["heap"]), int(first["max"])
        what = "executor" if first["who"] == "executor" else "application master"
        title = f"One {what} asks for {heap:,} MB of heap and overhead; YARN's largest container has {most:,} MB"
    elif "nodes" in first:
        title = "Pods could not be scheduled: no node has the resources that they request"
        said_so = f" Kubernetes says: “{first['nodes'][:200]}”."
    elif "quota" in first:
        title = "Pods were refused: the quota of the namespace is used up"
        said_so = f" Kubernetes says: “{first['quota'][:200]}”."
    elif "cloud" in first:
        title = f"The cloud had no machines to give ({first['cloud']})"
    elif "queue" in first:
        title = "The application waits in its YARN queue: the queue's limit is reached"
    elif "refused" in first:
        title = "YARN refused a container: the request is larger than it allows"
    if any(_PODS.search(row.text) for row in rows if is_question(row) or "nodes" in first):
        said_so += (
            " A pod stays Pending until what it requests (heap, memory overhead, cores) fits what one node has "
            "allocatable: its size less what the system and daemon sets hold."
        )
    waited = sum(row.count for row in rows if "waiting" in groups_of(row, NO_RESOURCES))
    long = f" It waited for {15 * waited} s at least." if waited > 1 else ""
    asked = not any(is_question(row) for row in rows)
    only_waiting = asked and all("waiting" in one for one in found)
    waits_alone = only_waiting and any(row.level == "WARN" for row in rows)
    return failure(
        run,
        rows,
        title=title,
        summary="There are tasks and no executor to run them: a request for memory or cores is higher than what one "
        "node or the queue can give, others hold the cluster's capacity, or executors start and cannot reach the "
        f"driver.{said_so}{long}",
        advice=_advice(run, first, rows),
        confidence=0.9,
        consequence=_what_followed(run, rows) if waits_alone else consequence_of(run, rows),
    )


def _what_followed(run: Run, rows: tuple[Said, ...]) -> Consequence:
    """A warning alone is fatal where nothing ran after it: a log with tasks in it is of one that got going."""
    tasks = run.tables.get("tasks")
    if tasks is not None and tasks.num_rows:
        return "hint"
    events = run.tables.get("log_events")
    last = max((row.event_id for row in rows), default=0)
    more = events is not None and any(event > last for event in events["event_id"].to_pylist())
    return "hint" if more else "ended"


def _advice(run: Run, first: dict[str, str], rows: tuple[Said, ...]) -> Iterator[Advice]:
    if "max" in first:
        heap, most = int(first["heap"]), int(first["max"])
        beside = next((found[1] for row in rows if (found := _OVERHEAD.search(row.text))), first.get("beside"))
        overhead = int(beside) if beside else max(384, heap // 10)
        fits = int(min(most - overhead, most / 1.1)) // 256 * 256
        if fits >= _LEAST_MIB:
            key = "spark.executor.memory" if first["who"] == "executor" else "spark.driver.memory"
            if first["who"] == "AM" and (run.setting("spark.submit.deployMode") or "") == "client":
                key = "spark.yarn.am.memory"
            yield set_conf(key, memory_words(fits << 20), f"With its overhead this fits into {most:,} MB.")
        yield Advice(
            "cluster",
            "Or let YARN give larger containers: yarn.scheduler.maximum-allocation-mb and "
            "yarn.nodemanager.resource.memory-mb, on nodes that have it.",
        )
        return
    if "cloud" in first:
        yield Advice("cluster", "Allow other instance types, zones or on-demand capacity, or ask for a higher limit.")
        return
    yield Advice(
        "check",
        "Compare memory (heap and overhead) and cores of one executor with the largest free node, in the cluster's UI, "
        "`yarn node -list` or `kubectl describe nodes`.",
    )
    yield Advice(
        "cluster",
        "Lower spark.executor.memory, spark.executor.cores or spark.executor.instances, end what else holds the "
        "cluster, or increase its capacity or the queue's.",
    )
    if "nodes" in first and "taint" in first["nodes"]:
        yield Advice(
            "cluster", "Nodes with taints take only pods that tolerate them: add tolerations by a pod template."
        )
    if "waiting" in first:
        yield Advice(
            "check",
            "If the cluster has room: executors that start and end again cannot reach the driver (spark.driver.host, "
            "its ports, a firewall); their own logs say so.",
        )


RULE = Rule(
    code="K18",
    name="no-resources",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(NO_RESOURCES,),
)
