"""Which events of a recording become rows of which table, and from which of their fields.

Sources: the event types of the JDK (11 to 25), of async-profiler (1.x to 4.5) and of Datadog's profiler as their own
metadata describe them. All other events are counted and can be asked for by their type; they are rows of no table.

Never summed by accident: what is added up must be of one unit and must not count one thing twice. So each event type
has one word of `samples.event`, kinds of one word are told apart by `samples.variant`, and where two event types of a
chunk count the same thing (`SampleEvent.superseded_by`) only the better one becomes rows. No samples are, on purpose:
`jdk.JavaMonitorWait` and `jdk.ThreadSleep` (a thread that waits by its own will: no contention) and `jdk.MethodTrace`
(calls of chosen methods, one within another).

A path is a field, `a.b` a field of a struct in it, inline or in a constant pool. A field that a type lacks is null.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class SampleEvent(NamedTuple):
    """An event type whose events are rows of `samples`. Empty paths: the type has no such thing.

    `event` is the table's word for it. `sleeping`, where given, is the word for rows in state `SLEEPING`.
    `value` is the weight; a time span has the unit that the metadata says, else `unit` (empty: the value is no time).
    `times` is a number (integer or float) by which value is multiplied, rounded to whole.
    `count` is the number of samples that the event stands for, else 1.
    `class_of` leads to a key of `java.lang.Class`: what was allocated, lives, or was waited for.
    `variant` is a fixed word; `flags` are fields of truth, each with the word where it is true; the first counts.
    `address` is a field with the address of native memory (`jfr.native_memory`).
    `task` is a field with the id of the task attempt that ran on the thread, -1 for none.
    `superseded_by` are event types that count the same: in a chunk that holds any event of them, events of this type
    are no rows, and coverage says so.
    """

    name: str
    event: str
    thread: str = "eventThread"
    value: str = ""
    unit: str = ""
    count: str = ""  # type: ignore[assignment]  # a tuple has a method of that name, which nobody needs here
    times: str = ""
    class_of: str = ""
    variant: str = ""
    flags: tuple[tuple[str, str], ...] = ()
    time: str = "startTime"
    state: str = "state"
    sleeping: str = ""
    address: str = ""
    task: str = ""
    superseded_by: tuple[str, ...] = ()


EXECUTION_SAMPLE: Final = "jdk.ExecutionSample"
CPU_TIME_SAMPLE: Final = "jdk.CPUTimeSample"
SLEEPING: Final = "STATE_SLEEPING"
"""State in which an execution sample of async-profiler is a sample of wall time and no use of CPU."""

_TLAB_EVENTS: Final = ("jdk.ObjectAllocationInNewTLAB", "jdk.ObjectAllocationOutsideTLAB")

SAMPLE_EVENTS: Final = (
    # The value is what a sample stands for by the recording's settings. A sample of CPU time is better than one of the
    # threads that look busy to a timer; both at once happen where somebody records beside us.
    SampleEvent(EXECUTION_SAMPLE, "cpu", "sampledThread", sleeping="wall", superseded_by=(CPU_TIME_SAMPLE,)),
    # A failed sample is CPU time whose stack could not be walked: it has none, and counts. A biased one has the stack
    # of the next safepoint.
    SampleEvent(
        CPU_TIME_SAMPLE,
        "cpu",
        value="samplingPeriod",
        unit="NANOSECONDS",
        flags=(("failed", "failed"), ("biased", "biased")),
    ),
    SampleEvent("datadog.ExecutionSample", "cpu", count="weight"),
    SampleEvent("profiler.WallClockSample", "wall", "sampledThread", "timeSpan", "TICKS", count="samples"),
    # Of the recorder's own sampler, which knows the task: no other thread is looked at but some of the driver.
    SampleEvent("emberscope.WallSample", "wall", "sampledThread", "timeSpan", "TICKS", count="samples", task="taskId"),
    SampleEvent("profiler.WallClockSleeping", "wall", value="duration", unit="TICKS", count="samplesCount"),
    SampleEvent("datadog.MethodSample", "wall", count="weight"),
    # `weight` are the bytes allocated on the thread since its last sample; `tlabSize` those of the buffer, which is
    # what one such event stands for. The sampled event is drawn from the other two.
    SampleEvent(
        "jdk.ObjectAllocationSample",
        "alloc",
        value="weight",
        class_of="objectClass",
        variant="sampled",
        superseded_by=_TLAB_EVENTS,
    ),
    SampleEvent(_TLAB_EVENTS[0], "alloc", value="tlabSize", class_of="objectClass", variant="in_new_tlab"),
    SampleEvent(_TLAB_EVENTS[1], "alloc", value="allocationSize", class_of="objectClass", variant="outside_tlab"),
    SampleEvent(
        "datadog.ObjectSample", "alloc", value="size", times="weight", class_of="objectClass", variant="sampled"
    ),
    SampleEvent(
        "jdk.JavaMonitorEnter", "lock", value="duration", unit="TICKS", class_of="monitorClass", variant="enter"
    ),
    SampleEvent("jdk.ThreadPark", "lock", value="duration", unit="TICKS", class_of="parkedClass", variant="park"),
    # Waits as long as they were: those shorter than the recording's threshold are not in it.
    SampleEvent("jdk.FileRead", "io", value="duration", unit="TICKS", variant="file_read"),
    SampleEvent("jdk.FileWrite", "io", value="duration", unit="TICKS", variant="file_write"),
    SampleEvent("jdk.FileForce", "io", value="duration", unit="TICKS", variant="file_force"),
    SampleEvent("jdk.SocketRead", "io", value="duration", unit="TICKS", variant="socket_read"),
    SampleEvent("jdk.SocketWrite", "io", value="duration", unit="TICKS", variant="socket_write"),
    # Objects stand at the time of their allocation, so that they are their task's; the event is written at a dump.
    SampleEvent("profiler.LiveObject", "live", value="allocationSize", class_of="objectClass", time="allocationTime"),
    SampleEvent(
        "jdk.OldObjectSample",
        "live",
        value="objectSize",
        class_of="object.type",
        variant="old",
        time="allocationTime",
    ),
    SampleEvent("datadog.HeapLiveObject", "live", value="size", times="weight", class_of="objectClass"),
    SampleEvent("jdk.NativeMethodSample", "native", "sampledThread"),
    SampleEvent("profiler.Malloc", "nativemem", value="size", address="address"),
    SampleEvent("profiler.NativeLock", "nativelock", value="duration", unit="TICKS"),
)

FREE: Final = "profiler.Free"
"""What tells which native memory was given back; see `jfr.native_memory`."""

ACTIVE_SETTING: Final = "jdk.ActiveSetting"

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
SPAN_CPU: Final = ("cpuStart", "cpuEnd")
"""CPU time of the task's thread (ns) where its span starts and ends; -1 is the recorder's word for "not known"."""
SPAN_TEXTS: Final = {"job_group": "jobGroup", "description": "description", "outcome": "outcome"}


class SeriesEvent(NamedTuple):
    """An event type whose events are points of a series: the sum of `fields`, a time span in ms where `is_time`.

    `labels` are fields that tell apart several values of one time, joined by a space: a text, a number, or a pooled
    struct with one text. A value below zero is the JVM's word for "not known": no point. `thread` is a field that leads
    to the thread that the value is of.
    """

    name: str
    series: str
    fields: tuple[str, ...]
    is_time: bool = False
    labels: tuple[str, ...] = ()
    thread: str = ""


def _gauges(name: str, labels: tuple[str, ...] = (), **fields: str) -> tuple[SeriesEvent, ...]:
    return tuple(SeriesEvent(name, series, (field,), labels=labels) for series, field in fields.items())


SAMPLES_LOST: Final = "cpu_samples_lost"
SAMPLES_LOST_EVENT: Final = "jdk.CPUTimeSamplesLost"
_WHEN: Final = ("when",)
_POOL: Final = ("name",)
_INTERFACE: Final = ("networkInterface",)
_PROCESS: Final = ("pid", "name")
SERIES_EVENTS: Final = (
    *_gauges("jdk.GCHeapSummary", _WHEN, heap_used_bytes="heapUsed", heap_committed_bytes="heapSpace.committedSize"),
    *_gauges("jdk.GCHeapMemoryUsage", heap_used_bytes="used", heap_committed_bytes="committed", heap_max_bytes="max"),
    *_gauges("jdk.GCHeapMemoryPoolUsage", _POOL, heap_pool_used_bytes="used", heap_pool_committed_bytes="committed"),
    SeriesEvent("jdk.GarbageCollection", "gc_pause_ms", ("sumOfPauses",), is_time=True),
    SeriesEvent("jdk.GarbageCollection", "gc_longest_pause_ms", ("longestPause",), is_time=True),
    *_gauges("jdk.MetaspaceSummary", _WHEN, metaspace_used_bytes="metaspace.used"),
    *_gauges("jdk.MetaspaceSummary", _WHEN, metaspace_committed_bytes="metaspace.committed"),
    *_gauges("jdk.MetaspaceSummary", _WHEN, class_space_used_bytes="classSpace.used"),
    SeriesEvent("jdk.SafepointBegin", "safepoint_begin_ms", ("duration",), is_time=True),
    SeriesEvent("jdk.ExecuteVMOperation", "vm_operation_ms", ("duration",), is_time=True, labels=("operation",)),
    *_gauges("jdk.CompilerStatistics", jit_compilations="compileCount", jit_code_bytes="nmethodsSize"),
    SeriesEvent("jdk.CompilerStatistics", "jit_total_ms", ("totalTimeSpent",), is_time=True),
    *_gauges("jdk.CodeCacheStatistics", ("codeBlobType",), code_cache_free_bytes="unallocatedCapacity"),
    SeriesEvent("emberscope.HeapLook", "heap_look_ms", ("duration",), is_time=True),
    *_gauges("emberscope.HeapLook", heap_look_bytes="bytes"),
    SeriesEvent("jdk.CPULoad", "cpu_process_ratio", ("jvmUser", "jvmSystem")),
    SeriesEvent("jdk.CPULoad", "cpu_machine_ratio", ("machineTotal",)),
    SeriesEvent("jdk.ThreadContextSwitchRate", "context_switches_per_second", ("switchRate",)),
    *_gauges("jdk.JavaThreadStatistics", threads="activeCount", threads_daemon="daemonCount", threads_peak="peakCount"),
    *_gauges("jdk.JavaThreadStatistics", threads_started="accumulatedCount"),
    *_gauges("jdk.ClassLoadingStatistics", classes_loaded="loadedClassCount", classes_unloaded="unloadedClassCount"),
    *_gauges("jdk.ExceptionStatistics", exceptions_thrown="throwables"),
    *_gauges("jdk.DirectBufferStatistics", direct_used_bytes="memoryUsed", direct_max_bytes="maxCapacity"),
    *_gauges("jdk.NetworkUtilization", _INTERFACE, network_read_bits_per_second="readRate"),
    *_gauges("jdk.NetworkUtilization", _INTERFACE, network_write_bits_per_second="writeRate"),
    *_gauges("jdk.PhysicalMemory", machine_memory_used_bytes="usedSize", machine_memory_total_bytes="totalSize"),
    *_gauges("jdk.SwapSpace", swap_free_bytes="freeSize", swap_total_bytes="totalSize"),
    *_gauges("jdk.ResidentSetSize", rss_bytes="size", rss_peak_bytes="peak"),
    *_gauges(
        "jdk.NativeMemoryUsageTotal", jvm_native_committed_bytes="committed", jvm_native_reserved_bytes="reserved"
    ),
    *_gauges("jdk.NativeMemoryUsage", ("type",), jvm_native_type_committed_bytes="committed"),
    *_gauges("jdk.ContainerMemoryUsage", container_memory_used_bytes="memoryUsage"),
    *_gauges("jdk.ContainerMemoryUsage", container_memory_fails="memoryFailCount"),
    *_gauges("jdk.ContainerMemoryUsage", container_swap_used_bytes="swapMemoryUsage"),
    *_gauges(
        "jdk.ContainerConfiguration", container_memory_limit_bytes="memoryLimit", container_cpus="effectiveCpuCount"
    ),
    *_gauges("jdk.ContainerCPUThrottling", container_cpu_slices="cpuElapsedSlices"),
    *_gauges("jdk.ContainerCPUThrottling", container_throttled_slices="cpuThrottledSlices"),
    SeriesEvent("jdk.ContainerCPUThrottling", "container_throttled_ms", ("cpuThrottledTime",), is_time=True),
    SeriesEvent("jdk.ContainerCPUUsage", "container_cpu_ms", ("cpuTime",), is_time=True),
    *_gauges("profiler.ProcessSample", _PROCESS, process_rss_bytes="vmRss"),
    SeriesEvent("profiler.ProcessSample", "process_cpu_ratio", ("cpuPercent",), labels=_PROCESS),
    SeriesEvent(SAMPLES_LOST_EVENT, SAMPLES_LOST, ("lostSamples",), thread="eventThread"),
)


class MarkEvent(NamedTuple):
    """An event type whose events are rows of `marks`: something that a process says of a moment or a span of time.

    `mark` is the table's word for it; an event with a `duration` has an end. `label` and `text` are fields that hold
    its name and what it says: a text, or a pooled struct with one text; of a thread, a class or a method, its name.
    """

    name: str
    mark: str
    thread: str = "eventThread"
    label: str = ""
    text: str = ""


MARK_EVENTS: Final = (
    MarkEvent("profiler.Span", "span", label="tag"),
    MarkEvent("profiler.Window", "window"),
    MarkEvent("profiler.UserEvent", "user_event", label="type", text="data"),
    MarkEvent("datadog.Endpoint", "span", label="endpoint", text="operation"),
    MarkEvent("jdk.ThreadStart", "thread_start", thread="thread", label="thread"),
    MarkEvent("jdk.ThreadEnd", "thread_end", thread="thread", label="thread"),
    MarkEvent("jdk.ThreadDump", "thread_dump", text="result"),
    MarkEvent("jdk.Compilation", "compilation", label="method", text="compiler"),
    MarkEvent("jdk.Deoptimization", "deoptimization", label="method", text="reason"),
    MarkEvent("jdk.ClassLoad", "class_load", label="loadedClass"),
)

HEAP_CLASS: Final = "emberscope.HeapClass"
HEAP_CLASS_FIELDS: Final = ("look", "className", "instances", "bytes")

DATA_LOSS: Final = "jdk.DataLoss"
