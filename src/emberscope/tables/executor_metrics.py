"""One row per set of peaks of an executor's memory: of a stage that it worked for, or of a heartbeat."""

from typing import Final

from emberscope.tables.table import Column, Table

_BYTES: Final = (
    ("jvm_heap", "heap in use", "JVMHeapMemory"),
    ("jvm_off_heap", "memory of the JVM beside its heap (metaspace, code)", "JVMOffHeapMemory"),
    ("on_heap_execution", "execution memory on the heap", "OnHeapExecutionMemory"),
    ("off_heap_execution", "execution memory off the heap", "OffHeapExecutionMemory"),
    ("on_heap_storage", "storage memory on the heap", "OnHeapStorageMemory"),
    ("off_heap_storage", "storage memory off the heap", "OffHeapStorageMemory"),
    ("on_heap_unified", "execution and storage memory on the heap", "OnHeapUnifiedMemory"),
    ("off_heap_unified", "execution and storage memory off the heap", "OffHeapUnifiedMemory"),
    ("direct_pool", "direct buffers", "DirectPoolMemory"),
    ("mapped_pool", "mapped files", "MappedPoolMemory"),
    ("process_jvm_virtual", "address space of the JVM's process", "ProcessTreeJVMVMemory"),
    ("process_jvm_rss", "memory of the JVM's process", "ProcessTreeJVMRSSMemory"),
    ("process_python_virtual", "address space of its Python processes", "ProcessTreePythonVMemory"),
    ("process_python_rss", "memory of its Python processes", "ProcessTreePythonRSSMemory"),
    ("process_other_virtual", "address space of its other processes", "ProcessTreeOtherVMemory"),
    ("process_other_rss", "memory of its other processes", "ProcessTreeOtherRSSMemory"),
)

EXECUTOR_METRICS: Final = Table(
    "executor_metrics",
    "the peaks of one executor during one stage attempt, or since its last heartbeat",
    (
        Column("executor_id", "category", "id", "executor, or driver", "Executor ID"),
        Column(
            "source",
            "category",
            "stage heartbeat",
            "stage: peaks while the stage ran; heartbeat: peaks since the last one (Spark logs those of the driver)",
            "StageExecutorMetrics, ExecutorMetricsUpdate",
        ),
        Column("stage_id", "int32", "id", "stage; null where it is none", "Stage ID"),
        Column("stage_attempt", "int32", "number", "attempt of the stage", "Stage Attempt ID"),
        Column(
            "after_ms",
            "int64",
            "epoch ms",
            "latest job or stage event before it in the log: the event itself has no time",
            "JobStart, JobEnd, StageSubmitted, StageCompleted",
        ),
        *(
            Column(f"{name}_bytes", "int64", "bytes", f"peak: {doc}; null where not polled", f"Executor Metrics.{key}")
            for name, doc, key in _BYTES
        ),
        Column("minor_gc_count", "int64", "collections", "young collections so far", "Executor Metrics.MinorGCCount"),
        Column("minor_gc_ms", "int64", "ms", "time in them so far", "Executor Metrics.MinorGCTime"),
        Column("major_gc_count", "int64", "collections", "old collections so far", "Executor Metrics.MajorGCCount"),
        Column("major_gc_ms", "int64", "ms", "time in them so far", "Executor Metrics.MajorGCTime"),
        Column("total_gc_ms", "int64", "ms", "time in all collections so far", "Executor Metrics.TotalGCTime"),
        Column(
            "concurrent_gc_count",
            "int64",
            "collections",
            "concurrent collections so far; null before Spark 4.1",
            "Executor Metrics.ConcurrentGCCount",
        ),
        Column(
            "concurrent_gc_ms",
            "int64",
            "ms",
            "time in them so far; null before Spark 4.1",
            "Executor Metrics.ConcurrentGCTime",
        ),
    ),
)
