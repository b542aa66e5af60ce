"""Stages and jobs: what was planned, what ran, and how it ended."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec
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
from emberscope.eventlog.storage import StorageColumns
from emberscope.redact import Redactor, shorten
from emberscope.tables.jobs import JOBS
from emberscope.tables.stages import STAGES

_CODEGEN: Final = re.compile(r"WholeStageCodegen \((\d{1,9})\)")
_CACHED: Final = re.compile(rb'"Number of Cached Partitions": ?[1-9]')
_PART: Final = 1 << 13
_NO_PROPERTIES: Final = Properties()

Row = dict[str, Any]


class StageColumns:
    """Collects the events of jobs and stages."""

    def __init__(self, redactor: Redactor, storage: StorageColumns) -> None:
        self.latest_ms = ABSENT
        self._redactor = redactor
        self._storage = storage
        self._rdd_decoder = msgspec.json.Decoder(list[RddInfo])
        self._scope_decoder = msgspec.json.Decoder(RddScope)
        self._jobs: dict[int, Row] = {}
        self._stages: dict[tuple[int, int], Row] = {}
        self._planned: dict[tuple[int, int], Row] = {}
        self._rdds: dict[int, Row] = {}
        self._scopes: dict[str, dict[str, None]] = {}
        self._first_job: dict[int, int] = {}

    def job_start(self, event: JobStart) -> None:
        properties = event.properties or _NO_PROPERTIES
        stage_ids = event.stage_ids if event.stage_ids is not None else [stage.stage_id for stage in event.stages]
        names = {stage.stage_id: stage.name for stage in event.stages}
        # A job is named after its last stage, the one that gives the result.
        call_site = properties.call_site or names.get(max(names, default=-1))
        self._jobs.setdefault(event.job_id, {}).update(
            submitted_ms=event.submitted_ms,
            stage_ids=stage_ids,
            call_site=self._redactor.text(call_site),
            details=self._redactor.text(properties.details),
            tags=[self._redactor.text(tag) for tag in properties.tags.split(",") if tag] if properties.tags else None,
            pool=properties.pool,
            streaming_query_id=properties.streaming_query_id,
            streaming_batch_id=_number(properties.streaming_batch_id),
            **self._labels(properties),
        )
        self._saw(event.submitted_ms)
        for stage_id in stage_ids:
            self._first_job.setdefault(stage_id, event.job_id)
        for stage in event.stages:
            key = (stage.stage_id, stage.stage_attempt)
            if key not in self._planned and key not in self._stages:
                self._planned[key] = self._row(stage) | self._labels(properties)

    def job_end(self, event: JobEnd) -> None:
        job = self._jobs.setdefault(event.job_id, {})
        succeeded = event.result.result == "JobSucceeded"
        self._saw(event.completed_ms)
        job.update(completed_ms=event.completed_ms, status="succeeded" if succeeded else "failed")
        if event.result.exception is not None:
            job["error_message"] = self._redactor.text(shorten(event.result.exception.message))

    def submitted(self, event: StageSubmitted) -> None:
        stage = event.stage
        labels = self._labels(event.properties or _NO_PROPERTIES)
        row = self._stages.setdefault((stage.stage_id, stage.stage_attempt), {})
        self._planned.pop((stage.stage_id, stage.stage_attempt), None)
        row.update(self._row(stage) | labels | {"status": row.get("status", "unfinished")} | _set(row))
        self._saw(stage.submitted_ms)

    def completed(self, event: StageCompleted) -> None:
        stage = event.stage
        row = self._stages.setdefault((stage.stage_id, stage.stage_attempt), {})
        row.update(_set(self._row(stage)))
        self._saw(stage.completed_ms)
        self._blocks_of(stage)
        row["status"] = "succeeded" if stage.failure_reason is None else "failed"
        row["accumulator_ids"] = [a.id for a in stage.accumulables if not is_task_metric(a)]

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
        known = self._rdds.get(stage.stage_id)
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
        except msgspec.DecodeError:
            pass  # names only help to tell stages apart; what was read so far is kept
        codegen = {int(found[1]) for scope in scopes if (found := _CODEGEN.match(scope))}
        self._rdds[stage.stage_id] = {
            "rdd_names": self._clean(*names, *(scope for scope in scopes if scope not in names)),
            "codegen_ids": sorted(codegen),
            "call_sites": self._clean(*sites) if sites else None,
            "barrier": barrier,
        }
        return self._rdds[stage.stage_id]

    def _clean(self, *texts: str) -> list[str]:
        return [self._redactor.text(text) or "" for text in texts]

    def _blocks_of(self, stage: StageInfo) -> None:
        rdds = bytes(stage.rdds)
        if _CACHED.search(rdds) is None:
            return
        try:
            for rdd in self._rdd_decoder.decode(rdds):
                self._storage.told(rdd)
        except msgspec.DecodeError:
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
        """SQL executions of which a job failed."""
        return {
            job["sql_execution_id"]
            for job in self._jobs.values()
            if job.get("status") == "failed" and job.get("sql_execution_id") is not None
        }

    def execution_of_stage(self) -> dict[int, int | None]:
        """The SQL execution that each stage ran for."""
        return {stage_id: row.get("sql_execution_id") for (stage_id, _), row in self._stages.items()}

    def tables(self, *, last: bool) -> dict[str, pa.Table]:
        """Tables `jobs` and `stages`; an attempt that a job planned and that never was submitted is `skipped`.

        With `last` what was collected goes while the table is made, as there may be much of it.

        A stage whose output was there may be skipped first and run later as attempt 1, when that output is lost.
        """
        jobs = [{"status": "unfinished"} | row | {"job_id": job_id} for job_id, row in self._jobs.items()]
        skipped = self._planned.keys() - self._stages.keys()
        keys = sorted({*self._stages, *skipped})
        parts = [self._part(keys[start : start + _PART], last) for start in range(0, len(keys), _PART)]
        if last:
            self._rdds.clear()
        return {"jobs": JOBS.from_rows(jobs), "stages": pa.concat_tables(parts) if parts else STAGES.empty()}

    def _part(self, keys: list[tuple[int, int]], last: bool) -> pa.Table:
        ran = [key in self._stages for key in keys]
        rows = []
        for key, here in zip(keys, ran, strict=True):
            held = self._stages if here else self._planned
            rows.append(held.pop(key) if last else held[key])
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


def _number(text: str | None) -> int | None:
    return int(text) if text and re.fullmatch(r"\d{1,18}", text) else None


def _set(row: Row) -> Row:
    return {key: value for key, value in row.items() if value is not None}
