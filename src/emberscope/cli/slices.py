"""The slice options of `flame`, and the samples of a run that they choose; an empty choice is explained."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from emberscope.errors import InputError, UsageError
from emberscope.tables.samples import EVENTS, VARIANTS

if TYPE_CHECKING:
    import pyarrow as pa

    from emberscope.profile.slice import Slice
    from emberscope.tables.run import Run

F = TypeVar("F", bound=Callable[..., Any])

_INT: Final = click.IntRange(0, 2**31 - 1)
_LONG: Final = click.IntRange(0, 2**63 - 1)
# No application runs for three years; no epoch time in milliseconds of a Spark application is that small.
_LEAST_EPOCH_MS: Final = 100_000_000_000
_TIME_HINT: Final = "Write seconds from the start (12.5), epoch milliseconds, or an ISO time (2025-01-31T12:00:00Z)."

_OPTIONS: Final = (
    click.option("--event", type=click.Choice(EVENTS), help="What was sampled. Default: the first that is there."),
    click.option(
        "--variant", type=click.Choice(VARIANTS), help="Samples of one kind of the event, such as lock: enter or park."
    ),
    click.option("--sql", type=_LONG, metavar="ID", help="Samples of this SQL execution."),
    click.option("--job", type=_INT, metavar="ID", help="Samples of the stages of this job."),
    click.option(
        "--stage",
        type=_INT,
        metavar="ID",
        help="Samples of this stage: all that its tasks account for, those just outside their spans too.",
    ),
    click.option("--attempt", type=_INT, metavar="N", help="Samples of this attempt of the stage, from 0."),
    click.option("--task", type=_LONG, metavar="ID", help="Samples of this task attempt (its TID)."),
    click.option("--executor", metavar="ID", help="Samples of this executor."),
    click.option("--host", metavar="NAME", help="Samples of this host."),
    click.option("--thread", metavar="ID|NAME", help="Samples of this thread: its Java id, or its exact name."),
    click.option(
        "--from", "from_", metavar="TIME", help="From here: seconds from the start, epoch ms, or an ISO time."
    ),
    click.option("--to", metavar="TIME", help="Up to here, this moment not included."),
    click.option("--role", type=click.Choice(["driver", "executor", "python"]), help="Samples of these processes."),
)

_COLUMNS: Final = {
    "variant": "variant",
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
        what = "an event log has" if "tasks" in run.tables else "logs have"
        raise InputError(run.path, f"{what} no samples to draw.", hint=hint)
    if not samples.num_rows:
        only_counted = " ".join(
            f"{note.message}." for note in run.coverage.notes if note.code in ("limited", "unsupported_version")
        )
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
    from_ns, to_ns = moment_ns(run, given["from_"], "--from"), moment_ns(run, given["to"], "--to")
    if from_ns is not None and to_ns is not None and from_ns >= to_ns:
        raise UsageError(f"--from {given['from_']} is not before --to {given['to']}.", hint="Turn them round.")
    where = Slice(
        event=given["event"],
        variant=given["variant"],
        sql=given["sql"],
        stage=given["stage"],
        stages=stages_of_job(run, given["job"]) if given["job"] is not None else None,
        attempt=given["attempt"],
        task=given["task"],
        executor=given["executor"],
        host=given["host"],
        thread=_thread(given["thread"]),
        from_ns=from_ns,
        to_ns=to_ns,
        role=given["role"],
    )
    chosen = select(samples, where)
    if not chosen.num_rows:
        raise _nothing(run, samples, given, where)
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
    """Epoch ns of a time: seconds from the start of the application or recording, epoch ms, or an ISO time.

    An ISO time without a zone is UTC. Raises `UsageError` for what is no time, or none that samples could have.
    """
    if text is None:
        return None
    try:
        number = float(text.removesuffix("s"))
    except ValueError:
        ns = _iso_ns(text, option)
    else:
        if not math.isfinite(number):
            raise UsageError(f"{option} {text!r} is not a time.", hint=_TIME_HINT)
        if number < 0:
            raise UsageError(f"{option} {text} is before the start.", hint=_TIME_HINT)
        ns = round(number * 1e6) if number >= _LEAST_EPOCH_MS else _start_ns(run, option) + round(number * 1e9)
    if not 0 <= ns < 2**63:
        raise UsageError(f"{option} {text} is no time that a sample could have.", hint=_TIME_HINT)
    return ns


def _iso_ns(text: str, option: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{option} {text!r} is not a time.", hint=_TIME_HINT) from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 1000


def _start_ns(run: Run, option: str) -> int:
    start_ns = run.start_ns
    if start_ns is None:
        raise InputError(run.path, f"its start is not known, so {option} must be an ISO time.")
    return start_ns


def words_of(given: dict[str, Any]) -> str:
    """The slice in words, for titles: `stage 7, executor 2`; empty where all samples are asked for."""
    names = {"from_": "from", "sql": "SQL execution"}
    return ", ".join(
        f"{names.get(name, name)} {value}" for name, value in given.items() if value is not None and name != "event"
    )


def _nothing(run: Run, samples: pa.Table, given: dict[str, Any], where: Slice) -> UsageError:
    """Why the slice is empty: the first option that nothing matches, with what there is."""
    from emberscope.profile.slice import Slice, select

    if where.event is not None:
        samples = select(samples, Slice(event=where.event))
    for name, column in _COLUMNS.items():
        value = given[name]
        if value is None:
            continue
        present = _present(samples, column)
        wanted = where.stages if name == "job" else {value}
        if wanted is not None and not wanted & set(present):
            there = f"There are samples of {_named(present)}." if present else "No sample says."
            return UsageError(f"no sample is of {words_of({name: value})}.", hint=there)
    if where.thread is not None and not select(samples, Slice(thread=where.thread)).num_rows:
        there = f"There are samples of {_named(_present(samples, 'thread_name'))}."
        return UsageError(f"no sample is of thread {given['thread']}.", hint=there)
    rest = {name: value for name, value in given.items() if name not in ("from_", "to")}
    times = [("at or after", given["from_"]), ("before", given["to"])]
    when = " and ".join(f"{word} {value}" for word, value in times if value is not None)
    if (where.from_ns, where.to_ns) != (None, None):
        of_rest = select(samples, replace(where, from_ns=None, to_ns=None))
        if of_rest.num_rows:
            those = f"Samples of {words_of(rest)}" if words_of(rest) else "Samples"
            return UsageError(f"no sample lies {when}.", hint=f"{those} {_extent(run, of_rest)}.")
    return UsageError(f"no sample is of all of these: {words_of(rest)}.", hint="Each alone has samples: leave one out.")


def _extent(run: Run, samples: pa.Table) -> str:
    """From when to when the samples lie: seconds from the start, and ISO times where their clock tells the day."""
    import pyarrow.compute as pc

    ends = pc.min_max(samples["time_ns"]).as_py()
    first, last = ends["min"], ends["max"]
    if first is None:
        return "tell no time"
    start_ns = _start_ns(run, "")
    said = f"lie from {(first - start_ns) / 1e9:.3f} s to {(last - start_ns) / 1e9:.3f} s"
    if run.start_ms is None:
        return said
    iso = [datetime.fromtimestamp(ns // 1_000_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") for ns in (first, last)]
    return f"{said} ({iso[0]} to {iso[1]})"


def _present(samples: pa.Table, column: str) -> list[Any]:
    import pyarrow.compute as pc

    return sorted(value for value in pc.unique(samples[column]).to_pylist() if value is not None)


def _named(values: list[Any]) -> str:
    more = len(values) - _MOST_NAMED
    return ", ".join(map(str, values[:_MOST_NAMED])) + (f" and {more} more" if more > 0 else "")


def _thread(text: str | None) -> int | str | None:
    return int(text) if text is not None and text.isdecimal() and int(text) < 2**63 else text
