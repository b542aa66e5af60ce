"""One row per resource that a resource profile asks for, for its executors or its tasks. Spark writes them from 3.1."""

from typing import Final

from emberscope.tables.table import Column, Table

RESOURCE_PROFILES: Final = Table(
    "resource_profiles",
    "one resource of one resource profile",
    (
        Column("resource_profile_id", "int32", "id", "profile; 0 is the default one", "Resource Profile Id"),
        Column(
            "scope",
            "category",
            "executor task",
            "whether for an executor or a task",
            "Executor Resource Requests, Task Resource Requests",
        ),
        Column("resource", "string", "name", "cores, cpus, memory, memoryOverhead, offHeap, gpu, ...", "Resource Name"),
        Column(
            "amount",
            "float64",
            "by resource",
            "how much: MiB for kinds of memory, a number for all others",
            "Amount",
        ),
        Column("discovery_script", "string", "path", "script that finds it on a node", "Discovery Script"),
        Column("vendor", "string", "name", "vendor, for Kubernetes", "Vendor"),
    ),
)
