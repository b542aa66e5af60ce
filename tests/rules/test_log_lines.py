"""What rules are given of a few lines."""

from __future__ import annotations

from emberscope.logs.signature import Signature
from emberscope.rules.said import said
from emberscope.sources.logs import run_of_question, run_of_text

HEAP = Signature(
    "heap", r"OutOfMemoryError: (?P<what>.+)", ("java.lang.OutOfMemoryError",), ((r"out of memory", r"\bheap\b"),)
)


def test_what_was_said_is_quoted_with_the_line_in_which_it_stands() -> None:
    text = "21/02/03 07:55:00 ERROR Executor: Exception in task 0.0\njava.lang.OutOfMemoryError: Java heap space\n"
    (found,) = said(run_of_text(text, [HEAP], "stderr"), "heap")

    assert found.fields == {"what": "Java heap space"}
    assert (found.evidence().source, found.evidence().line) == ("stderr", 2)
    assert found.evidence().text == "“java.lang.OutOfMemoryError: Java heap space”"
    assert found.text.startswith("Exception in task")


def test_a_question_is_known_by_its_words() -> None:
    (found,) = said(run_of_question("My driver runs Out Of Memory, how large must the heap be?", [HEAP]), "heap")
    assert (found.level, found.fields, found.line) == (None, {}, 1)
    assert said(run_of_question("My driver is slow", [HEAP]), "heap") == ()


def test_a_question_that_quotes_a_line_is_known_by_the_line() -> None:
    asked = (
        "It runs out of memory, heap is 8g:\n21/02/03 07:55:00 ERROR X: java.lang.OutOfMemoryError: Java heap space\n"
    )
    found = said(run_of_question(asked, [HEAP]), "heap")
    assert [(one.fields, one.line) for one in found] == [({"what": "Java heap space"}, 2)]


def test_a_remark_beside_a_line_of_a_log_is_read_as_a_question() -> None:
    text = "ERROR Utils: uncaught error in thread\n# it runs out of memory although the heap is large\n"
    assert [one.level for one in said(run_of_text(text, [HEAP]), "heap")] == [None]
    healthy = "18/05/16 00:53:32 INFO Utils: never out of memory, the heap is large\n"
    assert said(run_of_text(healthy, [HEAP]), "heap") == ()
