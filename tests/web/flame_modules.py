"""The modules of the flame graph in a blank page of a real browser, to be called one by one."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from selenium import webdriver

from emberscope.profile.flame_data import flame_data
from emberscope.profile.pack import pack_flame
from emberscope.report.assets import joined
from tests.profile.strategies import recording

Stack = tuple[str, ...]

_NAMES = (
    "inflate unpack weigh readChoice otherChoice parseShape shapeStacks shownStacks wholeStacks shapeText layOut "
    "difference shadeOf packageOf totalsOf meanShares search matchedWeight eachSpan foldedText speedscopeText "
    "pprofBytes reversed expressionOf"
)


def install(browser: webdriver.Chrome) -> None:
    """Puts the modules, without the element itself, into the page as `window.parts`."""
    body = (
        joined(["flame/unpack.js", "flame/save.js", "flame/frame_menu.js"])
        .removeprefix("(() => {")
        .removesuffix("})();\n")
    )
    names = ", ".join(_NAMES.split())
    browser.execute_script(f"{body}\nwindow.parts = {{ {names} }};")


def packed(stacks: Sequence[tuple[Stack, int]], **more: Any) -> str:
    """Stacks with their numbers of samples as the packed data of a page."""
    rows = [{"stack": list(stack), "event": "cpu", "count": count, **more} for stack, count in stacks]
    recorded = recording(rows)
    return base64.b64encode(pack_flame(flame_data(recorded.samples, recorded.stacks, recorded.frames))).decode()
