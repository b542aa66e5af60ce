"""The task attempts that failed, and what kind of failure each is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from emberscope.simulate.stage_tasks import StageKey
from emberscope.tables.run import once

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run

Kind = Literal["disk", "fetch", "lost", "denied", "error"]

# What a full disk looks like in the messages of Spark, Hadoop and the operating system.
_DISK_FULL: Final = (
    r"(?i)no space left on device|disk quota exceeded|failed to create local dir|"
    r"could not find any valid local directory|not enough space"
)
_ORDER: Final = ("finish_ms", "stage_id", "stage_attempt", "task_index", "attempt", "task_id")


class FailedAttempts(Struct, frozen=True):
    """Rows of table `tasks` that failed, by their end. `kinds` and `durations_ms` lie in these rows.

    Kinds: `disk` a full disk, `fetch` shuffle output that could not be read, `lost` the executor went away, `denied`
    another attempt had written its output already (no failure of anything), `error` any other exception.
    """

    table: pa.Table
    kinds: NDArray[np.str_]
    durations_ms: NDArray[np.float64]

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def numbers(self, name: str) -> NDArray[np.float64]:
        return np.asarray(self.table[name].cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)

    def texts(self, name: str) -> NDArray[np.object_]:
        column = self.table[name].cast(pa.string()).combine_chunks()
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=object)

    def where(self, mask: NDArray[np.bool_]) -> FailedAttempts:
        return FailedAttempts(self.table.filter(pa.array(mask)), self.kinds[mask], self.durations_ms[mask])

    def of_kind(self, *kinds: Kind) -> FailedAttempts:
        return self.where(np.isin(self.kinds, kinds))

    def of_stages(self, keys: set[StageKey], *, inside: bool = True) -> FailedAttempts:
        """Only those in these stage attempts, or only the others."""
        pairs = zip(self.numbers("stage_id").tolist(), self.numbers("stage_attempt").tolist(), strict=True)
        return self.where(np.array([(pair in keys) == inside for pair in pairs], dtype=np.bool_))

    def stages(self) -> list[StageKey]:
        """The stage attempts they are of, each once."""
        pairs = zip(self.numbers("stage_id").tolist(), self.numbers("stage_attempt").tolist(), strict=True)
        return sorted({(int(stage), int(attempt)) for stage, attempt in pairs if stage == stage and attempt == attempt})

    @property
    def core_ms(self) -> float:
        """Time that they held a core, all together."""
        return float(np.nansum(self.durations_ms))


@once
def failed_attempts(run: Run) -> FailedAttempts | None:
    """None where no attempt failed."""
    tasks = run.tables.get("tasks")
    if tasks is None or tasks.num_rows == 0:
        return None
    failed = tasks.filter(pc.fill_null(pc.equal(tasks["status"], "failed"), False))
    if failed.num_rows == 0:
        return None
    failed = failed.sort_by([(name, "ascending") for name in _ORDER])
    lengths = _numbers(failed, "finish_ms") - _numbers(failed, "launch_ms")
    reasons = failed["reason"].cast(pa.string())
    kinds = np.full(failed.num_rows, "error", dtype="<U6")
    for kind, mask in (
        ("disk", pc.match_substring_regex(failed["error_message"], _DISK_FULL)),
        ("fetch", pc.equal(reasons, "FetchFailed")),
        ("lost", pc.is_in(reasons, pa.array(["ExecutorLostFailure", "Resubmitted"]))),
        ("denied", pc.equal(reasons, "TaskCommitDenied")),
    ):
        kinds[np.asarray(pc.fill_null(mask, False).to_numpy(zero_copy_only=False), dtype=np.bool_)] = kind
    return FailedAttempts(failed, kinds, np.where(lengths < 0, np.nan, lengths))


def _numbers(table: pa.Table, name: str) -> NDArray[Any]:
    return np.asarray(table[name].cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)
