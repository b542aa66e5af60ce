"""How fast is the JFR reader? Cold processes on the same file, in alternation with async-profiler's `jfrconv`.

    python benchmarks/recordings.py --jar JAR [--rounds N] FILE...

JAR is `tools.profiler:jfr-converter:4.5` of Maven Central; `recordings_make.py` makes the files. In each round each of
these runs once; figures are medians of the rounds, with the least and the largest; a ratio is that of one run to
jfrconv's of the same round:

- jfrconv: `java -jar JAR -o collapsed KIND FILE OUT`, KIND being what gives the same samples as
- emberscope: `emberscope flame FILE --event cpu --format folded`. Both outputs are compared, stack by stack, first.
- emberscope, Python: the same without the compiled kernel.
- all columns: every value of every event and constant decoded (`emberscope.jfr.read`) into columns; strings are checked
  and stay bytes until somebody asks for them.
- all strings: that, and every string of every event and constant as a `str`.
- all tables: `chunk.table` of every event type, Arrow tables with all references resolved.

CPU is user and system time of the whole process; it is what to compare on a machine that does other things as well.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from cold import Figures, ratios, run, spread

EMBERSCOPE = str(Path(sys.executable).with_name("emberscope"))
ALL_COLUMNS = """
import sys
from emberscope import jfr
from emberscope.kernel.ops import STRING
for chunk in jfr.read(sys.argv[1]):
    for type_id, layout in chunk.layouts.items():
        if chunk.decoder.rows(type_id):
            for column in layout.columns.values():
                if column.operation != STRING:
                    chunk.decoder.column(type_id, column.number)
"""
ALL_STRINGS = """
import sys
from emberscope import jfr
from emberscope.kernel.ops import STRING
for chunk in jfr.read(sys.argv[1]):
    pool = chunk.string_pool()
    for type_id, layout in chunk.layouts.items():
        if chunk.decoder.rows(type_id):
            for column in layout.columns.values():
                if column.operation == STRING:
                    chunk.decoder.strings(type_id, column.number, pool)
                else:
                    chunk.decoder.column(type_id, column.number)
"""
ALL_TABLES = """
import sys
from emberscope import jfr
for chunk in jfr.read(sys.argv[1]):
    for name in chunk.event_counts:
        chunk.table(name)
"""
COMPARE = """
import sys
from pathlib import Path
from recordings_jfrconv import cpu_option, difference, of_jfrconv, of_ours
java, jar, file = sys.argv[1:]
option = cpu_option(java, jar, Path(file))
ours, _ = of_ours(Path(file), "cpu", "samples")
print(option)
print(difference(ours, of_jfrconv(java, jar, Path(file), option)))
"""


def measure(file: Path, java: str, jar: str, rounds: int, only: set[str], scratch: Path) -> None:
    """The rows of one file."""
    compared = subprocess.run(
        [sys.executable, "-c", COMPARE, java, jar, str(file)], cwd=Path(__file__).parent, capture_output=True, text=True
    )
    if compared.returncode:
        sys.exit(compared.stderr)
    option, different, *_ = [*compared.stdout.splitlines(), ""]
    out = str(scratch / "out.collapsed")
    flame = [EMBERSCOPE, "flame", str(file), "--event", "cpu", "--format", "folded", "-o", out]
    plain, without_c = dict(os.environ), os.environ | {"EMBERSCOPE_KERNEL": "python"}
    plain.pop("EMBERSCOPE_KERNEL", None)
    commands = {
        "jfrconv": ([java, "-jar", jar, "-o", "collapsed", *option.split(), str(file), out], plain),
        "emberscope": (flame, plain),
        "emberscope, Python": (flame, without_c),
        "all columns": ([sys.executable, "-c", ALL_COLUMNS, str(file)], plain),
        "all strings": ([sys.executable, "-c", ALL_STRINGS, str(file)], plain),
        "all tables": ([sys.executable, "-c", ALL_TABLES, str(file)], plain),
    }
    commands = {name: command for name, command in commands.items() if name == "jfrconv" or not only or name in only}
    figures = {name: Figures() for name in commands}
    for _ in range(rounds):
        for name, (command, surroundings) in commands.items():
            Path(out).unlink(missing_ok=True)  # to overwrite is to ask first
            run(command, surroundings, figures[name])
    base = figures["jfrconv"]
    for name, figure in figures.items():
        cells = [
            file.name,
            f"{file.stat().st_size / 1e6:.1f}",
            f"{name} {option}".strip() if figure is base else name,
            spread(figure.cpu_s, ".3f"),
            spread(ratios(figure.cpu_s, base.cpu_s), ".3f"),
            f"{statistics.median(figure.wall_s):.3f}",
            spread(ratios(figure.wall_s, base.wall_s), ".3f"),
            f"{max(figure.peak_mib):.0f}",
            (different or "equal") if name == "emberscope" else "",
        ]
        print("| " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jar", required=True)
    parser.add_argument("--java", default="java")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", action="append", default=[], help="the name of a row, beside jfrconv's")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    given = parser.parse_args()
    print("| file | MB | what | CPU s | CPU to jfrconv | wall s | wall to jfrconv | peak MiB | stacks |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        for file in given.files:
            measure(file, given.java, given.jar, given.rounds, set(given.only), Path(scratch))


if __name__ == "__main__":
    main()
