"""The rules on shapes of executors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from emberscope.rules.sizing.container_rounding import RULE as ROUNDING
from emberscope.rules.sizing.extreme_values import RULE as EXTREME
from emberscope.rules.sizing.glue_worker import RULE as GLUE
from emberscope.rules.sizing.memory_per_core import RULE as PER_CORE
from emberscope.rules.sizing.node_packing import RULE as PACKING
from emberscope.rules.sizing.node_packing import cores_by_host
from emberscope.tables.conf import CONF
from emberscope.tables.run import Run, TaskTotals
from tests.runs import executor, found, job, run_of, spark_wrote, stage, task

GIB = 1 << 30
LOGS = ("none", "driver_idle_gc")
RULES = (ROUNDING, EXTREME, GLUE, PER_CORE, PACKING)


def at(run: Run, *, master: str = "yarn", vendor: str | None = None, hadoop: str = "", **sums: int) -> Run:
    application = replace(run.application, master=master, vendor=vendor, tasks=TaskTotals(1, sums=sums))
    rows = run.tables["conf"].to_pylist()
    if hadoop:
        rows.append({"key": "yarn.scheduler.minimum-allocation-mb", "value": hadoop, "scope": "hadoop"})
    return replace(run, application=application, tables={**run.tables, "conf": CONF.from_rows(rows)})


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_silent_on_usual_jobs_that_spark_ran(log: str, rule: Any) -> None:
    assert found(rule, spark_wrote(log)) == []


def test_finds_the_extremes_of_a_job_that_spark_ran() -> None:
    (finding,) = found(EXTREME, spark_wrote("odd_settings"))
    said = " ".join(evidence.text for evidence in finding.evidence)
    for words in (
        "spark.memory.fraction=0.2",
        "maxResultSize=0",
        "4.0 GiB go through the driver",
        "more than the heap",
    ):
        assert words in said
    assert finding.consequence == "hint"


@pytest.mark.parametrize(
    ("conf", "words"),
    [
        ({"spark.executor.memory": "34g"}, "fewer objects"),
        ({"spark.executor.cores": "16"}, "that many tasks"),
        ({"spark.executor.memory": "31g", "spark.executor.cores": "5"}, None),
        ({"spark.executor.memory": "64g"}, None),
        ({"spark.executor.memory": "4g", "spark.executor.memoryOverhead": "4g"}, None),
        ({"spark.memory.fraction": "0.6", "spark.driver.maxResultSize": "4g"}, None),
    ],
)
def test_extremes(conf: dict[str, str], words: str | None) -> None:
    findings = found(EXTREME, at(run_of(conf=conf)))
    assert [words in finding.evidence[0].text for finding in findings if words] == ([True] if words else [])
    assert bool(findings) == (words is not None)
    assert found(EXTREME, at(run_of(conf=conf), vendor="databricks")) == []


def test_what_yarn_rounds_up_can_be_heap() -> None:
    run = run_of(conf={"spark.executor.memory": "8g"}, executors=[executor("1", 4)])
    (finding,) = found(ROUNDING, at(run, hadoop="2048"))  # 9011 MiB in a container of 10240
    assert [(a.setting, a.value) for a in finding.advice] == [("spark.executor.memory", "9309m")]
    assert found(ROUNDING, at(run, hadoop="512")) == []
    assert found(ROUNDING, at(run, hadoop="2048", master="k8s://x")) == []
    assert found(ROUNDING, at(run)) == []


def test_little_memory_counts_where_it_was_full_and_nothing_else_says_so() -> None:
    run = run_of(
        conf={"spark.executor.memory": "2g", "spark.executor.cores": "4"},
        tasks=[task(0, 0, 1000, peak_jvm_heap_bytes=round(1.8 * GIB))],
        executors=[executor("1", 4)],
    )
    (finding,) = found(PER_CORE, at(run, executor_run_time_ms=100_000))
    assert (finding.advice[0].value, finding.consequence) == ("16g", "risk")
    assert found(PER_CORE, at(run, executor_run_time_ms=100_000, disk_spilled_bytes=1)) == []
    assert found(PER_CORE, at(run, executor_run_time_ms=100_000, gc_time_ms=20_000)) == []
    assert found(PER_CORE, at(run, executor_run_time_ms=1_000)) == []
    assert found(PER_CORE, at(run, executor_run_time_ms=100_000, master="local[4]")) == []


def crowded(slow: float, hosts: int = 5) -> Run:
    """One host has four executors, the others one each; tasks on it are slower by this factor."""
    executors = [executor(str(i), 1) | {"host": "crowd"} for i in range(4)]
    executors += [executor(str(10 + i), 1) | {"host": f"h{i}"} for i in range(hosts - 1)]
    tasks = [
        task(0, 1000 * i, 1000 * (slow if one["host"] == "crowd" else 1), task_id=100 * n + i, host=one["host"])
        | {"executor_id": one["executor_id"]}
        for n, one in enumerate(executors)
        for i in range(20)
    ]
    times = {"stages": [stage(0, 0, 60_000)], "jobs": [job(0, 0, 60_000)]}
    return at(run_of(60_000, tasks=tasks, executors=executors, **times))


def test_crowded_hosts_count_where_their_tasks_are_slower() -> None:
    (finding,) = found(PACKING, crowded(2.0))
    assert finding.where.host == "crowd"
    assert finding.evidence[2].value == pytest.approx(2.0, rel=0.05)
    assert finding.wasted_core_ms == pytest.approx(80_000, rel=0.05)
    assert found(PACKING, crowded(1.0)) == []
    assert found(PACKING, crowded(2.0, hosts=2)) == []


def test_cores_of_a_host_are_those_of_one_time() -> None:
    one_after_the_other = [executor("1", 4, 0, 1000), executor("2", 4, 1000, 2000), executor("3", 4, 1500)]
    assert cores_by_host(run_of(executors=one_after_the_other)) == {"a": 8}


def test_glue_gets_a_worker_type() -> None:
    run = run_of(
        conf={"spark.executor.memory": "10g"},
        tasks=[task(0, 0, 1000)],
        executors=[executor(str(i), 4) for i in range(3)],
    )
    short = {"executor_run_time_ms": 100_000, "disk_spilled_bytes": 5 * GIB}
    (finding,) = found(GLUE, at(run, vendor="glue", **short))
    assert "G.1X" in finding.title
    assert ["R.1X" in finding.advice[0].text, "G.2X" in finding.advice[1].text] == [True, True]
    assert found(GLUE, at(run, **short)) == []
    assert found(GLUE, at(run, vendor="glue", executor_run_time_ms=100_000)) == []
