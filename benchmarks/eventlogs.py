"""How much work is an event log? Cold processes on the same file, in alternation with Spark's History Server.

    python benchmarks/eventlogs.py [--rounds N] [--only NAME]... FILE...

FILE is a plain event log; `eventlogs_make.py` grows one. `orjson` and `duckdb` are asked for by name and are to be
installed beside emberscope; rows of what is not there are left out. In each round each of these runs once; figures are
medians of the rounds, with the least and the largest; a ratio is that of one run to the History Server's of the same
round:

- History Server: in memory, as it comes, until it answers for the stages (`eventlogs_history.py`)
- summary: `emberscope summary FILE --json`; ingest: `emberscope ingest FILE -o DIR`, all tables as Parquet
- summary, Python: without the compiled kernel
- json, orjson: every line made into objects, and nothing done with them
- DuckDB: the run time of all tasks, summed up by `read_json` with the columns given

CPU is user and system time of the whole process; it is what to compare on a machine that does other things as well.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from cold import Figures, ratios, run, spread

EMBERSCOPE = str(Path(sys.executable).with_name("emberscope"))
HISTORY = "History Server"
EACH_LINE = """
import sys
from {module} import loads
with open(sys.argv[1], "rb") as file:
    for line in file:
        loads(line)
"""
DUCKDB = """
import sys, duckdb
duckdb.sql(f'''SELECT count(*), sum("Task Metrics"."Executor Run Time") FROM read_json('{sys.argv[1]}',
    format='newline_delimited', ignore_errors=true, maximum_object_size=33554432,
    columns={{'Event': 'VARCHAR', 'Task Metrics': 'STRUCT("Executor Run Time" BIGINT)'}})
    WHERE Event = 'SparkListenerTaskEnd' ''').fetchall()
"""


def commands(file: str, out: str) -> dict[str, list[str]]:
    """What is measured, by name, but for the History Server."""
    python = sys.executable
    rows = {
        "summary": [EMBERSCOPE, "summary", file, "--json"],
        "ingest": [EMBERSCOPE, "ingest", file, "-o", out],
        "summary, Python": [EMBERSCOPE, "summary", file, "--json"],
        "json": [python, "-c", EACH_LINE.format(module="json"), file],
    }
    if importlib.util.find_spec("orjson"):
        rows["orjson"] = [python, "-c", EACH_LINE.format(module="orjson"), file]
    if importlib.util.find_spec("duckdb"):
        rows["DuckDB"] = [python, "-c", DUCKDB, file]
    return rows


def run_history(file: Path, into: Figures) -> None:
    script = str(Path(__file__).with_name("eventlogs_history.py"))
    done = subprocess.run([sys.executable, script, str(file)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    found = json.loads(done.stdout)
    into.cpu_s.append(found["cpu_s"])
    into.wall_s.append(found["wall_s"])
    into.peak_mib.append(found["peak_mib"])


def measure(file: Path, rounds: int, only: set[str], scratch: str) -> None:
    """The rows of one file."""
    rows = {n: c for n, c in commands(str(file), f"{scratch}/out").items() if not only or n in only}
    figures = {HISTORY: Figures()} | {name: Figures() for name in rows}
    for _ in range(rounds):
        run_history(file, figures[HISTORY])
        for name, command in rows.items():
            kernel = {"EMBERSCOPE_KERNEL": "python" if name.endswith("Python") else ""}
            run(command, os.environ | kernel, figures[name])
    base = figures[HISTORY]
    for name, figure in figures.items():
        cells = [
            f"{file.stat().st_size / 1e9:.1f}",
            name,
            spread(figure.cpu_s, ".2f"),
            spread(ratios(figure.cpu_s, base.cpu_s), ".3f"),
            f"{statistics.median(figure.wall_s):.1f}",
            f"{max(figure.peak_mib):.0f}",
        ]
        print("| " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", action="append", default=[], help="the name of a row, beside the History Server's")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    given = parser.parse_args()
    print("| GB | what | CPU s | CPU to the History Server | wall s | peak MiB |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        for file in given.files:
            measure(file, given.rounds, set(given.only), scratch)


if __name__ == "__main__":
    main()
