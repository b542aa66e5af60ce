"""A question in plain words as a run: what it matches is table `log_events`, what it names as set is table `conf`."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from emberscope.errors import InputError
from emberscope.logs.question import LONGEST_BYTES, Found, Question, assumptions, read_question
from emberscope.logs.signature import Signature
from emberscope.redact import Redactor
from emberscope.tables.conf import CONF
from emberscope.tables.coverage import Coverage, Note
from emberscope.tables.log_events import LOG_EVENTS
from emberscope.tables.run import Application, Run

_LONGEST_TEXT: Final = 8_000


def load_question(path: str, signatures: Sequence[Signature]) -> Run:
    """The question in a file. Raises `InputError` where it holds no words; text after 64 KiB is left out and noted."""
    data = Path(path).read_bytes()
    text = data[:LONGEST_BYTES].decode("utf-8", errors="replace")
    if not text.strip():
        raise InputError(path, "it holds no words.")
    return question_run(text, path, signatures, left_out_bytes=max(0, len(data) - LONGEST_BYTES))


def question_run(text: str, path: str, signatures: Sequence[Signature], *, left_out_bytes: int = 0) -> Run:
    """The text of a question as a run: one row of `log_events` for each line at which something begins that a signature
    matches, one for the text itself where nothing does. Secrets are taken out."""
    redactor = Redactor()
    text = redactor.text(text.replace("\r\n", "\n")) or ""
    question = read_question(text, signatures)
    rows = _rows(question.found, text, path)
    notes = [Note("not_recorded", sentence, path) for sentence in assumptions(question)]
    if left_out_bytes:
        message = "Text beyond 64 KiB was left out: a question is short, give longer ones as logs."
        notes.append(Note("cut", message, path, {"bytes": float(left_out_bytes)}))
    tables = {"log_events": LOG_EVENTS.from_rows(rows)}
    if question.settings:
        tables["conf"] = CONF.from_rows(
            [
                {"key": key, "value": redactor.setting(key, value), "scope": "spark" if _is_sparks(key) else "hadoop"}
                for key, value in question.settings.items()
            ]
        )
    if redactor.count:
        notes.append(Note("redacted", f"{redactor.count} secrets were taken out.", path))
    return Run(path, _application(question), tables, Coverage(tuple(notes)))


def _rows(found: Sequence[Found], text: str, path: str) -> list[dict[str, object]]:
    lines = text.split("\n")
    by_line: dict[int, list[Found]] = defaultdict(list)
    for one in found:
        by_line[one.line].append(one)
    if not by_line:
        by_line[next((number for number, line in enumerate(lines, 1) if line.strip()), 1)] = []
    return [
        {
            "event_id": event_id,
            "count": max((one.count for one in here), default=1),
            "message": lines[line - 1].strip(),
            "text": text[:_LONGEST_TEXT],
            "causes": [],
            "frames": [],
            "signatures": [one.signature for one in here],
            "fields": json.dumps({one.signature: one.fields for one in here}),
            "file": path,
            "line": line,
        }
        for event_id, (line, here) in enumerate(sorted(by_line.items()))
    ]


def _application(question: Question) -> Application:
    return Application(spark_version=question.spark_version, vendor=question.vendor, master=question.master)


def _is_sparks(key: str) -> bool:
    return key.startswith("spark.")
