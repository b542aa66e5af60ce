from __future__ import annotations

from dataclasses import replace

import pytest

from emberscope.rules.evaluate import evaluate
from emberscope.rules.time.driver_bound import RULE
from emberscope.tables.run import Run
from tests.runs import executor, found, job, run_of, spark_wrote, task, with_rows


def jobs_of(*spans: tuple[int, int], length_ms: int = 100_000, conf: dict[str, str] | None = None) -> Run:
    jobs = [job(i, begin, end, description=f"step {i}") for i, (begin, end) in enumerate(spans)]
    return run_of(length_ms, conf=conf, jobs=jobs, executors=[executor("1", 4, 5_000)])


def test_finds_the_driver_that_slept_between_jobs_and_names_the_gap() -> None:
    (finding,) = found(RULE, spark_wrote("driver_idle_gc"))
    assert finding.where.executor == "driver"
    assert finding.wasted_wall_ms is not None
    assert finding.wasted_wall_ms > 15_000
    gap = next(e for e in finding.evidence if "after job 3" in e.text)
    assert gap.value == pytest.approx(15_000, abs=3_000)


def test_ignores_applications_that_mostly_ran_jobs() -> None:
    assert found(RULE, spark_wrote("none")) == []
    assert found(RULE, jobs_of((5_000, 85_000))) == []


def test_what_any_application_takes_to_start_is_no_finding() -> None:
    assert found(RULE, jobs_of((34_000, 95_000))) == []
    (finding,) = found(RULE, jobs_of((60_000, 95_000)))
    assert finding.wasted_wall_ms == 60_000 - 35_000 + 5_000  # the first executor comes at 5 s, and 30 s are allowed
    assert "1 min 00 s of it before the first job" in finding.summary


def test_the_line_that_collects_rows_is_named_with_what_it_cost() -> None:
    calls = [(5_000, 10_000), (30_000, 35_000), (60_000, 65_000), (66_000, 99_000)]
    jobs = [
        job(i, *span, call_site="collect at /home/me/daily.py:23" if i < 2 else "save at /home/me/daily.py:40")
        for i, span in enumerate(calls)
    ]
    (finding,) = found(RULE, run_of(100_000, jobs=jobs, executors=[executor("1", 4)]))
    assert finding.title.endswith(", after collect at daily.py:23")
    assert finding.where.line == "daily.py:23"
    assert any(e.text == "45.0 s of it after collect at daily.py:23 (2 times)" for e in finding.evidence)
    assert finding.advice[0].text.startswith("`collect at daily.py:23` brings rows into the driver")
    assert finding.confidence == 0.8


def test_many_short_gaps_after_collects_are_not_work_on_rows() -> None:
    jobs = [job(i, 2_000 * i, 2_000 * i + 1_000, call_site="collect at /home/me/daily.py:23") for i in range(50)]
    (finding,) = found(RULE, run_of(100_000, jobs=jobs, executors=[executor("1", 4)]))
    assert "brought rows" not in finding.summary
    assert finding.confidence == 0.6


def test_a_call_site_of_spark_itself_is_not_named() -> None:
    jobs = [
        job(i, 40_000 * i, 40_000 * i + 10_000, call_site="collect at NativeMethodAccessorImpl.java:0") for i in (0, 1)
    ]
    (finding,) = found(RULE, run_of(100_000, jobs=jobs, executors=[executor("1", 4)]))
    assert finding.where.line is None
    assert not any("NativeMethodAccessorImpl" in a.text for a in finding.advice)


def test_ignores_start_up_of_short_applications() -> None:
    assert found(RULE, jobs_of((8_000, 10_000), length_ms=11_000)) == []


def test_jobs_that_overlap_count_once() -> None:
    (finding,) = found(RULE, jobs_of((10_000, 30_000), (20_000, 50_000)))
    assert finding.wasted_wall_ms == 50_000
    assert finding.wasted_core_ms == 4 * 50_000
    assert "10.0 s before the first job, 0 ms between jobs, 50.0 s after the last" in finding.evidence[1].text


def test_the_longest_gaps_come_first_with_the_jobs_around_them() -> None:
    (finding,) = found(RULE, jobs_of((5_000, 10_000), (40_000, 45_000), (46_000, 90_000)))
    gaps = [e.text for e in finding.evidence[2:]]
    assert gaps[0] == "30.0 s after job 0 (step 0) and before job 1 (step 1)"
    assert gaps[1] == "10.0 s after job 2 (step 2)"
    assert len(gaps) == 3


def test_dynamic_allocation_is_advised_only_where_it_is_off_and_possible() -> None:
    def settings(conf: dict[str, str]) -> list[str]:
        (finding,) = found(RULE, jobs_of((10_000, 50_000), conf=conf))
        return [a.setting for a in finding.advice if a.setting]

    assert settings({}) == ["spark.dynamicAllocation.enabled"]
    assert settings({"spark.dynamicAllocation.enabled": "true"}) == []
    assert settings({"spark.master": "local[4]"}) == []


@pytest.mark.parametrize(
    ("span", "place", "word"),
    [
        ((80_000, 100_000), "before the first job", "Spark's own start"),
        ((0, 20_000), "after the last job", "after its last job"),
    ],
)
def test_advice_is_for_where_the_time_lies(span: tuple[int, int], place: str, word: str) -> None:
    (finding,) = found(RULE, jobs_of(span))
    code = [a.text for a in finding.advice if a.kind == "code"]
    assert f"1 min 20 s of it {place}" in finding.summary
    assert len(code) == 1
    assert word in code[0]
    (finding,) = found(RULE, jobs_of((0, 10_000), (90_000, 100_000)))
    assert any("loops over collected rows" in a.text for a in finding.advice)
    assert not any("Spark's own start" in a.text for a in finding.advice)


def test_a_session_that_waits_for_a_person_is_never_high() -> None:
    run = jobs_of((5_000, 10_000), (940_000, 1_000_000), length_ms=1_000_000)
    busy = [task(0, 0, 70_000, executor_cpu_time_ns=0)]
    for shell in (False, True):
        one = with_rows(run, "tasks", run_of(tasks=busy).tables["tasks"])
        name = "Spark shell" if shell else "nightly"
        diagnosis = evaluate(replace(one, application=replace(one.application, app_name=name)))
        (finding,) = [f for f in diagnosis.findings if f.rule is RULE]
        assert ("interactive session" in finding.finding.summary) is shell
        assert (finding.severity in ("critical", "high")) is not shell
