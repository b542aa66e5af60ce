"""`emberscope flame`: the flame graph of a run or recording, or of a slice of it."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import click

from emberscope.cli.inputs import kind_option, read_one
from emberscope.cli.output import (
    form_of,
    say,
    say_coverage,
    say_kernel,
    terminal_width,
    wants_colour,
    write_document,
    write_result,
)
from emberscope.cli.overwrite import check_output
from emberscope.cli.slices import chosen_samples, slice_options, words_of
from emberscope.errors import InputError, UsageError
from emberscope.tables.coverage import Coverage, Note
from emberscope.tables.samples import COUNTED_EVENTS, EVENTS
from emberscope.units import format_ms

if TYPE_CHECKING:
    import pyarrow as pa

    from emberscope.profile.fold import CallTree
    from emberscope.tables.run import Run

_HOW: Final = "calibrated by thread CPU time"
_WAITS: Final = ("lock", "io")
_SUFFIXES: Final = {
    ".html": "html",
    ".htm": "html",
    ".speedscope.json": "speedscope",
    ".json": "json",
    ".folded": "folded",
    ".collapsed": "folded",
    ".txt": "folded",
}


@click.command(
    epilog="""\b
Examples:
  emberscope flame emberscope-runs -o flame.html
  emberscope flame recording.jfr --format folded
  perf script | emberscope flame - -o flame.html
  emberscope flame emberscope-runs --stage 7 --executor 2 -o stage7.html
  emberscope flame emberscope-runs --format text --least 2
