"""Laws of the reader and of what it looks for, over every signature of the catalogue."""

from __future__ import annotations

import gzip
from pathlib import Path
from re import MULTILINE, _constants, _parser  # type: ignore[attr-defined]  # no other way to a parsed pattern
from typing import Any

import pytest

from emberscope.logs.signature import Signature
from emberscope.rules.wanted import SIGNATURES
from emberscope.sources.load import load
from emberscope.sources.logs import run_of_text
from emberscope.tables.log_events import LOG_EVENTS

REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT)
MANY = 16
"""Repetitions of up to so many are no danger within others."""

LOG = """\
26/12/01 04:45:12 INFO SparkContext: Running Spark version 3.5.1
26/12/01 04:45:13 INFO TaskSetManager: Starting task 0.0 in stage 0.0 (TID 0) (10.0.0.7, executor 1, partition 0)
26/12/01 04:46:01 ERROR Executor: Exception in task 0.0 in stage 0.0 (TID 0)
java.lang.OutOfMemoryError: Java heap space
\tat java.util.Arrays.copyOf(Arrays.java:3332)
\tat org.apache.spark.scheduler.Task.run(Task.scala:131)
26/12/01 04:46:02 WARN TaskSetManager: Lost task 0.0 in stage 0.0 (TID 0) (10.0.0.7 executor 1): java.io.IOException: x
26/12/01 04:46:03 INFO ShutdownHookManager: Shutdown hook called
"""


def repeats_in(items: Any, within: bool = False) -> bool:
    """Whether a repetition without end stands in another whose body can begin and end anywhere: exponential time."""
    for kind, value in items:
        if kind in REPEATS:
            many = value[1] > MANY
            body = list(value[2])
            if many and within and all(one[0] in REPEATS for one in items):
                return True
            if repeats_in(body, within or (many and all(one[0] in (*REPEATS, _constants.SUBPATTERN) for one in body))):
                return True
        elif kind is _constants.SUBPATTERN:
            if repeats_in(value[3], within):
                return True
        elif kind is _constants.BRANCH:
            if any(repeats_in(branch, within) for branch in value[1]):
                return True
        elif kind in (_constants.ASSERT, _constants.ASSERT_NOT) and repeats_in(value[1], within):
            return True
    return False


@pytest.mark.parametrize("pattern", [r"(a+)+", r"(?:\w*)*x", r"(?:(?:a+))+", r"(?:x|(?:\d+)+)y"])
def test_nested_repetitions_are_seen(pattern: str) -> None:
    assert repeats_in(_parser.parse(pattern))


@pytest.mark.parametrize("pattern", [r"(?:a+,)+", r"(?:\w+\.)*\w+", r"(?:a{1,9})+", r"a+b+"])
def test_repetitions_with_something_between_are_not(pattern: str) -> None:
    assert not repeats_in(_parser.parse(pattern))


@pytest.mark.parametrize("signature", SIGNATURES, ids=lambda signature: signature.name)
def test_no_signature_repeats_a_repetition(signature: Signature) -> None:
    for pattern in (signature.pattern, *(part for parts in signature.words for part in parts)):
        assert not repeats_in(_parser.parse(pattern, MULTILINE)), pattern


@pytest.mark.parametrize("signature", SIGNATURES, ids=lambda signature: signature.name)
def test_literals_are_words_that_a_line_can_hold(signature: Signature) -> None:
    assert signature.literals or signature.pattern == "(?!)"  # told in questions alone
    for literal in signature.literals:
        assert "\n" not in literal
        assert len(literal) >= 5, literal


def events(path: Path) -> list[dict[str, Any]]:
    """What a log says, without the name of its file."""
    run = load(str(path), signatures=SIGNATURES)
    return [{**row, "file": None} for row in run.tables[LOG_EVENTS.name].to_pylist()]


def test_any_prefix_of_a_log_is_read() -> None:
    whole = run_of_text(LOG, SIGNATURES, "log").tables[LOG_EVENTS.name].num_rows
    counts = [run_of_text(LOG[:end], SIGNATURES, "log").tables[LOG_EVENTS.name].num_rows for end in range(len(LOG) + 1)]
    assert max(counts) == counts[-1] == whole > 0


def test_folding_adds() -> None:
    once = run_of_text(LOG, SIGNATURES, "log").tables[LOG_EVENTS.name].to_pylist()
    often = run_of_text(LOG * 50, SIGNATURES, "log").tables[LOG_EVENTS.name].to_pylist()
    assert [row["count"] * 50 for row in once] == [row["count"] for row in often]


def test_a_packed_log_says_what_the_plain_one_says(tmp_path: Path) -> None:
    (tmp_path / "stderr").write_text(LOG)
    (tmp_path / "stderr.gz").write_bytes(gzip.compress(LOG.encode()))
    assert events(tmp_path / "stderr") == events(tmp_path / "stderr.gz") != []
