"""Memory that the system refused: the heap at start, or a piece of what lies outside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from emberscope.rules.failures.jvm_crash import RULE as JVM_CRASH
from emberscope.rules.failures.native_memory import RULE
from tests.logs import crashes
from tests.rules.failures.log_files import run_of_file
from tests.runs import found


def test_a_heap_larger_than_what_was_free(tmp_path: Path) -> None:
    (finding,) = found(RULE, run_of_file(tmp_path, crashes.NO_MEMORY))
    assert "8.0 GiB refused" in finding.title
    assert "cannot allocate memory" in finding.summary
    (setting,) = (advice for advice in finding.advice if advice.kind == "set")
    assert (setting.setting, setting.value) == ("spark.executor.memory", "6144m")


def test_what_the_report_says_to_be_free_is_the_base(tmp_path: Path) -> None:
    text = crashes.NO_MEMORY + "MemTotal:       4194304 kB\nMemAvailable:   2097152 kB\n"
    (finding,) = found(RULE, run_of_file(tmp_path, text))
    assert [advice.value for advice in finding.advice if advice.kind == "set"] == ["1536m"]
    assert any("the machine has 4.0 GiB, 2.0 GiB of it available" in evidence.text for evidence in finding.evidence)


def test_a_small_piece_is_not_the_heap(tmp_path: Path) -> None:
    (finding,) = found(RULE, run_of_file(tmp_path, crashes.SMALL))
    assert "256 KiB refused" in finding.title
    assert not any(advice.kind == "set" for advice in finding.advice)
    assert any("memoryOverhead" in advice.text for advice in finding.advice)


@pytest.mark.parametrize("text", [crashes.REPORT, crashes.IN_NATIVE])
def test_a_crash_is_no_want_of_memory(text: str, tmp_path: Path) -> None:
    assert found(RULE, run_of_file(tmp_path, text)) == []


def test_nor_is_that_a_crash(tmp_path: Path) -> None:
    assert found(JVM_CRASH, run_of_file(tmp_path, crashes.NO_MEMORY)) == []
