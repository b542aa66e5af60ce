"""What a question tells beside its log lines: rows of `log_events` by their line, settings as table `conf`, facts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from emberscope.logs.question import Found, Question, assumptions
from emberscope.redact import Redactor
from emberscope.tables.conf import CONF
from emberscope.tables.coverage import Coverage, Note
from emberscope.tables.run import Run


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
