"""Metrics of single tasks against the totals that the reader has without them."""

from collections import Counter

from emberscope.eventlog.read import read_event_log
from emberscope.eventlog.task_accumulables import read_task_accumulables
from tests.eventlog.logs import EVENTFUL, RETRIED


def test_all_updates_sum_to_the_totals() -> None:
    for path in (EVENTFUL, RETRIED):
        run = read_event_log(str(path))
        of_stage = {row["stage_id"]: row["sql_execution_id"] for row in run.tables["stages"].to_pylist()}
        sums: Counter[tuple[int, int]] = Counter()
        for row in read_task_accumulables(str(path)).to_pylist():
            execution = row["sql_execution_id"] if row["stage_id"] is None else of_stage[row["stage_id"]]
            sums[execution, row["accumulator_id"]] += row["update"]
        metrics = [row for row in run.tables["plan_metrics"].to_pylist() if row["metric_type"] != "average"]
        assert sum(row["value"] is not None for row in metrics) > 100
        for row in metrics:
            key = (row["sql_execution_id"], row["accumulator_id"])
            assert row["value"] == sums.get(key), row


def test_the_driver_has_no_stage_and_a_task_no_execution() -> None:
    rows = read_task_accumulables(str(EVENTFUL)).to_pylist()
    assert {(row["stage_id"] is None, row["sql_execution_id"] is None) for row in rows} == {
        (True, False),
        (False, True),
    }
