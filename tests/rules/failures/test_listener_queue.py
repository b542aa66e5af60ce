from __future__ import annotations

import pytest

from emberscope.rules.failures.listener_queue import RULE
from emberscope.tuning.valid import defects
from tests.rules.log_lines import run_of_log
from tests.runs import found

# AsyncEventQueue of Spark 2.3 and later; LiveListenerBus before.
DROPPED = (
    "20/05/05 05:05:05 ERROR AsyncEventQueue: Dropping event from queue {0}. This likely means one of the listeners "
    "is too "
    "slow and cannot keep up with the rate at which tasks are being started by the scheduler.\n"
    "20/05/05 05:05:05 WARN AsyncEventQueue: Dropped {1} events from {0} since the application started."
)
OLD = (
    "17/05/05 05:05:05 ERROR LiveListenerBus: Dropping SparkListenerEvent because no remaining room in event queue. "
    "This likely means one of the SparkListeners is too slow"
)


@pytest.mark.parametrize(
    ("queue", "lacks"),
    [
        ("eventLog", "The event log lacks"),
        ("appStatus", "The UI lacks"),
        ("executorManagement", "Dynamic allocation lacks"),
    ],
)
def test_says_what_the_queue_was_for(queue: str, lacks: str) -> None:
    run = run_of_log(DROPPED.format(queue, 1), spark_version="3.4.0")
    (finding,) = found(RULE, run)
    assert finding.title == f"The driver dropped 1 event from the {queue} queue: a listener could not keep up"
    assert finding.summary.startswith(lacks)
    assert finding.consequence == "blind"
    assert finding.advice[0].setting == f"spark.scheduler.listenerbus.eventqueue.{queue}.capacity"
    assert defects(finding.advice, run) == []


def test_the_room_is_for_what_was_dropped() -> None:
    (few,) = found(RULE, run_of_log(DROPPED.format("eventLog", 1)))
    (many,) = found(RULE, run_of_log(DROPPED.format("eventLog", 123_456)))
    assert (few.advice[0].value, many.advice[0].value) == ("30000", "140000")


def test_old_versions_have_one_queue() -> None:
    (finding,) = found(RULE, run_of_log(OLD, spark_version="2.1.0"))
    assert finding.advice[0].setting == "spark.scheduler.listenerbus.eventqueue.capacity"


def test_silent_on_other_lines() -> None:
    text = "24/01/01 00:00:00 INFO AsyncEventQueue: Process of event SparkListenerJobEnd took 1.2s."
    assert found(RULE, run_of_log(text)) == []
