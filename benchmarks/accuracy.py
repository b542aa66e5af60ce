"""How much of the CPU do the samples see? A real Spark application against Spark's own accounts, stage by stage.

    PYTHONPATH=. python benchmarks/accuracy.py --work DIR --java 17=HOME --java 25=HOME [--async-profiler JAR]
        [--only VARIANT]... [--resume]
    PYTHONPATH=. python benchmarks/accuracy.py --run RUN

The first runs an application with one stage of each nature (`tests/jobs/cpu/CpuStages.java`), each of more than 20
seconds of CPU, and one whose methods burn known shares (`KnownShares.java`), with each engine, and writes
docs/accuracy_recorder.md. What was measured is kept in DIR: with `--resume` a variant that is there is not run again,
and a variant that never ran is left out of the page. Machine load costs time, and tells in the sampler of JDK 17 alone:
the others count CPU time. An hour for all variants on two quiet cores.

The second prints the same table for a run that `emberscope run` has recorded, and the frames of samples without a task.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from pathlib import Path
from typing import Any

from accuracy_runs import ENOUGH_S, PARTS, STAGES, VARIANTS, Variant, kept, measure, measured, unattributed

PAGE = Path(__file__).parents[1] / "docs" / "accuracy_recorder.md"
MOST_RATIO = 0.05
MOST_POINTS = 2.0

HEAD = """# How right the samples of the recorder are

`benchmarks/accuracy.py` makes this page. One real Spark application has a stage of each nature, each of more than
{least} s of CPU, on {cores} cores; its samples are held against `executorCpuTime`, which Spark reads from the clocks of
the tasks' threads. Raw figures: nothing is scaled to what it is compared with.

- **samples** and **lost**: CPU samples inside the spans of the tasks, and those that the sampler says it took on a
  thread while a task ran there and could not tell a stack of. JDK's sampler of CPU time loses the stack, not the count,
  where a thread is at work inside the JVM itself: zeroing a large array, loading a class, falling back from compiled
  code. No setting changes that. They are in no flame graph; `summary` counts them by stage (`lost_cpu_samples`).
- **sampled**: what both stand for, each its own period, which is longer where the kernel could not deliver a signal in
  time. The ratio is to Spark's figure. **with stack** is the ratio without the lost ones.
- **thread**: what the threads measured where the spans of tasks start and end ("calibrated by thread CPU time" in
  `summary` and in the report). It holds what surrounds the task as well, such as reading it from bytes.
- **not seen**: thread CPU of tasks that have no sample at all.
- **native**: the share of samples in native code, of which the sampler of JDK 17 sees one thread a tick, as
  `native`, which is no CPU.
