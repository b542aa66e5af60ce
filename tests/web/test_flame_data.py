"""The page's side of the flame data against Python's: what is unpacked, chosen and summed is what was packed."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emberscope.profile.ancestry import depths
from emberscope.profile.flame_data import flame_data
from emberscope.profile.flame_tree import FlameData
from emberscope.profile.pack import pack_flame, unpack_flame
from tests.profile.strategies import recording, rows
from tests.profile.test_flame_data import TASKS
from tests.web.node import modules

ANSWER = """
const answer = async (packed, asked, versus) => {
  const flame = unpack(await inflate(packed));
  const choice = readChoice(flame, new URLSearchParams(asked));
  const other = otherChoice(flame, choice, versus);
  const plain = (value) => ArrayBuffer.isView(value) ? [...value] : value;
  const options = Object.fromEntries(FACETS.map((facet) => [facet, facetOptions(flame, choice, facet)]));
  return {
    flame: Object.fromEntries(Object.entries(flame).map(([name, value]) => [name, plain(value)])),
    columns: Object.fromEntries(Object.entries(flame.columns).map(([name, value]) => [name, plain(value)])),
    places: Object.fromEntries(Object.entries(flame.columns.places).map(([name, value]) => [name, [...value]])),
    cells: [[...flame.cells.nodes], [...flame.cells.weights]],
    choice, other, options, range: drawnRange(flame, choice), state: choiceState(flame, choice),
    selfs: [...weigh(flame, choice)], others: other && [...weigh(flame, other)],
    columnsChosen: [...chosenColumns(flame, choice)].map((column) => FACETS.map((f) => facetValue(flame, column, f))),
    choosable: FACETS.filter((facet) => isChoosable(flame, choice, facet)),
  };
};
"""
FACETS = ("sql", "stage", "attempt", "executor", "role", "state", "task")
HOSTILE = st.one_of(
    st.text(st.characters(), max_size=12),  # surrogates that stand alone are characters too
    st.sampled_from(
        [
            "</script><script>alert(1)</script>",
            "<!--",
            "\"'`&quot;${1}{{7*7}}",
            "\u202eabc\u2066\u200f",
            "\ud83d",
            "\udca9\ud83d",
            "__proto__",
            "constructor",
            "\x00\u2028\u2029\ufeff",
            "x" * 10_000,
            "",
        ]
    ),
)


@pytest.fixture(scope="module")
def ask() -> Iterator[Callable[..., Any]]:
    with modules(["flame/unpack.js", "flame/facets.js"], ANSWER) as asked:
        yield asked


def tell(ask: Callable[..., Any], flame: FlameData, asked: str = "", versus: str = "") -> Any:
    return ask(base64.b64encode(pack_flame(flame)).decode(), asked, versus)


def data(samples: list[dict[str, Any]]) -> FlameData:
    """Two slow and two median tasks of stage 0; times by 20 ms from 3 ms."""
    timed = [{**row, "time_ns": row["time_ns"] * 17_000_000} for row in samples]
    recorded = recording(timed)
    return flame_data(recorded.samples, recorded.stacks, recorded.frames, TASKS, 3_000_000)


@st.composite
def hostile(draw: st.DrawFn) -> FlameData:
    """Data whose names, and the values of whose facets, are anything at all."""
    flame = data(draw(rows()))
    names = draw(st.lists(HOSTILE, min_size=len(flame.names), max_size=len(flame.names), unique=True))
    facets = dict(flame.facets)
    for name in ("state", "executor", "role"):
        if name in facets:
            count = len(facets[name].values)
            values = draw(st.lists(HOSTILE, min_size=count, max_size=count, unique=True))
            facets[name] = replace(facets[name], values=tuple(values))
    return replace(flame, names=tuple(names), facets=facets, notes=tuple(draw(st.lists(HOSTILE, max_size=2))))


@settings(max_examples=150, deadline=None)
@given(hostile())
def test_prop_the_page_unpacks_what_python_packed(ask, flame):
    told = tell(ask, flame)
    now = told["flame"]
    assert now["names"] == list(flame.names)
    assert [now["kindNames"][kind] for kind in now["kinds"]] == list(flame.kinds)
    assert now["parents"] == flame.parents.tolist()
    assert now["labels"] == flame.frames.tolist()
    assert now["depths"] == depths(flame.parents).tolist()
    assert now["events"] == [list(event) for event in flame.events]
    assert now["notes"] == list(flame.notes)
    assert told["columns"]["event"] == flame.event_places.tolist()
    assert told["columns"]["bounds"] == flame.bounds.tolist()
    assert told["cells"] == [flame.nodes.tolist(), flame.weights.tolist()]
    assert told["places"] == {name: facet.places.tolist() for name, facet in flame.facets.items()}
    values = {name: [str(v) for v in facet.values] for name, facet in flame.facets.items() if name != "time"}
    assert now["values"] == values
    assert now["tasks"] == [{"stage": str(t.stage_id), "runMs": t.run_ms, "group": t.group} for t in flame.tasks]
    if "time" in flame.facets:
        buckets = flame.facets["time"].values
        assert now["time"] == {"bucket": flame.bucket_ns / 1e9, "first": buckets[0], "count": len(buckets)}
    assert unpack_flame(pack_flame(flame)).names == flame.names


CHOICES = st.fixed_dictionaries(
    {"event": st.sampled_from(["cpu", "alloc", "wall"])},
    optional={
        "sql": st.sampled_from(["0", "1", "none"]),
        "stage": st.sampled_from(["0", "1", "none", "77"]),
        "attempt": st.sampled_from(["0", "1", "none"]),
        "executor": st.sampled_from(["1", "2", "none"]),
        "role": st.sampled_from(["driver", "executor", "none"]),
        "state": st.sampled_from(["STATE_RUNNABLE", "none", "__proto__"]),
        "task": st.sampled_from(["9", "8", "5", "slow", "median", "none", "1"]),
        "from": st.sampled_from(["0", "0.02", "0.05", "-1", "0.1", "x", "", "1e9"]),
        "to": st.sampled_from(["0", "0.04", "0.07", "0.3", "NaN", "Infinity"]),
    },
)


def chosen(flame: FlameData, choice: dict[str, str]) -> np.ndarray:
    """The self weights of a sound choice, column by column, from the samples' own values."""
    selfs = np.zeros(len(flame.parents), np.int64)
    group = {str(task.task_id): task.group for task in flame.tasks}
    low = float(choice["from"]) if choice["from"] else float("-inf")
    high = float(choice["to"]) if choice["to"] else float("inf")
    for column, (begin, end) in enumerate(zip(flame.bounds[:-1], flame.bounds[1:], strict=True)):
        value = {n: [None, *f.values][f.places[column]] for n, f in flame.facets.items()}
        fits = flame.events[flame.event_places[column]][0] == choice["event"]
        for name in FACETS:
            mine = "none" if value.get(name) is None else str(value[name])
            fits &= choice[name] in ("", mine) or (name == "task" and choice[name] == group.get(mine, ""))
        if choice["from"] or choice["to"]:
            bucket = value.get("time")
            length = (flame.bucket_ns or 0) / 1e9
            fits &= bucket is not None and (bucket + 1) * length > low + 1e-9 and bucket * length < high - 1e-9
        if fits:
            selfs[flame.nodes[begin:end]] += flame.weights[begin:end]
    return selfs


