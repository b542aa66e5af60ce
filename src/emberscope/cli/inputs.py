"""The INPUT arguments of a verb, read one by one; what cannot be read is kept for the end."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import click

from emberscope.cli.output import Progress, say, say_kernel
from emberscope.cli.overwrite import check_output
from emberscope.errors import InputError

if TYPE_CHECKING:
    from emberscope.sources.at_hand import Place
    from emberscope.sources.load import Input
    from emberscope.tables.run import Run

_Result = TypeVar("_Result")

_MOST_JOINED: Final = 2
"""An event log and the recordings of its application."""

kind_option = click.option(
    "--kind",
    type=click.Choice(
        [
            *("event_log", "recording", "collapsed", "perf_script", "run"),
            *("container_log", "gc_log", "hs_err", "pod_status", "yarn_report", "question"),
        ]
    ),
    help="What the input is, where its content does not tell.",
)


@dataclass(slots=True)
class Reading(Generic[_Result]):
    """What was read: a result of each input with its kind, and `problems` with the inputs that could not be."""

    results: list[tuple[str, _Result]] = field(default_factory=list)
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
    reader: Callable[[Input], Run],
    digest: Callable[[Input, Run], _Result],
    *,
    output: str | None = None,
    of_application: bool = False,
) -> Reading[_Result]:
    """Everything at these paths, in their order. `-` is standard input; a directory of event logs is several inputs.

    `reader` makes a run of an input and `digest` a result of the run, of which nothing else is kept; both may be called
    in other processes. With `of_application`, profiles that know no application are among the problems.
    Raises `UsageError` where `output` would be written over one of the inputs.
    """
    check_output(output, paths)
    reading: Reading[_Result] = Reading()
    with ExitStack() as stack:
        found: list[tuple[Input, Place]] = []
        for path in paths:
            try:
                found += _find(path, kind, stack, reading.problems)
            except InputError as error:
                reading.problems.append(error)
        reading.results += _read(found, reader, digest, reading.problems, of_application)
    # What was read stays to the end: to search it for garbage again and again would cost a tenth of a diagnosis.
    gc.freeze()
    return reading


def read_one(
    path: str,
    kind: str | None,
    *,
    output: str | None = None,
    lines: bool = False,
    compilation: bool = False,
    of_application: bool = False,
) -> tuple[str, Run, Reading[Run]]:
    """The one input at this path, with its kind and, in the reading, the members of a directory that are bad.

    An event log and the recordings of the same application in one directory are one input. Raises `InputError` where
    there are several, and `UsageError` where `output` would be written over it. With `of_application`, profiles that
    know no application are among what is bad.
    """
    from emberscope.sources.join import join
    from emberscope.sources.kind import TEXTS
    from emberscope.sources.load import load_input, whole

    check_output(output, [path])
    reading: Reading[Run] = Reading()
    with ExitStack() as stack:
        found = _find(path, kind, stack, reading.problems)
        data = [item.path for item, _ in found if item.kind not in TEXTS]
        if len(data) > _MOST_JOINED:
            raise _several(path, data)
        reader = partial(load_input, lines=lines, compilation=compilation)
        for one in _read(found, reader, whole, reading.problems, of_application):
            reading.results.append(one)
            if sum(kind not in TEXTS for kind, _ in reading.results) > _MOST_JOINED:
                raise _several(path, [one[1].path])
    if not reading.results:
        raise reading.problems[0]
    together = join([run for _, run in reading.results])
    if len(together) > 1:
        raise _several(path, [run.path for run in together])
    return reading.results[0][0], together[0], reading


def _find(path: str, kind: str | None, stack: ExitStack, problems: list[InputError]) -> list[tuple[Input, Place]]:
    """What lies at a path. It is there until the stack is closed."""
    from emberscope.sources.at_hand import at_hand
    from emberscope.sources.load import find_inputs

    place = stack.enter_context(at_hand(path))
    try:
        found, not_read = find_inputs(place.path, kind)
    except InputError as error:
        raise place.error(error) from None
    problems += [place.error(error) for error in not_read]
    for item in found:
        _say_newest(item.path, item.of_runs)
    return [(replace(item, shown=place.shown, live=place.live), place) for item in found]


def _read(
    found: Sequence[tuple[Input, Place]],
    reader: Callable[[Input], Run],
    digest: Callable[[Input, Run], _Result],
    problems: list[InputError],
    of_application: bool,
) -> Iterator[tuple[str, _Result]]:
    from emberscope.sources.kind import TEXT_PROFILES
    from emberscope.sources.load import of_many, read_many

    if any(item.kind in ("recording", "run") for item, _ in found):
        say_kernel()
    progress = Progress(len(found))
    items = of_many([item for item, _ in found])
    for number, (outcomes, (_, place)) in enumerate(zip(read_many(items, reader, digest), found, strict=True), 1):
        progress.done(number)
        for outcome in outcomes:
            problems += [place.error(error) for error in outcome.problems]
            if outcome.result is None:
                continue
            if of_application and outcome.item.kind in TEXT_PROFILES:
                problems.append(place.error(_without_application(outcome.item.name or outcome.item.path)))
            else:
                yield outcome.item.kind, outcome.result


def _several(path: str, inputs: Sequence[str]) -> InputError:
    return InputError(path, f"it holds {len(inputs)} inputs.", hint=f"Give one of them: {', '.join(inputs[:3])}.")


def _without_application(path: str) -> InputError:
    """For a profile that says what code ran, but not in which application."""
    reason = "a diagnosis needs an application, and this profile only says what code ran."
    return InputError(path, reason, hint="`emberscope flame` draws it.")


def _say_newest(path: str, of_runs: int) -> None:
    if of_runs > 1:
        say(f"note: the store holds {of_runs} runs; this is the newest: {path}")
