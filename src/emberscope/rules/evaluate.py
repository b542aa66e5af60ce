"""Runs the rules over a run: findings with severity, order and causes; and what could not be evaluated, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from emberscope.rules.asked import confirmed
from emberscope.rules.base import Consequence, Evidence, Finding, Reads, Rule, Where
from emberscope.rules.catalog import RULES
from emberscope.rules.causes import causes
from emberscope.rules.deaths import death_causes, is_echo, without_circles
from emberscope.rules.moments import as_it_ended, first_ms
from emberscope.simulate.cores import is_whole, observed_window, offered_core_ms
from emberscope.simulate.stage_figures import stage_figures
from emberscope.tables.run import once
from emberscope.units import format_ratio

if TYPE_CHECKING:
    from emberscope.tables.run import Run

SEVERITIES: Final = ("critical", "high", "medium", "low", "info")

# Smallest share of the application's time that is worth this severity (our proposal: half of the time is critical,
# a twentieth is worth somebody's afternoon, under 1 % is not worth a change).
_LADDER: Final = ((0.5, "critical"), (0.2, "high"), (0.05, "medium"), (0.01, "low"))

# A core hour wasted without making anybody wait counts half of the same share of wall time (our proposal).
_CORE_WEIGHT: Final = 0.5

MOST_OF_ONE_RULE: Final = 20

# Severity is no less than what follows from the finding, whatever it costs (our proposal).
_LEAST: Final[dict[Consequence | None, str]] = {"ended": "critical", "blind": "medium", "lost": "low", "risk": "low"}

# Applications whose tasks ran for less than this in all are too small for more than a remark, unless they failed.
SMALL_TASK_TIME_MS: Final = 60_000

# A rule about idle time needs this share of the tasks: one that is not seen leaves its slot empty (our proposal).
LEAST_TASKS_SEEN: Final = 0.99

_EVENT_LOG: Final = "from a Spark event log (spark.eventLog.enabled=true)"
_RECORDING: Final = "from a recording (start the application with `emberscope run`)"
_LOGS: Final = "from logs of driver and executors"
_NOT_HERE: Final = "which this log does not hold"
_IN_PART: Final = ", to judge all that it is for"
_SOURCES: Final = (_EVENT_LOG, _RECORDING, _LOGS)
_RECORDED: Final = frozenset({"samples", "stacks", "frames", "spans", "series", "marks"})


class Ranked(Struct, frozen=True):
    """A finding with what the engine adds. `caused_by` are indices into the list that holds it.

    `worth_ms` is what findings are ordered by: the impact on the application's time as if all were wall time, by how
    sure it is. `at_ms` is when it was first seen; None where it is of no moment, or no clock tells. An `echo` is told
    of a process that another finding says the end of: what would mend it mends that.
    """

    rule: Rule[Any]
    app_id: str | None
    finding: Finding
    severity: str
    confidence: float
    caused_by: tuple[int, ...] = ()
    worth_ms: float = 0.0
    at_ms: int | None = None
    echo: bool = False

    def document(self) -> dict[str, Any]:
        """The finding as `diagnose --json` prints it."""
        finding = self.finding
        return {
            "code": self.rule.code,
            "name": self.rule.name,
            "app_id": self.app_id,
            "title": finding.title,
            "severity": self.severity,
            "confidence": round(self.confidence, 2),
            "summary": finding.summary,
            "where": finding.where.document(),
            "evidence": [evidence.document() for evidence in finding.evidence],
            "wasted_wall_ms": finding.wasted_wall_ms,
            "wasted_core_ms": finding.wasted_core_ms,
            "saving_basis": finding.saving_basis,
            "advice": [advice.document() for advice in finding.advice],
            "caused_by": list(self.caused_by),
            "url": self.rule.url,
        }


class NotEvaluated(Struct, frozen=True):
    """A rule that could not be asked. `needs` says what is missing and how to get it, `reason` the same without the
    tables by name, so that rules with one reason can be told together."""

    code: str
    needs: str
    reason: str


class Diagnosis(Struct, frozen=True):
    """All findings of one run, ranked, causes before their consequences; the rules that could not be asked at all or
    in part, and how many could."""

    findings: tuple[Ranked, ...]
    not_evaluated: tuple[NotEvaluated, ...]
    asked: int


def evaluate(run: Run, rules: Sequence[Rule[Any]] = RULES) -> Diagnosis:
    """Asks every rule whose tables are there."""
    sureness = data_confidence(run)
    small = task_time_ms(run) < SMALL_TASK_TIME_MS
    found, unasked, halves = [], [], []
    for rule in rules:
        missing = _missing(rule, run)
        if missing:
            unasked.append(_not_evaluated(rule, missing))
            continue
        in_part = _lacks(rule.partly, run)
        if rule.needs_whole and not is_whole(run):
            in_part.setdefault(_NOT_HERE, []).append("begin and end of the application")
        if in_part:
            halves.append(_not_evaluated(rule, in_part, _IN_PART))
        for finding in folded(rule.name, tuple(rule.check(run, rule.limits)), run.application.observed_ms):
            finding = as_it_ended(finding, run)
            # That data are missing is no less sure for it.
            confidence = finding.confidence * (1.0 if finding.consequence == "blind" else sureness)
            worth = impact_ratio(finding, run) * confidence
            severity = severity_of(worth, finding.consequence, small=small)
            worth_ms = worth * (run.application.observed_ms or 0)
            at_ms = first_ms(run, finding, rule.signatures)
            finding = confirmed(finding, rule, run)
            found.append(Ranked(rule, run.application.app_id, finding, severity, confidence, (), worth_ms, at_ms))
    return Diagnosis(ranked(found), (*unasked, *halves), len(rules) - len(unasked))


def folded(name: str, findings: Sequence[Finding], length_ms: int | None) -> Sequence[Finding]:
    """The dearest findings of rule `name`; those beyond `MOST_OF_ONE_RULE` are told together in one more."""
    if len(findings) <= MOST_OF_ONE_RULE:
        return findings
    order = sorted(findings, key=lambda f: (-(f.wasted_wall_ms or 0), -(f.wasted_core_ms or 0)))
    shown, rest = order[: MOST_OF_ONE_RULE - 1], order[MOST_OF_ONE_RULE - 1 :]
    walls = [finding.wasted_wall_ms for finding in rest if finding.wasted_wall_ms is not None]
    cores = [finding.wasted_core_ms for finding in rest if finding.wasted_core_ms is not None]
    stages = sorted({finding.where.stage for finding in rest if finding.where.stage is not None})
    places = f" Stages {', '.join(map(str, stages[:20]))}{' and others' if len(stages) > 20 else ''}." if stages else ""
    together = Finding(
        title=f"{len(rest)} smaller places of {name}, together",
        summary=f"The same was found at {len(rest)} more places, each worth less than those told one by one.{places}",
        where=Where(),
        evidence=(Evidence(f"for example: {rest[0].summary}", rest[0].evidence[0].source),),
        advice=rest[0].advice,
        wasted_wall_ms=min(sum(walls), length_ms) if walls and length_ms is not None else None,
        wasted_core_ms=sum(cores) if cores else None,
        saving_basis="Sum of the single savings: an upper bound, since what happens at one time is saved once.",
        confidence=min(finding.confidence for finding in rest),
    )
    return (*shown, together)


def ranked(findings: Sequence[Ranked]) -> tuple[Ranked, ...]:
    """Findings of one run: what ended it, then by worth, the earlier first, each right after what causes it;
    `caused_by` is set anew."""
    places = [(item.rule.code, item.finding.where) for item in findings]
    by_place = (causes(item.rule.code, item.finding.where, places) for item in findings)
    by_death = [death_causes(item, findings) for item in findings]
    deadly: set[int] = set()
    waiting = [index for index, item in enumerate(findings) if item.finding.consequence == "ended"]
    while waiting:
        new = set(by_death[waiting.pop()]) - deadly
        deadly |= new
        waiting += new
    # What brought an application or a job to its end is no less severe than that.
    findings = [
        replace(
            one, severity=_LEAST["ended"] if n in deadly else one.severity, echo=is_echo(one, findings, by_death[n])
        )
        for n, one in enumerate(findings)
    ]
    causes_of = [tuple(sorted({*a, *b})) for a, b in zip(by_place, by_death, strict=True)]
    return _ordered(findings, without_circles(causes_of))


def ranked_together(groups: Sequence[Sequence[Ranked]]) -> tuple[Ranked, ...]:
    """The findings of several runs, each ranked by itself, as those of one: nothing causes a finding of another run."""
    findings: list[Ranked] = []
    causes_of: list[tuple[int, ...]] = []
    for group in groups:
        first = len(findings)
        findings += group
        causes_of += [tuple(first + index for index in item.caused_by) for item in group]
    return _ordered(findings, causes_of)


def _ordered(findings: Sequence[Ranked], causes_of: Sequence[tuple[int, ...]]) -> tuple[Ranked, ...]:
    def key(index: int) -> tuple[Any, ...]:
        item = findings[index]
        finding = item.finding
        order = SEVERITIES.index(item.severity)
        place = tuple(sorted((name, str(value)) for name, value in finding.where.document().items()))
        ended = finding.consequence == "ended"
        core_ms = finding.wasted_core_ms or 0
        at_ms = float("inf") if item.at_ms is None else item.at_ms
        return (not ended, -item.worth_ms, order, -core_ms, at_ms, item.rule.code, place)

    ranks = sorted(range(len(findings)), key=key)
    rank_of = {index: rank for rank, index in enumerate(ranks)}
    position: dict[int, int] = {}

    def emit(index: int) -> None:
        if index not in position:
            for cause in sorted(causes_of[index], key=rank_of.__getitem__):
                emit(cause)
            position[index] = len(position)

    for index in ranks:
        emit(index)
    return tuple(
        replace(findings[index], caused_by=tuple(sorted(position[cause] for cause in causes_of[index])))
        for index in position
    )


def impact_ratio(finding: Finding, run: Run) -> float:
    """What the finding costs as a share of the application: wall time, or core time at half its share."""
    wall_ms, core_ms = run.application.observed_ms, task_time_ms(run)
    wall = (finding.wasted_wall_ms or 0) / wall_ms if wall_ms else 0.0
    offered_ms = max(core_ms, finding.wasted_core_ms or 0, offered_core_ms(run) or 0)
    core = (finding.wasted_core_ms or 0) / offered_ms if offered_ms else 0.0
    return min(1.0, max(wall, _CORE_WEIGHT * core))


def severity_of(impact: float, consequence: Consequence | None = None, *, small: bool = False) -> str:
    """Severity from cost over run time, confidence taken off, and no less than what follows from the finding.

    `small` applications get no more than low, but for what ended them.
    """
    by_cost = next((name for least, name in _LADDER if impact >= least), "info")
    severity = min(by_cost, _LEAST.get(consequence, "info"), key=SEVERITIES.index)
    return max(severity, "low", key=SEVERITIES.index) if small and consequence != "ended" else severity


@once
def task_time_ms(run: Run) -> int:
    """Wall time in the bodies of all task attempts."""
    figures = stage_figures(run)
    return 0 if figures is None else round(float(figures.run_ms().sum()))


@once
def data_confidence(run: Run) -> float:
    """How complete the data are: the share of tasks that were seen, and a tenth off where anything is known lost."""
    sureness = 1.0 if run.coverage.complete else 0.9
    seen = tasks_seen_ratio(run)
    return sureness if seen is None else sureness * seen


@once
def tasks_seen_ratio(run: Run) -> float | None:
    """The share of the succeeded stages' tasks of which the log has an end and possible times (a lost event is a task
    that we know nothing of; so is one that ends before it begins). None where no number of tasks is known.

    In a log without its beginning, stages whose end it lacks count too: they are no sign that it was still running.
    """
    stages, tasks = run.tables.get("stages"), run.tables.get("tasks")
    if stages is None or tasks is None:
        return None
    whole = run.application.app_start_ms is not None
    columns = [stages[name].to_pylist() for name in ("stage_id", "stage_attempt", "task_count", "status")]
    expected = {
        (stage, attempt): count
        for stage, attempt, count, status in zip(*columns, strict=True)
        if count and (status == "succeeded" or not whole)
    }
    if not expected:
        return None
    figures = stage_figures(run)
    if figures is None:
        return 0.0
    place = np.repeat(np.arange(len(figures.keys)), figures.counts)
    index = figures.columns.amounts("task_index").astype(np.int64)
    backwards = figures.columns.numbers("finish_ms") < figures.columns.numbers("launch_ms")
    tasks_of = np.sort((place << 32 | index)[~backwards], kind="stable")
    distinct = tasks_of[np.diff(tasks_of, prepend=-1) != 0] >> 32  # copies and further attempts of a task count once
    seen = dict(zip(figures.keys, np.bincount(distinct, minlength=len(figures.keys)).tolist(), strict=True))
    here = sum(min(seen.get(key, 0), count) for key, count in expected.items())
    return float(here / sum(expected.values()))


def _not_evaluated(rule: Rule[Any], missing: Mapping[str, Sequence[str]], what_for: str = "") -> NotEvaluated:
    """The answer of a rule that lacks this, by where it would come from."""
    needs = "; ".join(f"{' and '.join(names)}, {source}" for source, names in missing.items())
    sources = (source if source in _SOURCES else f"{' and '.join(n)}, {source}" for source, n in missing.items())
    reason = "; ".join(source.removeprefix("from ") for source in sources)
    return NotEvaluated(rule.code, needs + what_for, reason + what_for)


def _missing(rule: Rule[Any], run: Run) -> dict[str, list[str]]:
    """What of the rule's needs this run lacks, by where it would come from; empty where it has all."""
    lacks = _lacks(rule.reads, run)
    # Times come with the event log: where all of it lacks, that is said once.
    if rule.needs_times and _EVENT_LOG not in lacks and observed_window(run) is None:
        lacks.setdefault(_NOT_HERE, []).append("the start of the application and a time after it")
    seen = tasks_seen_ratio(run)
    if rule.needs_all_tasks and not lacks and seen is not None and seen < LEAST_TASKS_SEEN:
        lacks[f"of which this log holds {format_ratio(seen)}"] = ["the start and the end of all tasks"]
    return lacks


def _has_series(run: Run, name: str) -> bool:
    series = run.tables.get("series")
    return series is not None and bool(pc.any(pc.equal(series["name"], name)).as_py())


def _lacks(reads: Sequence[Reads], run: Run) -> dict[str, list[str]]:
    """What of these the run lacks, by where it would come from."""
    lacks: dict[str, list[str]] = {}
    for read in reads:
        if read.series and _has_series(run, read.series):
            continue
        table = run.tables.get(read.table.name)
        if table is None:
            if read.table.name == "log_events":
                lacks.setdefault(_LOGS, []).append(read.table.name)
                continue
            recorded = read.table.name in _RECORDED
            here = "tasks" in run.tables and not recorded
            source = _NOT_HERE if here else _RECORDING if recorded else _EVENT_LOG
            lacks.setdefault(source, []).append(read.table.name)
            continue
        known = table.num_rows > 0 or bool(read.record)
        empty = [name for name in read.columns if known and table[name].null_count == table.num_rows]
        if empty:
            source = f"{_NOT_HERE}; {read.record} records it" if read.record else _NOT_HERE
            lacks.setdefault(source, []).extend(f"{read.table.name}.{name}" for name in empty)
    return lacks
