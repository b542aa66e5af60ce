"""How large is the report of a long run, and how fast is it sliced? `page_size.py RUN [-o FILE.html]`.

RUN is a recorded run; `page_run.py` makes of it one of 30 minutes on 20 executors of 4 slots, sampled at 20 Hz (or what
the options say). Prints the size of the flame data and of the whole page, the processor time to make them, and what a
real Chromium takes to open the page and to show slices of it: from the change of the address to the picture, painted.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from page_run import spread
from tests.web.browser import chromium

from emberscope.profile.flame_data import flame_data
from emberscope.profile.pack import pack_flame
from emberscope.report.diagnosis import diagnose
from emberscope.report.page import report_page
from emberscope.sources.run import load_run

SLICES = (
    "event=alloc",
    "stage=7",
    "stage=7&task=slow",
    "stage=7&task=median",
    "executor=3",
    "from=600&to=660",
    "from=0&to=1500&executor=3",
    "sql=2",
    "",
)
WATCH = """
new MutationObserver((changes) => {
  for (const { target } of changes) {
    if (target.localName !== 'x-flame' || target.dataset.state !== 'ready' || window.readyMs) continue;
    window.readyMs = performance.now();
    requestAnimationFrame(() => requestAnimationFrame(() => { window.paintedMs = performance.now(); }));
  }
}).observe(document, { subtree: true, attributes: true, attributeFilter: ['data-state'] });
"""
SLICE = """
const [fragment, done] = arguments;
const begin = performance.now();
addEventListener('hashchange', () => requestAnimationFrame(() => requestAnimationFrame(
  () => done([performance.now() - begin, document.querySelector('.flame-path button').textContent]))), { once: true });
location.hash = fragment;
"""
T = TypeVar("T")


def timed(what: str, make: Callable[[], T]) -> T:
    begin = time.process_time()
    made = make()
    print(f"{what:24} {time.process_time() - begin:6.2f} s of processor time")
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("-o", "--output", default="page_size.html")
    parser.add_argument("--executors", type=int, default=20)
    parser.add_argument("--slots", type=int, default=4)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--hz", type=float, default=20)
    parser.add_argument("--openings", type=int, default=5)
    given = parser.parse_args()
    recorded = load_run(Path(given.run))
    run = spread(recorded, executors=given.executors, slots=given.slots, minutes=given.minutes, hz=given.hz)
    tables = run.tables
    print(f"{tables['samples'].num_rows:,} samples, {tables['tasks'].num_rows:,} tasks")
    parts = (tables["samples"], tables["stacks"], tables["frames"], tables["tasks"])
    flame = timed("flame data", lambda: flame_data(*parts, start_ns=0))
    packed = timed("packing", lambda: pack_flame(flame))
    print(f"{len(flame.parents):,} nodes, {len(flame.event_places):,} columns, {len(flame.nodes):,} cells")
    print(f"packed {len(packed) / 1e6:.2f} MB, buckets of {(flame.bucket_ns or 0) / 1e9:g} s", *flame.notes)
    item = diagnose(run)
    html = timed("page, with all of it", lambda: report_page(item))
    path = Path(given.output).resolve()
    path.write_text(html, encoding="utf-8")
    print(f"the page: {path.stat().st_size / 1e6:.2f} MB")
    openings: list[tuple[float, float]] = []
    with chromium() as browser:
        browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
        for _ in range(given.openings):
            browser.get("about:blank")
            browser.get(path.as_uri())
            while not browser.execute_script("return window.paintedMs"):
                time.sleep(0.1)
            openings.append(tuple(browser.execute_script("return [window.readyMs, window.paintedMs]")))
        ready, painted = (statistics.median(column) for column in zip(*openings, strict=True))
        print(
            f"opens: flame graph ready after {ready:.0f} ms, painted after {painted:.0f} ms ({given.openings} openings)"
        )
        for fragment in SLICES:
            took = [browser.execute_async_script(SLICE, again) for again in ("#stage=1", f"#{fragment or 'event='}")]
            ms, said = took[-1]
            print(f"  #{fragment:28} {ms:5.0f} ms  {said}")


if __name__ == "__main__":
    main()