def query(choice: dict[str, str]) -> str:
    return "&".join(f"{key}={value}" for key, value in choice.items())


@settings(max_examples=300, deadline=None)
@given(rows().filter(bool), CHOICES, st.dictionaries(st.sampled_from(["task", "stage", "to"]), st.just(""), max_size=2))
def test_prop_a_choice_sums_the_columns_that_it_asks_for(ask, samples, asked, versus):
    flame = data(samples)
    different = {**versus, "role": "executor"}
    told = tell(ask, flame, query(asked), query(different))
    choice = told["choice"]
    events = [name for name, _ in flame.events]
    assert choice["event"] == (asked["event"] if asked["event"] in events else events[0])
    known = {name: {"none", *map(str, flame.values(name))} for name in FACETS}
    known["task"] |= {task.group for task in flame.tasks}
    for name in FACETS:
        assert choice[name] == (asked.get(name, "") if asked.get(name) in known[name] else "")
    assert told["selfs"] == chosen(flame, choice).tolist()
    assert told["other"] == {
        **choice,
        **dict.fromkeys(versus, ""),
        "role": "executor" if "executor" in known["role"] else "",
        "event": choice["event"],
    }
    assert told["others"] == chosen(flame, told["other"]).tolist()


@settings(max_examples=100, deadline=None)
@given(rows().filter(bool), CHOICES)
def test_prop_the_options_of_a_facet_add_up_to_what_is_chosen_without_it(ask, samples, asked):
    flame = data(samples)
    told = tell(ask, flame, query(asked))
    for facet in FACETS:
        whole = int(chosen(flame, {**told["choice"], facet: ""}).sum())
        options = [o for o in told["options"][facet] if o["value"] not in ("slow", "median")]
        if facet != "task" or told["choice"]["stage"] != "":
            assert sum(option["weight"] for option in options) == whole
        for option in told["options"][facet]:
            part = chosen(flame, {**told["choice"], facet: option["value"]})
            assert option["weight"] == int(part.sum())


