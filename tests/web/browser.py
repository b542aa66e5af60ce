"""A real Chromium that opens pages from disk, and what it did meanwhile."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.wait import WebDriverWait

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1400,1000",
)

DRAWN = "x-flame, x-tasks, x-series, x-states, x-heat"
"""What scripts draw."""


@contextmanager
def chromium() -> Iterator[webdriver.Chrome]:
    """A fresh browser. Skips the test where there is none, fails it where the environment says CI."""
    binary = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("needs chromium and chromedriver on the PATH")
    options = webdriver.ChromeOptions()
    options.binary_location = str(binary)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for flag in (*_FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        browser = webdriver.Chrome(options=options, service=Service(str(driver)))
        try:
            yield browser
        finally:
            browser.quit()


def open_page(browser: webdriver.Chrome, path: Path, fragment: str = "") -> None:
    """Opens a page from disk with this fragment, from nothing, and waits until all that scripts draw is ready."""
    browser.get("about:blank")
    browser.get(path.as_uri() + fragment)
    ready = f"""return document.readyState === 'complete' && [...document.querySelectorAll('{DRAWN}')].every(
      (one) => ['ready', 'failed'].includes(one.dataset.state))"""
    WebDriverWait(browser, 30).until(lambda b: b.execute_script(ready))
    settle(browser)


def settle(browser: webdriver.Chrome) -> None:
    """Waits until what was asked for is drawn."""
    browser.execute_async_script(
        "const done = arguments[0]; setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )


def requested(browser: webdriver.Chrome) -> list[str]:
    """The addresses that the browser asked for since the last call."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]


def prefer(browser: webdriver.Chrome, scheme: str) -> None:
    """Sets what the system prefers: dark or light."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def pixels(browser: webdriver.Chrome, left: int, top: int, width: int, height: int) -> list[tuple[int, int, int]]:
    """The colours of a part of the flame graph's canvas, row by row."""
    found: list[Any] = browser.execute_script(
        "return [...document.querySelector('x-flame canvas').getContext('2d').getImageData(...arguments).data]",
        left,
        top,
        width,
        height,
    )
    return [(found[i], found[i + 1], found[i + 2]) for i in range(0, len(found), 4)]
