"""The INPUT arguments of a verb, read one by one; what cannot be read is kept for the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import click

from emberscope.cli.output import Progress, say, say_kernel
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
        more = f"And {others} more {'input' if others == 1 else 'inputs'} could not be read." if others else ""
        raise first.with_hint(f"{first.hint} {more}".strip())


def read_inputs(
    paths: Sequence[str],
    kind: str | None,
    *,
    output: str | None = None,
    of_application: bool = False,
    reader: Callable[[Input], Run] | None = None,
) -> Reading:
    """Everything at these paths, in their order. `-` is standard input; a directory of event logs is several inputs.

    With `of_application`, profiles that know no application are among the problems. `reader` makes a run of an input,
    instead of reading all of it into memory. Raises `UsageError` where `output` would be written over one of them.
    """
    check_output(output, paths)
    reading = Reading()
    with ExitStack() as stack:
        for path in paths:
            try:
                for kind_read, run in _read(path, kind, stack, reading.problems, of_application, reader=reader):
                    reading.runs.append((kind_read, run))
            except InputError as error:
                reading.problems.append(error)
    return reading


def read_one(
    path: str,
    kind: str | None,
    *,
    output: str | None = None,
    lines: bool = False,
    compilation: bool = False,
    of_application: bool = False,
) -> tuple[str, Run, Reading]:
    """The one input at this path, with its kind and, in the reading, the members of a directory that are bad.

    An event log and the recordings of the same application in one directory are one input. Raises `InputError` where
    there are several, and `UsageError` where `output` would be written over it. With `of_application`, profiles that
    know no application are among what is bad.
    """
    from emberscope.sources.join import join

    check_output(output, [path])
    reading = Reading()
    with ExitStack() as stack:
        found = _read(path, kind, stack, reading.problems, of_application, lines=lines, compilation=compilation, most=2)
        for kind_read, run in found:
            reading.runs.append((kind_read, run))
    if not reading.runs:
        raise reading.problems[0]
    together = join([run for _, run in reading.runs])
    if len(together) > 1:
        raise _several(path, [run.path for run in together])
    return reading.runs[0][0], together[0], reading


def _read(
    path: str,
    kind: str | None,
    stack: ExitStack,
    problems: list[InputError],
    of_application: bool,
    *,
    lines: bool = False,
    compilation: bool = False,
    most: int | None = None,
    reader: Callable[[Input], Run] | None = None,
) -> Iterator[tuple[str, Run]]:
    """What lies at a path, one by one. Raises `InputError` where there are more than `most`."""
    from emberscope.sources.at_hand import at_hand
    from emberscope.sources.kind import TEXT_PROFILES
    from emberscope.sources.load import find_inputs, load_input, read_many

    place = stack.enter_context(at_hand(path))
    try:
        found, not_read = find_inputs(place.path, kind)
    except InputError as error:
        raise place.error(error) from None
    if most is not None and len(found) > most:
        raise _several(path, [item.path for item in found])
    problems += [place.error(error) for error in not_read]
    for item in found:
        _say_newest(item.path, item.of_runs)
    if any(item.kind in ("recording", "run") for item in found):
        say_kernel()
    reader = reader or partial(load_input, lines=lines, compilation=compilation)
    progress = Progress(len(found))
    count = 0
    for number, outcomes in enumerate(read_many(found, reader), 1):
        progress.done(number)
        for outcome in outcomes:
            problems += [place.error(error) for error in outcome.problems]
            if of_application and outcome.item.kind in TEXT_PROFILES and outcome.run is not None:
                problems.append(place.error(_without_application(outcome.run.path)))
            elif outcome.run is not None:
                count += 1
                if most is not None and count > most:
                    raise _several(path, [outcome.run.path])
                problems += _unread_files(outcome.run, outcome.item.files)
                yield outcome.item.kind, place.run(outcome.run)


def _several(path: str, inputs: Sequence[str]) -> InputError:
    return InputError(path, f"it holds {len(inputs)} inputs.", hint=f"Give one of them: {', '.join(inputs[:3])}.")


def _unread_files(run: Run, files: Sequence[str]) -> list[InputError]:
    """The recordings of a directory of which nothing could be read."""
    if not files:
        return []
    read = {facts.path for facts in run.recordings}
    said = {note.where: note.message for note in run.coverage.notes if note.code == "missing_part"}
    return [InputError(file, said.get(file, "it cannot be read.")) for file in files if file not in read]


def _without_application(path: str) -> InputError:
    """For a profile that says what code ran, but not in which application."""
    reason = "a diagnosis needs an application, and this profile only says what code ran."
    return InputError(path, reason, hint="`emberscope flame` draws it.")


def _say_newest(path: str, of_runs: int) -> None:
    if of_runs > 1:
        say(f"note: the store holds {of_runs} runs; this is the newest: {path}")