"""
)
@click.argument("source", metavar="INPUT")
@slice_options
@click.option("-o", "--output", metavar="FILE", help="Where to write it; its ending chooses the format.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["html", "folded", "speedscope", "json", "text"]),
    help="Default: html; text on a terminal.",
)
@click.option("--unit", type=click.Choice(["samples", "ns", "bytes"]), help="What the widths count.")
@click.option(
    "--least",
    type=click.FloatRange(0, 100),
    default=1.0,
    help="In text: the least share shown, in per cent.",
)
@click.option("--lines", is_flag=True, help="Tell the source lines of a method apart.")
@click.option("--compilation", is_flag=True, help="Tell interpreted, compiled and inlined frames of a method apart.")
@click.option(
    "--calibrated",
    is_flag=True,
    help="CPU of tasks in ns: the samples of each task share out the CPU time that its thread measured.",
)
@click.option("--reverse", "is_reverse", is_flag=True, help="Leaf first: who calls the hot methods.")
@kind_option
def command(
    source: str,
    output: str | None,
    form: str | None,
    unit: str | None,
    least: float,
    lines: bool,
    compilation: bool,
    is_reverse: bool,
    calibrated: bool,
    kind: str | None,
    **given: Any,
) -> None:
    """Flame graph of a run, a .jfr recording or a directory of recordings, or of a slice of it.

    INPUT is one of these, collapsed stacks, the output of `perf script`, or - for standard input.

    HTML is one offline file; folded, speedscope and json are for other tools and go to standard output without -o.
    """
    on_terminal = output is None and sys.stdout is not None and sys.stdout.isatty()
    form = form or form_of(output, _SUFFIXES) or ("text" if on_terminal else "html")
    if form == "html" and on_terminal:
        raise UsageError("a page of HTML is nothing for a terminal.", hint="Name a file: -o flame.html.")
    if calibrated and (unit not in (None, "ns") or given["event"] not in (None, "cpu")):
        raise UsageError("--calibrated is of CPU, in ns.", hint="Leave --event and --unit out.")
    if form == "folded" and unit in (None, "samples") and not (is_reverse or calibrated) and _is_whole(given):
        from emberscope.sources.folding import fold_at_once

        check_output(output, [source])
        at_once = None
        if kind in (None, "recording"):
            by_number = unit is not None
            at_once = fold_at_once(source, given["event"], by_number=by_number, lines=lines, compilation=compilation)
        if at_once is not None:
            say_kernel()
            write_result(at_once.text, output)
            say_coverage(at_once.coverage)
            return
    _, run, reading = read_one(source, kind, output=output, lines=lines, compilation=compilation)
    if calibrated:
        run, unit = _calibrated(run), "ns"
    samples = chosen_samples(run, given)
    idle = _waits_outside_tasks(run, samples, given["event"] if given["event"] in _WAITS else "lock")
    if idle is not None:
        run = replace(run, coverage=run.coverage + Coverage((idle,)))
        if given["event"] in _WAITS:
            say(f"note: {idle.message}")
    stacks, frames = run.tables["stacks"], run.tables["frames"]
    if is_reverse:
        from emberscope.profile.reverse import reverse

        samples, stacks = reverse(samples, stacks)
    if form == "html":
        words = ", ".join(filter(None, [words_of(given), _HOW if calibrated else ""]))
        write_result(_page(run, samples, stacks, frames, unit, words), output)
        if output not in (None, "-"):
            say(f"flame graph: {output}")
    elif form == "text":
        from emberscope.report.flame_text import flame_text

        tree, event, unit = _tree(samples, stacks, frames, unit)
        width, colour = terminal_width(), wants_colour(output)
        text = flame_text(tree, event=event, unit=unit, width=width, least_ratio=least / 100, colour=colour)
        write_result(text, output)
    else:
        _write_tree(run, samples, stacks, frames, form, unit, output, given)
    say_coverage(run.coverage)
    reading.fail_if_incomplete()


def _calibrated(run: Run) -> Run:
    """The run with nothing but the CPU samples of tasks whose thread was measured, and what they share out of it."""
    from emberscope.profile.calibrate import calibrate, calibrated_samples
    from emberscope.units import counted

    if "samples" not in run.tables:
        return run
    found = calibrate(run.tables["samples"], run.tables["spans"])
    whole = found.whole
    if not whole.in_samples_ns:
        reason = "its recordings do not say how much CPU the threads of its tasks used, so nothing can be calibrated."
        raise InputError(run.path, reason, hint="Leave --calibrated out, or record it anew.")
    message = "Widths are CPU time of task threads, shared out to their samples; other threads are not in it."
    if whole.tasks_not_seen:
        unseen = counted(whole.tasks_not_seen, "task")
        message += f" {format_ms(whole.not_seen_ns / 1e6)} of {unseen} without a sample are not in it either."
    if whole.tasks_not_measured:
        message += f" Nor are {counted(whole.tasks_not_measured, 'task')} whose thread was not measured to the end."
    tables = {**run.tables, "samples": calibrated_samples(run.tables["samples"], found)}
    return replace(run, tables=tables, coverage=run.coverage + Coverage((Note("limited", message, "calibrated"),)))


def _is_whole(given: dict[str, Any]) -> bool:
    """Whether no slice is asked for: an event at most."""
    return all(value is None for name, value in given.items() if name != "event")


def _waits_outside_tasks(run: Run, samples: pa.Table, event: str) -> Note | None:
    """How much of the waits of this event is not of tasks: idle threads wait as long as the application lives.

    None where tasks are not known, or all waits are theirs.
    """
    import pyarrow.compute as pc

    waits = samples.filter(pc.equal(samples["event"], event))
    outside = waits.filter(pc.is_null(waits["stage_id"]))
    idle_ns, all_ns = (pc.sum(table["value"]).as_py() or 0 for table in (outside, waits))
    if not run.tables["spans"].num_rows or not idle_ns:
        return None
    message = (
        f"{format_ms(idle_ns / 1e6)} of {format_ms(all_ns / 1e6)} of waits are of threads that ran no task then, "
        "idle pools among them. Ask for a stage or a job to see those of tasks alone."
    )
    return Note("limited", message, event)


def _page(run: Run, samples: pa.Table, stacks: pa.Table, frames: pa.Table, unit: str | None, words: str) -> str:
    from emberscope.profile.codegen import generated_code_words
    from emberscope.profile.flame_data import flame_data
    from emberscope.profile.flame_tree import from_tree
    from emberscope.profile.fold import compacted
    from emberscope.report.flame_page import flame_page

    if unit is None:
        data = flame_data(samples, stacks, frames, run.tables.get("tasks"), run.start_ns)
    else:
        tree, event, unit = _tree(samples, stacks, frames, unit)
        data = from_tree(compacted(tree), event=event, unit=unit)
    return flame_page(
        data,
        title=run.application.app_name or run.path,
        subtitle=words,
        coverage=run.coverage,
        stage_names=_names(run, "stages", "stage_id", "name"),
        sql_names=_names(run, "sql_executions", "sql_execution_id", "description"),
        codegen=generated_code_words(frames, run.tables.get("plan_nodes")),
    )


def _write_tree(
    run: Run,
    samples: pa.Table,
    stacks: pa.Table,
    frames: pa.Table,
    form: str,
    unit: str | None,
    output: str | None,
    given: dict[str, Any],
) -> None:
    # Folded text has no place for its unit: of CPU it always is samples, whatever each of them stands for.
    tree, event, unit = _tree(samples, stacks, frames, unit, by_number=form == "folded")
    if form == "folded":
        from emberscope.profile.formats.folded import folded

        write_result(folded(tree), output)
    elif form == "speedscope":
        from emberscope.profile.formats.speedscope import speedscope

        name = ", ".join(filter(None, [run.application.app_name or run.path, words_of(given), event]))
        write_document(speedscope(tree, name=name, unit=unit), output)
    else:
        from emberscope.profile.formats.json import columns

        document = {"schema": "emberscope.flame/1", "inputs": [run.path]}
        write_document(document | columns(tree, event=event, unit=unit) | {"coverage": run.coverage.document()}, output)


def _tree(
    samples: pa.Table, stacks: pa.Table, frames: pa.Table, unit: str | None, *, by_number: bool = False
) -> tuple[CallTree, str, str]:
    """The call tree of the first event that is there, with the event and the unit of its weights."""
    import pyarrow.compute as pc

    from emberscope.profile.fold import Weight, fold, natural_weight, unit_of

    present = set(pc.unique(samples["event"]).to_pylist())
    event = next(event for event in EVENTS if event in present)
    samples = samples.filter(pc.equal(samples["event"], event))
    if by_number and unit is None and event in COUNTED_EVENTS:
        unit = "samples"
    weight: Weight = natural_weight(samples, event) if unit is None else ("count" if unit == "samples" else "value")
    found = unit_of(samples, weight)
    if unit is not None and found != unit:
        raise UsageError(f"{event} samples count {found}, not {unit}.", hint=f"Ask for --unit {found} or samples.")
    return fold(samples, stacks, frames, weight=weight), event, found


def _names(run: Run, table: str, key: str, name: str) -> dict[int, str]:
    rows = run.tables.get(table)
    if rows is None:
        return {}
    return {k: str(v) for k, v in zip(rows[key].to_pylist(), rows[name].to_pylist(), strict=True) if v}
