"""A server of our own and a visitor in a browser, for the browser tests."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage, Dialog, Download, Page, Request, ViewportSize

ROOT = Path(__file__).resolve().parents[2]
SCREENSHOTS = ROOT / "screenshots"
PATIENCE = 120_000
CALM = 600  # ms without a change after which a page counts as finished: the theme's message starts a second run
WIDE: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}

HEADING = "h1"
CHART = "[data-testid='stVegaLiteChart'] :is(svg, canvas)"

# Answers "" once the page shows what is waited for, its script has ended, no widget waits for its own script, and nothing
# has changed for `calm` ms. The page's own changes drive it: to ask in every frame, as wait_for_function does, keeps the
# compositor busy.
_QUIET = """([wanted, calm, patience]) => new Promise(resolve => {
  let timer;
  const missing = () => !document.querySelector(wanted) ? "nothing matches " + wanted
    : document.querySelector("[data-testid='stApp']")?.dataset.testScriptState !== "notRunning" ? "the script runs"
    : document.querySelector("[data-testid='stMain'] [data-testid='stSkeleton']") ? "a widget is being loaded" : "";
  const seen = new MutationObserver(() => wait());
  const end = found => { clearTimeout(timer); clearTimeout(last); seen.disconnect(); resolve(found); };
  const wait = () => { clearTimeout(timer); timer = setTimeout(() => { if (!missing()) end(""); }, calm); };
  const last = setTimeout(() => end(missing() || "the page never stops changing"), patience);
  seen.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  wait();
})"""

_DARK = """getComputedStyle(document.querySelector("[data-testid='stApp']")).backgroundColor
  .match(/[0-9]+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0) < 3 * 128"""


def free_port(wanted: int = 0) -> int:
    """Return a port nobody uses on this machine: the one that is wanted, if it is free."""
    with closing(socket.socket()) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # its last server may just have ended
        try:
            probe.bind(("127.0.0.1", wanted))
        except OSError:
            probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start_server(port: int = 0, before: str = "") -> tuple[subprocess.Popen[bytes], str]:
    """Start the app, at the port that is wanted if it is free, and wait until it is healthy; `before` is run first."""
    port = free_port(port)
    start = ["serve.py"]
    if before:
        start = ["-c", f"{before}; import runpy; runpy.run_path('serve.py', run_name='__main__')"]
    command = [
        sys.executable, *start, "--server.port", str(port),
        "--server.address", "127.0.0.1", "--server.headless", "true", "--server.fileWatcherType", "none",
    ]  # fmt: skip
    server = subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT), "DPCORE_PAGE_SECONDS": "120"},  # no test of the machine's speed
    )
    address = f"http://127.0.0.1:{port}"
    for _ in range(240):
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2) as answer:
                if answer.read() == b"ok":
                    return server, address
        except OSError:
            time.sleep(0.25)
    server.kill()
    pytest.fail("The app did not become healthy within a minute.")


def stop_server(server: subprocess.Popen[bytes]) -> None:
    """End the server by its process id."""
    server.send_signal(signal.SIGTERM)
    try:
        server.wait(timeout=10)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


class Visitor:
    """One visitor's page, with a record of every request that left the app's own address and of every dialog."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self.address = page, address
        self.strangers: list[str] = []
        self.dialogs: list[str] = []
        self.violations: list[str] = []
        page.set_default_timeout(PATIENCE)
        page.on("request", self._note)
        page.on("dialog", self._dismiss)
        page.on("console", self._listen)

    def _note(self, request: Request) -> None:
        own = self.address.removeprefix("http://")
        if not request.url.startswith((f"{self.address}/", f"ws://{own}/", "data:", "blob:")):
            self.strangers.append(request.url)

    def _dismiss(self, dialog: Dialog) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def _listen(self, message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            self.violations.append(message.text)

    def leave(self) -> None:
        """End the visit: the tab is empty, tells this visitor nothing more, and of all it stored keeps only files."""
        self.page.remove_listener("request", self._note)
        self.page.remove_listener("dialog", self._dismiss)
        self.page.remove_listener("console", self._listen)
        self.page.context.clear_cookies()
        self.page.evaluate("() => { try { localStorage.clear(); sessionStorage.clear(); } catch { } }")
        self.page.goto("about:blank")
        assert self.violations == [], "the page does what the server's policy forbids"

    def open(self, path: str, *, shows: str = HEADING) -> None:
        """Go to a page and wait until its script has run and it shows its heading, or what else is named."""
        self.page.goto(f"{self.address}/{path}")
        self.settle(shows)
        assert self.page.get_by_role("heading", level=1).first.is_visible()

    def settle(self, shows: str = HEADING, calm: int = CALM) -> None:
        """Wait until the app has stopped working, shows what is wanted, and nothing has changed for a while."""
        missing = self.page.evaluate(_QUIET, [shows, calm, PATIENCE])
        assert not missing, f"{self.page.url} after {PATIENCE / 1000:.0f} s: {missing}"

    def chart(self) -> str:
        """Wait for all charts, which appear one by one after the script has ended; return what is said of the first."""
        self.settle(CHART, 2 * CALM)
        return self.words()

    def words(self) -> str:
        """Return what a screen reader says of the first chart, which is there to be seen."""
        assert self.page.locator(CHART).first.is_visible()
        return self.page.locator("[data-testid='stVegaLiteChart']").first.get_attribute("aria-label") or ""

    def wear(self, *, dark: bool) -> None:
        """Ask for dark or light colours, as the setting of a whole computer does."""
        self.page.emulate_media(color_scheme="dark" if dark else "light")

    def ground(self, *, dark: bool) -> None:
        """Wait until the page's ground is nearer to black than to white, or the other way round."""
        self.page.wait_for_function(f"dark => ({_DARK}) === dark", arg=dark, polling=100)

    def panel(self, name: str) -> None:
        """Open or close Table, Export, Code or Link of the first figure that has it."""
        self.page.get_by_test_id("stButtonGroup").get_by_role("button", name=name, exact=False).first.click()
        self.settle()

    def download(self, label: str) -> Download:
        """Press a figure's download button (the chart's own menu has one of a similar name) and return what comes."""
        button = self.page.locator(f"[class*='_{label}']").get_by_role("button").first  # a figure's, by its key
        if not button.count():
            self.panel("Export")
        with self.page.expect_download() as coming:
            button.click()
        return coming.value

    def shot(self, name: str) -> None:
        """Keep a picture of the whole page for people to look at."""
        SCREENSHOTS.mkdir(exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)
