"""Draw the README's pictures of the app again: ``python -m tests.pictures`` (or ``make pictures``).

Start by day and by night, and a slider held on Composition as a moving picture, in a real browser.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PIL import Image
from playwright.sync_api import sync_playwright

from tests.browser.holding import PAGES, Hand
from tests.browser.visitor import Visitor, start_server, stop_server
from tests.conftest import browser_path

if TYPE_CHECKING:
    from playwright.sync_api import Page

FOLDER: Final = Path(__file__).parents[1] / "data" / "pictures"
SIZE: Final = {"width": 1280, "height": 720}
MOVING: Final = {"x": 290, "y": 128, "width": 990, "height": 560}
FRAMES: Final = 28
EVERY: Final = 90  # milliseconds from one picture to the next


def still(page: Page, name: str) -> None:
    """Write the page as it is, in few colours: a README is read over slow lines, too."""
    picture = Image.open(io.BytesIO(page.screenshot()))
    picture.convert("RGB").quantize(128).save(FOLDER / f"{name}.png", optimize=True)


def moving(page: Page, key: str, name: str) -> None:
    """Hold a slider, lead it to and fro, and write what is seen meanwhile."""
    hand = Hand(page, key, 0)
    frames = []
    for step in range(FRAMES):
        share = 2 * step / FRAMES if step < FRAMES / 2 else 2 - 2 * step / FRAMES
        hand.move(0.05 + 0.4 * share)
        page.wait_for_timeout(400)  # the picture is drawn; its frames are shown faster
        picture = Image.open(io.BytesIO(page.screenshot(clip=MOVING)))  # type: ignore[arg-type]  # a rectangle
        frames.append(picture.convert("RGB").resize((660, 373)).quantize(64))
    hand.release()
    frames[0].save(
        FOLDER / f"{name}.gif", save_all=True, append_images=frames[1:], duration=EVERY, loop=0, optimize=True
    )


def main() -> None:
    """Start the app, visit it and write the pictures."""
    server, address = start_server()
    try:
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=browser_path())
            visitor = Visitor(browser.new_page(viewport=SIZE), address)  # type: ignore[arg-type]  # a size
            for dark in (False, True):
                visitor.wear(dark=dark)
                visitor.open("")
                visitor.chart()
                still(visitor.page, "start_dark" if dark else "start")
            visitor.wear(dark=False)
            path, key, _ = PAGES["Composition"]
            visitor.open(path)
            visitor.chart()
            moving(visitor.page, key, "slider")
            browser.close()
    finally:
        stop_server(server)


if __name__ == "__main__":
    main()
