"""`summary`: the facts of event logs, recordings and runs, as a document and as words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from emberscope.eventlog.facts import facts
from emberscope.report.heap_looks import heap_looks
from emberscope.report.marked import marked
from emberscope.report.recorded import heap_lines, recorded_lines, sampled, series_counted
from emberscope.report.stage_cpu import Key, StageCpu, calibrated_words, measured_cpu, stage_cpus
from emberscope.report.written import written, written_text
from emberscope.sources.lost import executor_rows
from emberscope.sources.recorder_cost import own_cpu_words
from emberscope.store.chunks import chunks_of
from emberscope.tables.coverage import Coverage, Note, total
from emberscope.units import counted, format_bytes, format_count, format_ms, printable

if TYPE_CHECKING:
    from emberscope.errors import InputError
    from emberscope.profile.calibrate import ThreadCpu
    from emberscope.sources.load import Input
    from emberscope.tables.run import Run

SCHEMA: Final = "emberscope.summary/1"


@dataclass(frozen=True, slots=True)
class Summarized:
    """The facts of one input, without its tables: `app` of an event log, `stored` of a run of the store,
    `written` of logs and questions."""

    path: str
    kind: str
    app: dict[str, Any] | None
    recordings: tuple[dict[str, Any], ...]
    stored: dict[str, Any] | None
    coverage: Coverage
    written: dict[str, Any] | None = None


def summarized(kind: str, run: Run) -> Summarized:
    """The facts of a run that was read from an input of this kind."""
    return Summarized(
        run.path,
        kind,
        facts(run) if "stages" in run.tables else None,
        tuple(recording.document() for recording in run.recordings),
        run_object(run) if kind == "run" else None,
        run.coverage,
        written(run, kind),
    )


def summarize(item: Input, run: Run) -> Summarized:
    """As `summarized`, of a run by what it was read from."""
    return summarized(item.kind, run)


def summary_document(read: Sequence[Summarized], problems: Sequence[InputError] = ()) -> dict[str, Any]:
    """The document of `summary --json`: `apps` of event logs, `recordings`, `logs` where there are any, and
    `run` for a run of the store.

    `read` are the inputs that could be read, `problems` says what the others lacked. With several runs of the store
    `run` is that of the first and all are in `runs`.
    """
    stored = [one.stored for one in read if one.stored is not None]
    unread = [Coverage((Note("missing_part", error.reason, error.path),)) for error in problems]
    inputs: list[tuple[str, str | None, Coverage]] = [(one.path, one.kind, one.coverage) for one in read]
    inputs += [(error.path, None, coverage) for error, coverage in zip(problems, unread, strict=True)]
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "inputs": [{"path": path, "kind": kind, "coverage": said.document()} for path, kind, said in inputs],
        "apps": [one.app | {"path": one.path} for one in read if one.app is not None],
        "recordings": [recording for one in read for recording in one.recordings],
    }
    if logs := [one.written for one in read if one.written is not None]:
        document["logs"] = logs
    if stored:
        document["run"] = stored[0]
    if len(stored) > 1:
        document["runs"] = stored
    document["coverage"] = total([*unread, *(one.coverage for one in read)]).document()
    return document


def run_object(run: Run) -> dict[str, Any]:
    """The `run` part: what each executor left, and raw counts per stage attempt to compare with Spark's own."""
    task_samples, elsewhere = _task_samples(run)
    cpu = stage_cpus(run)
    whole = measured_cpu(cpu)
    return {
        "path": run.path,
        "executors": executor_rows(run.tables.get("executors"), chunks_of(Path(run.path)), run.application),
        "recorder_cpu": run.recorder.get("own_cpu", []),
        "stages": _stages(run, task_samples, cpu),
        "calibrated": _calibrated(whole) if whole is not None else None,
        "task_samples": sum(samples for samples, _ in task_samples.values()) + sum(elsewhere.values()),
        "attributed_samples": sum(attributed for _, attributed in task_samples.values()),
        "events": [one.document() for one in sampled(run)],
        "series": [one.document() for one in series_counted(run)],
        "marks": [one.document() for one in marked(run)],
        "heap_looks": [one.document() for one in heap_looks(run)],
        "unattributed": [list(item) for item in sorted(elsewhere.items(), key=lambda item: (-item[1], item[0]))],
    }


