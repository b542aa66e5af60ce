"""Java is too old or too new for Spark or for the code that runs on it.

## What it means
Class files say for which Java they were compiled: an older Java refuses them (52 is Java 8, 55 is 11, 61 is 17, 65 is
21, 69 is 25). A Java that is newer than a version of Spark knows closes packages that Spark or Arrow reach into, or has
given up what Hadoop calls (`Subject.getSubject`, flags of old collectors). Driver and executors may have different
Javas: what JAVA_HOME is on one machine says nothing about the others.

## What it costs
The process ends before it does any work, or with the first task that comes to the closed door.

## What to do
Run driver and executors on a Java that this version of Spark supports: 8 for Spark 2; 8 or 11 for 3.0 to 3.2; 8, 11 or
17 for 3.3 to 3.5; 17 or 21 for 4.0 and later. On YARN set JAVA_HOME for the application master and for the executors,
on Kubernetes take an image that has it. Or compile your code for the Java that is there.

## When to ignore it
When it is one optional library that falls back to another way, and the job goes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.failures.ending import Limits, failure, groups_of, quoted, who
from emberscope.rules.said import Said, said
from emberscope.settings.catalog import version_of
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

JAVA_VERSION: Final = Signature(
    name="java-version",
    pattern=r"(?<![\w/$.])(?P<compiled>[\w/$.]{1,300}) has been compiled by a more recent version of the Java Runtime "
    r"\(class file version (?P<needs>\d+)(?:\.\d+)?\), this version of the Java Runtime only recognizes class file "
    r"versions up to (?P<has>\d+)|"
    r"(?<![\w/$.])(?P<old>[\w/$.]{1,300}) : Unsupported major\.minor version (?P<wanted>\d+)|"
    r"Unsupported class file major version (?P<unread>\d+)|"
    r"cannot access class (?P<closed>[\w.$]+) \(in module java\.base\)|"
    r"module java\.base does not \"(?:opens|exports) (?P<package>[\w.]+)\"|"
    r"sun\.misc\.Unsafe or java\.nio\.DirectByteBuffer\.<init>\(long, (?:int|long)\) not (?P<arrow>available)|"
    r"getSubject is (?P<subject>not supported|supported only if a security manager)|"
    r"(?P<gateway>Java gateway process exited before|JAVA_GATEWAY_EXITED|JAVA_HOME is not set|Unable to find any JVMs)|"
    r"(?:Unrecognized|Unsupported) (?:VM )?option:? '?(?P<option>[^'\s]+)",
    literals=(
        "has been compiled by a more recent version of the Java Runtime",
        "Unsupported major.minor version",
        "Unsupported class file major version",
        "(in module java.base)",
        "module java.base does not",
        "sun.misc.Unsafe or java.nio.DirectByteBuffer",
        "getSubject is ",
        "Java gateway process exited before",
        "JAVA_GATEWAY_EXITED",
        "JAVA_HOME is not set",
        "Unable to find any JVMs",
        "Unrecognized VM option",
        "Unrecognized option:",
        "Unsupported VM option",
    ),
    words=(
        (r"java gateway|JAVA_HOME (is )?(not set|missing)|JAVA_GATEWAY_EXITED",),
        (r"UnsupportedClassVersionError|class file (major )?version|major\.minor version",),
        (r"module java\.base|unnamed module", r"opens|exports?|access"),
        (r"(java|jdk) ?(1\.)?\d+", r"InaccessibleObjectException|IllegalAccessError|add-opens|getSubject"),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, JAVA_VERSION.name)
    if rows:
        yield _wrong_java(run, rows)


def _wrong_java(run: Run, rows: tuple[Said, ...]) -> Finding:
    found = groups_of(rows[0], JAVA_VERSION)
    spark = version_of(run.application.spark_version)
    here = f" Spark {run.application.spark_version} runs on Java {_javas(spark)}." if spark != (0, 0) else ""
    title, mechanism = _told(found)
    name = who(rows)
    return failure(
        run,
        rows,
        title=f"{title}{f' ({name[0].lower()}{name[1:]})' if name else ''}",
        summary=mechanism + here,
        advice=_advice(found, spark),
    )


def _told(found: dict[str, str]) -> tuple[str, str]:
    needs = found.get("needs") or found.get("wanted")
    compiled = (found.get("compiled") or found.get("old") or "").replace("/", ".")
    if needs:
        has = f", but Java {_java(found['has'])} runs it" if "has" in found else ""
        return (
            f"The Java here is too old: {compiled.rpartition('.')[2] or 'a class'} needs Java {_java(needs)}{has}",
            f"{compiled or 'The class'} has class file version {needs}, which is Java {_java(needs)}; the JVM that "
            "loaded it is older. Its driver and executors may take their Java from different places.",
        )
    if "unread" in found:
        return (
            f"Java {_java(found['unread'])} is newer than this library or version of Spark can read",
            f"Class file version {found['unread']} is Java {_java(found['unread'])}: what reads the classes here "
            "(Spark's own closure cleaner, Groovy, ASM) was made before it. The code or the JVM is too new for it.",
        )
    if "subject" in found:
        return (
            "Java is too new for this Spark: Hadoop calls Subject.getSubject, which Java 24 no longer supports",
            "Hadoop's login asks `Subject.getSubject`, which works only with a security manager in Java 23 and not at "
            "all from Java 24 on. Versions of Spark with older Hadoop libraries cannot start there.",
        )
    if "gateway" in found:
        return (
            "PySpark could not start Java: there is none, or it ended at once",
            "Python starts the driver's JVM by spark-submit, with the java of JAVA_HOME or of the path. It was not "
            "there, or it ended before it answered: a Java that this Spark cannot run on, a wrong option, a jar that "
            "cannot be had.",
        )
    if "option" in found:
        return (
            f"This Java does not know the option {quoted(found['option'], 60)}",
            "The options of the driver or of the executors (spark.driver.extraJavaOptions, "
            "spark.executor.extraJavaOptions) are for another version of Java: the JVM ended before it started.",
        )
    closed = found.get("closed") or found.get("package") or "packages of java.base"
    arrow = "Arrow" if "arrow" in found else "Spark or a library"
    return (
        f"Java is too new for this Spark, or lacks its options: {closed} is closed to it",
        f"{arrow} reaches into java.base, which Java 17 keeps closed unless the JVM is started with --add-opens. "
        "Spark 3.3 and later pass these options by themselves where spark-submit starts the JVM; older versions of "
        "Spark do not run on Java 17, and a JVM started in another way has to be given them.",
    )


def _advice(found: dict[str, str], spark: tuple[int, int]) -> Iterator[Advice]:
    needs = found.get("needs") or found.get("wanted")
    if "option" in found:
        yield Advice("cluster", f"Take {found['option']} out of the Java options, or run the Java that knows it.")
        return
    if "gateway" in found:
        yield Advice(
            "check", "Run `java -version` and `echo $JAVA_HOME` there; the lines of stderr above tell why it ended."
        )
    if needs:
        yield Advice(
            "cluster",
            f"Run driver and executors on Java {_java(needs)} or later, if this Spark can (JAVA_HOME; on YARN "
            f"spark.yarn.appMasterEnv.JAVA_HOME and spark.executorEnv.JAVA_HOME): else compile it for an older Java "
            f"(--release), or take a version of the library made for Java {_java(found.get('has', '52'))}.",
        )
    else:
        yield Advice(
            "cluster",
            f"Run driver and executors on Java "
            f"{_javas(spark) if spark != (0, 0) else '8, 11 or 17 (Spark 3.3 to 3.5) or 17 or 21 (Spark 4)'}"
            ": JAVA_HOME, on YARN spark.yarn.appMasterEnv.JAVA_HOME and spark.executorEnv.JAVA_HOME too.",
        )
    if "closed" in found or "package" in found or "arrow" in found:
        package = found.get("package") or found.get("closed", "java.nio.X").rpartition(".")[0]
        yield Advice(
            "check",
            "Where the Java is right, start the JVM through spark-submit, or give it "
            f"--add-opens=java.base/{package}=ALL-UNNAMED (spark.driver.extraJavaOptions takes effect only there).",
        )


def _java(class_version: str) -> int:
    return int(class_version) - 44


def _javas(spark: tuple[int, int]) -> str:
    if spark < (3, 0):
        return "8"
    if spark < (3, 3):
        return "8 or 11"
    return "8, 11 or 17" if spark < (4, 0) else "17 or 21"


RULE = Rule(
    code="K40",
    name="java-version",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(JAVA_VERSION,),
)
