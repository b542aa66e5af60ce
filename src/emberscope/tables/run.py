"""One application attempt and all that is known of it: what the rules, the report and the simulator work on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

from emberscope.tables.coverage import Coverage
from emberscope.tables.recording import RecordingFacts

if TYPE_CHECKING:
    import pyarrow as pa

AnswerT = TypeVar("AnswerT")

FARTHEST_MS = 2**62 // 1_000_000
"""No clock shows times beyond the year 2116, or as far before 1970: sums of them in ns may need more than 64 bits."""


@dataclass(frozen=True, slots=True)
class TaskTotals:
    """Counts and sums over all ended task attempts. `sums` are by column of table `tasks`: null where none has it."""

    succeeded: int = 0
    failed: int = 0
    killed: int = 0
    with_metrics: int = 0
    sums: Mapping[str, int | None] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return self.succeeded + self.failed + self.killed


@dataclass(frozen=True, slots=True)
class Application:
    """Identity and facts of one application attempt. Times are epoch ms; null is "not known"."""

    app_id: str | None = None
    app_name: str | None = None
    attempt: str | None = None
    user: str | None = None
    spark_version: str | None = None
    java_version: str | None = None
    master: str | None = None
    vendor: str | None = None
    app_start_ms: int | None = None
    app_end_ms: int | None = None
    complete: bool = False
    last_event_ms: int | None = None
    lines: int = 0
    malformed_lines: int = 0
    event_counts: Mapping[str, int] = field(default_factory=dict)
    # Largest heap in use that any event shows, of any JVM and of the driver: null where the log has no such field. The
    # first is 0, and the second null, where Spark never polled it.
    peak_jvm_heap_bytes: int | None = None
    peak_driver_heap_bytes: int | None = None
    tasks: TaskTotals = TaskTotals()

    @property
    def version(self) -> tuple[int, int]:
        """Major and minor version of Spark; (0, 0) where it is not known."""
        parts = (self.spark_version or "").split(".")
        try:
            return int(parts[0]), int(parts[1])
        except (ValueError, IndexError):
            return 0, 0

    @property
    def duration_ms(self) -> int | None:
        """Start to end; null while the application has not ended, and where a clock put the end before the start."""
        return _length_ms(self.app_start_ms, self.app_end_ms)

    @property
    def observed_ms(self) -> int | None:
        """Start to end, or to the last event where there is no end."""
        return _length_ms(self.app_start_ms, self.app_end_ms if self.app_end_ms is not None else self.last_event_ms)


def _length_ms(begin_ms: int | None, end_ms: int | None) -> int | None:
    return None if begin_ms is None or end_ms is None or end_ms < begin_ms else end_ms - begin_ms


@dataclass(frozen=True, slots=True)
class Run:
    """An application attempt with its tables by name (`tables/catalog.py`).

    A table that no input could give is absent from `tables`, which is not the same as empty. `recorder` is what the
    recorder said of itself (engine, events, sampling period), empty where the run was not recorded. `answers` holds
    what functions marked by `once` have worked out from the run.
    """

    path: str
    application: Application
    tables: Mapping[str, pa.Table]
    coverage: Coverage
    recordings: tuple[RecordingFacts, ...] = ()
    recorder: Mapping[str, Any] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def start_ms(self) -> int | None:
        """The start of the application, or of the first recording where no event log says it."""
        if self.application.app_start_ms is not None:
            return self.application.app_start_ms
        return min((facts.start_ms for facts in self.recordings if facts.start_ms is not None), default=None)

    @property
    def start_ns(self) -> int | None:
        """Where seconds from the start count from: `start_ms`, else the first sample by whatever clock there is."""
        if self.start_ms is not None and abs(self.start_ms) <= FARTHEST_MS:
            return self.start_ms * 1_000_000
        if "samples" not in self.tables:
            return None
        import pyarrow.compute as pc

        first: int | None = pc.min(self.tables["samples"]["time_ns"]).as_py()
        return first

    def setting(self, key: str, scope: str = "spark") -> str | None:
        """The value of a setting as the event log has it, by default of Spark's own; None where it was not set."""
        return settings_of(self).get((scope, key))


def once(function: Callable[[Run], AnswerT]) -> Callable[[Run], AnswerT]:
    """For functions of one run whose answer many ask for: it is worked out once and kept with the run.

    The answer is shared, so nobody may change it.
    """
    name = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def kept(run: Run) -> AnswerT:
        if name not in run.answers:
            run.answers[name] = function(run)
        answer: AnswerT = run.answers[name]
        return answer

    return kept


@once
def settings_of(run: Run) -> Mapping[tuple[str, str], str]:
    """Every setting of table `conf` by scope and key; the first one counts where a key stands twice."""
    conf = run.tables.get("conf")
    if conf is None:
        return {}
    columns = [conf[name].to_pylist() for name in ("scope", "key", "value")]
    return {(scope, key): str(value) for scope, key, value in reversed(list(zip(*columns, strict=True)))}
