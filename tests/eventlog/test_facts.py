"""The facts of `summary --json`, once more by the standard library's own JSON."""

import io
import json
from pathlib import Path

import pytest

from emberscope.eventlog.columns import FACTS_COLUMNS
from emberscope.eventlog.facts import facts
from emberscope.eventlog.read import read_event_log, read_facts, read_into
from tests.eventlog.logs import PACKED, ROLLED, events, plain_text, rolled_text


@pytest.mark.parametrize(("path", "text"), [(ROLLED, rolled_text()), (PACKED, plain_text())], ids=["rolled", "plain"])
def test_facts_are_those_of_the_log(path: Path, text: bytes) -> None:
    got = json.loads(json.dumps(facts(read_event_log(str(path)))))
    log = list(events(text))

    def of(name: str) -> list[dict]:
        return [event for event in log if event["Event"].rpartition(".")[2] == name]

    ends = of("SparkListenerTaskEnd")
    completed = of("SparkListenerStageCompleted")
    assert got["jobs"] == len(of("SparkListenerJobStart"))
    assert got["jobs_failed"] == sum(e["Job Result"]["Result"] != "JobSucceeded" for e in of("SparkListenerJobEnd"))
    assert got["stage_attempts"] == len(of("SparkListenerStageSubmitted"))
    assert got["stage_attempts_failed"] == sum("Failure Reason" in e["Stage Info"] for e in completed) > 0
    assert got["stage_attempts_completed"] == len(completed) - got["stage_attempts_failed"]
    assert got["stages_distinct"] == len({e["Stage Info"]["Stage ID"] for e in completed})
    assert got["sql_executions"] == got["sql_executions_ended"] == len(of("SparkListenerSQLExecutionEnd"))
    assert got["executors_added_distinct"] == 2
    assert got["executors_removed_events"] == 0
    assert got["tasks"]["total"] == got["tasks"]["with_metrics"] == len(ends)
    assert got["tasks"]["failed"] == sum(e["Task End Reason"]["Reason"] != "Success" for e in ends)
    totals = got["totals"]
    assert totals["executor_cpu_time_ns"] == sum(e["Task Metrics"]["Executor CPU Time"] for e in ends)
    assert totals["input_bytes"] == sum(e["Task Metrics"]["Input Metrics"]["Bytes Read"] for e in ends)
    assert totals["shuffle_write_records"] == sum(
        e["Task Metrics"]["Shuffle Write Metrics"]["Shuffle Records Written"] for e in ends
    )
    assert len(totals) == 17
    assert got["duration_ms"] == got["app_end_ms"] - got["app_start_ms"]


def test_a_field_that_no_event_carries_is_null(tmp_path: Path) -> None:
    old = plain_text().replace(b'"Executor CPU Time"', b'"x"').replace(b'"JVMHeapMemory"', b'"y"')
    (tmp_path / "log").write_bytes(old)
    got = facts(read_event_log(str(tmp_path / "log")))
    assert got["totals"]["executor_cpu_time_ns"] is None
    assert got["totals"]["executor_run_time_ms"] > 0
    assert got["peak_jvm_heap_bytes"] is None


def test_a_peak_that_was_never_polled_is_zero(tmp_path: Path) -> None:
    lines = [line for line in plain_text().splitlines(keepends=True) if b"ExecutorMetrics" not in line[:60]]
    (tmp_path / "log").write_bytes(b"".join(lines).replace(b'"JVMHeapMemory":', b'"JVMHeapMemory":0,"y":'))
    run = read_event_log(str(tmp_path / "log"))
    assert facts(run)["peak_jvm_heap_bytes"] == 0
    assert run.tables["executors"]["peak_jvm_heap_bytes"].to_pylist() == [None, None]


@pytest.mark.parametrize("log", [PACKED, ROLLED], ids=["3.5", "4.3"])
def test_the_facts_need_no_tables_of_tasks_and_plans(log: Path) -> None:
    whole, brief = read_event_log(str(log)), read_facts(str(log))
    passed: set[str] = set()
    streamed = read_into(str(log), lambda name, table: passed.add(name), io.BytesIO)
    assert facts(streamed) == facts(whole)
    # Plans are not looked at for the facts, nor are secrets in them.
    for run in (brief, whole):
        assert {note.code for note in run.coverage.notes} == {"redacted"}
    assert facts(brief) | {"coverage": None} == facts(whole) | {"coverage": None}
    assert set(brief.tables) == set(streamed.tables) == {*FACTS_COLUMNS, "running_tasks"}
    assert passed == set(whole.tables)
