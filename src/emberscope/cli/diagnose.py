"""`emberscope diagnose`: where the time went, and ranked findings."""

from __future__ import annotations

from typing import Final

import click

from emberscope.cli.inputs import kind_option, read_inputs
from emberscope.cli.output import form_of, write_document, write_result
from emberscope.errors import UsageError

CHECK_FAILED: Final = 1

_ENDINGS: Final = {".json": "json", ".md": "md", ".markdown": "md", ".txt": "text"}


@click.command(
    epilog="""\b
Examples:
  emberscope diagnose eventlog.zstd
  emberscope diagnose emberscope-runs --json
  emberscope diagnose eventlog.zstd --format md -o ticket.md
  emberscope diagnose eventlog.zstd --fail-on high
"""
)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("--json", "as_json", is_flag=True, help="One JSON document (as --format json).")
@click.option("--format", "form", type=click.Choice(["text", "md", "json"]), help="Default: text; md is for a ticket.")
@click.option("-o", "--output", metavar="FILE", help="Where to write it; .txt, .md or .json choose the format.")
@click.option(
    "--fail-on",
    type=click.Choice(["critical", "high", "medium", "low", "info"]),
    help="Exit with 1 where a finding is at least this severe.",
)
@kind_option
def command(
    inputs: tuple[str, ...], as_json: bool, form: str | None, output: str | None, fail_on: str | None, kind: str | None
) -> int:
    """Why it was slow: where the wall time went, then findings with evidence and advice, the dearest first.

    INPUT is an event log (any codec, rolling or not), a run, a store (its newest run), a recording, a directory or
    archive of these, the URL of a file, a History Server or a running driver, or - for standard input. An event log
    and the recordings of the same application are joined.
    """
    if as_json and form not in (None, "json"):
        raise UsageError(f"--json and --format {form} ask for two things.", hint="Choose one.")
    form = "json" if as_json else form or form_of(output, _ENDINGS) or "text"
    from emberscope.report.diagnosis import Input, diagnose_document, diagnose_each, diagnose_one, run_of
    from emberscope.report.text import diagnosis_markdown, diagnosis_text
    from emberscope.rules.evaluate import SEVERITIES
    from emberscope.sources.load import load_input
    from emberscope.tables.coverage import Coverage, Note

    reading = read_inputs(inputs, kind, load_input, diagnose_one, output=output, of_application=True)
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
        write_result((diagnosis_markdown if form == "md" else diagnosis_text)(diagnosed), output)
    reading.fail_if_incomplete()
    if fail_on is None:
        return 0
    worst = min((SEVERITIES.index(finding["severity"]) for finding in document["findings"]), default=len(SEVERITIES))
    return CHECK_FAILED if worst <= SEVERITIES.index(fail_on) else 0
