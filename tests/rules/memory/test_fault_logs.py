"""The rules of this family on the logs of jobs with one fault, and of their healthy twins."""

from __future__ import annotations

import pytest

from emberscope.rules.catalog import RULES
from emberscope.rules.evaluate import evaluate
from tests.rules.fault_logs import fault_log
from tests.runs import found

BY_CODE = {rule.code: rule for rule in RULES}


def test_a_python_worker_that_ran_out_of_memory_ended_the_job() -> None:
    (finding,) = found(BY_CODE["C6"], fault_log("python_memory"))
    assert finding.consequence == "ended"
    assert finding.where.line is not None
    assert finding.where.line.startswith("python_memory.py:")
    assert "`pages`" in finding.title
    assert {a.setting: a.value for a in finding.advice if a.setting} == {"spark.executor.pyspark.memory": "2g"}
    first = evaluate(fault_log("python_memory")).findings[0]
    assert (first.rule.code, first.severity) == ("C6", "critical")


def test_a_table_that_was_sent_has_its_size_and_the_driver_s_time() -> None:
    (finding,) = found(BY_CODE["C8"], fault_log("broadcast_too_large"))
    assert finding.where.executor == "driver"
    assert finding.where.sql is not None
    assert finding.evidence[0].value == pytest.approx(278_035_392, rel=0.01)
    assert finding.wasted_wall_ms is not None
    assert finding.wasted_wall_ms > 5_000
    assert [a.kind for a in finding.advice] == ["code", "code"]


def test_a_table_that_the_driver_could_not_build_ended_the_query() -> None:
    (finding,) = found(BY_CODE["C8"], fault_log("broadcast_failed"))
    assert finding.consequence == "ended"
    assert finding.evidence[0].text == "Not enough memory to build and broadcast the table to all worker nodes"


def test_a_sort_that_spilled_gets_partitions_that_fit() -> None:
    (finding,) = found(BY_CODE["C3"], fault_log("spill"))
    assert finding.wasted_core_ms == pytest.approx(2 * 421_484_779 / 100_000, rel=0.01)
    # Each task held 160 MiB and spilled 128 MiB more: twice the partitions, and adaptive execution does not merge them.
    settings = {a.setting: a.value for a in finding.advice if a.setting}
    assert settings == {"spark.sql.shuffle.partitions": "8"}


def test_a_small_heap_is_doubled_or_half_as_large_again() -> None:
    (finding,) = found(BY_CODE["C1"], fault_log("gc"))
    settings = {a.setting: a.value for a in finding.advice if a.setting}
    assert settings["spark.executor.memory"] in ("768m", "1g")
    assert set(settings) == {"spark.executor.memory"}


def test_a_heap_that_had_room_all_the_time_is_not_given_more() -> None:
    (finding,) = found(BY_CODE["C1"], fault_log("gc_with_room"))
    assert [a.kind for a in finding.advice] == ["check"]
    assert "more memory is no cure" in finding.advice[0].text


@pytest.mark.parametrize("fault", ["spill", "gc", "broadcast_too_large", "python_memory"])
def test_no_twin_is_told_to_change_its_memory(fault: str) -> None:
    codes = {ranked.rule.code for ranked in evaluate(fault_log(f"{fault}_healthy")).findings}
    assert codes & {f"C{number}" for number in range(1, 10)} == set()
