"""Java stacks are broken in a profile made by frame pointers: the JVM was started without them.

## What it means
perf and eBPF profilers walk a stack by frame pointers. HotSpot uses that register for other things unless it is told
not to, so stacks break at the first Java frame: flame graphs have many narrow towers that begin in the middle, and most
Java frames have no caller.

## What it costs
The callers: leaf frames are right, but where they were called from is not shown.

## What to do
Start the JVMs with `-XX:+PreserveFramePointer` (Java options of driver and executors). It costs a few percent of speed
at most. async-profiler and Flight Recorder walk Java stacks in other ways and do not need it.

## When to ignore it
When only the leaves are of interest: which methods burn the time is right, only who called them is not shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.profilers.trouble import seen, trouble
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_OPTION: Final = "-XX:+PreserveFramePointer"
_KEY: Final = "spark.executor.extraJavaOptions"


class Limits(Struct, frozen=True):
    """None: it is told in words, or not at all."""


_BROKEN: Final = Signature(
    "java_stacks_broken",
    r"(?!)",
    (),
    (
        (
            r"\bjava\b|\bjvm\b|\bjit\b|scala|spark",
            r"flame ?graph|\bperf\b|\be?bpf\b|profil",
            r"stacks?|stack ?traces?|call ?chains?|frames",
            r"broken|truncated|incomplete|cut off|missing (?:callers?|parents?|frames)|orphan|stop at"
            r"|do(?:es)? not unwind|unwind",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = seen(run, _BROKEN.name)
    if not rows:
        return
    has = _OPTION in (run.setting(_KEY) or "")
    if has or any(_OPTION in row.text for row in rows):
        return
    yield trouble(
        "Java stacks break because the JVM keeps no frame pointers",
        "perf and eBPF profilers unwind by frame pointers, a register that HotSpot uses for other things unless it is "
        f"started with {_OPTION}; without it stacks end at the first Java frame.",
        rows,
        (
            set_conf(
                _KEY, _OPTION, "Beside the options that are there; the same for the driver. It costs a few percent."
            ),
            Advice(
                "check",
                "async-profiler and JFR need no frame pointers; there a deeper jstackdepth or stackdepth helps.",
            ),
        ),
    )


RULE = Rule(
    code="P14",
    name="frame-pointers",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(_BROKEN,),
)
