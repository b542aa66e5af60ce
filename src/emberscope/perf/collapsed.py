"""Collapsed ("folded") stacks, as async-profiler, FlameGraph and py-spy write them: `root;caller;leaf count`."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from emberscope.errors import InputError
from emberscope.perf.gather import UNKNOWN_ORIGIN, Gathered
from emberscope.perf.names import collapsed_frame
from emberscope.perf.text import lines_of, whole_lines
from emberscope.tables.recording import Origin, Recording
from emberscope.tables.stack_tree import StackTree

# FlameGraph allows a fraction in the count. Eighteen digits always fit the column.
_LINE: Final = re.compile(r"\s*(?P<stack>\S|\S.*\S)\s+(?P<count>[0-9]{1,18})(?P<fraction>\.[0-9]*)?\s*")
_MOST_SAMPLES: Final = 2**63 - 1
_SHARE_OF_LINES: Final = 0.8
UNKNOWN_FRAME: Final = "[unknown]"
"""Stands for a frame without a name, `a;;b`."""


def read_collapsed(
    data: bytes,
    path: str,
    *,
    origin: Origin = UNKNOWN_ORIGIN,
    tree: StackTree | None = None,
    compilation: bool = False,
) -> Recording:
    """Samples and facts of collapsed stacks, plain or in gzip, in UTF-8 or UTF-16.

    The arguments are those of `jfr.recording.read_recording`. The format does not say what was sampled, when or on
    which thread: samples are of event cpu; time, value and thread are null. A fraction of a count is rounded;
    stacks with a count of 0 are no samples. Blank lines and those that begin with `#` are passed over, other lines
    that are no stack are counted in `facts.coverage`. Raises `InputError` where no line is a stack.
    """
    got = Gathered(path, tree)
    frames: dict[str, int] = {}
    rounded = stacks = total = 0
    for line, has_end in lines_of(got.plain(data)):
        if _is_comment(line):
            continue
        found = _LINE.fullmatch(line)
        count = _count(found) if found is not None else 0
        if found is None or total + count > _MOST_SAMPLES:
            if has_end:
                got.malformed_lines += 1
            else:
                got.note("cut", "the last line is cut", lines=1)
            continue
        if not has_end:
            got.note("cut", "the last line does not end: its count may be cut")
        stacks += 1
        total += count
        rounded += (found["fraction"] or ".").strip(".0") != ""
        if count:
            got.add(
                count,
                got.tree.node([_frame(name, frames, got.tree, compilation) for name in found["stack"].split(";")]),
            )
    if not stacks:
        hint = "A line looks like `main;work;hot 12`."
        raise InputError(path, "these are no collapsed stacks: no line is a stack and a count.", hint=hint)
    if rounded:
        got.note("limited", f"the counts of {rounded} lines have a fraction: they are rounded to whole samples")
    return got.recording("collapsed", origin, Counter(), None, None)


def looks_collapsed(head: bytes) -> bool:
    """Whether a file that begins so is of collapsed stacks: most lines end in a count, and half of them have callers.

    Prose puts a space after `;`, stacks do not.
    """
    lines = [line for line in whole_lines(head) if not _is_comment(line)]
    stacks = [found["stack"] for line in lines if (found := _LINE.fullmatch(line))]
    deep = sum(1 for stack in stacks if re.search(r"[^\s;];(?=[^\s;])", stack) and "; " not in stack)
    return bool(stacks) and len(stacks) >= _SHARE_OF_LINES * len(lines) and deep >= 0.5 * len(stacks)


def _is_comment(line: str) -> bool:
    return not line.strip() or line.startswith("#")


def _count(line: re.Match[str]) -> int:
    return int(line["count"]) + ((line["fraction"] or ".0")[1:2] >= "5")


def _frame(written: str, frames: dict[str, int], tree: StackTree, compilation: bool) -> int:
    found = frames.get(written)
    if found is None:
        found = frames[written] = tree.frame(*collapsed_frame(written.strip() or UNKNOWN_FRAME, compilation))
    return found
