"""What a rule is, and what it says: a finding with its place, its evidence, its price and its advice.

A rule states facts and a price. How bad that is (severity), in which order findings are shown and which one is a
consequence of another is decided in one place for all rules: `evaluate.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar

from msgspec import Struct
from msgspec.structs import fields

from emberscope.logs.signature import Signature

if TYPE_CHECKING:
    from emberscope.tables.run import Run
    from emberscope.tables.table import Table

HEADINGS: Final = ("What it means", "What it costs", "What to do", "When to ignore it")

LimitsT = TypeVar("LimitsT")

Consequence = Literal["ended", "lost", "blind", "risk", "hint"]
"""What follows from a finding beside its price: it ended the application or a job; work was lost or done again; the
figures of the run cannot be trusted; the next larger input may fail; nothing, it is worth knowing."""


class Where(Struct, frozen=True):
    """The place of a finding; a field that does not apply is None."""

    sql: int | None = None
    job: int | None = None
    stage: int | None = None
    stage_attempt: int | None = None
    task: int | None = None
    executor: str | None = None
    host: str | None = None
    line: str | None = None

    def document(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) is not None}


class Evidence(Struct, frozen=True):
    """One fact in words, with the number it rests on and where that number comes from (table.column).

    `frames` are those of a stack that shows it, root side first: what the flame graph can be searched for.
    """

    text: str
    source: str
    value: float | None = None
    unit: str | None = None
    line: int | None = None
    frames: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """Where it can be read: `driver.log:1042`, or the columns that it comes from."""
        return self.source if self.line is None else f"{self.source}:{self.line}"

    def document(self) -> dict[str, Any]:
        said = {"text": self.text, "source": self.source, "line": self.line, "value": self.value, "unit": self.unit}
        return {**said, "frames": list(self.frames)} if self.frames else said


class Advice(Struct, frozen=True):
    """One concrete change. `setting` and `value` are given where `kind` is set or unset, else None."""

    kind: Literal["set", "unset", "code", "cluster", "check"]
    text: str
    setting: str | None = None
    value: str | None = None

    def document(self) -> dict[str, Any]:
        return {"kind": self.kind, "setting": self.setting, "value": self.value, "text": self.text}


def set_conf(setting: str, value: str | int, text: str) -> Advice:
    """Advice to set one Spark setting."""
    return Advice("set", text, setting, str(value))


class Finding(Struct, frozen=True):
    """What a rule found at one place.

    `wasted_wall_ms` is how much earlier the application would end with the fix (from the simulator, or an upper bound
    where `saving_basis` says so); None means that no price in wall time can be given, which is not zero.
    `wasted_core_ms` is core time that a fix would free. `confidence` (0 to 1) is how sure the rule is of cause and
    price if the data are complete; what is missing in the data is taken off by `evaluate`. `consequence` is what
    follows beside the price: severity is no less than that says, however small or unknown the price.
    """

    title: str
    summary: str
    where: Where
    evidence: tuple[Evidence, ...]
    advice: tuple[Advice, ...]
    wasted_wall_ms: int | None
    wasted_core_ms: int | None
    saving_basis: str
    confidence: float
    consequence: Consequence | None = None


class Reads(Struct, frozen=True):
    """A table that a rule cannot do without, and the columns of it that must hold something.

    `record` is how to have them recorded where a log does not hold them by itself; with it a table without rows lacks
    them too. `series` is the name of a series of a recording that says the same.
    """

    table: Table
    columns: tuple[str, ...] = ()
    record: str = ""
    series: str = ""


class Rule(Struct, Generic[LimitsT], frozen=True):
    """One diagnosis. `code` is never reused; `check` is pure: no I/O, no clock, no state.

    `needs_times`: whether it can say nothing where start and end of the application are not known. `needs_all_tasks`:
    whether its evidence is that nothing ran, as it seems too in a log that lacks some of the tasks. `needs_whole`:
    whether part of its evidence is that something came only once, so that `check` looks for that only in a log with
    begin and end of the application. `partly` is what it can do without, but then judges only part of what it is for.
    `signatures` are what the reader of logs is to look for; they come back in table `log_events`.
    """

    code: str
    name: str
    since: str
    reads: tuple[Reads, ...]
    limits: LimitsT
    check: Callable[[Run, LimitsT], Iterator[Finding]]
    needs_times: bool = False
    needs_all_tasks: bool = False
    needs_whole: bool = False
    partly: tuple[Reads, ...] = ()
    signatures: tuple[Signature, ...] = ()

    @property
    def page(self) -> str:
        """The docstring of the rule's module: its page and what `emberscope explain` prints."""
        return (sys.modules[self.check.__module__].__doc__ or "").strip()

    @property
    def headline(self) -> str:
        """The first line of the page."""
        return self.page.partition("\n")[0]

    @property
    def url(self) -> str:
        """The rule's page in the documentation, relative to the project's root."""
        return f"docs/rules/{self.code}.md"
