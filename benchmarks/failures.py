"""Does the doctor's first finding name what went wrong? Makes real failures and their healthy twins on real clusters.

    python benchmarks/failures.py --work DIR [--only sigkill,exit_13] [--resume] [--document docs/failures.md]
        [--hadoop JARS] [--s3a JARS] [--moto moto_server] [--old-spark VENV] [--java JDK17] [--new-java JDK25]

Each failure of failures_make.py is made once, then its job without the fault. `emberscope diagnose` reads the logs
alone, then the logs and the event log. With --resume, what lies in DIR is judged again and nothing is run that ran
before; with --judge, nothing is run at all. As root (a small disk is mounted); a minute a failure on two quiet cores.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyspark

sys.path[:0] = [str(Path(__file__).parent)]

from diagnosis_runs import ROOT, SEVERITIES, emberscope, say, seconds  # noqa: E402
from failures_clusters import Cluster  # noqa: E402
from failures_make import FAILURES, Failure, Made, Tools, clusters, make  # noqa: E402

Answers = tuple["Answer", "Answer | None"]
At = Callable[[str], Cluster]
LOUD = SEVERITIES[: SEVERITIES.index("medium") + 1]


@dataclass(frozen=True)
class Answer:
    """What the doctor said of some input; `right` where its first finding is the failure that was made."""

    findings: list[dict[str, Any]]
    right: bool

    @property
    def first(self) -> dict[str, Any] | None:
        return self.findings[0] if self.findings else None

    @property
    def loud(self) -> list[str]:
        return [one["code"] for one in self.findings if one["severity"] in LOUD]


@dataclass(frozen=True)
class Row:
    failure: Failure
    codes: tuple[int, int | None]
    alone: Answer
    joined: Answer | None
    twin_alone: Answer | None
    twin_joined: Answer | None

    @property
    def twin_loud(self) -> list[str] | None:
        """The codes above low on the twin; None where it was not run."""
        if self.twin_alone is None:
            return None
        return sorted({*self.twin_alone.loud, *(self.twin_joined.loud if self.twin_joined else ())})


def ask(failure: Failure, inputs: list[Path], output: Path) -> Answer:
    emberscope("diagnose", *map(str, inputs), "-o", str(output), "--format", "json")
    findings = json.loads(output.read_text(encoding="utf-8"))["findings"]
    if not findings:
        return Answer([], False)
    text = f"{findings[0]['title']} {findings[0]['summary']}"
    named = all(re.search(word, text) for word in failure.words)
    return Answer(findings, findings[0]["code"] in failure.codes and named)


def judged(failure: Failure, made: Made, folder: Path) -> tuple[Answer, Answer | None]:
    alone = ask(failure, [made.logs], folder / "alone.json")
    if made.event_log is None:
        return alone, None
    return alone, ask(failure, [made.logs, made.event_log], folder / "joined.json")


def faulty(failure: Failure, folder: Path, cluster: At, tools: Tools, *, resume: bool) -> tuple[int, Answers]:
    made = make(failure, folder, cluster, tools, healthy=False, resume=resume)
    told = judged(failure, made, folder)
    say(f"{failure.name}: exit {made.code}; alone {words(told[0])}; with the event log {words(told[1])}")
    return made.code, told


def twin(failure: Failure, folder: Path, cluster: At, tools: Tools, *, resume: bool) -> tuple[int, Answers]:
    made = make(failure, folder, cluster, tools, healthy=True, resume=resume)
    told = judged(failure, made, folder)
    say(f"{failure.name}: twin exit {made.code}; above low: {[answer.loud for answer in told if answer]}")
    return made.code, told


def words(answer: Answer | None) -> str:
    if answer is None:
        return "no event log"
    first = answer.first
    return ("right" if answer.right else "WRONG") + (f": {first['code']} {first['title']}" if first else ": nothing")


def verdict(answer: Answer | None) -> str:
    return "no event log" if answer is None else "right" if answer.right else "**wrong**"


def cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def advice(finding: dict[str, Any]) -> str:
    """The first advice: the settings with their values, or its words."""
    for one in finding["advice"]:
        if one.get("setting"):
            return f"`{one['setting']}={one['value']}`"
        return str(one.get("text") or one.get("title") or "")
    return "–"


def table(rows: list[Row]) -> list[str]:
    lines = [
        "| failure | logs alone | logs + event log | first finding | what it cost | first advice | twin: above low |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        answer = row.joined or row.alone
        first = answer.first
        loud = row.twin_loud
        cells = [
            f"`{row.failure.name}`: {row.failure.what}",
            verdict(row.alone),
            verdict(row.joined),
            f"{first['code']} {cell(first['title'])}" if first else "none",
            f"{seconds(first['wasted_wall_ms'])} wall, {seconds(first['wasted_core_ms'])} core" if first else "–",
            cell(advice(first)) if first else "–",
            "not run" if loud is None else ", ".join(loud) or "nothing",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def document(rows: list[Row], failed: list[str]) -> str:
    alone, joined = sum(row.alone.right for row in rows), [row.joined for row in rows if row.joined]
    twins = [row.twin_loud for row in rows if row.twin_loud is not None]
    loud = sum(map(bool, twins))
    lines = [
        "# Real failures, and what the doctor says first",
        "",
        f"The first finding is right for {alone} of {len(rows)} failures from the logs alone, and for "
        f"{sum(answer.right for answer in joined)} of {len(joined)} from logs and event log; {loud} of {len(twins)} "
        "healthy twins have something of medium severity or above.",
        "",
        "Each failure is made by a real Spark job with one fault, and its logs lie as its cluster lays them out: the "
        "driver's, with those of executors or YARN's containers. Right means that the first finding is of the rule "
        "meant for that failure, and that its words name the cause. The twin is the same job without the fault.",
        "",
        "Rules were mended with these very logs, so that they are no sample that the doctor had not seen. What "
        "the logs do not hold is not told: they name no signal of a Python worker, no reason of a 403 to HEAD, and "
        "no sender of a SIGKILL, and the first finding then names what it may have been and where to look.",
        "",
        *table(rows),
        "",
        *failed,
        "",
        f"Spark {pyspark.__version__}, Python {platform.python_version()}, {os.cpu_count()} cores. Made by",
        "",
        "```sh",
        "python benchmarks/failures.py --work DIR",
        "```",
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="where logs and event logs go")
    parser.add_argument("--only", help="names with commas between; default: all")
    parser.add_argument("--resume", action="store_true", help="a job that ran already is not run again")
    parser.add_argument("--judge", action="store_true", help="nothing is run: what ran is judged")
    parser.add_argument("--hadoop", type=Path, default=ROOT / ".cache" / "hadoop", help="jars of benchmarks/yarn.xml")
    parser.add_argument("--s3a", type=Path, default=ROOT / ".cache" / "s3a", help="jars of tests/jvm/s3a.xml")
    parser.add_argument("--moto", type=Path, default=Path(sys.executable).with_name("moto_server"))
    parser.add_argument("--old-spark", type=Path, default=ROOT / ".cache" / "spark-3.5", help="an environment with it")
    parser.add_argument("--java", type=Path, default=os.environ.get("JAVA_HOME"), help="the home of a JDK 17")
    parser.add_argument("--new-java", type=Path, help="the home of a JDK 25")
    parser.add_argument("--document", type=Path, default=ROOT / "docs" / "failures.md")
    asked = parser.parse_args()
    names = asked.only.split(",") if asked.only else [one.name for one in FAILURES]
    (old,) = sorted(asked.old_spark.glob("lib/python*/site-packages/pyspark")) or [asked.old_spark]
    tools = Tools(
        home=Path(pyspark.__file__).parent,
        python=Path(sys.executable),
        java=asked.java,
        new_java=asked.new_java,
        old_spark=old,
        old_python=asked.old_spark / "bin" / "python",
        hadoop=asked.hadoop,
        s3a=asked.s3a,
        moto=asked.moto,
    )
    rows, failed, told = [], [], {}
    chosen, work = [one for one in FAILURES if one.name in names], asked.work.resolve()
    with clusters(work, tools) as cluster:
        for run, folder in ((faulty, "faulty"), (twin, "healthy")):
            for failure in chosen:
                place = work / failure.name / folder
                if asked.judge and not (place / "job.json").exists():
                    continue
                try:
                    told[failure.name, folder] = run(failure, place, cluster, tools, resume=asked.resume or asked.judge)
                except (RuntimeError, OSError) as error:
                    failed.append(f"{failure.name}, {folder}: could not be judged ({type(error).__name__}).")
                    say(f"{failure.name}, {folder}: {error}")
    for failure in chosen:
        if (failure.name, "faulty") in told:
            code, answers = told[failure.name, "faulty"]
            healthy = told.get((failure.name, "healthy"))
            rows.append(
                Row(
                    failure,
                    (code, healthy[0] if healthy else None),
                    *answers,
                    *(healthy[1] if healthy else (None, None)),
                )
            )
    asked.document.write_text(document(rows, failed), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
