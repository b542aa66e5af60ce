"""A class, a method or a data source is not on the class path, or in another version than the code was made for.

## What it means
`ClassNotFoundException` and `NoClassDefFoundError`: no jar on the class path of this JVM has the class. Sources such as
kafka, avro or delta, file systems such as s3a and drivers of databases come in packages of their own.
`NoSuchMethodError`, `NoSuchFieldError`, `AbstractMethodError` and their like: the class is there, but in another
version than the one that the code was compiled against. That is mostly a library that comes twice (Spark's own copy is
found first), or code for another Scala or another Spark.

## What it costs
The job cannot run: it fails at once where the driver lacks the class, with the first task where an executor does.

## What to do
Give the package by its coordinates, for the very versions of Spark and of Scala that run (`--packages`, or `--jars`
with all that it needs), to driver and executors alike. For a conflict, take the version that Spark brings, or shade the
library into your jar; `userClassPathFirst` moves the trouble more often than it solves it.

## When to ignore it
When a library asks for an optional class, warns that it is not there and goes on without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.failures.ending import Limits, by, failure, groups_of, is_question, quoted, who
from emberscope.rules.failures.packages import package_of, package_of_database, package_of_scheme, scala_of
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

MISSING_CLASS: Final = Signature(
    name="missing-class",
    pattern=r"(?P<init>Could not initialize class) (?P<broken>[\w/.$]+)|"
    r"(?P<error>ClassNotFoundException|NoClassDefFoundError|NoSuchMethodError|NoSuchMethodException|NoSuchFieldError|"
    r"AbstractMethodError|IncompatibleClassChangeError)(?:: (?P<name>[^\n]+))?|"
    r"[Ff]ailed to find (?:the )?data source: ?(?P<source>[\w.\-]+)|"
    r"No FileSystem for scheme:? \"?(?P<scheme>\w+)|"
    r"No suitable (?P<driver>driver)(?: found for jdbc:(?P<database>\w+))?|"
    r"Cannot find catalog plugin class for catalog '?\w+'?: (?P<catalog>[\w.$]+)|"
    r"Failed to load (?:main )?class (?P<main>[\w.$]+)",
    literals=(
        "Could not initialize class",
        "ClassNotFoundException",
        "NoClassDefFoundError",
        "NoSuchMethodE",
        "NoSuchFieldError",
        "AbstractMethodError",
        "IncompatibleClassChangeError",
        "to find data source",
        "to find the data source",
        "No FileSystem for scheme",
        "No suitable driver",
        "Cannot find catalog plugin class",
        "Failed to load class",
        "Failed to load main class",
    ),
    words=(
        (r"\bclass(es)?\b.{0,20}(not found|missing|cannot be found)",),
        (r"(ClassNotFound|NoClassDefFound|NoSuchMethod|NoSuchField|AbstractMethod)",),
        (r"data ?source.{0,30}(not found|cannot be found|missing)|fail(s|ed) to find.{0,12} data ?source",),
        (r"no (suitable driver|filesystem for scheme)",),
        (
            r"(?P<library>guava|protobuf|jackson|netty|json4s|gson|okhttp|antlr|avro|slf4j|log4j)",
            r"\bversions?\b",
            r"conflict|clash|mismatch|incompatib|problems?\b|shad(e|ed|ing)\b",
        ),
    ),
)
_ASKED: Final = re.compile(
    r"Could not initialize class (?P<broken>[\w/.$]+)|[Ff]ailed to find (?:the )?data source: ?(?P<source>[\w.\-]+)"
)
_CLASS: Final = re.compile(r"[A-Za-z_][\w$]*(?:[./][\w$]+)+")
_OTHER_VERSION: Final = ("NoSuchMethodError", "NoSuchMethodException", "NoSuchFieldError", "AbstractMethodError")
# What only code for Scala 2.13 asks for, and what only older code does.
_SCALA_213: Final = re.compile(
    r"immutable[./]ArraySeq|\$less\$colon\$less|LazyList|IterableOnce\b|jdk[./]CollectionConverters"
)
_SCALA_211: Final = re.compile(
    r"(Product|Traversable\w*|Function\d|Iterator|TraversableLike|GenTraversableOnce)\$class\b"
)
# Libraries that Spark or Hadoop bring in a version of their own, which is found first.
_TWICE: Final = (
    ("com.google.common", "Guava"),
    ("com.google.protobuf", "protobuf"),
    ("com.fasterxml.jackson", "Jackson"),
    ("org.apache.commons", "an Apache Commons library"),
    ("org.apache.http", "Apache HttpClient"),
    ("io.netty", "Netty"),
    ("org.json4s", "json4s"),
    ("com.google.gson", "Gson"),
    ("okhttp3", "OkHttp"),
    ("okio", "Okio"),
    ("org.antlr", "ANTLR"),
    ("org.apache.parquet", "Parquet"),
    ("org.apache.avro", "Avro"),
    ("org.apache.orc", "ORC"),
    ("org.apache.arrow", "Arrow"),
    ("org.slf4j", "SLF4J"),
    ("org.apache.logging", "Log4j"),
    ("org.apache.hadoop", "Hadoop"),
    ("io.grpc", "gRPC"),
    ("org.yaml.snakeyaml", "SnakeYAML"),
    ("com.codahale.metrics", "Dropwizard Metrics (metrics-core)"),
    ("io.dropwizard.metrics", "Dropwizard Metrics (metrics-core)"),
    ("org.apache.curator", "Curator"),
    ("org.apache.zookeeper", "ZooKeeper"),
    ("org.apache.thrift", "Thrift"),
    ("org.glassfish.jersey", "Jersey"),
    ("javax.ws.rs", "JAX-RS (Jersey)"),
    ("org.joda.time", "Joda-Time"),
    ("breeze", "Breeze"),
    ("com.esotericsoftware.kryo", "Kryo"),
    ("org.codehaus.janino", "Janino"),
    ("com.amazonaws", "the AWS SDK"),
    ("software.amazon.awssdk", "the AWS SDK v2"),
)


class _Missing(Struct, frozen=True):
    """What is missing. `kind`: class, version, scala, init, source, scheme, database or main."""

    kind: str
    name: str


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, MISSING_CLASS.name)
    groups = by(rows, _missing)
    named = [group for group in groups if group[0].name] or groups
    for missing, some in named[:4]:
        yield _lacks(run, missing, some)


def _missing(row: Said) -> _Missing | None:
    found = groups_of(row, MISSING_CLASS)
    # An exception says the class that was looked for last: the words behind it say what was asked for.
    asked = _ASKED.search(row.text)
    found |= {name: text for name, text in asked.groupdict().items() if text} if asked else {}
    if "broken" in found:
        return _Missing("init", _dotted(found["broken"]))
    if "source" in found:
        return _Missing("source", found["source"].rstrip("."))
    if "scheme" in found:
        return _Missing("scheme", found["scheme"])
    if "driver" in found:
        url = found.get("database") or (m[1] if (m := re.search(r"jdbc:(\w+):", row.text)) else "")
        return _Missing("database", url)
    if "main" in found:
        return _Missing("main", found["main"].rstrip("."))
    if "library" in found:
        return _Missing("version", _prefix(found["library"]))
    error, words = found.get("error", ""), found.get("catalog") or found.get("name", "")
    if error == "NoSuchMethodException" and row.level not in (None, "ERROR", "FATAL"):
        return None
    if not words and is_question(row):
        words = row.text
    name = _CLASS.search(_returned_away(words))
    dotted = _dotted(name[0]) if name else quoted(words.strip("' "), 60) if words and not is_question(row) else ""
    if dotted.startswith("scala."):
        return _Missing("scala", quoted(words, 100))
    return _Missing("version" if error in _OTHER_VERSION or "IncompatibleClassChange" in error else "class", dotted)


def _prefix(library: str) -> str:
    """The packages of a library that a question names."""
    return next((prefix for prefix, name in _TWICE if name.lower() == library.lower()), "")


def _returned_away(words: str) -> str:
    """A method as newer Javas print it, `'scala.X owner.method(args)'`, without the type that it returns."""
    inner = words.strip().strip("'")
    return inner.partition(" ")[2] if re.match(r"[\w.$\[\]]+ [\w.$]+\(", inner) else words


def _dotted(name: str) -> str:
    return name.replace("/", ".").strip(".")


def _lacks(run: Run, missing: _Missing, rows: list[Said]) -> Finding:
    version = run.application.spark_version
    title, summary, advice = _told(missing, version, "\n".join(row.text for row in rows[:20]))
    name = who(rows)
    where = f" on {name[0].lower()}{name[1:]}" if name else ""
    return failure(
        run, rows, title=title + where, summary=summary, advice=advice, confidence=0.9 if missing.name else 0.6
    )


def _told(missing: _Missing, version: str | None, text: str) -> tuple[str, str, list[Advice]]:
    kind, name = missing.kind, missing.name
    if kind == "scala":
        return _scala(name, version)
    if kind == "version":
        return _conflict(name, version)
    if kind == "init":
        return (
            f"Class {name} could not be initialised",
            "Its static part threw an error the first time it was used, here or earlier in the same JVM; this line is "
            "the echo. The first ExceptionInInitializerError or UnsatisfiedLinkError for it in the log of that process "
            "has the reason: a setting, a native library, a conflict of versions.",
            [
                Advice(
                    "check", f"Look above for the first error of {name}: “Caused by” under ExceptionInInitializerError."
                )
            ],
        )
    if kind == "main":
        return (
            f"spark-submit cannot find the main class {name}",
            "The jar given to spark-submit has no such class: --class has another package or spelling, the jar is not "
            "the one that was built, or an argument slipped into its place.",
            [
                Advice(
                    "check",
                    f"Look for it in the jar: `jar tf app.jar | grep {name.rpartition('.')[2]}`; give --class in full.",
                )
            ],
        )
    if kind == "scheme":
        package = package_of_scheme(name, version)
        what, lacks = f"File system {name}://", "no jar on the class path knows this scheme of paths"
    elif kind == "database":
        package = package_of_database(name, version)
        what, lacks = f"The JDBC driver{f' for {name}' if name else ''}", "no driver on the class path takes this URL"
    elif kind == "source":
        package = package_of(name, version)
        what, lacks = f"Data source {name}", "no jar on the class path registers a source of this name"
    else:
        package = package_of(name, version)
        what, lacks = f"Class {name}" if name else "A class", "no jar on the class path of this JVM has it"
    brought = f"; {package} brings it" if package else ""
    summary = f"{what} is not on the class path: {lacks}{brought}. Driver and executors need the same jars."
    return (
        f"{what} is missing{f': {_short(package)} brings it' if package else ''}",
        summary,
        _give(package, kind, name, version),
    )


def _short(package: str) -> str:
    return package.partition(" (")[0] if ":" not in package else package.split(":")[1].partition(" ")[0]


def _give(package: str | None, kind: str, name: str, version: str | None) -> list[Advice]:
    advice = []
    coordinates = package if package and re.fullmatch(r"[\w.\-]+:[\w.\-]+:[\d.]+", package) else None
    if coordinates:
        advice.append(
            set_conf("spark.jars.packages", coordinates, "Same versions of Spark and Scala as the cluster's.")
        )
    elif package:
        advice.append(Advice("cluster", f"Give it with --packages or --jars to driver and executors: {package}."))
    else:
        advice.append(
            Advice(
                "cluster",
                "Give the jar that has it with --jars or its coordinates with --packages, to driver and executors: for "
                f"Scala {scala_of(version)} if it is Scala code.",
            )
        )
        if kind == "class":
            advice.append(
                Advice(
                    "check", "If the class is your own, look whether the jar has it, and that --class is its full name."
                )
            )
    if kind == "database":
        advice.append(
            Advice("code", 'Name the driver\'s class too: option("driver", …), which makes executors load it.')
        )
    if kind == "source":
        advice.append(Advice("check", f"Look whether “{name}” is spelt as its package spells it."))
    return advice


def _scala(name: str, version: str | None) -> tuple[str, str, list[Advice]]:
    made = "2.13" if _SCALA_213.search(name) else "2.11" if _SCALA_211.search(name) else None
    asks = f"code for Scala {made}" if made else "code for another Scala"
    return (
        f"A library was made for another Scala version: {name}",
        f"Scala's own classes differ between 2.11, 2.12 and 2.13, and {asks} runs here on Spark's Scala. One jar on "
        "the class path has the wrong suffix (_2.11, _2.12, _2.13).",
        [
            Advice(
                "cluster",
                f"Take every jar with the suffix of Spark's Scala (_{scala_of(version)} for most builds of this Spark; "
                "`spark-submit --version` says it).",
            ),
            Advice("check", "The frames below the error name the library that asked: its jar is the wrong one."),
        ],
    )


def _conflict(name: str, version: str | None) -> tuple[str, str, list[Advice]]:
    library = next((words for prefix, words in _TWICE if name.startswith(prefix)), None)
    short = ".".join(name.split(".")[-2:]) if name else "a method"
    if name.startswith("org.apache.spark."):
        what = f"code made for another version of Spark calls {short}"
        why = "A library or your jar was compiled against another version of Spark than the one that runs"
        fix = "Take the library's build for this version of Spark, and mark Spark's own jars as provided in your build."
    else:
        what = f"{library or 'a library'} is on the class path in another version" + (
            "" if name in dict(_TWICE) else f": {short}"
        )
        why = (
            f"Two versions of {library or 'a library'} are on the class path, and the one found first lacks what "
            "is called"
        )
        fix = (
            f"Shade {library or 'the library'} into your jar (relocate its packages), or build against the version in "
            "Spark's jars folder."
        )
    return (
        f"Class path conflict: {what}",
        f"{why}. The class is there: adding a jar does not help, the wrong copy has to go.",
        [
            Advice("code", fix),
            Advice(
                "check",
                "-verbose:class in spark.driver.extraJavaOptions (or the executors') tells which jar the class came "
                "from; spark.driver.userClassPathFirst is the last resort.",
            ),
        ],
    )


RULE = Rule(
    code="K11",
    name="missing-class",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(MISSING_CLASS,),
)
