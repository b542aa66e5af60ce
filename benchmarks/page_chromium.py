"""One viewer in one fresh Chromium: what opening, searching and zooming take, as time and as processor time."""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from page_viewers import Viewer
from selenium import webdriver
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.chrome.service import Service

FLAGS = (
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
OPEN_PATIENCE_S = 300
STEP_PATIENCE_S = 30
SETTLE_S = 0.3
"""How long what a page still does after the picture is counted as its processor time."""
ZOOM_DEPTHS = (5, 20)
"""A click on the widest frame at the first depth, then, in what is drawn then, on that at the second."""

# Notes when the graph was ready, and when two frames later it had been painted.
WATCH = """
window.viewer.nothing = () => {};
window.twoFrames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
{
  let over = false;
  const look = () => {
    if (over || !window.viewer.ready()) return;
    over = true;
    window.twoFrames().then(() => { window.paintedMs = performance.now(); });
  };
  const all = { subtree: true, childList: true, characterData: true, attributes: true };
  new MutationObserver(look).observe(document, all);
  document.addEventListener('DOMContentLoaded', look);
}
"""
# Does it, waits until it is painted, and gives back the milliseconds until then.
ACT = """
const [name, argument, done] = arguments;
(async () => {
  const given = name === 'zoom' ? window.prepared : argument;
  await window.twoFrames();
  const begin = performance.now();
  await window.viewer[name](given);
  await window.twoFrames();
  done(performance.now() - begin);
})().catch((error) => done(String(error)));
"""
PREPARE_ZOOM = "window.prepared = window.viewer.prepareZoom(arguments[0]); return window.prepared.weight"


@contextmanager
def _chromium() -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    binary = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        raise SystemExit("needs chromium and chromedriver on the PATH")
    options.binary_location = binary
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        browser = webdriver.Chrome(options=options, service=Service(driver))
        # The client of WebDriver gives up after two minutes, a page of a peer may take longer.
        browser.command_executor.client_config.timeout = OPEN_PATIENCE_S + 60
        browser.set_page_load_timeout(OPEN_PATIENCE_S)
        browser.set_script_timeout(STEP_PATIENCE_S)
        try:
            yield browser
        finally:
            browser.quit()


class Processes:
    """Those of one browser."""

    def __init__(self, browser: webdriver.Chrome) -> None:
        self.driver = browser.service.process.pid

    def _running(self) -> Iterator[tuple[Path, bytes]]:
        """All processes below the driver by their chain of parents, and their command lines."""
        parents: dict[int, int] = {}
        for path in Path("/proc").glob("[0-9]*"):
            try:
                parents[int(path.name)] = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
        for pid in parents:
            at = parents[pid]
            while at > 1 and at != self.driver:
                at = parents.get(at, 0)
            if at == self.driver:
                path = Path(f"/proc/{pid}")
                try:
                    yield path, (path / "cmdline").read_bytes()
                except OSError:
                    continue

    def cpu_ms(self) -> dict[Path, tuple[float, bool]]:
        """User and system time so far of each process, and whether it is a renderer."""
        times = {}
        for process, command in self._running():
            spent = 0.0
            for thread in process.glob("task/*"):
                try:
                    # In nanoseconds; the clock ticks of `stat` are too coarse for what takes a few milliseconds.
                    spent += int((thread / "schedstat").read_text().split()[0]) / 1e6
                except OSError:
                    continue
            times[process] = spent, b"--type=renderer" in command
        return times

    def cpu_ms_since(self, before: dict[Path, tuple[float, bool]]) -> tuple[float, float]:
        """Of the renderers (those without the page do nothing), and of all processes."""
        renderers = everything = 0.0
        for process, (now, is_renderer) in self.cpu_ms().items():
            spent = max(0.0, now - before.get(process, (0.0, False))[0])
            everything += spent
            renderers += spent if is_renderer else 0
        return renderers, everything

    def memory_mb(self, what: str) -> float:
        """Of the largest renderer: `VmRSS` or, the most that ever was, `VmHWM`."""
        sizes = [0.0]
        for process, command in self._running():
            if b"--type=renderer" in command:
                lines = (process / "status").read_text().splitlines()
                sizes += [int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith(what)]
        return max(sizes)


@dataclass(frozen=True)
class Spent:
    """Milliseconds to the picture, and of processors: in the page's main thread, its renderer, the whole browser."""

    ms: float
    main_cpu_ms: float
    cpu_ms: float
    all_cpu_ms: float


class Measured:
    """The steps of one viewer, one after the other."""

    def __init__(self, viewer: Viewer, browser: webdriver.Chrome) -> None:
        self.viewer, self.browser = viewer, browser
        self.processes = Processes(browser)
        self.result: dict[str, Any] = {}
        self.idle = Spent(0, 0, 0, 0)
        """That of a step that does nothing: of measuring."""

    def open(self, page: str) -> None:
        self.browser.get("about:blank")
        watch = {"source": self.viewer.script + WATCH}
        self.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", watch)
        self.browser.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
        before = self.processes.cpu_ms()
        self.browser.get(page)
        until = time.monotonic() + OPEN_PATIENCE_S
        while (painted := self.browser.execute_script("return window.paintedMs ?? null")) is None:
            if time.monotonic() > until:
                raise TimeoutError
            time.sleep(0.1)
        time.sleep(SETTLE_S)
        self._note("open", [Spent(painted, self._main_cpu_ms(), *self.processes.cpu_ms_since(before))])
        self.result["peak_mb"] = round(self.processes.memory_mb("VmHWM"))

    def _main_cpu_ms(self) -> float:
        """Processor time of all tasks of the page's main thread but those of the debugger."""
        metrics = self.browser.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        values = {metric["name"]: metric["value"] * 1e3 for metric in metrics}
        return values["TaskDuration"] - values["DevToolsCommandDuration"]

    def act(self, name: str, argument: Any = None) -> Spent:
        main, before = self._main_cpu_ms(), self.processes.cpu_ms()
        painted = self.browser.execute_async_script(ACT, name, argument)
        if isinstance(painted, str):
            raise ValueError(f"{name}: {painted}")
        time.sleep(SETTLE_S)
        spent = self.processes.cpu_ms_since(before)
        main = self._main_cpu_ms() - main
        idle = self.idle
        return Spent(
            painted,
            max(0.0, main - idle.main_cpu_ms),
            max(0.0, spent[0] - idle.cpu_ms),
            max(0.0, spent[1] - idle.all_cpu_ms),
        )

    def steps(self) -> None:
        self.act("nothing")
        self.idle = sorted((self.act("nothing") for _ in range(3)), key=lambda spent: spent.cpu_ms)[1]
        if self.browser.execute_script("return window.viewer.zoom !== null"):
            zooms = []
            self.result["zoomed"] = []
            for depth in ZOOM_DEPTHS:
                self.result["zoomed"].append(self.browser.execute_script(PREPARE_ZOOM, depth))
                time.sleep(SETTLE_S)
                zooms.append(self.act("zoom"))
            out = self.act("zoomOut")
            self._note("zoom_in", zooms)
            self._note("zoom_out", [out])
            self._note("zoom", [*zooms, out])
        self._note("search", [self.act("search", self.viewer.pattern)])
        self.result["found"] = self.browser.execute_script("return window.viewer.found()")

    def more(self) -> None:
        for step in self.viewer.more:
            self._note(step, [self.act(step)])

    def _note(self, what: str, steps: list[Spent]) -> None:
        for field in fields(Spent):
            mean = statistics.fmean(getattr(step, field.name) for step in steps)
            self.result[f"{what}_{field.name}"] = round(mean, 2)


def measure(viewer: Viewer, page: str) -> dict[str, Any]:
    """What each step spent (`Spent`), memory, and what was found. What fails is told as `fault`."""
    with _chromium() as browser:
        measured = Measured(viewer, browser)
        try:
            measured.open(page)
            measured.steps()
            browser.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
            time.sleep(SETTLE_S)
            measured.result["memory_mb"] = round(measured.processes.memory_mb("VmRSS"))
            measured.more()
        except (TimeoutException, TimeoutError):
            measured.result["fault"] = "gave up waiting"
        except Exception as fault:
            measured.result["fault"] = f"{type(fault).__name__}: {str(fault).splitlines()[0][:300]}"
        return measured.result
