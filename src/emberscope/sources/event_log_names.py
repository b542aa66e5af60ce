"""Where Spark put the event log of an application, and under which name, as the recorder wrote it down."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from emberscope.recorder.merge import SPARKS_EVENT_LOG_DIR, local_path
from emberscope.store.layout import EVENT_LOGS, INCOMING


def logs_left(run: Path, said: Mapping[str, Any]) -> list[Path]:
    """The logs of a run that lie where Spark wrote them, because nobody has put them into the run.

    `said` is the run's `application.json`. Spark wrote into the directory that it names, or, where the store was
    moved since, into `.incoming` or the directory of event logs of the store around the run.
    """
    app_id = said.get("app_id")
    if not app_id or said.get("event_log_enabled") is False:
        return []
    uri = str(said.get("event_log_dir") or SPARKS_EVENT_LOG_DIR)
    named = local_path(uri)
    places = [Path(named)] if named else []
    for store in run.absolute().parents[2:3]:
        places += [store / INCOMING / str(said.get("invocation") or "-"), store / EVENT_LOGS]
    wanted = log_names(str(app_id), said.get("attempt"))
    for place in places:
        try:
            logs = [log for log in logs_in(place) if bare_name(log.name) in wanted]
        except OSError:  # a directory that only Spark's user may read
            continue
        if logs:
            return logs
    return []


def logs_in(directory: Path) -> list[Path]:
    """The logs of a directory, files and rolling directories, by name; empty where there is no such directory."""
    if not directory.is_dir():
        return []
    return sorted(path for path in directory.iterdir() if not path.name.startswith("."))


def log_names(app_id: str, attempt: str | None) -> set[str]:
    """The names that Spark may give the log of an application, without codec and state.

    Spark writes `<id>` or `<id>_<attempt>`, and replaces what file systems do not like.
    """
    name = re.sub(r"[ :/]", "-", app_id)
    name = re.sub(r"[.${}'\"]", "_", name).lower()
    return {name, f"{name}_{attempt}"} if attempt else {name}


def bare_name(log: str) -> str:
    """The name of an event log without `eventlog_v2_`, codec and `.inprogress`."""
    return re.sub(r"(?:\.(?:lz4|lzf|snappy|zstd|inprogress))+$", "", log.removeprefix("eventlog_v2_")).lower()
