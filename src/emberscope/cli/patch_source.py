"""Where `emberscope conf --from` takes its patch from: a document of `diagnose --json`, or what is diagnosed here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emberscope.errors import EmberscopeError, InputError, UsageError

if TYPE_CHECKING:
    from emberscope.tuning.patch import Patch

_SCHEMA = "emberscope.diagnose/1"


def patch_from(source: str, app_id: str | None) -> tuple[Patch, EmberscopeError | None]:
    """The patch of one application, and what of the input could not be read.

    Raises `InputError` for what can be neither read nor diagnosed, `UsageError` where it is about several applications
    and none is chosen.
    """
    from emberscope.sources.at_hand import at_hand

    if source != "-":
        return _patch_at(source, app_id)
    with at_hand(source) as place:
        try:
            patch, problem = _patch_at(place.path, app_id)
        except InputError as error:
            raise place.error(error) from None
        return patch, place.error(problem) if isinstance(problem, InputError) else problem


def _patch_at(source: str, app_id: str | None) -> tuple[Patch, EmberscopeError | None]:
    document = _document(source)
    if document is not None:
        return _chosen(_patches(document, source), app_id), None
    from emberscope.cli.inputs import read_inputs
    from emberscope.report.diagnosis import diagnose_each, diagnose_one
    from emberscope.sources.load import load_input

    reading = read_inputs([source], None, load_input, diagnose_one, of_application=True)
    problem: EmberscopeError | None = None
    try:
        reading.fail_if_incomplete()
    except InputError as error:
        if not reading.results:
            raise
        problem = error
    return _chosen([item.patch for item in diagnose_each([found for _, found in reading.results])], app_id), problem


def _document(source: str) -> Mapping[str, Any] | None:
    """The document of `diagnose --json` in this file; None for anything else."""
    path = Path(source)
    try:
        with path.open("rb") as file:
            head = file.read(200)
            if b'"schema"' not in head or _SCHEMA.encode() not in head:
                return None
            text = head + file.read()
    except OSError:
        return None  # whoever reads inputs says what is wrong with it
    try:
        document = json.loads(text)
    except ValueError as error:
        raise InputError(source, "its JSON is cut or malformed.", hint="Run `emberscope diagnose` again.") from error
    return document if isinstance(document, dict) else None


def _patches(document: Mapping[str, Any], source: str) -> list[Patch]:
    from emberscope.tuning.patch import patch_of_document

    try:
        return [patch_of_document(patch) for patch in document["patches"]]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        hint = "Run `emberscope diagnose --json` again."
        raise InputError(source, "it has no patches that can be read.", hint=hint) from error


def _chosen(patches: Sequence[Patch], app_id: str | None) -> Patch:
    from emberscope.tuning.patch import Patch

    if app_id is not None:
        found = next((patch for patch in patches if patch.app_id == app_id), None)
        if found is None:
            names = ", ".join(str(patch.app_id) for patch in patches) or "none"
            raise UsageError(f"--app {app_id}: there is no such application.", hint=f"There are: {names}.")
        return found
    asked = [patch for patch in patches if patch.changes]
    if len(asked) > 1:
        names = ", ".join(str(patch.app_id) for patch in asked)
        raise UsageError("the findings are about several applications.", hint=f"Choose one with --app: {names}.")
    return asked[0] if asked else patches[0] if len(patches) == 1 else Patch(None)
