"""Tables of regions: columns as documented, numbers by a second route, no NaN."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from dpcore import frames
from dpcore.core.errors import BudgetError, DomainError
from dpcore.language import parse
from dpcore.language.lists import parse_list

if TYPE_CHECKING:
    import pandas as pd

WHAT = ["kind", "theorem", "neighbours"]
REGIONS = ["dp(1)", "dp(0.6, 0.05)^5", "gdp(1.2)", "dp(0.6, 0.05)^5 & gdp(1.2)", "tv(0.3) * dp(1)"]


@pytest.mark.parametrize("text", REGIONS)
def test_columns_and_values(text: str) -> None:
    region = parse(text)
    delta = frames.deltas(region)
    epsilon = frames.epsilons(region)
    curve = frames.curve(region)
    assert list(delta) == ["region", "epsilon", "delta", "delta_lower", *WHAT]
    assert list(epsilon) == ["region", "delta", "epsilon", "epsilon_lower", *WHAT]
    assert list(curve) == ["region", "alpha", "beta", "beta_upper", *WHAT]
    for frame in (delta, epsilon, curve):
        assert not frame.isna().any(axis=None)
        assert set(frame["region"]) == {str(region)}
    assert (delta["delta_lower"] <= delta["delta"]).all()
    assert (epsilon["epsilon_lower"] <= epsilon["epsilon"]).all()
    assert (curve["beta"] <= curve["beta_upper"]).all()
    for frame, low, high, safe in ((delta, "delta_lower", "delta", "upper"), (curve, "beta", "beta_upper", "lower")):
        same = frame[low] == frame[high]
        assert frame["kind"].tolist() == np.where(same, "exact", safe).tolist()
        assert same.all() or region.kind == "upper"
    assert set(delta["theorem"]) == {region.theorem}
    assert set(delta["neighbours"]) == {region.neighbours}


def test_the_largest_loss_of_a_certified_product_is_exact() -> None:
    """At delta 0 the answer of a bounded loss is no bracket; of an unbounded one it is infinite."""
    frame = frames.epsilons([parse("laplace(1)^3 * laplace(0.5)^2"), parse("laplace(1) * gdp(1)")], [0.0, 0.1])
    assert frame["kind"].tolist() == ["exact", "upper", "exact", "upper"]
    assert frame["epsilon"].tolist()[::2] == frame["epsilon_lower"].tolist()[::2] == [4.0, np.inf]
    loose = frames.epsilons(parse("subsample(laplace(1), 0.1)^2"), [0.0, 1e-3])
    # the closure is larger than what mechanisms attain, but its largest loss is attained in one direction
    assert loose["kind"].tolist() == ["exact", "upper"]
    assert loose["epsilon"].iloc[0] == pytest.approx(2 * math.log1p(0.1 * math.expm1(1)), rel=1e-12)


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
    assert list(constraints) == ["region", "epsilon", "delta", *WHAT]
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
    assert list(frame) == ["region", "alpha", "beta", *WHAT]
    assert set(frame["kind"]) == {"exact"}
    assert np.allclose(frame["alpha"], [0, 0.2, 0.8, 1], rtol=1e-14)
    assert np.allclose(frame["beta"], [0.8, 0.2, 0, 0], rtol=1e-14)


def test_what_is_not_a_region_or_a_number() -> None:
    with pytest.raises(DomainError, match="type str"):
        frames.deltas("dp(1)")  # type: ignore[arg-type]  # the mistake under test
    with pytest.raises(DomainError, match="one or more regions"):
        frames.curve([])
    with pytest.raises(DomainError, match="nan"):
        frames.deltas(parse("dp(1)"), [0.0, math.nan])
    for bad in (["x"], ["0.5"], [True], [[0.5]], [10**400]):
        for table, name in ((frames.deltas, "epsilon"), (frames.epsilons, "delta"), (frames.curve, "alpha")):
            with pytest.raises(DomainError, match=f"^{name} must be a number in .*, got "):
                table(parse("dp(1)"), bad)  # type: ignore[operator]  # the mistakes under test


def crossings(a: str, b: str) -> pd.DataFrame:
    frame = frames.compare(parse(a), parse(b))
    assert list(frame) == ["a", "b", "relation", "crossing_alpha", "crossing_beta", "area_a", "area_b", *WHAT]
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
        assert set(frame["kind"]) == {"exact"}
        bound = crossings("basic(dp(1)^2)", "dp(1)")
        assert bound["area_a"].iloc[0] == pytest.approx(1 / (1 + math.exp(2)), rel=1e-12)
        assert set(bound["kind"]) == {"lower"}
        assert bound["theorem"].iloc[0] == "a: basic composition; b: (ε, δ)-differential privacy"

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


class TestBounds:
    """A bound is one in every table, and its other side is what the product itself does."""

    @pytest.mark.parametrize(
        ("bound", "product"),
        [
            ("basic(dp(0.6, 0.05)^5)", "dp(0.6, 0.05)^5"),
            ("simplified(dp(0.6, 0.05)^5, 0.01)", "dp(0.6, 0.05)^5"),
            ("simplified(dp(0.1)^100, 1e-6)", "dp(0.1)^100"),
            ("basic(dp(0.6)^2 * dp(0.1, 0.01))", "dp(0.6)^2 * dp(0.1, 0.01)"),
            ("basic(dp(0.6, 0.05)^2)^3", "dp(0.6, 0.05)^6"),
            ("group(basic(dp(0.3)^2), 2)", "group(dp(0.3)^2, 2)"),
            ("erase(basic(dp(0.3)^2), 0.1)", "erase(dp(0.3)^2, 0.1)"),
            ("union(basic(dp(0.3)^2), tv(0.1))", "union(dp(0.3)^2, tv(0.1))"),
            ("basic(dp(0.3)^2) & gdp(2)", "dp(0.3)^2 & gdp(2)"),
            ("symmetric(basic(dp(0.3)^2))", "dp(0.3)^2"),
        ],
    )
    def test_the_other_side_is_the_product(self, bound: str, product: str) -> None:
        region, truth = parse(bound), parse(product)
        assert region.kind == "upper"
        delta = frames.deltas(region, [0.0, 0.2, 0.5, 1.0])
        expected = truth.delta_bounds(delta["epsilon"].to_numpy())
        assert np.allclose(delta["delta_lower"], expected[0], rtol=1e-6, atol=1e-12)
        assert (delta["delta"] >= expected[1] * (1 - 1e-9)).all()
        curve = frames.curve(region, [0.01, 0.05, 0.2])
        expected = truth.beta_bounds(curve["alpha"].to_numpy())
        assert np.allclose(curve["beta_upper"], expected[1], rtol=1e-9, atol=0)
        assert (curve["beta"] <= expected[0] * (1 + 1e-9)).all()
        for frame, safe in ((delta, "upper"), (curve, "lower")):
            assert safe in set(frame["kind"]) <= {safe, "exact"}

    def test_the_reported_case(self) -> None:
        frame = frames.curve(parse("basic(dp(0.6,0.05)^5)"), 0.05)
        assert frame["kind"].item() == "lower"
        assert frame["beta"].item() == pytest.approx(0.034850947857504755, rel=1e-12)
        assert frame["beta_upper"].item() == pytest.approx(parse("dp(0.6,0.05)^5").beta(0.05), rel=1e-12)

    def test_corners_of_a_bound(self) -> None:
        region = parse("basic(dp(0.6, 0.05)^5)")
        corners, statements = frames.vertices(region), frames.constraints(region)
        own = parse("dp(3, 0.25)")
        assert corners["beta"].tolist() == frames.vertices(own)["beta"].tolist()
        assert corners["kind"].tolist() == ["lower", "lower", "lower", "exact"]  # at alpha = 1 none is missed
        assert statements["delta"].tolist() == [math.nextafter(0.25, 1.0)]  # five times the double 0.05, rounded up
        assert set(statements["kind"]) == {"upper"}
        assert set(corners["theorem"]) == set(statements["theorem"]) == {"basic composition"}

    @pytest.mark.parametrize(
        "text", ["rdp(2, 0.5)^3", "zcdp(0.1)^4", "rdp(3, 0.2) * gdp(0.5)", "rdp(3, 0.2) * zcdp(0.1)"]
    )
    def test_added_divergences_are_bounds(self, text: str) -> None:
        """The region of the sum is not attained; Gaussian noise of the same divergences lies inside the truth."""
        region = parse(text)
        curve, delta = frames.curve(region, [0.01, 0.2]), frames.deltas(region, [0.0, 0.5])
        assert set(curve["kind"]) == {"lower"}
        assert set(delta["kind"]) == {"upper"}
        assert (curve["beta"] < curve["beta_upper"]).all()
        assert (delta["delta_lower"] < delta["delta"]).all()

    def test_the_lower_side_of_concentrated_privacy_is_gaussian(self) -> None:
        frame = frames.deltas(parse("zcdp(0.1)^4"), [0.0, 0.5, 1.0])
        gaussian = parse(f"gdp({math.sqrt(2 * 0.1 * 4)!r})").delta(frame["epsilon"].to_numpy())
        assert (frame["delta_lower"] >= gaussian * (1 - 1e-12)).all()

    def test_pure_statements_that_were_added(self) -> None:
        """Without rho concentrated privacy is pure: the sum is (2, 0)-DP, and two randomized responses do less."""
        frame = frames.deltas(parse("zcdp(0, 1)^2"), [0.0, 1.0])
        assert np.allclose(frame["delta"], parse("dp(2)").delta([0.0, 1.0]), rtol=1e-12)
        assert np.allclose(frame["delta_lower"], parse("dp(1)^2").delta([0.0, 1.0]), rtol=1e-12)
        assert set(frame["kind"]) == {"upper"}

    def test_the_attained_side_keeps_the_direction_of_a_pair(self) -> None:
        """Closed regions composed would be no lower bound: one direction of the pair is composed with Gaussian noise."""
        frame = frames.deltas(parse("rdp(2, 0.5) * poisson_gaussian(0.5, 0.3)^3"), [0.5, 1.0, 3.0])
        mu = math.sqrt(2 * 0.5 / 2)
        truth = parse(f"gdp({mu!r}) * poisson_gaussian(0.5, 0.3)^3").delta(frame["epsilon"].to_numpy())
        assert (frame["delta_lower"] <= truth * (1 + 1e-6)).all()
        assert (frame["delta"] >= truth * (1 - 1e-6)).all()

    @pytest.mark.parametrize("text", ["rdp(2, 0.5)", "zcdp(0.1)", "exponential(1)"])
    def test_one_statement_is_exact_in_every_table(self, text: str) -> None:
        region = parse(text)
        assert set(frames.curve(region, [0.05, 0.3])["kind"]) == {"exact"}
        assert set(frames.deltas(region, [0.0, 0.5])["kind"]) == {"exact"}

    def test_a_floor_that_cannot_be_computed_is_left_out(self) -> None:
        frame = frames.deltas(parse("basic(dp(1e-12)^100000000000)"), [0.05])
        assert frame["delta_lower"].item() == 0.0
        assert frame["kind"].item() == "upper"


def test_sentence_table_curve_and_chart_agree_about_bounds() -> None:
    """One place decides: what the sentence calls exact is exact in the table, the chart and the CSV."""
    from dpcore.charts.sampling import sample  # altair is slow to import
    from dpcore.risk import risk  # as above
    from dpcore.words import attack_sentence  # as above

    for text in (
        "dp(1)", "gdp(1)", "basic(dp(0.6, 0.05)^5)", "simplified(dp(0.6, 0.1)^2, 0.03)", "rdp(2, 0.5)", "rdp(2, 0.5)^3",
        "zcdp(0.1)^2", "dp(1) & gdp(1)", "laplace(1)^3", "gaussian(1) * laplace(1)", "subsample(dp(1), 0.1)^3",
        "bounded_laplace(1, 0, 10, 1)", "basic(dp(1)^2) & gdp(1)", "exponential(1) * dp(1)",
    ):  # fmt: skip
        region = parse(text)
        said = "(exact)" in attack_sentence(region, 0.05)
        table = frames.curve(region, 0.05)["kind"].item() == "exact"
        numbers = risk(region, 0.05)
        rate = numbers[numbers["measure"] == "true_positive_rate"]["kind"].item() == "exact"
        points = sample(region)
        near = points.iloc[(points["alpha"] - 0.05).abs().argmin()]
        assert said == table == rate == (near["kind"] == "exact"), text
