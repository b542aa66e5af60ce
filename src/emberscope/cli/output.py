"""Results out: to standard output or a file, as UTF-8 whatever the locale says. All else goes to standard error."""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from emberscope.errors import StoreError, UsageError
from emberscope.tables.coverage import Coverage
from emberscope.units import printable

MOST_NOTES = 5
_NOTE_SECONDS = 10


def write_result(text: str | bytes, output: str | None) -> None:
    """Write a result to `output`, or to standard output where it is None or `-`: see `result`."""
    with result(output) as write:
        write(text.encode("utf-8", "replace") if isinstance(text, str) else text)


@contextmanager
def result(output: str | None) -> Iterator[Callable[[Any], object]]:
    """How to write a result in pieces (anything with bytes) to `output`, or to standard output for None or `-`.

    A file is written whole or not at all; a device or a pipe is written into. Raises `UsageError`.
    """
    if output is None or output == "-":
        if sys.stdout is None:
            raise UsageError("standard output is closed.", hint="Name a file with -o.")
        yield _write_standard_output
        return
    from pathlib import Path

    from emberscope.store.write import writing

    path = Path(output)
    if path.is_dir():
        raise UsageError(f"{output} is a directory.", hint="Name a file.")
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as device:
                yield device.write
        else:
            with writing(Path(os.path.realpath(path))) as file:
                yield file.write
    except StoreError as error:
        raise UsageError(f"{output} {error.reason}", hint="Name another file.") from error
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror}.", hint="Name another file.") from error


def _write_standard_output(data: Any) -> None:
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        drop_standard_output()
        hint = "Name a file on a disk with room, with -o or behind '>'."
        raise UsageError(f"standard output cannot be written: {error.strerror}.", hint=hint) from error


def drop_standard_output() -> None:
    """What waits to be written goes nowhere: Python would try again at exit, and fail with words of its own."""
    with suppress(OSError, ValueError):
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def terminal_width(default: int = 100) -> int:
    """Columns of the terminal that standard output goes to; a good width for a file or a pipe otherwise."""
    import shutil

    if sys.stdout is None or not sys.stdout.isatty():
        return default
    return shutil.get_terminal_size((default, 24)).columns


def wants_colour(output: str | None) -> bool:
    """Whether a result may be coloured: on a terminal that can, unless NO_COLOR says no or FORCE_COLOR yes."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    on_terminal = output in (None, "-") and sys.stdout is not None and sys.stdout.isatty()
    return on_terminal and os.environ.get("TERM") != "dumb"


def write_document(document: dict[str, Any], output: str | None = None) -> None:
    """Write one JSON document."""
    import json

    write_result(json.dumps(document, ensure_ascii=False, indent=1) + "\n", output)


def form_of(output: str | None, endings: Mapping[str, str]) -> str | None:
    """The format that the ending of a file's name asks for; None for standard output and a name without an ending.

    Raises `UsageError` for an ending that stands for no format.
    """
    if output is None or output == "-":
        return None
    name = os.path.basename(output).lower()
    for ending, form in endings.items():
        if name.endswith(ending):
            return form
    if not os.path.splitext(name)[1]:
        return None
    raise UsageError(
        f"{output}: no format has this ending.", hint=f"Known are {', '.join(endings)}; or choose by --format."
    )


def say(*sentences: str) -> None:
    """Lines on standard error. A standard error that is closed, or that nobody reads, is no error."""
    if sys.stderr is None:  # `print` would take standard output instead
        return
    try:
        for sentence in sentences:
            print(printable(sentence), file=sys.stderr)
        sys.stderr.flush()
    except OSError:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - it lives as long as the process


class Progress:
    """How many of several are done, on standard error: in one line of a terminal, else a note every ten seconds."""

    def __init__(self, count: int, fewest: int = 10) -> None:
        self._count = count
        self._silent = count < fewest or sys.stderr is None
        self._terminal = not self._silent and sys.stderr.isatty()
        self._next_s = time.monotonic() + (0 if self._terminal else _NOTE_SECONDS)

    def done(self, number: int) -> None:
        """So many are done by now."""
        if self._silent:
            return
        last = number >= self._count
        if self._terminal:
            line = "" if last else f"read {number:,} of {self._count:,}"
            with suppress(OSError):
                sys.stderr.write(f"\r\033[K{line}")
                sys.stderr.flush()
        elif time.monotonic() >= self._next_s and not last:
            say(f"note: read {number:,} of {self._count:,}")
            self._next_s = time.monotonic() + _NOTE_SECONDS


@functools.cache
def say_kernel() -> None:
    """That recordings are read by Python, where the compiled kernel was not built; once."""
    from emberscope.kernel import CHOSEN, NATIVE

    if not NATIVE and not CHOSEN:
        say("note: recordings are read without the compiled kernel, several times slower: it was not built here.")


def say_coverage(coverage: Coverage) -> None:
    """What is missing in the data, a line each, the first few."""
    notes = [note for note in coverage.notes if not Coverage((note,)).complete]
    say(*_lines(notes[:MOST_NOTES]))
    if len(notes) > MOST_NOTES:
        say(f"note: and {len(notes) - MOST_NOTES} more; `emberscope diagnose --json` lists all.")


def _lines(notes: Iterable[Any]) -> list[str]:
    return [f"note: {note.message}" + (f" ({note.where})" if note.where else "") for note in notes]
