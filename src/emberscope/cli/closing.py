"""After the job of `emberscope run`: its runs are put together, diagnosed, written down and told in a few lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emberscope.cli.output import say, write_result
from emberscope.errors import EmberscopeError
from emberscope.recorder.jar import recorder_jar
from emberscope.recorder.spark import find_java
from emberscope.recorder.spools import sweep
from emberscope.report.closing import closing_lines
from emberscope.report.diagnosis import Input, diagnose, diagnose_document
from emberscope.sources.collect import Collected, collect, recorded_runs
from emberscope.sources.lost import executor_rows
from emberscope.sources.recorder_cost import problem_note
from emberscope.sources.run import load_run
from emberscope.sources.settle import settle
from emberscope.store.chunks import chunks_of
from emberscope.store.layout import FINDINGS_DOCUMENT, REPORT_PAGE, RUN_DOCUMENT
from emberscope.store.run_document import run_document
from emberscope.store.write import write_bytes, write_json
from emberscope.tables.coverage import Coverage, Note

if TYPE_CHECKING:
    from emberscope.recorder.plan import Plan
    from emberscope.tables.run import Run


def close(plan: Plan, store: Path, group: str, *, started_ms: int, exit_code: int, report: str | None) -> None:
    """Collect and tell the runs that a command left. All words go to standard error.

    A run that cannot be analysed or written is said so, and the others are told all the same.
    """
    status = _status(plan.status)
    left: dict[Path, tuple[Note, ...]] = {}
    for directory, said in recorded_runs(store, group, plan.invocation):
        # First those that died: nobody waits for them then. Then those that died while the others were waited for.
        reasons = [_sweep(directory, said, plan)]
        settle(directory, master=said.get("master"), chunk_seconds=said.get("chunk_seconds") or 30)
        reasons.append(_sweep(directory, said, plan))
        left[directory] = tuple(Note("limited", reason, "recorder") for reason in dict.fromkeys(reasons) if reason)
    found = collect(
        store,
        group,
        plan.invocation,
        incoming=plan.incoming,
        event_log_dir=plan.launch.event_log_dir,
        started_ms=started_ms,
        plugin=plan.plugin,
        problems=status,
    )
    say("", "emberscope:")
    for reason in plan.lost:
        say(f"  {reason}")
    if not found:
        _say_nothing_found(plan, status, exit_code)
    for collected in found:
        try:
            collected = replace(collected, notes=(*left.get(collected.directory, ()), *collected.notes))
            _close_run(collected, plan, status, exit_code, _report_name(report, collected, len(found)))
        except EmberscopeError as error:
            say(f"  {error}")


def _sweep(run: Path, said: Mapping[str, Any], plan: Plan) -> str | None:
    try:
        jar = recorder_jar()
    except EmberscopeError:
        jar = None
    return sweep(run, said, java=find_java(plan.launch.environment), jar=jar)


def _close_run(collected: Collected, plan: Plan, status: dict[str, Any], exit_code: int, report: str | None) -> None:
    directory = collected.directory
    run = load_run(str(directory))
    notes = [Note("not_recorded", reason, "recorder") for reason in plan.lost]
    if status.get("app_id") == run.application.app_id:
        notes += [problem_note(problem) for problem in status.get("problems", ())]
    run = replace(run, coverage=run.coverage + Coverage((*notes, *collected.notes)))
    _write(directory / RUN_DOCUMENT, _document(run, directory, exit_code, plan.invocation))
    diagnosed = diagnose(run)
    for line in closing_lines(diagnosed):
        say(f"  {line}")
    _write(directory / FINDINGS_DOCUMENT, diagnose_document([diagnosed], [Input(run.path, "run", run.coverage)]))
    say(f"  run:    {directory}")
    from emberscope.report.page import report_page

    try:
        page = report_page(diagnosed)
        write_bytes(directory / REPORT_PAGE, page.encode("utf-8", "replace"))
        say(f"  report: {directory / REPORT_PAGE}")
        if report is not None:
            write_result(page, report)
            say(f"          {report}")
    except EmberscopeError as error:
        say(f"  no report: {error}")


def _document(run: Run, directory: Path, exit_code: int, invocation: str) -> dict[str, Any]:
    executors = executor_rows(run.tables.get("executors"), chunks_of(directory), run.application)
    return run_document(run, executors, exit_code=exit_code, invocation=invocation)


def _write(path: Path, document: dict[str, Any]) -> None:
    try:
        write_json(path, document)
    except EmberscopeError as error:
        say(f"  {error}")


def _say_nothing_found(plan: Plan, status: dict[str, Any], exit_code: int) -> None:
    for note in map(problem_note, status.get("problems", ())):
        say(f"  {note.message} ({note.where})")
    if status.get("problems"):
        say("  Nothing that could be read was recorded.")
    if plan.plugin is not None and not status and exit_code != 0:
        say(
            f"  The command started no Spark application and ended with exit code {exit_code}: its own output says why."
        )
    elif plan.plugin is not None and not status.get("problems"):
        say(
            "  The command started no Spark application that could be recorded. Where its code sets spark.plugins or "
            "spark.eventLog.enabled itself,",
            f"  add {plan.plugin} to the first and leave the second out; where its driver runs on another host, give "
            "--store a path that both see.",
        )
    elif plan.plugin is None and not plan.lost:
        say("  The command started no Spark application, so there is nothing to show.")


def _report_name(report: str | None, collected: Collected, runs: int) -> str | None:
    """The name for a copy of the report; with several applications each has its id in it."""
    if report is None or runs == 1:
        return report
    path = Path(report)
    return str(path.with_name(f"{path.stem}-{collected.directory.parent.name}{path.suffix}"))


def _status(path: Path) -> dict[str, Any]:
    """What the driver plugin wrote about itself; empty where it did not run, or could not write."""
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}
