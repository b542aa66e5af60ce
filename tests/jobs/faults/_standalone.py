"""A standalone cluster of two hosts on this machine, for what does not happen on a single host.

The hosts are two addresses of the loopback network, which Linux has without any setup. Spark starts no copy of a task
on the host that runs the original, so that a local cluster never speculates.
"""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark

_HOSTS = ("127.0.0.2", "127.0.0.3")
_DEPLOY = "org.apache.spark.deploy"


@contextmanager
def two_hosts(cores: int, memory: str) -> Iterator[str]:
    """The address of a master with a worker of so many cores on each of two hosts."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    master = f"spark://127.0.0.1:{port}"
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        started = [_start(f"{_DEPLOY}.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")]
        stack.callback(_stop, started)
        _wait_for(port)
        for host in _HOSTS:
            place = str(Path(folder, host))
            size = ("--cores", str(cores), "--memory", memory, "--work-dir", place)
            started.append(_start(f"{_DEPLOY}.worker.Worker", "--host", host, "--webui-port", "0", *size, master))
        yield master
        _stop(started)


def _start(*words: str) -> subprocess.Popen[bytes]:
    spark_class = Path(pyspark.__file__).parent / "bin" / "spark-class"
    environment = {name: value for name, value in os.environ.items() if name != "SPARK_LOCAL_IP"}
    return subprocess.Popen(
        [str(spark_class), *words], env={**environment, "SPARK_MASTER_OPTS": "-Dspark.master.rest.enabled=false"}
    )


def _stop(started: list[subprocess.Popen[bytes]]) -> None:
    for process in reversed(started):
        process.terminate()
    for process in reversed(started):
        process.wait()


def _wait_for(port: int) -> None:
    until = time.monotonic() + 120
    while time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise TimeoutError("the master did not start")
