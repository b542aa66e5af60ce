"""How long does the page take to choose weight columns? `page_slices.py`, in a real Chromium.

Made-up columns: of an event, a stage, an executor and a piece of time each, with the self weights of as many nodes as
give the number of cells that is asked for. A slice is weighed 7 times: the median, the least and the most of the times.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.web.browser import chromium
from tests.web.flame_modules import install

SLICES = ("", "stage=7", "executor=3", "from=600&to=660", "stage=7&executor=3")
ROUNDS = 7
WEIGH = """
const [columns, cells, size, slices, rounds] = arguments;
const ids = (count) => Array.from({ length: count }, (_, place) => String(place));
const each = cells / columns;
let seed = 7;
const random = (below) => (seed = (seed * 48271) % 2147483647) % below;
const bounds = Uint32Array.from({ length: columns + 1 }, (_, column) => Math.round(column * each));
const nodes = Uint32Array.from({ length: cells }, () => random(size));
for (let column = 0; column < columns; column++) nodes.subarray(bounds[column], bounds[column + 1]).sort();
const places = (count) => Int32Array.from({ length: columns }, () => 1 + random(count));
const flame = {
  size,
  events: [['cpu', 'samples']],
  columns: {
    count: columns,
    event: new Int32Array(columns),
    places: { stage: places(50), executor: places(20), time: places(1800) },
    bounds,
  },
  cells: { nodes, weights: Uint8Array.from({ length: cells }, () => 1 + random(9)) },
  values: { stage: ids(50), executor: ids(20) },
  time: { bucket: 1, first: 0, count: 1800 },
  tasks: [],
};
return slices.map((slice) => {
  const times = [];
  let weight = 0;
  for (let round = 0; round < rounds; round++) {
    const begin = performance.now();
    const selfs = parts.weigh(flame, parts.readChoice(flame, new URLSearchParams(slice)));
    times.push(performance.now() - begin);
    weight = selfs.reduce((sum, own) => sum + own, 0);
  }
  return [times, weight];
});
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, default=100_000)
    parser.add_argument("--cells", type=int, default=3_000_000)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    given = parser.parse_args()
    with chromium() as browser:
        install(browser)
        browser.set_script_timeout(120)
        found = browser.execute_script(WEIGH, given.columns, given.cells, given.nodes, SLICES, ROUNDS)
    print("| slice | ms | weight |\n|---|---|---|")
    for slice_, (times, weight) in zip(SLICES, found, strict=True):
        spread = f"{statistics.median(times):.1f} [{min(times):.1f}–{max(times):.1f}]"
        print(f"| {slice_ or 'all'} | {spread} | {weight:,.0f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
