"""What is claimed of the runs, and which runs count. The runs here are made up; real ones take hours."""

from __future__ import annotations

import importlib
import json
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SETUP = {
    "machine": "a machine with 4 processors (made up), 1 GiB of memory, Linux 6.1",
    "processors": 4,
    "scale": 1,
    "warm_up": False,
    "spark": "4.3.0",
    "java": "17",
    "jar": "0",
    "async_profiler": None,
    "beside": False,
}


@pytest.fixture
def overhead(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("overhead")


def run(round_: int, key: str, cpu_s: float, *, own_s: float = 0.0, fault: str = "") -> dict[str, Any]:
    return {
        "setup": SETUP,
        "round": round_,
        "key": key,
        "cpu_s": cpu_s,
        "work_cpu_s": cpu_s / 2,
        "wall_s": cpu_s / 3,
        "work_wall_s": cpu_s / 4,
        "others_cpu_s": 0.0,
        "threads_s": {"emberscope-reco": own_s} if own_s else {},
        "other_threads_s": {
            "C2 CompilerThre": 0.2 * cpu_s,
            "C1 CompilerThre": 0.1 * cpu_s,
            "GC Thread#0": 0.05 * cpu_s,
        },
        "counts": {
            "waited": {"user_s": 0.9 * cpu_s, "system_s": 0.0, "processes": 3, "unasked_s": 0.1 * cpu_s},
            "seen": {"cpu_s": 0.99 * cpu_s, "processes": 3},
            "group": {"user_s": 0.75 * cpu_s, "system_s": 0.25 * cpu_s},
        },
        "own_cpu_s": 0.9 * own_s,
        "rate_ratio": 0.5,
        "outlived": [],
        "killed": 0,
        "bytes": 2_000_000,
        "fault": fault,
    }


def pairs(*ratios: float, own_s: float = 1.0) -> list[dict[str, Any]]:
    records = []
    for round_, ratio in enumerate(ratios):
        base = 100.0 + 10 * round_
        records += [run(round_, "queries/off", base), run(round_, "queries/on", ratio * base, own_s=own_s)]
    return records


def page(overhead: ModuleType, records: list[dict[str, Any]]) -> str:
    text: str = overhead.overhead_page.page(records, SETUP, overhead.JOBS, overhead.VARIANTS, {})
    return text


def claims(overhead: ModuleType, records: list[dict[str, Any]]) -> str:
    text = page(overhead, records)
    return text[text.index("## What is claimed") : text.index("## The recorder's own threads")]


def test_two_percent_are_claimed_of_seven_pairs_that_agree(overhead: ModuleType) -> None:
    said = claims(overhead, pairs(1.01, 1.012, 1.008, 1.01, 1.011, 1.009, 1.01))
    assert "**at most 2 %** (+1.0 % CPU, upper end +1.1 %, 7 pairs)" in said


@pytest.mark.parametrize(
    ("ratios", "why"),
    [
        ((1.01,) * 6, "nothing is claimed, for 7 pairs are needed"),
        ((1.03,) * 7, "at most 2 % is **not** claimed"),
        ((0.85, 1.2, 1.0, 0.9, 1.15, 0.95, 1.0), "at most 2 % is **not** claimed"),
    ],
    ids=["too few", "too much", "too uncertain"],
)
def test_it_is_not_claimed_of_less(overhead: ModuleType, ratios: tuple[float, ...], why: str) -> None:
    said = claims(overhead, pairs(*ratios))
    assert why in said
    assert "**at most" not in said


def test_a_run_with_a_fault_counts_for_nothing_and_is_named(overhead: ModuleType) -> None:
    fault = "2 of 3 JVMs were recorded"
    records = [*pairs(*(1.01,) * 7), run(7, "queries/off", 100), run(7, "queries/on", 900, fault=fault)]
    text = page(overhead, records)
    assert "(+1.0 % CPU, upper end +1.0 %, 7 pairs)" in text
    assert f"- `queries/on` of round 7: {fault} (CPU +800.0 % against the run without a recorder)." in text


@pytest.mark.parametrize("fault", ["exit code 1", "other answers than the runs before"])
def test_nothing_is_claimed_of_a_recorder_that_harmed_the_job(overhead: ModuleType, fault: str) -> None:
    records = [*pairs(*(1.01,) * 7), run(7, "queries/off", 100), run(7, "queries/on", 101, fault=fault)]
    assert "nothing is claimed, for of its runs 1 failed or answered otherwise." in claims(overhead, records)
    harmed_base = [*pairs(*(1.01,) * 7), run(7, "queries/off", 101, fault=fault)]
    assert "**at most 2 %**" in claims(overhead, harmed_base), "a machine that ends jobs is not the recorder's doing"


def test_a_run_is_compared_with_that_of_its_round(overhead: ModuleType) -> None:
    records = [run(0, "queries/off", 100), run(1, "queries/on", 300), run(2, "queries/off", 50)]
    records.append(run(2, "queries/on", 51))
    found = overhead.overhead_page.compared(records, "queries/on", "queries/off", "cpu_s")
    assert (found.pairs, found.mean) == (1, pytest.approx(1.02))


def test_own_threads_are_held_against_all_cpu_at_its_worst(overhead: ModuleType) -> None:
    assert "1.00 % at most, within 1.5 %" in page(overhead, pairs(1.0, 1.0, own_s=1.0))
    assert "2.00 % at most, **beyond** 1.5 %" in page(overhead, pairs(1.0, 1.0, own_s=2.0))


def test_where_the_cpu_went(overhead: ModuleType) -> None:
    text = page(overhead, [run(0, "queries/off", 100), run(0, "queries/on", 120, own_s=2)])
    assert "| nothing | 100.0 | 50.0 | 0.00 | 30.00 | 5.00 | 0.00 | 0.00 | 65.00 |" in text
    assert "| Emberscope as it comes | 120.0 | 60.0 | 2.00 | 36.00 | 6.00 | 0.00 | 0.00 | 76.00 |" in text


def test_what_the_recorder_says_of_itself_stands_beside_it(overhead: ModuleType) -> None:
    said = page(overhead, pairs(1.0, 1.0))
    assert "The manifests say 90 to 90 % of it; budgets left 50 % of the rates asked for or more." in said


def test_the_recorders_word_is_the_last_of_each_process(overhead: ModuleType) -> None:
    variants = importlib.import_module("overhead_variants")
    manifests = [
        {
            "role": role,
            "executor_id": executor,
            "own_cpu_ns": nanos,
            "first_ms": 0,
            "last_ms": length,
            "rate_ratio": ratio,
        }
        for role, executor, nanos, length, ratio in [
            ("driver", "driver", 100_000_000, 30_000, 1.0),
            ("driver", "driver", 250_000_000, 10_000, 0.5),
            ("executor", "0", 500_000_000, 0, 0.5),
        ]
    ]
    swept = {name: value for name, value in manifests[2].items() if name != "own_cpu_ns"}
    assert variants._own_cpu_s([*manifests, swept]) == pytest.approx(0.75)
    assert variants._own_cpu_s(manifests) == pytest.approx(0.75)
    assert variants._rate_ratio(manifests) == pytest.approx(35 / 40)
    assert variants._rate_ratio(manifests[2:]) is None


def test_what_is_waited_for_and_seen_makes_up_the_group(overhead: ModuleType) -> None:
    assert "had 100.00 to 100.00 % of the group's CPU" in " ".join(page(overhead, pairs(1.0)).split())


def test_every_round_has_each_variant_once_job_by_job(overhead: ModuleType) -> None:
    variants = list(overhead.VARIANTS)
    orders = [overhead.order(round_, variants) for round_ in range(7)]
    for made in orders:
        assert sorted(each.key for each in made) == sorted(each.key for each in variants)
        changes = sum(one.job != other.job for one, other in pairwise(made))
        assert changes == len(overhead.JOBS) - 1
    first = [next(each.name for each in made if each.job == "udf") for made in orders]
    assert set(first) == {"off", "on"}
    assert orders[0] == overhead.order(0, variants)


def test_cpu_between_two_times(overhead: ModuleType) -> None:
    looks = [[10.0, 1.0], [11.0, 2.5], [12.0, 4.0], [13.0, 4.5]]
    assert overhead.within(looks, 11.2, 12.9) == 1.5
    assert overhead.within(looks, 9.0, 99.0) == 4.5


def test_runs_of_another_setup_are_left_alone(overhead: ModuleType, tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    other = run(0, "queries/off", 1) | {"setup": SETUP | {"jar": "1"}}
    results.write_text("".join(json.dumps(record) + "\n" for record in [run(0, "queries/off", 2), other]))
    assert [record["cpu_s"] for record in overhead.known(results, SETUP)] == [2]
    assert overhead.known(tmp_path / "none", SETUP) == []


def test_beside_each_with_a_recorder_runs_one_without(overhead: ModuleType) -> None:
    wanted = [each for each in overhead.VARIANTS if each.key in ("queries/off", "queries/on", "udf/on")]
    turns = list(overhead.turns(wanted, 3, beside=True))
    assert [sorted(each.key for each in together) for _, _, together in turns if together[0].job == "udf"] == [
        ["udf/off", "udf/on"]
    ] * 3
    assert {each.key for _, _, together in turns for each in together} == {
        *("queries/off", "queries/on", "udf/off", "udf/on")
    }
    rounds = [(round_, key) for round_, _, together in turns for key in {each.key for each in together}]
    assert len(rounds) == len(set(rounds)) == 12, "a run has no other beside it than its own"
    assert {together[0].name for _, _, together in turns} == {"off", "on"}, "either begins first, in turn"
    assert [len(together) for _, _, together in overhead.turns(wanted, 3, beside=False)] == [1] * 9


def test_the_page_tells_runs_beside_each_other(overhead: ModuleType) -> None:
    records = pairs(1.01, 1.012)
    assert "One run at a time" in page(overhead, records)
    setup = SETUP | {"beside": True}
    text = overhead.overhead_page.page(records, setup, overhead.JOBS, overhead.VARIANTS, {})
    assert "Two runs at a time" in text
    assert "--rounds 2 --beside" in text
