"""Where things lie in the store: `<store>/<group>/<app id>/<attempt>/`, one directory per run.

A run holds `run.json`, `application.json` (written by the driver plugin), `recordings/<role>-<executor id>/`,
`eventlog/` and `findings.json`. What is still arriving lies under `<store>/.incoming/`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from emberscope.errors import StoreError, UsageError

DEFAULT_GROUP: Final = "default"
DEFAULT_ATTEMPT: Final = "1"
INCOMING: Final = ".incoming"
RUN_DOCUMENT: Final = "run.json"
APPLICATION_DOCUMENT: Final = "application.json"
FINDINGS_DOCUMENT: Final = "findings.json"
REPORT_PAGE: Final = "report.html"
RECORDINGS: Final = "recordings"
EVENTLOG: Final = "eventlog"
EVENT_LOGS: Final = "eventlogs"
"""The directory of the store into which Spark writes where the settings of `emberscope conf` were pasted."""

_SAFE: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}")


def safe_name(name: str) -> str:
    """`name` as one path component that cannot leave the store, as the recorder writes it (`RunAddress.java`)."""
    return re.sub(r"^\.+", "_", re.sub(r"[^A-Za-z0-9._-]", "_", name)) or "_"


def check_group(group: str) -> str:
    """`group` if it is usable as a directory name; raises `UsageError` where it is not."""
    if _SAFE.fullmatch(group) is None:
        raise UsageError(
            f"{group!r} cannot be the name of a group.", hint="Use letters, digits, '.', '_' and '-', no leading dot."
        )
    return group


def run_directory(store: Path, group: str, app_id: str, attempt: str | None) -> Path:
    """The directory of one run. Never outside the store, whatever the application calls itself."""
    return store / check_group(group) / safe_name(app_id) / safe_name(attempt or DEFAULT_ATTEMPT)


def is_run(directory: Path) -> bool:
    """Whether this directory is a run: it has one of the documents of a run, or recordings with an event log."""
    if (directory / APPLICATION_DOCUMENT).is_file() or (directory / RUN_DOCUMENT).is_file():
        return True
    return (directory / RECORDINGS).is_dir()


def runs_of(store: Path) -> list[Path]:
    """The runs in a store, oldest first by the time of their newest document."""
    try:
        found = [
            attempt
            for group in _directories(store)
            for application in _directories(group)
            for attempt in _directories(application)
            if is_run(attempt)
        ]
    except OSError as error:
        raise StoreError(str(store), f"cannot be read: {error.strerror}.") from error
    return sorted(found, key=lambda run: (_changed_ns(run), str(run)))


def _directories(parent: Path) -> list[Path]:
    return [child for child in parent.iterdir() if child.is_dir() and not child.name.startswith(".")]


def _changed_ns(run: Path) -> int:
    documents = (run / RUN_DOCUMENT, run / APPLICATION_DOCUMENT, run)
    return next((path.stat().st_mtime_ns for path in documents if path.exists()), 0)
