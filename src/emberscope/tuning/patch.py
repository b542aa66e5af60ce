"""A patch: changes of settings that go together, and what became of the advice that is not among them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct


class Change(Struct, frozen=True):
    """One setting to change. `value` is None where it is to be removed, `old` what the run had set (None: nothing).

    `codes` are the rules that ask for it, `why` is their reason, `notes` what else to know. `session`: whether a
    session that runs may change it; all others need a new application.
    """

    setting: str
    value: str | None
    old: str | None
    codes: tuple[str, ...]
    why: str
    notes: tuple[str, ...] = ()
    session: bool = False

    def document(self) -> dict[str, Any]:
        return {
            "setting": self.setting,
            "value": self.value,
            "old": self.old,
            "codes": list(self.codes),
            "why": self.why,
            "notes": list(self.notes),
            "session": self.session,
        }


class Patch(Struct, frozen=True):
    """All changes, in the order of the findings that ask for them, and sentences on what is not among them."""

    app_id: str | None
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def settings(self) -> dict[str, str]:
        """What to set, by name; removals are among the changes alone."""
        return {change.setting: change.value for change in self.changes if change.value is not None}

    @property
    def removed(self) -> tuple[str, ...]:
        return tuple(change.setting for change in self.changes if change.value is None)

    def remarks(self) -> list[str]:
        """What to know beside the settings, a sentence each: what was set before, what was left out and why."""
        return [*(remark for change in self.changes for remark in _remarks(change)), *self.notes]

    def document(self) -> dict[str, Any]:
        """As `diagnose --json` has it in `patches`."""
        return {
            "app_id": self.app_id,
            "changes": [change.document() for change in self.changes],
            "notes": list(self.notes),
        }


def patch_of_document(document: Mapping[str, Any]) -> Patch:
    """The patch that `Patch.document` made. Raises `KeyError`, `TypeError` or `ValueError` where it is none."""
    app_id = document["app_id"]
    changes = tuple(_change_of(change) for change in document["changes"])
    return Patch(None if app_id is None else str(app_id), changes, tuple(str(note) for note in document["notes"]))


def _change_of(document: Mapping[str, Any]) -> Change:
    value, old = document["value"], document["old"]
    return Change(
        str(document["setting"]),
        None if value is None else str(value),
        None if old is None else str(old),
        tuple(str(code) for code in document["codes"]),
        str(document["why"]),
        tuple(str(note) for note in document["notes"]),
        bool(document["session"]),
    )


def _remarks(change: Change) -> Iterator[str]:
    """Each in one line, whatever is in the values."""
    for remark in _remarks_of(change):
        yield " ".join(remark.split())


def _remarks_of(change: Change) -> Iterator[str]:
    asked = f" ({', '.join(change.codes)})" if change.codes else ""
    if change.value is None:
        yield f"Remove {change.setting}, now {change.old}{asked}."
    elif change.old is not None and change.old != change.value:
        yield f"{change.setting}: you had set {change.old}; {change.value} takes its place{asked}."
    for note in change.notes:
        yield f"{change.setting}: {note}"
