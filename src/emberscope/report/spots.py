"""The place of each finding in the user's program, for outputs that have a field for it: file, line, operator."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc

from emberscope.rules.places import AGGREGATES, GROUPS, JOINS, place_of, places

if TYPE_CHECKING:
    from emberscope.rules.base import Where
    from emberscope.rules.evaluate import Ranked
    from emberscope.tables.run import Run

_SOURCE: Final = re.compile(r"(?:\bat |^)([^\s:]+\.(?:py|scala|java|kt|sql|ipynb|R|r)):(\d+)$")
# Stages of a query run on a thread of Spark's own: its call site is a file of Java's or Spark's, not of the user's.
_NOT_THEIRS: Final = re.compile(r"\$anonfun|\bin\b <unknown>|Native Method|NativeMethodAccessorImpl|^run at ")
_FOREIGN: Final = ("org.apache.spark.", "java.", "java.base/", "jdk.", "scala.", "py4j.", "sun.")


@dataclass(frozen=True, slots=True)
class Spot:
    """`path` and `line` of the user's source file, None where the log does not tell it; `operator` is the operator of
    the plan with its keys, `call_site` the action as Spark names it, `sql` the execution's description."""

    path: str | None = None
    line: int | None = None
    call_site: str = ""
    operator: str = ""
    sql: str = ""


def spots(run: Run, findings: Sequence[Ranked]) -> tuple[Spot, ...]:
    """One for each finding, in their order."""
    wheres = [one.finding.where for one in findings]
    stages = _texts(run, "stages", "stage_id", ("name", "details"), [where.stage for where in wheres])
    jobs = _texts(run, "jobs", "job_id", ("call_site", "details"), [where.job for where in wheres])
    by_sql = _texts(run, "jobs", "sql_execution_id", ("call_site", "details"), [where.sql for where in wheres])
    return tuple(_spot(run, where, stages, jobs, by_sql) for where in wheres)


def source_of(call_site: str, details: str = "") -> tuple[str, int] | None:
    """File and line of a call site such as `collect at /jobs/daily.py:23`; None for code that is not the user's."""
    found = _SOURCE.search(call_site.strip())
    if found is None or _NOT_THEIRS.search(call_site):
        return None
    file = found[1].rpartition("/")[2]
    lines = [line for line in details.splitlines() if f"({file}:{found[2]})" in line]
    if lines and all(line.strip().startswith(_FOREIGN) for line in lines):
        return None
    return found[1], int(found[2])


def _spot(run: Run, where: Where, stages: _Texts, jobs: _Texts, by_sql: _Texts) -> Spot:
    candidates = [(where.line or "", ""), *stages.get(where.stage, ()), *by_sql.get(where.sql, ())]
    candidates += jobs.get(where.job, ())
    source = next(filter(None, (source_of(*candidate) for candidate in candidates)), None)
    path, line = source or (None, None)
    if where.stage is None:
        return Spot(path, line)
    place = place_of(places(run), (where.stage, where.stage_attempt or 0))
    main = place.operator((*JOINS, *AGGREGATES, *GROUPS)) or place.operator(("Sort", "Exchange"))
    operator = " ".join(filter(None, (main.name, main.keys))) if main else ""
    return Spot(path, line, place.call_site, operator, place.description)


_Texts = dict[int | None, list[tuple[str, str]]]


def _texts(run: Run, name: str, key: str, columns: tuple[str, str], wanted: Sequence[int | None]) -> _Texts:
    """Short and long call site of the rows of a table with these keys."""
    table, keys = run.tables.get(name), sorted({one for one in wanted if one is not None})
    if table is None or not keys:
        return {}
    rows = table.filter(pc.is_in(table[key], pa.array(keys, table[key].type))).select([key, *columns]).to_pylist()
    found: _Texts = {}
    for row in rows:
        found.setdefault(row[key], []).append((row[columns[0]] or "", row[columns[1]] or ""))
    return found
