"""The profiler writes on each executor's own disk or output, and nothing collects it.

## What it means
Profilers that are Java agents report where their JVM runs. A reporter that writes files puts them on the local disk of
each executor's machine, in a folder that may vanish with the container; one that prints writes into the executor's
standard output. Spark brings neither to the driver.

## What it costs
Time spent searching in the wrong place; the profiles themselves, once the containers are gone.

## What to do
Collect the folders from the executors' machines, or choose a reporter that sends to one place (Kafka, HTTP, a data
base), or a path that all machines share, with the executor's id in the name. What is printed is in the executors'
stdout: `yarn logs`, `kubectl logs`, or the Executors page of the UI.

## When to ignore it
In local mode, where driver and executors are one process, and where the executors' folders are collected anyway.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule
from emberscope.rules.profilers.trouble import seen, trouble
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_KEY: Final = "spark.executor.extraJavaOptions"
_REPORTER: Final = re.compile(
    r"\b(?P<reporter>(?:File|Console)OutputReporter)\b(?:[^\s]*?outputDir=(?P<folder>[^,\s\"']+))?"
)


class Limits(Struct, frozen=True):
    """None: such a reporter is enough."""


_LOCAL: Final = Signature(
    "profile_on_executors",
    r"\b(?P<reporter>(?:File|Console)OutputReporter)\b(?:[^\s]*?outputDir=(?P<folder>[^,\s\"']+))?",
    ("OutputReporter",),
    (
        (
            r"profiler|\bjfr\b|java ?agent",
            r"executors?",
            r"(?:nothing|no (?:files?|output|profiles?|results?)|empty|missing)[^\n]{0,40}\b(?:driver|edge node"
            r"|gateway|master)"
            r"|(?:driver|edge node|gateway|master)[^\n]{0,40}(?:nothing|no (?:files?|output|results?)|empty)",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = seen(run, _LOCAL.name)
    match = _REPORTER.search(run.setting(_KEY) or "")
    if not rows and not match:
        return
    fields = next((row.fields for row in rows if row.fields), match.groupdict() if match else {})
    prints = fields.get("reporter") == "ConsoleOutputReporter"
    folder = fields.get("folder")
    place = "the executors' standard output" if prints else f"{folder or 'a folder'} on each executor's local disk"
    yield trouble(
        f"The profiler's output stays on the executors: {place}",
        "The agent reports where its JVM runs: files are written to the local disk of each executor's machine and "
        "printed text to its stdout. Nothing is aggregated on the driver, and local files vanish with the container.",
        rows,
        (
            Advice(
                "check",
                "Collect it from the executors: their stdout by `yarn logs` or `kubectl logs`, files from each machine "
                "while its container exists.",
            ),
            Advice(
                "code",
                "Or use a reporter that sends to one central place (Kafka, HTTP), or a shared path with "
                "{{EXECUTOR_ID}} in the name.",
            ),
        ),
        consequence="hint",
        evidence=() if rows else [Evidence(f"{_KEY} has {fields['reporter']}", f"conf {_KEY}")],
    )


RULE = Rule(
    code="P11",
    name="local-profiles",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(_LOCAL,),
)
