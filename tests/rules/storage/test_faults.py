"""The jobs with one fault about writes: the fault comes first, and the twin is left in peace."""

from __future__ import annotations

from importlib import import_module

import pytest

from emberscope.rules.evaluate import evaluate
from tests.rules.storage.logs import fault


@pytest.mark.parametrize("name", ["single_thread_write", "small_files"])
def test_the_fault_is_the_first_finding_and_the_twin_has_nothing_to_act_on(name: str) -> None:
    first = evaluate(fault(name)).findings[0]
    assert first.rule.code == import_module(f"tests.jobs.faults.{name}").CODE
    assert first.severity in ("medium", "high", "critical")
    assert {finding.severity for finding in evaluate(fault(f"{name}_healthy")).findings} <= {"low", "info"}
