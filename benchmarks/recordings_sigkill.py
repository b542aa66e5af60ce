"""What is left of a recorded JVM that is killed at random moments, twenty times: `recordings_sigkill.py [--java JAVA]`.

Each time a JVM with every event on, which begins a new chunk again and again, gets a SIGKILL. Every chunk that it
finished has to be read whole and as the JDK's own reader has it; one that it did not has to give at least the events
that the JDK can read of it, or one sentence.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.jfr.killed import examine, record_and_kill


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--java", action="append", help="several are taken in turn")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--latest", type=float, default=8.0, help="seconds after the first chunk began")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    given = parser.parse_args()
    moments = random.Random(given.seed)
    javas = given.java or ["java"]
    print(f"seed {given.seed}\n\n| killed after s | finished chunks | events in them | unfinished ones | |")
    print("|---|---|---|---|---|")
    good = True
    for time in range(given.times):
        java, seconds = javas[time % len(javas)], moments.uniform(0, given.latest)
        with tempfile.TemporaryDirectory() as directory:
            scratch = Path(directory)
            found = examine(java, record_and_kill(java, scratch, seconds), scratch)
        said = "; ".join(found.said).replace(directory, "") or "there is none"
        print(
            f"| {seconds:.3f} | {found.finished} | {found.events:,} | {said} | {'; '.join(found.problems) or 'good'} |",
            flush=True,
        )
        good = good and not found.problems
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