def _stages(run: Run, task_samples: dict[Key, tuple[int, int]], cpu: dict[Key, StageCpu]) -> list[dict[str, Any]]:
    """One row per stage attempt that has tasks in the event log or samples in a recording."""
    recorded, period_ns = "samples" in run.tables, run.recorder.get("sample_period_ns")
    rows = []
    for key in sorted(cpu.keys() | task_samples.keys()):
        task, attributed = task_samples.get(key, (0, 0))
        mine = cpu.get(key, StageCpu())
        rows.append(
            {
                "stage_id": key[0],
                "stage_attempt": key[1],
                "executor_cpu_time_ns": mine.executor_cpu_time_ns,
                "cpu_samples": mine.samples if recorded else None,
                "cpu_samples_outside_span": mine.samples_outside_span if recorded else None,
                "sampled_cpu_ns": mine.sampled_ns if recorded else None,
                "lost_cpu_samples": mine.lost_samples if recorded else None,
                "sample_period_ns": period_ns if period_ns is not None else _mean_ns(mine.samples, mine.sampled_ns),
                "task_samples": task if recorded else None,
                "attributed_samples": attributed if recorded else None,
                "calibrated": _calibrated(mine.calibrated) if mine.calibrated is not None else None,
            }
        )
    return rows


def _calibrated(cpu: ThreadCpu) -> dict[str, Any]:
    from emberscope.profile.calibrate import LABEL

    return {"label": LABEL, **asdict(cpu)}


def _mean_ns(count: int, ns: int | None) -> int | None:
    """What a CPU sample stands for on average, where the period changed during the run."""
    return round(ns / count) if count and ns is not None else None


def _task_samples(run: Run) -> tuple[dict[Key, tuple[int, int]], dict[str, int]]:
    """Samples of task code by stage attempt, with those that carry a task; the rest by their top frame.

    Samples of task code are those of any event whose stack holds Spark's `Executor$TaskRunner.run`.
    """
    import pyarrow as pa

    from emberscope.profile.ancestry import nodes_holding

    samples = run.tables.get("samples")
    if samples is None or not samples.num_rows:
        return {}, {}
    stacks, frames = run.tables["stacks"], run.tables["frames"]
    holding = nodes_holding(stacks, frames)[samples["stack"].fill_null(0).to_numpy()]
    of_tasks = samples.filter(pa.array(holding))
    by_stage: dict[Key, tuple[int, int]] = {}
    elsewhere: dict[str, int] = {}
    names = frames["name"].to_pylist()
    leaves = stacks["frame"].to_pylist()
    columns = [of_tasks[name].to_pylist() for name in ("stage_id", "stage_attempt", "task_id", "count", "stack")]
    for stage_id, stage_attempt, task_id, count, stack in zip(*columns, strict=True):
        if stage_id is None or task_id is None:
            name = names[leaves[stack]]
            elsewhere[name] = elsewhere.get(name, 0) + count
        else:
            samples_before, attributed = by_stage.get((stage_id, stage_attempt), (0, 0))
            by_stage[stage_id, stage_attempt] = (samples_before + count, attributed + count)
    return by_stage, elsewhere


def summary_text(document: dict[str, Any]) -> str:
    """The document for people."""
    apps = document["apps"]
    several = len(apps) > 1
    blocks = [_app_text(app) + (_of_several(app) if several else "") for app in apps]
    if "run" in document:
        blocks.append(_recordings_text(document["recordings"], document.get("runs", [document["run"]])))
    else:
        blocks += [_recording_text(recording) for recording in document["recordings"]]
    if "run" in document:
        blocks += [_run_text(run) for run in document.get("runs", [document["run"]])]
    blocks += [written_text(log) for log in document.get("logs", ())]
    told = [note for app in apps for note in app["coverage"]["notes"]] if several else []
    blocks.append(_coverage_text(document["coverage"], told))
    return printable("\n\n".join(block for block in blocks if block) + "\n")


def _of_several(app: dict[str, Any]) -> str:
    """Which of several inputs an application is from, and what is to be said of it alone."""
    said = _coverage_text(app["coverage"]).replace("\n", "\n  ")
    return f"\n  read from   {app['path']}" + (f"\n  {said}" if said else "")


def _title(app: dict[str, Any]) -> str:
    """What the log says of who the application is; it says nothing where its first events are missing."""
    name, app_id, version = app["app_name"], app["app_id"], app["spark_version"]
    who = f"{name} ({app_id})" if name and app_id else name or app_id or "application of unknown name"
    return " ".join((f"{who}, Spark {version}" if version else f"{who}, Spark's version not known").split())


