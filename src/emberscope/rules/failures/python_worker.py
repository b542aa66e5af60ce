"""A Python worker process died, or never came up.

## What it means
Each core of an executor that runs Python has a process beside the JVM. When that process ends without a word, the JVM
sees the end of its stream (`EOFException`) and says that the worker crashed. The JVM does not know why: the process was
killed for its memory (by the kernel, the container's limit or its own limit), or native code in it (numpy, pandas,
Arrow, a model) ended it by a segmentation fault. A worker that does not connect back never ran: no such interpreter, a
wrong version, or a machine where it may not open the socket.

## What it costs
The task, and after four failures of it the job. A worker that the kernel kills can take the container with it.

## What to do
See first whether memory was short: the container's limit, the pod's status, the kernel's log. If so, smaller batches
and partitions, fewer cores, or more memory beside the heap. If not, let the worker print where native code crashed
(`spark.python.worker.faulthandler.enabled`, or `spark.sql.execution.pyspark.udf.faulthandler.enabled` for functions of
SQL) and try its library and input alone.

## When to ignore it
When one worker of many died once and its task passed on another machine without anything being changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.failures.aborted import followed
from emberscope.rules.failures.ending import Limits, failure, groups_of, who
from emberscope.rules.failures.room import more_overhead
from emberscope.rules.said import Said, said
from emberscope.rules.settings import number_setting, version
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

PYTHON_WORKER: Final = Signature(
    name="python-worker",
    pattern=r"(?P<crashed>Python worker exited unexpectedly)|(?P<connect>Python worker failed to connect back)|"
    r"(?P<start>Cannot run program \"?(?P<program>[^\s\"]*python[^\s\"]*)\"?: error=\d+, (?P<why>[\w ]+))|"
    r"(?P<version>Python in worker has different version:? \(?(?P<worker>[\d., ]+)\)?(?: than that in driver:? |, )"
    r"\(?(?P<driver>[\d., ]+)\)?|PYTHON_VERSION_MISMATCH)|"
    r"^(?P<memory>(?:[\w.]+\.)?_?(?:Array|Arrow)?MemoryError)\b|(?P<fault>Fatal Python error: (?P<signal>[\w ]+))",
    literals=(
        "Python worker exited unexpectedly",
        "Python worker failed to connect back",
        "Cannot run program ",
        "Python in worker has different version",
        "PYTHON_VERSION_MISMATCH",
        "MemoryError",
        "Fatal Python error: ",
    ),
    words=(
        (r"python (worker|process)", r"crash|exit|killed|died|dies|segfault|out of memory|\boom\b"),
        (r"(pandas|python) ?(udfs?|functions?|code)", r"\boom\b|out of memory|killed|memoryerror|crash(ed|es)"),
        (r"python worker", r"connect back|version"),
    ),
)
# Numbers only where they are said to be exit codes: traces of calls are full of numbers of lines.
_CODE: Final = r"(?:code|status|exit(?:ed|s)?(?: with)?)[\s:=(]{1,3}"
_KILLED: Final = re.compile(rf"{_CODE}(?:137|-9)\b|SIGKILL|OOMKilled|\bKilled\b|signal 9\b|memory limit")
_FAULT: Final = re.compile(
    rf"Segmentation fault|SIGSEGV|{_CODE}(?:13[49]|-11|-6)\b|signal 11\b|Fatal Python error|SIGABRT"
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    groups: dict[str, list[Said]] = {}
    for row in said(run, PYTHON_WORKER.name):
        groups.setdefault(_kind(row), []).append(row)
    # A worker that printed why it died did not die of something else.
    if "crashed" in groups:
        for kind in ("memory", "fault"):
            if kind in groups:
                groups[kind] += groups.pop("crashed", [])
    for kind, rows in groups.items():
        yield failure(
            run,
            rows,
            title=_title(kind, rows),
            summary=_SUMMARIES[kind],
            advice=_advice(run, kind, rows),
            confidence=0.85 if kind == "crashed" else 0.95,
            consequence=followed(run, rows),
        )


def _kind(row: Said) -> str:
    found = groups_of(row, PYTHON_WORKER)
    if "crashed" in found and _FAULT.search(row.text):
        return "fault"
    if "crashed" in found and _KILLED.search(row.text):
        return "killed"
    return next((kind for kind in ("connect", "start", "version", "memory", "fault") if kind in found), "crashed")


def _title(kind: str, rows: Sequence[Said]) -> str:
    found, name = groups_of(rows[0], PYTHON_WORKER), who(rows)
    of = f" of {name[0].lower()}{name[1:]}" if name else ""
    if kind == "memory":
        return f"A Python worker{of} ran out of memory ({found.get('memory', 'MemoryError').rpartition('.')[2]})"
    if kind == "fault":
        return f"Native code crashed a Python worker{of} ({found.get('signal', 'segmentation fault').strip()})"
    if kind == "killed":
        return f"A Python worker{of} was killed, most often for memory"
    if kind == "version":
        both = f": {found['worker'].strip(' .,')} and {found['driver'].strip(' .,')}" if "driver" in found else ""
        return f"Executors run another version of Python than the driver{both}"
    if kind == "start":
        program, why = found.get("program", "python"), found.get("why", "no such file").strip()
        return f"Executors cannot start Python ({program}: {why})"
    if kind == "connect":
        return f"A Python worker{of} was started but never connected back to the JVM"
    return f"A Python worker{of} died: its process was killed for memory, or native code crashed (segfault)"


_SUMMARIES: Final = {
    "crashed": "The Python process beside the JVM ended without a word, so the JVM cannot say why: a memory limit (of "
    "the container or pod, or the kernel's OOM killer), or a segmentation fault in native code (numpy, pandas, Arrow). "
    "An exit code 137 or OOMKilled says memory, 139 or 134 native code; without either it cannot be told from this "
    "line.",
    "killed": "The Python process was ended by SIGKILL: the memory of Python workers lies beside the JVM's heap and "
    "counts for the container, so that a larger heap makes it worse.",
    "memory": "The Python process could not get more memory (spark.executor.pyspark.memory, or what the machine has). "
    "That memory lies beside the JVM's heap; more heap does not help.",
    "fault": "A native library that the Python process called (numpy, pandas, Arrow, a model) crashed it; the JVM "
    "only sees the end of the stream.",
    "connect": "The executor started the Python interpreter and waited for it to connect to a local port. It ended or "
    "hung before: a wrong or broken interpreter (PYSPARK_PYTHON), an alias of Windows, a firewall on localhost, or a "
    "machine so full that it did not start in time.",
    "start": "The interpreter that PYSPARK_PYTHON or spark.pyspark.python names is not there on the executors' "
    "machines.",
    "version": "Functions are pickled by the driver's Python and cannot be run by another minor version.",
}


def _advice(run: Run, kind: str, rows: Sequence[Said]) -> Iterator[Advice]:
    if kind in ("connect", "start", "version"):
        yield Advice(
            "cluster",
            "Give driver and executors one interpreter: set PYSPARK_PYTHON and PYSPARK_DRIVER_PYTHON "
            "(spark.pyspark.python, spark.pyspark.driver.python) to a path that is there on every machine, or ship an "
            "environment with --archives.",
        )
        if kind == "connect":
            yield Advice(
                "check", "Run that interpreter by hand on the machine, and read the executor's stderr before this."
            )
        return
    if kind != "fault":
        if kind == "crashed":
            yield Advice(
                "check",
                "Look at the container's limit: dmesg of the host, `kubectl describe pod` (OOMKilled), YARN's "
                "diagnostics.",
            )
        yield Advice(
            "code",
            "Lower what a worker holds: smaller batches (spark.sql.execution.arrow.maxRecordsPerBatch), more "
            "partitions, results one by one instead of a whole list.",
        )
        yield more_overhead(run, rows)
        cores = int(number_setting(run, "spark.executor.cores", 0))
        if cores > 1:
            yield set_conf("spark.executor.cores", cores // 2, f"Or fewer workers at one time (now {cores}).")
        yield Advice(
            "check", "spark.executor.pyspark.memory gives Python a limit of its own: it then fails with MemoryError."
        )
    if kind in ("crashed", "fault") and (version(run) == (0, 0) or version(run) >= (3, 2)):
        yield set_conf(
            "spark.python.worker.faulthandler.enabled", "true", "Prints the Python stack of a segfault (Spark 3.2+)."
        )
    if kind == "fault":
        yield Advice(
            "code", "Try the library and the input of that task alone; other versions of native wheels, and Arrow."
        )


RULE = Rule(
    code="K17",
    name="python-worker",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(PYTHON_WORKER,),
)
