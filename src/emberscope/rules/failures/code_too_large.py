"""Generated code is too large for the JVM: whole-stage codegen was given up, or its code runs uncompiled.

## What it means
Spark makes one Java method out of each stage of a plan. A method of the JVM holds 64 KB of byte code, a class 65,535
constants, and methods over 8,000 bytes are not compiled by the JIT. Very wide tables, long CASE chains and many
expressions in one step make more than that. Spark then falls back: to operators one by one, or to interpreted
expressions. That is logged as an error, but the query goes on.

## What it costs
The stage runs slower, often several times. The fallback ends a job only where code must be generated
(`spark.sql.codegen.factoryMode` for tests) or where the compiler itself fails.

## What to do
Split the work over smaller steps: fewer expressions in one select, long CASE chains as a join with a small table, and a
checkpoint or a cache between the halves of a wide plan.

## When to ignore it
When the query is fast enough: the results are right, and the message is an error in name only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.failures.ending import Limits, consequence_of, failure, groups_of
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

CODE_TOO_LARGE: Final = Signature(
    name="code-too-large",
    pattern=r"(?:Code of method \"?(?P<method>\w+)[^\n]{0,60}\"? of class \"(?P<class>[\w.$]+)\" )?grows beyond 64 ?KB|"
    r"(?P<pool>[Cc]onstant pool for class [\w.$]+ has grown past JVM limit|too many constants)|"
    r"Whole-stage codegen disabled for (?:this )?plan(?: \(id=(?P<plan>\d+)\))?|"
    r"[Ff]ound too long generated codes[^\n]{0,200}?\((?P<bytes>\d+)\) is above|"
    r"(?P<janino>failed to compile): [^\n]{0,400}(?:Janino|InternalCompilerException|CompileException)",
    literals=(
        "grows beyond 64",
        "has grown past JVM limit",
        "too many constants",
        "Whole-stage codegen disabled for",
        "ound too long generated codes",
        "failed to compile: ",
    ),
    words=(
        (r"64 ?kb", r"method|code|generated|compile|janino"),
        (r"whole-?stage code-?gen", r"disabled|fall(s|ing)? ?back|fail|too (large|long)"),
    ),
)
_COMPILER: Final = re.compile(r"Job aborted|terminated with error|User class threw")


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, CODE_TOO_LARGE.name)
    if rows:
        yield _too_large(run, rows)


def _too_large(run: Run, rows: tuple[Said, ...]) -> Finding:
    found: dict[str, str] = {}
    for row in rows:
        found = {**groups_of(row, CODE_TOO_LARGE), **found}
    ended = any(_COMPILER.search(row.text) for row in rows) and consequence_of(run, rows) == "ended"
    plan = f" of plan {found['plan']}" if "plan" in found else ""
    stage = re.search(r"CodegenStage(\d+)", found.get("class", ""))
    which = plan or (f" of codegen stage {stage[1]}" if stage else "")
    if "bytes" in found and "method" not in found:
        size = int(found["bytes"])
        title = f"Generated code is too long for the JIT compiler: {size:,} bytes in one method"
        mechanism = "Methods over 8,000 bytes are not compiled by the JIT: this stage is interpreted, which is slower."
    else:
        title = f"Generated code{which} is too large (64 KB per method): Spark runs it without whole-stage codegen"
        mechanism = (
            "The expressions of one stage make a method or a class that the JVM does not take, so Spark falls back to "
            "running its operators one by one. The log calls it an error, but the results are right and the query goes "
            "on, more slowly."
        )
    if ended:
        title = f"Generated code{which} cannot be compiled, and the job ended with it"
    return failure(
        run,
        rows,
        title=title,
        summary=mechanism + ("" if ended else " It is not why a job failed."),
        advice=_advice(ended),
        confidence=0.9,
        consequence="ended" if ended else "hint",
    )


def _advice(ended: bool) -> Iterator[Advice]:
    yield Advice(
        "code",
        "Split the step: simplify long CASE chains (a join with a small table does the same), make fewer columns in "
        "one select, and break a wide plan by a checkpoint or a cache.",
    )
    if ended:
        yield set_conf(
            "spark.sql.codegen.wholeStage", "false", "For this query alone: it runs without generated stages."
        )


RULE = Rule(
    code="K44",
    name="code-too-large",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(CODE_TOO_LARGE,),
)
