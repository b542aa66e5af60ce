"""One of the files that a stage reads lies on slow storage: its reader gets a fiftieth of what the others get.

In the healthy twin all files are read at one pace. The executors' calls of `read` are slowed down by a small library
that is compiled here and loaded before the C library, so it wants a C compiler and Linux.
"""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from tests.jobs.faults import scaled

CODE = "B5"
MASTER = "local-cluster[2,4,1024]"
_LIBRARY = Path(tempfile.gettempdir(), "emberscope-slow-read.so")
CONF = {"spark.executorEnv.LD_PRELOAD": str(_LIBRARY), "spark.sql.files.maxPartitionBytes": "16m"}
HEALTHY_CONF: dict[str, str] = {}

_FILES = 40
_MEBIBYTES = 12

_SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
/* A read of a file sleeps as long as its name says: rates-slow.txt longer than rates-7.txt. */
ssize_t read(int fd, void *to, size_t count) {
    static ssize_t (*next)(int, void *, size_t);
    if (!next) next = dlsym(RTLD_NEXT, "read");
    ssize_t got = next(fd, to, count);
    char link[64], name[512];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = got > 1024 ? readlink(link, name, sizeof name - 1) : 0;
    if (length > 0) {
        name[length] = 0;
        double ns_per_byte = strstr(name, "/rates-slow") ? 3000 : strstr(name, "/rates-") ? 60 : 0;
        struct timespec wait = {(time_t)(got * ns_per_byte / 1e9), 0};
        wait.tv_nsec = (long)(got * ns_per_byte - wait.tv_sec * 1e9);
        if (ns_per_byte) nanosleep(&wait, NULL);
    }
    return got;
}
"""


@contextmanager
def cluster() -> Iterator[None]:
    """Makes the library that the executors load; the cluster is MASTER's."""
    command = ["cc", "-shared", "-fPIC", "-O1", "-x", "c", "-", "-o", str(_LIBRARY), "-ldl"]
    subprocess.run(command, input=_SOURCE.encode(), check=True)
    yield
    _LIBRARY.unlink()


def work(spark: SparkSession, healthy: bool) -> None:
    line = b"2026-11-30,EUR,USD," + b"1" * 100 + b"\n"
    text = line * (scaled(_MEBIBYTES) * (1 << 20) // len(line))
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder, "_whole")  # Spark reads no file of such a name
        whole.write_bytes(text)
        for number in range(_FILES):
            name = "rates-slow.txt" if number == 5 and not healthy else f"rates-{number}.txt"
            Path(folder, name).hardlink_to(whole)
        spark.sparkContext.setJobDescription("count the rates")
        spark.read.text(folder).agg(F.max("value")).collect()