def _app_text(app: dict[str, Any]) -> str:
    tasks, totals = app["tasks"], app["totals"]
    duration = "not known to have ended" if app["duration_ms"] is None else format_ms(app["duration_ms"])
    known = {name: value for name, value in totals.items() if value is not None}
    lines = [
        f"{_title(app)}, {duration}",
        f"  jobs        {app['jobs']}, {app['jobs_failed']} failed, {app['jobs_unfinished']} unfinished",
        f"  stages      {counted(app['stage_attempts'], 'attempt')} of {format_count(app['stages_distinct'])}, "
        f"{app['stage_attempts_failed']} failed",
        f"  tasks       {format_count(tasks['total'])}, {tasks['failed']} failed, {tasks['killed']} killed",
        f"  SQL         {counted(app['sql_executions'], 'execution')}",
        f"  executors   {app['executors_added_distinct']}",
    ]
    if "executor_run_time_ms" in known:
        lines.append(f"  task time   {format_ms(known['executor_run_time_ms'])}")
    if "executor_cpu_time_ns" in known:
        lines.append(f"  task CPU    {format_ms(known['executor_cpu_time_ns'] / 1e6)}")
    if "gc_time_ms" in known:
        lines.append(f"  GC          {format_ms(known['gc_time_ms'])}")
    for label, names in (
        ("input", ("input_bytes",)),
        ("output", ("output_bytes",)),
        ("shuffle in", ("shuffle_read_local_bytes", "shuffle_read_remote_bytes")),
        ("shuffle out", ("shuffle_write_bytes",)),
        ("spilled", ("disk_spilled_bytes",)),
    ):
        sizes = [known[name] for name in names if name in known]
        if any(sizes):
            lines.append(f"  {label:<11} {format_bytes(sum(sizes))}")
    return "\n".join(lines)


def _recordings_text(recordings: list[dict[str, Any]], runs: list[dict[str, Any]]) -> str:
    """The many chunks of runs in one line."""
    counts: dict[str, int] = {}
    for event in (event for run in runs for event in run["events"]):
        counts[event["event"]] = counts.get(event["event"], 0) + event["samples"]
    said = ", ".join(f"{count:,} {kind}" for kind, count in counts.items() if count)
    return f"recorded in {counted(len(recordings), 'part')}\n  samples     {said or 'none'}"


def _recording_text(recording: dict[str, Any]) -> str:
    counts = ", ".join(f"{count:,} {kind}" for kind, count in recording["samples"].items() if count)
    length = "" if recording["duration_ms"] is None else f", {format_ms(recording['duration_ms'])}"
    lines = [f"{recording['path']}: {recording['format']}{length}", f"  samples     {counts or 'none'}"]
    lines += [f"  {count:>9,}  {method}" for method, count in recording["leaf_top"][:5]]
    return "\n".join(lines)


def _run_text(run: dict[str, Any]) -> str:
    lines = [f"run {run['path']}"]
    for executor in run["executors"]:
        lost = executor["lost_ms"]
        words = "loss not known" if lost is None else f"{format_ms(lost)} lost" if lost else "nothing lost"
        name = "driver" if executor["id"] == "driver" else f"executor {executor['id']}"
        lines.append(f"  {name:<11} recorded {format_ms(executor['recorded_ms'])}, {words}")
    if used := own_cpu_words(run["recorder_cpu"]):
        lines.append(f"  the recorder's own threads used {used}")
    if run["task_samples"]:
        lines.append(f"  samples of tasks {run['task_samples']:,}, {run['attributed_samples']:,} with their task")
    if run["calibrated"] is not None:
        lines += _cpu_lines(run)
    lines += recorded_lines(run["events"], run["series"], run["marks"])
    lines += heap_lines(run["heap_looks"])
    return "\n".join(lines)


def _cpu_lines(run: dict[str, Any]) -> list[str]:
    """CPU of the tasks by three clocks, the sampled one as it is."""
    by_spark = sum(stage["executor_cpu_time_ns"] or 0 for stage in run["stages"])
    sampled = [stage["sampled_cpu_ns"] for stage in run["stages"]]
    samples = sum(stage["cpu_samples"] for stage in run["stages"])
    amount = "" if None in sampled else f", {format_ms(sum(sampled) / 1e6)}"
    told = ("cpu_ns", "not_seen_ns", "tasks_not_seen", "tasks_not_measured")
    return [
        "  CPU of tasks",
        f"    by Spark   {format_ms(by_spark / 1e6)}",
        f"    sampled    {counted(samples, 'sample')}{amount}",
        f"    {calibrated_words(**{name: run['calibrated'][name] for name in told})}",
    ]


def _coverage_text(coverage: dict[str, Any], told: Sequence[dict[str, Any]] = ()) -> str:
    """All notes but those that are told elsewhere."""
    notes = [note for note in coverage["notes"] if note not in told]
    if not notes:
        return ""
    lines = ["incomplete:" if not coverage["complete"] else "to know:"]
    lines += [f"  {note['message']}" + (f" ({note['where']})" if note["where"] else "") for note in notes]
    return "\n".join(lines)
