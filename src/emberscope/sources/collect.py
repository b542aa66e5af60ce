"""After a job: its runs put together in the store, each event log beside the recordings of its application."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from emberscope.errors import InputError
from emberscope.eventlog.read import read_event_log
from emberscope.recorder.merge import local_path
from emberscope.sources.event_log_names import bare_name, log_names, logs_in
from emberscope.store.layout import APPLICATION_DOCUMENT, EVENTLOG, run_directory
from emberscope.tables.coverage import Note
from emberscope.tables.run import Run

INVOCATION: Final = "spark.emberscope.invocation"
NO_PLUGIN: Final = "Not recorded: the application sets spark.plugins itself. Add {plugin} to that value."
NOT_STARTED: Final = "Not recorded: the recorder did not start{reason}."


@dataclass(frozen=True, slots=True)
class Collected:
    """One run of the command, where it lies now, and what was found out on the way."""

    directory: Path
    notes: tuple[Note, ...] = ()
    said: Mapping[str, Any] = field(default_factory=dict)


def collect(
    store: Path,
    group: str,
    invocation: str,
    *,
    incoming: Path,
    event_log_dir: str | None,
    started_ms: int,
    plugin: str | None,
    problems: Mapping[str, Any],
) -> list[Collected]:
    """The runs that the command with this `invocation` has left, oldest first.

    Event logs that lie in `incoming` are moved into their run; those in a directory of the user's are copied (linked
    where that is possible) and stay where they are. `plugin` is the class that should have recorded, None where it was
    not asked for. `problems` is what the recorder wrote into its status file. Where no driver wrote anything, logs in
    `event_log_dir` that changed since `started_ms` are asked whether they are of this invocation.
    """
    recorded = recorded_runs(store, group, invocation)
    collected = []
    arrived = logs_in(incoming)
    for directory, said in recorded:
        log = _take(arrived, said)
        notes = _place_own_log(log, directory) if log else _fetch_log(said, event_log_dir, directory)
        collected.append(Collected(directory, tuple(notes), said))
    collected += [_unrecorded(log, store, group, plugin, problems, copy=False) for log in arrived]
    if not collected:
        for log in _changed_logs(event_log_dir, started_ms):
            if _is_of(log, invocation):
                collected.append(_unrecorded(log, store, group, plugin, problems, copy=True))
    return collected


def _changed_logs(event_log_dir: str | None, since_ms: int) -> list[Path]:
    path = local_path(event_log_dir) if event_log_dir else None
    return [log for log in logs_in(Path(path)) if log.stat().st_mtime * 1000 >= since_ms] if path else []


def _is_of(log: Path, invocation: str) -> bool:
    """Whether the application of this log was started by this command: our settings are in its configuration."""
    try:
        return read_event_log(str(log)).setting(INVOCATION) == invocation
    except InputError:
        return False


def recorded_runs(store: Path, group: str, invocation: str) -> list[tuple[Path, dict[str, Any]]]:
    """The runs whose driver plugin wrote this invocation into `application.json`, by their start."""
    found = []
    for path in sorted((store / group).glob(f"*/*/{APPLICATION_DOCUMENT}")):
        try:
            said = json.loads(path.read_bytes())
        except (OSError, ValueError):
            continue
        if isinstance(said, dict) and said.get("invocation") == invocation:
            found.append((path.parent, said))
    return sorted(found, key=lambda run: (run[1].get("started_ms") or 0, str(run[0])))


def _take(logs: list[Path], said: Mapping[str, Any]) -> Path | None:
    """Takes the log of this application out of the list, by its name, which holds the application's id."""
    wanted = log_names(str(said.get("app_id") or ""), said.get("attempt"))
    for log in logs:
        if bare_name(log.name) in wanted:
            logs.remove(log)
            return log
    return None


def _place_own_log(log: Path, directory: Path) -> list[Note]:
    target = directory / EVENTLOG / log.name
    target.parent.mkdir(parents=True, exist_ok=True)
    os.replace(log, target)
    return []


def _fetch_log(said: Mapping[str, Any], event_log_dir: str | None, directory: Path) -> list[Note]:
    """The log from the user's own directory, where it can be reached from here."""
    if said.get("event_log_enabled") is False:
        message = "No event log: the application sets spark.eventLog.enabled=false. Set it to true."
        return [Note("not_recorded", message, "event log")]
    uri = str(said.get("event_log_dir") or event_log_dir or "")
    path = local_path(uri) if uri else None
    if path is None:
        message = f"The event log lies at {uri}, which is not read from here: give its files to `emberscope diagnose`."
        return [Note("not_recorded", message if uri else "No event log was found.", "event log")]
    wanted = log_names(str(said.get("app_id") or ""), said.get("attempt"))
    for log in logs_in(Path(path)):
        if bare_name(log.name) in wanted:
            return _copy_log(log, directory / EVENTLOG / log.name)
    return [Note("not_recorded", f"No event log of this application lies in {path}.", "event log")]


def _copy_log(log: Path, target: Path) -> list[Note]:
    """A second name for a log that nobody writes any more, a copy where the file system has no such thing."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        if log.is_dir():
            shutil.copytree(log, target, copy_function=_link_or_copy, dirs_exist_ok=True)
        else:
            _link_or_copy(str(log), str(target))
    except (OSError, shutil.Error) as error:
        return [Note("not_recorded", f"The event log at {log} could not be copied: {error}.", "event log")]
    return []


def _link_or_copy(source: str, target: str) -> str:
    if os.path.exists(target):
        os.unlink(target)
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
    return target


def _unrecorded(
    log: Path, store: Path, group: str, plugin: str | None, problems: Mapping[str, Any], *, copy: bool
) -> Collected:
    """A run of an application of which only the event log arrived."""
    try:
        run = read_event_log(str(log))
        app_id, attempt = run.application.app_id, run.application.attempt
        notes = _why_not_recorded(run, plugin, problems)
    except InputError:
        # Even a log that cannot be read belongs to a run: the reader says what is wrong with it.
        app_id, attempt, notes = None, None, []
    directory = run_directory(store, group, app_id or bare_name(log.name), attempt)
    notes += _copy_log(log, directory / EVENTLOG / log.name) if copy else _place_own_log(log, directory)
    return Collected(directory, tuple(notes))


def _why_not_recorded(run: Run, plugin: str | None, problems: Mapping[str, Any]) -> list[Note]:
    if plugin is None:
        return []
    if plugin not in (run.setting("spark.plugins") or ""):
        return [Note("not_recorded", NO_PLUGIN.format(plugin=plugin), "recorder")]
    if run.setting("spark.emberscope.enabled") == "false":
        return [Note("not_recorded", "Not recorded: spark.emberscope.enabled is false.", "recorder")]
    first = next((str(problem.get("message", "")) for problem in problems.get("problems", ())), "")
    return [Note("not_recorded", NOT_STARTED.format(reason=f": {first}" if first else ""), "recorder")]
