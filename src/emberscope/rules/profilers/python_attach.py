"""A profiler of Python may not read the memory of the worker that it is to profile.

## What it means
py-spy and austin read the memory of another process (`process_vm_readv`, ptrace). Containers forbid that without the
capability SYS_PTRACE, also to root; on a plain machine Yama (`kernel.yama.ptrace_scope=1`) allows it for children
alone, so that a worker of PySpark, a child of its daemon, needs root. A Python that the profiler does not know
(statically linked, newer than the profiler, another container's files) fails in a similar way.

## What it costs
The recording, and nothing of the job: workers that cannot be attached to go on as before.

## What to do
Give the container the capability SYS_PTRACE (`securityContext.capabilities.add: [SYS_PTRACE]`), run the profiler inside
it and as root, and take a version that knows this Python. `--subprocesses` of the daemon follows all workers. Python
3.14 and `emberscope run` profile workers from inside, without any right.

## When to ignore it
When it is a debug run on a machine of one's own: there `sudo` in front of the command is enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.profilers.trouble import seen, trouble
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """None: one such line is enough."""


_REFUSED: Final = Signature(
    "ptrace_refused",
    r"Permission Denied: Try running again with elevated permissions|started your container with the SYS_PTRACE"
    r"|Failed to find a python interpreter in the|Failed to find python version from target process"
    r"|py-spy(?:[^\n]{0,200}\n)?+[^\n]{0,200}(?:EPERM|Operation not permitted|Permission [Dd]enied)",
    (
        "Try running again with elevated",
        "SYS_PTRACE",
        "python interpreter in the",
        "Failed to find python version",
        "py-spy",
    ),
    ((r"py-?spy|pystack|\bptrace\b", r"denied|not permitted|EPERM|permission|cannot attach|fails?"),),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = seen(run, _REFUSED.name)
    if not rows:
        return
    yield trouble(
        "The Python profiler may not read the worker's memory",
        "py-spy and its like read another process's memory (ptrace, process_vm_readv). A container forbids it without "
        "the capability SYS_PTRACE, even to root; a plain machine (kernel.yama.ptrace_scope) needs root for a process "
        "that is no child.",
        rows,
        (
            Advice(
                "cluster",
                "Add the capability SYS_PTRACE to the container of the executor, and run the profiler inside it as "
                "root with --subprocesses on pyspark's daemon.",
            ),
            Advice("check", "See that the profiler's version knows this Python; newer Pythons need newer profilers."),
        ),
    )


RULE = Rule(
    code="P16",
    name="python-attach",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(_REFUSED,),
)
