"""Memory while a log is read does not grow with what is done: stages, jobs, executions and their plans."""

import json
import tempfile
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pytest

from emberscope.eventlog import accumulables, executor_metrics, read, rows, running, tasks
from emberscope.eventlog.build import Builder
from emberscope.eventlog.parts import parts_of
from tests.eventlog.logs import events, plain_text

_KINDS = {
    **dict.fromkeys(("Stage ID", "Parent IDs", "Stage IDs"), "stage"),
    **dict.fromkeys(("executionId", "spark.sql.execution.id", "rootExecutionId"), "execution"),
    **dict.fromkeys(("ID", "accumulatorId"), "accumulator"),
    "Job ID": "job",
    "Task ID": "task",
    "RDD ID": "rdd",
}
_ONCE = ("LogStart", "ApplicationStart", "ApplicationEnd", "EnvironmentUpdate", "ExecutorRemoved")


def _grown(copies: int) -> Iterator[bytes]:
    """The log of Spark 3.5 again and again, with ids that follow those before."""
    lines = [event for event in events(plain_text()) if not event["Event"].endswith(_ONCE)]
    largest: dict[str, int] = {}

    def moved(value: object, key: str, copy: int) -> object:
        if isinstance(value, dict):
            return {name: moved(inner, name, copy) for name, inner in value.items()}
        if isinstance(value, list):
            return [moved(inner, key, copy) for inner in value]
        if (kind := _KINDS.get(key)) and (isinstance(value, int) or (isinstance(value, str) and value.isdigit())):
            largest[kind] = max(int(value), largest.get(kind, 0)) if not copy else largest[kind]
            return type(value)(int(value) + copy * (largest[kind] + 1))
        return value

    for copy in range(copies):
        for event in lines:
            yield json.dumps(moved(event, "", copy), separators=(",", ":")).encode() + b"\n"


def _retained(log: Path, facts_only: bool) -> tuple[int, int]:
    """Bytes that are held when all of the log was taken in, and the stage attempts in it."""

    def file() -> BinaryIO:
        return files.enter(tempfile.TemporaryFile())

    files = _Files()
    tracemalloc.start()
    try:
        builder = Builder(facts_only=True) if facts_only else Builder(_leave, file)
        for part in parts_of(str(log))[0]:
            read._read_part(part, builder)
        return tracemalloc.get_traced_memory()[0], builder.event_counts["SparkListenerStageCompleted"]
    finally:
        tracemalloc.stop()
        files.close()


class _Files:
    def __init__(self) -> None:
        self._all: list[BinaryIO] = []

    def enter(self, file: BinaryIO) -> BinaryIO:
        self._all.append(file)
        return file

    def close(self) -> None:
        for file in self._all:
            file.close()


def _leave(name: str, part: pa.Table) -> None:
    """Tables are not kept."""


@pytest.mark.parametrize("facts_only", [True, False], ids=["facts", "all tables"])
def test_what_is_done_takes_few_bytes(facts_only: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # What waits to become a batch is soon as much as it may be.
    for module, name in (
        (rows, "AT_HAND"),
        (tasks, "BATCH_ROWS"),
        (tasks, "GROUP_ROWS"),
        (running, "_MOST_WAITING"),
        (accumulables, "_WAITING"),
        (executor_metrics, "PART_ROWS"),
    ):
        monkeypatch.setattr(module, name, 8)
    held = []
    for copies in (12, 24):
        log = tmp_path / f"{copies}.log"
        log.write_bytes(b"".join(_grown(copies)))
        held.append(_retained(log, facts_only))
    (few_bytes, few), (many_bytes, many) = held
    assert many == 2 * few > 50
    # Of a stage that failed its reason is kept, and this log has one in seven.
    assert (many_bytes - few_bytes) / (many - few) < 3000
