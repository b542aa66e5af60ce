"""Runs of the jobs of known CPU with one engine each, and what their samples say beside Spark's own accounts."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from tests.jobs.cpu.recorded import jar_of_jobs, record
from tests.jobs.cpu.shares import shares
from tests.jvm import toolchain

from emberscope.profile.ancestry import TASK_FRAME, nodes_holding, tree_arrays
from emberscope.report.summary import run_object
from emberscope.sources.run import load_run
from emberscope.tables.frame_kinds import CPP, JAVA, KERNEL, NATIVE

STAGES = (
    *("Java loops", "Java collections", "serialisation, Java", "serialisation, Kryo", "zlib", "SHA-256", "garbage"),
    *("Parquet decoding", "sort", "hash aggregation"),
)
"""The stages of `CpuStages`, by the description of their job."""

ENOUGH_S = 20
PARTS = (10, 20, 70)
LONGEST_S = 3600
SHARES_SECONDS = 20

# With compilation told apart, the JDK's frames that were not compiled and not interpreted are of methods in C.
_NATIVE_KINDS = {JAVA, NATIVE, CPP, KERNEL}


@dataclass(frozen=True)
class Variant:
    """One engine on one Java. `counts_cpu`: its samples are of CPU time, so that they must agree with Spark.

    `engine` are the words that its name in a run holds where it is what really took the samples.
    """

    name: str
    words: str
    java: str
    counts_cpu: bool
    engine: tuple[str, ...] = ("jfr",)
    conf: Mapping[str, str] = field(default_factory=dict)

    @property
    def needs_jar(self) -> bool:
        return "async-profiler" in self.engine


def _async(event: str, engine: str, words: str) -> Variant:
    conf = {"spark.emberscope.engine": "async-profiler", "spark.emberscope.engine.options": f"event={event}"}
    return Variant(f"async-{event}", words, "17", True, ("async-profiler", engine), conf)


VARIANTS = {
    one.name: one
    for one in (
        Variant("jfr-25", "JDK 25, Flight Recorder's sampler of CPU time", "25", True),
        Variant("jfr-17", "JDK 17, Flight Recorder's sampler of threads", "17", False),
        _async("ctimer", "ctimer", "async-profiler, CPU timers (ctimer)"),
        _async("cpu", "perf_events", "async-profiler, perf events (cpu)"),
    )
}


def kept(work: Path, name: str) -> dict[str, Any] | None:
    """What was measured of a variant before."""
    path = work / name / "result.json"
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None


def measure(
    variant: Variant, homes: Mapping[str, Path], jar: Path | None, work: Path, *, seconds: float, resume: bool
) -> None:
    """Runs both jobs with one engine and leaves result.json; a variant that cannot run leaves the reason.

    With `resume`, what was measured stays, and of the stages only those are run that no run before has to its end.
    """
    folder = work / variant.name
    if resume and (before := kept(work, variant.name)) is not None and "why_not" not in before:
        return
    if variant.java not in homes or (variant.needs_jar and jar is None):
        say(f"{variant.name}: left out, since no {'--async-profiler' if variant.java in homes else '--java'} was given")
        return
    folder.mkdir(parents=True, exist_ok=True)
    home = homes[variant.java]
    conf = dict(variant.conf) | ({"spark.emberscope.engine.path": str(jar)} if variant.needs_jar else {})
    common: dict[str, Any] = {
        "jar": jar_of_jobs(folder),
        "java_home": home,
        "conf": conf,
        "timeout_s": LONGEST_S,
    }
    store = folder / "stages"
    if not resume:
        shutil.rmtree(store, ignore_errors=True)
    before = together(store)
    done = {row["name"] for row in before.get("stages", []) if row["spark_ns"] >= 0.95e9 * seconds}
    missing = [name for name in STAGES if name not in done]
    if missing:
        say(f"{variant.name}: {', '.join(missing)}")
        with tempfile.TemporaryDirectory(dir=folder) as data:
            record("cpu.CpuStages", [f"{seconds:g}", data, *missing], store=store, **common)
    result = together(store)
    if not all(word in (result["engine"] or "") for word in variant.engine):
        result = {"why_not": f"asked for {' with '.join(variant.engine)}, recorded by {result['engine']}."}
    else:
        say(f"{variant.name}: the known shares")
        run, said = record("cpu.KnownShares", [str(SHARES_SECONDS)], store=folder / "shares", **common)
        found, count = shares(load_run(str(run)).tables)
        known = [100 * float(word) for word in said.split()]
        result |= {
            "shares": {"known": known, "found": found, "samples": count},
            "span_cost_ns": span_cost_ns(home, folder),
        }
    (folder / "result.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def together(store: Path) -> dict[str, Any]:
    """`measured` of all runs in a store as one: of a stage in several of them the row with the most CPU."""
    results = [measured(path.parent) for path in sorted(store.glob("*/*/*/run.json"))]
    rows: dict[str, dict[str, Any]] = {}
    for row in sorted((row for result in results for row in result["stages"]), key=lambda row: row["spark_ns"]):
        rows[row["name"]] = row
    if not results:
        return {}
    return results[-1] | {"stages": [rows[name] for name in STAGES if name in rows]}


def measured(path: Path) -> dict[str, Any]:
    """What a run says of itself, and a row for each stage with a description: the one with the most CPU of each."""
    run = load_run(str(path), compilation=True)
    spans = run.tables["spans"]
    names = dict(zip(spans["stage_id"].to_pylist(), spans["description"].to_pylist(), strict=True))
    native = native_ratios(run.tables)
    rows: dict[str, dict[str, Any]] = {}
    for stage in run_object(run)["stages"]:
        name, spark = names.get(stage["stage_id"]), stage["executor_cpu_time_ns"]
        if not name or not spark or name.endswith("probe") or name == "the table":
            continue
        if name in rows and rows[name]["spark_ns"] >= spark:
            continue
        calibrated = stage["calibrated"] or {}
        if calibrated.get("tasks_not_measured"):
            continue  # the run was cut short: Spark says nothing of tasks that did not end
        rows[name] = {
            "name": name,
            "spark_ns": spark,
            "samples": stage["cpu_samples"],
            "sampled_ns": sampled_ns(stage),
            "period_ns": stage["sample_period_ns"],
            "lost": stage["lost_cpu_samples"],
            "thread_ns": calibrated.get("cpu_ns"),
            "not_seen_ns": calibrated.get("not_seen_ns"),
            "native_ratio": native.get(stage["stage_id"]),
            "task_samples": stage["task_samples"],
            "attributed": stage["attributed_samples"],
        }
    return {
        "spark": run.application.spark_version,
        "java": ", ".join(run.recorder.get("java_versions", [])),
        "engine": run.recorder.get("engine"),
        "period_ns": run.recorder.get("sample_period_ns"),
        "stages": list(rows.values()),
    }


def sampled_ns(stage: Mapping[str, Any]) -> int | None:
    """What the samples of a stage stand for: each its own period, or all of them that of the manifests."""
    if stage["sampled_cpu_ns"] is not None or stage["sample_period_ns"] is None:
        found: int | None = stage["sampled_cpu_ns"]
        return found
    return int(stage["cpu_samples"] * stage["sample_period_ns"])


def native_ratios(tables: Mapping[str, pa.Table]) -> dict[int, float]:
    """The share of each stage's samples with a native top frame: those of CPU, and threads seen in native code."""
    kinds = tables["frames"]["kind"].to_pylist()
    leaves = tables["stacks"]["frame"].to_pylist()
    all_of, native_of = Counter[int](), Counter[int]()
    columns = (tables["samples"][name].to_pylist() for name in ("event", "stage_id", "stack", "count"))
    for event, stage, stack, count in zip(*columns, strict=True):
        if stage is None or event not in ("cpu", "native"):
            continue
        all_of[stage] += count
        if event == "native" or (stack and kinds[leaves[stack]] in _NATIVE_KINDS):
            native_of[stage] += count
    return {stage: native_of[stage] / count for stage, count in all_of.items()}


