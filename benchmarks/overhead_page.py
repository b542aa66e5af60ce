"""docs/overhead.md, of the runs that `overhead.py` has made."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from overhead_ratios import Ratio, ratio
from overhead_variants import OFF, ROUNDS_AT_MOST, Variant

PAIRS_AT_LEAST: Final = 7
CLAIMED_RATIO: Final = 1.02
UPPER_AT_MOST: Final = 1.04
OWN_SHARE_AT_MOST: Final = 0.015

HARM: Final = ("exit code", "other answers")
"""Faults of the job itself, not of the recording alone."""

Record = Mapping[str, Any]


def good(records: Iterable[Record], key: str) -> dict[int, Record]:
    """The runs of a variant that count, by round."""
    return {record["round"]: record for record in records if record["key"] == key and not record["fault"]}


def compared(records: Sequence[Record], key: str, base: str, figure: str) -> Ratio | None:
    """None where no round has both."""
    ours, theirs = good(records, key), good(records, base)
    pairs = [(ours[round_][figure], theirs[round_][figure]) for round_ in sorted(ours.keys() & theirs.keys())]
    return ratio(pairs) if pairs else None


def percent(value: float) -> str:
    return "–" if value != value else f"{100 * (value - 1):+.1f} %"


def of(found: Ratio | None) -> str:
    """A ratio with the bootstrap's interval."""
    if found is None:
        return "–"
    return f"{percent(found.mean)} [{percent(found.low)} to {percent(found.high)}]"


def own_shares(records: Sequence[Record], key: str) -> list[float]:
    return [sum(each["threads_s"].values()) / each["cpu_s"] for each in good(records, key).values()]


def left_out_cost(records: Sequence[Record], fault: Record) -> str:
    """What a run that does not count took beside the one without a recorder, so that none is left out for its cost."""
    job = fault["key"].split("/")[0]
    base = good(records, f"{job}/{OFF}").get(fault["round"])
    if base is None or not fault.get("cpu_s"):
        return ""
    return f" (CPU {percent(fault['cpu_s'] / base['cpu_s'])} against the run without a recorder)"


def median_of(records: Iterable[Record], figure: str) -> float:
    return statistics.median(record[figure] for record in records)


def table(records: Sequence[Record], variants: Sequence[Variant]) -> list[str]:
    lines = [
        "| variant | against | pairs | CPU of all processes | Student's interval | CPU, start of Spark left out "
        "| wall time | own threads, share of CPU: median, most | recorded, MB |",
        "|---|---|---:|---|---|---|---|---|---:|",
    ]
    for variant in variants:
        runs = list(good(records, variant.key).values())
        if variant.name == OFF or not runs:
            continue
        shares = own_shares(records, variant.key)
        own = f"{100 * statistics.median(shares):.2f} %, {100 * max(shares):.2f} %" if max(shares) else "–"
        for base in variant.against:
            cpu, work, wall = (
                compared(records, variant.key, f"{variant.job}/{base}", figure)
                for figure in ("cpu_s", "work_cpu_s", "wall_s")
            )
            against = next(each.title for each in variants if each.name == base)
            students = f"{percent(cpu.t_low)} to {percent(cpu.t_high)}" if cpu else "–"
            lines.append(
                f"| {variant.title} | {against} | {cpu.pairs if cpu else 0} | {of(cpu)} | {students} | {of(work)} "
                f"| {of(wall)} | {own} | {median_of(runs, 'bytes') / 1e6:.1f} |"
            )
    return lines


def baseline(records: Sequence[Record], job: str) -> str:
    runs = list(good(records, f"{job}/{OFF}").values())
    if not runs:
        return "Without a recorder: not run."
    return (
        f"Without a recorder: {median_of(runs, 'cpu_s'):.0f} CPU seconds and {median_of(runs, 'wall_s'):.0f} s, of "
        "which "
        f"{median_of(runs, 'work_wall_s'):.0f} s are work (medians of {len(runs)} runs)."
    )


def claim(records: Sequence[Record], variant: Variant, job: str) -> str:
    """Whether at most 2 % is claimed, and why not."""
    cpu = compared(records, variant.key, f"{variant.job}/{OFF}", "cpu_s")
    about = f"{job}: {variant.title}"
    harmed = [record for record in records if record["key"] == variant.key and record["fault"].startswith(HARM)]
    if harmed:
        return f"- {about}: nothing is claimed, for of its runs {len(harmed)} failed or answered otherwise."
    if cpu is None:
        return f"- {about}: nothing is claimed, for it was not measured."
    found = f"{percent(cpu.mean)} CPU, upper end {percent(cpu.upper)}, {cpu.pairs} pairs"
    if cpu.pairs < PAIRS_AT_LEAST:
        return f"- {about}: nothing is claimed, for {PAIRS_AT_LEAST} pairs are needed ({found})."
    if cpu.mean <= CLAIMED_RATIO and cpu.upper <= UPPER_AT_MOST:
        return f"- {about}: **at most 2 %** ({found})."
    return f"- {about}: at most 2 % is **not** claimed ({found})."