- **with task**: samples of any event with Spark's task frame in their stack that carry their task.
"""


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--run", type=Path, help="print the table of this run, and do nothing else")
    options.add_argument("--work", type=Path, help="where the runs and what was measured are kept")
    options.add_argument("--java", action="append", default=[], metavar="VERSION=HOME")
    options.add_argument("--async-profiler", type=Path, metavar="JAR", help="its jar, for the variants with it")
    options.add_argument("--only", action="append", choices=list(VARIANTS), help="only these (default: all)")
    options.add_argument("--seconds", type=float, default=21, help="CPU of each stage (default: %(default)s)")
    options.add_argument("--resume", action="store_true", help="keep what was measured before")
    options.add_argument("-o", "--output", type=Path, default=PAGE)
    chosen = options.parse_args()
    if chosen.run:
        print("\n".join(stage_lines(measured(chosen.run)["stages"])))
        print_unattributed(chosen.run)
        return 0
    if not chosen.work:
        options.error("--work or --run is needed")
    homes = {version: Path(home) for version, _, home in (each.partition("=") for each in chosen.java)}
    for name in chosen.only or VARIANTS:
        jar = chosen.async_profiler
        measure(VARIANTS[name], homes, jar, chosen.work, seconds=chosen.seconds, resume=chosen.resume)
    found = {name: result for name in VARIANTS if (result := kept(chosen.work, name)) is not None}
    chosen.output.write_text(page(found), encoding="utf-8")
    print(f"{chosen.output} is written", file=sys.stderr)
    return 0 if all(good(VARIANTS[name], result) for name, result in found.items() if "why_not" not in result) else 1


def page(found: dict[str, dict[str, Any]]) -> str:
    lines = [HEAD.format(least=ENOUGH_S, cores=os.cpu_count())]
    for name, result in found.items():
        variant = VARIANTS[name]
        lines += [f"## {variant.words}", ""]
        if "why_not" in result:
            lines += [f"Not measured: {result['why_not']}", ""]
            continue
        lines += [f"{made_with(result)} {verdict(variant, result)}", "", *stage_lines(result["stages"]), ""]
        if missing := not_measured(result):
            lines += [f"Not measured, or not to their end: {', '.join(missing)}.", ""]
    lines += share_lines(found)
    return "\n".join(lines).rstrip() + "\n"


def made_with(result: dict[str, Any]) -> str:
    period_ms = result["period_ns"] / 1e6 if result["period_ns"] else None
    period = f"a sample each {period_ms:g} ms" if period_ms else "periods that changed to hold the recorder's budget"
    cost = result["span_cost_ns"]
    spans = f" The two readings of the thread's clock cost a task {cost[0] / 1000:.1f} µs, its span in all "
    spans += f"{cost[1] / 1000:.1f} µs."
    return f"Spark {result['spark']}, Java {result['java']}, engine {result['engine']}, {period}." + spans


def stage_lines(stages: list[dict[str, Any]]) -> list[str]:
    heads = ["stage", "CPU by Spark", "samples", "lost", "sampled", "ratio", "with stack", "thread: ratio", "not seen"]
    heads += ["native", "with task"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for row in stages:
        spark, all_ns, with_stack_ns = row["spark_ns"], taken_ns(row), row["sampled_ns"]
        cells = [
            row["name"],
            f"{spark / 1e9:.2f} s" + ("" if spark >= ENOUGH_S * 1e9 else " (short)"),
            f"{row['samples']:,}",
            f"{row['lost']:,}",
            "–" if all_ns is None else f"{all_ns / 1e9:.2f} s",
            "–" if all_ns is None else f"**{all_ns / spark:.3f}**",
            "–" if with_stack_ns is None else f"{with_stack_ns / spark:.3f}",
            "–" if row["thread_ns"] is None else f"{row['thread_ns'] / spark:.3f}",
            "–" if row["not_seen_ns"] is None else f"{row['not_seen_ns'] / 1e9:.2f} s",
            "–" if row["native_ratio"] is None else f"{100 * row['native_ratio']:.1f} %",
            f"{row['attributed']:,} of {row['task_samples']:,}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def taken_ns(row: dict[str, Any]) -> int | None:
    """What all samples of a stage stand for, those that the sampler lost among them; null where no period is known."""
    if row["sampled_ns"] is None or (row["lost"] and not row["period_ns"]):
        return None
    return int(row["sampled_ns"] + row["lost"] * (row["period_ns"] or 0))


def share_lines(found: dict[str, dict[str, Any]]) -> list[str]:
    """The table of known shares; nothing where no variant has any."""
    rows = [
        f"| {VARIANTS[name].words} | "
        + " | ".join(f"{used:.2f} | {seen:.2f}" for used, seen in zip(one["known"], one["found"], strict=True))
        + f" | {worst(one):.2f} | {standard_error(one):.1f} | {one['samples']:,} |"
        for name, result in found.items()
        if (one := result.get("shares"))
    ]
    if not rows:
        return []
    names = " | ".join(f"{part} %: used | seen" for part in PARTS)
    return [
        "## Known shares",
        "",
        "Tasks that burn their CPU in three methods. Per cent of it, as the threads themselves measured it and as the",
        "samples have it; then the largest difference in points, and the standard error that chance alone would give",
        "the largest share with so many samples: a difference well below it is luck.",
        "",
        f"| engine | {names} | off by | standard error | samples |",
        "|---|" + "---|" * (2 * len(PARTS) + 3),
        *rows,
    ]


def standard_error(shares: dict[str, Any]) -> float:
    """In points, of the share of the largest part by independent samples; samples by a period do a little better."""
    ratio = max(PARTS) / 100
    return 100 * math.sqrt(ratio * (1 - ratio) / shares["samples"])


def worst(shares: dict[str, Any]) -> float:
    return max(abs(float(used - seen)) for used, seen in zip(shares["known"], shares["found"], strict=True))


def off(result: dict[str, Any], *, with_stack: bool = False) -> float:
    """The largest deviation of a stage from Spark's figure; without end where the samples have no period.

    `with_stack`: of the samples with a stack alone, without those that the sampler lost.
    """
    taken = [row["sampled_ns"] if with_stack else taken_ns(row) for row in result["stages"]]
    ratios = [math.inf if ns is None else ns / row["spark_ns"] for ns, row in zip(taken, result["stages"], strict=True)]
    return max((abs(ratio - 1) for ratio in ratios), default=math.inf)


def not_measured(result: dict[str, Any]) -> list[str]:
    """The stages that are missing in a result, or shorter than what the page promises."""
    long = {row["name"] for row in result["stages"] if row["spark_ns"] >= ENOUGH_S * 1e9}
    return [name for name in STAGES if name not in long]


def verdict(variant: Variant, result: dict[str, Any]) -> str:
    said = f"Farthest from Spark: {100 * off(result):.1f} %"
    if not variant.counts_cpu:
        return said + ". It looks at threads by the wall clock; one that waits for a core seems to run, and counts too."
    said += f"; the bound is {100 * MOST_RATIO:.0f} %."
    if any(row["lost"] for row in result["stages"]):
        drawn = 100 * off(result, with_stack=True)
        said += f" Of samples with a stack alone, which are what a flame graph shows: {drawn:.1f} %."
    return said


def good(variant: Variant, result: dict[str, Any]) -> bool:
    """Whether all was measured and the engine keeps its bounds: shares all of them, CPU those that count it."""
    counted = not variant.counts_cpu or off(result) <= MOST_RATIO
    return counted and not not_measured(result) and worst(result["shares"]) <= MOST_POINTS


def print_unattributed(run: Path) -> None:
    count, rest = unattributed(run)
    if not count:
        sys.exit("no CPU sample of this run is under Spark's task frame")
    print(f"\n{count} CPU samples under Spark's task frame; {1 - rest.total() / count:.2%} carry a task attempt")
    for name, number in rest.most_common():
        print(f"{number:>8} without, in {name}")


if __name__ == "__main__":
    sys.exit(main())
