"""What the heap of a process held, by class, each time that the recorder looked."""

from typing import Final

from emberscope.tables.table import Column, Table

HEAP_CLASSES: Final = Table(
    "heap_classes",
    "one class at one look, with what is garbage but not collected yet; the largest classes have rows of their own",
    (
        Column(
            "time_ns", "int64", "epoch ns", "when the look began: one for all its rows", "emberscope.HeapClass look"
        ),
        Column(
            "object_class",
            "category",
            "name",
            "name of the class; null is all other classes together",
            "emberscope.HeapClass className",
        ),
        Column("instances", "int64", "objects", "how many there were", "emberscope.HeapClass instances"),
        Column(
            "size_bytes", "int64", "bytes", "what they took, without what they refer to", "emberscope.HeapClass bytes"
        ),
        Column("role", "category", "driver executor python", "kind of process", "chunk manifest"),
        Column("executor_id", "category", "id", "executor, or driver", "chunk manifest"),
        Column("host", "category", "name", "host of the process", "chunk manifest"),
    ),
)
