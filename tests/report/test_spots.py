from __future__ import annotations

import pytest

from emberscope.report.spots import Spot, source_of, spots
from emberscope.rules.evaluate import evaluate
from tests.runs import spark_wrote


@pytest.mark.parametrize(
    ("call_site", "details", "source"),
    [
        ("collect at /jobs/daily.py:23", "", ("/jobs/daily.py", 23)),
        ("count at Daily.scala:7", "com.me.Daily$.main(Daily.scala:7)", ("Daily.scala", 7)),
        ("daily.py:23", "", ("daily.py", 23)),
        ("save at Dataset.scala:7", "org.apache.spark.sql.Dataset.save(Dataset.scala:7)", None),
        ("$anonfun$withThreadLocalCaptured$1 at FutureTask.java:264", "", None),
        ("javaToPython at NativeMethodAccessorImpl.java:0", "", None),
        ("run at ThreadPoolExecutor.java:1136", "", None),
        ('Spark Connect - session_id: "1"', "", None),
        ("", "", None),
    ],
)
def test_the_source_is_the_users_file_or_none(call_site: str, details: str, source: tuple[str, int] | None) -> None:
    assert source_of(call_site, details) == source


def test_a_finding_about_a_stage_has_file_line_and_operator() -> None:
    run = spark_wrote("skew_spill_python")
    findings = evaluate(run).findings
    told = dict(zip((one.rule.code for one in findings), spots(run, findings), strict=True))
    assert told["B1"] == Spot(
        "/app/tests/jobs/findings_skew_spill_python.py",
        23,
        "collect at findings_skew_spill_python.py:23",
        "SortMergeJoin key",
        "join step",
    )
    assert spots(run, []) == ()
