from __future__ import annotations

from dataclasses import replace

from emberscope.rules.evaluate import evaluate
from emberscope.rules.executors.event_loss import RULE
from emberscope.tables.coverage import Coverage, Note
from emberscope.tables.run import Run
from tests.rules.fault_logs import fault_log
from tests.runs import found, run_of, spark_wrote, stage, task


def lossy(events: int, seen: int, *more: Note, conf: dict[str, str] | None = None) -> Run:
    notes = (Note("dropped_events", "Some are missing.", "", {"events": events}), *more)
    tasks = [task(0, 100 * n, 100, task_id=n) for n in range(200)]
    run = run_of(conf=conf, coverage=Coverage(notes), tasks=tasks, stages=[stage(0, 0, 20_000)])
    return replace(run, application=replace(run.application, event_counts={"SparkListenerTaskEnd": seen}))


def advised(run: Run) -> dict[str, str | None]:
    (finding,) = found(RULE, run)
    return {a.setting: a.value for a in finding.advice if a.setting}


def test_finds_what_a_short_queue_dropped_in_real_spark() -> None:
    run = fault_log("listener_overload")
    (finding,) = found(RULE, run)
    assert finding.consequence == "blind"
    assert "are missing from the log" in finding.title
    assert advised(run) == {"spark.scheduler.listenerbus.eventqueue.capacity": "20000"}
    ranked = next(item for item in evaluate(run).findings if item.rule is RULE)
    assert ranked.severity == "medium"
    assert ranked.finding.wasted_wall_ms is None


def test_silent_on_whole_logs() -> None:
    assert found(RULE, spark_wrote("none")) == []


def test_a_few_of_many_events_are_a_hint() -> None:
    (finding,) = found(RULE, lossy(2, 10_000))
    assert finding.consequence == "hint"


def test_the_queue_gets_room_for_the_busiest_seconds() -> None:
    key = "spark.scheduler.listenerbus.eventqueue.capacity"
    assert advised(lossy(500, 1_000)) == {key: "20000"}
    assert advised(lossy(500, 1_000, conf={key: "35000"})) == {key: "70000"}
    own = {"spark.scheduler.listenerbus.eventqueue.eventLog.capacity": "10"}
    (finding,) = found(RULE, lossy(500, 1_000, conf=own))
    assert [a.kind for a in finding.advice if a.setting in own] == ["unset"]


def test_a_damaged_log_is_less_sure_to_have_been_dropped_by_the_driver() -> None:
    (finding,) = found(RULE, lossy(500, 1_000, Note("cut", "The last line is cut.", "", {"lines": 1})))
    assert finding.confidence < 0.9
    assert finding.advice[0].text.startswith("Fetch the log again")


def test_what_a_recorder_lost_is_not_the_event_logs() -> None:
    note = Note("dropped_events", "The recorder could not keep everything.", "executor 1", {"events": 500})
    run = run_of(coverage=Coverage((note,)), tasks=[task(0, 0, 1_000)], stages=[stage(0, 0, 1_000)])
    assert found(RULE, run) == []
