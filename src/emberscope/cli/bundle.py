"""`emberscope bundle`: everything that a helper asks for, in one archive that gives nothing away."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import zipfile
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from emberscope import __version__
from emberscope.cli.output import Progress, result, say, write_document, write_result
from emberscope.cli.overwrite import check_output
from emberscope.errors import InputError
from emberscope.units import counted, format_bytes

if TYPE_CHECKING:
    from emberscope.cli.bundle_files import Found
    from emberscope.report.scrub import Scrub

SCHEMA: Final = "emberscope.bundle/1"
_TOP: Final = "emberscope-bundle"
_FIRST_YEAR: Final = 1980
"""A zip knows no earlier one."""


@click.command(
    epilog="""\b
Examples:
  emberscope bundle
  emberscope bundle eventlog.zstd logs/ pods.json -o ticket.zip
  emberscope bundle emberscope-runs --note "fails since Tuesday 02:10 UTC, step s-ABC" -o ticket.zip
  emberscope diagnose ticket.zip
"""
)
@click.argument("inputs", nargs=-1, metavar="[INPUT...]")
@click.option("-o", "--output", metavar="FILE", default="emberscope-bundle.zip", show_default=True, help="The archive.")
@click.option("--note", metavar="TEXT", default="", help="What happened, when, on which cluster: it goes in front.")
@click.option("--keep-names", is_flag=True, help="Take out secrets alone; hosts, users and paths stay as they are.")
@click.option("--recordings", is_flag=True, help="Put recordings in too, as they are: they hold names of hosts.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document about what was put in and what lacks.")
def command(inputs: tuple[str, ...], output: str, note: str, keep_names: bool, recordings: bool, as_json: bool) -> None:
    """Everything that a helper asks for, in one archive that gives nothing away.

    INPUT is whatever there is about the job: event logs, logs of the driver, of containers and of the cluster manager,
    states of pods and nodes, configurations, a run; files, directories, archives, URLs or - for standard input.
    Secrets are taken out, and hosts, users and paths are replaced by the same pseudonym in every file. The archive
    holds the diagnosis of what is in it, and a list of what lacks and where that is to be had; `emberscope diagnose`
    reads it again.

    Without INPUT it prints that list.
    """
    from emberscope.report.asked import answers, checklist

    if not inputs:
        if as_json:
            write_document({"schema": SCHEMA, "asked_for": [one.document(None) for one in answers(())]})
        else:
            write_result(checklist(answers(())), None)
        return
    check_output(output, inputs)
    from emberscope.cli.bundle_files import files_of
    from emberscope.report.scrub import Scrub

    problems: list[InputError] = []
    with ExitStack() as stack:
        found = files_of(inputs, stack, problems, recordings=recordings)
        if not any(not one.form.left_out for one in found):
            raise problems[0] if problems else InputError(inputs[0], "nothing in it can go into a bundle.")
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="emberscope-bundle-")))
        name = "bundle.zip" if output == "-" else os.path.basename(output)
        scrub = Scrub(keep_names=keep_names)
        document = _write(folder / name, found, problems, scrub, note)
        with result(output) as write, (folder / name).open("rb") as made:
            shutil.copyfileobj(made, _Writer(write), 1 << 20)
    if as_json and output != "-":
        write_document(document)
    else:
        _say(document, output)
    if problems:
        raise problems[0]


class _Writer:
    """What `shutil` writes to, of a function."""

    def __init__(self, write: Any) -> None:
        self.write = write


def _write(path: Path, found: list[Found], problems: list[InputError], scrub: Scrub, note: str) -> dict[str, Any]:
    """The archive, written in two steps: the inputs, then what a diagnosis of these says. Gives back its manifest."""
    from emberscope.report.asked import answers, checklist
    from emberscope.report.bundled import name_in_bundle
    from emberscope.sources.kind import LOGS

    files: list[dict[str, Any]] = []
    left_out: list[dict[str, str]] = []
    progress = Progress(len(found))
    beside = {os.path.dirname(one.name) for one in found if one.form.kind in LOGS}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        taken: set[str] = set()
        for number, one in enumerate(found, 1):
            progress.done(number)
            shown = scrub.path(one.name)
            if one.form.left_out:
                left_out.append({"name": shown, "reason": one.form.left_out})
                continue
            member = _unique(f"{_place(one, beside)}/{scrub.path(name_in_bundle(one.name, one.form))}", taken)
            try:
                files.append(_add(archive, f"{_TOP}/{member}", one, scrub) | {"name": member})
            except OSError as error:
                problems.append(InputError(one.name, f"cannot be read: {error.strerror or error}."))
    diagnosis, markdown = _diagnosed(path)
    app_ids = sorted({app["app_id"] for app in diagnosis.get("apps", []) if app["app_id"]})
    asked = answers((entry["kind"], str(entry["name"])) for entry in files)
    app_id = app_ids[0] if len(app_ids) == 1 else None
    note = scrub.text(note)
    document = {
        "schema": SCHEMA,
        "emberscope_version": __version__,
        "note": note or None,
        "app_ids": app_ids,
        "redacted": "secrets" if scrub.keep_names else "secrets and names",
        "secrets_taken_out": scrub.secrets,
        "files": files,
        "left_out": left_out,
        "asked_for": [answer.document(app_id) for answer in asked],
    }
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        archive.writestr(_info(f"{_TOP}/bundle.json", None), _json(document))
        if diagnosis:
            archive.writestr(_info(f"{_TOP}/_about/diagnosis.json", None), _json(diagnosis))
            archive.writestr(_info(f"{_TOP}/_about/diagnosis.md", None), markdown)
        archive.writestr(_info(f"{_TOP}/_about/README.md", None), _front(document, checklist(asked, app_id)))
    return document


def _place(one: Found, beside: set[str]) -> str:
    """What a reader of ours knows nothing of lies where it does not look; texts in the folders `beside` are logs."""
    known = one.form.kind is not None or one.form.way == "raw" or one.name.endswith(".json")
    known = known or (one.form.way == "lines" and os.path.dirname(one.name) in beside)
    return "inputs" if known else "_other"


def _unique(name: str, taken: set[str]) -> str:
    stem, number = name, 1
    while name in taken:
        number += 1
        name = f"{stem}-{number}"
    taken.add(name)
    return name


def _add(archive: zipfile.ZipFile, member: str, one: Found, scrub: Scrub) -> dict[str, Any]:
    from emberscope.report.bundled import scrubbed

    damage: list[str] = []
    before, size_bytes = scrub.secrets, 0
    info = _info(member, one.path.stat().st_mtime)
    with one.path.open("rb") as file, archive.open(info, "w", force_zip64=True) as into:
        for piece in scrubbed(file, one.form, scrub, damage):
            into.write(piece)
            size_bytes += len(piece)
    return {
        "name": member,
        "kind": one.form.kind,
        "bytes": size_bytes,
        "secrets_taken_out": scrub.secrets - before,
        "lost": damage,
    }


def _info(name: str, modified_s: float | None) -> zipfile.ZipInfo:
    when = time.gmtime(modified_s) if modified_s is not None else time.gmtime()
    info = zipfile.ZipInfo(name, when[:6] if when.tm_year >= _FIRST_YEAR else (_FIRST_YEAR, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    return info


def _diagnosed(path: Path) -> tuple[dict[str, Any], str]:
    """What `diagnose` says of the archive, as a document and as Markdown; nothing where it can read none of it."""
    from emberscope.cli.inputs import read_inputs
    from emberscope.report.diagnosis import Input, diagnose_document, diagnose_each, diagnose_one, run_of
    from emberscope.report.markdown import diagnosis_markdown
    from emberscope.rules.wanted import SIGNATURES
    from emberscope.sources.load import load_input

    reader = partial(load_input, signatures=SIGNATURES)
    reading = read_inputs((str(path),), None, reader, diagnose_one, of_application=True)
    if not reading.results:
        return {}, ""
    described = [Input(run_of(found).path, kind, run_of(found).coverage) for kind, found in reading.results]
    diagnosed = diagnose_each([found for _, found in reading.results])
    document, text = diagnose_document(diagnosed, described), diagnosis_markdown(diagnosed)
    folder = f"{path.parent}/"
    return _without(document, folder), text.replace(folder, "")


def _without(value: Any, folder: str) -> Any:
    """A document that says nothing of where it was made."""
    if isinstance(value, dict):
        return {key: _without(one, folder) for key, one in value.items()}
    if isinstance(value, list):
        return [_without(one, folder) for one in value]
    return value.replace(folder, "") if isinstance(value, str) else value


def _json(document: dict[str, Any]) -> str:
    import json

    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _front(document: dict[str, Any], checklist: str) -> str:
    """The first page of a bundle."""
    lines = ["# What is known of this job", ""]
    if document["note"]:
        lines += [document["note"], ""]
    if document["app_ids"]:
        lines += [f"Applications: {', '.join(document['app_ids'])}", ""]
    lines += [
        f"{counted(len(document['files']), 'file')}; {counted(document['secrets_taken_out'], 'secret')} taken out"
        + ("." if document["redacted"] == "secrets" else "; hosts, users and paths replaced by pseudonyms."),
        "`diagnosis.md` beside this file is what Emberscope says of them; `emberscope diagnose` reads the archive.",
        "Values that stand in messages, and names of tables, columns and classes, are as they were.",
        "",
        "## What is asked for, and what is here",
        "",
        checklist,
    ]
    if document["left_out"]:
        lines += ["## Left out", "", *(f"- `{one['name']}`: {one['reason']}." for one in document["left_out"]), ""]
    return "\n".join(lines)


def _say(document: dict[str, Any], output: str) -> None:
    size = sum(one["bytes"] for one in document["files"])
    say(
        f"{output}: {counted(len(document['files']), 'file')}, {format_bytes(size)} unpacked; "
        f"{counted(document['secrets_taken_out'], 'secret')} taken out."
    )
    say(*(f"left out: {one['name']}: {one['reason']}." for one in document["left_out"][:5]))
    lacking = [one["name"] for one in document["asked_for"] if not one["files"]]
    if lacking:
        say(f"A helper may also ask for: {', '.join(lacking)} (`emberscope bundle` says where these are to be had).")
