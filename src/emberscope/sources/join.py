"""Several inputs about one application as one run: event log, recording, logs, what cluster managers say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc

from emberscope.sources.log_clocks import in_step
from emberscope.tables.coverage import Coverage, Note, total
from emberscope.tables.run import Application, Run

if TYPE_CHECKING:
    from collections.abc import Iterable

# Clocks of the machines of a cluster differ, and a manager of it speaks before an application starts and after its end.
_MARGIN_MS: Final = 10 * 60_000


def join(runs: Sequence[Run]) -> list[Run]:
    """The runs, those of one application as one, at the place of its event log or else of its first.

    What names an application goes to that. What names none goes to the only one there is, if it is of its time; where
    there are several, nothing is guessed: it stays apart. A recording does not say whose it is, so it is put to an
    event log only where there is one of each.
    """
    groups: list[list[Run]] = []
    for run in in_step(runs):
        same = next((group for group in groups if _is_same(group, run)), None)
        if same is None:
            groups.append([run])
        else:
            same.append(run)
    groups = _with_nameless(groups)
    return [_together(group) for group in groups]


def _is_same(group: Sequence[Run], run: Run) -> bool:
    """Whether a run names the application of the group, and no second event log of it."""
    name = run.application.app_id
    if name is None or all(one.application.app_id != name for one in group):
        return False
    attempts = {one.application.attempt for one in (*group, run)} - {None}
    if len(attempts) > 1:
        return False
    return not (_has_tasks(run) and any(_has_tasks(one) for one in group)) or _is_log_of_recorded(group, run)


def _is_log_of_recorded(group: Sequence[Run], run: Run) -> bool:
    """Whether it is the event log of a run that was recorded, or the other way round: it is there twice."""
    logs = [one for one in (*group, run) if _has_tasks(one)]
    return len(logs) == 2 and sum("samples" in one.tables for one in logs) == 1


def _with_nameless(groups: list[list[Run]]) -> list[list[Run]]:
    named = [group for group in groups if _name(group) is not None or any(map(_has_tasks, group))]
    nameless = [group for group in groups if group not in named]
    if not named:
        return _all_texts_as_one(groups)
    if len(named) > 1:
        return [_apart(group, "there are several here") if _is_nameless_text(group) else group for group in groups]
    (home,) = named
    recordings = [group for group in nameless if _is_recording(group[0])]
    guests = [group for group in nameless if _is_text(group[0])]
    # A recording of many may be that of another application.
    if len(recordings) == 1 and not any("samples" in run.tables for run in home) and any(map(_has_tasks, home)):
        guests += recordings
    taken = [group for group in guests if all(_may_be_one(home, run) for run in group)]
    joined = [*home, *(run for group in taken for run in group)]
    kept = [joined if group is home else group for group in groups if group not in taken]
    return [_apart(group, "the other is of another time") if _is_nameless_text(group) else group for group in kept]


def _is_nameless_text(group: Sequence[Run]) -> bool:
    return len(group) == 1 and _is_text(group[0]) and _name(group) is None


def _apart(group: Sequence[Run], why: str) -> list[Run]:
    """A text that is told by itself, and says so."""
    (run,) = group
    note = Note("limited", f"It names no application, and {why}: it is told by itself.", run.path)
    return [replace(run, coverage=run.coverage + Coverage((note,)))]


def _all_texts_as_one(groups: list[list[Run]]) -> list[list[Run]]:
    """Logs and reports that name no application, given together, are taken for those of one."""
    texts = [group for group in groups if _is_text(group[0])]
    if len(texts) < 2:
        return groups
    together = [run for group in texts for run in group]
    return [together, *(group for group in groups if group not in texts)]


def _name(group: Sequence[Run]) -> str | None:
    return next((run.application.app_id for run in group if run.application.app_id is not None), None)


def _has_tasks(run: Run) -> bool:
    return "tasks" in run.tables


def _is_recording(run: Run) -> bool:
    return "samples" in run.tables and not _has_tasks(run)


def _is_text(run: Run) -> bool:
    return "log_events" in run.tables and not _has_tasks(run) and "samples" not in run.tables


def _may_be_one(home: Sequence[Run], guest: Run) -> bool:
    """Whether the two were there at the same time; so too where one of them has no clock."""
    times = [window for run in home if (window := _window(run)) is not None]
    theirs = _windows(guest)
    if not times or not theirs:
        return True
    margin_ms = _MARGIN_MS if _is_text(guest) else 0
    begin_ms, end_ms = min(begin for begin, _ in times), max(end for _, end in times)
    return any(begin - margin_ms <= end_ms and begin_ms <= end + margin_ms for begin, end in theirs)


def _windows(run: Run) -> list[tuple[int, int]]:
    """When it was, by each of its recordings, or in all."""
    recorded = [
        (facts.start_ms, facts.start_ms + (facts.duration_ms or 0))
        for facts in run.recordings
        if facts.start_ms is not None
    ]
    window = _window(run)
    return recorded or ([] if window is None else [window])


def _window(run: Run) -> tuple[int, int] | None:
    start_ms, length_ms = run.application.app_start_ms, run.application.observed_ms
    if start_ms is not None and length_ms is not None:
        return start_ms, start_ms + length_ms
    events = run.tables.get("log_events")
    if events is None or events.num_rows == 0:
        return None
    first, last = pc.min(events["time_ms"]).as_py(), pc.max(events["last_ms"]).as_py()
    return None if first is None else (first, first if last is None else max(first, last))


def _together(group: Sequence[Run]) -> Run:
    if len(group) == 1:
        return group[0]
    # What has the event log, and of those what is recorded too, says most.
    order = sorted(group, key=lambda run: (not _has_tasks(run), "samples" not in run.tables))
    home = order[0]
    tables: dict[str, pa.Table] = {}
    for run in order:
        for name, table in run.tables.items():
            tables.setdefault(name, table)
    if events := [run.tables["log_events"] for run in order if "log_events" in run.tables]:
        tables["log_events"] = events_together(events)
    recorded = next((run for run in order if run.recordings), home)
    return replace(
        home,
        application=_application([run.application for run in order]),
        tables=tables,
        coverage=total(run.coverage for run in order),
        recordings=recorded.recordings,
        recorder=next((run.recorder for run in order if run.recorder), home.recorder),
    )


def _application(found: Sequence[Application]) -> Application:
    """The first, with what it does not know from the others; what was counted and timed is its own."""
    first = found[0]

    def known(name: str) -> str | None:
        return next((value for one in found if (value := getattr(one, name)) is not None), None)

    return replace(
        first,
        app_id=known("app_id"),
        app_name=known("app_name"),
        attempt=known("attempt"),
        user=known("user"),
        spark_version=known("spark_version"),
        java_version=known("java_version"),
        master=known("master"),
        vendor=known("vendor"),
    )


def events_together(tables: Iterable[pa.Table]) -> pa.Table:
    """Log events of several inputs on one clock, numbered anew; a line that was read twice is there once."""
    together = pa.concat_tables([table.unify_dictionaries() for table in tables], promote_options="default")
    files, lines = together["file"].to_pylist(), together["line"].to_pylist()
    texts = together["text"].to_pylist()
    firsts: dict[tuple[object, ...], int] = {}
    for row, key in enumerate(zip(files, lines, texts, strict=True)):
        firsts.setdefault(key if key[1] is not None else (*key, row), row)
    chosen = together.take(pa.array(list(firsts.values()), pa.int64()))
    order = pc.sort_indices(chosen["time_ms"])  # stable, those without a time last
    ordered = chosen.take(order)
    place = ordered.schema.get_field_index("event_id")
    numbers = pa.array(range(ordered.num_rows), pa.int64())
    return ordered.set_column(place, ordered.schema.field(place), numbers)
