"""Our settings beside the user's: lists and options are added to, the user's own choices stay."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urlsplit

LISTS: Final = frozenset({"spark.plugins", "spark.jars", "spark.jars.packages"})
"""Settings whose value is a list with commas."""

OPTIONS: Final = frozenset(
    f"spark.{role}.{kind}JavaOptions" for role in ("driver", "executor") for kind in ("extra", "default")
)
"""Settings whose value is a line of JVM options."""

PATHS: Final = frozenset({"spark.driver.extraClassPath", "spark.executor.extraClassPath"})
"""Settings whose value is a class path."""

EVENT_LOG_ENABLED: Final = "spark.eventLog.enabled"
EVENT_LOG_DIR: Final = "spark.eventLog.dir"
SPARKS_EVENT_LOG_DIR: Final = "file:///tmp/spark-events"
"""Spark's own default for `spark.eventLog.dir`."""


@dataclass(frozen=True, slots=True)
class Merged:
    """`values`: what to hand to Spark, already merged. `event_log_dir`: where the log will be, None for no log."""

    values: dict[str, str]
    event_log_dir: str | None


def merge(ours: Mapping[str, str], users: Mapping[str, str], *, forced: frozenset[str] = frozenset()) -> Merged:
    """Our settings merged with what the user sets outside the code.

    Lists and option lines get ours behind theirs, each entry once. The event log is switched on only where the user
    says nothing about it. Of all other settings the user's value stays, but for those in `forced`.
    """
    values: dict[str, str] = {}
    for key, value in ours.items():
        theirs = users.get(key, "")
        if key in (EVENT_LOG_ENABLED, EVENT_LOG_DIR):
            continue
        if key in LISTS:
            values[key] = joined_list(theirs, value)
        elif key in OPTIONS:
            values[key] = theirs if value in theirs else f"{theirs} {value}".strip()
        elif key in PATHS:
            values[key] = ":".join(dict.fromkeys(part for part in [*theirs.split(":"), *value.split(":")] if part))
        elif key not in users or key in forced:
            values[key] = value
    event_log, directory = _event_log(ours, users)
    return Merged(values | event_log, directory)


def joined_list(theirs: str, ours: str) -> str:
    """Two lists with commas as one: theirs first, each entry once, in order."""
    entries = (entry.strip() for entry in [*theirs.split(","), *ours.split(",")])
    return ",".join(dict.fromkeys(entry for entry in entries if entry))


def local_path(uri: str) -> str | None:
    """The path of a local URI or path; None for any other file system."""
    parts = urlsplit(uri)
    if parts.scheme == "":
        return uri
    return unquote(parts.path) if parts.scheme == "file" and parts.netloc in ("", "localhost") else None


def _event_log(ours: Mapping[str, str], users: Mapping[str, str]) -> tuple[dict[str, str], str | None]:
    """What to add so that there is an event log, and where it will lie."""
    enabled, directory = users.get(EVENT_LOG_ENABLED), users.get(EVENT_LOG_DIR)
    if enabled is not None:
        is_on = enabled.strip().lower() == "true"
        return {}, (directory or SPARKS_EVENT_LOG_DIR) if is_on else None
    if EVENT_LOG_ENABLED not in ours:
        return {}, None
    if directory is not None and _is_usable(directory):
        return {EVENT_LOG_ENABLED: "true"}, directory
    # A directory that is named while the log is off is not in use. Where it may not exist, switching the log on there
    # could keep the application from starting, so ours is named instead.
    return {EVENT_LOG_ENABLED: "true", EVENT_LOG_DIR: ours[EVENT_LOG_DIR]}, ours[EVENT_LOG_DIR]


def _is_usable(uri: str) -> bool:
    path = local_path(uri)
    return path is not None and os.path.isdir(path) and os.access(path, os.W_OK | os.X_OK)