def test_no_versus_is_no_comparison(ask):
    flame = data([{"stack": ["a"], "event": "cpu", "count": 1, "time_ns": 1}])
    assert tell(ask, flame)["other"] is None


def test_the_drawn_time_is_whole_buckets(ask):
    row = {"stack": ["a"], "event": "cpu", "count": 1}
    recorded = recording([{**row, "time_ns": second * 1_000_000_000} for second in range(100)])
    flame = flame_data(recorded.samples, recorded.stacks, recorded.frames, None, 0)
    assert flame.bucket_ns == 100_000_000
    for asked, drawn, samples in (
        ("from=3.25&to=5.01", {"from": 3.2, "to": 5.1}, 2),
        ("from=3&to=5", {"from": 3, "to": 5}, 2),
        ("from=0.30000000000000004", {"from": 0.3, "to": 99.1}, 99),
        ("to=-5", {"from": 0, "to": -5}, 0),
        ("from=5&to=3", None, 100),
        ("", None, 100),
    ):
        told = tell(ask, flame, asked)
        assert (told["range"], sum(told["selfs"])) == (drawn, samples), asked


def test_a_choice_goes_back_into_the_address(ask):
    flame = data([{"stack": ["a"], "event": "cpu", "count": 1, "stage_id": 2, "executor_id": "1", "time_ns": 0}])
    state = tell(ask, flame, "event=cpu&stage=2&executor=1&task=7&from=0&to=1.5")["state"]
    assert {key: value for key, value in state.items() if value} == {
        "stage": "2",
        "executor": "1",
        "from": "0",
        "to": "1.5",
    }


def test_only_what_leaves_a_choice_is_offered(ask):
    row = {"stack": ["a"], "event": "cpu", "count": 1, "time_ns": 0, "executor_id": "1", "role": "executor"}
    one = data([{**row, "stage_id": 2, "stage_attempt": 0, "task_id": 3}])
    assert tell(ask, one)["choosable"] == []
    more = data([{**row, "stage_id": 0, "stage_attempt": n % 2, "task_id": n} for n in range(10)] + [row])
    assert tell(ask, more)["choosable"] == ["stage", "attempt", "task"]
    assert tell(ask, more, "stage=none")["choosable"] == ["stage"]
