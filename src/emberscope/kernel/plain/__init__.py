"""The kernel in Python: the same results as the one in C, for where no compiler was at hand."""

from __future__ import annotations

from emberscope.kernel.plain.checksum import xxh32
from emberscope.kernel.plain.decoder import Decoder
from emberscope.kernel.plain.elements import elements
from emberscope.kernel.plain.fold import add, folded, tally, where
from emberscope.kernel.plain.lines import Lines
from emberscope.kernel.plain.stacks import Stacks
from emberscope.kernel.plain.tree import Tree

__all__ = ["Decoder", "Lines", "Stacks", "Tree", "add", "elements", "folded", "tally", "where", "xxh32"]
