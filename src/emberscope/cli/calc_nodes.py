"""`emberscope calc packing` and `calc sizing`: executors on a node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from emberscope.cli.calc_sizes import mib_of
from emberscope.cli.output import write_document, write_result
from emberscope.errors import UsageError

if TYPE_CHECKING:
    from emberscope.simulate.containers import Container, Packed, Shape
    from emberscope.simulate.instance_types import Node

_MIB: Final = 1 << 20


def _node_options(function: Any) -> Any:
    for option in (
        click.option("--json", "as_json", is_flag=True, help="One JSON document."),
        click.option("--step", metavar="SIZE", help="YARN rounds containers up to it. Default: 32m on EC2, else 1g."),
        click.option("--beside", metavar="SIZE", help="Off-heap memory and spark.executor.pyspark.memory together."),
        click.option("--overhead-factor", type=click.FloatRange(0, 10), help="Default: 0.1875 on EC2 (EMR), else 0.1."),
        click.option("--yarn-memory", metavar="SIZE", help="Memory of a node for YARN. Default: what EMR gives it."),
    ):
        function = option(function)
    return function


@click.command(
    epilog="""\b
Examples:
  emberscope calc packing c5.12xlarge r5.8xlarge --executor-memory 4743m --executor-cores 3
  emberscope calc packing 16x64g --yarn-memory 56g --executor-memory 6g --executor-cores 4
"""
)
@click.argument("nodes", nargs=-1, required=True, metavar="NODE…")
@click.option("--executor-memory", required=True, metavar="SIZE")
@click.option("--executor-cores", type=click.IntRange(min=1), default=1, show_default=True)
@click.option("--overhead", metavar="SIZE", help="spark.executor.memoryOverhead, where it is set.")
@_node_options
def packing(
    nodes: tuple[str, ...],
    executor_memory: str,
    executor_cores: int,
    overhead: str | None,
    yarn_memory: str | None,
    overhead_factor: float | None,
    beside: str | None,
    step: str | None,
    as_json: bool,
) -> None:
    """How many executors YARN puts on a node, and whether it gives away more cores than there are.

    NODE is an EC2 instance type, or cores and memory as in 48x96g.
    """
    from emberscope.simulate.containers import container_of, packed
    from emberscope.simulate.instance_types import node_of

    machines = [node_of(name) for name in nodes]
    emr = all(machine.emr for machine in machines)
    container = container_of(
        mib_of(executor_memory, "--executor-memory"),
        executor_cores,
        ratio=_ratio(overhead_factor, emr=emr),
        overhead_mib=mib_of(overhead, "--overhead") if overhead else None,
        beside_mib=mib_of(beside, "--beside") if beside else 0,
        step_mib=_step(step, emr=emr),
    )
    yarn = mib_of(yarn_memory, "--yarn-memory") if yarn_memory else None
    found = [packed(machine, container, yarn) for machine in machines]
    if as_json:
        write_document(
            {
                "schema": "emberscope.calc.packing/1",
                "container": _container(container),
                "nodes": [_packed(one) for one in found],
            }
        )
        return
    write_result(_packing_text(container, found), None)


def _packing_text(container: Container, found: list[Packed]) -> str:
    lines = [
        f"container: {container.heap_mib:,} MiB heap + {container.overhead_mib:,} MiB overhead"
        + (f" + {container.beside_mib:,} MiB beside" if container.beside_mib else "")
        + f" = {container.container_mib:,} MiB, {container.cores} cores"
    ]
    for one in found:
        lines.append(
            f"{one.node.name}: {one.yarn_mib:,} MiB for YARN / {container.container_mib:,} MiB = {one.containers} "
            f"containers × {container.cores} cores = {one.vcores} vcores on {one.node.cores} cores"
        )
        if one.vcores_over:
            lines.append(
                f"  {one.vcores_over} vcores more than the node has: count cores too (DominantResourceCalculator), "
                f"which makes it {one.by_cores} containers, or take executors with more memory for each core"
            )
        elif one.idle_cores or one.unused_mib:
            lines.append(f"  unused: {one.idle_cores} cores, {one.unused_mib:,} MiB")
    return "\n".join([*lines, ""])


@click.command(
    epilog="""\b
Examples:
  emberscope calc sizing r5.8xlarge --nodes 10
  emberscope calc sizing m5.4xlarge --heap-per-task 4g
  emberscope calc sizing 32x128g --yarn-memory 112g --reserve-cores 1
