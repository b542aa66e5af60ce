"""A question in plain words as a run: what it matches is table `log_events`, what it names as set is table `conf`."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from emberscope.logs.question import Found, Question, assumptions, read_question
from emberscope.logs.signature import Signature
from emberscope.redact import Redactor
from emberscope.tables.conf import CONF
from emberscope.tables.coverage import Coverage, Note
from emberscope.tables.log_events import LOG_EVENTS
from emberscope.tables.run import Application, Run

_LONGEST_TEXT: Final = 8_000


def question_run(text: str, path: str, signatures: Sequence[Signature]) -> Run:
    """The text of a question as a run. Secrets are taken out."""
    redactor = Redactor()
    text = redactor.text(text.replace("\r\n", "\n")) or ""
    question = read_question(text, signatures)
    rows = [
        {
            "event_id": event_id,
            "count": max((one.count for one in found), default=1),
            "message": message,
            "text": text[:_LONGEST_TEXT],
            "causes": [],
            "frames": [],
            "signatures": [one.signature for one in found],
            "fields": json.dumps({one.signature: one.fields for one in found}),
            "file": path,
            "line": line,
        }
        for event_id, (line, message, found) in enumerate(told_by_line(question.found, text))
    ]
    notes = [Note("redacted", f"{redactor.count} secrets were taken out.", path)] if redactor.count else []
    run = Run(path, Application(), {"log_events": LOG_EVENTS.from_rows(rows)}, Coverage(tuple(notes)))
    return with_facts(run, question)


def told_by_line(found: Sequence[Found], text: str) -> list[tuple[int, str, list[Found]]]:
    """Number and words of each line at which something begins that was found, with what it is; the first line with
    words, and nothing found, where there is none."""
    lines = text.split("\n")
    by_line: dict[int, list[Found]] = defaultdict(list)
    for one in found:
        by_line[one.line].append(one)
    if not by_line:
        by_line[next((number for number, line in enumerate(lines, 1) if line.strip()), 1)] = []
    return [(line, lines[line - 1].strip(), here) for line, here in sorted(by_line.items())]


def with_facts(run: Run, question: Question) -> Run:
    """The run with what the question says of Spark, its settings as table `conf`, and what is taken for granted."""
    application, redactor = run.application, Redactor()
    notes = [Note("not_recorded", sentence, run.path) for sentence in assumptions(question)]
    tables = dict(run.tables)
    if question.settings:
        tables["conf"] = CONF.from_rows(
            [
                {"key": key, "value": redactor.setting(key, value), "scope": "spark" if _is_sparks(key) else "hadoop"}
                for key, value in question.settings.items()
            ]
        )
    if redactor.count:
        notes.append(Note("redacted", f"{redactor.count} settings hold secrets.", run.path))
    known = replace(
        application,
        spark_version=application.spark_version or question.spark_version,
        vendor=application.vendor or question.vendor,
        master=application.master or question.master,
    )
    return replace(run, application=known, tables=tables, coverage=run.coverage + Coverage(tuple(notes)))


def _is_sparks(key: str) -> bool:
    return key.startswith("spark.")
