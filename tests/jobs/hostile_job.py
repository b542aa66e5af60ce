"""A small job that prints two lines and ends with code 3, and may write down what is to be seen in its driver's JVM.

usage: hostile_job.py [FACTS.json [OWN.jfr]]    (OWN.jfr: a Flight Recording of the job's own while it runs)
"""

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession


def listening(pid: int) -> int:
    """How many sockets a process listens on: its own among those of its network namespace."""
    sockets = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        try:
            sockets.add(str(descriptor.readlink()))
        except OSError:
            continue
    found = 0
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            bound = table.startswith("udp") or fields[3] == "0A"
            found += bound and f"socket:[{fields[9]}]" in sockets
    return found


def thread_names(pid: int) -> list[str]:
    names = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            names.append((task / "comm").read_text().strip())
        except OSError:  # it ended meanwhile
            continue
    return names


def main() -> None:
    spark = SparkSession.builder.appName("hostile job").getOrCreate()
    jvm = spark._jvm
    own = None
    if len(sys.argv) > 2:
        own = jvm.jdk.jfr.Recording(jvm.jdk.jfr.Configuration.getConfiguration("profile"))
        own.start()
    groups = spark.range(0, 2_000_000, 1, 4).selectExpr("id % 10 AS k").groupBy("k").count().collect()
    print("groups", len(groups))
    print("rows", sum(row["count"] for row in groups))
    sys.stdout.flush()
    if own is not None:
        own.stop()
        own.dump(jvm.java.nio.file.Paths.get(sys.argv[2], spark.sparkContext._gateway.new_array(jvm.String, 0)))
        own.close()
    if len(sys.argv) > 1:
        pid = jvm.ProcessHandle.current().pid()
        facts = {"listening": listening(pid), "threads": sorted(thread_names(pid))}
        Path(sys.argv[1]).write_text(json.dumps(facts))
    sys.exit(3)


main()
