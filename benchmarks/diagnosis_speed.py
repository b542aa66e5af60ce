"""From an event log to findings against reading it alone: CPU seconds, in turns, as ratios with their spread.

usage: diagnosis_speed.py LOG [--pairs 3]

Reading is `load`, which makes all tables, in a process of its own; findings are `emberscope diagnose LOG --json`, which
reads and judges.
A large log: `benchmarks/eventlogs_make.py SOURCE OUT --megabytes 1000`.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path

# As installed: with its bytecode, which some environments forbid to be kept.
INSTALLED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

READ = "import sys; from emberscope.sources.load import load; load(sys.argv[1])"


def cpu_s(command: list[str]) -> tuple[float, float]:
    """CPU seconds of a command, user and system, and the largest resident memory of any so far in MiB."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=INSTALLED)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, after.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("log")
    parser.add_argument("--pairs", type=int, default=3)
    asked = parser.parse_args()
    emberscope = str(Path(sys.executable).with_name("emberscope"))
    cpu_s([emberscope, "diagnose", asked.log, "--json"])  # the first one writes the bytecode
    ratios = []
    for pair in range(1, asked.pairs + 1):
        read_s, read_mib = cpu_s([sys.executable, "-c", READ, asked.log])
        findings_s, findings_mib = cpu_s([emberscope, "diagnose", asked.log, "--json"])
        ratios.append(findings_s / read_s)
        print(
            f"pair {pair}: reading {read_s:.1f} CPU s ({read_mib:,.0f} MiB), findings {findings_s:.1f} CPU s "
            f"({findings_mib:,.0f} MiB), ratio {ratios[-1]:.2f}",
            flush=True,
        )
    print(f"ratio: median {statistics.median(ratios):.2f}, {min(ratios):.2f} to {max(ratios):.2f}")


if __name__ == "__main__":
    main()
