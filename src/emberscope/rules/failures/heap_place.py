"""Whose heap it was that an OutOfMemoryError tells of: the driver's, an executor's, or that of another program."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal

from emberscope.rules.settings import is_local
from emberscope.tables.run import once

if TYPE_CHECKING:
    from emberscope.rules.said import Said
    from emberscope.tables.run import Run

Place = Literal["driver", "executor", "local", "history", "reader", "unknown"]

_TASK: Final = re.compile(
    r"Executor task launch worker|Exception in task|Lost task|ExecutorLostFailure|CoarseGrainedExecutorBackend|"
    r"executor\.Executor|scheduler\.ShuffleMapTask|scheduler\.ResultTask|in stage \d+\.\d+ \(TID|Executor\$TaskRunner"
)
_DRIVER: Final = re.compile(
    r"dag-scheduler-event-loop|broadcast-exchange|spark-listener-group|task-result-getter|[Ee]xception in thread "
    r"\"?main|"
    r"MicroBatchExecution|stream execution thread|spark\.deploy\.SparkSubmit|Dataset\.collect|BroadcastExchangeExec|"
    r"DAGScheduler|Task serialization "
    r"failed|toPandas|collectToPython|executeCollect|executeToIterator|collectImpl|\.collect\(|ApplicationMaster|SparkContext|element-tracking-store|\bdriver-heartbeater|dispatcher-CoarseGrained"
)
_HISTORY: Final = re.compile(r"(?i)FsHistoryProvider|history[- ]?server|log-replay-executor|SPARK_DAEMON_MEMORY")
_READER: Final = re.compile(
    r"[Ee]vent ?log|large file .*(application_|app-)|ReplayListenerBus|JsonProtocol|EventLogFileReader|eventlog"
)
_LOCAL: Final = re.compile(r"[Ll]ost executor driver\b|executor driver\)|\(localhost executor driver|local\[[\d*]")


def place_of(run: Run, row: Said) -> Place:
    """Whose heap it was, by the role of the log, its thread and the words around it."""
    if row.role == "history" or _HISTORY.search(row.text):
        return "history"
    if is_reader(row):
        return "reader"
    if _is_local(run):
        return "local"
    if row.role == "executor" or _TASK.search(row.text):
        return "executor"
    if row.role in ("driver", "am") or _DRIVER.search(row.text):
        return "driver"
    if row.executor_id and row.executor_id != "driver":
        return "executor"
    lower = row.text.lower()
    if row.level is None and "driver" in lower and "executor" not in lower:
        return "driver"
    return "unknown"


def is_reader(row: Said) -> bool:
    """Whether it is a tool that reads event logs which ran out, and no Spark application."""
    return _READER.search(row.text) is not None and not _TASK.search(row.text)


@once
def _is_local(run: Run) -> bool:
    if is_local(run):
        return True
    table = run.tables.get("log_events")
    texts = table["text"].to_pylist() if table is not None else ()
    return any(text and _LOCAL.search(text) for text in texts)
