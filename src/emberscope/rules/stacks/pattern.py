"""What a hot spot looks like in stacks: the frames that mark it, and what must or must not stand above them."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

CONTEXTS: Final = {
    "task": r"org\.apache\.spark\.executor\.Executor\$TaskRunner\.run",
    "whole_value": r"org\.apache\.spark\.serializer\.JavaSerializerInstance\.(de)?serialize",
    "json": r"org\.apache\.spark\.sql\.catalyst\.(json\.|expressions\.(json\.|\w*Json))",
}
"""Expressions over frame names (RE2, from the start of the name). A context holds at and below a frame that matches.

`whole_value` is one value at once, as task results and closures are: not the rows of a shuffle.
"""


class Pattern(Struct, frozen=True):
    """A hot spot of one rule.

    `marks` are expressions (RE2, from the start of the name) of its frames: a stack with one of them in it is this hot
    spot, the callees of the frame with it. Where several patterns mark one stack, the one of the highest `rank` has it,
    among equals the one nearest to the leaf. `inside` and `outside` name contexts that must or must not hold.
    `waits`: it may be off the CPU or in native code, so that samples of threads in native code, wall clock samples and
    waits for locks count too; else only CPU samples do. `native`: its native code computes, so that samples of threads
    in native code are CPU time. `unseen`: the JVM does it where a sampler of Java code does not look, and allocates
    there: allocation samples tell of it. `own`: it can only be mended in the user's code, so it counts where that asks
    for most of it.
    """

    code: str
    marks: tuple[str, ...]
    rank: int = 1
    inside: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    waits: bool = False
    native: bool = False
    unseen: bool = False
    own: bool = False

    @property
    def expression(self) -> str:
        return "^(?:" + "|".join(self.marks) + ")"
