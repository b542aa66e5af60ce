"""Tasks waited while Python workers were started.

## What it means
A task with a Python function needs a worker process. It is forked from a daemon, which first has to start an
interpreter and import pyspark; meanwhile all other tasks of the executor that need a worker wait for the same lock.
Where workers are thrown away after each task, or tasks are very many and short, that time is paid over and over.

## What it costs
Waits for locks, CPU time and time in native code while workers are created, taken off the tasks before the schedule is
replayed.

## What to do
Keep workers (spark.python.worker.reuse, true by default). Use fewer and larger partitions for stages with Python. Make
the environment light: a virtual environment on local disk in place of a network file system, and no heavy imports at
the top of modules that every worker loads.

## When to ignore it
When it is seen only once, in the first stage with Python: some seconds of it cannot be avoided.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from emberscope.rules.base import Advice, Finding, Rule
from emberscope.rules.stacks.finding import INHERENT, READS, Limits, Words, findings
from emberscope.rules.stacks.patterns import PYTHON_START

if TYPE_CHECKING:
    from emberscope.rules.stacks.hot_spots import Spot
    from emberscope.tables.run import Run


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    words = Words("starting Python workers", 0.8, "the start taken off, as where workers are kept.", _advice)
    return findings(run, PYTHON_START.code, limits, words)


def _advice(run: Run, spots: Sequence[Spot]) -> Iterator[Advice]:
    if (run.setting("spark.python.worker.reuse") or "").lower() == "false":
        yield Advice("unset", "Workers are thrown away after each task.", "spark.python.worker.reuse")
    yield Advice(
        "check",
        "Count the tasks of the stage: short tasks pay for the start most; and see what the workers import, and from "
        "which file system.",
    )


RULE = Rule(code=PYTHON_START.code, name="python-workers-start", since="0.1", reads=READS, limits=INHERENT, check=check)
