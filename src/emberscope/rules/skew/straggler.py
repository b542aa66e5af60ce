"""The longest task of a stage beside its siblings: how much longer, and whether data or machine explain it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from emberscope.rules.base import Where
from emberscope.simulate.replay import Timeline
from emberscope.simulate.stage_tasks import StageKey, StageTasks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.rules.places import Place

# A straggler is split into no more pieces than this: beyond, the pieces are too small to matter.
_MOST_PIECES: Final = 1000


class Straggler(Struct, frozen=True):
    """The longest task of a stage. `tasks` are the stage's successes, `longest` its row there.

    `kind`: `data` where it read far more than the median task, `host` where one host was slow, else `work`.
    `data_ratio` is the larger of bytes and records over their medians; 0 where nothing that was read is counted.
    """

    tasks: StageTasks
    longest: int
    longest_ms: float
    median_ms: float
    split_above_ms: float
    data_ratio: float
    read_bytes: float
    median_bytes: float
    records: float
    median_records: float
    spilled_bytes: float
    kind: Literal["data", "host", "work"]
    host: str | None

    @property
    def ratio(self) -> float:
        return self.longest_ms / max(self.median_ms, 1.0)

    def where(self, place: Place) -> Where:
        task = self.tasks.numbers("task_id")[self.longest]
        return replace(
            place.where,
            task=None if np.isnan(task) else int(task),
            executor=self.tasks.texts("executor_id")[self.longest],
            host=self.host or self.tasks.texts("host")[self.longest],
        )

    def idle_core_ms(self, application: Timeline | None, key: StageKey) -> int | None:
        """Core time that lay idle in the stage while its longest task ran: slots × longest task − work done."""
        slots = next((s.slots for s in application.stages if s.key == key), None) if application else None
        if slots is None:
            return None
        done_ms = float(self.tasks.run_ms().sum())
        return max(0, round(min(slots, len(self.tasks)) * self.longest_ms - done_ms))


def straggler_of(
    tasks: StageTasks, *, ratio: float, floor_ms: float, least_tasks: int, data_ratio: float, host_share: float
) -> Straggler | None:
    """The straggler of these succeeded tasks, or None where the longest task is like the others.

    A task is a straggler at `ratio` times the median run time and `floor_ms`; with `data_ratio` times the bytes or
    records of the median task the data explain it; with more than `host_share` of the stragglers on one of several
    hosts, the host does.
    """
    if len(tasks) < least_tasks:
        return None
    runs_ms = tasks.run_ms()
    longest, median_ms = int(np.argmax(runs_ms)), float(np.median(runs_ms))
    split_above_ms = ratio * max(median_ms, 1.0)
    if runs_ms[longest] < max(floor_ms, split_above_ms):
        return None
    read_bytes, records = tasks.read_bytes(), tasks.read_records()
    more = max(_over_median(read_bytes, longest), _over_median(records, longest))
    host = _slow_host(tasks.texts("host"), runs_ms >= split_above_ms, host_share)
    kind: Literal["data", "host", "work"] = "data" if more >= data_ratio else "host" if host else "work"
    return Straggler(
        tasks,
        longest,
        float(runs_ms[longest]),
        median_ms,
        split_above_ms,
        more,
        float(read_bytes[longest]),
        float(np.median(read_bytes)),
        float(records[longest]),
        float(np.median(records)),
        float(tasks.amounts("disk_spilled_bytes")[longest]),
        kind,
        host if kind == "host" else None,
    )


def evened(stage: StageTasks, found: Straggler) -> NDArray[np.float64]:
    """The stage's task durations (ms) if its stragglers were mended.

    Skewed or costly rows have to be computed all the same: a straggler falls into pieces of the median's length, none
    of the work is gone. On a slow host it takes the median's time instead. With a median of almost nothing the pieces
    are as many as `_MOST_PIECES`.
    """
    durations = stage.durations_ms()
    durations = durations[~np.isnan(durations)]
    if len(durations) == 0:
        return durations
    median = max(float(np.median(durations)), 1.0)
    long = durations >= max(found.split_above_ms, found.median_ms)
    if found.kind == "host":
        return np.where(long, median, durations)
    pieces = [
        np.full(count, duration / count)
        for duration in durations[long].tolist()
        for count in (min(_MOST_PIECES, math.ceil(duration / median)),)
    ]
    return np.concatenate([*pieces, durations[~long]])


def _over_median(values: NDArray[np.float64], index: int) -> float:
    """This value over the median; over 1 where the median is 0, so that "all data in one task" counts as skew."""
    return float(values[index] / max(float(np.median(values)), 1.0))


def _slow_host(hosts: list[str | None], stragglers: NDArray[np.bool_], share: float) -> str | None:
    """The host that ran more than `share` of the stragglers while other hosts ran tasks too; None for none.

    Every other host must have had tasks that were no stragglers, and the slow one mostly stragglers, else the host is
    no explanation.
    """
    names = np.array([host or "" for host in hosts])
    if len(set(names)) < 2:
        return None
    for host in sorted(set(names)):
        here = names == host
        if stragglers[here].sum() > share * stragglers.sum() and stragglers[here].mean() > share and host:
            return str(host)
    return None
