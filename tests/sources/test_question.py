from __future__ import annotations

from emberscope.logs.signature import Signature
from emberscope.rules.said import said
from emberscope.sources.logs import run_of_question

KILLED = Signature("killed", r"exit code (?P<code>\d+)", ("exit code",), (("killed", "executor"),))
SLOW = Signature("slow", r"(?!)", (), (("slow", "stage (?P<stage>\\d+)"),))


def test_a_line_that_says_something_is_quoted_with_its_number() -> None:
    run = run_of_question("It is slow.\r\nThen exit code 137 came.\r\nexit code 137", [KILLED, SLOW], "q")
    (found, *_) = said(run, "killed")
    assert (found.line, found.level, found.fields["code"]) == (2, None, "137")
    quoted = found.evidence()
    assert quoted.text.startswith("“Then exit code 137 came.”")
    assert (quoted.source, quoted.line) == ("q", 2)


def test_words_that_no_rule_knows_are_a_row_too() -> None:
    (row,) = run_of_question("\n\nWhat is Spark?", [KILLED], "q").tables["log_events"].to_pylist()
    assert (row["message"], row["line"], row["signatures"]) == ("What is Spark?", 3, [])


def test_secrets_are_taken_out_of_words_and_settings() -> None:
    text = "Access fails, I use spark.hadoop.fs.s3a.secret.key=abcDEF123456 and password=hunter2secret"
    run = run_of_question(text, [], "q")
    everything = str([table.to_pylist() for table in run.tables.values()])
    assert "abcDEF123456" not in everything
    assert "hunter2secret" not in everything
    assert any(note.code == "redacted" for note in run.coverage.notes)


def test_facts_settings_and_what_is_assumed() -> None:
    run = run_of_question("Spark 3.3 on YARN with spark.executor.memory=4g dies", [], "q")
    assert run.application.version == (3, 3)
    assert run.application.master == "yarn"
    assert run.setting("spark.executor.memory") == "4g"
    assert not run.coverage.complete
    assert any("3.3" in note.message for note in run.coverage.notes)
