from __future__ import annotations

import pytest

from emberscope.rules.call_sites import call_site, line_of

_SCALA = """org.apache.spark.sql.DataFrameWriter.orc(DataFrameWriter.scala:570)
com.acme.SparkMain$.main(SparkMain.scala:22)
com.acme.SparkMain.main(SparkMain.scala)
sun.reflect.NativeMethodAccessorImpl.invoke0(Native Method)"""
_PYTHON = """org.apache.spark.sql.Dataset.collectToPython(Dataset.scala:4149)
java.base/jdk.internal.reflect.NativeMethodAccessorImpl.invoke0(Native Method)
py4j.reflection.MethodInvoker.invoke(MethodInvoker.java:244)"""


@pytest.mark.parametrize(
    ("shorts", "details", "site"),
    [
        (["collect at /home/me/jobs/daily.py:23"], _PYTHON, "collect at daily.py:23"),
        (["count at NativeMethodAccessorImpl.java:0", "nightly load"], _PYTHON, "count"),
        (["nightly load"], _SCALA, "orc at SparkMain.scala:22"),
        (["save at <console>:26"], None, "save at <console>:26"),
        (["nightly load"], _PYTHON, ""),
        (["sql at DriverLocal.scala:486"], None, "sql"),
        (["$anonfun$run$1 at FutureTask.java:264 at SQLExecution.scala:1", "parquet at X$anonfun:0"], "", "parquet"),
        (["runJob at PythonRDD.scala:218"], None, "runJob"),
        ([None, ""], "", ""),
        (["look at this"], "no frame here", ""),
    ],
)
def test_call_site(shorts: list[str | None], details: str | None, site: str) -> None:
    assert call_site(shorts, details) == site


def test_line() -> None:
    assert line_of("collect at daily.py:23") == "daily.py:23"
    assert line_of("count") is None
