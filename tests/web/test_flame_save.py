"""Files that the page saves: what is in them is the slice and the shape that is seen."""

from __future__ import annotations

import json
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver

from emberscope.profile.formats.folded import folded
from emberscope.profile.formats.speedscope import speedscope
from tests.web.browser import chromium, open_page
from tests.web.flame_example import (
    FLAME,
    HERE,
    NATIVE,
    ODD,
    SAME,
    STACKS,
    compared,
    focus_graph,
    keys,
    write_page,
)
from tests.web.pprof import read_pprof

pytestmark = pytest.mark.browser

SVG = "{http://www.w3.org/2000/svg}"
FORMS = {"folded": "1", "speedscope": "2", "pprof": "3", "png": "4", "svg": "5"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("saved")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_page(tmp_path_factory.mktemp("save"))


@pytest.fixture(scope="module")
def browser(folder: Path) -> Iterator[webdriver.Chrome]:
    with chromium() as browser:
        allowed = {"behavior": "allow", "downloadPath": str(folder)}
        browser.execute_cdp_cmd("Browser.setDownloadBehavior", allowed)
        yield browser


def saved(browser: webdriver.Chrome, page: Path, folder: Path, address: str, form: str) -> tuple[str, bytes]:
    """Name and content of the file, saved by keys alone."""
    for old in folder.iterdir():
        old.unlink()
    open_page(browser, page, address)
    focus_graph(browser)
    keys(browser, "e", FORMS[form])
    until = time.monotonic() + 20
    while time.monotonic() < until:
        done = [path for path in folder.iterdir() if path.suffix != ".crdownload" and path.stat().st_size]
        if done:
            return done[0].name, done[0].read_bytes()
        time.sleep(0.02)
    raise AssertionError(browser.execute_script("return document.querySelector('.flame-toast').textContent"))


def stage_7() -> Counter[tuple[str, ...]]:
    return Counter(STACKS[7])


def test_folded_stacks_are_those_of_the_command_line(browser, page, folder):
    name, data = saved(browser, page, folder, "#stage=7", "folded")
    expected = folded(FLAME.tree("cpu", {"stage": 7}))
    assert sorted(data.decode().splitlines()) == sorted(expected.splitlines())
    assert name == "Two-stages-7-8-cpu-stage-7.folded"


def test_folded_stacks_have_the_shape_that_is_seen(browser, page, folder):
    name, data = saved(browser, page, folder, f"#stage=7&shape=direct,merge:{NATIVE},reverse", "folded")
    lines = dict(line.rsplit(" ", 1) for line in data.decode().splitlines())
    assert lines[f"{HERE};{STACKS_TASK};{STACKS_RUN}"] == "100"
    assert sum(map(int, lines.values())) == sum(STACKS[7].values())
    assert name.startswith("Two-stages-7-8-cpu-stage-7-direct-merge-libc_read-reverse")


STACKS_RUN, STACKS_TASK = next(iter(STACKS[7]))[:2]


def test_a_sandwich_saves_the_whole_stacks_through_its_function(browser, page, folder):
    _, data = saved(browser, page, folder, f"#stage=7&shape=sandwich:{HERE}", "pprof")
    assert read_pprof(data)[1] == Counter({stack: n for stack, n in stage_7().items() if HERE in stack})


def test_two_slices_are_saved_side_by_side(browser, page, folder):
    _, data = saved(browser, page, folder, compared(), "folded")
    lines = [line.rsplit(" ", 2) for line in data.decode().splitlines()]
    told = {stack.split(";")[-1]: (int(there), int(here)) for stack, there, here in lines if stack.count(";") == 2}
    assert told[SAME] == (260, 500)  # the other slice comes first
    _, data = saved(browser, page, folder, compared(), "speedscope")
    profiles = json.loads(data)["profiles"]
    assert [sum(profile["weights"]) for profile in profiles] == [sum(STACKS[stage].values()) for stage in (7, 8)]


def test_speedscope_gets_what_the_command_line_writes(browser, page, folder):
    name, data = saved(browser, page, folder, "#stage=7", "speedscope")
    told, expected = json.loads(data), speedscope(FLAME.tree("cpu", {"stage": 7}), name="x", unit="samples")
    assert told.keys() == expected.keys()
    assert told["profiles"][0].keys() == expected["profiles"][0].keys()

    def stacks(document: dict) -> Counter[tuple[str, ...]]:
        profile, frames = document["profiles"][0], document["shared"]["frames"]
        assert profile["endValue"] == sum(profile["weights"])
        names = [tuple(frames[place]["name"] for place in sample) for sample in profile["samples"]]
        return Counter(dict(zip(names, profile["weights"], strict=True)))

    assert stacks(told) == stacks(expected) == stage_7()
    assert name.endswith(".speedscope.json")


def test_pprof_can_be_read_and_has_whole_weights(browser, page, folder):
    types, stacks = read_pprof(saved(browser, page, folder, "#stage=7", "pprof")[1])
    assert (types, stacks) == ([("samples", "count")], stage_7())
    name, data = saved(browser, page, folder, "#event=alloc", "pprof")
    types, stacks = read_pprof(data)
    assert (types, stacks.total()) == ([("space", "bytes")], 2**53 - 1)
    assert name == "Two-stages-7-8-alloc.pb.gz"


def test_svg_is_sound_and_names_every_bar(browser, page, folder):
    _, data = saved(browser, page, folder, "#stage=7", "svg")
    root = ET.fromstring(data)
    titles = [title.text or "" for title in root.iter(f"{SVG}title")]
    for stack in STACKS[7]:
        assert any(title.startswith(f"{stack[-1]}\nTotal ") for title in titles)
    words = "\n".join(text.text or "" for text in root.iter(f"{SVG}text"))
    assert "Two stages: 7/8\nCPU, stage 7\n1,000 samples" in words
    assert any(ODD in title for title in titles)


def test_png_is_as_large_as_the_graph(browser, page, folder):
    _, data = saved(browser, page, folder, f"#stage=7&shape=sandwich:{HERE}", "png")
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
    # Three lines of heading; in the sandwich three levels of callers and three of callees.
    assert (width > 1000, height) == (True, 10 + 3 * 20 + 2 * (3 * 19 + 10))
