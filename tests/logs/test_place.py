from __future__ import annotations

import pytest

from emberscope.logs.place import executor_about


@pytest.mark.parametrize(
    ("message", "executor"),
    [
        # Spark 3, TaskSetManager; github.com/koordinator-sh/koordinator/issues/1004
        ("Lost task 12057.0 in stage 372.0 (TID 178902) (172.16.0.127 executor 4): java.io.IOException", "4"),
        # Spark 2, YarnSchedulerEndpoint; github.com/mozilla/telemetry-airflow/pull/1972
        ("Requesting driver to remove executor 1 for reason Container killed by YARN", "1"),
        ("Lost task 0.0 in stage 1.0 (TID 5, localhost, executor driver): ExecutorLostFailure", None),
    ],
)
def test_the_executor_that_a_message_is_about(message: str, executor: str | None) -> None:
    assert executor_about(message) == executor
