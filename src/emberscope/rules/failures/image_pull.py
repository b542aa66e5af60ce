"""A pod did not start: its image could not be pulled, or what it mounts or needs is not there.

## What it means
Kubernetes made the pod and cannot start its container. ImagePullBackOff and ErrImagePull: the registry does not have
that name or tag, refuses without credentials, limits pulls, or cannot be reached. CreateContainerConfigError,
FailedMount: a config map, secret or volume that the pod names does not exist, or not yet. Nothing of Spark ran.

## What it costs
The driver or the executors that never start; executors are asked for again and again.

## What to do
`kubectl describe pod` shows the reason in its events. Correct name and tag of the image, give credentials
(`spark.kubernetes.container.image.pullSecrets`), or make what is mounted.

## When to ignore it
When a config map came a moment after the pod, and the next try mounted it: Spark's driver makes them in that order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.failures.ending import Limits, by, consequence_of, failure, groups_of
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

NOT_STARTED: Final = Signature(
    name="pod-not-started",
    pattern=r"(?P<image>ImagePullBackOff|ErrImagePull|ErrImageNeverPull|InvalidImageName|ImageInspectError|"
    r"[Ff]ailed to pull (?:and unpack )?image \\?\"?(?P<name>[^\s\"\\]+))|"
    r"(?P<config>CreateContainerConfigError|CreateContainerError|RunContainerError|StartError)|"
    r"(?P<mount>FailedMount\b[^\n]{0,300}|MountVolume\.SetUp failed for "
    "volume[^\n]{0,300}|FailedAttachVolume[^\n]{0,300}|"
    r"Unable to attach or mount volumes[^\n]{0,300}|ClaimName of PVC must be OnDemand)|"
    r"(?P<loop>CrashLoopBackOff)",
    literals=(
        "ImagePullBackOff",
        "ErrImagePull",
        "ErrImageNeverPull",
        "InvalidImageName",
        "ImageInspectError",
        "ailed to pull image",
        "ailed to pull and unpack image",
        "CreateContainerConfigError",
        "CreateContainerError",
        "RunContainerError",
        "StartError",
        "FailedMount",
        "MountVolume.SetUp failed",
        "FailedAttachVolume",
        "Unable to attach or mount volumes",
        "ClaimName of PVC must be OnDemand",
        "CrashLoopBackOff",
    ),
    words=(
        (r"image ?pull|pull(ing)? (the |an )?image",),
        (r"\bpods?\b", r"crash ?loop|does not start|doesn't start|won't start|FailedMount|ContainerCreating"),
    ),
)
_IMAGE: Final = re.compile(r"image:? \\?\"?([\w.-]+(?::\d+)?/[\w./-]+(?::[\w.-]+)?(?:@sha256:\w+)?)")
_UNKNOWN: Final = re.compile(r"not found|manifest unknown|does not exist|NotFound|name unknown|InvalidImageName")
_REFUSED: Final = re.compile(r"unauthorized|denied|authorization failed|authentication required|no basic auth|403|401")
_LIMITED: Final = re.compile(r"toomanyrequests|rate limit|429")
_CLAIM: Final = re.compile(
    r"Multi-Attach|already (?:used by|exclusively attached)|ClaimName of PVC|\bpvcs?\b|persistentVolumeClaim|"
    r"timed out waiting for the condition",
    re.IGNORECASE,
)
_PLATFORM: Final = re.compile(r"no match for platform|exec format error|no matching manifest")


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    for kind, rows in by(said(run, NOT_STARTED.name), _kind):
        yield _not_started(run, kind, rows)


def _kind(row: Said) -> str:
    found = groups_of(row, NOT_STARTED)
    return next((kind for kind in ("image", "config", "mount", "loop") if kind in found), "image")


def _not_started(run: Run, kind: str, rows: list[Said]) -> Finding:
    text = "\n".join(row.text for row in rows[:50])
    named = next((name for row in rows if (name := groups_of(row, NOT_STARTED).get("name"))), None)
    searched = _IMAGE.search(text)
    image = (named or (searched[1] if searched else "")).rstrip(":,.")
    why = (
        "the registry does not know this name or tag"
        if _UNKNOWN.search(text)
        else "the registry limits pulls"
        if _LIMITED.search(text)
        else "it exists for another processor architecture alone"
        if _PLATFORM.search(text)
        else "the registry refuses without (other) credentials"
        if _REFUSED.search(text)
        else "a wrong name or tag, missing credentials, or a registry that cannot be reached"
    )
    titles = {
        "image": f"A pod did not start: its image {f'{image} ' if image else ''}could not be pulled",
        "config": "A pod did not start: its container could not be made",
        "mount": "A pod did not start: a volume could not be mounted",
        "loop": "A container ends right after each start (CrashLoopBackOff)",
    }
    summaries = {
        "image": f"Kubernetes reports ImagePullBackOff or ErrImagePull: {why}. Nothing of Spark ran; neither memory "
        "nor code has to do with it.",
        "config": "What the pod names is not there or cannot be run: a config map, secret or key that is missing, a "
        "command that the image does not have, or a wrong user.",
        "mount": "A config map, secret, claim or disk that the pod mounts does not exist, is attached elsewhere, or "
        "comes late.",
        "loop": "The process starts and fails by itself; Kubernetes waits longer before each next try. Its last log "
        "(kubectl logs --previous) has the reason.",
    }
    ended = "ended" if kind in ("image", "loop") else consequence_of(run, rows)
    return failure(
        run,
        rows,
        title=titles[kind],
        summary=summaries[kind],
        advice=_advice(kind, refused=bool(_REFUSED.search(text)), claimed=bool(_CLAIM.search(text))),
        confidence=0.9,
        consequence=ended if ended != "hint" or kind == "mount" else "lost",
    )


def _advice(kind: str, *, refused: bool, claimed: bool) -> Iterator[Advice]:
    if kind == "image":
        yield Advice(
            "cluster",
            "Correct name and tag in spark.kubernetes.container.image (pull the same name by hand from a node), or the "
            "way from the nodes to the registry.",
        )
        if refused:
            yield set_conf(
                "spark.kubernetes.container.image.pullSecrets",
                "registry-credentials",
                "The name of a secret of type docker-registry in the namespace of the pods.",
            )
        else:
            yield Advice("cluster", "A private registry needs spark.kubernetes.container.image.pullSecrets.")
    elif kind == "mount" and claimed:
        yield Advice(
            "cluster",
            "A claim that is ReadWriteOnce is attached to one node at one time: for a volume that driver and executors "
            "share take a class with ReadWriteMany (NFS, EFS, Azure Files), for local directories a claim for each "
            "executor: spark.kubernetes.executor.volumes.persistentVolumeClaim.NAME.options.claimName=OnDemand with "
            "storageClass and sizeLimit.",
        )
    elif kind == "loop":
        yield Advice("check", "Read `kubectl logs POD --previous` and the exit code of its last state.")
    else:
        yield Advice("cluster", "Make the config map, secret or claim that is named, in the namespace of the pods.")
    yield Advice("check", "Read the events at the end of `kubectl describe pod POD`: they have the reason in words.")


RULE = Rule(
    code="K61",
    name="pod-not-started",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(NOT_STARTED,),
)
