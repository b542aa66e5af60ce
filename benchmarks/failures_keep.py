"""Keeps the logs that failures.py made as data of tests, with no trace of the machine they were made on.

python benchmarks/failures_keep.py --work DIR [--hide PATH=SHOWN ...] [--keep tests/data/failures]
"""

from __future__ import annotations

import argparse
import gzip
import json
import platform
import re
import shutil
import socket
import sys
from pathlib import Path

import pyspark

ROOT = Path(__file__).parents[1]
LARGEST_BYTES = 100_000


def hidden(work: Path, more: list[str]) -> list[tuple[str, str]]:
    """What is written in place of what, the longest first."""
    shown = {
        str(work): "/srv/failures",
        str(ROOT): "/srv/emberscope",
        str(Path(pyspark.__file__).parent): "/opt/spark",
        sys.prefix: "/opt/python",
        str(Path.home() / ".m2"): "/home/spark/.m2",
        "faulty/work/": "faulty/run/",
        socket.gethostname(): "node-1",
        platform.release(): "6.1.0",
        **dict(one.split("=", 1) for one in more),
    }
    return sorted(shown.items(), key=lambda pair: -len(pair[0]))


def keep(made: Path, target: Path, places: list[tuple[str, str]]) -> list[str]:
    """Copies the logs and, packed, the event log of a failure. Returns what is too large to keep."""

    def clean(path: Path) -> str:
        text = path.read_text(encoding="utf-8", errors="replace")
        for old, new in places:
            text = re.sub(rf"(?<!\w){re.escape(old)}(?!\w)" if old[-1] != "/" else re.escape(old), new, text)
        return text

    shutil.rmtree(target, ignore_errors=True)
    for path in sorted((made / "logs").rglob("*")):
        if path.is_file():
            kept = target / path.relative_to(made)
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(clean(path), encoding="utf-8")
    for path in sorted((made / "events").iterdir()):
        if not path.name.startswith("."):
            (target / "events.gz").write_bytes(gzip.compress(lean(clean(path)).encode(), 9, mtime=0))
    return [str(path) for path in target.rglob("*") if path.is_file() and path.stat().st_size > LARGEST_BYTES]


def lean(events: str) -> str:
    """An event log without the class path and the system's properties, which no rule needs and which are most of it."""
    lines = []
    for line in events.splitlines():
        event = json.loads(line) if line.startswith('{"Event":"SparkListenerEnvironmentUpdate"') else None
        if event is not None:
            for part in ("Classpath Entries", "System Properties", "Hadoop Properties", "Metrics Properties"):
                event[part] = {}
            line = json.dumps(event, separators=(",", ":"))
        lines.append(line)
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="the DIR that failures.py was given")
    parser.add_argument("--keep", type=Path, default=ROOT / "tests" / "data" / "failures")
    parser.add_argument("--hide", action="append", default=[], metavar="PATH=SHOWN", help="another path to hide")
    asked = parser.parse_args()
    work = asked.work.resolve()
    places = hidden(work, asked.hide)
    for made in sorted(work.glob("*/faulty")):
        if (made / "job.json").exists():
            too_large = keep(made, asked.keep / made.parent.name, places)
            print(made.parent.name, *too_large)
    return 0


if __name__ == "__main__":
    sys.exit(main())