def unattributed(path: Path) -> tuple[int, Counter[str]]:
    """How many CPU samples are under the task frame; and those of them without a task by the frame called there."""
    tables = load_run(str(path)).tables
    samples, stacks, frames = tables["samples"], tables["stacks"], tables["frames"]
    parents, frame_of = tree_arrays(stacks)
    names = frames["name"].to_pylist()
    nodes = samples["stack"].fill_null(0).to_numpy()
    of_task = nodes_holding(stacks, frames)[nodes] & (np.asarray(samples["event"].to_pylist()) == "cpu")
    without = np.flatnonzero(of_task & np.asarray(samples["task_id"].is_null()))

    def called(node: int) -> str:
        below = "(itself)"
        while node > 0 and names[frame_of[node]] != TASK_FRAME:
            below = names[frame_of[node]]
            node = int(parents[node])
        return below

    return int(of_task.sum()), Counter(called(int(nodes[row])) for row in without)


def span_cost_ns(home: Path, folder: Path) -> list[int]:
    """CPU that the span of a task costs its thread, in ns: the two readings of its clock, and all of it."""
    classes = folder / "span-cost"
    programs = toolchain.sources(toolchain.ROOT / "tests" / "jvm" / "java")
    toolchain.javac("-nowarn", "-encoding", "UTF-8", "-cp", toolchain.class_path(), "-d", classes, *programs)
    command = [str(home / "bin" / "java"), "-cp", toolchain.class_path(classes), "io.emberscope.SpanCost"]
    surroundings = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"}
    said = subprocess.run(command, capture_output=True, text=True, check=True, env=surroundings, timeout=LONGEST_S)
    return [int(word) for word in said.stdout.splitlines()[-1].split()]


def say(text: str) -> None:
    """One line of progress."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)
