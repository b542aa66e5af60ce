"""Runs in S3, by Hadoop's own s3a against moto's server: an object is there whole under its name, or not at all.

Needs `moto_server` (PyPI: moto[server]) and the jars of s3a, which Spark does not bring:
`mvn -f tests/jvm/s3a.xml dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$PWD/.cache/s3a"`.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.jvm import toolchain

JARS = toolchain.ROOT / ".cache" / "s3a"
SPARKS_OWN = re.compile(r"slf4j|netty-(buffer|codec|common|handler|resolver|transport)")
"""Jars of which Spark has its own, which must come first."""
MOTO = shutil.which("moto_server")

pytestmark = pytest.mark.skipif(MOTO is None or not any(JARS.glob("hadoop-aws-*.jar")), reason="no moto, or no s3a")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The URL of an S3 server, and the file of what it was asked."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path / "server.log"
    with log.open("w") as out:
        process = subprocess.Popen([str(MOTO), "-H", "127.0.0.1", "-p", str(port)], stdout=out, stderr=out)
    url = f"http://127.0.0.1:{port}"
    try:
        while True:
            try:
                urllib.request.urlopen(f"{url}/moto-api/data.json", timeout=5).close()
                break
            except OSError:
                assert process.poll() is None, log.read_text()
                time.sleep(0.05)
        yield url, log
    finally:
        process.terminate()
        process.wait()


def test_each_file_is_one_put_under_its_own_name(server: tuple[str, Path], classes: Path) -> None:
    url, log = server
    jars = [jar for jar in sorted(JARS.glob("*.jar")) if not SPARKS_OWN.search(jar.name)]
    java = str(toolchain.jdk_homes()[0] / "bin" / "java")
    command = [java, "-Xmx256m", "-cp", toolchain.class_path(classes, *jars), "io.emberscope.ObjectStore", url]
    ran = subprocess.run(
        command, capture_output=True, text=True, timeout=120, env=os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"}
    )
    assert ran.returncode == 0, ran.stderr
    seen = json.loads(ran.stdout.splitlines()[-1])
    directory = "runs/default/app-1/1/recordings/executor-1"
    chunk = {f"{directory}/1-000000.jfr": 700_000}
    assert seen["written"] == {}, "nothing is there before it is whole"
    assert seen["committed"] == chunk
    assert seen["abandoned"] == chunk
    assert seen["manifest"] == chunk | {f"{directory}/1-000000.json": 6}
    assert seen["text"] == "second"
    assert not any(seen[f"{when} uploads"] for when in ("committed", "abandoned", "manifest"))
    puts = re.findall(r'"PUT /bucket/(\S+?)(?:\?\S*)? HTTP', log.read_text())
    assert puts == [f"{directory}/1-000000.jfr"] + [f"{directory}/1-000000.json"] * 2, "no copy, no other name"
