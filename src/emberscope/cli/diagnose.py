"""`emberscope diagnose`: where the time went, and ranked findings."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

import click

from emberscope.cli.inputs import kind_option, read_inputs
from emberscope.cli.output import form_of, terminal_width, wants_colour, write_document, write_result
from emberscope.errors import UsageError

if TYPE_CHECKING:
    from emberscope.report.diagnosis import Diagnosed

CHECK_FAILED: Final = 1

_ENDINGS: Final = {
    ".json": "json",
    ".md": "md",
    ".markdown": "md",
    ".txt": "text",
    ".sarif": "sarif",
    ".xml": "junit",
}


@click.command(
    epilog="""\b
Examples:
  emberscope diagnose eventlog.zstd
  emberscope diagnose emberscope-runs --json
  emberscope diagnose eventlog.zstd --format md -o ticket.md
  emberscope diagnose eventlog.zstd --all
  emberscope diagnose eventlog.zstd logs/
  yarn logs -applicationId application_1 | emberscope diagnose -
  emberscope diagnose eventlog.zstd --fail-on high -o findings.sarif
  emberscope diagnose eventlog.zstd --fail-on medium -o findings.xml
"""
)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("--json", "as_json", is_flag=True, help="One JSON document (as --format json).")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "md", "json", "sarif", "junit"]),
    help="Default: text; md is for a ticket, sarif for code scanning, junit for a build server.",
)
@click.option("--all", "-v", "tell_all", is_flag=True, help="As text: every finding with all of its evidence.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Where to write it; .txt, .md, .json, .sarif or .xml (JUnit) choose the format.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["critical", "high", "medium", "low", "info"]),
    help="Exit with 1 where a finding is at least this severe; in JUnit XML, these are the failures.",
)
@kind_option
def command(
    inputs: tuple[str, ...],
    as_json: bool,
    form: str | None,
    tell_all: bool,
    output: str | None,
    fail_on: str | None,
    kind: str | None,
) -> int:
    """Why it was slow: where the wall time went, then findings with evidence and advice, the dearest first.

    INPUT is an event log (any codec, rolling or not), logs of the driver, the executors or their containers, a run, a
    store (its newest run), a recording, a question in plain words, a directory or archive of these, the URL of a file,
    a History Server or a running driver, or - for standard input. What is of the same application is joined.

    As text the answer takes one screen: what happened, the dearest findings with price, proof and fix, and one patch of
    settings. --all tells everything.
    """
    if as_json and form not in (None, "json"):
        raise UsageError(f"--json and --format {form} ask for two things.", hint="Choose one.")
    form = "json" if as_json else form or form_of(output, _ENDINGS) or "text"
    from emberscope.report.diagnosis import Input, diagnose_document, diagnose_each, diagnose_one, run_of
    from emberscope.rules.evaluate import SEVERITIES
    from emberscope.rules.wanted import SIGNATURES
    from emberscope.sources.load import load_input
    from emberscope.tables.coverage import Coverage, Note

    reader = partial(load_input, signatures=SIGNATURES)
    reading = read_inputs(inputs, kind, reader, diagnose_one, output=output, of_application=True)
    described = [Input(run_of(found).path, of_kind, run_of(found).coverage) for of_kind, found in reading.results]
    described += [
        Input(error.path, None, Coverage((Note("missing_part", error.reason, error.path),)))
        for error in reading.problems
    ]
    diagnosed = diagnose_each([found for _, found in reading.results])
    document = diagnose_document(diagnosed, described)
    if form == "json":
        write_document(document, output)
    elif diagnosed:
        write_result(_rendered(diagnosed, form, tell_all, output, fail_on), output)
    reading.fail_if_incomplete()
    if fail_on is None:
        return 0
    worst = min((SEVERITIES.index(finding["severity"]) for finding in document["findings"]), default=len(SEVERITIES))
    return CHECK_FAILED if worst <= SEVERITIES.index(fail_on) else 0


def _rendered(
    diagnosed: Sequence[Diagnosed], form: str, tell_all: bool, output: str | None, fail_on: str | None
) -> str:
    """The answer in any form but JSON."""
    if form == "md":
        from emberscope.report.markdown import diagnosis_markdown

        return diagnosis_markdown(diagnosed)
    if form == "junit":
        from emberscope.report.junit import junit_xml

        return junit_xml(diagnosed, fail_on)
    if form == "sarif":
        import json

        from emberscope.report.sarif import sarif_document

        return json.dumps(sarif_document(diagnosed, locate=_below_here), ensure_ascii=False, indent=1) + "\n"
    if tell_all:
        from emberscope.report.text import diagnosis_text

        return diagnosis_text(diagnosed)
    from emberscope.report.screen import diagnosis_screen

    return diagnosis_screen(diagnosed, width=terminal_width(), colour=wants_colour(output))


def _below_here(path: str) -> str | None:
    """The file of this name below the working directory, by as much of its path as fits: sources lie elsewhere on the
    driver's machine than in the checkout in which a gate runs."""
    steps = PurePosixPath(path.removeprefix("file:")).parts
    steps = tuple(step for step in steps if step not in ("/", ".", ".."))
    for first in range(len(steps)):
        candidate = PurePosixPath(*steps[first:])
        if Path(candidate).is_file():
            return str(candidate)
    return None
