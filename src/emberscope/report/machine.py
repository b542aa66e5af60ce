"""How busy the machines of the tasks were: where their CPUs were all taken, tasks off the CPU waited for one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc

from emberscope.units import format_ratio

if TYPE_CHECKING:
    from emberscope.tables.run import Run

# So busy on average that a thread that wants a CPU has to wait for one.
_FULL_RATIO: Final = 0.9


def machine_words(run: Run) -> str:
    """What the recorder saw of the busiest machine that ran tasks, on average over its recording; empty where it was
    not full, or where nothing is known of it."""
    series, tasks = run.tables.get("series"), run.tables.get("tasks")
    if series is None or tasks is None:
        return ""
    workers = pc.unique(tasks["executor_id"].cast(pa.string()))
    own = series.filter(pc.is_in(series["executor_id"].cast(pa.string()), value_set=workers))
    own = own.filter(pc.is_finite(own["value"]))
    means = own.group_by(["name", "host", "executor_id"]).aggregate([("value", "mean")]).to_pylist()
    machine: dict[str, float] = {}
    jvms: dict[str, float] = {}
    for row in means:
        host, mean = row["host"] or "", row["value_mean"]
        if row["name"] == "cpu_machine_ratio":
            machine[host] = max(machine.get(host, 0.0), mean)
        elif row["name"] == "cpu_process_ratio":
            jvms[host] = jvms.get(host, 0.0) + mean
    if not machine:
        return ""
    host = max(machine, key=lambda one: machine[one])
    if machine[host] < _FULL_RATIO:
        return ""
    which = "the machine's CPUs were" if len(machine) == 1 else "the CPUs of the busiest machine were"
    share = min(jvms.get(host, 0.0), machine[host])
    return f"{which} {format_ratio(machine[host])} busy on average, {format_ratio(share)} by the recorded JVMs of tasks"
