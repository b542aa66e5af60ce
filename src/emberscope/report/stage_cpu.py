"""CPU of each stage attempt by three clocks: Spark's, the samples as they are, and the threads of its tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from emberscope.units import counted, format_ms

if TYPE_CHECKING:
    from emberscope.profile.calibrate import ThreadCpu
    from emberscope.tables.run import Run

Key = tuple[int, int]
"""Stage and attempt."""


@dataclass(frozen=True, slots=True)
class StageCpu:
    """CPU of one stage attempt.

    `executor_cpu_time_ns` is Spark's own: the sum over its ended tasks, null where no task says any. `samples` are the
    CPU samples inside the spans of its tasks, which is what Spark measures, `samples_outside_span` those just outside;
    `sampled_ns` is what the first stand for, each its own period, which may change on the way; null where one does not
    say it. `lost_samples` are in none of them: the sampler says that it lost them on a thread while a task of the stage
    ran there. JDK's sampler of CPU time loses one where the thread is at work inside the JVM itself, and tells of it
    a little later. `calibrated` is the fourth figure, the threads' own; null where none was measured.
    """

    executor_cpu_time_ns: int | None = None
    samples: int = 0
    samples_outside_span: int = 0
    sampled_ns: int | None = 0
    lost_samples: int = 0
    calibrated: ThreadCpu | None = None


def stage_cpus(run: Run) -> dict[Key, StageCpu]:
    """All stage attempts of which any of it is known, in the order of their ids."""
    spark, inside, outside = _by_spark(run), _samples(run, in_span=True), _samples(run, in_span=False)
    lost, calibrated = _lost_samples(run), _calibrated(run)
    keys = sorted(spark.keys() | inside.keys() | outside.keys() | lost.keys() | calibrated.keys())
    return {
        key: StageCpu(
            spark.get(key),
            inside.get(key, (0, 0))[0],
            outside.get(key, (0, 0))[0],
            inside.get(key, (0, 0))[1],
            lost.get(key, 0),
            calibrated.get(key),
        )
        for key in keys
    }


def measured_cpu(stages: dict[Key, StageCpu]) -> ThreadCpu | None:
    """The sum over all stages; None where no thread was measured."""
    from emberscope.profile.calibrate import ThreadCpu

    known = [stage.calibrated for stage in stages.values() if stage.calibrated is not None]
    return sum(known, ThreadCpu()) if known else None


def calibrated_words(cpu_ns: float, not_seen_ns: float, tasks_not_seen: int, tasks_not_measured: int) -> str:
    """`calibrated by thread CPU time: 12.3 s, of it 0.2 s not seen: 3 tasks without a sample`."""
    from emberscope.profile.calibrate import LABEL

    said = f"{LABEL}: {format_ms(cpu_ns / 1e6)}"
    if tasks_not_seen:
        said += f", of it {format_ms(not_seen_ns / 1e6)} not seen: {counted(tasks_not_seen, 'task')} without a sample"
    if tasks_not_measured:
        said += f"; {counted(tasks_not_measured, 'task')} not measured"
    return said


def _by_spark(run: Run) -> dict[Key, int | None]:
    tasks = run.tables.get("tasks")
    if tasks is None or not tasks.num_rows:
        return {}
    grouped = tasks.group_by(["stage_id", "stage_attempt"]).aggregate([("executor_cpu_time_ns", "sum")])
    return {(row["stage_id"], row["stage_attempt"]): row["executor_cpu_time_ns_sum"] for row in grouped.to_pylist()}


def _samples(run: Run, *, in_span: bool) -> dict[Key, tuple[int, int | None]]:
    """Number of the CPU samples and what they stand for, inside the spans of tasks or just outside."""
    import pyarrow.compute as pc

    samples = run.tables.get("samples")
    if samples is None:
        return {}
    is_inside = pc.equal(pc.fill_null(samples["in_span"], False), in_span)
    chosen = samples.filter(pc.and_(pc.equal(samples["event"], "cpu"), is_inside))
    chosen = chosen.filter(pc.and_(pc.is_valid(chosen["stage_id"]), pc.is_valid(chosen["stage_attempt"])))
    chosen = chosen.append_column("ns", pc.multiply(chosen["count"], chosen["value"]))
    chosen = chosen.append_column("unknown", pc.is_null(chosen["value"]).cast("int8"))
    sums = [("count", "sum"), ("ns", "sum"), ("unknown", "sum")]
    return {
        (row["stage_id"], row["stage_attempt"]): (row["count_sum"], None if row["unknown_sum"] else row["ns_sum"])
        for row in chosen.group_by(["stage_id", "stage_attempt"]).aggregate(sums).to_pylist()
    }


def _lost_samples(run: Run) -> dict[Key, int]:
    import pyarrow as pa
    import pyarrow.compute as pc

    from emberscope.jfr.events import SAMPLES_LOST
    from emberscope.profile.attribute import attribute
    from emberscope.tables.samples import SAMPLES

    if not {"samples", "series", "spans"} <= run.tables.keys():
        return {}
    series = run.tables["series"]
    # Only a damaged recording says that it lost more than a number of this kind holds exactly.
    sane = pc.and_(pc.equal(series["name"], SAMPLES_LOST), pc.less(series["value"], float(1 << 53)))
    series = series.filter(sane)
    columns = {name: series[name] for name in ("time_ns", "thread_id", "role", "executor_id")}
    count, stack = series["value"].cast("int64", safe=False), pa.array([0] * series.num_rows, pa.int32())
    as_samples = SAMPLES.from_columns({**columns, "count": count, "stack": stack})
    found = attribute(as_samples, *(run.tables[name] for name in ("spans", "stacks", "frames")))
    found = found.filter(pc.is_valid(found["stage_id"]))
    grouped = found.group_by(["stage_id", "stage_attempt"]).aggregate([("count", "sum")]).to_pylist()
    return {(row["stage_id"], row["stage_attempt"]): row["count_sum"] for row in grouped}


def _calibrated(run: Run) -> dict[Key, ThreadCpu]:
    """By stage; nothing where no thread was measured."""
    from emberscope.profile.calibrate import calibrate

    if not {"samples", "spans"} <= run.tables.keys():
        return {}
    found = calibrate(run.tables["samples"], run.tables["spans"])
    return found.stages if found.whole.tasks else {}
