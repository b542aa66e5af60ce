"""What is done to stacks in the browser against the same done in Python to plain lists of names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from selenium import webdriver

from tests.web.browser import chromium
from tests.web.flame_modules import Stack, install, packed

pytestmark = pytest.mark.browser

A, B, C, D = "p.q.Ash.a", "p.q.Birch.b", "p.r.Cedar.c", "main"
NAMES = (A, B, C, D, "p.qq.Elm.d,%", "Ü;/:")
NO_STACK = "[no stack]"

ASK = """
const [data, shape, near, done] = arguments;
const p = window.parts;
p.inflate(data).then((buffer) => {
  const flame = p.unpack(buffer);
  const selfs = p.weigh(flame, p.readChoice(flame, new URLSearchParams()));
  const steps = p.parseShape(shape);
  const base = p.shapeStacks(flame, [selfs], steps);
  const shown = p.shownStacks(base, steps, near);
  const stacks = ({ tree, selfs }) => {
    const rows = [];
    for (let node = 0; node < tree.size; node++) {
      const path = [];
      for (let at = node; at > 0; at = tree.parents[at]) path.unshift(tree.names[tree.labels[at]]);
      rows.push([path, selfs[0][node], tree.depths[node], tree.ends[node], tree.parents[node]]);
    }
    return rows;
  };
  done({
    main: stacks(shown.main), callers: shown.callers && stacks(shown.callers),
    whole: stacks(p.wholeStacks(base, steps)),
    dropped: base.dropped, matched: base.matched, text: p.shapeText(steps),
  });
}).catch((error) => done(String(error.stack)));
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    with chromium() as browser:
        install(browser)
        yield browser


def ask(browser: webdriver.Chrome, stacks: Counter[Stack], shape: str) -> Any:
    told = browser.execute_async_script(ASK, packed(list(stacks.items())), shape, [])
    assert isinstance(told, dict), told
    return told


def cut_at_loops(stack: Stack, meant: Callable[[str], bool]) -> Stack:
    kept: list[str] = []
    for name in stack:
        if meant(name) and name in kept:
            del kept[kept.index(name) + 1 :]
        else:
            kept.append(name)
    return tuple(kept)


def meaning(target: str) -> Callable[[str], bool]:
    sign, text = target[0], target[1:]
    if sign == ":":
        return lambda name: name == text
    if sign == "*":
        return lambda name: name.startswith(text)
    if sign == "/":
        return lambda name: re.search(text, name, re.IGNORECASE) is not None
    return lambda name: name == NO_STACK if text == "none" else name not in (NO_STACK,)


def done_in_python(stacks: Counter[Stack], kind: str, target: str) -> Counter[Stack]:
    result: Counter[Stack] = Counter()
    meant = meaning(target) if target else lambda name: True
    for stack, weight in stacks.items():
        places = [place for place, name in enumerate(stack) if meant(name)]
        if kind == "hide":
            new = None if places else stack
        elif kind == "merge":
            new = tuple(name for name in stack if not meant(name))
        elif kind == "focus":
            new = stack[places[0] :] if places else None
        elif kind == "callers":
            new = stack[: places[-1] + 1] if places else None
        elif kind == "direct":
            new = tuple(name for place, name in enumerate(stack) if place == 0 or stack[place - 1] != name)
        else:
            new = cut_at_loops(stack, meant)
        if new is not None:
            result[new] += weight
    return result


def told_stacks(rows: list[Any]) -> Counter[Stack]:
    """The stacks of a tree, after a look at its form."""
    paths = [tuple(path) for path, *_ in rows]
    assert len(set(paths)) == len(paths)  # no two siblings of one name
    totals = [sum(weight for _, weight, *_ in rows[node:end]) for node, (_, _, _, end, _) in enumerate(rows)]
    for node, (path, _, depth, end, parent) in enumerate(rows):
        assert depth == len(path)
        below = [other for other in range(len(paths)) if paths[other][:depth] == tuple(path)]
        assert below == list(range(node, end))  # depth first
        assert parent == (paths.index(paths[node][:-1]) if path else -1)
        callees = [totals[other] for other in below if len(paths[other]) == depth + 1]
        assert callees == sorted(callees, reverse=True) or callees == []
    return Counter({tuple(path): int(weight) for path, weight, *_ in rows if weight})


