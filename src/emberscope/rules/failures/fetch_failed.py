"""Shuffle output could not be fetched: which side failed, the one that reads or the one that serves.

## What it means
A task of a later stage asks the executors (or the shuffle services) that hold its input for their blocks. FetchFailed
is only the message that this did not work. Most often the serving side is gone: its executor was killed or its node
taken back. It can also be alive but busy (long garbage collections, a shuffle service with too little heap), out of
native memory, or without its files. And the reader itself can be what fails: when it asks for more at once than its
direct memory holds, no serving executor is to blame.

## What it costs
The reading stage is given up and the stage that made the output runs again for what is lost; after
`spark.stage.maxConsecutiveAttempts` (4) attempts in a row the job fails.

## What to do
For a serving side that is gone, look for its death first ("Lost executor", ExecutorRemoved, the container's exit code):
more retries do not bring it back. For a busy one, give it heap or fewer requests at a time. For a reader without direct
memory, more of it or less in flight.

## When to ignore it
When it is the echo of a loss that is told by itself, or of one spot node, and the job went on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Literal

from emberscope.logs.signature import Signature
from emberscope.rules.base import Finding, Reads, Rule
from emberscope.rules.failures.ending import Limits, failure, groups_of
from emberscope.rules.failures.fetch_advice import fetch_advice
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS
from emberscope.units import format_bytes, format_ms

if TYPE_CHECKING:
    from emberscope.tables.run import Run

FETCH_FAILED: Final = Signature(
    name="fetch-failed",
    pattern=r"FetchFailed(?:Exception)?\b(?:\((?:null|BlockManagerId\((?P<server>[^,)]+), (?P<host>[^,)]+), "
    r"(?P<port>\d+)[^)]*\)), shuffleId=(?P<shuffle>-?\d+))?|"
    r"Missing an output location for shuffle (?P<missing>\d+)|"
    r"Failed to get block\(s\) from (?P<peer>[^\s:]+)|"
    r"Failure while fetching StreamChunkId|Failed while starting block fetches|"
    r"Block shuffle_\S+ fetch failed|"
    r"Executor is not registered \(appId",
    literals=(
        "FetchFailed",
        "Missing an output location for shuffle",
        "Failed to get block(s) from",
        "Failure while fetching StreamChunkId",
        "Failed while starting block fetches",
        "Block shuffle_",
        "Executor is not registered (appId",
    ),
    words=(
        (r"fetch ?fail",),
        (r"shuffle", r"\bfetch", r"fail|error|timed? ?out"),
        (r"missing an output location",),
        (r"remote executor.{0,80}\bdead\b",),
    ),
)

Side = Literal["reader", "native", "files", "corrupt", "busy", "gone", "unknown"]

# The first that matches counts: what the serving side reports of itself comes before what the reader makes of it.
_SIDES: Final[tuple[tuple[Side, re.Pattern[str]], ...]] = (
    (
        "reader",
        re.compile(
            r"due to Netty OOM|OutOfDirectMemoryError|failed to allocate \d+ byte\(s\) of direct memory|"
            r"direct buffer memory|Direct buffer memory"
        ),
    ),
    ("native", re.compile(r"IOException: (?:Out of memory|Cannot allocate memory|Map failed)|errno=12")),
    (
        "files",
        re.compile(
            r"(?:FileNotFoundException|NoSuchFileException)[^\n]{0,300}shuffle_|Unable to find shuffle|Failed to open "
            r"file[^\n]{0,300}shuffle_|Executor is not registered|Cannot locate shuffle|[Ss]huffle file[^\n]{0,40} not "
            r"found"
        ),
    ),
    ("corrupt", re.compile(r"Stream is corrupted|FAILED_TO_UNCOMPRESS|corrupt|[Cc]hecksum|Decompression error")),
    (
        "busy",
        re.compile(
            r"has been quiet for \d+ ms|Timeout waiting for task|ConnectException: Connection timed out|"
            r"Connecting to \S+ timed out|SocketTimeoutException|insufficient progress|RpcTimeout|Futures timed out|"
            r"Failed to process .{0,40}chunk fetch.{0,40}too many"
        ),
    ),
    (
        "gone",
        re.compile(
            r"Failed to connect to|Connection refused|ClosedChannelException|Connection (?:from \S+ )?(?:was )?closed|"
            r"Connection reset|Broken pipe|Missing an output location|No route to host|UnknownHostException|"
            r"Executor (?:\S+ )?(?:is )?(?:lost|dead)|executor[^\n]{0,30} (?:was lost|is dead|died)|"
            r"ExecutorDeadException|HostNotFound|FetchFailed\(null",
        ),
    ),
)
_LARGE: Final = re.compile(r"Too large frame")
_DECOMMISSION: Final = re.compile(r"de-?commission", re.IGNORECASE)  # a rule of its own tells why
_QUIET: Final = re.compile(r"has been quiet for (\d+) ms")
_DIRECT: Final = re.compile(r"used: (\d+), max: (\d+)")
_TIMES: Final = re.compile(r"maximum allowable number of times: (\d+)")

_MECHANISM: Final[dict[Side, str]] = {
    "gone": "The process that holds shuffle output was lost before it was read: its executor was killed or died, its "
    "node went (spot reclaim, autoscaling, decommission), or it was unresponsive in garbage collection. The failed "
    "fetch is the echo; why that process went is the cause.",
    "reader": "The executor that was fetching, not the one that serves, ran out of Netty direct memory: more blocks "
    "were in flight to it than it can hold. The serving executor and its output are well.",
    "native": "The machine that serves the blocks had no memory left outside the heap: its operating system refused a "
    "native allocation (“Out of memory” of a read), which is no OutOfMemoryError of a Java heap. All processes of the "
    "node together took more than it has.",
    "busy": "The side that serves the blocks did not answer in time: long garbage collections, a shuffle service "
    "(YARN's node manager) with too little heap, or more requests than its disks and threads can serve.",
    "files": "The serving side answers but has no such shuffle files any more: a shuffle service that was restarted "
    "and forgot the executor, local directories that were cleaned, or a disk that was taken out.",
    "corrupt": "Blocks arrived that cannot be decompressed or whose checksum is wrong: a bad disk, bad memory or "
    "network card of one machine, or a fault of the codec.",
    "unknown": "Why the fetch failed is not in these lines: the cause below the exception, and the log of the executor "
    "that served, tell it. Most often that executor or its node was lost (killed, reclaimed, scaled down).",
}


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    groups: dict[Side, list[Said]] = {}
    for row in said(run, FETCH_FAILED.name):
        if not _LARGE.search(row.text):
            groups.setdefault(side_of(row), []).append(row)
    vague = [row for row in groups.pop("unknown", []) if not _DECOMMISSION.search(row.text)]
    if not groups and vague:
        groups["unknown"] = vague
    for side, rows in groups.items():
        yield _failed(run, side, rows)


def side_of(row: Said) -> Side:
    """Which side failed, and how, by the exceptions of one record."""
    text = "\n".join((row.text, *row.causes))
    return next((side for side, pattern in _SIDES if pattern.search(text)), "unknown")


def _failed(run: Run, side: Side, rows: list[Said]) -> Finding:
    found = [groups_of(row, FETCH_FAILED) for row in rows]
    text = "\n".join(row.text for row in rows[:100])
    servers = list(dict.fromkeys(one["server"] for one in found if one.get("server")))
    hosts = list(dict.fromkeys(h for one in found if (h := one.get("host") or one.get("peer"))))
    server = (
        f"executor{'s' if len(servers) > 1 else ''} {', '.join(servers[:3])}"
        if servers
        else f"host {', '.join(hosts[:3])}"
        if hosts
        else "the executor that held it"
    )
    several = "," in server
    quiet, direct, times = _QUIET.search(text), _DIRECT.search(text), _TIMES.search(text)
    titles: dict[Side, str] = {
        "gone": f"Shuffle output was lost: {server} {'were' if several else 'was'} gone when it was read",
        "reader": "A fetching executor ran out of Netty direct memory"
        + (f" ({format_bytes(int(direct[1]))} of {format_bytes(int(direct[2]))} used)" if direct else ""),
        "native": "Shuffle blocks could not be served: native memory (outside the heap) of the serving machine ran out",
        "busy": f"{server[0].upper()}{server[1:]} did not serve shuffle blocks in time"
        + (f" (nothing for {format_ms(int(quiet[1]))})" if quiet else ""),
        "files": f"Shuffle files are gone although {server} {'answer' if several else 'answers'}",
        "corrupt": f"Shuffle blocks from {server} arrived corrupt",
        "unknown": "Shuffle output could not be fetched, and these lines do not say why",
    }
    after = f" After {times[1]} attempts in a row Spark gave the stage up." if times else ""
    return failure(
        run,
        rows,
        title=titles[side],
        summary=_MECHANISM[side] + after,
        advice=fetch_advice(run, side, int(direct[2]) if direct else None),
        confidence={"unknown": 0.5, "gone": 0.8}.get(side, 0.9),
    )


RULE = Rule(
    code="K6",
    name="fetch-failed",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(FETCH_FAILED,),
)
