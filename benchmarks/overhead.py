"""What does recording cost? The same jobs with and without a recorder, in turns; docs/overhead.md is made of it.

    pip install tpchgen-cli
    python benchmarks/overhead.py --work DIR [--scale 1] [--rounds 7] [--async-profiler FILE] [--resume] [--page FILE]

A round runs each job (`overhead_job.py`) once in each variant (`overhead_variants.py`), in an order drawn anew for the
round but with the variants of one job next to each other. Each run is one line of DIR/results.jsonl, written as soon as
it is known, so that a campaign may be cut anywhere: `--resume` makes what is missing of the rounds asked for. A run
whose recording is not whole, or whose answers are not those of the others, has a `fault` and counts for nothing. Runs
of another recorder, Java, Spark or scale in the same file are left alone.

FILE of `--async-profiler` is its jar or library; without it the variants with it are left out, and that is said. CPU is
what `overhead_cpu.py` counts: all processes of the job. `--page FILE` writes the page, of what there is by then;
`--rounds 0` only that. Let nothing else run beside it: what did is measured, and the page says so.

With `--beside` each run with a recorder has one of the same job without, at the same time on the same processors. Where
the pace of the machine changes by more than a recorder costs, as that of a virtual one does, such a pair still has the
same pace. Wall times then say nothing of a job that has the machine for itself.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import overhead_page
import pyspark
from overhead_variants import (
    FEW,
    JOBS,
    OFF,
    ROUNDS_AT_MOST,
    VARIANTS,
    Variant,
    async_library,
    evidence,
    start_of,
    why_not,
)
from tpch import make_tables

from emberscope.recorder.jar import recorder_jar

HERE = Path(__file__).resolve().parent
# Spark names an application by the second in which it starts, and keeps its executors' files by that name.
APART_S = 3
OWN_THREADS = ("emberscope", "JFR", "Async-profiler")
# Where a recorder's cost lands beside its own threads: its code is compiled, what it allocates is collected.
OTHER_THREADS = ("C1 Compiler", "C2 Compiler", "G1 ", "GC Thread", "VM Thread", "spark-listener")


def machine() -> str:
    """In words, without a name."""
    about = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":")[1].strip() for line in about if line.startswith("model name")), platform.machine())
    is_virtual = any(line.startswith("flags") and " hypervisor" in line for line in about)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    kind = "a virtual machine" if is_virtual else "a machine"
    release = ".".join(platform.release().split("-")[0].split(".")[:2])
    return f"{kind} with {os.cpu_count()} processors ({model}), {memory:.0f} GiB of memory, Linux {release}"


def setup_of(scale: float, warm_up: bool, library: Path | None, beside: bool) -> dict[str, Any]:
    """All that two runs must have in common to be compared."""
    java = Path(os.environ["JAVA_HOME"]) / "bin" / "java" if "JAVA_HOME" in os.environ else Path("java")
    said = subprocess.run([java, "-XshowSettings:properties", "-version"], capture_output=True, text=True, check=True)
    version = next(line.split("=")[1].strip() for line in said.stderr.splitlines() if "java.runtime.version" in line)
    return {
        "machine": machine(),
        "processors": os.cpu_count(),
        "scale": scale,
        "warm_up": warm_up,
        "spark": pyspark.__version__,
        "java": version,
        "jar": hashlib.sha256(recorder_jar().read_bytes()).hexdigest()[:16],
        "async_profiler": library.stem if library else None,
        "beside": beside,
    }


def order(round_: int, variants: list[Variant]) -> list[Variant]:
    """Jobs in an order of chance, and within each its variants: what is compared runs at about the same time."""
    chance = random.Random(f"overhead {round_}")
    jobs = list(dict.fromkeys(variant.job for variant in variants))
    chance.shuffle(jobs)
    out = []
    for job in jobs:
        its = [variant for variant in variants if variant.job == job]
        chance.shuffle(its)
        out += its
    return out


def within(timeline: list[list[float]], began: float, ended: float) -> float:
    """CPU seconds between two times, by the looks next before them."""

    def until(moment: float) -> float:
        return max((cpu for at, cpu in timeline if at <= moment), default=0.0)

    return until(ended) - until(began)


def run(
    variant: Variant, chosen: argparse.Namespace, data: Path, library: Path | None, *, after_s: float = 0
) -> dict[str, Any]:
    time.sleep(after_s)
    submit = Path(sys.executable).with_name("spark-submit")
    scratch = Path(tempfile.mkdtemp(prefix="run-", dir=chosen.work))
    try:
        answered, used = scratch / "answered.json", scratch / "used.json"
        work = "udf" if variant.job == "udf" else "queries"
        job = [str(HERE / "overhead_job.py"), str(data), f"{chosen.scale:g}", str(answered), work]
        if variant.job != "udf" and (queries := chosen.queries or (FEW if variant.job == "few" else "")):
            job += ["--queries", queries]
        job += ["--warm-up"] if chosen.warm_up else []
        start = start_of(variant, job, submit=submit, library=library, scratch=scratch)
        threads = ",".join([*OWN_THREADS, *OTHER_THREADS])
        meter = [sys.executable, str(HERE / "overhead_cpu.py"), "--threads", threads, "--limit", "1800", str(used)]
        load = os.getloadavg()[0]
        with (scratch / "said").open("w") as said:
            subprocess.run([*meter, "--", *start.command], env=start.environment, stdout=said, stderr=said)
        result = json.loads(used.read_text())
        timeline, began = result.pop("timeline"), result.pop("began")
        threads_s = result["threads_s"]
        result |= {
            "at": round(began),
            "load_before": load,
            "threads_s": {name: used_s for name, used_s in threads_s.items() if name.startswith(OWN_THREADS)},
            "other_threads_s": {name: used_s for name, used_s in threads_s.items() if name.startswith(OTHER_THREADS)},
        }
        if result["exit_code"] != 0 or not answered.exists():
            tail = (scratch / "said").read_text(errors="replace")[-2000:]
            return result | {"fault": f"exit code {result['exit_code']}", "said": tail}
        answers = json.loads(answered.read_text())
        app_id = answers["app_id"]
        shutil.rmtree(Path(pyspark.__file__).parent / "work" / app_id, ignore_errors=True)
        recorded = evidence(variant, start)
        return result | {
            "work_cpu_s": round(within(timeline, answers["began"], answers["ended"]), 3),
            "work_wall_s": round(answers["ended"] - answers["began"], 3),
            "took_s": answers["took_s"],
            "answers": hashlib.sha256(json.dumps(answers["answers"]).encode()).hexdigest()[:16],
            **asdict(recorded),
        }
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def known(results: Path, setup: dict[str, Any]) -> list[dict[str, Any]]:
    """The runs of this setup in the file."""
    lines = results.read_text().splitlines() if results.exists() else []
    return [record for line in lines if (record := json.loads(line))["setup"] == setup]


def campaign(chosen: argparse.Namespace, setup: dict[str, Any], data: Path, library: Path | None) -> None:
    results, until = chosen.work / "results.jsonl", time.monotonic() + 60 * chosen.minutes
    records = known(results, setup)
    if records and not chosen.resume:
        raise SystemExit(f"{results} has {len(records)} runs of this setup: --resume goes on with them.")
    wanted = []
    for variant in VARIANTS:
        if chosen.only and variant.key not in chosen.only:
            continue
        if reason := why_not(variant, library):
            print(f"{variant.key} is left out: {reason}", file=sys.stderr)
        else:
            wanted.append(variant)
    done = {(record["round"], record["key"]) for record in records if not record["fault"]}
    for table in data.rglob("*.parquet"):
        table.read_bytes()  # else the first run alone would wait for the disk
    for round_, place, together in turns(wanted, chosen.rounds, beside=chosen.beside):
        if all((round_, variant.key) in done for variant in together):
            continue
        if time.monotonic() > until:
            print("The minutes are over; --resume goes on.", file=sys.stderr)
            return
        time.sleep(chosen.settle)
        with ThreadPoolExecutor(len(together)) as pool:
            started = [
                pool.submit(run, variant, chosen, data, library, after_s=APART_S * number)
                for number, variant in enumerate(together)
            ]
            made = [one.result() for one in started]
        for variant, result in zip(together, made, strict=True):
            record = {"setup": setup, "round": round_, "place": place, "key": variant.key} | result
            # What the other of the two took is no disturbance: it is the same for both.
            record["others_cpu_s"] = max(
                0.0, record["others_cpu_s"] - sum(one["cpu_s"] for one in made if one is not result)
            )
            add(record, records, results)


def turns(wanted: Sequence[Variant], rounds: int, *, beside: bool) -> Iterator[tuple[int, int, list[Variant]]]:
    """Number of the round, place in it, and what runs at the same time. Of those that run beside one without a
    recorder each has rounds of its own, so that each is compared with the one beside it."""
    if not beside:
        for round_ in range(rounds):
            for place, variant in enumerate(order(round_, list(wanted))):
                yield round_, place, [variant]
        return
    recorded = [variant for variant in wanted if variant.name != OFF]
    for round_ in range(rounds):
        for place, variant in enumerate(order(round_, recorded)):
            base = next(one for one in VARIANTS if one.job == variant.job and one.name == OFF)
            pair = [base, variant] if round_ % 2 else [variant, base]
            yield ROUNDS_AT_MOST * VARIANTS.index(variant) + round_, place, pair


def add(record: dict[str, Any], records: list[dict[str, Any]], results: Path) -> None:
    """A run is judged by the answers of those before it, written down, and said."""
    job = record["key"].split("/")[0]
    expected = {each["answers"] for each in records if each["key"].split("/")[0] == job and not each["fault"]}
    if not record["fault"] and expected and record["answers"] not in expected:
        record["fault"] = "other answers than the runs before"
    records.append(record)
    with results.open("a") as file:
        file.write(json.dumps(record) + "\n")
    own = sum(record["threads_s"].values())
    print(
        f"round {record['round']} {record['key']}: {record['cpu_s']:.2f} CPU s, {record['wall_s']:.2f} s, own threads "
        f"{own:.2f} s, others {record['others_cpu_s']:.1f} s {record['fault']}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="where tables and results are kept")
    parser.add_argument("--scale", type=float, default=1, help="scale factor of TPC-H")
    parser.add_argument("--rounds", type=int, default=7, help="rounds there shall be in all")
    parser.add_argument("--resume", action="store_true", help="go on with the runs that are there")
    parser.add_argument("--minutes", type=float, default=1e6, help="start no run after this time")
    parser.add_argument("--settle", type=float, default=5, help="seconds of rest before each run")
    parser.add_argument("--async-profiler", type=Path, metavar="FILE", help="its jar or its library")
    parser.add_argument("--only", type=lambda text: text.split(","), help=f"of {', '.join(v.key for v in VARIANTS)}")
    parser.add_argument("--queries", default="", help="for a try: only these, in every job that asks queries")
    parser.add_argument(
        "--warm-up", action="store_true", help="each job does its work twice; only the second is `work`"
    )
    parser.add_argument("--beside", action="store_true", help="two runs at a time: one without a recorder beside each")
    parser.add_argument("--page", type=Path, help="write the page here")
    chosen = parser.parse_args()
    unknown = set(chosen.only or ()) - {variant.key for variant in VARIANTS}
    if unknown:
        parser.error(f"--only: {', '.join(sorted(unknown))}: choose from {', '.join(v.key for v in VARIANTS)}")
    chosen.work = chosen.work.resolve()
    chosen.work.mkdir(parents=True, exist_ok=True)
    data = chosen.work / f"tpch-{chosen.scale:g}"
    library = async_library(chosen.async_profiler, chosen.work) if chosen.async_profiler else None
    setup = setup_of(chosen.scale, chosen.warm_up, library, chosen.beside)
    if chosen.queries:
        setup["queries"] = chosen.queries
    if chosen.rounds:
        make_tables(data, chosen.scale)
        campaign(chosen, setup, data, library)
    if chosen.page:
        records = known(chosen.work / "results.jsonl", setup)
        left_out = {variant.key: reason for variant in VARIANTS if (reason := why_not(variant, library))}
        chosen.page.write_text(overhead_page.page(records, setup, JOBS, VARIANTS, left_out))


if __name__ == "__main__":
    main()
