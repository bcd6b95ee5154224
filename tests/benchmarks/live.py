"""How fast pictures follow a held slider: pictures per second, and the time from a value to the next picture.

``python -m tests.benchmarks.live`` drags one slider of every page with a live picture over its whole length in three
seconds, in a real browser against a server of its own on this machine.
"""

from __future__ import annotations

import shutil
import statistics
import time

from tests.browser.holding import PAGES, Hand
from tests.browser.visitor import CHART, Visitor, start_server, stop_server
from tests.conftest import BROWSERS

SECONDS, STEP = 3.0, 0.05


def main() -> None:
    """Print one line for every page."""
    from playwright.sync_api import sync_playwright

    server, address = start_server()
    try:
        with sync_playwright() as play:
            browser = play.chromium.launch(
                executable_path=next(path for name in BROWSERS if (path := shutil.which(name)))
            )
            print(f"{'page':<22}{'values':>8}{'pictures':>10}{'per second':>12}{'value to picture, median ms':>30}")
            for name, (path, key, chart) in PAGES.items():
                page = browser.new_page(viewport={"width": 1366, "height": 768})
                visitor = Visitor(page, address)
                for _ in range(2):  # the first visit warms the server up
                    visitor.open(path, shows=CHART)
                    visitor.chart()
                print(f"{name:<22}{_measured(Hand(page, key, chart))}", flush=True)
                page.close()
            browser.close()
    finally:
        stop_server(server)


def _measured(hand: Hand) -> str:
    steps = int(SECONDS / STEP)
    for step in range(steps):
        hand.move(step / (steps - 1))
        time.sleep(STEP)
    time.sleep(1.0)
    values, pictures = hand.values(), hand.pictures()
    hand.release()
    if not values:
        return "the slider did not move"
    begin, end = values[0][0], values[-1][0]
    drawn = [moment for moment in pictures if begin <= moment <= end + 1000]
    waits = [min(later) - moment for moment, _ in values if (later := [one for one in drawn if one > moment])]
    rate = len(drawn) / max((end - begin) / 1000, 1e-3)
    median = statistics.median(waits) if waits else float("nan")
    return f"{len(values):>8}{len(drawn):>10}{rate:>12.1f}{median:>30.0f}"


if __name__ == "__main__":
    main()
