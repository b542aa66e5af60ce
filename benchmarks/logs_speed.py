"""From container logs to findings against `grep -cE` with the same patterns: CPU seconds, in turns, ratios with spread.

usage: logs_speed.py LOG [--pairs 3] [--only]

LOG is one file of `benchmarks/logs_make.py`. The peer is `grep -cE -f PATTERNS LOG`, where PATTERNS holds what the
reader's fast pass searches every line for: the literals of all signatures and the marks of bad records, one a line.
That is fair, as each line is searched for the very same things, and kind to grep, which only counts: the other side
also makes records, matches the signatures' own patterns, judges by all rules and writes the document. It is shown under
LC_ALL=C, the faster, and under UTF-8. The findings' severities are counted: a healthy log gives none above low. With
`--only`, the peer is left out: the memory of one size after another.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from emberscope.logs.matcher import Matcher
from emberscope.rules.wanted import SIGNATURES

# As installed: with its bytecode, which some environments forbid to be kept.
INSTALLED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
DIAGNOSE = [sys.executable, "-m", "emberscope.cli.main", "diagnose"]


def spent(command: list[str], **variables: str) -> tuple[float, float, bytes]:
    """CPU seconds of a command, user and system, its largest resident memory in MiB, and what it said."""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, env={**INSTALLED, **variables})
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in (0, 1):  # grep: 1 where it found nothing
            raise SystemExit(f"{command[0]} ended with {child.returncode}")
        out.seek(0)
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, out.read()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("log")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--only", action="store_true")
    asked = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    patterns = Matcher(SIGNATURES).line_patterns
    ratios: dict[str, list[float]] = {"C": [], "C.UTF-8": []}
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "patterns"
        kept.write_text("\n".join(patterns) + "\n")
        for pair in range(1, asked.pairs + 1):
            ours_s, ours_mib, said = spent([*DIAGNOSE, asked.log, "--json"])
            found = Counter(one["severity"] for one in json.loads(said)["findings"])
            print(f"pair {pair}: {ours_s:.2f} CPU s, {ours_mib:,.0f} MiB, findings {dict(found)}", flush=True)
            for locale, of_locale in ratios.items() if not asked.only else ():
                peer_s, _, counted = spent(["grep", "-cE", "-f", str(kept), asked.log], LC_ALL=locale)
                of_locale.append(ours_s / peer_s)
                lines = int(counted)
                print(
                    f"  grep LC_ALL={locale}: {peer_s:.2f} CPU s, {lines:,} lines, ratio {of_locale[-1]:.2f}",
                    flush=True,
                )
    for locale, of_locale in ratios.items():
        if of_locale:
            spread = f"{min(of_locale):.2f} to {max(of_locale):.2f}"
            print(f"ratio to LC_ALL={locale}: median {statistics.median(of_locale):.2f}, {spread}")
    print(f"{len(patterns)} patterns, {Path(asked.log).stat().st_size / 1e6:,.0f} MB")


if __name__ == "__main__":
    main()
