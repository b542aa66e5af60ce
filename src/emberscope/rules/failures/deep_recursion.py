"""A stack overflowed: a chain of transformations, a plan or an object is too deep.

## What it means
Spark walks the lineage of an RDD, a query plan, an expression or a graph of objects by recursion. What was built in a
loop (a union, a join, `withColumn` once per turn) is as deep as the loop is long, and no stack is deep enough. The
frames that repeat tell which of them it was.

## What it costs
The job ends with a StackOverflowError, mostly on the driver; before that, planning gets slower with every turn.

## What to do
Cut the chain: build all parts first and unite them in one call, add columns in one `select`, and make a checkpoint
every few turns of an iteration. A larger thread stack (-Xss) only moves the limit.

## When to ignore it
Never where it ended the job. A regular expression that overflowed on one odd row is mended in the expression.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.failures.ending import Limits, by, failure
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

DEEP_RECURSION: Final = Signature(
    name="deep-recursion",
    pattern=r"(?P<error>StackOverflowError|RecursionError|maximum recursion depth exceeded)",
    literals=("StackOverflowError", "RecursionError", "maximum recursion depth exceeded"),
    words=((r"stack ?overflow(?!\.com)",), (r"(maximum )?recursion (depth|limit)",)),
)
# Frames that repeat, and what they walk.
_WALKS: Final = (
    (
        re.compile(r"rdd\.RDD\.|dag-scheduler-event-loop|DAGScheduler\.|ShuffleDependency|UnionRDD|CoGroupedRDD"),
        "lineage",
    ),
    (re.compile(r"java\.util\.regex\.|scala\.util\.matching"), "regex"),
    (re.compile(r"SparkSqlParser|AstBuilder|antlr|scala\.util\.parsing"), "parser"),
    (re.compile(r"codehaus\.janino|codegen\.CodeGenerator|CodegenContext"), "compiler"),
    (re.compile(r"catalyst\.|QueryPlan|TreeNode|execution\.SparkPlan|LogicalPlan|withColumn|unionAll"), "plan"),
    (
        re.compile(r"ObjectInputStream|ObjectOutputStream|List\$SerializationProxy|kryo|writeObject0|readObject0"),
        "objects",
    ),
    (re.compile(r"\blineage\b|\bunions?\b|\biterat|\bloop\b|\bRDDs?\b", re.IGNORECASE), "lineage"),
    (re.compile(r"RecursionError|recursion depth"), "python"),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    for kind, rows in by(said(run, DEEP_RECURSION.name), _kind):
        title, summary, advice = _told(kind)
        yield failure(run, rows, title=title, summary=summary, advice=advice, confidence=0.9 if kind != "code" else 0.7)


def _kind(row: Said) -> str:
    return next((kind for pattern, kind in _WALKS if pattern.search(row.text)), "code")


def _told(kind: str) -> tuple[str, str, list[Advice]]:
    stack = Advice("cluster", "A larger thread stack (-Xss in the driver's Java options) only moves the limit.")
    every = Advice(
        "code", "In a loop, call checkpoint() or localCheckpoint() every ten turns or so: it cuts the chain."
    )
    if kind == "lineage":
        return (
            "The lineage of an RDD is too deep: the stack overflowed while Spark walked the DAG",
            "Each union, join or transformation in a loop adds a level to the lineage, and the DAG scheduler goes down "
            "all of them by recursion.",
            [
                Advice("code", "Unite many parts in one call (SparkContext.union of a list) and not pair by pair."),
                every,
                stack,
            ],
        )
    if kind == "plan":
        return (
            "The query plan is too deep: the stack overflowed while Spark analysed or planned it",
            "Plans and expressions are trees that are walked by recursion: withColumn in a loop, unions or joins pair "
            "by pair, or a condition of thousands of ORs make one level each, on top of the lineage of the DataFrame.",
            [
                Advice(
                    "code",
                    "Add columns in one select (withColumns), write long ORs as isin or as a join, unite in a tree.",
                ),
                every,
                stack,
            ],
        )
    if kind == "parser":
        return (
            "An SQL text is too deeply nested: the stack overflowed in the parser",
            "Brackets, CASEs or chains of AND and OR are parsed by recursion: a text made by a program can be too "
            "deep.",
            [
                Advice("code", "Break the text into views, or write long chains of conditions as a join or as IN."),
                stack,
            ],
        )
    if kind == "compiler":
        return (
            "Generated code is too deeply nested: the stack overflowed while it was compiled",
            "Whole-stage codegen made one very long expression out of a large plan; Janino compiles it by recursion.",
            [
                Advice("code", "Split the expression over several steps with a checkpoint or a cache between them."),
                set_conf(
                    "spark.sql.codegen.wholeStage",
                    "false",
                    "For this query: slower, but it need not be compiled whole.",
                ),
                stack,
            ],
        )
    if kind == "objects":
        return (
            "An object is too deeply nested to be serialised: the stack overflowed",
            "Java's serialisation goes down lists, trees and lineages of RDDs by recursion. Mostly the lineage of an "
            "iteration is what is written or read here; executors need the same stack as the driver.",
            [
                every,
                Advice(
                    "code",
                    "Give tasks flat data (arrays, not linked lists or trees), or Kryo with a serialiser of your own.",
                ),
                Advice("cluster", "-Xss in the Java options of driver and executors moves the limit, for both alike."),
            ],
        )
    if kind == "regex":
        return (
            "A regular expression overflowed the stack on a long text",
            "Groups that repeat, such as (a|b)*, are matched by recursion, one level for each repetition.",
            [
                Advice(
                    "code",
                    "Write it as a character class ([ab]*) or with possessive quantifiers, or cut long texts first.",
                )
            ],
        )
    if kind == "python":
        return (
            "Python's recursion limit was reached",
            "A function or a nested object (a pickle of a deep tree, a column expression built in a loop) goes deeper "
            "than sys.getrecursionlimit().",
            [
                Advice(
                    "code",
                    "Build long column expressions with functools.reduce over few levels, or isin; flatten what is "
                    "pickled.",
                ),
                every,
            ],
        )
    return (
        "A stack overflowed by recursion",
        "The frames that repeat in the trace name what calls itself: code of the program, or an iteration whose "
        "lineage grew with every turn.",
        [
            Advice(
                "code", "If your own function repeats, end its recursion; if Spark's frames repeat, cut the lineage."
            ),
            every,
            stack,
        ],
    )


RULE = Rule(
    code="K43",
    name="deep-recursion",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(DEEP_RECURSION,),
)
