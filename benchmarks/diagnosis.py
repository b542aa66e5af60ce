"""Is the first finding the true cause? Runs jobs with exactly one fault and their healthy twins on real Spark.

    python benchmarks/diagnosis.py --work DIR [--faults spill,lock] [--resume] [--document docs/accuracy.md]

Each job of tests/jobs/faults and its twin runs once, one after the other; `emberscope diagnose` reads its event log,
and the section "One fault each" of the document gets the matrix. With --resume, logs in DIR are used as they are. Half
a minute a job on two quiet cores.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyspark

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from diagnosis_runs import ROOT, SEVERITIES, Facts, facts, put_section, run, say, seconds  # noqa: E402
from tests.jobs.faults.__main__ import faults as all_faults  # noqa: E402

HEADING = "One fault each"
BAD = SEVERITIES[: SEVERITIES.index("medium") + 1]


@dataclass(frozen=True)
class Row:
    """One fault with its twin. `code` is the rule that has to come first."""

    fault: str
    code: str
    faulty: Facts
    healthy: Facts
    exits: tuple[int, int]

    @property
    def is_first(self) -> bool:
        return self.faulty.rank(self.code) == 1

    @property
    def twin_is_quiet(self) -> bool:
        return self.healthy.worst is None or self.healthy.worst["severity"] not in BAD


def row_of(fault: str, work: Path, *, scale: float, resume: bool) -> Row:
    code = importlib.import_module(f"tests.jobs.faults.{fault}").CODE
    told, exits = [], []
    for name, healthy in (("faulty", False), ("healthy", True)):
        folder = work / fault / name
        job = run(fault, folder, healthy=healthy, scale=scale, properties=None, resume=resume)
        told.append(facts(job.log, folder / "findings.json"))
        exits.append(job.code)
    return Row(fault, code, told[0], told[1], (exits[0], exits[1]))


def words(row: Row) -> str:
    """A row in one line of progress."""
    first, worst = row.faulty.findings[0] if row.faulty.findings else None, row.healthy.worst
    return (
        f"{row.fault}: {row.code} at {row.faulty.rank(row.code) or 'no place'}, first {named(first)}; "
        f"twin {named(worst)}; exit codes {row.exits[0]} and {row.exits[1]}"
    )


def named(finding: dict[str, Any] | None) -> str:
    return "nothing" if finding is None else f"{finding['code']} {finding['severity']}"


def price(finding: dict[str, Any]) -> str:
    wall, core = finding["wasted_wall_ms"], finding["wasted_core_ms"]
    return f"{seconds(wall)} wall, {seconds(core)} core"


def matrix(rows: list[Row], failed: list[str], command: str) -> str:
    """The section: how it was measured, the sums, the table, the command."""
    lines = [
        f"{sum(row.is_first for row in rows)} of {len(rows)} faults are the first finding; "
        f"{sum(not row.twin_is_quiet for row in rows)} of {len(rows)} healthy twins have something of medium severity "
        "or above.",
        "",
        "Each job runs on real Spark and has exactly one fault; its twin does the same work well. `rank` is the place "
        "of the expected rule among the findings, where causes stand before what follows from them. The price is that "
        "of the expected finding: wall time that the application would save, and core time.",
        "",
        "| fault | expected | rank | its severity | its price | first finding | wall time | task time | exit | "
        "twin: worst | twin: wall, task time |",
        "|---|---|---:|---|---|---|---:|---:|---:|---|---|",
    ]
    for row in rows:
        rank, first, worst = row.faulty.rank(row.code), None, row.healthy.worst
        expected = row.faulty.findings[rank - 1] if rank else None
        first = row.faulty.findings[0] if row.faulty.findings else None
        cells = [
            row.fault,
            row.code,
            str(rank) if rank == 1 else f"**{rank or 'none'}**",
            expected["severity"] if expected else "–",
            price(expected) if expected else "–",
            f"{first['code']} {first['title']}".replace("|", "\\|") if first else "none",
            seconds(row.faulty.wall_ms),
            seconds(row.faulty.task_ms),
            str(row.exits[0]),
            named(worst) if row.twin_is_quiet else f"**{named(worst)}**",
            f"{seconds(row.healthy.wall_ms)}, {seconds(row.healthy.task_ms)}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    lines += [f"\n{sentence}" for sentence in failed]
    lines += [
        "",
        f"Spark {pyspark.__version__}, Python {platform.python_version()}, {os.cpu_count()} cores. It is made by",
        "",
        "```sh",
        command,
        "```",
    ]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="where the event logs go")
    parser.add_argument("--faults", help="names with commas between; default: all")
    parser.add_argument("--resume", action="store_true", help="a job whose log is there is not run again")
    parser.add_argument("--scale", type=float, default=1.0, help="how much work, 1 is about half a minute a job")
    parser.add_argument("--document", type=Path, default=ROOT / "docs" / "accuracy.md")
    asked = parser.parse_args()
    names = asked.faults.split(",") if asked.faults else all_faults()
    if unknown := sorted(set(names) - set(all_faults())):
        parser.error(f"no such fault: {', '.join(unknown)}")
    rows, failed = [], []
    for number, fault in enumerate(names, 1):
        try:
            row = row_of(fault, asked.work, scale=asked.scale, resume=asked.resume)
        except RuntimeError as error:
            failed.append(f"{fault} could not be judged: {type(error).__name__}.")
            say(f"{number}/{len(names)} {fault}: {error}")
            continue
        rows.append(row)
        say(f"{number}/{len(names)} {words(row)}")
    more = f" --faults {asked.faults}" if asked.faults else ""
    more += f" --scale {asked.scale:g}" if asked.scale != 1 else ""
    put_section(asked.document, HEADING, matrix(rows, failed, f"python benchmarks/diagnosis.py --work DIR{more}"))
    say(f"{sum(row.is_first for row in rows)}/{len(rows)} first, written to {asked.document}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
