"""A run made of a file, as the reader makes it of one that lies in the folder of a container."""

from __future__ import annotations

from pathlib import Path

from emberscope.rules.wanted import SIGNATURES
from emberscope.sources.load import load
from emberscope.tables.run import Run


def run_of_file(folder: Path, text: str) -> Run:
    path = folder / "application_1525000000000_0001" / "container_1525000000000_0001_01_000007" / "stdout"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return load(str(path), signatures=SIGNATURES)
