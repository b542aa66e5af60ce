"""What a rule looks for in logs: a pattern that the reader is given, so that one pass serves all rules."""

from __future__ import annotations

from msgspec import Struct


class Signature(Struct, frozen=True):
    """One pattern over the text of one record: its message and the lines that belong to it, joined by line feeds.

    `pattern` is a regular expression with named groups for what the rule wants to know; it is searched with
    MULTILINE. Every record that it matches holds at least one of `literals` (case as written): they are what the fast
    pass over the bytes looks for, so they must be rare in logs of healthy applications and at least five characters
    long. `words` are patterns, searched without regard to case, by which the same trouble is told in a question in
    plain words, where no log is at hand; all of one entry's parts must be found.
    """

    name: str
    pattern: str
    literals: tuple[str, ...]
    words: tuple[tuple[str, ...], ...] = ()
