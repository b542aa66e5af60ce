"""Driver and executors, or Python and the JVM, run different versions of Spark, of Python or of your code.

## What it means
Objects that one process writes are read by another one with its own classes. `serialVersionUID` differs where the class
comes from two versions of a jar; a `SerializedLambda` cannot be assigned where the executors lack the jar that the
lambda is in. A PySpark that was installed with pip talks to the Spark that SPARK_HOME names, which may be another
version; the Python of the workers has to be of the driver's minor version.

## What it costs
The job ends with its first task, or does not start at all. Nothing is lost but the time until it is noticed.

## What to do
Make the versions equal: the same Spark on the machine that submits and on the cluster, Spark's own jars not packed into
yours (scope provided), the job started by spark-submit with its jar, one Python for driver and workers.

## When to ignore it
Never where it ended the job: versions that differ by chance also give wrong results without an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.failures.ending import Limits, by, failure, groups_of
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

MIXED_VERSIONS: Final = Signature(
    name="mixed-versions",
    pattern=r"InvalidClassException: (?P<class>[\w.$]+)[;,] local class (?P<uid>incompatible|name incompatible)|"
    r"cannot assign instance of (?P<instance>[\w.$]+) to field (?P<field>[\w.$]+)|"
    r"Python in worker has different version:? \(?'?(?P<worker>[\d.]+)'?\)? than that in driver:? '?(?P<driver>[\d.]+)|"
    r"(?<![\w.$])(?P<api>[\w.$]{1,300}) does not exist in the JVM|(?P<package>'JavaPackage' object is not callable)",
    literals=(
        "local class incompatible",
        "local class name incompatible",
        "cannot assign instance of",
        "Python in worker has different version",
        "does not exist in the JVM",
        "'JavaPackage' object is not callable",
    ),
    words=(
        (r"serialVersionUID|local class incompatible|SerializedLambda",),
        (r"python", r"version", r"(worker|executor)s?", r"driver", r"differ|mismatch|same|other"),
        (
            r"\bspark version (mismatch|differs)|different (spark versions|versions of spark)",
            r"workers?|client|cluster|driver",
        ),
        (r"does not exist in the JVM|JavaPackage.{0,20}not callable",),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    for kind, rows in by(said(run, MIXED_VERSIONS.name), _kind):
        title, summary, advice = _told(kind, groups_of(rows[0], MIXED_VERSIONS))
        yield failure(run, rows, title=title, summary=summary, advice=advice, consequence="ended")


def _kind(row: Said) -> str:
    found = groups_of(row, MIXED_VERSIONS)
    for kind in ("worker", "api", "package", "instance", "uid"):
        if kind in found:
            return kind
    text = row.text.lower()
    if "python" in text and "lambda" not in text:
        return "worker"
    return "api" if "jvm" in text else "package" if "javapackage" in text else "instance" if "lambda" in text else "uid"


def _told(kind: str, found: dict[str, str]) -> tuple[str, str, list[Advice]]:
    if kind == "worker":
        has = f": {found['worker']} there, {found['driver']} here" if "worker" in found else ""
        return (
            f"Python of the workers is another version than the driver's{has}",
            "Functions are pickled by the driver's Python and run by that of the executors: both must be of one minor "
            "version. The workers take PYSPARK_PYTHON (python3 of the path where it is not set).",
            [
                Advice(
                    "cluster",
                    "Let spark.pyspark.python and spark.pyspark.driver.python (PYSPARK_PYTHON, "
                    "PYSPARK_DRIVER_PYTHON) name "
                    "the same version, or ship the environment with --archives and point spark.pyspark.python into it.",
                )
            ],
        )
    if kind == "api":
        name = found.get("api", "a class of Spark").rpartition(".")[2]
        return (
            f"PySpark and the Spark under it are different versions: {name} does not exist in the JVM",
            "The Python package pyspark calls what this version of Spark's jars does not have: pip brought one "
            "version, and SPARK_HOME or the cluster has another.",
            [
                Advice("cluster", "Install pyspark in the very version of Spark that runs, or unset SPARK_HOME."),
                Advice("check", "Compare pyspark.__version__ with `spark-submit --version`."),
            ],
        )
    if kind == "package":
        return (
            "A class is not on the JVM's class path: to Python it looks like an empty package",
            "py4j takes a name that it cannot find for a package: the jar of the library was not given to this "
            "session, or the session was there before the jar was asked for.",
            [
                Advice(
                    "cluster", "Give the jar with --jars or --packages before the first session of the process starts."
                ),
            ],
        )
    if kind == "instance":
        what = found.get("instance", "a lambda").rpartition(".")[2]
        return (
            f"Executors cannot read the code of the tasks: {what} cannot be assigned to its field",
            "A lambda or a list is read back on an executor that does not have the jar it belongs to, or has it in "
            "another version or twice: typical of a job started from an IDE, or of a jar with Spark or Scala packed "
            "into it.",
            [
                Advice("code", "Start it by spark-submit with its jar, or name the jar with setJars or spark.jars."),
                Advice("code", "Mark Spark and Scala as provided in the build, so that each class is there once."),
            ],
        )
    name = found.get("class", "a class")
    whose = "Spark" if name.startswith("org.apache.spark.") else "your jar"
    return (
        f"Driver and executors have different versions of {whose}: class {name} is incompatible"
        if "class" in found
        else "Driver and executors have different versions of Spark or of your jar",
        f"An object of {name} was written with one version of the class and read with another one.",
        [
            Advice(
                "cluster",
                "Use one version of Spark for the submitting machine, driver and executors; look for a second copy of "
                "its jars in your own."
                if whose == "Spark"
                else "Restart executors and driver with the same jar.",
            )
        ],
    )


RULE = Rule(
    code="K46",
    name="mixed-versions",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(MIXED_VERSIONS,),
)
