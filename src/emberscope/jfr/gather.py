"""The tables of a recording, from one chunk after another."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from emberscope.jfr.clock import times_ns
from emberscope.jfr.events import (
    DATA_LOSS,
    EXECUTION_SAMPLE,
    FREE,
    HEAP_CLASS,
    MARK_EVENTS,
    SAMPLES_LOST,
    SERIES_EVENTS,
    SPAN_EVENTS,
)
from emberscope.jfr.losses import Losses
from emberscope.jfr.native_memory import freed
from emberscope.jfr.other_rows import heap_rows, mark_rows, series_rows, span_rows
from emberscope.jfr.references import Longs, Threads, fixed, longs, words
from emberscope.jfr.sample_rows import counts_of, sample_rows
from emberscope.jfr.sampled import Sampled, Traces
from emberscope.jfr.settings import settings_of
from emberscope.jfr.stacks import name_frame, raw_name
from emberscope.redact import Redactor
from emberscope.tables.heap_classes import HEAP_CLASSES
from emberscope.tables.live_objects import at_most
from emberscope.tables.marks import MARKS
from emberscope.tables.recording import Origin
from emberscope.tables.samples import EVENTS, SAMPLES
from emberscope.tables.series import SERIES
from emberscope.tables.spans import SPANS
from emberscope.tables.stack_tree import StackTree
from emberscope.tables.table import Table


class Gathered:
    """Tables, settings and counts of the chunks so far."""

    def __init__(self, tree: StackTree, losses: Losses, period_ns: int | None = None) -> None:
        self._tree = tree
        self._losses = losses
        self._period_ns = period_ns
        self._samples: list[pa.Table] = []
        self._spans: list[pa.Table] = []
        self._series: list[pa.Table] = []
        self._marks: list[pa.Table] = []
        self._heap_classes: list[pa.Table] = []
        self._chunks = 0
        self._chunk_of_samples: list[int] = []
        self._mallocs: list[tuple[Longs, Longs, npt.NDArray[np.bool_]]] = []
        self._frees: list[tuple[Longs, Longs]] = []
        self._redactor = Redactor()
        self._seen_settings: dict[str, str] = {}
        self.settings: dict[str, str] = {}
        self.leaves: Counter[str] = Counter()

    def add(self, sampled: Sampled) -> None:
        """The rows of one chunk."""
        chunk = sampled.chunk
        self._chunks += 1
        settings = settings_of(chunk)
        for key, value in settings.items():
            if self._seen_settings.get(key) != value:  # chunks repeat them, and a secret is one
                self._seen_settings[key] = value
                self.settings[key] = self._redactor.setting(key, value)
        threads = Threads(chunk)
        place = _graft(sampled, self._tree)
        for traces in sampled.traces:
            if traces.spec.name == EXECUTION_SAMPLE and sampled.stacks is not None:
                for owner, method, count in sampled.stacks.leaves(traces.nodes):
                    self.leaves[raw_name(owner, method)] += count
            if traces.superseded:
                self._losses.of_superseded(traces.spec.name, len(traces.keys))
            else:
                self._add_samples(sampled, traces, threads, settings, place)
        for number, name in enumerate(SPAN_EVENTS):
            if chunk.rows(name):
                self._spans.append(span_rows(chunk, name, ended=number == 1))
        for name, specs in groupby(SERIES_EVENTS, key=lambda spec: spec.name):
            if chunk.rows(name):
                self._series += [series_rows(chunk, spec, threads) for spec in specs]
        for mark in MARK_EVENTS:
            if chunk.rows(mark.name):
                self._marks.append(mark_rows(chunk, mark, threads))
        if chunk.rows(HEAP_CLASS):
            self._heap_classes.append(heap_rows(chunk))
        lost = longs(chunk, DATA_LOSS, "amount")
        self._losses.by_recorder(0 if lost is None else int(lost.sum()))
        self._add_frees(sampled)

    def _add_samples(
        self,
        sampled: Sampled,
        traces: Traces,
        threads: Threads,
        settings: dict[str, str],
        place: npt.NDArray[np.int32],
    ) -> None:
        chunk, spec = sampled.chunk, traces.spec
        rows = sample_rows(chunk, traces, threads, settings, self._period_ns)
        nodes = place[np.frombuffer(traces.nodes, np.int32)]
        column = rows.schema.get_field_index("stack")
        self._samples.append(rows.set_column(column, rows.schema.field(column), pa.array(nodes)))
        self._chunk_of_samples.append(self._chunks - 1)
        self._losses.of_stacks(np.frombuffer(traces.flags, np.uint8), counts_of(chunk, spec))
        if spec.address:
            addresses = longs(chunk, spec.name, spec.address)
            known = np.full(len(traces.keys), addresses is not None)
            times = rows["time_ns"].fill_null(0).to_numpy()
            self._mallocs.append((times, addresses if addresses is not None else np.zeros(len(times), np.int64), known))

    def _add_frees(self, sampled: Sampled) -> None:
        starts, addresses = longs(sampled.chunk, FREE, "startTime"), longs(sampled.chunk, FREE, "address")
        if starts is not None and addresses is not None:
            times, untimed = times_ns(sampled.chunk.header, starts)
            self._frees.append((times[~untimed], addresses[~untimed]))

    def samples(self, origin: Origin) -> pa.Table:
        """All samples, native memory marked as kept or given back, live objects as one chunk told of them."""
        table = _together(SAMPLES, self._samples)
        if self._mallocs:
            table = _with_fate(table, self._mallocs, self._frees)
        looks = np.repeat(np.array(self._chunk_of_samples, np.int64), [rows.num_rows for rows in self._samples])
        return with_origin(at_most(table, looks), origin)

    def sample_counts(self, samples: pa.Table) -> dict[str, int]:
        """Samples by event, batches by their counts."""
        sums = samples.group_by("event").aggregate([("count", "sum")]).to_pylist()
        found = {row["event"]: row["count_sum"] for row in sums}
        return {event: found.get(event, 0) for event in EVENTS}

    def spans(self, origin: Origin) -> pa.Table:
        return with_origin(self._redacted(_together(SPANS, self._spans), "job_group", "description"), origin)

    def series(self, origin: Origin) -> pa.Table:
        series = _together(SERIES, self._series)
        lost = series.filter(pc.equal(series["name"], SAMPLES_LOST))["value"]
        self._losses.by_sampler(int(pc.sum(lost).as_py() or 0))
        return with_origin(series, origin)

    def heap_classes(self, origin: Origin) -> pa.Table:
        return with_origin(_together(HEAP_CLASSES, self._heap_classes), origin)

    def marks(self, origin: Origin) -> pa.Table:
        return with_origin(self._redacted(_together(MARKS, self._marks), "name", "text"), origin)

    def _redacted(self, table: pa.Table, *names: str) -> pa.Table:
        """The same rows without secrets in these texts, which are written by users."""
        for name in names:
            column = table.schema.get_field_index(name)
            texts = [self._redactor.text(text) for text in table[name].to_pylist()]
            table = table.set_column(column, table.schema.field(column), pa.array(texts, pa.string()))
        self._losses.hidden = self._redactor.count
        return table


def with_origin(table: pa.Table, origin: Origin) -> pa.Table:
    """The same rows with the process that they come from."""
    for name, word in (("role", origin.role), ("executor_id", origin.executor_id), ("host", origin.host)):
        column = table.schema.get_field_index(name)
        table = table.set_column(column, table.schema.field(column), fixed(word, table.num_rows))
    return table


def _graft(sampled: Sampled, tree: StackTree) -> npt.NDArray[np.int32]:
    if sampled.stacks is None:
        return np.zeros(1, np.int32)
    return np.frombuffer(tree.graft(sampled.stacks, name_frame), np.int32)


def _together(kind: Table, tables: list[pa.Table]) -> pa.Table:
    if not tables:
        return kind.empty()
    return pa.concat_tables(tables).unify_dictionaries().combine_chunks()


def _with_fate(
    samples: pa.Table,
    mallocs: list[tuple[Longs, Longs, npt.NDArray[np.bool_]]],
    frees: list[tuple[Longs, Longs]],
) -> pa.Table:
    """`variant` of native memory: whether the recording saw it given back; null where it has no address."""
    times, addresses, known = (np.concatenate(part) for part in zip(*mallocs, strict=True))
    nothing = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
    fate = freed(times, addresses, *(np.concatenate(part) for part in zip(*(frees or nothing), strict=True)))
    is_nativemem = pc.equal(samples["event"], "nativemem").to_numpy(zero_copy_only=False)
    rows = np.full(samples.num_rows, -1, np.int32)
    rows[is_nativemem] = np.where(known, fate, -1)
    column = samples.schema.get_field_index("variant")
    variants = pc.if_else(
        pa.array(is_nativemem), words(rows, ["kept", "freed"]).cast(pa.string()), samples["variant"].cast(pa.string())
    )
    encoded = variants.combine_chunks().dictionary_encode()
    return samples.set_column(column, samples.schema.field(column), encoded)
