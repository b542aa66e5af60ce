"""One viewer in one fresh Chromium: what opening, searching and zooming take, as time and as processor time."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
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
    # Pictures follow each other as fast as they are made: what is short must not seem to take a period of a screen.
    "--disable-frame-rate-limit",
    "--disable-gpu-vsync",
    "--window-size=1400,1000",
)
OPEN_PATIENCE_S = 300
STEP_PATIENCE_S = 60
SETTLE_S = 0.3
"""How long what a page still does after the picture is counted as its processor time."""
ZOOM_DEPTHS = (5, 20)
"""A click on the widest frame at the first depth, then, in what is drawn then, on that at the second."""

# Notes when the graph was ready, and when two frames later it had been painted.
WATCH = """
window.viewer.nothing = () => {};
window.drawnMs = 0;
{
  const request = window.requestAnimationFrame;
  window.nextFrame = () => new Promise((next) => request.call(window, next));
  window.requestAnimationFrame = (draw) => request.call(window, (now) => {
    const begin = performance.now();
    draw(now);
    window.drawnMs += performance.now() - begin;
  });
  let over = false;
  const look = () => {
    if (over || !window.viewer.ready()) return;
    over = true;
    window.nextFrame().then(window.nextFrame).then(() => { window.paintedMs = performance.now(); });
  };
  const all = { subtree: true, childList: true, characterData: true, attributes: true };
  new MutationObserver(look).observe(document, all);
  document.addEventListener('DOMContentLoaded', look);
}
"""
# Does it and waits until it is painted; gives back the milliseconds of the page's own scripts, at once and in the two
# frames, and those to the picture.
ACT = """
const [name, argument, done] = arguments;
(async () => {
  const given = name === 'zoom' ? window.prepared : argument;
  await window.nextFrame();
  window.drawnMs = 0;
  const begin = performance.now();
  await window.viewer[name](given);
  const script = performance.now() - begin;
  await window.nextFrame();
  await window.nextFrame();
  done({ script: script + window.drawnMs, painted: performance.now() - begin });
})().catch((error) => done({ error: String(error) }));
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


class Measured:
    """The steps of one viewer, one after the other."""

    def __init__(self, viewer: Viewer, browser: webdriver.Chrome) -> None:
        self.viewer, self.browser = viewer, browser
        self.processes = Processes(browser)
        self.result: dict[str, Any] = {}
        self.idle = (0.0, 0.0)
        """Processor time of a step that does nothing: that of measuring."""

    def open(self, page: str) -> None:
        self.browser.get("about:blank")
        self.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": self.viewer.script + WATCH})
        before = self.processes.cpu_ms()
        self.browser.get(page)
        until = time.monotonic() + OPEN_PATIENCE_S
        while (painted := self.browser.execute_script("return window.paintedMs ?? null")) is None:
            if time.monotonic() > until:
                raise TimeoutError(f"not open after {OPEN_PATIENCE_S} s")
            time.sleep(0.1)
        time.sleep(SETTLE_S)
        self._note("open", [(painted, None, *self.processes.cpu_ms_since(before))])
        self.result["peak_mb"] = self.processes.memory_mb("VmHWM")

    def act(self, name: str, argument: Any = None) -> tuple[float, float, float, float]:
        before = self.processes.cpu_ms()
        times = self.browser.execute_async_script(ACT, name, argument)
        if "error" in times:
            raise ValueError(f"{name}: {times['error']}")
        time.sleep(SETTLE_S)
        spent = self.processes.cpu_ms_since(before)
        cpu = [max(0.0, own - idle) for own, idle in zip(spent, self.idle, strict=True)]
        return times["painted"], times["script"], cpu[0], cpu[1]

    def steps(self) -> None:
        self.act("nothing")
        idle = [self.act("nothing")[2:] for _ in range(3)]
        self.idle = sorted(idle)[1]
        if self.browser.execute_script("return window.viewer.zoom !== null"):
            zooms = []
            self.result["zoomed"] = []
            for depth in ZOOM_DEPTHS:
                self.result["zoomed"].append(self.browser.execute_script(PREPARE_ZOOM, depth))
                time.sleep(SETTLE_S)
                zooms.append(self.act("zoom"))
            self._note("zoom", zooms)
            self._note("zoom_out", [self.act("zoomOut")])
        self._note("search", [self.act("search", self.viewer.pattern)])
        self.result["found"] = self.browser.execute_script("return window.viewer.found()")

    def _note(self, what: str, steps: list[tuple[float, float | None, float, float]]) -> None:
        for place, words in enumerate(("ms", "script_ms", "cpu_ms", "all_cpu_ms")):
            values = [value for step in steps if (value := step[place]) is not None]
            if values:
                self.result[f"{what}_{words}"] = round(sum(values) / len(values), 2)


def measure(viewer: Viewer, page: str) -> dict[str, Any]:
    """Milliseconds to the picture (`_ms`), of the page's own script (`_script_ms`), and of processors in the renderer
    (`_cpu_ms`) and in all of the browser (`_all_cpu_ms`). What fails is told as `fault`."""
    with _chromium() as browser:
        measured = Measured(viewer, browser)
        try:
            measured.open(page)
            measured.steps()
            browser.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
            time.sleep(SETTLE_S)
            measured.result["memory_mb"] = measured.processes.memory_mb("VmRSS")
        except (TimeoutException, TimeoutError):
            measured.result["fault"] = "gave up waiting"
        except Exception as fault:
            measured.result["fault"] = f"{type(fault).__name__}: {str(fault).splitlines()[0][:300]}"
        return measured.result
