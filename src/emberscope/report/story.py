"""The wall time as the run's own story: who kept the application busy at each instant, in the order in which they came.

Each instant has one owner. No job active: the driver alone, before the first job, between jobs, or after the last one.
A job active and no task running: waiting, for executors where there are none, else for the scheduler. A task running:
the active job that ends last, as it is the one that the rest waited for (of a critical path that is the backward walk
from the end); a job counts for its SQL execution (the outermost one), its streaming query, its job group, or else for
all jobs of its call site. The parts sum exactly to the application's duration.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from emberscope.report.outcome import is_told
from emberscope.rules.places import short_call_site
from emberscope.simulate.shares import Steps, steps
from emberscope.units import counted, format_count, format_ms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run

# More parts than this cannot be told apart in one bar; what is smaller than the least share neither.
_MOST: Final = 8
_LEAST_RATIO: Final = 0.01
_MUCH_RATIO: Final = 0.1
# So much of what work is called, its numbers aside, makes it alike: long texts are cut at a length that numbers shift.
_ALIKE: Final = 80
_NUMBERS: Final = re.compile(r"\d+")

_Key = tuple[str, Any]


@dataclass(frozen=True, slots=True)
class Chapter:
    """One part of the story.

    `part` is driver_before, driver_between, driver_after, waiting_for_executors, scheduling, work, other_work or
    unknown_work. `sql` is the SQL execution of work that has one, `stage` the stage attempt that took most of the part.
    """

    part: str
    label: str
    wall_ms: int
    ratio: float
    note: str = ""
    sql: int | None = None
    stage: tuple[int, int] | None = None

    def document(self) -> dict[str, Any]:
        return {
            "part": self.part,
            "label": self.label,
            "wall_ms": self.wall_ms,
            "ratio": round(self.ratio, 6),
            "sql": self.sql,
            "stage": None if self.stage is None else self.stage[0],
        }


def story(run: Run) -> tuple[Chapter, ...]:
    """The chapters in the order in which they began, the driver's and the waits around them; empty where start or end
    of the application are not known."""
    pieces = None if is_told(run) else steps(run)
    if pieces is None:
        return ()
    jobs = _jobs(run)
    owner, keys = _owners(pieces, jobs)
    lengths, busy, active = pieces.lengths_ms, pieces.running > 0, pieces.jobs > 0
    duration_ms = float(lengths.sum())
    index = np.arange(len(lengths))
    worked = np.flatnonzero(active | busy)
    first, last = (worked[0], worked[-1]) if len(worked) else (len(lengths), len(lengths))
    no_executor = (pieces.cores == 0) if pieces.cores is not None else np.zeros_like(busy)
    idle, waiting = ~active & ~busy, active & ~busy

    def chapter(part: str, label: str, mine: NDArray[np.bool_], note: str = "") -> Chapter:
        wall_ms = float(lengths[mine].sum())
        return Chapter(part, label, round(wall_ms), wall_ms / duration_ms, note)

    told = [
        chapter(
            "driver_before", f"driver alone, {'before the first' if len(worked) else 'no'} job", idle & (index < first)
        ),
        chapter("waiting_for_executors", "waiting for executors", waiting & no_executor, "a job is active"),
        chapter("scheduling", "a job is active, no task runs", waiting & ~no_executor),
        *_work(run, pieces, owner, keys, jobs, busy & active, duration_ms),
        chapter("unknown_work", "tasks of no known job", busy & ~active),
        chapter("driver_between", "driver alone, between jobs", idle & (index > first) & (index < last)),
        chapter("driver_after", "after the last job", idle & (index > last)),
    ]
    return tuple(one for one in told if one.wall_ms > 0)


def _jobs(run: Run) -> list[dict[str, Any]]:
    table = run.tables.get("jobs")
    if table is None:
        return []
    roots = _roots(run)
    rows: list[dict[str, Any]] = table.to_pylist()
    for row in rows:
        row["key"] = _key(row, roots)
    return [row for row in rows if row["submitted_ms"] is not None]


def _key(row: Mapping[str, Any], roots: Mapping[int, int]) -> _Key:
    if row["streaming_query_id"] is not None:
        return "query", row["streaming_query_id"]
    if row["sql_execution_id"] is not None:
        return "sql", roots.get(row["sql_execution_id"], row["sql_execution_id"])
    if row["job_group"] is not None:
        return "group", row["job_group"]
    return "site", row["description"] or short_call_site(row["call_site"] or "") or f"job {row['job_id']}"


def _roots(run: Run) -> dict[int, int]:
    """The outermost SQL execution of each."""
    table = run.tables.get("sql_executions")
    if table is None:
        return {}
    rows = table.select(["sql_execution_id", "root_execution_id"]).to_pylist()
    return {row["sql_execution_id"]: row["root_execution_id"] for row in rows if row["root_execution_id"] is not None}


def _owners(pieces: Steps, jobs: Sequence[Mapping[str, Any]]) -> tuple[NDArray[np.int64], list[_Key]]:
    """For each piece the place of its owner in the list of keys; -1 where no job is active."""
    keys = list(dict.fromkeys(job["key"] for job in sorted(jobs, key=lambda job: (job["submitted_ms"], job["job_id"]))))
    places = {key: place for place, key in enumerate(keys)}
    spans = [(job["submitted_ms"], job["completed_ms"], places[job["key"]]) for job in jobs]
    return _latest(pieces, spans), keys


def _latest(pieces: Steps, spans: Sequence[tuple[int, int | None, int]]) -> NDArray[np.int64]:
    """For each piece the number of the span that ends last of those that cover it; -1 where none does."""
    chosen = np.full(len(pieces.running), -1, np.int64)
    end_ms = float(pieces.edges[-1])
    order = sorted(spans, key=lambda span: (end_ms if span[1] is None else min(span[1], end_ms), -span[0]))
    if not order:
        return chosen
    begins = np.searchsorted(pieces.edges, [span[0] for span in order], side="left")
    ends = np.searchsorted(pieces.edges, [end_ms if span[1] is None else span[1] for span in order], side="left")
    for begin, end, (_, _, number) in zip(begins, ends, order, strict=True):
        chosen[begin:end] = number
    return chosen


def _work(
    run: Run,
    pieces: Steps,
    owner: NDArray[np.int64],
    keys: Sequence[_Key],
    jobs: Sequence[Mapping[str, Any]],
    mine: NDArray[np.bool_],
    duration_ms: float,
) -> list[Chapter]:
    """The largest owners, each a chapter; owners that are called alike but for numbers together; then all others."""
    lengths = np.where(mine, pieces.lengths_ms, 0.0)
    known = owner >= 0
    wall = np.bincount(owner[known], lengths[known], len(keys))
    words, least_ms = _words(run, jobs), _LEAST_RATIO * duration_ms
    large = [int(place) for place in np.argsort(-wall, kind="stable") if wall[place] >= least_ms]
    # Where much would be left, fewer are told one by one, so that there is room to tell it by what it is called.
    much = float(wall.sum() - wall[large[:_MOST]].sum()) > _MUCH_RATIO * duration_ms
    large = large[: _MOST // 2 if much else _MOST]
    rest = np.setdiff1d(np.flatnonzero(wall > 0), large).tolist()
    alike: dict[str, list[int]] = {}
    for place in rest:
        alike.setdefault(_NUMBERS.sub("…", words[keys[place]])[:_ALIKE], []).append(place)
    groups = sorted((group for group in alike.values() if len(group) > 1), key=lambda group: -wall[group].sum())
    groups = [group for group in groups if wall[group].sum() >= least_ms][: _MOST - len(large)]
    rest = sorted(set(rest).difference(*groups))
    stages = _stages_on_the_way(run, pieces, owner, keys, jobs, lengths, large)

    def chapter(part: str, label: str, places: Sequence[int], note: str) -> Chapter:
        wall_ms = float(wall[places].sum())
        key = keys[places[0]]
        one = len(places) == 1
        by_stage = stages.get(places[0]) if one else None
        stage = max(by_stage.items(), key=lambda item: item[1])[0] if by_stage else None
        sql = key[1] if one and key[0] == "sql" else None
        return Chapter(part, label, round(wall_ms), wall_ms / duration_ms, note, sql, stage)

    told = [([place], words[keys[place]], _longest_stage(stages.get(place, {}))) for place in large]
    for group in groups:
        label = f"{_NUMBERS.sub('…', words[keys[group[0]]])}, {format_count(len(group))} times"
        told.append((group, label, f"the longest {format_ms(float(wall[group].max()))}"))
    chapters = [chapter("work", label, places, note) for places, label, note in sorted(told, key=lambda one: one[0][0])]
    if len(rest) == 1:
        chapters.append(chapter("other_work", words[keys[rest[0]]], rest, ""))
    elif rest:
        note = f"the longest {format_ms(float(wall[rest].max()))}"
        chapters.append(chapter("other_work", f"{format_count(len(rest))} shorter pieces of work", rest, note))
    return chapters


def _longest_stage(stages: Mapping[tuple[int, int], float]) -> str:
    if not stages:
        return ""
    stage, stage_ms = max(stages.items(), key=lambda item: item[1])
    return f"most of it stage {stage[0]}, {format_ms(stage_ms)}" if len(stages) > 1 else f"stage {stage[0]}"


def _stages_on_the_way(
    run: Run,
    pieces: Steps,
    owner: NDArray[np.int64],
    keys: Sequence[_Key],
    jobs: Sequence[Mapping[str, Any]],
    lengths: NDArray[np.float64],
    wanted: Sequence[int],
) -> dict[int, dict[tuple[int, int], float]]:
    """For each of these owners: of each of its stage attempts, the time in which it was the one that ended last."""
    table = run.tables.get("stages")
    if table is None:
        return {}
    places = {key: place for place, key in enumerate(keys)}
    by_job = {job["job_id"]: places[job["key"]] for job in jobs}
    spans: dict[int, list[tuple[int, int | None, int]]] = {}
    names: list[tuple[int, int]] = []
    for row in table.select(["stage_id", "stage_attempt", "submitted_ms", "completed_ms", "job_id"]).to_pylist():
        if row["submitted_ms"] is None or row["job_id"] not in by_job:
            continue
        spans.setdefault(by_job[row["job_id"]], []).append((row["submitted_ms"], row["completed_ms"], len(names)))
        names.append((row["stage_id"], row["stage_attempt"]))
    found: dict[int, dict[tuple[int, int], float]] = {}
    for place in wanted:
        chosen = _latest(pieces, spans.get(place, ()))
        mine = (owner == place) & (chosen >= 0) & (lengths > 0)
        sums = np.bincount(chosen[mine], lengths[mine], len(names)) if names else np.empty(0)
        found[place] = {names[number]: float(sums[number]) for number in np.flatnonzero(sums)}
    return found


def _words(run: Run, jobs: Sequence[Mapping[str, Any]]) -> dict[_Key, str]:
    """What each owner is called."""
    executions, queries = run.tables.get("sql_executions"), run.tables.get("streaming_queries")
    said: dict[Any, str] = {}
    if executions is not None:
        for row in executions.select(["sql_execution_id", "description"]).to_pylist():
            said[row["sql_execution_id"]] = " ".join((row["description"] or "").split())
    named: dict[Any, str] = {}
    if queries is not None and "name" in queries.column_names:
        named = {row["query_id"]: row["name"] or "" for row in queries.select(["query_id", "name"]).to_pylist()}
    counts: dict[_Key, int] = {}
    for job in jobs:
        counts[job["key"]] = counts.get(job["key"], 0) + 1
    words = {}
    for (kind, name), count in counts.items():
        many = f", {counted(count, 'job')}" if count > 1 else ""
        if kind == "sql":
            text = short_call_site(said.get(name, ""))
            words[kind, name] = f"SQL execution {name}" + (f": {_clipped(text)}" if text else "")
        elif kind == "query":
            words[kind, name] = f"streaming query {_clipped(named.get(name) or str(name))}{many}"
        elif kind == "group":
            words[kind, name] = f"job group {_clipped(str(name))}{many}"
        else:
            words[kind, name] = f"{_clipped(str(name))}{many}"
    return words


def _clipped(text: str, most: int = 120) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
