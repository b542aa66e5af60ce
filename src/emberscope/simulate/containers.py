"""Executors on a node: how many containers YARN puts there, and which shapes fill it. All memory in MiB.

YARN's default scheduler of capacities counts memory alone: it gives away more cores than a node has wherever the
memory is enough (`vcores_over`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from emberscope.simulate.instance_types import Node

LEAST_OVERHEAD_MIB: Final = 384
OVERHEAD_RATIO: Final = 0.10
"""Spark's own; EMR's is `EMR_OVERHEAD_RATIO`."""
EMR_OVERHEAD_RATIO: Final = 0.1875
YARN_STEP_MIB: Final = 1024
"""Containers are rounded up to a multiple of this (`yarn.scheduler.minimum-allocation-mb`); on EMR `EMR_STEP_MIB`."""
EMR_STEP_MIB: Final = 32

MOST_CORES: Final = 5
"""More tasks than this in one JVM share its heap, its collector and its connections (AWS's advice)."""


class Container(Struct, frozen=True):
    """What one executor asks for: `container_mib` is heap, overhead and what lies beside, rounded up by YARN."""

    cores: int
    heap_mib: int
    overhead_mib: int
    beside_mib: int
    container_mib: int


class Packed(Struct, frozen=True):
    """Containers of one kind on one node. `vcores_over` are the cores given away beyond those that it has, and
    `by_cores` is how many containers there would be if cores were counted too."""

    node: Node
    yarn_mib: int
    containers: int
    vcores: int
    by_cores: int
    unused_mib: int

    @property
    def vcores_over(self) -> int:
        return max(0, self.vcores - self.node.cores)

    @property
    def idle_cores(self) -> int:
        return max(0, self.node.cores - self.vcores)


class Shape(Struct, frozen=True):
    """A shape of executor that fills a node: `count` of them, with what stays unused."""

    container: Container
    count: int
    idle_cores: int
    unused_mib: int
    fits_need: bool

    @property
    def heap_mib_per_core(self) -> float:
        return self.container.heap_mib / self.container.cores


def container_of(
    heap_mib: int,
    cores: int,
    *,
    ratio: float = OVERHEAD_RATIO,
    overhead_mib: int | None = None,
    beside_mib: int = 0,
    step_mib: int = 1,
) -> Container:
    """The container of an executor: `overhead_mib` where it was set, else `ratio` of the heap, at least 384 MiB.

    `beside_mib` is off-heap memory and that of Python.
    """
    overhead = max(LEAST_OVERHEAD_MIB, int(heap_mib * ratio)) if overhead_mib is None else overhead_mib
    return Container(cores, heap_mib, overhead, beside_mib, _up(heap_mib + overhead + beside_mib, step_mib))


def largest_heap_mib(container_mib: int, ratio: float, beside_mib: int = 0) -> int:
    """The largest heap whose container is no larger than this; 0 where not even the overhead fits."""
    room = container_mib - beside_mib
    heap = max(0, min(int(room / (1 + ratio)) + 1, room - LEAST_OVERHEAD_MIB))
    while heap > 0 and heap + max(LEAST_OVERHEAD_MIB, int(heap * ratio)) > room:
        heap -= 1
    return heap


def packed(node: Node, container: Container, yarn_mib: int | None = None) -> Packed:
    """How YARN fills a node with these containers, by memory alone."""
    memory = node.yarn_mib if yarn_mib is None else yarn_mib
    count = memory // container.container_mib
    return Packed(
        node=node,
        yarn_mib=memory,
        containers=count,
        vcores=count * container.cores,
        by_cores=min(count, node.cores // container.cores),
        unused_mib=memory - count * container.container_mib,
    )


def shapes(
    node: Node,
    *,
    yarn_mib: int | None = None,
    ratio: float = OVERHEAD_RATIO,
    step_mib: int = 1,
    beside_mib: int = 0,
    reserved_cores: int = 0,
    heap_mib: int = 0,
    heap_mib_per_task: int = 0,
    most_cores: int = 8,
) -> tuple[Shape, ...]:
    """Shapes of executors that divide a node, by cores of one executor; each with as much heap as fits.

    `heap_mib` is what an executor needs at least and `heap_mib_per_task` what each of its tasks needs; shapes with less
    are there too, and say so.
    """
    memory = node.yarn_mib if yarn_mib is None else yarn_mib
    need = (heap_mib, heap_mib_per_task)
    usable = node.cores - reserved_cores
    return tuple(_shapes(usable, memory, ratio, step_mib, beside_mib, need, most_cores))


def _shapes(
    usable: int, memory: int, ratio: float, step: int, beside: int, need: tuple[int, int], most_cores: int
) -> Iterator[Shape]:
    for cores in range(1, min(usable, most_cores) + 1):
        count = usable // cores
        room = memory // count // step * step
        heap = largest_heap_mib(room, ratio, beside)
        if heap <= 0:
            continue
        container = container_of(heap, cores, ratio=ratio, beside_mib=beside, step_mib=step)
        fits = heap >= max(need[0], need[1] * cores)
        yield Shape(container, count, usable - count * cores, memory - count * container.container_mib, fits)


def best_shape(found: Sequence[Shape]) -> Shape | None:
    """The shape to take: one that has the heap that is needed, and no more than five cores; of those the one with the
    fewest idle cores, then with the most cores. None where no shape has the heap."""
    fitting = [shape for shape in found if shape.fits_need]
    usual = [shape for shape in fitting if shape.container.cores <= MOST_CORES] or fitting
    return min(usual, key=lambda shape: (shape.idle_cores, -shape.container.cores), default=None)


def _up(size: int, step: int) -> int:
    return -(-size // step) * step
