"""A profiler cannot attach to the JVM: another user, another container, or attaching is switched off.

## What it means
jcmd, jattach and async-profiler reach a JVM through a socket `.java_pid…` in its temporary folder. The JVM makes it
only for its own user (or root) and only where it sees the request, so both must be in the same mount and process name
spaces. `-XX:+DisableAttachMechanism`, a cleaner that removes old files in `/tmp`, and a JVM that is too busy or stuck
give the same message.

## What it costs
The recording, and nothing of the job: a JVM that cannot be attached to goes on as before.

## What to do
Run the tool as the user of the JVM and in its container (`kubectl exec`, `yarn` shell, `nsenter -t PID -m -p`). Where
`/tmp` is cleaned, or the folder differs, start the JVM with `-XX:+StartAttachListener`, or load the profiler at start
with `-agentpath` in `spark.executor.extraJavaOptions`, which needs no attaching at all.

## When to ignore it
When the JVM was ending at that moment: a process that shuts down does not answer any more.
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


_NO_ATTACH: Final = Signature(
    "attach_refused",
    r"AttachNotSupportedException:? ?(?P<why>[^\n]*)|Unable to open socket file"
    r"|Could not start attach mechanism: (?P<start>[^\n]+)"
    r"|well-known file[^\n]* is not secure|VM does not support the attach mechanism"
    r"|Failed to change credentials to match the target process",
    (
        "AttachNotSupportedException",
        "Unable to open socket file",
        "start attach mechanism",
        "well-known file",
        "support the attach mechanism",
        "Failed to change credentials",
    ),
    ((r"jcmd|jattach|jstack|async-?profiler|asprof", r"attach", r"cannot|can't|fail|unable|refus|not able|error"),),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = seen(run, _NO_ATTACH.name)
    if not rows:
        return
    yield trouble(
        "The profiler cannot attach to the JVM",
        "Attaching goes through a socket (.java_pid…) that a JVM makes in its own temporary folder for its own user. "
        "It fails for another user, from outside its container, with -XX:+DisableAttachMechanism, where /tmp is "
        "cleaned, and where the JVM is stuck.",
        rows,
        (
            Advice("check", "Run the tool as the user of the JVM and inside its container, by the process id there."),
            Advice(
                "code",
                "Or load the profiler when the JVM starts, which needs no attaching: -agentpath (or "
                "-XX:StartFlightRecording) in the Java options of driver and executors.",
            ),
        ),
    )


RULE = Rule(
    code="P8",
    name="attach-refused",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(_NO_ATTACH,),
)
