"""Tables of regions: columns as documented, numbers by a second route, no NaN."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from dpcore import frames
from dpcore.errors import BudgetError, DomainError
from dpcore.language import parse
from dpcore.lists import parse_list

if TYPE_CHECKING:
    import pandas as pd

REGIONS = ["dp(1)", "dp(0.6, 0.05)^5", "gdp(1.2)", "dp(0.6, 0.05)^5 & gdp(1.2)", "tv(0.3) * dp(1)"]


@pytest.mark.parametrize("text", REGIONS)
def test_columns_and_values(text: str) -> None:
    region = parse(text)
    delta = frames.deltas(region)
    epsilon = frames.epsilons(region)
    curve = frames.curve(region)
    assert list(delta) == ["region", "epsilon", "delta", "delta_lower", "kind", "theorem"]
    assert list(epsilon) == ["region", "delta", "epsilon", "epsilon_lower", "kind", "theorem"]
    assert list(curve) == ["region", "alpha", "beta", "beta_upper", "kind"]
    for frame in (delta, epsilon, curve):
        assert not frame.isna().any(axis=None)
        assert set(frame["region"]) == {str(region)}
    assert (delta["delta_lower"] <= delta["delta"]).all()
    assert (epsilon["epsilon_lower"] <= epsilon["epsilon"]).all()
    assert (curve["beta"] <= curve["beta_upper"]).all()
    assert set(delta["kind"]) == {region.kind}
    same = curve["beta"].tolist() == curve["beta_upper"].tolist()
    assert set(curve["kind"]) == {"exact" if same else "lower"}
    if region.kind == "exact":
        assert delta["delta"].tolist() == delta["delta_lower"].tolist()


def test_the_largest_loss_of_a_certified_product_is_exact() -> None:
    """At delta 0 the answer of a bounded loss is no bracket; of an unbounded one it is infinite."""
    frame = frames.epsilons([parse("laplace(1)^3 * laplace(0.5)^2"), parse("laplace(1) * gdp(1)")], [0.0, 0.1])
    assert frame["kind"].tolist() == ["exact", "upper", "exact", "upper"]
    assert frame["epsilon"].tolist()[::2] == frame["epsilon_lower"].tolist()[::2] == [4.0, np.inf]
    loose = frames.epsilons(parse("subsample(laplace(1), 0.1)^2"), 0.0)
    assert loose["kind"].item() == "upper"  # the closure is larger than what mechanisms attain


def test_deltas_of_a_gaussian_by_its_formula() -> None:
    frame = frames.deltas(parse("gdp(1)"))
    eps = frame["epsilon"].to_numpy()
    assert eps.tolist() == parse_list("0:5:0.5").tolist()
    expected = ndtr(0.5 - eps) - np.exp(eps) * ndtr(-0.5 - eps)
    assert np.allclose(frame["delta"], expected, rtol=1e-9, atol=0)


def test_default_epsilons_are_the_corners_of_a_polygon() -> None:
    frame = frames.deltas(parse("dp(0.5, 0.1)^3"))
    assert np.allclose(frame["epsilon"], [0.5, 1.5], rtol=1e-14)
    constraints = frames.constraints(parse("dp(0.5, 0.1)^3"))
    assert list(constraints) == ["region", "epsilon", "delta"]
    assert constraints["epsilon"].tolist() == frame["epsilon"].tolist()
    assert constraints["delta"].tolist() == frame["delta"].tolist()
    # The largest loss needs all three steps to fail or none to be caught: 1 - (1 - delta)^3 remains.
    assert frame["delta"].iloc[-1] == pytest.approx(1 - 0.9**3, rel=1e-14)


def test_too_many_corners_ask_for_epsilon() -> None:
    region = parse("dp(0.001)^3000")
    with pytest.raises(BudgetError, match="--epsilon"):
        frames.deltas(region)
    assert len(frames.deltas(region, [0.0, 1.0])) == 2


def test_epsilons() -> None:
    frame = frames.epsilons([parse("dp(1, 1e-4)"), parse("gdp(1)")], [1e-5, 1e-4, 0.5, 1.0])
    assert frame["epsilon"].tolist()[:4] == [math.inf, 1.0, 0.0, 0.0]
    gdp = parse("gdp(1)")
    assert gdp.delta(frame["epsilon"].iloc[4]) == pytest.approx(1e-5, rel=1e-9)
    assert len(frames.epsilons(gdp)) == 8


def test_curve() -> None:
    frame = frames.curve(parse("gdp(1.5)"), [0.01, 0.2, 0.9])
    expected = ndtr(-ndtri([0.01, 0.2, 0.9]) - 1.5)
    assert np.allclose(frame["beta"], expected, rtol=1e-12, atol=0)
    assert frames.curve(parse("gdp(1)"))["alpha"].tolist() == parse_list("0:1:0.05").tolist()


def test_vertices() -> None:
    frame = frames.vertices(parse("dp(log(3), 0.2)"))
    assert list(frame) == ["region", "alpha", "beta"]
    assert np.allclose(frame["alpha"], [0, 0.2, 0.8, 1], rtol=1e-14)
    assert np.allclose(frame["beta"], [0.8, 0.2, 0, 0], rtol=1e-14)


def test_what_is_not_a_region_or_a_number() -> None:
    with pytest.raises(DomainError, match="type str"):
        frames.deltas("dp(1)")  # type: ignore[arg-type]  # the mistake under test
    with pytest.raises(DomainError, match="at least one"):
        frames.curve([])
    with pytest.raises(DomainError, match="nan"):
        frames.deltas(parse("dp(1)"), [0.0, math.nan])
    with pytest.raises(DomainError, match="numbers"):
        frames.deltas(parse("dp(1)"), ["x"])  # type: ignore[list-item]  # the mistake under test


def crossings(a: str, b: str) -> pd.DataFrame:
    frame = frames.compare(parse(a), parse(b))
    assert list(frame) == ["a", "b", "relation", "crossing_alpha", "crossing_beta", "area_a", "area_b"]
    for column in ("crossing_alpha", "crossing_beta"):
        assert frame[column].dtype == object
        assert all(value is None or math.isfinite(value) for value in frame[column])
    return frame


class TestCompare:
    @pytest.mark.parametrize(
        ("a", "b", "relation"),
        [
            ("dp(1)", "dp(1)", "equal"),
            ("dp(0.1)^3", "dp(0.1) * dp(0.1)^2", "equal"),
            ("dptv(1, 0, 0.3)", "dp(1) & tv(0.3)", "equal"),
            ("gdp(1)^4", "gdp(2)", "equal"),
            ("dp(1)", "dp(2)", "a inside b"),
            ("dp(2)", "dp(1)", "b inside a"),
            ("dp(1)", "dp(1, 1e-30)", "a inside b"),
            ("gdp(1)", "gdp(1.0000001)", "a inside b"),
            ("laplace(1)", "dp(1)", "a inside b"),
            ("dp(1)^5", "gdp(6)", "a inside b"),
            ("dp(1)^5", "gdp(2)", "crossing"),
        ],
    )
    def test_relation(self, a: str, b: str, relation: str) -> None:
        frame = crossings(a, b)
        assert set(frame["relation"]) == {relation}
        assert (frame["crossing_alpha"].iloc[0] is None) == (relation != "crossing")

    def test_areas(self) -> None:
        frame = crossings("dp(1)", "gdp(1)")
        assert frame["area_a"].iloc[0] == pytest.approx(1 / (1 + math.e), rel=1e-12)
        assert frame["area_b"].iloc[0] == pytest.approx(ndtr(-1 / math.sqrt(2)), rel=1e-6)

    @pytest.mark.parametrize(
        ("a", "b"), [("dp(1)", "gdp(1)"), ("dp(1, 0.1)", "dp(2)"), ("dp(0.5)^3", "dp(1, 0.05)"), ("tv(0.2)", "gdp(1)")]
    )
    def test_both_curves_pass_through_each_crossing(self, a: str, b: str) -> None:
        frame = crossings(a, b)
        assert len(frame) >= 2
        alpha = frame["crossing_alpha"].to_numpy(dtype=np.float64)
        beta = frame["crossing_beta"].to_numpy(dtype=np.float64)
        assert np.allclose(parse(a).beta(alpha), beta, rtol=1e-9, atol=0)
        assert np.allclose(parse(b).beta(alpha), beta, rtol=1e-9, atol=0)
        assert np.allclose(np.sort(alpha), np.sort(beta), rtol=1e-9)  # symmetric curves: mirrored points

    def test_two_lines_by_hand(self) -> None:
        # 1 - 0.1 - e a = 1 - e^2 a  at  a = 0.1 / (e^2 - e)
        frame = crossings("dp(1, 0.1)", "dp(2)")
        assert frame["crossing_alpha"].iloc[0] == pytest.approx(0.1 / (math.e**2 - math.e), rel=1e-12)

    def test_a_crossing_far_in_the_tail(self) -> None:
        frame = crossings("dp(10)", "gdp(1)")
        alpha = frame["crossing_alpha"].iloc[0]
        assert 0 < alpha < 1e-20
        assert ndtr(ndtri(alpha) + 1) == pytest.approx(math.exp(10) * alpha, rel=1e-9)

    def test_three_or_more_crossings(self) -> None:
        frame = crossings("dp(2, 0.1)", "dp(1, 0.15) & dp(4)")
        assert len(frame) == 4


class TestTheorems:
    def test_columns_and_the_exact_one(self) -> None:
        region = parse("dp(0.1, 1e-6)^10")
        frame = frames.theorems(region)
        assert list(frame) == ["region", "theorem", "epsilon", "delta", "kind", "note"]
        assert not frame.isna().any(axis=None)
        assert set(frame["region"]) == {str(region)}
        exact = frame[frame["kind"] == "exact"]
        assert len(exact) > 0
        assert np.allclose(exact["delta"], region.delta(exact["epsilon"].to_numpy()), rtol=1e-10, atol=0)

    @pytest.mark.parametrize(
        "text", ["dp(0.1)^10", "dptv(1, 0.01, 0.3)^4", "laplace(0.5)^6", "gdp(0.5)^9", "tv(0.1) * dp(1)"]
    )
    def test_no_theorem_is_below_the_region(self, text: str) -> None:
        region = parse(text)
        frame = frames.theorems(region)
        assert len(frame) > 0
        truth = region.delta_bounds(frame["epsilon"].to_numpy())[0]
        assert (frame["delta"].to_numpy() >= truth * (1 - 1e-10)).all()

    def test_a_mechanism_enters_by_a_statement(self) -> None:
        frame = frames.theorems(parse("laplace(0.5)^6"))
        assert set(frame["kind"]) == {"upper"}
        assert frame["note"].str.contains(r"laplace\(0.5\) taken as dptv\(0.5, 0.0, ").all()

    def test_unbounded_loss(self) -> None:
        with pytest.raises(DomainError, match="unbounded loss"):
            frames.theorems(parse("zcdp(0.1)^2"))

    def test_no_theorem_for_a_mixture(self) -> None:
        frame = frames.theorems(parse("dp(1) * gdp(1)"))
        assert len(frame) == 0
        assert list(frame) == ["region", "theorem", "epsilon", "delta", "kind", "note"]
