"""Each fault of this family comes first in the findings of its job; its healthy twin has none that matters."""

from __future__ import annotations

import importlib

import pytest

from tests.rules.time.logs import first_of, severities_of_twin
from tests.rules.time.shapes import settings_of

FAULTS = ("driver_collect", "idle_executors", "too_few_partitions", "too_many_partitions")
TWINS = ("driver_collect", "too_few_partitions", "too_many_partitions")


@pytest.mark.parametrize("fault", FAULTS)
def test_the_fault_comes_first(fault: str) -> None:
    ranked = first_of(fault)
    assert ranked.rule.code == importlib.import_module(f"tests.jobs.faults.{fault}").CODE
    assert ranked.severity in ("critical", "high", "medium")


@pytest.mark.parametrize("fault", TWINS)
def test_the_healthy_twin_has_nothing_that_matters(fault: str) -> None:
    assert severities_of_twin(fault) == set()


def test_the_line_that_collects_is_named() -> None:
    finding = first_of("driver_collect").finding
    assert finding.where.line == "driver_collect.py:31"
    assert any("4 times, which sent" in evidence.text for evidence in finding.evidence)


@pytest.mark.parametrize("fault", ["too_few_partitions", "idle_executors"])
def test_the_patch_is_what_the_twin_has(fault: str) -> None:
    twin = importlib.import_module(f"tests.jobs.faults.{fault}").HEALTHY_CONF
    assert twin.items() <= settings_of(first_of(fault).finding).items()
