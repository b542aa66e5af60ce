"""Laws that every rule of the catalogue obeys."""

from __future__ import annotations

import random
import re
import zipfile
from dataclasses import fields, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emberscope.eventlog.read import read_event_log
from emberscope.rules.base import HEADINGS, Rule
from emberscope.rules.catalog import RULES
from emberscope.rules.evaluate import SEVERITIES, evaluate
from emberscope.rules.page import sections
from emberscope.tables.run import Run
from emberscope.tables.samples import SAMPLES
from tests.runs import any_runs, executor, found, job, run_of, spark_wrote, stage, task, with_rows, without

every_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
# Those over samples have laws of their own, with recordings (tests/rules/stacks).
every_rule_of_logs = pytest.mark.parametrize(
    "rule",
    [rule for rule in RULES if not any(read.table == SAMPLES for read in rule.reads)],
    ids=lambda rule: rule.code,
)
LOGS = ("skew_spill_python", "driver_idle_gc", "none")
DATA = Path(__file__).parents[1] / "data"
# Settings whose names Spark puts together from the name of a module or of a queue (TransportConf, LiveListenerBus).
PUT_TOGETHER = {"spark.shuffle.io.maxRetries", "spark.scheduler.listenerbus.eventqueue.eventLog.capacity"}
# Settings of Spark 1 and 2, and of a cluster manager whose jar is not looked into here.
ELSEWHERE = {
    "spark.memory.useLegacyMode",
    "spark.yarn.executor.memoryOverhead",
    "spark.kubernetes.memoryOverheadFactor",
    "spark.kubernetes.resource.type",
    # of engines beside Spark
    "spark.rapids.sql.explain",
    "spark.comet.explainFallback.enabled",
    "spark.gluten.sql.validation.logLevel",
}
# Told in no log that is kept; that they find something stands in their own tests.
WITHOUT_A_LOG = frozenset(
    ["C4", "C5", "C7", "C9", "D3", "D4", "D5", "D6", "D7", "E3", "E4", "E7", "E9", "F11", "G4", "G6", "G7", "G8"]
)
SOURCE = Path(__file__).parents[2] / "src" / "emberscope" / "rules"


@cache
def all_that_spark_wrote() -> tuple[Run, ...]:
    logs = [*sorted(DATA.glob("findings/*.zstd")), DATA / "eventlog" / "spark-4.3-retried.zstd"]
    return tuple(read_event_log(str(log)) for log in logs)


@every_rule
def test_silent_on_empty_tables(rule: Rule[Any]) -> None:
    assert found(rule, run_of()) == []


@every_rule_of_logs
def test_not_evaluated_where_any_table_it_reads_is_absent(rule: Rule[Any]) -> None:
    run = spark_wrote("skew_spill_python")
    to_record = any(read.record for read in (*rule.reads, *rule.partly))
    assert to_record or not evaluate(run, [rule]).not_evaluated
    for read in rule.reads:
        diagnosis = evaluate(without(run, read.table.name), [rule])
        assert [answer.code for answer in diagnosis.not_evaluated] == [rule.code]
        assert read.table.name in diagnosis.not_evaluated[0].needs
        assert diagnosis.findings == ()


@every_rule
def test_the_page_has_its_headings_each_with_a_text(rule: Rule[Any]) -> None:
    assert tuple(head for head, _ in sections(rule)) == HEADINGS
    assert all(len(text) > 80 for _, text in sections(rule))
    assert rule.headline.endswith(".")


@every_rule
@pytest.mark.parametrize("log", LOGS)
def test_the_order_of_rows_does_not_matter(rule: Rule[Any], log: str) -> None:
    run = spark_wrote(log)
    shuffled = run
    for name, table in run.tables.items():
        rows = list(range(table.num_rows))
        random.Random(7).shuffle(rows)
        shuffled = with_rows(shuffled, name, table.take(pa.array(rows, pa.int64())))
    assert found(rule, shuffled) == found(rule, run)


