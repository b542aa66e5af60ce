"""The viewers that are compared: the file of each, and how a script in its page does what a person does there.

A script of `Viewer.script` runs in the page before the page's own. It defines `window.viewer` with

- `ready()`: whether the whole graph has been handed over for drawing, asked for whenever the document changes;
- `prepareZoom(depth)`: finds the widest frame that is drawn `depth` below the root (1 is outermost), not timed;
- `zoom(prepared)`: a click on it; null where that is not measured;
- `zoomOut()`: back to all;
- `search(pattern)`: what a person presses to search, pattern given;
- `found()`: what the page says of the search.
"""

from __future__ import annotations

import base64
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from page_tree import Tree, write_collapsed, write_evented, write_nested

PATTERN = "parquet.*decode"
PLAIN_TEXT = "decode"
"""For speedscope, which knows no regular expressions."""


@dataclass(frozen=True)
class Viewer:
    """`make` writes the files of a tree for a directory of all its files; the page's address is `page` of it."""

    name: str
    make: Callable[[Tree, Path, Tools], None]
    files: tuple[str, ...]
    """What a person would have to send to somebody, the application itself not counted where it is not in it."""
    fragment: str
    script: str
    pattern: str = PATTERN
    more: tuple[str, ...] = ()
    """Steps that only this one has, done after all others."""


@dataclass(frozen=True)
class Tools:
    """Where the peers are: the converter's jar, and a directory with `node_modules`."""

    java: str
    jar: Path | None
    npm: Path | None

    def package(self, name: str) -> Path:
        if self.npm is None:
            raise SystemExit(f"--npm DIR is needed for {name}: npm install {name} there")
        return self.npm / "node_modules" / name


def _collapsed(tree: Tree, where: Path) -> Path:
    path = where / "tree.collapsed"
    if not path.exists():
        write_collapsed(tree, path)
    return path


def _make_ours(tree: Tree, where: Path, tools: Tools) -> None:
    emberscope = Path(sys.executable).with_name("emberscope")
    subprocess.run([emberscope, "flame", _collapsed(tree, where), "-o", where / "emberscope.html"], check=True)