STACKS = st.lists(
    st.tuples(st.lists(st.sampled_from(NAMES), max_size=9).map(tuple), st.integers(1, 9)), min_size=1, max_size=14
)
TARGETS = st.sampled_from([f":{A}", f":{D}", f":{NAMES[4]}", f":{NAMES[5]}", "*p.q.", "*p.", "/sh|ed", "/^p", "@none"])
STEPS = st.one_of(
    st.tuples(st.sampled_from(["hide", "merge", "focus", "callers", "collapse"]), TARGETS),
    st.tuples(st.sampled_from(["recursion", "direct"]), st.just("")),
)


def address(kind: str, target: str) -> str:
    return kind + target.replace("%", "%25").replace(",", "%2C")


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STACKS, st.lists(STEPS, min_size=1, max_size=3))
@example([((A, B, A, C, B, C), 3), ((A, B, C), 1), ((A, B, A, B, D), 2)], [("recursion", "")])
@example([((A, B, B, B, A), 3), ((A, B), 1)], [("collapse", f":{A}"), ("direct", "")])
def test_prop_steps_do_what_they_do_to_plain_stacks(browser, given_stacks, steps):
    stacks: Counter[Stack] = Counter()
    for stack, weight in given_stacks:
        stacks[stack or (NO_STACK,)] += weight
    told = ask(browser, stacks, ",".join(address(*step) for step in steps))
    dropped = []
    for kind, target in steps:
        before = stacks.total()
        stacks = done_in_python(stacks, kind, target)
        dropped.append([before - stacks.total()])
    assert told_stacks_of_data(told["main"]) == stacks
    assert told["dropped"] == dropped
    assert told["text"] == ",".join(address(*step) for step in steps)


def told_stacks_of_data(rows: list[Any]) -> Counter[Stack]:
    """As `told_stacks`; the tree of the data has its own order of siblings, and nodes without weight."""
    return Counter({tuple(path): int(weight) for path, weight, *_ in rows if weight})


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STACKS, st.none() | STEPS)
def test_prop_leaf_first_is_every_stack_reversed(browser, given_stacks, step):
    stacks: Counter[Stack] = Counter()
    for stack, weight in given_stacks:
        stacks[stack or (NO_STACK,)] += weight
    told = ask(browser, stacks, ",".join(["reverse", *([address(*step)] if step else [])]))
    if step:
        stacks = done_in_python(stacks, *step)
    assert told_stacks(told["main"]) == Counter({stack[::-1]: weight for stack, weight in stacks.items()})
    assert told_stacks_of_data(told["whole"]) == stacks


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STACKS, st.sampled_from([A, B, C, D]))
def test_prop_a_sandwich_parts_each_stack_at_the_outermost_call(browser, given_stacks, name):
    stacks: Counter[Stack] = Counter()
    for stack, weight in given_stacks:
        stacks[stack or (NO_STACK,)] += weight
    told = ask(browser, stacks, f"sandwich:{name}")
    callees, callers, through = Counter[Stack](), Counter[Stack](), Counter[Stack]()
    for stack, weight in stacks.items():
        if name in stack:
            first = stack.index(name)
            callees[stack[first:]] += weight
            callers[stack[first::-1]] += weight
            through[stack] += weight
    assert told_stacks(told["main"]) == callees
    assert told_stacks(told["callers"]) == callers
    assert told_stacks_of_data(told["whole"]) == through


