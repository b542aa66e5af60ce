"""How many of the rows that a scan read were left after the filters right above it, and what these filters are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.rules.storage.files import FileScan, figure, file_scans, stages_at
from emberscope.tables.run import once

if TYPE_CHECKING:
    from emberscope.rules.plans import Node
    from emberscope.simulate.stage_tasks import StageTasks
    from emberscope.tables.run import Run

# Operators between a scan and its filter that give on every row.
_PASSES: Final = ("Project", "ColumnarToRow", "InputAdapter", "Filter")
_ROWS: Final = ("number of output rows", "rows scanned", "output rows")
_LISTS: Final = {
    name: re.compile(rf"{name}: \[([^\]]*)\]") for name in ("PartitionFilters", "PushedFilters", "DataFilters")
}
_COLUMN: Final = re.compile(r"([A-Za-z_]\w*)#\d+")
_OUTPUT: Final = re.compile(r"^\w+ [^\[]*\[([^\]]*)\]")
_SCHEMA: Final = re.compile(r"ReadSchema: struct<(.*)$")


class Kept(Struct, frozen=True):
    """A scan, the rows that it read, those that its filters kept, and the last of these filters."""

    scan: FileScan
    read_rows: float
    kept_rows: float
    filter: Node

    @property
    def ratio(self) -> float:
        return self.kept_rows / self.read_rows

    @property
    def filter_columns(self) -> tuple[str, ...]:
        """Columns that the filter names, in its order, without those that it only checks for null."""
        text = re.sub(r"isnotnull\([^)]*\)", "", self.filter.detail)
        return tuple(dict.fromkeys(_COLUMN.findall(text)))

    @property
    def partition_columns(self) -> tuple[str, ...]:
        """Columns of the directories, as far as the scan gives them on: they are in its output, not in its files."""
        output, schema = _OUTPUT.search(self.scan.node.detail), _SCHEMA.search(self.scan.node.detail)
        if output is None or schema is None or "..." in schema[1] or "more fields" in output[1]:
            return ()
        return tuple(name for name in _COLUMN.findall(output[1]) if f"{name}:" not in schema[1])


@once
def kept_rows(run: Run) -> Sequence[Kept]:
    """Every scan of files that has a filter right above it, where both counted their rows."""
    return tuple(_kept(run))


def _kept(run: Run) -> Iterator[Kept]:
    for scan in file_scans(run):
        read = figure(scan.node, *_ROWS)
        node, last = scan.node.parent, None
        while node is not None and node.name in _PASSES:
            last = node if node.name == "Filter" else last
            node = node.parent
        kept = None if last is None else figure(last, *_ROWS)
        if read and last is not None and kept is not None and 0 <= kept <= read:
            yield Kept(scan, read, kept, last)


def listed(scan: FileScan, name: str) -> str | None:
    """What stands in `PartitionFilters: [...]` or the like; None where the plan does not say."""
    found = _LISTS[name].search(scan.node.detail)
    return found[1].strip() if found else None


def scanning_stages(run: Run, scan: FileScan) -> list[StageTasks]:
    """The long stage attempts whose tasks read these files."""
    return [stage for stage in stages_at(run, scan.node.stage_ids) if stage.amounts("input_bytes").sum() > 0]


def useless_ms(kept: Kept, stages: Sequence[StageTasks]) -> float:
    """Task time of reading rows that the filter dropped: their share of the scan's own time, or else of the tasks'."""
    run_ms = sum(float(stage.run_ms().sum()) for stage in stages)
    scan_ms = figure(kept.scan.node, "scan time")
    return (1 - kept.ratio) * (run_ms if scan_ms is None else min(run_ms, scan_ms))
