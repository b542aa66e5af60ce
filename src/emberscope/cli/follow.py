"""`emberscope summary --follow`: the facts of an event log again and again while Spark writes it."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from emberscope.cli.output import say, write_result
from emberscope.errors import UsageError

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_WAIT_S: Final = 1.0


def follow_log(inputs: Sequence[str], *, as_json: bool) -> None:
    """Follows one log to the end of its application, or to Ctrl-C; then what is known is printed all the same.

    Raises `UsageError` for anything but one event log, and `InputError` where it cannot be read.
    """
    from emberscope.eventlog.follow import Follower

    if len(inputs) != 1 or inputs[0] == "-" or "://" in inputs[0]:
        raise UsageError("--follow takes one event log, a file or the directory of a rolling log.")
    follower = Follower(inputs[0])
    run = None
    printer = _Line()
    try:
        while not follower.ended:
            started = time.monotonic()
            if follower.poll() and (run := follower.run()) is not None:
                if as_json:
                    _write_json(run)
                else:
                    printer.show(_words(run))
            while follower.said:
                printer.end()
                say(f"note: {follower.said.pop(0)}")
            if not follower.ended:
                # A log of many stages takes a while to sum up: at least half of the time is left to others.
                time.sleep(max(_WAIT_S, time.monotonic() - started))
    finally:
        printer.end()
        if run is not None and not as_json:
            from emberscope.report.summary import summary_text

            write_result(summary_text(_document(run)), None)


def _document(run: Run) -> dict[str, Any]:
    from emberscope.report.summary import summarized, summary_document

    return summary_document([summarized("event_log", run)])


def _write_json(run: Run) -> None:
    import json

    write_result(json.dumps(_document(run), ensure_ascii=False) + "\n", None)


def _words(run: Run) -> str:
    """The state of the application in one line."""
    from emberscope.eventlog.facts import facts
    from emberscope.units import counted, format_count, format_ms

    found = facts(run)
    running = run.tables["running_tasks"]["at_end"].to_pylist().count(True)
    length = run.application.observed_ms
    tasks = found["tasks"]
    parts = [
        "" if length is None else format_ms(length),
        counted(found["jobs"], "job") + (f" ({found['jobs_unfinished']} running)" if found["jobs_unfinished"] else ""),
        counted(found["stage_attempts"], "stage"),
        counted(tasks["total"], "task") + (f" ({format_count(running)} running)" if running else ""),
        f"{format_count(tasks['failed'])} failed" if tasks["failed"] else "",
        "ended" if found["complete"] else "",
    ]
    return ", ".join(part for part in parts if part)


class _Line:
    """Shows words on standard error: on a terminal each over the last, elsewhere a line each."""

    def __init__(self) -> None:
        self._over = sys.stderr is not None and sys.stderr.isatty()
        self._open = False

    def show(self, words: str) -> None:
        if not self._over:
            say(words)
            return
        print(f"\r\x1b[K{words}", end="", file=sys.stderr, flush=True)
        self._open = True

    def end(self) -> None:
        if self._open:
            say("")
            self._open = False
