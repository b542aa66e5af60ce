"""The slice options of `flame`, and the samples of a run that they choose; an empty choice is explained."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from emberscope.errors import InputError, UsageError

if TYPE_CHECKING:
    import pyarrow as pa

    from emberscope.profile.slice import Slice
    from emberscope.tables.run import Run

F = TypeVar("F", bound=Callable[..., Any])

EVENTS: Final = ("cpu", "wall", "alloc", "lock", "live", "native")

_OPTIONS: Final = (
    click.option("--event", type=click.Choice(EVENTS), help="What was sampled. Default: the first that is there."),
    click.option("--sql", type=int, metavar="ID", help="Samples of this SQL execution."),
    click.option("--job", type=int, metavar="ID", help="Samples of the stages of this job."),
    click.option("--stage", type=int, metavar="ID", help="Samples of this stage."),
    click.option("--attempt", type=int, metavar="N", help="Samples of this attempt of the stage, from 0."),
    click.option("--task", type=int, metavar="ID", help="Samples of this task attempt (its TID)."),
    click.option("--executor", metavar="ID", help="Samples of this executor."),
    click.option("--host", metavar="NAME", help="Samples of this host."),
    click.option("--thread", metavar="ID|NAME", help="Samples of this thread: its Java id, or its exact name."),
    click.option("--from", "from_", metavar="TIME", help="From here: seconds from the start, or an ISO time."),
    click.option("--to", metavar="TIME", help="Up to here, this moment not included."),
    click.option("--role", type=click.Choice(["driver", "executor", "python"]), help="Samples of these processes."),
)

_COLUMNS: Final = {
    "sql": "sql_execution_id",
    "job": "stage_id",
    "stage": "stage_id",
    "attempt": "stage_attempt",
    "task": "task_id",
    "executor": "executor_id",
    "host": "host",
    "role": "role",
}
_OF_TASKS: Final = ("sql", "job", "stage", "attempt", "task")
_MOST_NAMED: Final = 12


def slice_options(command: F) -> F:
    """The slice options of `contract.md`, in its order."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def chosen_samples(run: Run, given: dict[str, Any]) -> pa.Table:
    """The samples of the run that the options ask for, of one event or of all where none was asked for.

    Raises `InputError` where the run lacks what the option needs: samples, spans, an event log; and `UsageError`,
    with what there is, where nothing matches.
    """
    from emberscope.profile.slice import Slice, select

    samples = run.tables.get("samples")
    if samples is None:
        hint = "Give a recording (.jfr, collapsed stacks, `perf script`) or a run that was recorded."
        raise InputError(run.path, "an event log has no samples to draw.", hint=hint)
    if not samples.num_rows:
        only_counted = " ".join(f"{note.message}." for note in run.coverage.notes if note.code == "limited")
        raise InputError(run.path, "the recording holds no samples to draw.", hint=only_counted)
    if given["event"] is not None:
        present = _present(samples, "event")
        if given["event"] not in present:
            reason = f"there are no {given['event']} samples in it."
            raise InputError(run.path, reason, hint=f"There are: {', '.join(present)}.")
    asked = [name for name in _OF_TASKS if given[name] is not None]
    if asked and not run.tables["spans"].num_rows:
        reason = f"--{asked[0]} needs to know which task ran when, and this recording does not hold it."
        raise InputError(run.path, reason, hint="Only recordings made by `emberscope run` hold task spans.")
    where = Slice(
        event=given["event"],
        sql=given["sql"],
        stage=given["stage"],
        stages=stages_of_job(run, given["job"]) if given["job"] is not None else None,
        attempt=given["attempt"],
        task=given["task"],
        executor=given["executor"],
        host=given["host"],
        thread=_thread(given["thread"]),
        from_ns=moment_ns(run, given["from_"], "--from"),
        to_ns=moment_ns(run, given["to"], "--to"),
        role=given["role"],
    )
    chosen = select(samples, where)
    if not chosen.num_rows:
        raise _nothing(samples, given, where)
    return chosen


def stages_of_job(run: Run, job: int) -> frozenset[int]:
    """The stages that Spark planned for a job. Raises `InputError` where no event log tells."""
    jobs = run.tables.get("jobs")
    if jobs is None:
        reason = "--job needs the event log, which tells the stages of a job."
        raise InputError(run.path, reason, hint="Give the run, not its recording, or ask by --stage.")
    rows = zip(jobs["job_id"].to_pylist(), jobs["stage_ids"].to_pylist(), strict=True)
    stages = {job_id: frozenset(stage_ids or ()) for job_id, stage_ids in rows}
    if job not in stages:
        raise UsageError(f"there is no job {job}.", hint=f"Jobs are {_named(sorted(stages))}.")
    return stages[job]


def moment_ns(run: Run, text: str | None, option: str) -> int | None:
    """Epoch ns of a time given as seconds from the start of the application or recording, or as an ISO time.

    An ISO time without a zone is UTC.
    """
    if text is None:
        return None
    try:
        seconds = float(text.removesuffix("s"))
    except ValueError:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            hint = "Write seconds from the start (12.5) or an ISO time (2025-01-31T12:00:00Z)."
            raise UsageError(f"{option} {text!r} is not a time.", hint=hint) from None
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return round(moment.timestamp() * 1_000_000) * 1_000
    start_ms = run.application.app_start_ms
    if start_ms is None:
        start_ms = min((facts.start_ms for facts in run.recordings if facts.start_ms is not None), default=None)
    if start_ms is None and (first_ns := _first_ns(run)) is not None:
        return first_ns + round(seconds * 1e9)
    if start_ms is None:
        raise InputError(run.path, f"its start is not known, so {option} must be an ISO time.")
    return start_ms * 1_000_000 + round(seconds * 1e9)


def _first_ns(run: Run) -> int | None:
    """The time of the first sample, by whatever clock the samples have."""
    import pyarrow.compute as pc

    first: int | None = pc.min(run.tables["samples"]["time_ns"]).as_py() if "samples" in run.tables else None
    return first


def words_of(given: dict[str, Any]) -> str:
    """The slice in words, for titles: `stage 7, executor 2`; empty where all samples are asked for."""
    names = {"from_": "from", "sql": "SQL execution"}
    return ", ".join(
        f"{names.get(name, name)} {value}" for name, value in given.items() if value is not None and name != "event"
    )


def _nothing(samples: pa.Table, given: dict[str, Any], where: Slice) -> UsageError:
    """Why the slice is empty: the first option that nothing matches, with what there is."""
    for name, column in _COLUMNS.items():
        value = given[name]
        if value is None:
            continue
        present = _present(samples, column)
        wanted = where.stages if name == "job" else {value}
        if wanted is not None and not wanted & set(present):
            there = f"There are samples of {_named(present)}." if present else "No sample says."
            return UsageError(f"no sample is of {words_of({name: value})}.", hint=there)
    return UsageError(f"no sample is of {words_of(given)} at once.", hint="Ask for less.")


def _present(samples: pa.Table, column: str) -> list[Any]:
    import pyarrow.compute as pc

    return sorted(value for value in pc.unique(samples[column]).to_pylist() if value is not None)


def _named(values: list[Any]) -> str:
    more = len(values) - _MOST_NAMED
    return ", ".join(map(str, values[:_MOST_NAMED])) + (f" and {more} more" if more > 0 else "")


def _thread(text: str | None) -> int | str | None:
    return int(text) if text is not None and text.isdecimal() else text
