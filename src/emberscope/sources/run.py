"""A run of the store, whole: its event log, all chunks of all processes, and what of it is missing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emberscope.errors import InputError
from emberscope.eventlog.read import read_event_log
from emberscope.sources.engines import engine_notes
from emberscope.sources.event_log_names import logs_left
from emberscope.sources.lost import by_process, chunk_notes, executor_notes
from emberscope.sources.recorder_cost import budget_notes, own_cpu, problem_notes
from emberscope.sources.recording import joined, read_chunks, recorder_of
from emberscope.store.chunks import Chunk, Manifest, chunks_of
from emberscope.store.layout import APPLICATION_DOCUMENT, EVENTLOG, RUN_DOCUMENT
from emberscope.tables.coverage import Coverage, Note, total
from emberscope.tables.run import Application, Run

if TYPE_CHECKING:
    import pyarrow as pa

NO_EVENT_LOG = "This run has no event log: stages, tasks and SQL executions are not known."
NO_RECORDING = "The recorder started, but none of its recordings arrived: there are no samples."
LEFT_LOG = "The event log is read from where Spark wrote it: it was not put into the run."
_SEEN_AGAIN = (NO_EVENT_LOG, NO_RECORDING, LEFT_LOG)
"""What is seen at each reading, as it is then: chunks and logs may arrive late."""


def load_run(path: str, *, lines: bool = False, compilation: bool = False) -> Run:
    """The run at `path`. A part that is missing or damaged is a coverage note; the rest is read.

    `lines` and `compilation` as for `load_recording`.
    Raises `InputError` where neither an event log nor a recording of it can be read.
    """
    place = Path(path)
    said = _document(place / APPLICATION_DOCUMENT)
    earlier = _document(place / RUN_DOCUMENT)
    log, log_notes = _event_log(place, said)
    chunks = chunks_of(place)
    recordings, coverage = read_chunks(chunks, lines=lines, compilation=compilation)
    if log is None and not recordings:
        raise InputError(path, "this run holds neither an event log nor a recording that can be read.")

    application = log.application if log is not None else _application(said)
    tables: dict[str, pa.Table] = dict(log.tables) if log is not None else {}
    if recordings:
        tables |= joined(recordings)
    kept = _kept_notes(earlier)
    notes = [*log_notes, *kept, *chunk_notes(chunks), *budget_notes(chunks), *problem_notes(chunks)]
    notes += engine_notes(chunks)
    if said and not chunks and not any(note.code == "not_recorded" for note in kept):
        notes.append(Note("not_recorded", NO_RECORDING, path))
    if chunks:
        fraction = log.setting("spark.emberscope.fraction") if log is not None else None
        notes += executor_notes(tables.get("executors"), chunks, application, fraction=fraction)
    return Run(
        path=path,
        application=replace(application, attempt=application.attempt or said.get("attempt")),
        tables=tables,
        coverage=total(
            [
                log.coverage if log is not None else Coverage(),
                coverage,
                by_process(recordings, chunks),
                Coverage(tuple(notes)),
            ]
        ),
        recordings=tuple(recording.facts for recording in recordings),
        recorder=_recorder(said, chunks) | recorder_of(recordings),
    )


def _event_log(run: Path, said: Mapping[str, Any]) -> tuple[Run | None, list[Note]]:
    """The event log of a run, or the one that Spark left elsewhere; a log that cannot be read is a note."""
    directory = run / EVENTLOG
    logs = sorted(path for path in directory.iterdir() if not path.name.startswith(".")) if directory.is_dir() else []
    notes: list[Note] = []
    if not logs:
        logs = logs_left(run, said)
        notes += [Note("limited", LEFT_LOG, str(log)) for log in logs[:1]]
    if not logs:
        return None, [Note("not_recorded", NO_EVENT_LOG, str(run))]
    for path in logs:
        try:
            return read_event_log(str(path)), notes
        except InputError as error:
            notes.append(Note("missing_part", error.reason, str(path)))
    return None, notes


def _document(path: Path) -> dict[str, Any]:
    """A JSON object of the store; empty where there is none that can be read."""
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}


def _kept_notes(earlier: Mapping[str, Any]) -> list[Note]:
    """What was found out when the run was collected and cannot be seen from its files any more."""
    return [
        Note(note["code"], str(note.get("message", "")), str(note.get("where", "")))
        for note in earlier.get("coverage", {}).get("notes", [])
        if note.get("code") in ("not_recorded", "limited") and note.get("message") not in _SEEN_AGAIN
    ]


def _application(said: Mapping[str, Any]) -> Application:
    """Identity from what the driver plugin wrote, where there is no event log."""
    return Application(
        app_id=said.get("app_id"),
        app_name=said.get("app_name"),
        attempt=said.get("attempt"),
        user=said.get("user"),
        spark_version=said.get("spark_version"),
        java_version=said.get("java_version"),
        master=said.get("master"),
        app_start_ms=said.get("started_ms"),
    )


def _recorder(said: Mapping[str, Any], chunks: list[Chunk]) -> dict[str, Any]:
    """What the recorder says of itself; empty where the run was not recorded."""
    if not said and not chunks:
        return {}
    manifests = [chunk.manifest for chunk in chunks if chunk.manifest is not None]
    engines = sorted({manifest.engine for manifest in manifests if manifest.engine})
    return {
        "engine": " + ".join(engines) if engines else said.get("engine"),
        "events": said.get("events"),
        "sample_period_ns": _period_ns(manifests, said.get("sample_period_ns")),
        "chunk_seconds": said.get("chunk_seconds"),
        "version": said.get("recorder_version"),
        "java_versions": sorted({manifest.jdk for manifest in manifests if manifest.jdk}),
        "own_cpu": own_cpu(chunks),
    }


def _period_ns(manifests: list[Manifest], asked_ns: int | None) -> int | None:
    """The period of CPU samples as the engines of the executors had it, null where it changed or they differ; the one
    asked for where no manifest says any. An engine without a period takes no CPU samples; another of its process does.
    """
    periods = {manifest.sample_period_ns for manifest in manifests if manifest.role == "executor"} or {
        manifest.sample_period_ns for manifest in manifests
    }
    periods -= {None}
    return asked_ns if not periods else periods.pop() if len(periods) == 1 else None
