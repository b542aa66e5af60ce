"""Makes one coherent patch of what all findings advise, and tells what became of the advice that is not in it.

The findings come ranked, the dearest first: where two pull at one thing, the dearer one has its way and the other is
told so. What no version of Spark would take, what does nothing here and what is so already is left out with a note.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from emberscope.rules.base import Advice
from emberscope.settings.catalog import setting_of
from emberscope.tuning.agree import agree
from emberscope.tuning.directions import is_shape, lever, pull
from emberscope.tuning.implied import added_to_lists, idle_because, needed_by
from emberscope.tuning.patch import Change, Patch
from emberscope.tuning.situation import Situation, as_number, situation_of
from emberscope.tuning.valid import refused

if TYPE_CHECKING:
    from emberscope.rules.evaluate import Ranked
    from emberscope.tables.run import Run


def patch_of(findings: Sequence[Ranked], run: Run) -> Patch:
    """The patch for what the findings of one run advise."""
    return resolved(findings, run)[1]


def resolved(findings: Sequence[Ranked], run: Run) -> tuple[tuple[Ranked, ...], Patch]:
    """The findings, in which advice that the patch cannot follow is a remark that says why; and the patch.

    What an echo of a death advises is not in it: that would mend another cause of the same words.
    """
    draft = _Draft(situation_of(run))
    told = tuple(finding if finding.echo else _offered(finding, draft) for finding in findings)
    _finish(draft)
    application = run.application.app_id
    return told, Patch(application, tuple(draft.changes.values()), tuple(dict.fromkeys(draft.notes)))


class _Draft(Struct):
    situation: Situation
    changes: dict[str, Change] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    pulls: dict[str, tuple[int, str]] = field(default_factory=dict)  # axis to sign, and who pulls
    levers: dict[str, str] = field(default_factory=dict)  # memory or cores, to who moves it


def _offered(finding: Ranked, draft: _Draft) -> Ranked:
    """The finding after its advice was put into the draft as far as it goes."""
    advice = finding.finding.advice
    settings = frozenset(item.setting for item in advice if item.setting)
    taken: dict[str, str] = {}  # levers of this finding
    told = []
    for item in advice:
        if item.setting is None or item.kind not in ("set", "unset"):
            told.append(item)
            continue
        if item.kind == "set":
            item = replace(item, setting=draft.situation.named(item.setting))
        if _is_alternative(item, taken, whole=is_shape(settings), draft=draft):
            told.append(item)
            continue
        why = _put(item, finding.rule.code, settings, draft)
        if why is None:
            by = lever(item.setting or "", draft.situation)
            if by is not None:
                taken[by] = item.setting or ""
            told.append(item)
        else:
            words = f"{item.setting}={item.value}" if item.kind == "set" else f"removing {item.setting}"
            draft.notes.append(f"Left out: {words} ({finding.rule.code}): {why}.")
            told.append(Advice("check", f"Not in the patch: {words}: {why}. {item.text}"))
    if list(advice) == told:
        return finding
    return replace(finding, finding=replace(finding.finding, advice=tuple(told)))


def _is_alternative(item: Advice, taken: Mapping[str, str], *, whole: bool, draft: _Draft) -> bool:
    """Whether this is another way to what the same finding has in the patch already."""
    if item.text.startswith(("Or ", "Or, ")):
        return bool(draft.changes)
    by = lever(item.setting or "", draft.situation)
    return not whole and by is not None and bool(taken) and by not in taken


def _put(item: Advice, code: str, together: frozenset[str], draft: _Draft) -> str | None:
    """Puts one piece of advice into the draft; a clause that says why not where it cannot be. `together` are all
    settings of the same finding."""
    key, situation = item.setting or "", draft.situation
    why = refused(item, situation)
    if why is None and item.kind == "set":
        why = idle_because(key, situation, draft.changes.keys() | together)
    if why is not None:
        return why
    value = None if item.kind == "unset" else added_to_lists(key, item.value or "", situation)
    old = situation.own(key)
    if key in draft.changes:
        return _merged(key, value, code, draft)
    if value == old or (value is not None and old is not None and _same(key, value, old)):
        return None if value is None and old is None else f"it is {old} already"
    pulled = pull(key, value, situation)
    if pulled is not None:
        sign, by = draft.pulls.get(pulled.axis, (pulled.sign, code))
        if sign != pulled.sign and by != code:
            return f"{by}, which is worth more, asks for {'more' if sign > 0 else 'less'} in {pulled.axis}"
        moved = lever(key, situation)
        if moved in ("memory", "cores"):
            other = draft.levers.get("cores" if moved == "memory" else "memory")
            if other is not None and other != code and pulled.axis == "memory of a task":
                return f"the change for {other} gives each task more already; try that first"
            draft.levers.setdefault(moved, code)
        draft.pulls.setdefault(pulled.axis, (pulled.sign, code))
    setting = setting_of(key)
    session = setting is not None and setting.session
    draft.changes[key] = Change(key, value, old, (code,), item.text, session=session)
    return None


def _merged(key: str, value: str | None, code: str, draft: _Draft) -> str | None:
    """What becomes of advice for a setting that is in the draft already."""
    change = draft.changes[key]
    codes = tuple(dict.fromkeys((*change.codes, code)))
    if change.value == value or _same(key, change.value, value):
        draft.changes[key] = replace(change, codes=codes)
        return None
    first, then = as_number(key, change.value), as_number(key, value)
    now = draft.situation.number(key)
    # A process that gets less memory than it needs dies: of two that ask for more, the larger one counts.
    if "emory" in key and first is not None and then is not None and now is not None and min(first, then) > now:
        if then > first:
            draft.changes[key] = replace(
                change,
                value=value,
                codes=codes,
                notes=(*change.notes, f"{change.codes[0]} alone asks for {change.value}."),
            )
        else:
            draft.changes[key] = replace(change, codes=codes)
        return None
    wanted = change.value if change.value is not None else "its removal"
    return f"{change.codes[0]}, which is worth more, asks for {wanted}"


def _same(key: str, a: str | None, b: str | None) -> bool:
    """Whether two values are one to Spark: `1024m` and `1g`, `TRUE` and `true`."""
    if a is None or b is None:
        return a is b
    first, then = as_number(key, a), as_number(key, b)
    return first == then if first is not None and then is not None else a.strip().lower() == b.strip().lower()


def _finish(draft: _Draft) -> None:
    """Adds what the changes need to have an effect, and makes all values agree with one another."""
    for key in list(draft.changes):
        for needed, value in needed_by(key, draft.changes[key].value, draft.situation, draft.changes):
            asked = draft.changes[key].codes
            setting = setting_of(needed)
            draft.changes[needed] = Change(
                needed,
                value,
                draft.situation.own(needed),
                asked,
                f"{key} has no effect without it.",
                session=setting is not None and setting.session,
            )
    draft.notes += agree(draft.changes, draft.situation)
