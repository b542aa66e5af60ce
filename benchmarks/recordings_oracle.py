"""Every field of every event of large recordings, against the JDK's own reader, chunk by chunk.

    python benchmarks/recordings_oracle.py [--java JAVA] [--explain] FILE...

Memory stays bounded: values are compared by digests, times number by number. JAVA should be as new as what made FILE.
With --explain, the first events that differ are printed. What is compared and how: `tests/jfr/every_event.py`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.jfr.every_event import compare, explain  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--java", default="java")
    parser.add_argument("--explain", action="store_true")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    given = parser.parse_args()
    print("| file | bytes | chunks | events | largest difference of times ns | |\n|---|---|---|---|---|---|")
    good = True
    for file in given.files:
        result = compare(given.java, file)
        words = "; ".join([*result.differences, *(f"the JDK cannot read {word}" for word in result.refused_by_jdk)])
        figures = f"{file.stat().st_size:,} | {result.chunks} | {result.events:,} | {result.largest_time_difference_ns}"
        print(f"| {file.name} | {figures} | {words or 'equal'} |", flush=True)
        good = good and not result.differences
        if given.explain:
            for difference in result.differences:
                where, _, rest = difference.partition(", ")
                number, name = int(where.removeprefix("chunk ").split()[0]), rest.partition(":")[0]
                for line in explain(given.java, file, number, name) if name else ():
                    print(line)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
