"""A picture follows its slider while the pointer is down; released, the link restores what is seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser import walk
from tests.browser.holding import PAGES, Hand
from tests.browser.visitor import CHART, PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.long]
PLACES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
"""Shares of the slider's length; the one nearest to where the slider stands is left out, as nothing need change there."""


@pytest.mark.parametrize("name", PAGES)
def test_the_picture_follows_a_held_slider(visit: Callable[..., Visitor], name: str) -> None:
    path, key, chart = PAGES[name]
    visitor = visit()
    visitor.page.set_viewport_size({"width": 1366, "height": 1200})
    visitor.open(path, shows=CHART)
    visitor.chart()
    address = visitor.page.url
    hand = Hand(visitor.page, key, chart)
    nearest = min(PLACES, key=lambda place: abs(place - hand.start))
    for place in PLACES:
        if place == nearest:
            continue
        before = len(hand.pictures())
        hand.move(place)
        visitor.page.wait_for_function("before => window.pictures.length > before", arg=before, timeout=PATIENCE)
    held = hand.values()[-1][1]
    assert visitor.page.url == address, "nothing is committed while the pointer is down"
    hand.release()
    visitor.page.wait_for_function("address => location.href !== address", arg=address, timeout=PATIENCE)
    visitor.chart()
    shown = visitor.page.locator(f".st-key-{key} input[type=range]").get_attribute("aria-valuetext")
    assert shown == held
    visitor.page.set_viewport_size(walk.ALL)
    visitor.settle(CHART)
    before, link = walk.seen(visitor), walk.link(visitor)
    visitor.page.goto("about:blank")
    visitor.page.goto(link)
    assert not walk.parting(visitor, before), link
