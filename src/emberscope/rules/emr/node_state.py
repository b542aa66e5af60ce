"""A node of the cluster has a full disk, more load than cores, or no memory left.

## What it means
EMR writes the state of each node every quarter of an hour (instance-state logs). A disk beyond 90 % is taken from
YARN's service: when all of a node's are, the node is UNHEALTHY and its containers are killed. Load far beyond the cores
makes heartbeats late. The log pusher, which carries logs to S3, is at times the process that takes the CPU, and a log
pusher that stands still lets logs fill the disk.

## What it costs
Containers that are killed on a node that is given up, and slow tasks until then.

## What to do
Make room: larger or more EBS volumes, local directories on all of them, logs and user caches kept for a shorter time.
Restart a log pusher that is at the top of the list of processes.

## When to ignore it
When the node is idle or is being set up, or the disk is one that Spark and YARN do not use.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.instance_state import BUSY_PROCESS, FULL_DISK, FULL_PERCENT, HIGH_LOAD, LITTLE_MEMORY
from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, Where
from emberscope.rules.emr.told import told
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

BAD_DIRECTORY: Final = "emr_bad_directory"

_PUSHERS: Final = ("logpusher", "log-pusher", "logpush")


class Limits(Struct, frozen=True):
    """YARN takes a disk out of service above this (`max-disk-utilization-per-disk-percentage`)."""

    full_percent: int = FULL_PERCENT


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    told_by_yarn = said(run, BAD_DIRECTORY)
    asked = [row for row in told_by_yarn if row.level is None and not row.fields]
    if asked:
        yield _asked(asked)
    bad = [row for row in told_by_yarn if row not in asked]
    disks = [*bad, *_full(said(run, FULL_DISK), limits.full_percent)]
    if disks:
        yield _disk(disks)
    busy = said(run, BUSY_PROCESS)
    pushers = [row for row in busy if any(name in row.fields.get("command", "").lower() for name in _PUSHERS)]
    if pushers:
        yield _pusher(pushers)
    load = (*said(run, HIGH_LOAD), *said(run, LITTLE_MEMORY))
    if load:
        yield _load(load, busy)


def _full(rows: tuple[Said, ...], percent: int) -> list[Said]:
    full = [row for row in rows if int(row.fields.get("percent") or 0) >= percent]
    return sorted(full, key=lambda row: -int(row.fields["percent"]))


def _disk(rows: list[Said]) -> Finding:
    fields = rows[0].fields
    place = fields.get("mount") or fields.get("directory") or "a local directory"
    share = f" is {fields['percent']} % full" if fields.get("percent") else " is out of use for YARN"
    node = f" of node {rows[0].host}" if rows[0].host else ""
    return told(
        f"Disk {place}{node}{share}",
        "YARN stops using a disk above 90 %, and marks a node UNHEALTHY when none is left: its containers are killed "
        "and their shuffle files are lost. Spills, shuffle files, container logs and user caches fill it.",
        rows,
        (
            Advice(
                "cluster", "More or larger EBS volumes for core and task nodes, or more nodes that share the shuffle."
            ),
            Advice(
                "cluster",
                "All volumes for local files: yarn.nodemanager.local-dirs=/mnt/yarn,/mnt1/yarn (and "
                "dfs.datanode.data.dir "
                "alike), so that one does not fill first.",
            ),
            Advice(
                "check",
                f"sudo du -h {place if place.startswith('/') else '/mnt'} | sort -hr | head: user caches of YARN, "
                "container logs (shorter retention), and /emr logs if the log pusher stands still.",
            ),
        ),
        consequence="risk",
        where=Where(host=rows[0].host),
    )


def _asked(rows: list[Said]) -> Finding:
    return told(
        "The log pusher or logs that are kept too long may take the node's disk and CPU",
        "The log pusher carries logs to S3: one that stands still leaves them on the local disk, and one that spins "
        "takes CPU time. The instance-state logs show both: df -h, and ps sorted by CPU, every quarter of an hour.",
        rows,
        (
            Advice("cluster", "sudo systemctl status logpusher; restart it where it is at the top of ps."),
            Advice(
                "check", "sudo du -h /emr | sort -hr, and df -h of /mnt: what takes the space, and how long it is kept."
            ),
            Advice(
                "cluster", "All volumes in yarn.nodemanager.local-dirs (/mnt/yarn,/mnt1/yarn), and more EBS capacity."
            ),
        ),
        consequence="risk",
        confidence=0.5,
    )


def _pusher(rows: list[Said]) -> Finding:
    return told(
        f"The log pusher takes {rows[0].fields.get('cpu', 'much')} % CPU of a node",
        "It carries logs to S3, and should be nowhere near the top of the list of processes. While it spins, logs stay "
        "on the disk and fill it.",
        rows,
        (
            Advice("cluster", "sudo systemctl status logpusher, then sudo systemctl restart logpusher."),
            Advice("check", "Its own log in /emr/logpusher/log for errors."),
        ),
        consequence="risk",
        where=Where(host=rows[0].host),
    )


def _load(rows: tuple[Said, ...], busy: tuple[Said, ...]) -> Finding:
    cores = next((row.fields["cores"] for row in rows if row.fields.get("cores")), None)
    loaded = next((row.fields["five"] for row in rows if row.fields.get("five")), None)
    title = f"Load of {loaded} on a node of {cores} cores" if loaded and cores else "A node has no memory left"
    return told(
        title + (f" ({rows[0].host})" if rows[0].host else ""),
        "More processes want to run, or more memory is wanted, than the node has: heartbeats of executors and of the "
        "NodeManager come late, and a node that does not answer is given up as lost.",
        rows,
        (
            Advice(
                "cluster",
                "Fewer or smaller executors on a node: YARN counts only memory unless the DominantResourceCalculator "
                "is set (`emberscope calc packing`).",
            ),
            Advice("check", "Which processes are at the top of `ps` in the same file: another application may be."),
        ),
        consequence="risk",
        more=tuple(row.evidence() for row in busy[:3]),
        where=Where(host=rows[0].host),
    )


RULE = Rule(
    code="L10",
    name="node-state",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(
        Signature(
            BAD_DIRECTORY,
            r"(?P<bad>\d{1,4})/\d{1,4} (?:local|log)-dirs (?:are bad|have errors|usable space is below[^\[\n]*)[^/\n]*"
            r"(?P<directory>/[^\s,;:\]]+)?",
            ("local-dirs are bad", "log-dirs are bad", "-dirs usable space is below", "-dirs have errors"),
            ((r"log ?pusher",), (r"instance[- ]state",)),
        ),
    ),
)
