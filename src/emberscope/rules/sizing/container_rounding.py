"""YARN rounds containers up, and executors do not use what it adds.

## What it means
YARN gives memory in steps (`yarn.scheduler.minimum-allocation-mb`). An executor's container is its heap and the
overhead beside it, rounded up to the next step. What is added belongs to the executor, and other applications do not
get it, but it is neither heap nor planned overhead.

## What it costs
Memory that is paid for and mostly idle, in each executor. It has no price in time; but a larger heap in the same
container costs nothing and means fewer collections and less spill where memory is short.

## What to do
Raise the heap to what fits into the same container: the container divided by one plus the overhead's share (0.1, on EMR
0.1875), or the container less 384 MiB, whichever is smaller. (The container times one minus that share, as some guides
have it, wastes a few per cent.)

## When to ignore it
When memory is not short anywhere. When Python workers or native code use what is added: YARN allows them the whole
container. When the step in the log is not the cluster's: the driver knows only its own configuration files, and
Hadoop's default of 1 GiB where they say nothing; YARN's Fair Scheduler has a step of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from emberscope.rules.base import Evidence, Finding, Reads, Rule, Where, set_conf
from emberscope.rules.settings import MIB
from emberscope.rules.sizing.container import largest_heap_mib, shape_of
from emberscope.tables.conf import CONF
from emberscope.tables.executors import EXECUTORS
from emberscope.units import counted, format_bytes

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_STEP = "yarn.scheduler.minimum-allocation-mb"


class Limits(Struct, frozen=True):
    """The arithmetic is Spark's and YARN's (largest heap = container / (1 + overhead ratio); EMR's ratio is 0.1875,
    Spark's 0.10 with 384 MiB at least). How much has to be idle to be worth a line is our proposal."""

    least_idle_mib: int = 512  # in each executor
    least_idle_ratio: float = 0.10  # of the container


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    step = run.setting(_STEP, scope="hadoop")
    master = run.application.master or ""
    if not master.startswith("yarn") or step is None or not step.isdigit() or int(step) < 1:
        return
    shape = shape_of(run)
    container = math.ceil(shape.container_mib / int(step)) * int(step)
    idle = container - shape.container_mib
    executors = run.tables["executors"].num_rows
    if idle < max(limits.least_idle_mib, limits.least_idle_ratio * container) or not executors:
        return
    room = container - shape.beside_mib
    heap = room - shape.overhead_mib if shape.explicit else largest_heap_mib(room, shape.ratio)
    words = f"{format_bytes(shape.container_mib * MIB)} asked for, {format_bytes(container * MIB)} given"
    yield Finding(
        title=f"{format_bytes(idle * MIB)} of each executor's container lie idle",
        summary=f"YARN rounds up to {format_bytes(int(step) * MIB)}: {words}, in {counted(executors, 'executor')}.",
        where=Where(),
        evidence=(
            Evidence(f"a container is {words}", "conf", idle * MIB, "bytes"),
            Evidence(f"{_STEP} is {step}, as far as the driver's configuration tells", "conf"),
        ),
        advice=(
            set_conf(
                "spark.executor.memory", f"{heap}m", f"The largest heap in the same container of {container} MiB."
            ),
        ),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis="Idle memory costs no time; a larger heap may save some.",
        confidence=0.5,
        consequence="hint",
    )


RULE = Rule(
    code="G4",
    name="container-rounding",
    since="0.1",
    reads=(Reads(CONF), Reads(EXECUTORS)),
    limits=Limits(),
    check=check,
)
