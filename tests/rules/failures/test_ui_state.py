from __future__ import annotations

import pytest

from emberscope.rules.failures.ui_state import RULE
from tests.rules.log_lines import run_of_log
from tests.runs import found

# Utils.tryOrStopSparkContext's words, and frames of SPARK-22805's and SPARK-33460's kind of reports.
LISTENER = """\
21/01/01 00:00:00 ERROR Utils: uncaught error in thread spark-listener-group-appStatus, stopping SparkContext
java.lang.OutOfMemoryError: GC overhead limit exceeded
\tat org.apache.spark.status.ElementTrackingStore.write(ElementTrackingStore.scala:123)"""
FRAMES = """\
21/01/01 00:00:00 ERROR AsyncEventQueue: Listener threw
java.lang.OutOfMemoryError: Java heap space
\tat org.apache.spark.sql.execution.ui.SQLAppStatusListener.onExecutionStart(SQLAppStatusListener.scala:317)"""
STREAM = """\
21/01/01 00:00:00 ERROR MicroBatchExecution: Query q [id = 1, runId = 2] terminated with error
java.lang.OutOfMemoryError: GC overhead limit exceeded"""


@pytest.mark.parametrize("text", [LISTENER, FRAMES, STREAM])
def test_the_ui_keeps_too_much(text: str) -> None:
    (finding,) = found(RULE, run_of_log(text))
    assert finding.consequence == "ended"
    assert {advice.setting for advice in finding.advice} >= {
        "spark.sql.ui.retainedExecutions",
        "spark.ui.retainedTasks",
    }


def test_a_stream_alone_is_less_sure() -> None:
    (sure,), (unsure,) = found(RULE, run_of_log(LISTENER)), found(RULE, run_of_log(STREAM))
    assert sure.confidence > unsure.confidence


def test_silent_on_the_heap_of_an_executor() -> None:
    text = """\
21/01/01 00:00:00 ERROR Executor: Exception in task 0.0 in stage 1.0 (TID 5)
java.lang.OutOfMemoryError: Java heap space
\tat java.util.Arrays.copyOf(Arrays.java:3332)
\tat org.apache.spark.util.collection.AppendOnlyMap.growTable(AppendOnlyMap.scala:218)"""
    assert found(RULE, run_of_log(text)) == []
