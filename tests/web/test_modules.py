"""The page modules against Python: what the browser unpacks, sums, lays out and finds is what numpy says."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from selenium import webdriver

from emberscope.profile.ancestry import depths
from emberscope.profile.flame_data import flame_data
from emberscope.profile.flame_tree import FlameData
from emberscope.profile.pack import pack_flame
from emberscope.report.assets import joined
from tests.profile.strategies import recording, rows
from tests.web.browser import chromium

pytestmark = pytest.mark.browser

ASK = """
const [packed, event, stage, pattern, done] = arguments;
inflate(packed).then((buffer) => {
  const flame = unpack(buffer);
  const choice = soundChoice(flame, { ...EVERYTHING, event, stage });
  const layout = layOut(flame, weigh(flame, choice));
  const found = search(flame, layout, new RegExp(pattern, 'i'));
  const levels = [];
  for (let d = 0; d + 1 < layout.bounds.length; d++) {
    levels.push([...layout.order.subarray(layout.bounds[d], layout.bounds[d + 1])]);
  }
  const { selfs, totals } = weighFrames(flame, layout.selfs, layout.totals, 0);
  done({
    choice, levels, names: flame.names, depths: [...flame.depths], parents: [...flame.parents],
    labels: [...flame.labels], ends: [...flame.ends], starts: [...layout.starts], totals: [...layout.totals],
    selfs: [...layout.selfs], hits: found.hits.length, matched: matchedWeight(flame, layout.totals, found, 0),
    frameSelfs: [...selfs], frameTotals: [...totals],
    under: levels.map((_, d) => layout.totals[0] > 0 ? nodeAt(layout, d, layout.totals[0] / 2) : -1),
  });
}, (error) => done(String(error)));
"""
SCRIPT = joined(
    ["flame/unpack.js", "flame/layout.js", "flame/search.js", "flame/facets.js", "flame/format.js", "flame/top.js"]
)


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    with chromium() as browser:
        yield browser


def ask(browser: webdriver.Chrome, flame: FlameData, event: str, stage: str, pattern: str) -> Any:
    packed = base64.b64encode(pack_flame(flame)).decode()
    body = SCRIPT.removeprefix("(() => {").removesuffix("})();\n") + ASK
    return browser.execute_async_script(body, packed, event, stage, pattern)


def paths(flame: FlameData) -> list[list[str]]:
    result: list[list[str]] = []
    for parent, frame in zip(flame.parents.tolist(), flame.frames.tolist(), strict=True):
        result.append([] if parent < 0 else [*result[parent], flame.names[frame]])
    return result


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows().filter(bool),
    st.sampled_from(["cpu", "wall"]),
    st.integers(0, 3),
    st.sampled_from(["a", "spark", "^b$", "x"]),
)
def test_prop_the_browser_sees_what_python_packed(browser, samples, event, stage, pattern):
    recorded = recording(samples)
    flame = flame_data(recorded.samples, recorded.stacks, recorded.frames)
    told = ask(browser, flame, event, str(stage), pattern)
    assert told["names"] == list(flame.names)
    assert told["parents"] == flame.parents.tolist()
    assert told["labels"] == flame.frames.tolist()
    assert told["depths"] == depths(flame.parents).tolist()

    stages, events = flame.values("stage"), [name for name, _ in flame.events]
    assert told["choice"]["event"] == (event if event in events else events[0])
    assert told["choice"]["stage"] == (str(stage) if stage in stages else "")
    tree = flame.tree(told["choice"]["event"], {"stage": stage} if stage in stages else None)
    totals = tree.totals().tolist()
    assert told["selfs"] == tree.self_weights.tolist()
    assert told["totals"] == totals

    # Children stand side by side from their caller's left edge; the rest of its width is its own.
    cursor: dict[int, int] = {}
    for node, parent in enumerate(flame.parents.tolist()):
        start = 0 if parent < 0 else cursor.get(parent, told["starts"][parent])
        assert told["starts"][node] == start
        cursor[parent] = start + totals[node]
    below = [[n for n, path in enumerate(paths(flame)) if len(path) == d and (totals[n] or n == 0)] for d in range(9)]
    assert told["levels"] == [level for level in below if level]
    for depth, node in enumerate(told["under"]):
        middle = totals[0] / 2
        at = [n for n in below[depth] if told["starts"][n] <= middle < told["starts"][n] + totals[n]]
        assert [node] == (at or [-1])

    expression = re.compile(pattern, re.IGNORECASE)
    matching = [any(expression.search(name) for name in path) for path in paths(flame)]
    assert told["matched"] == sum(w for w, m in zip(tree.self_weights.tolist(), matching, strict=True) if m)
    assert told["hits"] == sum(1 for n, p in enumerate(paths(flame)) if p and totals[n] and expression.search(p[-1]))
    for frame, name in enumerate(flame.names):
        through = [w for w, path in zip(tree.self_weights.tolist(), paths(flame), strict=True) if name in path]
        ended = [w for w, path in zip(tree.self_weights.tolist(), paths(flame), strict=True) if path[-1:] == [name]]
        assert (told["frameTotals"][frame], told["frameSelfs"][frame]) == (sum(through), sum(ended))


def test_weights_beyond_32_bits_arrive_whole(browser):
    recorded = recording([{"stack": ["a"], "event": "alloc", "count": 1, "value": 2**52 + 1}])
    told = ask(browser, flame_data(recorded.samples, recorded.stacks, recorded.frames), "alloc", "", "a")
    assert told["totals"] == [2**52 + 1, 2**52 + 1]


def test_very_deep_stacks_are_laid_out(browser):
    recorded = recording([{"stack": [f"f{i % 7}" for i in range(3000)], "event": "cpu", "count": 2}])
    told = ask(browser, flame_data(recorded.samples, recorded.stacks, recorded.frames), "cpu", "", "f6")
    assert (len(told["levels"]), told["matched"], told["depths"][-1]) == (3001, 2, 3000)
