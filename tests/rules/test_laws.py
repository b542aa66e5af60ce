"""Laws that every rule of the catalogue obeys."""

from __future__ import annotations

import re
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emberscope.rules.base import HEADINGS, Rule
from emberscope.rules.catalog import RULES
from emberscope.rules.evaluate import SEVERITIES, evaluate
from emberscope.rules.page import sections
from emberscope.tables.run import Run
from emberscope.tables.table import Table
from tests.runs import any_runs, executor, found, job, run_of, stage, task, without

every_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
SOURCE = Path(__file__).parents[2] / "src" / "emberscope" / "rules"
# Settings whose names Spark puts together from the name of a module or of a queue (TransportConf, LiveListenerBus).
# And one that is a property of threads.
PUT_TOGETHER = {
    "spark.scheduler.pool",
    "spark.sparkContext.setLocalProperty",
    "spark.yarn.appMasterEnv.JAVA",
    "spark.executorEnv.JAVA",
    "spark.shuffle.io.maxRetries",
    "spark.shuffle.io.retryWait",
    "spark.shuffle.io.backLog",
    "spark.shuffle.io.mode",
    "spark.scheduler.listenerbus.eventqueue.eventLog.capacity",
}
# Settings of Spark 1 and 2, and of a cluster manager whose jar is not looked into here.
ELSEWHERE = {
    # of the jars of Kubernetes, YARN and Hive, and of a class of Spark's core that is not looked into here
    "spark.kubernetes.authenticate.driver.serviceAccountName",
    "spark.kubernetes.container.image",
    "spark.kubernetes.container.image.pullSecrets",
    "spark.kubernetes.executor.volumes.persistentVolumeClaim.NAME.options.claimName",
    "spark.port.maxRetries",
    "spark.sql.hive.metastore.jars",
    "spark.sql.hive.metastore.version",
    "spark.yarn.am.memory",
    "spark.memory.useLegacyMode",
    "spark.yarn.executor.memoryOverhead",
    "spark.kubernetes.memoryOverheadFactor",
    "spark.yarn.executor.memoryOverheadFactor",
    "spark.kubernetes.resource.type",
    # of YARN's and Kafka's jars
    "spark.yarn.archive",
    "spark.yarn.jars",
    "spark.yarn.am.waitTime",
    "spark.yarn.maxAppAttempts",
    "spark.kafka.consumer.cache.capacity",
    # of Hadoop's file systems, as far as letters go (s3a)
    "spark.hadoop.fs.s",
    # of EMR
    "spark.yarn.heterogeneousExecutors.enabled",
}
# Settings of modules that no distribution of Spark has: its profiler, under its names before and since its release.
NOT_DISTRIBUTED = ("spark.profiler.", "spark.executor.profiling", "spark.sql.pyspark.udf.profiler")
_VALUES = {"int32": 0, "int64": 0, "float64": 0.0, "bool": True, "string": "x", "category": "x"}


def any_row(table: Table) -> dict[str, Any]:
    """A row with something in every column."""
    values = {column.name: _VALUES.get(column.type, []) for column in table.columns}
    return {**values, "parent": -1} if "parent" in values else values


@every_rule
def test_silent_on_empty_tables(rule: Rule[Any]) -> None:
    assert found(rule, run_of()) == []


@every_rule
def test_not_evaluated_where_any_table_it_reads_is_absent(rule: Rule[Any]) -> None:
    tables = {read.table.name: [any_row(read.table)] for read in (*rule.reads, *rule.partly)}
    full = run_of(**{**tables, "conf": {"spark.app.name": "by hand"}})  # type: ignore[arg-type]
    assert not evaluate(full, [rule]).not_evaluated
    for read in rule.reads:
        diagnosis = evaluate(without(full, read.table.name), [rule])
        assert [answer.code for answer in diagnosis.not_evaluated] == [rule.code]
        assert read.table.name in diagnosis.not_evaluated[0].needs
        assert diagnosis.findings == ()


@every_rule
def test_the_page_has_its_headings_each_with_a_text(rule: Rule[Any]) -> None:
    assert tuple(head for head, _ in sections(rule)) == HEADINGS
    assert all(len(text) > 80 for _, text in sections(rule))
    assert rule.headline.endswith(".")


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
    for pattern in ("spark-core_*.jar", "spark-catalyst_*.jar", "spark-common-utils_*.jar", "spark-sql-api_*.jar"):
        for jar in jars.glob(pattern):
            with zipfile.ZipFile(jar) as members:
                names = [
                    n
                    for n in members.namelist()
                    if re.search(r"(internal/config/|SQLConf|SqlApiConf|SparkConf|launcher/|executor/Executor)", n)
                ]
                text += b"".join(members.read(name) for name in names if name.endswith(".class"))
    named = {
        key
        for path in SOURCE.rglob("*.py")
        for key in re.findall(r"(?<!\.)\bspark(?!\.read\b)(?:\.[a-zA-Z]+){2,}", path.read_text())
        if not key.startswith(("spark.rapids.", "spark.comet.", "spark.gluten."))  # of engines beside Spark
        if not key.startswith((*NOT_DISTRIBUTED, "spark.hadoop."))  # what stands behind is Hadoop's
    }
    assert len(named) > 15
    known = {key for key in named if b"\x01" + len(key).to_bytes(2, "big") + key.encode() in text}
    assert named - known - PUT_TOGETHER - ELSEWHERE == set()


def test_codes_and_names_are_unique() -> None:
    assert len({rule.code for rule in RULES}) == len(RULES)
    assert len({rule.name for rule in RULES}) == len(RULES)