def own_threads(records: Sequence[Record], variant: Variant, job: str) -> str:
    shares = own_shares(records, variant.key)
    if not shares:
        return f"- {job}: {variant.title}: not measured."
    held = "within" if max(shares) <= OWN_SHARE_AT_MOST else "**beyond**"
    threads: dict[str, list[float]] = {}
    for record in good(records, variant.key).values():
        for name, seconds in record["threads_s"].items():
            threads.setdefault(name, []).append(seconds)
    most = sorted(threads.items(), key=lambda item: -sum(item[1]))[:5]
    named = ", ".join(f"`{name}` {statistics.median(seconds):.2f} s" for name, seconds in most)
    runs = list(good(records, variant.key).values())
    said = sorted(
        each["own_cpu_s"] / sum(each["threads_s"].values()) for each in runs if sum(each["threads_s"].values())
    )
    rates = min(each["rate_ratio"] for each in runs if each["rate_ratio"] is not None)
    return (
        f"- {job}: {variant.title}: {100 * statistics.median(shares):.2f} % of all CPU, {100 * max(shares):.2f} % at "
        f"most, {held} 1.5 %. By thread, medians: {named}. The manifests say {100 * said[0]:.0f} to "
        f"{100 * said[-1]:.0f} % of it; budgets left {100 * rates:.0f} % of the rates asked for or more."
    )


WHERE: Final = {
    "compilers": ("C1", "C2"),
    "collector": ("G1", "GC"),
    "VM operations": ("VM",),
    "event log": ("spark-listener",),
}


def where(records: Sequence[Record], job: str, variants: Iterable[Variant]) -> list[str]:
    """Medians of CPU seconds: what a job of any length pays, and all of it by what the threads are for."""
    names = " | ".join(["all", "before and after the work", "own threads", *WHERE, "all else"])
    lines = [f"| CPU seconds, medians | {names} |", "|---|" + "---:|" * 8]
    for variant in variants:
        runs = list(good(records, variant.key).values())
        if variant.job != job or not runs:
            continue
        parts = [statistics.median(sum(run["threads_s"].values()) for run in runs)]
        for words in WHERE.values():
            parts.append(
                statistics.median(
                    sum(used_s for name, used_s in run["other_threads_s"].items() if name.startswith(words))
                    for run in runs
                )
            )
        whole = median_of(runs, "cpu_s")
        figures = " | ".join(f"{part:.2f}" for part in [*parts, whole - sum(parts)])
        around = statistics.median(run["cpu_s"] - run["work_cpu_s"] for run in runs)
        lines.append(f"| {variant.title} | {whole:.1f} | {around:.1f} | {figures} |")
    return lines


def nothing_missed(records: Sequence[Record]) -> list[str]:
    """How far the three counts are apart."""
    both = [each["counts"] for each in records if "group" in each["counts"]]
    if not both:
        return [
            "No control group could be made on this machine: the figures are the kernel's of each process waited for."
        ]

    def shares(name: str) -> list[float]:
        out = []
        for counts in both:
            counted = counts[name]
            seconds = sum(value for figure, value in counted.items() if figure.endswith("_s"))
            out.append(seconds / (counts["group"]["user_s"] + counts["group"]["system_s"]))
        return sorted(out)

    waited, seen = shares("waited"), shares("seen")
    killed = sum(record["killed"] for record in records)
    outlived = sorted({name for record in records for name in record["outlived"]})
    return [
        f"In these {len(both)} runs the processes waited for, with those that "
        f"could only be seen, had {100 * waited[0]:.2f} to {100 * waited[-1]:.2f} % of "
        f"the group's CPU, and the looks at /proc had seen {100 * seen[0]:.1f} to {100 * seen[-1]:.1f} % of it. "
        + (f"Processes that outlived the command: {', '.join(outlived)}. " if outlived else "")
        + f"{killed} had to be killed."
    ]


METHOD: Final = """\
TPC-H's tables and queries as a load (scale {scale:g}; {asked}; not a TPC-H result) and a job with Python functions, on
Spark's `local-cluster` with two executors of one core, with and without a recorder. Each round runs each variant once,
in an order of chance; a variant is compared with the run without a recorder of the same round. Figures are geometric
means of these ratios with the 95 % interval of a bootstrap over the pairs, and beside it Student's interval of their
logarithms, which is wider where pairs are few. "Start of Spark left out" is from the first query to the last answer;
the end of Spark, when the last of the recording is shipped, is left out with it. Other recorders run with the rates
that their row says, which are not Emberscope's; for Flight Recorder those of its own `profile` settings. "Nothing, once
more" is the same as what all are compared with: how far it is from 0 % is what this method does not see.

Up to Java 22 `emberscope run` starts JVMs of this host with an agent, without which the start of Flight Recorder makes
HotSpot compile everything anew; executors of another host do not have it, and each pays for that once ("JVMs without
its agent").

{together}

Spark {spark}, Java {java}, {machine}.
Other programs took {others:.1f} % of the processors in the median run, {most:.1f} % in the worst.
"""

