"""What each task added to the metrics of plans: a reading of its own, for those who ask for more than totals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec
import numpy as np
import pyarrow as pa

from emberscope.eventlog.codecs import PLAIN, decompress
from emberscope.eventlog.events import ABSENT, SqlDriverUpdates, decode
from emberscope.eventlog.lines import blocks, stream_of
from emberscope.eventlog.parts import parts_of
from emberscope.eventlog.sql_retries import UpdatingTaskEnd
from emberscope.tables.task_accumulables import TASK_ACCUMULABLES

_TASK_END: Final = b'"SparkListenerTaskEnd"'
_DRIVER: Final = b'SparkListenerDriverAccumUpdates"'
_HEAD_BYTES: Final = 100
_ROWS: Final = 100_000
_COLUMNS: Final = [column.name for column in TASK_ACCUMULABLES.columns]

Row = tuple[int, ...]


def read_task_accumulables(path: str) -> pa.Table:
    """The table `task_accumulables` of the event log at `path`.

    Costs several times what `read_event_log` does where operators are many. Malformed lines are left out: that reading
    counts them. Raises `InputError` as it does.
    """
    pieces: list[pa.Table] = []
    rows: list[Row] = []
    for row in _rows(path):
        rows.append(row)
        if len(rows) == _ROWS:
            pieces.append(_table(rows))
            rows = []
    return pa.concat_tables([*pieces, _table(rows)])


def _rows(path: str) -> Iterator[Row]:
    task_decoder = msgspec.json.Decoder(UpdatingTaskEnd)
    driver_decoder = msgspec.json.Decoder(SqlDriverUpdates)
    for line in _lines(path):
        head = line[:_HEAD_BYTES]
        try:
            if _TASK_END in head:
                task: UpdatingTaskEnd = decode(task_decoder, line)
                ids = (task.stage_id, task.stage_attempt, task.info.task_id, task.info.task_index, task.succeeded)
                for accumulator_id, update in task.updates():
                    yield *ids, ABSENT, accumulator_id, update
            elif _DRIVER in head:
                driver: SqlDriverUpdates = decode(driver_decoder, line)
                for accumulator_id, update in driver.updates:
                    yield *(ABSENT,) * 5, driver.execution_id, accumulator_id, update
        except msgspec.MsgspecError:
            continue


def _lines(path: str) -> Iterator[bytes]:
    parts, _ = parts_of(path)
    for part in parts:
        with open(part.path, "rb") as stream:
            text = stream if part.codec == PLAIN else stream_of(decompress(stream, part.codec, []))
            for block in blocks(text):
                yield from block.lines()


def _table(rows: list[Row]) -> pa.Table:
    block = np.array(rows, dtype=np.int64).reshape(-1, len(_COLUMNS))
    columns = {name: pa.array(block[:, at], mask=block[:, at] == ABSENT) for at, name in enumerate(_COLUMNS)}
    columns["succeeded"] = columns["succeeded"].cast(pa.bool_())
    return TASK_ACCUMULABLES.from_columns(columns)
