"""A streaming query falls behind, keeps ever more state, lets rows come too late, or runs batches without rows.

## What it means
A streaming query works in small batches, one after the other. It is in trouble when a batch takes longer than the time
in which its rows came: then each batch is larger than the one before, and results are ever older. When it keeps rows of
state that nothing ever removes: then memory and checkpoints grow until a batch fails. When its watermark, the time up
to which events are taken to be complete, hardly moves, or many rows come after it and are dropped. Or when most of its
batches hold no rows at all.

## What it costs
A stream does not end earlier, so there is no saving of wall time. A query that falls behind costs freshness: the delay
grows as long as the input stays as it is. Rows that come too late are missing in the result. Batches without rows cost
the core time of their tasks.

## What to do
Falling behind: see in the evidence which part of the batch takes its time. Where it is running the batch, give the
query more cores or less to do for each row; where it is the checkpoint, put that on faster storage. State: give it an
end, by a watermark on the event time with a grouping by time windows, or by a timeout. Rows too late: a longer delay in
withWatermark. Batches without rows: a longer trigger.

## When to ignore it
While a query catches up after its start or a stop: its first batches are large, and later ones shrink. State that stops
growing once every key has been seen is no trouble either. A source with a limit for each batch hides how far behind it
is; the lag of the topic shows it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule
from emberscope.rules.streaming.batches import PHASES, Batches, batches
from emberscope.rules.streaming.empty_batches import empty
from emberscope.rules.streaming.event_time import late, state, watermark
from emberscope.rules.streaming.finding import finding
from emberscope.simulate.cores import core_steps
from emberscope.tables.streaming_batches import STREAMING_BATCHES
from emberscope.tables.streaming_queries import STREAMING_QUERIES
from emberscope.units import format_count, format_ms, format_ratio

if TYPE_CHECKING:
    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """Sources: Spark's guide for structured streaming says that the processing rate must keep up with the input rate,
    and that state without a watermark grows without end. All numbers are our proposal."""

    least_batches: int = 6  # fewer say nothing of a trend
    behind: float = 1.05  # time of the batches over the time in which their rows came
    grown: float = 1.3  # the last batches over the first ones
    least_batch_ms: int = 1_000  # shorter batches are mostly start-up
    busy: float = 0.9  # share of the time in which a batch ran: else it was waiting for its trigger
    state_grown: float = 1.5  # state rows of the last batches over those of the first
    state_bytes: int = 64 << 20  # state that is smaller troubles nobody
    state_rows: int = 1_000_000  # the same where its memory is not known
    watermark_ms: int = 600_000  # how far the watermark may stay behind
    late_ratio: float = 0.01  # rows that came too late over all rows
    late_rows: int = 1_000
    empty_batches: int = 20
    empty_ratio: float = 0.5
    empty_ms: int = 10_000


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    for query in batches(run):
        if len(query) < limits.least_batches:
            continue
        yield from _behind(run, query, limits)
        yield from state(query, limits)
        yield from watermark(query, limits)
        yield from late(query, limits)
        yield from empty(run, query, limits)


def _behind(run: Run, query: Batches, limits: Limits) -> Iterator[Finding]:
    """A batch takes longer than the time since the batch before it began, which is when its rows came."""
    started, duration, rows = (query.numbers(name) for name in ("started_ms", "duration_ms", "input_rows"))
    came = np.concatenate(([np.nan], np.diff(started)))
    last = slice(max(1, len(query) - max(limits.least_batches - 1, len(query) // 2)), None)
    came, took, rows = came[last], duration[last], rows[last]
    came_ms, took_ms = float(came.sum()), float(took.sum())
    if came_ms <= 0 or took_ms <= 0 or np.nan_to_num(rows).sum() <= 0 or took.mean() < limits.least_batch_ms:
        return
    third = max(1, len(took) // 3)
    ratio, grown = took_ms / came_ms, float(took[-third:].mean() / max(1.0, took[:third].mean()))
    span_ms = float(started[-1] + duration[-1] - started[last][0])
    if ratio < limits.behind or grown < limits.grown or took_ms < limits.busy * span_ms:
        return
    if not np.all(took[-2:] >= limits.behind * came[-2:]):
        return  # one large batch that the next ones make up for
    row_count = float(np.nansum(rows))
    phase, phase_ms = max(((name, query.total(name)) for name in PHASES), key=lambda one: one[1])
    evidence = [
        Evidence(
            f"the last {len(took)} batches took {format_ms(took_ms)} for rows that came in {format_ms(came_ms)}",
            "streaming_batches.started_ms, duration_ms",
            round(ratio, 3),
            "ratio",
        ),
        Evidence(
            f"{format_count(1000 * row_count / came_ms)} rows came in a second, "
            f"{format_count(1000 * row_count / took_ms)} were worked off",
            "streaming_batches.input_rows",
            round(1000 * row_count / took_ms, 1),
            "rows/s",
        ),
        Evidence(
            f"a batch grew from {format_ms(float(took[0]))} to {format_ms(float(took[-1]))}",
            "streaming_batches.duration_ms",
            round(grown, 2),
            "ratio",
        ),
        Evidence(
            f"{format_ratio(phase_ms / max(1.0, query.total('duration_ms')))} of the time went to {PHASES[phase]}",
            f"streaming_batches.{phase}",
            round(phase_ms),
            "ms",
        ),
    ]
    yield finding(
        f"Streaming query {query.name} falls behind by {format_ratio(ratio - 1)} with each batch",
        f"Streaming query {query.name}: a batch takes {ratio:.2f} times as long as its rows took to come, so each "
        "batch is larger than the one before and its results are ever older.",
        evidence,
        tuple(_faster(run, phase, ratio, 1000 * row_count / took_ms, float(took[0]))),
        consequence="risk",
        confidence=0.8,
    )


def _faster(run: Run, phase: str, ratio: float, rows_per_s: float, batch_ms: float) -> Iterator[Advice]:
    changes = core_steps(run)
    cores = int(changes[1].max()) if changes is not None and len(changes[1]) else 0
    if phase == "add_batch_ms":
        if cores:
            yield Advice(
                "cluster",
                f"The same work needs about {math.ceil(1.2 * ratio * cores)} cores to keep up with a fifth to spare; "
                f"there were {cores}.",
            )
        yield Advice(
            "code",
            f"Until then, bound the batches so that none fails for its size: about "
            f"{format_count(max(1, rows_per_s * batch_ms / 1000))} rows each (`maxOffsetsPerTrigger` of a Kafka "
            "source, `maxFilesPerTrigger` of files). This bounds memory, it does not catch up.",
        )
    elif phase in ("wal_commit_ms", "commit_offsets_ms"):
        yield Advice("check", "Put the checkpoint location on storage with fast small writes: each batch waits for it.")
    else:
        yield Advice("check", f"Most of a batch goes to {PHASES[phase]}: look at the source and its number of files.")


RULE = Rule(
    code="H7",
    name="streaming-query",
    since="0.1",
    reads=(Reads(STREAMING_QUERIES), Reads(STREAMING_BATCHES)),
    limits=Limits(),
    check=check,
)
