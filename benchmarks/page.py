"""How fast is a page with a flame graph of one call tree, ours and others'? `page.py make` and `page.py measure`.

    npm install --prefix PEERS speedscope d3 d3-flame-graph
    mvn dependency:copy -Dartifact=tools.profiler:jfr-converter:4.5 -DoutputDirectory=PEERS
    python benchmarks/page.py make OUT --nodes 1000000 --jar PEERS/jfr-converter-4.5.jar --npm PEERS
    python benchmarks/page.py measure OUT/1000000 --rounds 7
    python benchmarks/page.py table OUT/1000000

`make` makes up a tree (`page_tree.py`) and has each viewer's page made of it: ours by `emberscope flame` and
async-profiler's by its own converter, both from the same collapsed stacks; speedscope's file in its form "evented"; for
d3-flame-graph one HTML file with the tree as JSON. `measure` opens each in a fresh Chromium, in alternation, and adds a
line for each to OUT/…/results.jsonl; `table` prints the medians of all lines with the least and the most.

- **Open** is from the start of the navigation until the whole graph is painted: two frames after it was handed over.
- **Search** is from the key until the hits are painted, for a regular expression (speedscope: a plain text).
- **Zoom in** is from the click until the picture is painted, the mean of two: the widest frame at depth 5, then the
  widest at depth 20 that is drawn. **Zoom out** is from the key that shows all again. **Zoom** is the mean of all.
- **ms** hold two frames of a screen, 33 ms together, and what other programs on the machine take. **Main CPU ms** are
  the processor time of the page's main thread for it, **CPU ms** that of all threads of the renderer process until
  0.3 s after, each less that of a step that does nothing. Where other programs run, compare these.
- A **ratio** is of a viewer's value by ours of the same round; the least and the most of the rounds are its spread.
- **Memory** is the resident size of the renderer process: the most until the graph was painted, and what was left at
  the end, after collecting garbage.

Not the same in all: formats differ, which is a part of what is compared. The pages draw what they draw:
async-profiler's all rows, ours those in view, d3-flame-graph the frames wider than 5 px. There is no graphics card:
speedscope, which draws by WebGL, is at a disadvantage, and its zoom is not measured. Made-up trees are harsher than
real ones.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import Any

from page_chromium import measure
from page_tree import make_tree
from page_viewers import EMBERSCOPE, VIEWERS, Tools

STEPS = ("open", "search", "zoom_in", "zoom_out", "zoom", *EMBERSCOPE.more)
KINDS = {"ms": "ms", "main_cpu_ms": "main CPU ms", "cpu_ms": "CPU ms"}
MEASURES = {f"{step}_{kind}": f"{step.replace('_', ' ')}, {words}" for step in STEPS for kind, words in KINDS.items()}
MEMORY = {"peak_mb": "most memory, MB", "memory_mb": "memory left, MB"}
RESULTS = "results.jsonl"


def make(given: argparse.Namespace) -> None:
    where = given.out / str(given.nodes)
    where.mkdir(parents=True, exist_ok=True)
    tree = make_tree(given.nodes)
    shape = {"nodes": given.nodes, "names": len(tree.names), "deepest": max(tree.depths), "weight": sum(tree.selfs)}
    print(json.dumps({**shape, "mean_depth": round(statistics.fmean(tree.depths), 1)}), flush=True)
    for name in given.viewers:
        VIEWERS[name].make(tree, where, Tools(given.java, given.jar, given.npm))
        print(f"{name}: {_size(where, name):,} bytes", flush=True)
    (where / "tree.collapsed").unlink(missing_ok=True)


def _size(where: Path, name: str) -> int:
    return sum((where / file).stat().st_size for file in VIEWERS[name].files)


def address(where: Path, name: str) -> str:
    if name != "speedscope":
        return (where / VIEWERS[name].files[0]).resolve().as_uri()
    script = (where / "speedscope.js").absolute()
    index = (where / "speedscope" / "index.html").absolute()
    return f"{index.as_uri()}#{VIEWERS[name].fragment}&localProfilePath={script}"


def run(given: argparse.Namespace) -> None:
    known = _results(given.where)
    first = 1 + max((line["round"] for line in known), default=0)
    for number in range(first, first + given.rounds):
        # No viewer is always the first after the others.
        turn = number % len(given.viewers)
        for name in given.viewers[turn:] + given.viewers[:turn]:
            got = measure(VIEWERS[name], address(given.where, name))
            line = json.dumps({"round": number, "viewer": name, **got}, ensure_ascii=False)
            print(line, flush=True)
            with (given.where / RESULTS).open("a", encoding="utf-8") as out:
                out.write(line + "\n")


def _results(where: Path) -> list[dict[str, Any]]:
    path = where / RESULTS
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def table(given: argparse.Namespace) -> None:
    rounds: dict[str, dict[int, dict[str, Any]]] = {}
    for line in _results(given.where):
        rounds.setdefault(line["viewer"], {})[line["round"]] = line
        if "fault" in line:
            print(f"{line['viewer']}, round {line['round']}: {line['fault']}")
    ours = rounds.get(EMBERSCOPE.name, {})
    names = list(rounds)
    print(f"| | {' | '.join(names)} |\n|---|" + "---|" * len(names))
    print(f"| rounds | {' | '.join(str(len(rounds[name])) for name in names)} |")
    print(f"| size, MB | {' | '.join(f'{_size(given.where, name) / 1e6:.1f}' for name in names)} |")
    for key, words in (MEASURES | MEMORY).items():
        cells = [_spread([line[key] for line in rounds[name].values() if key in line]) for name in names]
        print(f"| {words} | {' | '.join(cells)} |")
    others = [name for name in names if name != EMBERSCOPE.name]
    print(f"\n| by {EMBERSCOPE.name}'s | {' | '.join(others)} |\n|---|" + "---|" * len(others))
    for key, words in (MEASURES | MEMORY).items():
        cells = []
        for name in others:
            both = [n for n, line in rounds[name].items() if key in line and ours.get(n, {}).get(key)]
            cells.append(_spread([rounds[name][n][key] / ours[n][key] for n in both]))
        print(f"| {words} | {' | '.join(cells)} |")


def _spread(values: list[float]) -> str:
    if not values:
        return ""
    digits = 0 if statistics.median(values) >= 20 else 1
    middle, least, most = (f"{value:,.{digits}f}" for value in (statistics.median(values), min(values), max(values)))
    return f"{middle} [{least}–{most}]"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    making = verbs.add_parser("make")
    making.set_defaults(act=make)
    making.add_argument("out", type=Path)
    making.add_argument("--nodes", type=int, default=1_000_000)
    making.add_argument("--jar", type=Path, help="jfr-converter of async-profiler")
    making.add_argument("--java", default="java")
    making.add_argument("--npm", type=Path, metavar="DIR", help="holds node_modules")
    measuring = verbs.add_parser("measure")
    measuring.set_defaults(act=run)
    measuring.add_argument("where", type=Path)
    measuring.add_argument("--rounds", type=int, default=7)
    for sub in (making, measuring):
        sub.add_argument("--viewers", nargs="+", choices=list(VIEWERS), default=list(VIEWERS))
    showing = verbs.add_parser("table")
    showing.set_defaults(act=table)
    showing.add_argument("where", type=Path)
    given = parser.parse_args()
    given.act(given)
    return 0


if __name__ == "__main__":
    sys.exit(main())
