from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from emberscope.eventlog.read import read_event_log
from emberscope.rules.evaluate import evaluate
from emberscope.rules.streaming.batches import batches
from emberscope.rules.streaming.streaming_query import RULE
from emberscope.tables.run import Run
from tests.runs import FINDINGS, executor, found, job, run_of, spark_wrote, stage, task


def batch(number: int, started_ms: float, duration_ms: float, **more: Any) -> dict[str, Any]:
    """One executed batch of the query `counts`."""
    return {
        "query_id": "q",
        "run_id": "r",
        "name": "counts",
        "batch_id": number,
        "started_ms": round(started_ms),
        "duration_ms": round(duration_ms),
        "add_batch_ms": round(0.8 * duration_ms),
        "wal_commit_ms": round(0.1 * duration_ms),
        "input_rows": 1_000,
        **more,
    }


def back_to_back(durations_ms: Sequence[float], **more: Any) -> list[dict[str, Any]]:
    """Batches of which each begins where the one before ends."""
    rows, clock = [], 0.0
    for number, duration_ms in enumerate(durations_ms):
        rows.append(batch(number, clock, duration_ms, **more))
        clock += duration_ms
    return rows


def stream(rows: Sequence[dict[str, Any]], **more: Any) -> Run:
    return run_of(600_000, streaming_batches=rows, streaming_queries=[{"query_id": "q", "run_id": "r"}], **more)


def test_a_log_of_a_stream_that_falls_behind_and_of_one_that_ends_early() -> None:
    (finding,) = found(RULE, spark_wrote("stream_behind"))
    assert finding.title.startswith("Streaming query “counts” falls behind by ")
    assert finding.wasted_wall_ms is None
    assert any("there were 2" in advice.text for advice in finding.advice)
    (ranked,) = evaluate(spark_wrote("stream_behind"), [RULE]).findings
    assert ranked.severity == "low"
    eventful = read_event_log(str(FINDINGS.parent / "eventlog" / "spark-4.3-eventful.zstd"))
    assert len(batches(eventful)[0]) == 2
    assert found(RULE, eventful) == []


def test_each_batch_that_takes_longer_than_its_rows_took_to_come_falls_behind() -> None:
    growing = [4_000 * 1.2**number for number in range(8)]
    (finding,) = found(RULE, stream(back_to_back(growing), executors=[executor("1", 4), executor("2", 4)]))
    assert "falls behind by 20.0 % with each batch" in finding.title
    assert "1.20 times as long" in finding.summary
    assert "about 12 cores" in finding.advice[0].text  # 8 cores, 1.2 times the work, a fifth to spare
    assert "80.0 % of the time went to running the batch" in finding.evidence[3].text


@pytest.mark.parametrize(
    "durations_ms",
    [
        [4_000.0] * 8,
        [4_000 * 0.8**number for number in range(8)],  # it catches up
        [4_000 * 1.2**number for number in range(5)],  # too few to tell
        [100 * 1.1**number for number in range(8)],  # start-up of tiny batches
        [1_000.0] * 6 + [60_000.0, 5_000.0],  # a burst of rows that is worked off
    ],
)
def test_a_stream_that_keeps_up_or_catches_up_is_silent(durations_ms: list[float]) -> None:
    assert found(RULE, stream(back_to_back(durations_ms))) == []


def test_batches_that_wait_for_their_trigger_are_not_behind_however_they_grow() -> None:
    rows = [batch(number, 60_000 * number, 2_000 * 1.3**number) for number in range(8)]
    assert found(RULE, stream(rows)) == []


def test_where_the_checkpoint_takes_the_time_it_is_named() -> None:
    growing = [4_000 * 1.2**number for number in range(8)]
    rows = [
        {**row, "add_batch_ms": 10, "wal_commit_ms": round(0.9 * row["duration_ms"])} for row in back_to_back(growing)
    ]
    (finding,) = found(RULE, stream(rows))
    assert "checkpoint" in finding.advice[0].text
    assert "writing the offsets to the checkpoint" in finding.evidence[3].text


