from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given

from emberscope.profile.fold import fold
from emberscope.report.flame_text import flame_text
from tests.profile.strategies import recording, rows


def of(samples: list[dict[str, Any]], **options: Any) -> str:
    made = recording(samples)
    tree = fold(made.samples, made.stacks, made.frames)
    return flame_text(tree, event="cpu", unit="samples", **options)


def test_callees_stand_below_their_callers_with_their_shares() -> None:
    text = of(
        [
            {"stack": ["a.b.Main.run", "a.b.Pool.go", "a.b.Left.hot"], "event": "cpu", "count": 60},
            {"stack": ["a.b.Main.run", "a.b.Pool.go", "a.b.Right.warm"], "event": "cpu", "count": 39},
            {"stack": ["a.b.Main.run", "a.b.Pool.go", "a.b.Rare.cold"], "event": "cpu", "count": 1},
        ],
        least_ratio=0.02,
    )
    lines = text.splitlines()
    assert lines[0] == "100 samples of cpu; frames with 2.0 % and more"
    assert [re.sub(r"[█▏▎▍▌▋▊▉ ]+", " ", line) for line in lines[3:6]] == [
        " 100 % Pool.go (+1)",
        " 60.0 % 60.0 % Left.hot",
        " 39.0 % 39.0 % Right.warm",
    ]
    assert lines[6] == "Left out: frames under 2.0 % of all, 1.0 % together."


@given(rows().filter(bool))
def test_prop_all_own_shares_and_what_is_left_out_are_the_whole(samples: list[dict[str, Any]]) -> None:
    text = of([{**row, "event": "cpu"} for row in samples], least_ratio=0.2)
    own = [float(found) for found in re.findall(r"^ *[\d.]+ % +([\d.]+) %", text, flags=re.M)]
    left = [float(found) for found in re.findall(r"all, ([\d.]+) % together", text)]
    assert sum(own) + sum(left) == pytest.approx(100, abs=0.1 * (len(own) + 1))


@pytest.mark.parametrize("width", [40, 50, 79, 80, 100])
def test_long_names_deep_stacks_and_control_characters_fit(width: int) -> None:
    deep = [f"{depth}{'x' * 500}" for depth in range(99)]
    samples = [{"stack": [*deep[:depth], "\x1b[2J" + "y" * 500], "event": "cpu", "count": 1} for depth in range(99)]
    text = of(samples, width=width)
    assert max(map(len, text.splitlines())) <= width
    assert sum("yy" in line for line in text.splitlines()) == 99
    assert "\x1b" not in text


def test_without_samples_there_is_nothing_to_show() -> None:
    assert of([]) == "There are no samples to show.\n"
