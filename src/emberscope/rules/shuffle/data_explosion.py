"""A stage wrote several times the data that it read into the next shuffle.

## What it means
What a stage writes for a shuffle is usually less than what it reads: filters, projections and partial aggregations come
first. Here it wrote more than three times as much. Either rows were multiplied (explode, a join whose keys are not
unique, `Expand` for several distinct counts), or each row became wider (columns that were computed early, or that lay
well compressed in columnar files).

## What it costs
A lower bound: the share of the stage's own shuffle write time that belongs to the bytes above three times the input,
replayed. The stages after it have to read, sort and perhaps spill these bytes too; that is not counted.

## What to do
Join and explode later, after filters and aggregations; aggregate before the join. Check that join keys are unique on
one side. Select only the columns that are used afterwards, and compute wide columns after the shuffle.

## When to ignore it
When the growth is the purpose of the job, or when the input is highly compressed and few bytes are written. Where one
operator of the plan multiplies the rows, the rule about that operator names it, and this finding is listed under it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule
from emberscope.rules.long_stages import long_stages, ratios, shortened
from emberscope.rules.places import Place, place_of, places
from emberscope.rules.price import priced
from emberscope.simulate.stage_figures import StageFigures, stage_figures
from emberscope.tables.jobs import JOBS
from emberscope.tables.run import Run
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import format_bytes, format_count

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MULTIPLY = ("Generate", "Expand", "SortMergeJoin", "ShuffledHashJoin", "BroadcastHashJoin")
_JOINS = ("BroadcastNestedLoopJoin", "CartesianProduct")


class Limits(Struct, frozen=True):
    """spark-advisor reports more than 3 times the input. The floors are our proposal."""

    times: float = 3.0  # shuffle bytes written over bytes read (spark-advisor)
    floor_bytes: int = 1_000_000_000  # written by the stage
    floor_ms: int = 10_000  # shuffle write time of the bytes above 3 times the input, of all its tasks
    rows: float = 3.0  # rows written over rows read: rows were multiplied, else they became wider


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    figures = stage_figures(run)
    if figures is None:
        return
    known = places(run)
    for index in np.flatnonzero(exploded(run, figures, limits)).tolist():
        stage = figures.stages[index]
        place = place_of(known, stage.key)
        read, written = float(stage.read_bytes().sum()), float(stage.amounts("shuffle_write_bytes").sum())
        rows_in, rows_out = float(stage.read_records().sum()), float(stage.amounts("shuffle_write_records").sum())
        excess = 1 - limits.times * read / written
        write_ms = np.minimum(stage.amounts("shuffle_write_time_ns") * 1e-6 * excess, stage.run_ms())
        if write_ms.sum() < limits.floor_ms:
            continue
        price = priced(
            run,
            {stage.key: shortened(stage, write_ms)},
            f"Lower bound: the shuffle write time of the bytes above {limits.times:g} times the input.",
        )
        multiplied = rows_in > 0 and rows_out > limits.rows * rows_in
        how = f"{rows_out / rows_in:.1f} rows left for each that came" if multiplied else "its rows became wider"
        yield Finding(
            title=f"{place.title} turned {format_bytes(read)} into {format_bytes(written)} of shuffle data",
            summary=f"{place.sentence}: {written / read:.1f} times the bytes that it read went into the next shuffle; "
            f"{how}.",
            where=place.where,
            evidence=(
                Evidence(
                    f"read {format_bytes(read)}, wrote {format_bytes(written)}",
                    "tasks.shuffle_write_bytes / (input_bytes + shuffle read)",
                    round(written / read, 2),
                    "ratio",
                ),
                Evidence(
                    f"read {format_count(rows_in)} rows, wrote {format_count(rows_out)}",
                    "tasks.shuffle_write_records, tasks.input_records + shuffle_read_records",
                    rows_out,
                    "rows",
                ),
            ),
            advice=tuple(_advice(place, multiplied=multiplied)),
            wasted_wall_ms=price.wall_ms,
            wasted_core_ms=round(float(write_ms.sum())),
            saving_basis=price.basis,
            confidence=0.5,
        )


def exploded(run: Run, figures: StageFigures, limits: Limits) -> NDArray[np.bool_]:
    """By stage attempt, whether it wrote so much more than it read."""
    read = sum(figures.total(name) for name in ("input_bytes", "shuffle_read_local_bytes", "shuffle_read_remote_bytes"))
    written = figures.total("shuffle_write_bytes")
    mask: NDArray[np.bool_] = (ratios(written, np.asarray(read)) >= limits.times) & (written >= limits.floor_bytes)
    return mask & long_stages(run, figures)


def _advice(place: Place, *, multiplied: bool) -> Iterator[Advice]:
    operator = place.operator((*_JOINS, *_MULTIPLY)) if multiplied else None
    if operator is not None:
        keys = f" by {operator.keys}" if operator.keys else ""
        yield Advice(
            "code",
            f"Look at {operator.name}{keys}: it stands where rows were multiplied. Filter and aggregate before it, and "
            "check that its keys are unique on one side.",
        )
    elif multiplied:
        yield Advice("code", "Filter and aggregate before the step that makes several rows of one.")
    else:
        yield Advice(
            "code",
            "Select only the columns that are used after the shuffle, and compute wide columns (texts, arrays, "
            "structs) after it.",
        )


RULE = Rule(
    code="D4",
    name="data-explosion",
    since="0.1",
    reads=(Reads(TASKS, ("shuffle_write_bytes", "executor_run_time_ms")), Reads(STAGES), Reads(JOBS)),
    limits=Limits(),
    check=check,
)
