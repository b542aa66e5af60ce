"""Does the printed patch save what it promises? Pastes it as it is and runs the job again, before and after in turns.

    python benchmarks/diagnosis_patch.py --work DIR --faults spill,skewed_join [--pairs 3] [--resume]

For each fault the first run is diagnosed; `emberscope conf --from FINDINGS --dialect spark-defaults` writes the patch,
which goes behind the job's own settings without any change. Then follow pairs of runs without and with it. The section
"The patch applied" of the document gets predicted and measured savings of wall time, from the event logs.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyspark

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from diagnosis_runs import ROOT, Facts, emberscope, facts, put_section, run, say, seconds  # noqa: E402
from tests.jobs.faults.__main__ import faults as all_faults  # noqa: E402

HEADING = "The patch applied"


@dataclass(frozen=True)
class Trial:
    """One fault: the patch, and the facts of the runs without and with it, pair by pair."""

    fault: str
    code: str
    patch: str
    before: Sequence[Facts]
    after: Sequence[Facts]
    exits: tuple[int, ...]

    @property
    def predicted_ms(self) -> list[int]:
        return [predicted_ms(one, self.code) for one in self.before]

    @property
    def measured_ms(self) -> list[int]:
        pairs = zip(self.before, self.after, strict=True)
        return [(one.wall_ms or 0) - (other.wall_ms or 0) for one, other in pairs]


def predicted_ms(told: Facts, code: str) -> int:
    """What the settings are said to save: the sum over the findings of the fault's own rule, where it advises settings,
    else over all causes that do; no more than all the time. What follows from a cause goes away with it."""
    advised = [
        one
        for one in told.findings
        if not one["caused_by"] and any(advice["kind"] in ("set", "unset") for advice in one["advice"])
    ]
    own = [one for one in advised if one["code"] == code]
    return min(sum(one["wasted_wall_ms"] or 0 for one in own or advised), told.wall_ms or 0)


def trial(fault: str, work: Path, *, pairs: int, scale: float, resume: bool) -> Trial:
    """Runs the pairs. Raises RuntimeError where there is nothing to paste."""
    folder = work / fault
    before, after, exits = [], [], []
    patch = folder / "patch.conf"
    for pair in range(pairs):
        for name, properties, told in (("before", None, before), ("after", patch, after)):
            place = folder / f"{name}{pair}"
            job = run(fault, place, healthy=False, scale=scale, properties=properties, resume=resume)
            told.append(facts(job.log, place / "findings.json"))
            exits.append(job.code)
            say(f"{fault} pair {pair + 1} {name}: {seconds(told[-1].wall_ms)}, exit code {job.code}")
            if properties is None and pair == 0:
                arguments = ("conf", "--from", str(place / "findings.json"), "--dialect", "spark-defaults")
                patch.write_text(emberscope(*arguments), encoding="utf-8")
                if not settings_of(patch.read_text(encoding="utf-8")):
                    raise RuntimeError(f"{fault}: the findings advise no setting")
    code = importlib.import_module(f"tests.jobs.faults.{fault}").CODE
    return Trial(fault, code, patch.read_text(encoding="utf-8"), before, after, tuple(exits))


def settings_of(patch: str) -> list[str]:
    """The lines that set something."""
    return [line for line in patch.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def spread(values_ms: Sequence[float]) -> str:
    """Median and, in brackets, the least and the most."""
    median = seconds(statistics.median(values_ms))
    return f"{median} ({min(values_ms) / 1000:.1f} to {max(values_ms) / 1000:.1f})"


def section(trials: Sequence[Trial], failed: Sequence[str], command: str) -> str:
    lines = [
        "The patch that `emberscope conf --from` prints is pasted as it is behind the job's own settings, and the job "
        "runs without and with it in turns. Times are wall times of the application from its event log: the median, "
        "and in brackets the least and the most. The prediction is what the findings of the fault's own rule say "
        "of each run without the patch; the measured saving is that of each pair.",
        "",
        "| fault | pairs | before | after | predicted saving | measured saving | measured / predicted |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for one in trials:
        predicted, measured = statistics.median(one.predicted_ms), statistics.median(one.measured_ms)
        ratio = f"{measured / predicted:.2f}" if predicted else "–"
        walls = [[told.wall_ms or 0 for told in side] for side in (one.before, one.after)]
        cells = [
            f"{one.fault} ({one.code})",
            str(len(one.before)),
            *map(spread, (*walls, one.predicted_ms, one.measured_ms)),
            ratio,
        ]
        lines.append(f"| {' | '.join(cells)} |")
    for one in trials:
        lines += ["", f"`{one.fault}`:", "", "```properties", *settings_of(one.patch), "```"]
        if any(one.exits):
            lines += ["", f"Exit codes in order: {', '.join(map(str, one.exits))}."]
    lines += [f"\n{sentence}" for sentence in failed]
    machine = f"Spark {pyspark.__version__}, Python {platform.python_version()}, {os.cpu_count()} cores."
    return "\n".join([*lines, "", f"{machine} The table is made by", "", "```sh", command, "```"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="where the event logs go")
    parser.add_argument("--faults", required=True, help="names with commas between")
    parser.add_argument("--pairs", type=int, default=3, help="how many pairs of runs")
    parser.add_argument("--resume", action="store_true", help="a job whose log is there is not run again")
    parser.add_argument("--scale", type=float, default=1.0, help="how much work, 1 is about half a minute a job")
    parser.add_argument("--document", type=Path, default=ROOT / "docs" / "accuracy.md")
    asked = parser.parse_args()
    names = asked.faults.split(",")
    if unknown := sorted(set(names) - set(all_faults())):
        parser.error(f"no such fault: {', '.join(unknown)}")
    trials, failed = [], []
    for fault in names:
        try:
            done = trial(fault, asked.work, pairs=asked.pairs, scale=asked.scale, resume=asked.resume)
        except RuntimeError as error:
            failed.append(f"`{fault}` could not be tried: {str(error).partition(':')[2].strip() or error}.")
            say(f"{fault}: {error}")
            continue
        trials.append(done)
        say(f"{fault}: predicted {spread(done.predicted_ms)}, measured {spread(done.measured_ms)}")
    command = f"python benchmarks/diagnosis_patch.py --work DIR --faults {asked.faults} --pairs {asked.pairs}"
    command += f" --scale {asked.scale:g}" if asked.scale != 1 else ""
    put_section(asked.document, HEADING, section(trials, failed, command))
    say(f"written to {asked.document}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
