"""The INPUT arguments of a verb, read one by one; what cannot be read is kept for the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import click

from emberscope.cli.output import say
from emberscope.cli.overwrite import check_output
from emberscope.errors import InputError

if TYPE_CHECKING:
    from emberscope.sources.load import Input
    from emberscope.tables.run import Run

kind_option = click.option(
    "--kind",
    type=click.Choice(["event_log", "recording", "collapsed", "perf_script", "run"]),
    help="What the input is, where its content does not tell.",
)


@dataclass(slots=True)
class Reading:
    """What was read: `runs` with the kind of each, and `problems` with the inputs that could not be."""

    runs: list[tuple[str, Run]] = field(default_factory=list)
    problems: list[InputError] = field(default_factory=list)

    def fail_if_incomplete(self) -> None:
        """Raises the first problem, with the number of the others. To be called when the results are out."""
        if not self.problems:
            return
        first = self.problems[0]
        others = len(self.problems) - 1
        hint = f"{first.hint} And {others} more inputs could not be read.".strip() if others else first.hint
        raise InputError(first.path, first.reason, place=first.place, hint=hint)


def read_inputs(
    paths: Sequence[str], kind: str | None, *, output: str | None = None, of_application: bool = False
) -> Reading:
    """Everything at these paths, in their order. `-` is standard input; a directory of event logs is several inputs.

    With `of_application`, profiles that know no application are among the problems. Raises `UsageError` where `output` would be written over one of them.
    """
    check_output(output, paths)
    reading = Reading()
    with ExitStack() as stack:
        for path in paths:
            try:
                for kind_read, run in _read(path, kind, stack, reading.problems, of_application):
                    reading.runs.append((kind_read, run))
            except InputError as error:
                reading.problems.append(error)
    return reading


def read_one(
    path: str, kind: str | None, *, output: str | None = None, lines: bool = False, of_application: bool = False
) -> tuple[str, Run]:
    """The one input at this path. Raises `InputError` where there are several.

    With `of_application`, also where it is a profile that knows no application. Raises `UsageError` where `output` would be written over it.
    """
    check_output(output, [path])
    from emberscope.sources.load import find_inputs, load, standard_input

    with standard_input(path) as place:
        try:
            found, problems = find_inputs(place, kind)
            if len(found) > 1:
                names = ", ".join(item.path for item in found[:3])
                raise InputError(path, f"it holds {len(found)} inputs.", hint=f"Give one of them: {names}.")
            if problems:
                raise problems[0]
            _say_newest(found[0].path, found[0].of_runs)
            if of_application:
                _need_application(found[0])
            run = load(found[0].path, found[0].kind, lines=lines)
        except InputError as error:
            raise _named(error, place, path) from None
        return found[0].kind, replace(run, path="-") if path == "-" else run


def _read(
    path: str, kind: str | None, stack: ExitStack, problems: list[InputError], of_application: bool
) -> Iterator[tuple[str, Run]]:
    from emberscope.sources.load import find_inputs, load, standard_input

    place = stack.enter_context(standard_input(path))
    try:
        found, not_read = find_inputs(place, kind)
    except InputError as error:
        raise _named(error, place, path) from None
    problems += not_read
    for item in found:
        _say_newest(item.path, item.of_runs)
        try:
            if of_application:
                _need_application(item)
            run = load(item.path, item.kind)
        except InputError as error:
            problems.append(_named(error, place, path))
            continue
        yield item.kind, replace(run, path="-") if path == "-" else run


def _named(error: InputError, place: str, path: str) -> InputError:
    """The error under the name that the user gave."""
    if error.path != place or place == path:
        return error
    return InputError("standard input", error.reason, place=error.place, hint=error.hint)


def _need_application(item: Input) -> None:
    """Raises `InputError` for a profile that says what code ran, but not in which application."""
    from emberscope.sources.kind import TEXT_PROFILES

    if item.kind in TEXT_PROFILES:
        reason = "a diagnosis needs an application, and this profile only says what code ran."
        raise InputError(item.path, reason, hint="`emberscope flame` draws it.")


def _say_newest(path: str, of_runs: int) -> None:
    if of_runs > 1:
        say(f"note: the store holds {of_runs} runs; this is the newest: {path}")
