"""Counters and gauges over time of any process of the run."""

from typing import Final

from emberscope.tables.table import Column, Table

SERIES: Final = Table(
    "series",
    "one value of one counter at one time",
    (
        Column(
            "name",
            "category",
            "name",
            "metric with its unit: heap_used_bytes, cpu_process_ratio, gc_pause_ms",
            "JFR event and field",
        ),
        Column("time_ns", "int64", "epoch ns", "when", "JFR startTime"),
        Column("value", "float64", "by name", "value in the unit of its name", "JFR field"),
        Column(
            "label",
            "category",
            "name",
            "which of several of one name: memory pool, network interface, process, before or after a GC",
            "JFR field",
        ),
        Column("thread_id", "int64", "id", "Java thread id, where a value is of one thread", "JFR eventThread"),
        Column("role", "category", "driver executor python", "kind of process", "chunk manifest"),
        Column("executor_id", "category", "id", "executor, or driver", "chunk manifest"),
        Column("host", "category", "name", "host of the process", "chunk manifest"),
    ),
)
