"""A curve that says what cannot be is refused on every face, with its expression: chart, table, risk, site, app, command."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from dpcore import InternalError, frames, parse, specs
from dpcore.charts import profile_figure, region_figure
from dpcore.charts.losses import loss_figure
from dpcore.cli.program import main
from dpcore.constraints import corners, dominating_pair, split
from dpcore.curves import tangents
from dpcore.curves.gaussian import GaussianCurve
from dpcore.curves.polygon import Polygon
from dpcore.regions.custom import CustomRegion
from dpcore.risk import best_accuracy, equal_error_rate, risk, true_positive_rate
from dpcore.theorems.conversion import convert
from tests.app.visits import Page, errors

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.curves.base import Bounds, FloatArray
    from dpcore.regions.tradeoff import TradeOff

MU = 1.2345678  # of no other test, so that nothing is kept from before
TEXT = f"gdp({MU})"


def nothing(value: FloatArray, at: FloatArray) -> FloatArray:  # noqa: ARG001  as the others
    return np.full(value.size, math.nan)


def too_much(value: FloatArray, at: FloatArray) -> FloatArray:  # noqa: ARG001  as the others
    return np.full(value.size, 1.2)


def growing(value: FloatArray, at: FloatArray) -> FloatArray:
    return np.minimum(value + 0.2 * np.tanh(np.abs(at)), 1.0)


WAYS = {"nan": nothing, "1.2": too_much, "growing": growing}
EVERY = pytest.mark.parametrize("change", WAYS.values(), ids=WAYS)


@pytest.fixture
def broken(change: Callable[[FloatArray, FloatArray], FloatArray], monkeypatch: pytest.MonkeyPatch) -> TradeOff:
    """Return a region whose curve answers wrongly; so does every other Gaussian one while the test runs."""
    for name in ("delta_bounds", "beta_bounds", "power_bounds"):
        right = getattr(GaussianCurve, name)

        def wrong(self: GaussianCurve, at: FloatArray, right: Any = right) -> Bounds:
            value = change(right(self, at)[1], at)
            return value, value

        monkeypatch.setattr(GaussianCurve, name, wrong)
    return parse(TEXT)


FACES: dict[str, Callable[[TradeOff], object]] = {
    "region chart": region_figure,
    "profile chart": profile_figure,
    "loss chart": loss_figure,
    "deltas": frames.deltas,
    "curve": frames.curve,
    "compare": lambda region: frames.compare(region, parse("dp(1)")),
    "constraints": corners,
    "risk": risk,
    "power": lambda region: true_positive_rate(region, [0.01, 0.2]),
    "accuracy": lambda region: best_accuracy(region, [0.1, 0.3]),
    "site": lambda region: specs.draw({"draw": "regions", "regions": str(region)}),
    "site, a measure": lambda region: specs.draw({"draw": "curves", "regions": f"{region} * gdp(?)", "values": [0.5]}),
}


@EVERY
@pytest.mark.parametrize("ask", FACES.values(), ids=FACES)
def test_no_face_shows_what_cannot_be(ask: Callable[[TradeOff], object], broken: TradeOff) -> None:
    with pytest.raises(InternalError, match="cannot be true and is not published") as caught:
        ask(broken)
    assert "gdp(" in str(caught.value)


@EVERY
def test_the_command_line_prints_no_number(broken: TradeOff, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("deltas", "curve", "risk"):
        assert main([command, str(broken)]) == 2
        shown = capsys.readouterr()
        assert shown.out == ""
        assert "cannot be true and is not published" in shown.err
        assert TEXT in shown.err


@EVERY
@pytest.mark.usefixtures("broken")
def test_the_app_shows_the_sentence_instead_of_chart_and_table() -> None:
    app = Page("pages/1_Privacy_regions.py", "Privacy regions").opened(regions=TEXT)
    assert TEXT in errors(app)
    assert "cannot be true and is not published" in errors(app)
    assert not any("beta" in table.value.columns and len(table.value) > 2 for table in app.dataframe)


@pytest.mark.parametrize(
    "ask",
    [
        region_figure, loss_figure, frames.vertices, frames.constraints, dominating_pair, split, risk,
        lambda region: convert(region, "gdp"),
    ],
    ids=["chart", "losses", "vertices", "constraints", "pair", "split", "risk", "mu"],
)  # fmt: skip
def test_a_polygon_with_more_mass_than_1_is_refused(ask: Callable[[TradeOff], object]) -> None:
    wrong = CustomRegion(Polygon([-1.0, 1.0], [0.9, 0.3], [0.3, 0.9], symmetric=True), "a wrong region", "any")
    with pytest.raises(InternalError, match="a wrong region"):
        ask(wrong)


def test_an_error_rate_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tangents, "overlap", lambda _: (math.nan, True))
    with pytest.raises(InternalError, match="laplace"):
        equal_error_rate(parse("laplace(1.2345678)"))
