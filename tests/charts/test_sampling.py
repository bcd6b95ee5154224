"""The points drawn: few, indistinguishable from the curve, and never optimistic where they are not on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import dpcore
from dpcore import parse
from dpcore.charts import loss_figure, pixels, profile_figure, region_figure, region_table
from dpcore.charts.sampling import label_of, named, note, sample
from dpcore.core.errors import DomainError

if TYPE_CHECKING:
    import pandas as pd

PROMISED = ["dp(0.6, 0.05)^5", "dp(0.1)^1000", "gdp(1)", "laplace(1)^10", "gaussian(5)"]
OTHERS = [
    "dp(0)", "dp(inf)", "dp(1, 1)", "dp(30)", "tv(0.3)", "dp(0.01)^100000", "dp(0.2, 1e-9)^390", "gdp(8)", "gdp(0.01)",
    "gdp(50)", "laplace(1)", "dp(0.6, 0.05)^5 & gdp(1.2)",
]  # fmt: skip
VIEWS = {"linear": pixels.linear, "log": pixels.logarithmic}
HALF = 0.5  # px that nobody sees


def true_points(region: dpcore.TradeOff) -> tuple[np.ndarray, np.ndarray]:
    """Points of the curve, dense in both views, taken from either end so that small rates keep their digits."""
    dense = np.unique(np.concatenate((np.logspace(-12, 0, 500), np.linspace(0, 1, 500))))
    beta = region.beta_bounds(dense)[0]
    alpha, beta = np.concatenate((dense, beta)), np.concatenate((beta, dense))  # published curves are symmetric
    inside = alpha > 0
    return alpha[inside], beta[inside]


def distances(view: str, true: tuple[np.ndarray, np.ndarray], drawn: pd.DataFrame) -> np.ndarray:
    """Distance of each true point from the drawn line in pixels."""
    alpha, beta = true
    if view == "log":
        seen = (alpha >= pixels.FLOOR) & (beta >= pixels.FLOOR)
        alpha, beta = alpha[seen], beta[seen]
    place = VIEWS[view]
    x, y = place(drawn["alpha"].to_numpy()), place(drawn["beta"].to_numpy())
    ends = (x[None, :-1], y[None, :-1], x[None, 1:], y[None, 1:])
    return pixels.off_chord(place(alpha)[:, None], place(beta)[:, None], ends).min(axis=1)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("text", PROMISED + OTHERS)
def test_drawn_line_is_within_half_a_pixel(text: str, view: str) -> None:
    region = dpcore.parse(text)
    assert distances(view, true_points(region), sample(region)).max(initial=0.0) < HALF


def test_the_half_pixel_check_can_fail() -> None:
    region = dpcore.parse("gdp(1)")
    few = sample(region).iloc[::25]
    assert distances("linear", true_points(region), few).max() > HALF
    assert distances("log", true_points(region), few).max() > HALF


@pytest.mark.parametrize("text", PROMISED + OTHERS)
def test_points_are_few_ordered_and_finite(text: str) -> None:
    drawn = sample(dpcore.parse(text))
    assert 2 <= len(drawn) <= pixels.MOST_POINTS
    assert not drawn.isna().any().any()
    assert (np.diff(drawn["alpha"]) >= 0).all()
    assert (np.diff(drawn["beta"]) <= 0).all()
    assert drawn["alpha"].iloc[0] == 0
    assert drawn["alpha"].iloc[-1] == 1
    assert drawn["beta"].iloc[-1] == 0
    assert drawn[["alpha", "beta", "power"]].to_numpy().min() >= 0
    assert drawn[["alpha", "beta", "power"]].to_numpy().max() <= 1


@pytest.mark.parametrize("text", ["dp(0.1)^1000", "dp(0.01)^100000", "dp(0.2, 1e-9)^390"])
@pytest.mark.parametrize("view", VIEWS)
def test_thinning_is_on_the_safe_side(text: str, view: str) -> None:
    region = dpcore.parse(text)
    drawn = sample(region)
    x, y = drawn["alpha"].to_numpy(), drawn["beta"].to_numpy()
    share = np.linspace(0, 1, 9)[:, None]
    if view == "log":
        inside = (x[:-1] >= pixels.FLOOR) & (y[1:] >= pixels.FLOOR)
        at = np.exp((1 - share) * np.log(x[:-1][inside]) + share * np.log(x[1:][inside])).ravel()
        line = np.exp((1 - share) * np.log(y[:-1][inside]) + share * np.log(y[1:][inside])).ravel()
    else:
        at = ((1 - share) * x[:-1] + share * x[1:]).ravel()
        line = ((1 - share) * y[:-1] + share * y[1:]).ravel()
    slope = np.exp(np.clip(drawn["epsilon"].max(), 0, 30)) * 1e-15
    assert (line <= region.beta(np.clip(at, 0, 1)) * (1 + 1e-9) + 1e-12 + slope).all()
    said = note(region, drawn)
    assert "safe side" in said
    assert "less than half a pixel" in said


@pytest.mark.parametrize("text", ["geometric(0.015884156330271893)^1000", "dp(0.1)^1000", "dp(0.2, 1e-9)^390"])
def test_a_point_called_exact_lies_on_the_curve(text: str) -> None:
    region = dpcore.parse(text)
    drawn = sample(region)
    drawn = drawn[(drawn["kind"] == "exact") & (drawn["alpha"] > 1e-9)]
    assert len(drawn) > 5
    alpha, power = drawn["alpha"].to_numpy(), drawn["power"].to_numpy()
    assert drawn["beta"].to_numpy() == pytest.approx(region.beta(alpha), rel=1e-6, abs=1e-12)
    assert 1 - power == pytest.approx(region.beta(alpha), rel=1e-6, abs=1e-12)


def test_small_polygons_are_drawn_by_their_corners() -> None:
    region = dpcore.parse("dp(0.6, 0.05)^5")
    drawn = sample(region)
    alpha, beta = region.vertices()
    corners = drawn[drawn["corner"]]
    assert corners["alpha"].to_numpy() == pytest.approx(alpha, abs=1e-15)
    assert corners["beta"].to_numpy() == pytest.approx(beta, abs=1e-15)
    assert set(drawn["kind"]) == {"exact"}
    assert note(region, drawn) == ""
    assert corners["epsilon"].iloc[0] == pytest.approx(3.0)


def test_brackets_are_drawn_on_the_safe_side() -> None:
    region = dpcore.parse("gaussian(1) * laplace(1)")
    drawn = sample(region)
    assert set(drawn["kind"]) == {"lower"}
    assert (drawn["beta"].to_numpy() <= region.beta_bounds(drawn["alpha"].to_numpy())[1] + 1e-12).all()


def test_a_bound_is_drawn_by_its_corners_and_called_one() -> None:
    region = dpcore.parse("basic(dp(0.6, 0.05)^5)")
    drawn = sample(region)
    alpha, beta = region.vertices()
    corners = drawn[drawn["corner"]]
    assert corners["alpha"].to_numpy() == pytest.approx(alpha, abs=1e-15)
    assert corners["beta"].to_numpy() == pytest.approx(beta, abs=1e-15)
    assert set(drawn["kind"].iloc[:-1]) == {"lower"}  # at the last point nobody is missed, by any theorem
    assert note(region, drawn) == ""


def test_losses_of_a_smooth_curve_are_its_slopes() -> None:
    drawn = sample(dpcore.parse("gdp(1)"))
    inside = drawn[(drawn["alpha"] > 0.01) & (drawn["alpha"] < 0.99)]
    from scipy.special import ndtri

    slope = -0.5 - ndtri(inside["alpha"].to_numpy())  # log of -f'(alpha) for mu = 1; a chord's lies between its ends
    assert (inside["epsilon"].to_numpy()[:-1] <= slope[:-1] + 1e-9).all()
    assert (inside["epsilon"].to_numpy()[:-1] >= slope[1:] - 1e-9).all()
    assert (np.diff(drawn["epsilon"]) <= 1e-9).all()


def test_infinite_losses_are_labelled() -> None:
    drawn = sample(dpcore.parse("dp(1, 0.1)"))
    assert drawn["epsilon"].iloc[-1] == -np.inf
    assert drawn["epsilon_label"].iloc[-1] == "-inf"


def test_names_are_kept_apart() -> None:
    twice = named([dpcore.parse("dp(1)"), dpcore.parse("dp(1)")])
    assert list(twice) == ["DP, ε = 1", "DP, ε = 1 (2)"]
    with pytest.raises(DomainError, match="at least one region"):
        named([])
    with pytest.raises(DomainError, match="got a value of type str"):
        named(["dp(1)"])  # type: ignore[list-item]  # the mistake under test


def test_tables_of_charts_say_what_a_number_rests_on_and_the_drawn_data_do_not_repeat_it() -> None:
    region = parse("dp(0.6, 0.05)^2 & gdp(1)")
    figures = [region_figure(region), profile_figure(region), loss_figure(parse("laplace(1)"))]
    for figure, of in zip(figures, (region, region, parse("laplace(1)")), strict=True):
        assert figure.table.columns[-3:].tolist() == ["kind", "theorem", "neighbours"]
        assert set(figure.table["theorem"]) == {of.theorem}
        assert set(figure.table["neighbours"]) == {of.neighbours}
        assert all("neighbours" not in table for table in figure.outline[1].values())


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("laplace(1)", "Laplace, ε = 1"),
        ("laplace(1.0986122886681098)", "Laplace, ε = 1.09861"),
        ("dp(1)", "DP, ε = 1"),
        ("dp(1, 1e-5)", "DP, ε = 1, δ = 1e-5"),
        ("gdp(0.5)", "Gaussian DP, μ = 0.5"),
        ("rr(1, 5)", "Randomized response, ε = 1, m = 5"),
        ("gaussian_classic(10, 1e-5)", "Gaussian, classical calibration, ε = 10, δ = 1e-5"),
        ("dp(1)^2", "dp(1)^2"),
        ("dp(1) & tv(0.2)", "dp(1) & tv(0.2)"),
        ("subsample(dp(1), 0.1)", "subsample(dp(1), 0.1)"),
        ("laplace_vector(2, [1, 1])", "laplace_vector(2, [1, 1])"),
    ],
)
def test_a_legend_speaks_in_words_of_one_entry_and_writes_what_is_composed(text: str, label: str) -> None:
    region = parse(text)
    assert region.legend == label
    assert list(named(region)) == list(named([region])) == [label]
    assert list(named({"mine": region})) == ["mine"]
    assert set(region_table(region)["label"]) == {label}
    assert set(region_table(region)["region"]) == {text}


def test_a_region_is_selected_by_its_label_or_its_expression() -> None:
    items = named([parse("dp(1)"), parse("laplace(1)")])
    assert label_of("dp(1)", items) == label_of("DP, ε = 1", items) == "DP, ε = 1"
    assert label_of(None, items) is None
    assert label_of("dp(2)", items) is None
