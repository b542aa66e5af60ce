"""Logs that lie together, put by application: two applications in one folder are two inputs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from emberscope.logs.instance_state import looks_like_instance_state
from emberscope.logs.place import SHARED_ROLES, application_in, place_of
from emberscope.logs.read import first_role
from emberscope.sources.kind import read_head, unpack_head


def grouped(files: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    """The files of each application, in the order of names, each with the path that holds them all.

    Logs that name no application, and those of daemons that serve many, go to the application where there is one, and
    are an input of their own where there are several.
    """
    groups: dict[str | None, list[str]] = {}
    for file in files:
        groups.setdefault(application_of(file), []).append(file)
    named = [name for name in groups if name is not None]
    if len(named) == 1:
        return [(_place(files), tuple(files))]
    return [(_place(of_one), tuple(of_one)) for of_one in groups.values()]


def application_of(file: str) -> str | None:
    """The application that a log is about, by its path or its first lines; None where it serves many or names none."""
    place = place_of(file)
    if place.app_id is not None:
        return place.app_id
    if place.role in SHARED_ROLES:
        return None
    try:
        text = unpack_head(read_head(Path(file))).decode("utf-8", "replace")
    except OSError:
        return None
    # The processes of a node name applications that it is not the log of.
    if first_role(text) in SHARED_ROLES or looks_like_instance_state(text.encode()):
        return None
    return application_in(text)


def _place(files: Sequence[str]) -> str:
    return files[0] if len(files) == 1 else os.path.commonpath(files)
