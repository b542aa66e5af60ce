from __future__ import annotations

import json
import pickle
from dataclasses import replace

from emberscope.report.diagnosis import (
    Diagnosed,
    Input,
    all_not_evaluated,
    diagnose,
    diagnose_document,
    diagnose_each,
    diagnose_one,
    not_evaluated_sentences,
)
from emberscope.report.markdown import diagnosis_markdown
from emberscope.report.text import diagnosis_text
from emberscope.rules.evaluate import NotEvaluated
from emberscope.sources.load import Input as Item
from emberscope.tables.coverage import Coverage, Note
from tests.runs import run_of, spark_wrote, without


def test_the_document_has_the_keys_of_its_contract() -> None:
    document = diagnose_document([diagnose(spark_wrote("skew_spill_python"))])
    assert list(document) == ["schema", "inputs", "apps", "findings", "patches", "chains", "not_evaluated", "coverage"]
    assert document["schema"] == "emberscope.diagnose/1"
    (app,) = document["apps"]
    assert list(app) == ["app_id", "app_name", "duration_ms", "waterfall"]
    assert sum(part["wall_ms"] for part in app["waterfall"]) == app["duration_ms"]
    assert {finding["code"] for finding in document["findings"]} >= {"B1", "C3", "F3"}
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_findings_of_several_applications_are_ranked_together() -> None:
    runs = [diagnose(spark_wrote(name)) for name in ("skew_spill_python", "driver_idle_gc")]
    findings = diagnose_document(runs)["findings"]
    assert len(findings) == sum(len(item.diagnosis.findings) for item in runs)
    for index, finding in enumerate(findings):
        for cause in finding["caused_by"]:
            assert cause < index
            assert findings[cause]["app_id"] == finding["app_id"]
    spill = next(finding for finding in findings if finding["code"] == "C3")
    assert [findings[cause]["code"] for cause in spill["caused_by"]] == ["B1"]


def test_of_many_inputs_no_table_is_kept_and_the_answer_is_the_same() -> None:
    runs = [spark_wrote(name) for name in ("skew_spill_python", "driver_idle_gc")] * 2
    item = Item("log", "event_log", of_many=True)
    found = [diagnose_one(item, run) for run in runs]
    assert all(isinstance(one, Diagnosed) and not one.run.tables for one in found)
    assert all(len(pickle.dumps(one)) < 100_000 for one in found)
    let_go, kept = diagnose_each(found), diagnose_each(runs)
    assert diagnose_document(let_go) == diagnose_document(kept)
    assert diagnosis_text(let_go) == diagnosis_text(kept)
    assert diagnosis_markdown(let_go) == diagnosis_markdown(kept)


def test_coverage_of_inputs_that_could_not_be_read_is_kept() -> None:
    lost = Coverage((Note("missing_part", "no such file", "a.zstd"),))
    document = diagnose_document([diagnose(run_of())], [Input("a.zstd", None, lost)])
    assert document["inputs"][0] == {"path": "a.zstd", "kind": None, "coverage": lost.document()}
    assert document["coverage"]["complete"] is False


def test_what_was_not_evaluated_is_said_once() -> None:
    run = without(run_of(), "plan_nodes")
    answers = [answer.code for answer in all_not_evaluated([diagnose(run), diagnose(run)])]
    assert "F3" in answers
    assert len(answers) == len(set(answers))


def test_a_run_without_times_has_no_waterfall_and_no_duration() -> None:
    (app,) = diagnose_document([diagnose(run_of(None))])["apps"]
    assert app["duration_ms"] is None
    assert app["waterfall"] == []


def test_of_many_rules_with_one_reason_the_first_are_named() -> None:
    answers = [NotEvaluated(f"X{number}", "", "a log") for number in range(30)]
    assert not_evaluated_sentences(answers[:1]) == ["Not evaluated: X0 needs a log."]
    assert not_evaluated_sentences(answers[:2]) == ["Not evaluated: X0, X1 need a log."]
    (sentence,) = not_evaluated_sentences(answers)
    assert sentence.endswith("X18, X19 and 10 others need a log.")


def test_copies_of_a_log_count_once_and_other_attempts_do_not() -> None:
    run = spark_wrote("skew_spill_python")
    copy = replace(run, path="copy")
    attempt = replace(run, path="second", application=replace(run.application, attempt="2"))
    alone, together = diagnose_each([run]), diagnose_each([run, copy, attempt, copy])
    assert [one.run.path for one in together] == [run.path, "second"]
    assert together[0].diagnosis == alone[0].diagnosis
    notes = [note for note in together[0].run.coverage.notes if note.code == "duplicate_part"]
    assert [note.where for note in notes] == ["copy", "copy"]
    assert together[0].run.coverage.complete
    nameless = replace(run, application=replace(run.application, app_id=None))
    assert len(diagnose_each([nameless, replace(nameless, path="copy")])) == 2
