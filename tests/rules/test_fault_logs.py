"""The rule that a fault is built for finds it, and finds nothing in the healthy twin."""

from __future__ import annotations

from importlib import import_module

import pytest

from emberscope.rules.catalog import RULES
from tests.rules.fault_logs import DATA, fault_log
from tests.runs import found

TWINS = sorted(path.stem.removesuffix("_healthy") for path in DATA.glob("findings/*_healthy.zstd"))


@pytest.mark.parametrize("fault", TWINS)
def test_a_fault_is_found_and_its_healthy_twin_has_none(fault: str) -> None:
    code = import_module(f"tests.jobs.faults.{fault}").CODE
    rule = next(rule for rule in RULES if rule.code == code)
    assert found(rule, fault_log(fault))
    assert found(rule, fault_log(f"{fault}_healthy")) == []
