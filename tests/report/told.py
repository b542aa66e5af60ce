"""Diagnoses of real logs by a few rules only: how findings are told does not hang on how many rules there are."""

from __future__ import annotations

from functools import cache

from msgspec import structs

from emberscope.report.diagnosis import Diagnosed, diagnose
from emberscope.report.spots import spots
from emberscope.rules.evaluate import Ranked, ranked
from emberscope.tuning.resolve import patch_of
from tests.runs import spark_wrote


@cache
def three() -> Diagnosed:
    """Python that is waited for (1, medium), a skewed stage (2, low) and its spill (3, low, by 2)."""
    item = diagnose(spark_wrote("skew_spill_python"))
    found = ranked([one for one in item.diagnosis.findings if one.rule.code in ("F3", "B1", "C3")])
    assert [(one.rule.code, one.severity, one.caused_by) for one in found] == [
        ("F3", "medium", ()),
        ("B1", "low", ()),
        ("C3", "low", (1,)),
    ]
    return of(item, *found)


def of(item: Diagnosed, *findings: Ranked) -> Diagnosed:
    """The diagnosis with just these findings."""
    diagnosis = structs.replace(item.diagnosis, findings=findings)
    return structs.replace(
        item, diagnosis=diagnosis, spots=spots(item.run, findings), patch=patch_of(findings, item.run)
    )
