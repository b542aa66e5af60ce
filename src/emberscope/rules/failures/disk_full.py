"""A disk was full: shuffle, spill or other files of Spark had no room.

## What it means
A write ended with "No space left on device" (or a quota, or no directory that could be made). Spark writes shuffle
output, spilled rows and blocks that it keeps on disk into its local directories: `spark.local.dir` or SPARK_LOCAL_DIRS,
/tmp where neither is set, and the node manager's `yarn.nodemanager.local-dirs` on YARN. That file system was full, or
out of inodes, not every file system of the machine.

## What it costs
Each task that writes there fails and is tried again, often on the same full disk, until the job is given up. Nodes
whose disks are nearly full are taken away by YARN, with the shuffle output that they hold.

## What to do
Look at `df -h` and `df -i` of the file system of the path that the line names, while the job runs: Spark removes its
files when it ends, so that the disk looks empty afterwards. Put the local directories on the disks with room, give
nodes larger or more disks, remove what applications that are gone left there, and write less: more selective reads,
fewer columns, broadcast joins, memory enough not to spill.

## When to ignore it
When one node's disk was full of something else and all its tasks succeeded elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.failures.ending import Limits, failure, groups_of, who
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

DISK_FULL: Final = Signature(
    name="disk-full",
    pattern=r"(?:(?<![^\s:()'\"])(?P<path>/[^\s:()'\"]{1,300})[^\n]{0,40})?(?P<said>No space left on device|"
    r"[Dd]isk quota exceeded|"
    r"There is not enough space on the disk|Failed to create (?:a )?local dir(?:ectory)? in "
    r"(?P<made>/[^\s]{1,300}?)[.,]?(?=\s|$)|"
    r"Could not find any valid local directory for (?P<wanted>[^\s,]+))",
    literals=(
        "No space left on device",
        "isk quota exceeded",
        "There is not enough space on the disk",
        "Failed to create local dir",
        "Failed to create a local dir",
        "Could not find any valid local directory",
    ),
    words=(
        (r"no space left",),
        (r"\bdisks?\b.{0,30}\b(full|fills? up|ran out|run out)",),
        (r"(out of|not enough|insufficient) (local )?disk( space)?",),
    ),
)
_S3_BUFFER: Final = re.compile(r"s3ablock|S3ABlockOutputStream|MultipartUploadOutputStream|/mnt\d*/s3/")
_DISKS: Final = re.compile(r"/(?:mnt|data|disk|media|local_disk|grid|hadoop|ssd|nvme|ephemeral)")
_LOGS: Final = re.compile(r"RollingFileAppender|FileAppender|EventLogFileWriter|/var/log/")
_SHUFFLE: Final = re.compile(
    r"blockmgr-|shuffle_\d|temp_shuffle|temp_local|Spill|ExternalSorter|DiskBlockObjectWriter|DiskStore|appcache|"
    r"spark-local|local[- ]dir",
    re.IGNORECASE,
)
_ROOMY: Final = re.compile(r"(?:free|space|available|room)[^.\n]{0,40}?(?: on| in| at| of) (/[\w/-]+)", re.IGNORECASE)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, DISK_FULL.name)
    if rows:
        yield _full(run, rows)


def _full(run: Run, rows: tuple[Said, ...]) -> Finding:
    paths = [path for row in rows if (path := _path(row))]
    mounts = list(dict.fromkeys(_file_system(path) for path in paths))
    text = "\n".join(row.text for row in rows[:50])
    what = (
        "the local buffer of uploads to S3"
        if _S3_BUFFER.search(text)
        else "logs"
        if _LOGS.search(text) and not _SHUFFLE.search(text)
        else "shuffle files and spill"
    )
    # A path tells the file system only where folders of this name are disks by custom: else it may lie deeper.
    known = all(_DISKS.match(mount) for mount in mounts)
    on = f" {'on' if known else 'under'} {', '.join(mounts[:4])}" if mounts else ""
    name = who(rows)
    quota = "quota" in text.lower() and "No space left" not in text
    full = "A disk quota was used up" if quota else "A local disk was full"
    if all("wanted" in groups_of(row, DISK_FULL) for row in rows):
        # Hadoop tried every folder of a list; it does not say what was wrong with them.
        full = "No local directory could be used (full, missing, or closed to the user)"
    return failure(
        run,
        rows,
        title=f"{full}{on}: {f'{name} had' if name else 'there was'} no room for {what}",
        summary=f"The file system that holds {what} ran out of space or of inodes. Spark spills and shuffles into "
        "spark.local.dir (SPARK_LOCAL_DIRS; /tmp where neither is set; yarn.nodemanager.local-dirs on YARN): a machine "
        "can have free space elsewhere, and the files are gone once the job has ended, so that df shows room again.",
        advice=_advice(what, mounts, text, paths),
        confidence=0.95 if paths or any(row.exception for row in rows) else 0.8,
    )


def _path(row: Said) -> str | None:
    found = groups_of(row, DISK_FULL)
    path = found.get("made") or found.get("path")
    return path if path and path.count("/") > 1 and not path.startswith("//") else None


def _file_system(path: str) -> str:
    """The folder that is most often a file system of its own: /tmp, /mnt1, /data/disk2."""
    parts = path.strip("/").split("/")
    deep = parts[0] in ("mnt", "data", "media", "var") and len(parts) > 1 and re.fullmatch(r"[a-z]*\d+|tmp", parts[1])
    return "/" + "/".join(parts[: 2 if deep else 1])


def _advice(what: str, mounts: list[str], text: str, paths: list[str]) -> Iterator[Advice]:
    roomy = _ROOMY.search(text)
    there = f" ({roomy[1]} has room, as said)" if roomy else ""
    place = mounts[0] if mounts else "the local directories"
    if what.startswith("the local buffer"):
        yield Advice(
            "cluster",
            "Let fs.s3a.buffer.dir (fs.s3.buffer.dir of EMRFS) name folders on disks with room, one per disk.",
        )
    yield Advice(
        "cluster",
        f"Put the local directories on the disks with room{there}: spark.local.dir or SPARK_LOCAL_DIRS in spark-env.sh "
        "of every node, yarn.nodemanager.local-dirs on YARN, a volume of its own named spark-local-dir-1 on "
        "Kubernetes; or give the nodes larger or more disks.",
    )
    yield Advice(
        "check",
        f"While it runs, look at `df -h` and `df -i` for {place} and at `du` for what fills it: files of applications "
        "that are gone, logs, or this job's own shuffle.",
    )
    if what.startswith("shuffle"):
        yield Advice(
            "code",
            "Write less: read only the columns and partitions needed, filter before the shuffle, broadcast small sides "
            "of joins, and give tasks memory enough not to spill.",
        )


RULE = Rule(
    code="K10",
    name="disk-full",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(DISK_FULL,),
)