"""
)
@click.argument("node", metavar="NODE")
@click.option("--nodes", type=click.IntRange(min=1), default=1, show_default=True, help="So many of them.")
@click.option("--heap", metavar="SIZE", help="Heap that one executor needs at least.")
@click.option("--heap-per-task", metavar="SIZE", help="Heap that each task of an executor needs.")
@click.option("--reserve-cores", type=click.IntRange(min=0), default=0, show_default=True, help="Cores of a node kept.")
@_node_options
def sizing(
    node: str,
    nodes: int,
    heap: str | None,
    heap_per_task: str | None,
    reserve_cores: int,
    yarn_memory: str | None,
    overhead_factor: float | None,
    beside: str | None,
    step: str | None,
    as_json: bool,
) -> None:
    """Shapes of executors that fill a node, and the one to take for the heap that is needed.

    NODE is an EC2 instance type, or cores and memory as in 48x96g. One executor's place is left to the application
    master, or to the driver in cluster mode.
    """
    from emberscope.simulate.containers import best_shape, shapes
    from emberscope.simulate.instance_types import node_of

    machine = node_of(node)
    if reserve_cores >= machine.cores:
        raise UsageError(f"{machine.name} has {machine.cores} cores.", hint="Reserve fewer of them.")
    found = shapes(
        machine,
        yarn_mib=mib_of(yarn_memory, "--yarn-memory") if yarn_memory else None,
        ratio=_ratio(overhead_factor, emr=machine.emr),
        step_mib=_step(step, emr=machine.emr),
        beside_mib=mib_of(beside, "--beside") if beside else 0,
        reserved_cores=reserve_cores,
        heap_mib=mib_of(heap, "--heap") if heap else 0,
        heap_mib_per_task=mib_of(heap_per_task, "--heap-per-task") if heap_per_task else 0,
    )
    best = best_shape(found)
    if as_json:
        write_document(
            {
                "schema": "emberscope.calc.sizing/1",
                "node": _node(machine),
                "shapes": [_shape(shape, nodes) for shape in found],
                "best": _shape(best, nodes) if best else None,
            }
        )
        return
    write_result(_sizing_text(machine, nodes, found, best), None)


def _sizing_text(machine: Node, nodes: int, found: tuple[Shape, ...], best: Shape | None) -> str:
    lines = [
        f"{machine.name}: {machine.cores} cores, {machine.memory_bytes // _MIB:,} MiB",
        "",
        "cores  per node  memory   overhead  heap per core  idle cores  unused",
    ]
    for shape in found:
        container = shape.container
        mark = "  <- take this" if shape is best else "" if shape.fits_need else "  too little heap"
        lines.append(
            f"{container.cores:>5}  {shape.count:>8}  {container.heap_mib:>6}m  {container.overhead_mib:>7}m  "
            f"{shape.heap_mib_per_core:>12.0f}m  {shape.idle_cores:>10}  {shape.unused_mib:>5}m{mark}"
        )
    lines.append("")
    if best is None:
        lines.append("No shape of executor on this node has the heap that is needed: take a node with more memory.")
    else:
        settings = _settings(best, nodes)
        lines += [f"{key}  {value}" for key, value in settings.items()]
    return "\n".join([*lines, ""])


def _settings(shape: Shape, nodes: int) -> dict[str, str]:
    return {
        "spark.executor.cores": str(shape.container.cores),
        "spark.executor.memory": f"{shape.container.heap_mib}m",
        "spark.executor.memoryOverhead": f"{shape.container.overhead_mib}m",
        "spark.executor.instances": str(max(1, shape.count * nodes - 1)),
    }


def _container(container: Container) -> dict[str, Any]:
    names = ("cores", "heap_mib", "overhead_mib", "beside_mib", "container_mib")
    return {name: getattr(container, name) for name in names}


def _node(node: Node) -> dict[str, Any]:
    return {"name": node.name, "cores": node.cores, "memory_mib": node.memory_bytes // _MIB}


def _packed(one: Packed) -> dict[str, Any]:
    names = ("yarn_mib", "containers", "vcores", "vcores_over", "idle_cores", "unused_mib", "by_cores")
    return {**_node(one.node), **{name: getattr(one, name) for name in names}}


def _shape(shape: Shape, nodes: int) -> dict[str, Any]:
    names = ("count", "idle_cores", "unused_mib", "fits_need")
    facts = {name: getattr(shape, name) for name in names}
    return {**_container(shape.container), **facts, "settings": _settings(shape, nodes)}


def _ratio(factor: float | None, *, emr: bool) -> float:
    from emberscope.simulate.containers import EMR_OVERHEAD_RATIO, OVERHEAD_RATIO

    return factor if factor is not None else EMR_OVERHEAD_RATIO if emr else OVERHEAD_RATIO


def _step(text: str | None, *, emr: bool) -> int:
    from emberscope.simulate.containers import EMR_STEP_MIB, YARN_STEP_MIB

    return mib_of(text, "--step") if text else EMR_STEP_MIB if emr else YARN_STEP_MIB