DEEP = """
const [data, shape, done] = arguments;
const p = window.parts;
p.inflate(data).then((buffer) => {
  const flame = p.unpack(buffer);
  const selfs = p.weigh(flame, p.readChoice(flame, new URLSearchParams()));
  const steps = p.parseShape(shape);
  const { main } = p.shownStacks(p.shapeStacks(flame, [selfs], steps), steps, []);
  const deepest = p.layOut(main.tree, main.selfs[0]).bounds.length - 2;
  done([main.tree.size - 1, deepest, [...main.selfs[0]].reduce((sum, weight) => sum + weight)]);
}).catch((error) => done(String(error.stack)));
"""


def test_very_deep_and_recursive_stacks_need_no_recursion_of_ours(browser):
    deep: Stack = tuple(NAMES[place % 4] for place in range(20_000))
    data = packed([(deep, 2), (deep[:10_001], 1)])
    assert browser.execute_async_script(DEEP, data, "recursion") == [4, 4, 3]
    assert browser.execute_async_script(DEEP, data, f"merge:{A}") == [15_000, 15_000, 3]
    # One ends with the frame that the other has next to its end, so that they part at once.
    assert browser.execute_async_script(DEEP, data, "reverse") == [30_001, 20_000, 3]


def test_what_an_address_holds_that_is_no_step_is_left_out(browser):
    told = ask(browser, Counter({(A,): 1}), f"nonsense,hide,focus*,hide:{B},reverse:x,,/,recursion")
    assert told["text"] == f"hide:{B},recursion"
    assert told["matched"] == [False, True]


CUT = """
// Chains of 60 frames, 60,000 of them: too many cells to lay all of it out. One in a hundred is heavy.
const [near] = arguments;
const p = window.parts;
const count = 60_000, depth = 60, names = [...Array(400).keys()].map((place) => `n${place}`);
const size = count * depth + 1;
const parents = new Int32Array(size), labels = new Int32Array(size), depths = new Uint16Array(size);
const ends = new Uint32Array(size).fill(size), selfs = new Float64Array(size);
labels[0] = parents[0] = -1;
let random = 12345;
for (let chain = 0, node = 1; chain < count; chain++) {
  for (let level = 1; level <= depth; level++, node++) {
    random = (Math.imul(random, 1103515245) + 12345) >>> 0;
    parents[node] = level === 1 ? 0 : node - 1;
    labels[node] = (random >>> 16) % names.length;
    depths[node] = level;
    ends[node] = (chain + 1) * depth + 1;
  }
  selfs[node - 1] = chain % 100 === 0 ? 1000 : 1;
}
const tree = { size, parents, labels, depths, ends, names };
const { tree: made, selfs: [own], cut } = p.reversed({ tree, selfs: [selfs] }, near);
const totals = p.totalsOf(made, own);
const rows = [];
for (let node = 1; node < made.size; node++) {
  if (cut[node] && totals[node] >= totals[0] * 1e-5) rows.push('a heavy node is cut');
}
let at = 0;
for (const label of near) {
  let callee = at + 1;
  while (made.labels[callee] !== label) callee = made.ends[callee];
  at = callee;
}
let expected = 0;
for (let node = 1; node < size; node++) {
  if (selfs[node] > 0 && near.every((label, place) => labels[node - place] === label)) expected += selfs[node];
}
let below = 0, cuts = 0, deepest = 0;
for (let node = at + 1; node < made.ends[at]; node++) {
  if (made.parents[node] === at) below += totals[node];
  cuts += cut[node];
  deepest = Math.max(deepest, made.depths[node]);
}
return [rows.length, totals[0], totals[at], expected, below, cuts, deepest, [labels[60], labels[59]], made.size];
"""


def test_callers_too_narrow_to_see_are_laid_out_when_one_zooms_in(browser):
    bad, whole, _, _, below, cuts, _, light, size = browser.execute_script(CUT, [])
    assert (bad, whole, below) == (0, 600 * 1000 + 59_400, whole)
    assert (cuts > 10_000, size < 1_000_000) == (True, True)
    for path in (light[:1], light):
        bad, again, weight, expected, below, cuts, deepest, _, _ = browser.execute_script(CUT, path)
        assert (bad, again, weight, below) == (0, whole, expected, expected)
        assert (cuts, deepest) == (0, 60)
