"""Python lacks a module, or has it in a version that does not fit.

## What it means
Functions run in Python workers on the executors, with the modules that are installed there, not with those of the
machine where the program was written. Some versions do not fit either: PySpark asks for least versions of pandas and
PyArrow, and newer pandas and numpy have dropped what older versions of PySpark call.

## What it costs
The first task that imports the module fails, four times, and the job with it. On the driver the program does not start.

## What to do
Ship the environment: packed by conda-pack or venv-pack, given with `--archives`, named by `spark.pyspark.python`; an
image of its own on Kubernetes; a bootstrap action or the job's parameter for modules on managed services. Pure Python
of your own goes with `--py-files`.

## When to ignore it
When the import is optional and the program goes on without it, as its own except branch says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.failures.ending import Limits, by, failure, groups_of, line_of
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

PYTHON_MODULE: Final = Signature(
    name="python-module",
    pattern=r"(?:ModuleNotFoundError|ImportError): No module named '?(?P<module>[\w.]+)'?|"
    r"(?<![\w-])(?P<needs>[A-Za-z][\w-]{1,60}) >= (?P<least>[\d.]{1,20})"
    r" must be installed(?:[^\n]{0,200}your version was (?P<has>[\w.]*\w))?|"
    r"ImportError: cannot import name '(?P<name>\w+)' from '?(?P<from>[\w.]+)|"
    r"AttributeError: (?:'(?P<frame>DataFrame|Series)' object has no attribute '(?P<dropped>iteritems|append)'|"
    r"module '?(?P<numpy>numpy|np)'? has no attribute '(?P<alias>bool|int|float|object|str|complex|typeDict)')|"
    r"(?P<binary>numpy\.(?:dtype|ndarray|ufunc) size changed)|"
    r"ImportError: (?P<library>[^\n:]+): cannot open shared object file",
    literals=(
        "No module named ",
        "must be installed",
        "cannot import name '",
        "has no attribute 'iteritems'",
        "has no attribute 'append'",
        "numpy' has no attribute",
        "size changed",
        "cannot open shared object file",
    ),
    words=(
        (r"no module named|ModuleNotFound|ImportError",),
        (
            r"python",
            r"(module|package|librar(y|ies))",
            r"(not (be )?(found|installed|available)|missing|import errors?)",
            r"executors?|workers?|cluster|udf",
        ),
        (r"iteritems",),
    ),
)
_PACKAGES: Final = {
    "sklearn": "scikit-learn",
    "cv2": "opencv-python",
    "PIL": "pillow",
    "yaml": "pyyaml",
    "bs4": "beautifulsoup4",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "Crypto": "pycryptodome",
    "psycopg2": "psycopg2-binary",
    "MySQLdb": "mysqlclient",
    "delta": "delta-spark",
    "sparknlp": "spark-nlp",
    "graphframes": "graphframes",
    "google.cloud": "the google-cloud package of that service",
}
_WORKER: Final = re.compile(
    r"pyspark/worker\.py|PythonException|pyspark\.zip/pyspark/|Lost task|Exception in "
    r"task|PythonRunner"
)
_ASKED: Final = re.compile(
    r"\b(?:udfs?|executors?|workers?|worker nodes?|mapPartitions|applyInPandas)\b", re.IGNORECASE
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    for (kind, _), rows in by(said(run, PYTHON_MODULE.name), _what):
        yield _finding(run, kind, rows)


def _what(row: Said) -> tuple[str, str] | None:
    found = groups_of(row, PYTHON_MODULE)
    kinds = ("module", "needs", "name", "dropped", "alias", "binary", "library")
    kind = next((kind for kind in kinds if kind in found), None)
    if kind is not None:
        return kind, found[kind]
    named = re.search(r"(?:module|package|library) (?:named )?[`'\"]?([a-z]\w+)", row.text)
    return ("dropped" if "iteritems" in row.text else "module", named[1] if named else "")


def _finding(run: Run, kind: str, rows: list[Said]) -> Finding:
    found = groups_of(rows[0], PYTHON_MODULE)
    named = _what(rows[0])
    name = found.get(kind) or (named[1] if named else "")
    worker = any(_WORKER.search(row.text) or (row.level is None and _ASKED.search(row.text)) for row in rows)
    where = "on the executors" if worker else "in the driver's Python"
    line = line_of(rows)
    if kind == "module":
        known = _PACKAGES.get(name) or _PACKAGES.get(name.partition(".")[0])
        package = known or name.partition(".")[0]
        title = f"Python module {name or 'that a function imports'} is missing {where}"
        summary = (
            "Python workers on the executors import from what is installed there, not from the driver's environment."
            + (f" The package is {package}." if known else "")
        )
        advice = tuple(_ship(package, worker))
    elif kind == "needs":
        has = f", and {found['has']} is there" if "has" in found else ""
        title = f"{name} {found['least']} or later is missing {where}{has}"
        summary = f"This PySpark asks for {name} >= {found['least']} where functions get batches by Arrow or pandas."
        advice = (Advice("cluster", f"Install {name}>={found['least']} on the driver and on every executor."),)
    elif kind in ("dropped", "alias"):
        library = "pandas" if kind == "dropped" else "numpy"
        gone = (
            "DataFrame.iteritems (and append) are gone in pandas 2"
            if kind == "dropped"
            else f"numpy.{name} is gone since numpy 1.24"
        )
        title = f"{library} is too new for this PySpark: {gone}"
        summary = (
            f"An older PySpark, or code written for an older {library}, calls what the installed version has dropped."
        )
        most = "pandas<2 (with Spark before 3.4)" if kind == "dropped" else "numpy<1.24 (with Spark before 3.4)"
        advice = (Advice("cluster", f"Install {most}, or move to a PySpark that knows the new version."),)
    elif kind == "library":
        title = f"A shared library is missing {where}: {name}"
        summary = "A Python package with native code asks for a library of the system that this machine does not have."
        advice = (Advice("cluster", f"Install {name} on every node or in the image, or take a wheel that brings it."),)
    else:
        title = f"Python packages do not fit together {where}" + (
            f": {found['from']} has no {name}" if "from" in found else ""
        )
        summary = "Two packages were built or written for different versions of each other."
        advice = (
            Advice("cluster", "Install both anew in one environment, with versions pinned, for driver and executors."),
        )
    return failure(
        run,
        rows,
        title=title + (f" ({line})" if line else ""),
        summary=summary,
        advice=advice,
        confidence=0.95 if name else 0.7,
    )


def _ship(package: str, worker: bool) -> Iterator[Advice]:
    if not worker:
        yield Advice(
            "cluster",
            f"Install {package or 'it'} where the driver runs (in cluster mode a node of the cluster, not this "
            "machine).",
        )
    yield Advice(
        "cluster",
        f"Ship the environment with {package or 'the module'} to executors: --archives env.tar.gz#env (venv-pack, "
        "conda-pack) and spark.pyspark.python=./env/bin/python, or an image that has it; your own modules go with "
        "--py-files.",
    )


RULE = Rule(
    code="K42",
    name="python-module",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(PYTHON_MODULE,),
)
