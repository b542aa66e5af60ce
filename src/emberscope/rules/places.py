"""Where a stage stands in the user's program: its call site, its SQL execution and the operators that ran in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.rules.base import Where
from emberscope.simulate.stage_tasks import StageKey
from emberscope.tables.run import once

if TYPE_CHECKING:
    from emberscope.tables.run import Run

JOINS: Final = ("SortMergeJoin", "ShuffledHashJoin", "BroadcastHashJoin", "BroadcastNestedLoopJoin", "CartesianProduct")
SHUFFLED_JOINS: Final = ("SortMergeJoin", "ShuffledHashJoin")
AGGREGATES: Final = ("HashAggregate", "ObjectHashAggregate", "SortAggregate")
# Operators that take all rows of a key at once, so that no setting and no partial result can split a key.
GROUPS: Final = ("Window", "WindowInPandas", "WindowGroupLimit", "FlatMapGroupsInPandas", "FlatMapGroupsInArrow")
# Call sites that Spark makes itself: they say nothing about the user's program.
_NO_CALL_SITE: Final = re.compile(r"\$anonfun|NativeMethodAccessorImpl|CompletableFuture|ThreadPoolExecutor")


class Operator(Struct, frozen=True):
    """One operator of a physical plan: its node in the plan, its name and the operator with its arguments."""

    node_id: int
    name: str
    detail: str

    @property
    def keys(self) -> str:
        """The columns it joins, groups, sorts or shuffles by, without Spark's expression ids; empty where it has none.

        A window's functions stand before its columns, at any length: they are not told.
        """
        found = re.search(r"keys?=\[([^\]]*)\]", self.detail) or re.search(
            r"hashpartitioning\((.*), \d+\)", self.detail
        )
        if found is None and self.name not in GROUPS:
            found = re.search(r"^\w+\s*\[([^\]]*)\]", self.detail)
        return re.sub(r"#\d+L?| (A|DE)SC NULLS (FIRST|LAST)", "", found[1]).strip() if found else ""


class Place(Struct, frozen=True):
    """One stage attempt in the words of the program."""

    where: Where
    call_site: str
    description: str
    operators: tuple[Operator, ...]
    task_count: int | None

    @property
    def title(self) -> str:
        """`Stage 12` or `Stage 12 (attempt 1)`."""
        attempt = self.where.stage_attempt
        return f"Stage {self.where.stage}" + (f" (attempt {attempt})" if attempt else "")

    def operator(self, names: Sequence[str]) -> Operator | None:
        """The operator of one of these names that is nearest to what the stage reads; None for none."""
        return next((operator for operator in reversed(self.operators) if operator.name in names), None)

    @property
    def shuffled_by(self) -> str:
        """The columns by which the rows that the stage reads were shuffled; empty where that is not known."""
        exchange = self.operator(("Exchange",))
        return exchange.keys if exchange else ""

    @property
    def words(self) -> str:
        """One clause that lets the user find the stage again: operator, description, call site."""
        parts = []
        main = self.operator((*JOINS, *AGGREGATES, *GROUPS)) or self.operator(("Sort",))
        if main is not None:
            keys = main.keys or (self.shuffled_by if main.name in GROUPS else "")
            parts.append(f"{main.name} by {keys}" if keys else main.name)
        if self.where.sql is not None:
            said = f" “{self.description}”" if self.description and self.description not in self.call_site else ""
            parts.append(f"SQL execution {self.where.sql}{said}")
        elif self.description and self.description not in self.call_site:
            parts.append(f"“{self.description}”")
        if self.call_site and not (parts and _NO_CALL_SITE.search(self.call_site)):
            parts.append(self.call_site)
        return ", ".join(parts)

    @property
    def sentence(self) -> str:
        """The title with the words in brackets: the start of a sentence about the stage."""
        return f"{self.title} ({self.words})" if self.words else self.title


class Places(Mapping[StageKey, Place]):
    """The place of every stage attempt of a run; each is made when it is asked for, since few are told."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._made: dict[StageKey, Place] = {}
        self._rows: dict[StageKey, int] = {}
        stages = run.tables.get("stages")
        if stages is not None:
            keys = zip(stages["stage_id"].to_pylist(), stages["stage_attempt"].to_pylist(), strict=True)
            self._rows = {key: row for row, key in enumerate(keys)}

    def __getitem__(self, key: StageKey) -> Place:
        if key not in self._made:
            columns = ["name", "job_id", "sql_execution_id", "description", "task_count"]
            (row,) = self._run.tables["stages"].select(columns).slice(self._rows[key], 1).to_pylist()
            sql = row["sql_execution_id"]
            self._made[key] = Place(
                Where(sql=sql, job=row["job_id"], stage=key[0], stage_attempt=key[1]),
                short_call_site(row["name"] or ""),
                _one_line(row["description"] or sql_descriptions(self._run).get(sql, "")),
                tuple(operators_by_stage(self._run).get(key[0], ())),
                row["task_count"] if (row["task_count"] or 0) >= 0 else None,
            )
        return self._made[key]

    def __iter__(self) -> Iterator[StageKey]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


@once
def places(run: Run) -> Places:
    """Every stage attempt that the run knows. Empty where it has no table `stages`."""
    return Places(run)


def place_of(known: Mapping[StageKey, Place], key: StageKey) -> Place:
    """The place of a stage attempt; a bare one where only its tasks are known."""
    return known.get(key) or Place(Where(stage=key[0], stage_attempt=key[1]), "", "", (), None)


@once
def operators_by_stage(run: Run) -> dict[int, list[Operator]]:
    """The plan operators that updated a metric in each stage, by SQL execution and node."""
    nodes = run.tables.get("plan_nodes")
    if nodes is None:
        return {}
    found: dict[int, list[tuple[int, Operator]]] = {}
    columns = (nodes[name].to_pylist() for name in ("sql_execution_id", "node_id", "name", "detail", "stage_ids"))
    for sql, node_id, name, detail, stages in zip(*columns, strict=True):
        for stage in stages or ():
            operator = Operator(node_id, (name or "").partition(" ")[0], detail or "")
            found.setdefault(stage, []).append((sql, operator))
    return {
        stage: [pair[1] for pair in sorted(pairs, key=lambda pair: (pair[0], pair[1].node_id, pair[1].name))]
        for stage, pairs in found.items()
    }


@once
def sql_descriptions(run: Run) -> dict[int, str]:
    """The description of each SQL execution by its id, empty where it has none."""
    table = run.tables.get("sql_executions")
    if table is None:
        return {}
    return {
        row["sql_execution_id"]: row["description"] or ""
        for row in table.select(["sql_execution_id", "description"]).to_pylist()
    }


def short_call_site(text: str) -> str:
    """`collect at /home/me/jobs/daily.py:23` as `collect at daily.py:23`: the file is enough to find the line."""
    return re.sub(r"(?<=\bat )\S*/(?=[^/\s]+:\d+)", "", text)


def _one_line(text: str, most: int = 120) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