IN_TURN: Final = "One run at a time: what is compared ran one after the other."

BESIDE: Final = """\
Two runs at a time: each with a recorder has one without beside it, begun 3 s before or after it in turn, on the same
processors. The pace of this machine changes by more than a recorder costs, and so it is the same for both. Wall times
are those of two jobs that share the machine."""

CLAIMS: Final = """\
## What is claimed

At most 2 % of CPU is claimed only for at least seven pairs, and only where the upper ends of both intervals are at most
4 %. Emberscope's figures hold Spark's event log, which it switches on, and shipping to a local directory; the summary
that `emberscope run` prints after the job is no part of the job.
"""

OWN_THREADS: Final = """\
## The recorder's own threads

CPU of the threads `emberscope…`, `JFR …` and `Async-profiler…` of all JVMs, by the scheduler's count, as a share of the
CPU of all processes. What a sampler does inside the sampled threads is not in it, only in the ratios above. The
recorder counts its own CPU too and lowers its rates where it is too much (`spark.emberscope.budget.cpu`); what its
manifests say ends with the last part of the recording, so it misses how that part was sent.
"""

COUNTING: Final = """\
## How CPU is counted

User and system time of the driver, its launcher, the executors, Python's daemon and workers, and whatever else they
start. Spark's `executorCpuTime` would not do: it holds the threads of tasks, not the recorder's. The job runs in a
control group of its own, which no process of it leaves. Beside that, its orphans come to the measuring program, which
adds up what the kernel says of every process that has ended; PySpark's workers can only be seen while they live, for
their daemon refuses to hear of them.
"""


def page(
    records: Sequence[Record],
    setup: Mapping[str, Any],
    jobs: Mapping[str, str],
    variants: Sequence[Variant],
    left_out: Mapping[str, str],
) -> str:
    counted = [record for record in records if not record["fault"]]
    if not counted:
        return "# What recording costs\n\nNothing has been measured.\n"
    others = [100 * each["others_cpu_s"] / each["wall_s"] / setup["processors"] for each in counted]
    asked = f"queries {setup['queries']} only, for a try" if "queries" in setup else "all tables"
    method = METHOD.format(
        scale=setup["scale"],
        asked=asked,
        together=BESIDE if setup["beside"] else IN_TURN,
        spark=setup["spark"],
        java=setup["java"],
        machine=setup["machine"],
        others=statistics.median(others),
        most=max(others),
    )
    lines = ["# What recording costs", "", "<!-- Made by benchmarks/overhead.py -->", "", method]
    for job, words in jobs.items():
        its = [variant for variant in variants if variant.job == job]
        if any(good(records, variant.key) for variant in its):
            lines += [f"## {words}", "", baseline(records, job), "", *table(records, its), ""]
            lines += [*where(records, job, its), ""]
    recorders = [variant for variant in variants if variant.recorder is not None and good(records, variant.key)]
    lines += [CLAIMS, *[claim(records, variant, jobs[variant.job]) for variant in recorders], ""]
    lines += [OWN_THREADS, *[own_threads(records, variant, jobs[variant.job]) for variant in recorders], ""]
    lines += [COUNTING, *nothing_missed(counted), ""]
    faults = [record for record in records if record["fault"]]
    if left_out or faults:
        lines += ["## What is not in it", ""]
        lines += [f"- `{key}`: {reason}." for key, reason in left_out.items()]
        for each in faults:
            cost = left_out_cost(records, each)
            lines.append(f"- `{each['key']}` of round {each['round']}: {each['fault']}{cost}.")
        lines.append("")
    lines += ["## Again", "", "```sh", command(setup, records), "```", ""]
    return "\n".join(lines)


def command(setup: Mapping[str, Any], records: Sequence[Record]) -> str:
    words = ["python benchmarks/overhead.py --work DIR", f"--scale {setup['scale']:g}"]
    words.append(f"--rounds {1 + max(record['round'] % ROUNDS_AT_MOST for record in records)}")
    words += ["--warm-up"] if setup["warm_up"] else []
    words += ["--beside"] if setup["beside"] else []
    words += [f"--queries {setup['queries']}"] if "queries" in setup else []
    words += ["--async-profiler FILE"] if setup["async_profiler"] else []
    return " ".join([*words, "--resume --page docs/overhead.md"])
