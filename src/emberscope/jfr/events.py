"""Which events of a recording become rows of which table, and from which of their fields.

Sources: the event types of the JDK (17 to 25) and of async-profiler as their own metadata describe them. All other
events are counted and not read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from emberscope.jfr.decode import Kind, Wanted


@dataclass(frozen=True, slots=True)
class SampleEvent:
    """An event type whose events are rows of `samples`.

    `event` is the table's word for it. `value` and `count` are the fields that hold weight and number; a value that
    is a time span has the unit that the metadata says, else `unit`.
    """

    name: str
    event: str
    thread: str = "eventThread"
    value: str = ""
    unit: str = ""
    count: str = ""

    @property
    def wanted(self) -> Wanted:
        """Time, thread, stack, state, value, count: in this order."""
        return (
            ("startTime", "int"),
            (self.thread, "key"),
            ("stackTrace", "key"),
            ("state", "key"),
            (self.value or "(no value)", "int"),
            (self.count or "(no count)", "int"),
        )


EXECUTION_SAMPLE: Final = "jdk.ExecutionSample"
SLEEPING: Final = "STATE_SLEEPING"
"""State in which an execution sample of async-profiler is a sample of wall time and no use of CPU."""

SAMPLE_EVENTS: Final = (
    SampleEvent(EXECUTION_SAMPLE, "cpu", "sampledThread"),
    SampleEvent("jdk.CPUTimeSample", "cpu", value="samplingPeriod", unit="NANOSECONDS"),
    SampleEvent("profiler.WallClockSample", "wall", "sampledThread", "timeSpan", "TICKS", count="samples"),
    SampleEvent("jdk.ObjectAllocationSample", "alloc", value="weight"),
    SampleEvent("jdk.ObjectAllocationInNewTLAB", "alloc", value="tlabSize"),
    SampleEvent("jdk.ObjectAllocationOutsideTLAB", "alloc", value="allocationSize"),
    SampleEvent("jdk.JavaMonitorEnter", "lock", value="duration", unit="TICKS"),
    SampleEvent("jdk.ThreadPark", "lock", value="duration", unit="TICKS"),
    SampleEvent("profiler.LiveObject", "live", value="allocationSize"),
    SampleEvent("jdk.OldObjectSample", "live", value="objectSize"),
    SampleEvent("jdk.NativeMethodSample", "native", "sampledThread"),
)

ACTIVE_SETTING: Final = "jdk.ActiveSetting"
SETTING_WANTED: Final[Wanted] = (("id", "int"), ("name", "text"), ("value", "text"))

SPAN_EVENTS: Final = ("emberscope.TaskStart", "emberscope.TaskSpan")
SPAN_NUMBERS: Final[dict[str, tuple[str, int]]] = {
    "thread_id": ("threadId", 64),
    "stage_id": ("stageId", 32),
    "stage_attempt": ("stageAttempt", 32),
    "task_id": ("taskId", 64),
    "attempt": ("attempt", 32),
    "partition": ("partition", 32),
    "sql_execution_id": ("sqlExecutionId", 64),
}
"""Columns of `spans` from number fields, with the column's width in bits."""
SPAN_TEXTS: Final = {"job_group": "jobGroup", "description": "description", "outcome": "outcome"}
SPAN_WANTED: Final[Wanted] = (
    ("startTime", "int"),
    ("duration", "int"),
    *((field, "int") for field, _ in SPAN_NUMBERS.values()),
    *((field, "text") for field in SPAN_TEXTS.values()),
)


@dataclass(frozen=True, slots=True)
class SeriesEvent:
    """An event type whose events are points of a series: the sum of `fields`, a time span in ms where `is_time`."""

    name: str
    series: str
    fields: tuple[str, ...]
    kind: Kind = "int"
    is_time: bool = False

    @property
    def wanted(self) -> Wanted:
        return (("startTime", "int"), *((field, self.kind) for field in self.fields))


SAMPLES_LOST: Final = "cpu_samples_lost"
SERIES_EVENTS: Final = (
    SeriesEvent("jdk.GCHeapSummary", "heap_used_bytes", ("heapUsed",)),
    SeriesEvent("jdk.GarbageCollection", "gc_pause_ms", ("sumOfPauses",), is_time=True),
    SeriesEvent("jdk.CPULoad", "cpu_process_ratio", ("jvmUser", "jvmSystem"), "float"),
    SeriesEvent("jdk.CPULoad", "cpu_machine_ratio", ("machineTotal",), "float"),
    SeriesEvent("jdk.ResidentSetSize", "rss_bytes", ("size",)),
    SeriesEvent("jdk.CPUTimeSamplesLost", SAMPLES_LOST, ("lostSamples",)),
)

DATA_LOSS: Final = "jdk.DataLoss"
DATA_LOSS_WANTED: Final[Wanted] = (("amount", "int"),)
