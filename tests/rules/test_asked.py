from __future__ import annotations

from typing import Any

from emberscope.report.diagnosis import diagnose
from emberscope.rules.asked import only_words
from emberscope.rules.evaluate import evaluate
from emberscope.rules.profilers.locked_memory import RULE
from emberscope.sources.logs import run_of_question
from emberscope.tables.log_events import LOG_EVENTS
from tests.runs import run_of, with_rows

TEXT = "[WARN] perf_event mmap failed: Operation not permitted"


def test_an_answer_to_words_says_what_would_confirm_it() -> None:
    run = run_of_question(TEXT, RULE.signatures, "q")
    assert only_words(run)
    (ranked,) = evaluate(run, [RULE]).findings
    last = ranked.finding.advice[-1]
    assert last.kind == "check"
    assert "summary RECORDING" in last.text


def test_an_answer_to_a_log_stands_by_itself() -> None:
    row: dict[str, Any] = {"event_id": 0, "count": 1, "level": "WARN", "message": TEXT, "text": TEXT}
    row |= {"signatures": [RULE.signatures[0].name], "fields": "{}", "causes": [], "frames": [], "file": "a", "line": 1}
    run = with_rows(run_of(), "log_events", LOG_EVENTS.from_rows([row]))
    assert not only_words(run)
    (ranked,) = evaluate(run, [RULE]).findings
    assert "To confirm it" not in ranked.finding.advice[-1].text


def test_the_outcome_says_what_it_assumes() -> None:
    said = diagnose(run_of_question(TEXT, RULE.signatures, "q")).outcome
    assert "likeliest answer" in said
    assert "To confirm it" in said
    assert "No version of Spark is named" in said
    assert "None of the troubles" in diagnose(run_of_question("What is the weather like?", (), "q")).outcome