def _make_async_profiler(tree: Tree, where: Path, tools: Tools) -> None:
    if tools.jar is None:
        raise SystemExit("--jar is needed: tools.profiler:jfr-converter of Maven Central")
    command = [tools.java, "-jar", tools.jar, "-o", "html", _collapsed(tree, where), where / "async-profiler.html"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _make_speedscope(tree: Tree, where: Path, tools: Tools) -> None:
    """As `speedscope FILE` does: a script beside the application that hands the file over."""
    profile = where / "speedscope.json"
    write_evented(tree, profile)
    text = base64.b64encode(profile.read_bytes()).decode("ascii")
    (where / "speedscope.js").write_text(f'speedscope.loadFileFromBase64("tree.json", "{text}")', encoding="ascii")
    dist = tools.package("speedscope") / "dist"
    index = next(dist.rglob("index.html"))
    (where / "speedscope").unlink(missing_ok=True)
    (where / "speedscope").symlink_to(index.parent.resolve())


def _make_d3(tree: Tree, where: Path, tools: Tools) -> None:
    """One file, as others embed it: the libraries and the tree inline. Frames narrower than 5 px are left out."""
    nested = where / "d3.json"
    write_nested(tree, nested)
    d3 = tools.package("d3") / "dist" / "d3.min.js"
    flame = tools.package("d3-flame-graph") / "dist"
    (where / "d3-flame-graph.html").write_text(
        "<!DOCTYPE html><meta charset=utf-8><title>tree</title>"
        f"<style>{(flame / 'd3-flamegraph.css').read_text(encoding='utf-8')}</style><div id=chart></div>"
        f"<script>{d3.read_text(encoding='utf-8')}</script>"
        f"<script>{(flame / 'd3-flamegraph.umd.min.js').read_text(encoding='utf-8')}</script>"
        f"<script type=application/json id=tree>{nested.read_text(encoding='utf-8')}</script>"
        "<script>const chart = (flamegraph.default ?? flamegraph)();"
        "chart.width(innerWidth - 40).minFrameSize(5).transitionDuration(0);"
        "d3.select('#chart').datum(JSON.parse(document.getElementById('tree').textContent)).call(chart);</script>",
        encoding="utf-8",
    )


_POINTING = """
const mouse = (target, type, x, y) => target.dispatchEvent(new (type.startsWith('pointer') ? PointerEvent : MouseEvent)(
  type, { clientX: x, clientY: y, bubbles: true, cancelable: true, view: window, pointerType: 'mouse' }));
// The middle of the widest frame of a row: `at(x)` points there and says what the page says of it, `name|weight`.
const widest = (width, at) => {
  let best = { weight: 0 };
  for (let x = 1; x < width; x += 3) {
    const text = at(x);
    const weight = Number(/\\(?([\\d,]+) samples?/.exec(text)?.[1].replaceAll(',', '') ?? 0);
    if (weight > best.weight) best = { weight, from: x, to: x, text };
    else if (weight === best.weight && text === best.text) best.to = x;
  }
  return { x: (best.from + best.to) / 2, weight: best.weight };
};
const key = (target, init) => target.dispatchEvent(
  new KeyboardEvent('keydown', { bubbles: true, cancelable: true, ...init }));
"""

EMBERSCOPE = Viewer(
    "emberscope",
    _make_ours,
    ("emberscope.html",),
    "",
    _POINTING
    + """
window.viewer = {
  ready: () => document.querySelector('x-flame')?.dataset.state === 'ready',
  prepareZoom(depth) {
    const view = document.querySelector('.flame-main');
    const box = view.getBoundingClientRect();
    const y = box.top + 19 * depth + 9 - view.scrollTop;
    const found = widest(box.width, (x) => {
      mouse(view, 'pointermove', box.left + x, y);
      return document.querySelector('.flame-tip').textContent;
    });
    return { view, x: box.left + found.x, y, weight: found.weight };
  },
  zoom: ({ view, x, y }) => mouse(view, 'click', x, y),
  zoomOut: () => key(document.querySelector('.flame-main'), { key: 'Escape' }),
  search(pattern) {
    const input = document.querySelector('.flame-tools input');
    input.value = pattern;
    input.dispatchEvent(new Event('input', { bubbles: true }));
    key(input, { key: 'Enter' });
  },
  found: () => document.querySelector('.flame-found').textContent,
  // The table of all frames, and the callers and callees of the one that is first in it.
  top: () => document.querySelector('.flame-top summary').click(),
  sandwich: () => document.querySelector('.flame-top tbody button[data-does=sandwich]').click(),
};
""",
    more=("top", "sandwich"),
)

ASYNC_PROFILER = Viewer(
    "async-profiler",
    _make_async_profiler,
    ("async-profiler.html",),
    "",
    _POINTING
    + """
window.viewer = {
  ready: () => document.readyState !== 'loading',
  prepareZoom(depth) {
    const view = document.getElementById('canvas');
    const box = view.getBoundingClientRect();
    const y = box.bottom - 16 * depth - 8;
    const found = widest(box.width, (x) => {
      mouse(view, 'mousemove', box.left + x, y);
      return view.title;
    });
    mouse(view, 'mousemove', box.left + found.x, y);
    return { view, x: box.left + found.x, y, weight: found.weight };
  },
  zoom: ({ view, x, y }) => mouse(view, 'click', x, y),
  zoomOut: () => key(window, { key: '0' }),
  search(pattern) {
    window.prompt = () => pattern;
    key(window, { key: 'f', ctrlKey: true });
  },
  found: () => document.getElementById('match').textContent,
};
""",
)

D3 = Viewer(
    "d3-flame-graph",
    _make_d3,
    ("d3-flame-graph.html",),
    "",
    _POINTING
    + """
window.viewer = {
  ready: () => document.querySelector('#chart rect') !== null,
  prepareZoom(depth) {
    let best = null;
    const width = (node) => node.x1 - node.x0;
    for (const group of document.querySelectorAll('#chart g')) {
      const node = group.__data__;
      if (node?.depth !== depth || node.data.fade) continue;
      if (best === null || width(node) > width(best.__data__)) best = group;
    }
    return { view: best, x: 0, y: 0, weight: best.__data__.value };
  },
  zoom: ({ view }) => mouse(view, 'click', 0, 0),
  zoomOut: () => chart.resetZoom(),
  search: (pattern) => chart.search(pattern),
  found: () => '',
};
""",
)

SPEEDSCOPE = Viewer(
    "speedscope",
    _make_speedscope,
    ("speedscope.json",),
    "view=left-heavy",
    _POINTING
    + """
window.viewer = {
  ready: () => document.title.startsWith('tree') && document.querySelector('canvas') !== null,
  prepareZoom: () => null,
  zoom: null,
  search(pattern) {
    key(window, { key: 'f', code: 'KeyF', ctrlKey: true });
    return new Promise((done) => requestAnimationFrame(() => {
      const input = document.querySelector('input[type=text], input:not([type=file])');
      input.value = pattern;
      input.dispatchEvent(new Event('input', { bubbles: true }));
      done();
    }));
  },
  found: () => document.body.textContent.slice(-200),
};
""",
    PLAIN_TEXT,
)

VIEWERS = {viewer.name: viewer for viewer in (EMBERSCOPE, ASYNC_PROFILER, SPEEDSCOPE, D3)}