@every_rule_of_logs
def test_finds_something_and_finds_nothing_in_logs_that_spark_wrote(rule: Rule[Any]) -> None:
    # Logs that are kept are short: what costs little in them counts here too.
    floors = {field.name: 0 for field in fields(rule.limits) if field.name.startswith("floor")}
    lowered = replace(rule, limits=replace(rule.limits, **floors))
    counts = [len(found(lowered, run)) for run in all_that_spark_wrote()]
    assert min(counts) == 0
    assert (max(counts) > 0) != (rule.code in WITHOUT_A_LOG)


@given(any_runs())
def test_prop_any_tables_are_answered_without_a_crash(run: Run) -> None:
    diagnosis = evaluate(run)
    length = run.application.observed_ms or 0
    for ranked in diagnosis.findings:
        assert ranked.severity in SEVERITIES
        assert 0 <= ranked.confidence <= 1
        assert 0 <= (ranked.finding.wasted_wall_ms or 0) <= length + 1
        assert (ranked.finding.wasted_core_ms or 0) >= 0
        assert ranked.finding.evidence
        assert ranked.finding.advice
        assert all(cause < diagnosis.findings.index(ranked) for cause in ranked.caused_by)


@settings(max_examples=40)
@given(
    st.integers(1, 60), st.integers(1, 4), st.lists(st.integers(80, 120), min_size=4, max_size=12), st.integers(1, 50)
)
def test_prop_a_healthy_job_does_not_start_to_fire_when_it_grows(
    scale: int, cores: int, percents: list[int], size: int
) -> None:
    """Even tasks that fill all cores, one stage after the other, whatever the length and the bytes."""
    clock, tasks, stages = 500.0, [], []
    for number, chunk in enumerate((percents, percents[::-1])):
        begin, free = clock, [clock] * cores
        for index, percent in enumerate(chunk * cores):
            run_ms = 10.0 * scale * percent
            slot = free.index(min(free))
            more = {"shuffle_read_local_bytes": size * percent << 20, "shuffle_read_records": size * percent}
            tasks.append(
                task(number, free[slot], run_ms, task_id=100 * number + index, gc_time_ms=run_ms * 0.04, **more)
            )
            free[slot] += run_ms
        clock = max(free)
        stages.append(stage(number, begin, clock, parent_ids=[number - 1] if number else []))
    run = run_of(
        round(clock) + 500,
        tasks=tasks,
        stages=stages,
        jobs=[job(0, 500, clock)],
        executors=[executor("1", cores)],
    )
    assert [ranked.finding.title for ranked in evaluate(run).findings] == []


def test_every_setting_that_a_rule_names_exists_in_spark() -> None:
    """Spark's settings are literals in its classes: a name that no class of its jars holds does not exist."""
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    jars = Path(spec.origin).parent / "jars"
    text = b""
    for pattern in ("spark-core_*.jar", "spark-catalyst_*.jar", "spark-common-utils_*.jar"):
        for jar in jars.glob(pattern):
            with zipfile.ZipFile(jar) as members:
                names = [
                    n
                    for n in members.namelist()
                    if re.search(r"(internal/config/|SQLConf|SparkConf|launcher/|executor/Executor)", n)
                ]
                text += b"".join(members.read(name) for name in names if name.endswith(".class"))
    named = {
        key
        for path in SOURCE.rglob("*.py")
        for key in re.findall(r"(?<!\.)\bspark(?!\.read\b)(?:\.[a-zA-Z]+){2,}", path.read_text())
        if not key.startswith(("spark.rapids.", "spark.comet.", "spark.gluten."))  # engines beside Spark
    }
    assert len(named) > 15
    assert {
        key
        for key in named - PUT_TOGETHER - ELSEWHERE
        if b"\x01" + len(key).to_bytes(2, "big") + key.encode() not in text
    } == set()


def test_codes_and_names_are_unique() -> None:
    assert len({rule.code for rule in RULES}) == len(RULES)
    assert len({rule.name for rule in RULES}) == len(RULES)
