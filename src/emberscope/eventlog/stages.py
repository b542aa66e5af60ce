"""Stages and jobs: what was planned, what ran, and how it ended."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np
import pyarrow as pa

from emberscope.eventlog.accumulables import is_task_metric
from emberscope.eventlog.events import (
    ABSENT,
    JobEnd,
    JobStart,
    Properties,
    RddInfo,
    RddScope,
    StageCompleted,
    StageInfo,
    StageSubmitted,
)
from emberscope.eventlog.places import Numbers, keys_of, pair_of
from emberscope.eventlog.rows import Files, Kept, Row, rows_with
from emberscope.eventlog.storage import StorageColumns
from emberscope.redact import Redactor, shorten
from emberscope.tables.jobs import JOBS
from emberscope.tables.stages import STAGES

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CODEGEN: Final = re.compile(r"WholeStageCodegen \((\d{1,9})\)")
_CACHED: Final = re.compile(rb'"Number of Cached Partitions": ?[1-9]')
PART_ROWS: Final = 1 << 13
_NO_PROPERTIES: Final = Properties()
_OF_RDDS: Final = ("rdd_names", "codegen_ids", "call_sites", "barrier")


class StageColumns:
    """Collects the events of jobs and stages. With `files` most of it lies there, and only `columns` of the tables."""

    def __init__(
        self, redactor: Redactor, storage: StorageColumns, files: Files | None, columns: Mapping[str, Sequence[str]]
    ) -> None:
        self.latest_ms = ABSENT
        self._redactor = redactor
        self._storage = storage
        self._rdd_decoder = msgspec.json.Decoder(list[RddInfo])
        self._scope_decoder = msgspec.json.Decoder(RddScope)
        self._in_parts = files is not None
        of_stages = columns.get("stages", [column.name for column in STAGES.columns])
        of_jobs = columns.get("jobs", [column.name for column in JOBS.columns])
        of_rdds = [name for name in _OF_RDDS if name in of_stages]
        self._profiles: dict[int, int] = {}
        self._jobs, self._stages, self._planned, self._rdds = (
            Kept(rows_with(names), files and files()) for names in (of_jobs, of_stages, of_stages, of_rdds)
        )
        self._scopes: dict[str, dict[str, None]] = {}
        self._first_job = Numbers()
        self._execution_of = Numbers()
        self._failed: set[int] = set()

    def job_start(self, event: JobStart) -> None:
        properties = event.properties or _NO_PROPERTIES
        stage_ids = event.stage_ids if event.stage_ids is not None else [stage.stage_id for stage in event.stages]
        names = {stage.stage_id: stage.name for stage in event.stages}
        # A job is named after its last stage, the one that gives the result.
        call_site = properties.call_site or names.get(max(names, default=-1))
        self._jobs.of(event.job_id).update(
            submitted_ms=event.submitted_ms,
            stage_ids=stage_ids,
            call_site=self._redactor.text(call_site),
            details=self._redactor.text(properties.details),
            tags=self._redactor.texts([tag for tag in properties.tags.split(",") if tag]) if properties.tags else None,
            pool=self._redactor.text(properties.pool),
            streaming_query_id=properties.streaming_query_id,
            streaming_batch_id=_number(properties.streaming_batch_id),
            **self._labels(properties),
        )
        self._saw(event.submitted_ms)
        for stage_id in stage_ids:
            self._first_job.setdefault(stage_id, event.job_id)
        for stage in event.stages:
            key = (stage.stage_id, stage.stage_attempt)
            if not self._planned.holds(*key) and not self._stages.holds(*key):
                self._planned.of(*key).update(self._row(stage) | self._labels(properties))

    def job_end(self, event: JobEnd) -> None:
        job = self._jobs.of(event.job_id)
        succeeded = event.result.result == "JobSucceeded"
        self._saw(event.completed_ms)
        job.update(completed_ms=event.completed_ms, status="succeeded" if succeeded else "failed")
        if event.result.exception is not None:
            job["error_message"] = self._redactor.text(shorten(event.result.exception.message))

    def submitted(self, event: StageSubmitted) -> None:
        stage = event.stage
        if stage.resource_profile_id:
            self._profiles[stage.stage_id] = stage.resource_profile_id
        labels = self._labels(event.properties or _NO_PROPERTIES)
        row = self._stages.of(stage.stage_id, stage.stage_attempt)
        self._planned.drop(stage.stage_id, stage.stage_attempt)
        row.update(self._row(stage) | labels | {"status": row.get("status", "unfinished")} | _set(row))
        self._saw(stage.submitted_ms)

    def completed(self, event: StageCompleted) -> None:
        stage = event.stage
        row = self._stages.of(stage.stage_id, stage.stage_attempt)
        row.update(_set(self._row(stage)))
        self._saw(stage.completed_ms)
        self._blocks_of(stage)
        row["status"] = "succeeded" if stage.failure_reason is None else "failed"
        row["accumulator_ids"] = [a.id for a in stage.accumulables if not is_task_metric(a)]

    def resource_profile(self, stage_id: int) -> int | None:
        """The resource profile of a stage that was submitted; None if it is the default one."""
        return self._profiles.get(stage_id)

    def _saw(self, ms: int | None) -> None:
        if ms is not None and ms > self.latest_ms:
            self.latest_ms = ms

    def _labels(self, properties: Properties) -> Row:
        return {
            "sql_execution_id": _number(properties.sql_execution_id),
            "job_group": self._redactor.text(properties.job_group),
            "description": self._redactor.text(properties.description),
        }

    def _row(self, stage: StageInfo) -> Row:
        return {
            **self._rdds_of(stage),
            "name": self._redactor.text(stage.name),
            "details": self._redactor.text(stage.details),
            "task_count": stage.task_count,
            "parent_ids": stage.parent_ids,
            "resource_profile_id": stage.resource_profile_id,
            "submitted_ms": stage.submitted_ms,
            "completed_ms": stage.completed_ms,
            "failure_reason": self._redactor.text(shorten(stage.failure_reason)),
        }

    def _rdds_of(self, stage: StageInfo) -> Row:
        """What its RDDs say of a stage: names of RDDs, then of their scopes from inner to outer; generated code."""
        known = self._rdds.find(stage.stage_id)
        if known is not None:
            return known
        names: dict[str, None] = {}
        scopes: dict[str, None] = {}
        sites: dict[str, None] = {}
        barrier: bool | None = None
        try:
            for rdd in self._rdd_decoder.decode(bytes(stage.rdds)) if bytes(stage.rdds) else []:
                if rdd.name:
                    names[rdd.name] = None
                if rdd.call_site:
                    sites[rdd.call_site] = None
                if rdd.barrier is not None:
                    barrier = rdd.barrier or bool(barrier)
                if rdd.level.memory or rdd.level.disk:
                    self._storage.named(stage.stage_id, rdd)
                if rdd.scope:
                    scopes.update(self._scope_names(rdd.scope))
        except (msgspec.DecodeError, RecursionError):
            pass  # names only help to tell stages apart; what was read so far is kept
        codegen = {int(found[1]) for scope in scopes if (found := _CODEGEN.match(scope))}
        row = self._rdds.of(stage.stage_id)
        row |= {
            "rdd_names": self._clean(*names, *(scope for scope in scopes if scope not in names)),
            "codegen_ids": sorted(codegen),
            "call_sites": self._clean(*sites) if sites else None,
            "barrier": barrier,
        }
        return row

    def _clean(self, *texts: str) -> list[str]:
        return [self._redactor.text(text) or "" for text in texts]

    def _blocks_of(self, stage: StageInfo) -> None:
        rdds = bytes(stage.rdds)
        if _CACHED.search(rdds) is None:
            return
        try:
            for rdd in self._rdd_decoder.decode(rdds):
                self._storage.told(rdd)
        except (msgspec.DecodeError, RecursionError):
            pass

    def _scope_names(self, text: str) -> dict[str, None]:
        known = self._scopes.get(text)
        if known is None:
            known = {}
            scope: RddScope | None = self._scope_decoder.decode(text)
            while scope is not None:
                known[scope.name] = None
                scope = scope.parent
            if len(self._scopes) > 20_000:
                self._scopes.clear()
            self._scopes[text] = known
        return known

    def failed_executions(self) -> set[int]:
        """SQL executions of which a job failed. Known after `tables`."""
        return self._failed

    def execution_of_stage(self) -> Numbers:
        """The SQL execution that each stage ran for. Known after `tables`."""
        return self._execution_of

    def tables(self, *, last: bool) -> Iterator[tuple[str, pa.Table]]:
        """Tables `jobs` and `stages`, in parts; an attempt that a job planned and never was submitted is `skipped`.

        With `last` what was collected goes while the table is made, as there may be much of it.

        A stage whose output was there may be skipped first and run later as attempt 1, when that output is lost.
        """
        yield from (("jobs", part) for part in self._jobs_in_parts())
        ran = np.sort(keys_of(*self._stages.pairs()))
        skipped = keys_of(*self._planned.pairs())
        keys = np.sort(np.concatenate((ran, skipped[~_among(skipped, ran)])))
        if not len(keys):
            yield "stages", STAGES.empty()
        for start in range(0, len(keys), PART_ROWS):
            part = keys[start : start + PART_ROWS]
            yield "stages", self._part([pair_of(key) for key in part.tolist()], _among(part, ran).tolist(), last)

    def _jobs_in_parts(self) -> Iterator[pa.Table]:
        job_ids = self._jobs.pairs()[0]
        part = PART_ROWS if self._in_parts else max(1, len(job_ids))
        for start in range(0, max(1, len(job_ids)), part):
            jobs = []
            for job_id in job_ids[start : start + part].tolist():
                job = {"status": "unfinished"} | self._jobs.take(job_id) | {"job_id": job_id}
                if job["status"] == "failed" and job.get("sql_execution_id") is not None:
                    self._failed.add(job["sql_execution_id"])
                jobs.append(job)
            yield JOBS.from_rows(jobs)

    def _part(self, keys: list[tuple[int, int]], ran: list[bool], last: bool) -> pa.Table:
        rows = []
        for (stage_id, attempt), here in zip(keys, ran, strict=True):
            held = self._stages if here else self._planned
            rows.append(held.take(stage_id, attempt, last=last))
            if here and (execution_id := rows[-1].get("sql_execution_id")) is not None:
                self._execution_of[stage_id] = execution_id
        columns: dict[str, list[Any]] = {
            name: [row.get(name) for row in rows] for name in {n for row in rows for n in row}
        }
        columns |= {
            "stage_id": [stage_id for stage_id, _ in keys],
            "stage_attempt": [attempt for _, attempt in keys],
            "status": [row.get("status") if here else "skipped" for row, here in zip(rows, ran, strict=True)],
            "job_id": [self._first_job.get(stage_id) for stage_id, _ in keys],
        }
        return STAGES.from_columns(columns)


def _among(keys: NDArray[np.int64], ordered: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of the keys are among others that are in order."""
    if not len(ordered):
        return np.zeros(len(keys), dtype=np.bool_)
    at = np.minimum(np.searchsorted(ordered, keys), len(ordered) - 1)
    among: NDArray[np.bool_] = ordered[at] == keys
    return among


def _number(text: str | None) -> int | None:
    return int(text) if text and re.fullmatch(r"\d{1,18}", text) else None


def _set(row: Row) -> Row:
    return {key: value for key, value in row.items() if value is not None}