def with_state(rows: Sequence[int], **more: Any) -> Run:
    even = back_to_back([5_000.0] * len(rows), state_rows_removed=0)
    return stream(
        [{**row, "state_rows": n, "state_memory_bytes": 100 * n, **more} for row, n in zip(even, rows, strict=True)]
    )


def test_state_that_only_grows_is_told_and_state_that_is_removed_or_settles_is_not() -> None:
    (finding,) = found(RULE, with_state([300_000 * n for n in range(1, 11)]))
    assert finding.title == "The state of streaming query “counts” only grows"
    assert "withWatermark" in finding.advice[0].text
    assert finding.consequence == "risk"
    assert found(RULE, with_state([300_000 * n for n in range(1, 11)], state_rows_removed=100_000)) == []
    assert found(RULE, with_state([3_000_000] * 10)) == []
    assert found(RULE, with_state([30 * n for n in range(1, 11)])) == []


def test_a_watermark_that_stands_still_is_told_and_one_that_follows_is_not() -> None:
    base = back_to_back([60_000.0] * 30)
    still = [{**row, "watermark_ms": 1_700_000_000_000} for row in base]
    follows = [{**row, "watermark_ms": 1_700_000_000_000 + row["started_ms"] - 900_000} for row in base]
    none = [{**row, "watermark_ms": 0} for row in base]
    titles = [[one.title for one in found(RULE, stream(rows))] for rows in (still, follows, none)]
    assert titles[0] == ["The watermark of streaming query “counts” stands 29 min 00 s back and hardly moves"]
    assert titles[1:] == [[], []]


def test_rows_that_came_too_late_are_lost_work() -> None:
    (finding,) = found(RULE, stream(back_to_back([5_000.0] * 10, rows_dropped_by_watermark=200)))
    assert finding.title == "Streaming query “counts” dropped 2,000 rows that came too late"
    assert finding.consequence == "lost"
    assert found(RULE, stream(back_to_back([5_000.0] * 10, rows_dropped_by_watermark=2))) == []


def test_batches_without_rows_cost_what_their_tasks_ran() -> None:
    rows = [
        {**row, "input_rows": 0 if row["batch_id"] % 4 else 50, "state_rows": 5} for row in back_to_back([1_000.0] * 24)
    ]
    run = stream(
        rows,
        jobs=[
            job(n, 1_000 * n, 1_000 * n + 900, stage_ids=[n], streaming_query_id="q", streaming_batch_id=n)
            for n in range(24)
        ],
        stages=[stage(n, 1_000 * n, 1_000 * n + 900, job_id=n) for n in range(24)],
        tasks=[task(n, 1_000 * n, 500, task_id=n) for n in range(24)],
    )
    (finding,) = found(RULE, run)
    assert finding.title == "75.0 % of the batches of streaming query “counts” had no rows"
    assert finding.wasted_core_ms == 18 * 500
    assert [advice.setting for advice in finding.advice] == [None, "spark.sql.streaming.noDataMicroBatches.enabled"]
    assert found(RULE, stream([{**row, "input_rows": 50} for row in rows])) == []


def test_a_trigger_that_found_no_data_is_no_batch() -> None:
    rows = [{**row, "input_rows": 0, "add_batch_ms": None} for row in back_to_back([1_000.0] * 40)]
    assert batches(stream(rows)) == ()
    assert found(RULE, stream(rows)) == []


def test_two_runs_of_a_query_are_told_apart() -> None:
    growing = back_to_back([4_000 * 1.2**number for number in range(8)])
    other = [{**row, "run_id": "s", "name": None} for row in back_to_back([4_000.0] * 8)]
    (finding,) = found(RULE, stream([*other, *growing]))
    assert "“counts”" in finding.title


def test_missing_values_invent_nothing() -> None:
    for name in ("input_rows", "started_ms", "duration_ms", "run_id", "state_rows", "watermark_ms"):
        rows = [{**row, name: None} for row in back_to_back([4_000 * 1.2**number for number in range(8)], state_rows=1)]
        assert len(found(RULE, stream(rows))) <= 1
    backwards = [{**row, "started_ms": -row["started_ms"]} for row in back_to_back([4_000.0] * 8)]
    assert found(RULE, stream(backwards)) == []
    empty = stream([])
    assert found(RULE, replace(empty, tables={**empty.tables})) == []
