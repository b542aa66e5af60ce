"""Executors were taken away for somebody else: preemption, spot interruption, or a pod that was deleted.

## What it means
The cluster manager ended the container although it did nothing wrong: YARN's scheduler gave its place to a queue with
a claim to it (exit status -102), the cloud took a spot machine back, Kubernetes or a person deleted the pod. Spark
does not count these as failures of the tasks.

## What it costs
What ran there runs again, and shuffle output that lay there is made again where nothing else kept it.

## What to do
It is a matter of shares and priorities, not of memory: run in a queue with the guarantee that the job needs, with a
higher priority, or on nodes that are not taken back; let executors hand over their blocks before they go.

## When to ignore it
When the cluster is shared and cheap for that very reason, little ran again, and the job goes on in time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.failures.ending import Limits, consequence_of, failure, groups_of, is_question, named
from emberscope.rules.failures.moved_away import moved_away
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

PREEMPTED: Final = Signature(
    name="preempted",
    pattern=r"(?P<yarn>Container [^\n]{0,200}?was preempted|[Ee]xit (?:status|code):? -102\b|"
    r"Container preempted by scheduler|because of a YARN event \(e\.g\., preemption\))|"
    r"(?P<spot>[Ss]pot [Ii]nstance (?:interruption|termination)|SpotInterruption|Spot instance preemption|"
    r"instance was preempted|lost to spot reclamation|SPOT_INSTANCE_TERMINATION|spot (?:loss|preemption))|"
    r"(?P<deleted>The executor with id (?P<id>\d+) was deleted by a user or the framework)|"
    r"(?P<k8s>Preempted (?:in order )?to admit critical pod|: Preempted\b|Preempted by (?:pod )?\S+)",
    literals=(
        "was preempted",
        "xit status: -102",
        "xit code: -102",
        "preempted by scheduler",
        "(e.g., preemption)",
        "pot instance interruption",
        "pot Instance Interruption",
        "pot instance termination",
        "pot Instance interruption",
        "SpotInterruption",
        "Spot instance preemption",
        "lost to spot reclamation",
        "SPOT_INSTANCE_TERMINATION",
        "spot loss",
        "spot preemption",
        "was deleted by a user or the framework",
        "Preempted",
    ),
    words=(
        (r"\bpre-?empt",),
        (r"\bspot\b", r"reclaim|interrupt|terminat|taken|lost|kill"),
        (r"deleted by a user or the framework",),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    groups: dict[str, list[Said]] = {}
    for row in said(run, PREEMPTED.name):
        found = groups_of(row, PREEMPTED)
        kind = next((kind for kind in ("yarn", "spot", "deleted", "k8s") if kind in found), "")
        groups.setdefault(kind or ("spot" if "spot" in row.text.lower() else "yarn"), []).append(row)
    for kind, rows in groups.items():
        yield _preempted(run, kind, rows)


def _preempted(run: Run, kind: str, rows: list[Said]) -> Finding:
    ids = dict.fromkeys(found["id"] for row in rows if "id" in (found := groups_of(row, PREEMPTED)))
    name = f"executor{'' if len(ids) == 1 else 's'} {', '.join(list(ids)[:6])}" if ids else named(rows)
    name = f"{name[0].lower()}{name[1:]}" if name and name != "The driver" else "executors"
    titles = {
        "yarn": f"YARN preempted {name} for another queue or application",
        "spot": f"Spot machines were taken back by the cloud, and {name} with them",
        "deleted": f"The pod of {name} was deleted by a user or the framework",
        "k8s": f"Kubernetes preempted the pod of {name} for one of higher priority",
    }
    who_did = {
        "yarn": "The scheduler took containers from a queue above its guaranteed share (exit status -102). ",
        "spot": "Spot capacity is taken back on short notice, two minutes or less. ",
        "deleted": "The pod vanished while Spark still wanted it: kubectl delete, a drained or scaled-in node, a spot "
        "reclaim, or an operator that cleans up. The cluster's events say which. ",
        "k8s": "A pod of higher priority needed the place. ",
    }
    ended = consequence_of(run, rows) == "ended" and any(is_question(row) or row.level is None for row in rows)
    return failure(
        run,
        rows,
        title=titles[kind],
        summary=f"{who_did[kind]}The executor did nothing wrong, and Spark does not count it as a failure of its "
        "tasks: they run again elsewhere, and lost shuffle output is made again.",
        advice=_advice(run, kind),
        confidence=0.9,
        consequence="ended" if ended else "lost",
    )


def _advice(run: Run, kind: str) -> Iterator[Advice]:
    if kind == "yarn":
        yield Advice(
            "cluster",
            "Run in a queue whose guarantee covers the job, or with higher priority, or with preemption disabled for "
            "it (yarn.scheduler.capacity.QUEUE.disable_preemption); ask for fewer executors than make it go above its "
            "share.",
        )
    elif kind == "spot":
        yield Advice(
            "cluster",
            "Keep the driver and long stages on nodes that stay, spread spot nodes over several instance types, and "
            "write results of costly stages out.",
        )
    else:
        yield Advice(
            "check",
            "Look at `kubectl get events` and the node's events at that time for who deleted the pod: scheduler, "
            "autoscaler, drain, a person.",
        )
        yield Advice(
            "cluster", "Give executors a priority class (pod template) and nodes that are not scaled in under them."
        )
    yield from moved_away(run)


RULE = Rule(
    code="K20",
    name="preempted",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(PREEMPTED,),
)
