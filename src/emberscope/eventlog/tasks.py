"""TaskEnd events to the columns of table `tasks`: where nearly all bytes of an event log go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
from msgspec.structs import astuple, fields

from emberscope.eventlog.codes import Codes
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
from emberscope.eventlog.narrow import NarrowColumns
from emberscope.eventlog.sql_retries import is_repeated
from emberscope.eventlog.task_lines import SUCCESS
from emberscope.eventlog.task_totals import STATUSES, Totals
from emberscope.redact import Redactor, shorten
from emberscope.tables.tasks import TASKS

if TYPE_CHECKING:
    from numpy.typing import NDArray

BATCH_ROWS: Final = 1 << 14
GROUP_ROWS: Final = 1 << 17
"""Rows of a table that is passed on in groups: as many as readers of Parquet like in one."""

_INFO_INTEGERS: Final = 8
_METRIC_INTEGERS: Final = 10
_TEXTS: Final = ("executor_id", "host", "locality", "reason")
_NO_METRICS: Final = TaskMetrics()

RESUBMITTED: Final = "Resubmitted"

Failure = tuple[str | None, str | None]
"""Class and first words."""


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
COLUMNS: Final = [*_INTEGERS, *_TEXTS]
_AT: Final = {name: position for position, name in enumerate(COLUMNS)}


class Batch(NamedTuple):
    """Ended tasks: columns of table `tasks` (texts as codes), which ended well, and which ended well before.

    A task whose output was lost ends a second time, with the reason `RESUBMITTED`, and its work is given to another.
    """

    columns: dict[str, NDArray[np.int64]]
    succeeded: NDArray[np.bool_]
    again: NDArray[np.bool_]


class TaskColumns:
    """Collects TaskEnd lines; sums are kept, rows are kept or passed on.

    `ended` is told of each batch, `repeated` the lines of all tasks that may have more than one attempt.
    `into` gets tables of `GROUP_ROWS` rows, the last one smaller; without it the rows are kept for `table`, or, with
    `keep` false, let go of.
    """

    def __init__(
        self,
        redactor: Redactor,
        ended: Callable[[Batch], None],
        repeated: Callable[[bytes], None],
        into: Callable[[pa.Table], None] | None = None,
        *,
        keep: bool = True,
    ) -> None:
        self.last_ms = ABSENT
        self.totals = Totals()
        self._redactor = redactor
        self._ended = ended
        self._repeated = repeated
        self._into = into
        self._keep = keep or into is not None
        self._decoder: msgspec.json.Decoder[TaskEnd] = msgspec.json.Decoder(TaskEnd)
        self._codes = {name: Codes() for name in _TEXTS}
        self._waiting: list[NDArray[np.int64]] = []
        self._waiting_rows = 0
        self._kept = NarrowColumns(len(COLUMNS))
        self._failures: dict[int, Failure] = {}
        self._peaks: dict[int, int] = {}

    def add(
        self, lines: Sequence[bytes], numbers: Sequence[int], rows: NDArray[np.int64], texts: list[str]
    ) -> list[int]:
        """Takes in lines with their numbers, and rows that the kernel made of other lines of the same block.

        Such a row has the number of its line, then the columns, of which texts are positions in `texts`. All together
        are put in the order of lines. Gives back the numbers of the lines that are malformed.
        """
        decoded, malformed, failures = self._decode(lines, numbers)
        if len(rows):
            self._number_texts(rows, texts)
        if decoded:
            rows = np.concatenate((rows, np.array(decoded, dtype=np.int64)))
            rows = rows[np.argsort(rows[:, 0], kind="stable")]
        if failures:
            first = self._kept.rows + self._waiting_rows
            places = np.searchsorted(rows[:, 0], np.array(list(failures))) + first
            self._failures.update(zip(places.tolist(), failures.values(), strict=True))
        if len(rows):
            self._wait(rows[:, 1:])
        return malformed

    def _decode(
        self, lines: Sequence[bytes], numbers: Sequence[int]
    ) -> tuple[list[tuple[int, ...]], list[int], dict[int, Failure]]:
        """Rows behind the numbers of their lines, numbers of malformed lines, and what is said of failures by line."""
        executors, hosts, localities, reasons = self._codes.values()
        decoder = self._decoder.decode
        malformed: list[int] = []
        rows: list[tuple[int, ...]] = []
        failures: dict[int, Failure] = {}
        for number, line in zip(numbers, lines, strict=True):
            try:
                task = decoder(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                try:
                    task = decode(self._decoder, line)
                except msgspec.MsgspecError:
                    malformed.append(number)
                    continue
            end, info, stage_id, stage_attempt, metrics, peaks = astuple(task)
            info = astuple(info)
            m = astuple(metrics or _NO_METRICS)
            row = (
                number,
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
            if is_repeated(stage_attempt, info[2], end.reason == SUCCESS):
                self._repeated(line)
            if end.reason != SUCCESS:
                message = end.description or end.loss_reason or end.kill_reason or end.message
                words = (end.class_name, self._redactor.text(shorten(message)))
                if self._keep:
                    failures[number] = words
            rows.append(row)
        return rows, malformed, failures

    def _number_texts(self, rows: NDArray[np.int64], texts: list[str]) -> None:
        """From positions in the texts of a block to codes."""
        for name in _TEXTS[:-1]:
            rows[:, 1 + _AT[name]] = self._codes[name].of_positions(rows[:, 1 + _AT[name]], texts)
        rows[:, 1 + _AT["reason"]] = self._codes["reason"][SUCCESS]

    def _wait(self, rows: NDArray[np.int64]) -> None:
        self._waiting.append(rows)
        self._waiting_rows += len(rows)
        if self._waiting_rows >= BATCH_ROWS:
            self.flush()

    def flush(self) -> None:
        """Works on what waits to become a batch."""
        if not self._waiting:
            return
        batch = np.ascontiguousarray(np.concatenate(self._waiting).T)
        self._waiting.clear()
        self._waiting_rows = 0
        columns = dict(zip(COLUMNS, batch, strict=True))
        statuses = self._statuses(columns["reason"])
        self.last_ms = max(self.last_ms, int(columns["finish_ms"].max()))
        self.totals.add(columns, statuses)
        again = columns["reason"] == self._codes["reason"].get(RESUBMITTED, -1)
        self._ended(Batch(columns, statuses == 0, again))
        self._add_peaks(columns["executor_id"], columns["peak_jvm_heap_bytes"])
        if self._keep:
            self._kept.add(batch)
        if self._into and self._kept.rows >= GROUP_ROWS:
            self._into(self._drain())

    def _statuses(self, reasons: NDArray[np.int64]) -> NDArray[np.int64]:
        of_reason = [{SUCCESS: 0, "TaskKilled": 2}.get(reason, 1) for reason in self._codes["reason"].texts()]
        return np.array(of_reason or [0], dtype=np.int64)[reasons]

    def _add_peaks(self, executors: NDArray[np.int64], peaks: NDArray[np.int64]) -> None:
        largest = np.full(len(self._codes["executor_id"]), ABSENT, dtype=np.int64)
        np.maximum.at(largest, executors, peaks)  # -1, no executor, is the last
        for code in np.flatnonzero(largest[:-1] != ABSENT).tolist():
            self._peaks[code] = max(int(largest[code]), self._peaks.get(code, ABSENT))

    def peak_heap_by_executor(self) -> dict[str, int]:
        """Largest heap in use per executor; executors that no task shows it of are left out."""
        executors = self._codes["executor_id"].texts()
        return {executors[code]: self._peaks[code] for code in sorted(self._peaks)}

    def hosts(self) -> list[str]:
        """The hosts by their codes."""
        return self._codes["host"].texts()

    def finish(self) -> pa.Table | None:
        """The table `tasks`, or None where it was passed on or let go of. To be called once, at the end."""
        self.flush()
        if self._into:
            if self._kept.rows:
                self._into(self._drain())
            pa.default_memory_pool().release_unused()
            return None
        return self._drain() if self._keep else None

    def _drain(self) -> pa.Table:
        """The rows kept so far, column by column, to hold no more than one copy."""
        kept = self._kept
        columns: dict[str, Any] = {}
        for name in _INTEGERS:
            column = kept.take(_AT[name])
            if name == "getting_result_ms":
                column[column == 0] = ABSENT
            absent = column == ABSENT
            columns[name] = pa.array(column, mask=absent if absent.any() else None)
        for name in ("speculative", "has_metrics"):
            columns[name] = columns[name].cast(pa.bool_())
        for name in _TEXTS:
            codes = kept.take(_AT[name])
            columns[name] = _category(codes, self._codes[name].texts())
            if name == "reason":
                columns["status"] = _category(self._statuses(codes), list(STATUSES))
        classes: list[str | None] = [None] * kept.rows
        messages: list[str | None] = [None] * kept.rows
        for row, (class_name, message) in self._failures.items():
            classes[row] = class_name
            messages[row] = message
        self._failures.clear()
        kept.clear()
        return TASKS.from_columns({**columns, "error_class": classes, "error_message": messages})


def _category(codes: NDArray[np.int64], texts: list[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(
        pa.array(codes.astype(np.int32), mask=codes < 0), pa.array(texts, pa.string())
    )
