"""Inputs that are no files yet, as files for a while: standard input, and what a URL has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from emberscope.errors import InputError
from emberscope.sources.load import standard_input
from emberscope.sources.shown import Shown, shown_error

STANDARD_INPUT = "standard input"


@dataclass(frozen=True, slots=True)
class Place:
    """Where an input lies, what it is called as a path (`name`) and in sentences (`words`).

    `live` is true for the state of a running application, by its interface.
    """

    path: str
    name: str
    words: str
    live: bool = False

    @property
    def shown(self) -> tuple[Shown, ...]:
        """What is to be replaced in results of what was read from here."""
        return () if self.path == self.name else (Shown(self.path, self.name, self.words),)

    def error(self, error: InputError) -> InputError:
        """An error of reading from here, as people know it."""
        return error if self.path == self.name else shown_error(error, self.path, self.words)


@contextmanager
def at_hand(path: str) -> Iterator[Place]:
    """An INPUT as something in the file system, there for the length of the block.

    Raises `InputError` for a URL that has nothing or is of another kind, `UnreachableError` for a server that is away.
    """
    if path == "-":
        with standard_input(path) as place:
            yield Place(place, "-", STANDARD_INPUT)
        return
    if "://" not in path:
        yield Place(path, path, path)
        return
    from emberscope.sources.http import without_secrets
    from emberscope.sources.interface import fetched, is_url

    if not is_url(path):
        reason = "only files, directories and URLs of HTTP are read."
        raise InputError(without_secrets(path), reason, hint="Fetch it first.")
    name = without_secrets(path)
    with fetched(path) as found:
        yield Place(found.path, name, name, found.live)
