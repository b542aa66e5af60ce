"""Stages and jobs: what was planned, what ran, and how it ended."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec
import pyarrow as pa

from emberscope.eventlog.events import (
    JobEnd,
    JobStart,
    Properties,
    RddInfo,
    RddScope,
    StageCompleted,
    StageInfo,
    StageSubmitted,
)
from emberscope.redact import Redactor, shorten
from emberscope.tables.jobs import JOBS
from emberscope.tables.stages import STAGES

_CODEGEN: Final = re.compile(r"WholeStageCodegen \((\d{1,9})\)")
_OWN_METRICS: Final = "internal.metrics."
_NO_PROPERTIES: Final = Properties()

Row = dict[str, Any]


class StageColumns:
    """Collects the events of jobs and stages."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._rdd_decoder = msgspec.json.Decoder(list[RddInfo])
        self._scope_decoder = msgspec.json.Decoder(RddScope)
        self._jobs: dict[int, Row] = {}
        self._stages: dict[tuple[int, int], Row] = {}
        self._planned: dict[int, Row] = {}
        self._rdds: dict[int, tuple[list[str], list[int]]] = {}
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
            **self._labels(properties),
        )
        for stage_id in stage_ids:
            self._first_job.setdefault(stage_id, event.job_id)
        for stage in event.stages:
            if stage.stage_id not in self._planned:
                self._planned[stage.stage_id] = self._row(stage) | self._labels(properties)

    def job_end(self, event: JobEnd) -> None:
        job = self._jobs.setdefault(event.job_id, {})
        succeeded = event.result.result == "JobSucceeded"
        job.update(completed_ms=event.completed_ms, status="succeeded" if succeeded else "failed")
        if event.result.exception is not None:
            job["error_message"] = self._redactor.text(shorten(event.result.exception.message))

    def submitted(self, event: StageSubmitted) -> None:
        stage = event.stage
        labels = self._labels(event.properties or _NO_PROPERTIES)
        row = self._stages.setdefault((stage.stage_id, stage.stage_attempt), {})
        row.update(self._row(stage) | labels | {"status": row.get("status", "unfinished")} | _set(row))

    def completed(self, event: StageCompleted) -> None:
        stage = event.stage
        row = self._stages.setdefault((stage.stage_id, stage.stage_attempt), {})
        row.update(_set(self._row(stage)))
        row["status"] = "succeeded" if stage.failure_reason is None else "failed"
        row["accumulator_ids"] = [
            a.id for a in stage.accumulables if not (a.name is not None and a.name.startswith(_OWN_METRICS))
        ]

    def _labels(self, properties: Properties) -> Row:
        execution = properties.sql_execution_id
        return {
            "sql_execution_id": int(execution) if execution and re.fullmatch(r"\d{1,18}", execution) else None,
            "job_group": self._redactor.text(properties.job_group),
            "description": self._redactor.text(properties.description),
        }

    def _row(self, stage: StageInfo) -> Row:
        rdd_names, codegen_ids = self._rdds_of(stage)
        return {
            "name": self._redactor.text(stage.name),
            "details": self._redactor.text(stage.details),
            "task_count": stage.task_count,
            "parent_ids": stage.parent_ids,
            "rdd_names": rdd_names,
            "codegen_ids": codegen_ids,
            "submitted_ms": stage.submitted_ms,
            "completed_ms": stage.completed_ms,
            "failure_reason": self._redactor.text(shorten(stage.failure_reason)),
        }

    def _rdds_of(self, stage: StageInfo) -> tuple[list[str], list[int]]:
        """Names of the RDDs, then of their scopes from inner to outer, and the generated code among the scopes."""
        known = self._rdds.get(stage.stage_id)
        if known is not None:
            return known
        names: dict[str, None] = {}
        scopes: dict[str, None] = {}
        try:
            rdds = self._rdd_decoder.decode(bytes(stage.rdds)) if bytes(stage.rdds) else []
            for rdd in rdds:
                if rdd.name:
                    names[rdd.name] = None
                if rdd.scope:
                    scopes.update(self._scope_names(rdd.scope))
        except msgspec.DecodeError:
            pass  # names only help to tell stages apart; what was read so far is kept
        codegen = {int(found[1]) for scope in scopes if (found := _CODEGEN.match(scope))}
        clean = (self._redactor.text(name) or "" for name in (*names, *(s for s in scopes if s not in names)))
        self._rdds[stage.stage_id] = (list(clean), sorted(codegen))
        return self._rdds[stage.stage_id]

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

    def tables(self) -> dict[str, pa.Table]:
        """Tables `jobs` and `stages`; a stage that a job planned and that never was submitted is `skipped`."""
        jobs = [{"status": "unfinished"} | row | {"job_id": job_id} for job_id, row in self._jobs.items()]
        ran = {stage_id for stage_id, _ in self._stages}
        stages = [
            row | {"stage_id": stage_id, "stage_attempt": attempt} for (stage_id, attempt), row in self._stages.items()
        ]
        stages += [
            row | {"stage_id": stage_id, "stage_attempt": 0, "status": "skipped"}
            for stage_id, row in self._planned.items()
            if stage_id not in ran
        ]
        stages.sort(key=lambda row: (row["stage_id"], row["stage_attempt"]))
        for row in stages:
            row["job_id"] = self._first_job.get(row["stage_id"])
        return {"jobs": JOBS.from_rows(jobs), "stages": STAGES.from_rows(stages)}


def _set(row: Row) -> Row:
    return {key: value for key, value in row.items() if value is not None}
