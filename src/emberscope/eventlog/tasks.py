"""TaskEnd lines to the columns of table `tasks`: where nearly all bytes of an event log go."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np
import pyarrow as pa
from msgspec.structs import astuple, fields

from emberscope.eventlog.events import (
    ABSENT,
    InputMetrics,
    OutputMetrics,
    PeakMetrics,
    ShuffleReadMetrics,
    ShuffleWriteMetrics,
    TaskEnd,
    TaskInfo,
    TaskMetrics,
    decode,
)
from emberscope.eventlog.sql_retries import is_repeated
from emberscope.redact import Redactor, shorten
from emberscope.tables.tasks import TASKS

if TYPE_CHECKING:
    from numpy.typing import NDArray

_INFO_INTEGERS: Final = 8
_METRIC_INTEGERS: Final = 10
_TEXTS: Final = ("executor_id", "host", "locality", "reason")
_NO_METRICS: Final = TaskMetrics()


def _names(record: type[msgspec.Struct], count: int | None = None) -> list[str]:
    return [f.name for f in fields(record)][:count]


_INTEGERS: Final = [
    "stage_id",
    "stage_attempt",
    *_names(TaskInfo, _INFO_INTEGERS),
    *_names(TaskMetrics, _METRIC_INTEGERS),
    *_names(InputMetrics),
    *_names(OutputMetrics),
    *_names(ShuffleReadMetrics),
    *_names(ShuffleWriteMetrics),
    *_names(PeakMetrics),
    "has_metrics",
]
_COLUMNS: Final = [*_INTEGERS, *_TEXTS]
_AT: Final = {name: position for position, name in enumerate(_COLUMNS)}


class _Codes(dict[str | None, int]):
    """A code for every distinct text; None is -1."""

    def __init__(self) -> None:
        super().__init__({None: -1})

    def __missing__(self, text: str | None) -> int:
        code = self[text] = len(self) - 1
        return code

    def texts(self) -> list[str]:
        return [text for text in self if text is not None]


class TaskColumns:
    """Collects TaskEnd lines block by block and gives the table at the end.

    `ended` is told the ids of each block, `repeated` the lines of all tasks that may have more than one attempt.
    """

    def __init__(
        self, redactor: Redactor, ended: Callable[[Iterable[int]], None], repeated: Callable[[bytes], None]
    ) -> None:
        self.count = 0
        self.last_ms = ABSENT
        self._redactor = redactor
        self._ended = ended
        self._repeated = repeated
        self._decoder: msgspec.json.Decoder[TaskEnd] = msgspec.json.Decoder(TaskEnd)
        self._codes = {name: _Codes() for name in _TEXTS}
        self._blocks: list[NDArray[np.int64]] = []
        self._failures: dict[int, tuple[str | None, str | None]] = {}

    def add(self, lines: Sequence[bytes]) -> list[bytes]:
        """Takes these lines in; gives back those that are malformed."""
        executors, hosts, localities, reasons = self._codes.values()
        decoder = self._decoder.decode
        malformed: list[bytes] = []
        rows: list[tuple[int, ...]] = []
        for line in lines:
            try:
                task = decoder(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                try:
                    task = decode(self._decoder, line)
                except msgspec.MsgspecError:
                    malformed.append(line)
                    continue
            end, info, stage_id, stage_attempt, metrics, peaks = astuple(task)
            info = astuple(info)
            m = astuple(metrics or _NO_METRICS)
            row = (
                stage_id,
                stage_attempt,
                *info[:_INFO_INTEGERS],
                *m[:_METRIC_INTEGERS],
                *astuple(m[10]),
                *astuple(m[11]),
                *astuple(m[12]),
                *astuple(m[13]),
                peaks.peak_jvm_heap_bytes,
                metrics is not None,
                executors[info[8]],
                hosts[info[9]],
                localities[info[10]],
                reasons[end.reason],
            )
            if is_repeated(stage_attempt, info[2], end.reason == "Success"):
                self._repeated(line)
            if end.reason != "Success":
                message = end.description or end.loss_reason or end.kill_reason or end.message
                self._failures[self.count + len(rows)] = (end.class_name, self._redactor.text(shorten(message)))
            rows.append(row)
        if rows:
            block = np.ascontiguousarray(np.array(rows, dtype=np.int64).T)
            self.count += len(rows)
            self.last_ms = max(self.last_ms, int(block[_AT["finish_ms"]].max()))
            self._blocks.append(block)
            self._ended(block[_AT["task_id"]].tolist())
        return malformed

    def peak_heap_by_executor(self) -> dict[str, int]:
        """Largest heap in use per executor; executors that no task shows it of are left out."""
        executors = self._codes["executor_id"].texts()
        peaks = np.full(len(executors), ABSENT, dtype=np.int64)
        for block in self._blocks:
            codes = block[_AT["executor_id"]]
            known = codes >= 0
            np.maximum.at(peaks, codes[known], block[_AT["peak_jvm_heap_bytes"]][known])
        return {executor: int(peak) for executor, peak in zip(executors, peaks, strict=True) if peak != ABSENT}

    def table(self) -> pa.Table:
        """The table `tasks`. Empties the collection, column by column, to hold no more than one copy."""
        blocks, self._blocks = self._blocks, []
        columns: dict[str, Any] = {}
        for name in _INTEGERS:
            column = _joined(blocks, _AT[name])
            if name == "getting_result_ms":
                column = np.where(column == 0, ABSENT, column)
            columns[name] = pa.array(column, mask=column == ABSENT)
        for name in ("speculative", "has_metrics"):
            columns[name] = columns[name].cast(pa.bool_())
        for name in _TEXTS:
            codes = _joined(blocks, _AT[name])
            columns[name] = _category(codes, self._codes[name].texts())
        reasons = self._codes["reason"].texts()
        outcome = np.array([{"Success": 0, "TaskKilled": 2}.get(reason, 1) for reason in reasons] or [0])
        columns["status"] = _category(outcome[_joined(blocks, _AT["reason"])], ["success", "failed", "killed"])
        classes: list[str | None] = [None] * self.count
        messages: list[str | None] = [None] * self.count
        for row, (class_name, message) in self._failures.items():
            classes[row] = class_name
            messages[row] = message
        return TASKS.from_columns({**columns, "error_class": classes, "error_message": messages})


def _joined(blocks: list[NDArray[np.int64]], at: int) -> NDArray[np.int64]:
    return np.concatenate([block[at] for block in blocks]) if blocks else np.empty(0, dtype=np.int64)


def _category(codes: NDArray[np.int64], texts: list[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(
        pa.array(codes.astype(np.int32), mask=codes < 0), pa.array(texts, pa.string())
    )
