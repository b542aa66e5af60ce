"""What followed of a death when Spark gave a stage up for it: the line that says so is often not the one that tells
why."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from emberscope.rules.base import Consequence
from emberscope.rules.failures.ending import consequence_of, is_question
from emberscope.tables.run import once

if TYPE_CHECKING:
    from emberscope.rules.said import Said
    from emberscope.tables.run import Run

_GIVEN_UP: Final = re.compile(r"Task \d+ in stage (\d+\.\d+) failed \d+ times")
_STAGE: Final = re.compile(r"in stage (\d+\.\d+)")


def followed(run: Run, rows: Sequence[Said]) -> Consequence:
    """As `consequence_of`; and that a job ended, where Spark gave up a stage in which these rows lost a task. Somebody
    who asks in plain words has lost something, too."""
    if any(is_question(row) for row in rows):
        return "ended"
    stages = _given_up(run)
    if stages and any(stages.intersection(_STAGE.findall(row.text)) for row in rows):
        return "ended"
    return consequence_of(run, rows)


@once
def _given_up(run: Run) -> frozenset[str]:
    """The stages of which a task failed too often."""
    table = run.tables.get("log_events")
    texts = table["text"].to_pylist() if table is not None else ()
    return frozenset(stage for text in texts if text for stage in _GIVEN_UP.findall(text))
