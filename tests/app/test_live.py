"""What a browser says of a held slider is used only if it is a number of a slider of the page."""

from __future__ import annotations

import pytest

from dpcore.app import composition, live
from dpcore.core.errors import DpcoreError

SLIDERS = ("eps", "t")


@pytest.mark.parametrize("text", ["0.05", "41", "1e-06", "1.5e+300"])
def test_a_number_of_a_slider_is_used(text: str) -> None:
    assert live._value({"slider": "eps", "text": text, "number": 3}, SLIDERS) == {"eps": text}


@pytest.mark.parametrize(
    "held",
    [
        None,
        {},
        [],
        "eps",
        {"slider": "other", "text": "1"},
        {"slider": "eps"},
        {"slider": "eps", "text": 1.0},
        {"slider": ["eps"], "text": "1"},
        *(
            {"slider": "eps", "text": text}
            for text in ("", "nan", "inf", "-1", "1 ", "0x10", "1_0", "١", "9" * 50, "dp(1)")
        ),
    ],
    ids=repr,
)
def test_anything_else_is_ignored(held: object) -> None:
    assert live._value(held, SLIDERS) == {}


@pytest.mark.parametrize("text", ["1e300", "0", "2.5", "2000000"])
def test_a_number_that_no_slider_has_is_refused(text: str) -> None:
    query = composition.CompositionQuery("dp(0.1)", 100, 1e-6, 1e-7)
    with pytest.raises(DpcoreError, match="k must be"):
        composition.moved(query, {"k_slider": text})
    assert composition.moved(query, {"k_slider": "250"}).k == 250
    assert composition.moved(query, {}) == query
