"""Kubernetes evicted a pod: its node, or the pod by itself, was out of disk or of memory.

## What it means
The kubelet of a node ends pods when the node runs low on a resource, those first that use more than they requested.
For Spark it is most often ephemeral storage: shuffle files and spill go to an emptyDir volume (spark-local-dir-1) that
lies on the node's root disk and counts against it. A pod that passes its own ephemeral-storage limit goes too, and a
node that is low on memory evicts pods whose memory passes their request.

## What it costs
The executor, its tasks and its shuffle output; where the job goes on to write as much elsewhere, one node after
another.

## What to do
Ephemeral storage: give the local directories a volume of their own, whose name begins with spark-local-dir-, or nodes
with larger disks; request ephemeral storage so that pods are placed where there is room; write less shuffle and spill.
Memory: let request and limit agree, and leave the node room.

## When to ignore it
When one node was drained for maintenance or scaling in, little work ran again, and the job went on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.failures.ending import Limits, failure, groups_of, is_question, named
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

EVICTED: Final = Signature(
    name="evicted",
    pattern=r"The node was low on resource: (?P<resource>[\w-]+)|"
    r"(?:ephemeral local storage usage exceeds|exceeds the total limit of (?:containers|emptyDir)|"
    r"exceeded its local ephemeral storage limit|Usage of EmptyDir volume)|"
    r"The node had condition: \[(?P<condition>[^\]]+)\]|"
    r"(?P<taint>TaintManagerEviction|EvictionByEvictionAPI|PreemptionByScheduler|DeletionByTaintManager)|"
    r"(?P<reason>brief reason: Evicted\b|Reason:\s+Evicted\b|\"reason\": ?\"Evicted\"|^[^\n]{0,120}: Evicted\b)",
    literals=(
        "The node was low on resource",
        "ephemeral local storage usage exceeds",
        "exceeds the total limit of",
        "exceeded its local ephemeral storage limit",
        "Usage of EmptyDir volume",
        "The node had condition",
        "TaintManagerEviction",
        "EvictionByEvictionAPI",
        "PreemptionByScheduler",
        "DeletionByTaintManager",
        "Evicted",
    ),
    words=(
        (
            r"\b(pods?|executors?|drivers?|containers?)\b[^.]{0,60}\bevict|"
            r"\bevict\w*[^.]{0,40}\b(pods?|executors?|drivers?|nodes?|kubernetes|k8s)\b",
        ),
        (r"ephemeral.storage",),
    ),
)
_STORAGE: Final = re.compile(r"ephemeral|\bdisk\b|DiskPressure|EmptyDir|emptyDir|nodefs|imagefs|inodes")
_OWN: Final = re.compile(
    r"ephemeral local storage usage exceeds|exceeds the total limit of|exceeded its local ephemeral storage limit|"
    r"Usage of EmptyDir volume"
)
_MEMORY: Final = re.compile(r"memory", re.IGNORECASE)
_NAMED: Final = re.compile(r"low on resource: ([\w-]+)|The node had condition: \[([^\]]+)\]")
_LIMIT: Final = re.compile(r"limit (?:of containers |of emptyDir \S+ )?\"?([\d.]+[KMGTi]*)\"?")
_USING: Final = re.compile(
    r"was using (\d+(?:\.\d+)?[KMGTi]*), (?:which exceeds its request of|request is) (\d+(?:\.\d+)?[KMGTi]*)"
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    groups: dict[str, list[Said]] = {}
    for row in said(run, EVICTED.name):
        groups.setdefault(_kind(row), []).append(row)
    vague = groups.pop("unknown", [])
    if vague and not groups:
        groups["unknown"] = vague
    for kind, rows in groups.items():
        yield _evicted(run, kind, rows)


def _kind(row: Said) -> str:
    """What the kubelet says comes before all else: the conditions of a node stand in its description as well."""
    told = _NAMED.search(row.text)
    reason = (told[1] or told[2]) if told else ""
    if _OWN.search(row.text) or _STORAGE.search(reason):
        return "storage"
    if _MEMORY.search(reason):
        return "memory"
    if "taint" in groups_of(row, EVICTED):
        return "taken"
    return "storage" if is_question(row) and _STORAGE.search(row.text) else "unknown"


def _evicted(run: Run, kind: str, rows: list[Said]) -> Finding:
    name = named(rows)
    name = f"{name}'s pod" if name and name != "The driver" else "The driver's pod" if name else "A pod"
    name = name.replace("s's", "s'")
    text = "\n".join(row.text for row in rows[:50])
    using, limit = _USING.search(text), _LIMIT.search(text)
    own = _OWN.search(text) is not None
    how = f" (it used {using[1]}, requested {using[2]})" if using else f" (limit {limit[1]})" if own and limit else ""
    disk = "its limit of ephemeral storage was passed" if own else "the node ran out of ephemeral storage"
    titles = {
        "storage": f"{name} was evicted: {disk}{how}",
        "memory": f"{name} was evicted: the node ran low on memory{how}",
        "taken": f"{name} was evicted: its node was tainted, drained or needed for a pod of higher priority",
        "unknown": f"{name} was evicted by its node, and these lines do not say for which resource",
    }
    summaries = {
        "storage": "Shuffle files and spill lie in emptyDir volumes (spark-local-dir-…) on the node's root disk, which "
        "all its pods, images and logs share. The kubelet ended pods to free it. It is a matter of disk, not of "
        "memory.",
        "memory": "The kubelet ends pods whose memory passes their request when the node as a whole runs low. The pod "
        "need not have reached its own limit.",
        "taken": "Kubernetes itself took the pod away, for a taint, a drain (scaling in, spot, upgrade) or priority; "
        "it did nothing wrong.",
        "unknown": "The kubelet ends pods when their node runs low on ephemeral storage (shuffle and spill) or memory; "
        "the message of the pod's status or the node's events name it.",
    }
    return failure(
        run,
        rows,
        title=titles[kind],
        summary=summaries[kind],
        advice=_advice(kind, own=own),
        confidence=0.6 if kind == "unknown" else 0.95,
    )


def _advice(kind: str, *, own: bool) -> Iterator[Advice]:
    if kind in ("storage", "unknown"):
        yield Advice(
            "cluster",
            "Mount a dedicated volume (local SSD, or a claim made on demand) as spark-local-dir-1: Spark then puts "
            "shuffle and spill there instead of on the node's disk; or take nodes with larger disks.",
        )
        more = "Raise the pod's ephemeral-storage limit" if own else "Request ephemeral-storage in the pod template"
        yield Advice("cluster", f"{more}, so that executors are placed where there is room for what they write.")
        yield Advice("code", "Write less shuffle and spill: filter and project earlier, mend skew, give tasks memory.")
    if kind == "memory":
        yield Advice(
            "cluster",
            "Let memory request and limit of the pods agree (Spark sets both alike; sidecars and other pods of the "
            "node often do not), and keep the node's own reserve.",
        )
    if kind == "unknown":
        yield Advice("check", "Look at `kubectl describe pod` and `kubectl describe node` (conditions, events).")
    if kind == "taken":
        yield Advice(
            "cluster",
            "Run executors under a priority class of their own, on nodes that stay, and let them hand over their "
            "blocks (spark.decommission.enabled, spark.storage.decommission.enabled).",
        )


RULE = Rule(
    code="K60",
    name="evicted",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(EVICTED,),
)
