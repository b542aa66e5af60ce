"""Files were read more than needed: once more to guess their columns, or with a filter that the reader could not use.

## What it means
Two faults have one reason: the reader of the files was not told enough. CSV and JSON files do not name the types of
their columns: for JSON without a schema, and for CSV with `inferSchema`, Spark reads the files once just to guess it,
and then again for the query. And a filter is pushed into the reader of Parquet and ORC only if it compares a plain
column with a value: with a function, a Python function or most casts around the column, all rows are read and the
filter works on them afterwards.

## What it costs
For a guessed schema, the application replayed without the stages that guessed it. For a filter that was not pushed, an
upper bound: the share of the scan's time that belongs to rows which the filter dropped.

## What to do
Give the schema: `spark.read.schema(…)`. Store data that are read more than once as Parquet or ORC. Write conditions on
the bare column: `day >= '2024-01-01' AND day < '2025-01-01'` in place of `year(day) = 2024`; convert the value and not
the column.

## When to ignore it
When the files are small or read once for a look, or when the price is near zero. Where a filter was pushed and still
nearly all rows were dropped, full-scan (E4) reports it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, Where
from emberscope.rules.call_sites import call_site, line_of
from emberscope.rules.long_stages import shortened
from emberscope.rules.places import place_of, places, short_call_site
from emberscope.rules.price import priced
from emberscope.rules.storage.files import FileScan, spread, stages_at
from emberscope.rules.storage.kept_rows import Kept, kept_rows, listed, scanning_stages, useless_ms
from emberscope.tables.jobs import JOBS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import format_bytes, format_count, format_ms, format_ratio

if TYPE_CHECKING:
    from emberscope.simulate.stage_tasks import StageTasks
    from emberscope.tables.run import Run

_READS: Final = re.compile(r"^(csv|json|load|xml) at ")
_COLUMNAR: Final = ("parquet", "orc")
# What Spark pushes for every filter, whatever it is.
_NULLS: Final = re.compile(r"IsNotNull\([^)]*\),?\s*")


class Limits(Struct, frozen=True):
    """No tool that we know of has numbers for this; all values are our proposal."""

    ratio: float = 0.1  # rows kept by the filter over rows read
    rows: int = 1_000_000  # rows read


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    yield from _guessed(run)
    for kept in kept_rows(run):
        if kept.read_rows >= limits.rows and kept.ratio <= limits.ratio and not is_pushed(kept.scan):
            stages = scanning_stages(run, kept.scan)
            if stages:
                yield _not_pushed(run, kept, stages)


def is_pushed(scan: FileScan) -> bool:
    """Whether a filter reached the reader of the files, or there is none that could have; true where it is not said."""
    pushed, data = listed(scan, "PushedFilters"), listed(scan, "DataFilters")
    if scan.format not in _COLUMNAR or pushed is None or not data:
        return True
    return _NULLS.sub("", pushed).strip() != ""


def _guessed(run: Run) -> Iterator[Finding]:
    """Jobs of `spark.read.csv` or `.json` that read files and give nothing on: they only guess the columns."""
    columns = ["job_id", "call_site", "details", "sql_execution_id", "stage_ids"]
    for job in run.tables["jobs"].select(columns).to_pylist():
        site = short_call_site(job["call_site"] or "")
        found = _READS.match(site)
        if found is None or job["sql_execution_id"] is not None:
            continue
        stages = stages_at(run, job["stage_ids"] or ())
        if stages and all(_only_reads(stage) for stage in stages):
            yield _guess(run, job, call_site((site,), job["details"]) or found[1], found[1], stages)


def _only_reads(stage: StageTasks) -> bool:
    nothing = all(stage.amounts(name).sum() == 0 for name in ("output_bytes", "shuffle_write_bytes"))
    return nothing and bool(stage.amounts("input_bytes").sum() > 0)


def _guess(run: Run, job: dict[str, Any], site: str, form: str, stages: Sequence[StageTasks]) -> Finding:
    read = sum(float(stage.amounts("input_bytes").sum()) for stage in stages)
    run_ms = sum(float(stage.run_ms().sum()) for stage in stages)
    price = priced(run, {stage.key: np.array([]) for stage in stages}, "Without the stages that guessed the schema.")
    worst = max(stages, key=lambda stage: (float(stage.run_ms().sum()), stage.key))
    where = place_of(places(run), worst.key).where
    line = line_of(site)
    where = Where(job=job["job_id"], stage=where.stage, stage_attempt=where.stage_attempt, line=line)
    at = f" at {line}" if line else ""
    reader = form if form != "load" else "format(…)"
    return Finding(
        title=f"{format_bytes(read)} were read only to guess the columns of the files",
        summary=f"Job {job['job_id']} ({site}) read the files once before the query did, {format_ms(run_ms)} of task "
        "time, because no schema was given.",
        where=where,
        evidence=(
            Evidence(
                f"the job read {format_bytes(read)} and gave nothing on: no shuffle, no output, no SQL execution",
                "tasks.input_bytes, jobs.call_site, jobs.sql_execution_id",
                read,
                "bytes",
            ),
        ),
        advice=(
            Advice(
                "code",
                f'Give the schema{at}: `spark.read.schema("id bigint, day date, …").{reader}(…)`; '
                "`df.schema` of this run shows it. "
                + ("Leave out inferSchema." if form != "json" else "`samplingRatio` reads less, and may guess wrong."),
            ),
            Advice("code", "Or store the data as Parquet once: its files know their columns."),
        ),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=round(run_ms),
        saving_basis=price.basis,
        confidence=0.8,
    )


def _not_pushed(run: Run, kept: Kept, stages: Sequence[StageTasks]) -> Finding:
    useless = useless_ms(kept, stages)
    price = priced(
        run,
        {s.key: shortened(s, ms) for s, ms in zip(stages, spread(stages, useless), strict=True)},
        "Upper bound: the time of the rows that were dropped.",
    )
    worst = max(stages, key=lambda stage: (float(stage.run_ms().sum()), stage.key))
    place = place_of(places(run), worst.key)
    text = kept.filter.plain_detail.removeprefix("Filter ")
    text = text if len(text) <= 120 else text[:119] + "…"
    return Finding(
        title=f"{place.title}: a filter on {kept.scan.table} could not be used while reading",
        summary=f"{place.sentence}: all {format_count(kept.read_rows)} rows were read, and the filter {text} kept "
        f"{format_ratio(kept.ratio)} of them afterwards.",
        where=place.where,
        evidence=(
            Evidence(
                f"{format_count(kept.kept_rows)} of {format_count(kept.read_rows)} rows were kept",
                "plan_metrics: number of output rows of the scan and of the filter",
                round(kept.ratio, 6),
                "ratio",
            ),
            Evidence("the scan has filters, none of them pushed to the files", "plan_nodes.detail: PushedFilters"),
        ),
        advice=(
            Advice(
                "code",
                f"Write the condition {text} on the bare column, without a function, cast or Python function around "
                "it: convert the value it is compared with instead.",
            ),
        ),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=round(useless),
        saving_basis=price.basis,
        confidence=0.4,
    )


RULE = Rule(
    code="E5",
    name="no-pushdown",
    since="0.1",
    reads=(Reads(TASKS, ("executor_run_time_ms", "input_bytes")), Reads(STAGES), Reads(JOBS)),
    limits=Limits(),
    check=check,
)
