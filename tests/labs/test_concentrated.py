"""Concentrated, classical and exact calibration: the slip in Remark 5.8.7 and what composition costs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr

import dpcore
from dpcore import DomainError
from dpcore.labs import concentrated as con
from dpcore.labs import lab
from dpcore.labs.concentrated_lab import CLASSICAL
from dpcore.theorems import divergences
from dpcore.words import outward

# epsilon: printed, solved rightly, classical, exact, at delta 1e-5
VARIANCES = {
    0.1: (9230.33, 2312.574, 2347.214, 945.536),
    0.5: (372.403, 94.0928, 93.8886, 49.4466),
    1.0: (94.0928, 24.0154, 23.4721, 13.9176),
    2.0: (24.0154, 6.24646, 5.86803, 3.97529),
}
SIGMAS = [
    (0.1, 1e-5, 48.448053, 2.6359e-9, 30.749566),
    (0.5, 1e-5, 9.689611, 1.6079e-8, 7.031827),
    (1.0, 1e-5, 4.844805, 4.1137e-8, 3.730632),
    (1.0, 0.01, 3.107511, 1.3644e-4, 1.877876),
    (1.0, 0.05, 2.537272, 1.1409e-3, 1.332778),
    (10.0, 0.05, 0.253727, 0.21337, 0.304367),
]


def test_variances() -> None:
    for epsilon, values in VARIANCES.items():
        functions = (con.printed_variance, con.zcdp_variance, con.classical_variance, con.exact_variance)
        for function, value in zip(functions, values, strict=True):
            assert function(epsilon, 1e-5) == pytest.approx(value, rel=1e-5)
            assert function(epsilon, 1e-5, 3.0) == pytest.approx(9 * function(epsilon, 1e-5), rel=1e-12)
    assert con.zcdp_rho(1.0, 1e-5) == pytest.approx(0.0208199, abs=5e-8)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-5), (1.0, 1e-5), (0.4, 0.01), (3.0, 0.2)])
def test_the_conversion_and_its_inverse(epsilon: float, delta: float) -> None:
    rho = con.zcdp_rho(epsilon, delta)
    tail = math.log(1 / delta)
    assert rho == pytest.approx((math.sqrt(epsilon + tail) - math.sqrt(tail)) ** 2, rel=1e-9)
    assert con.zcdp_epsilon(rho, delta) == pytest.approx(epsilon, rel=1e-12)
    # Remark 5.8.7: the right variance gives epsilon, the printed one half of it
    variance = con.zcdp_variance(epsilon, delta)
    closed = (math.sqrt(2 * tail) + math.sqrt(2 * tail + 2 * epsilon)) ** 2 / (4 * epsilon**2)
    assert variance == pytest.approx(closed, rel=1e-12)
    assert con.zcdp_epsilon(1 / (2 * variance), delta) == pytest.approx(epsilon, rel=1e-12)
    assert con.zcdp_epsilon(1 / (2 * con.printed_variance(epsilon, delta)), delta) == pytest.approx(
        epsilon / 2, rel=1e-9
    )
    # and it is private, exactly
    assert dpcore.gaussian(math.sqrt(variance)).delta(epsilon) <= delta


def test_the_crossover() -> None:
    for delta, value in ((1e-5, 0.448429), (0.01, 0.451566)):
        cross = con.crossover(delta)
        assert cross == pytest.approx(value, abs=5e-7)
        tail = math.log(1 / delta)
        assert cross == pytest.approx((2 * math.sqrt(tail + math.log(1.25)) - math.sqrt(tail)) ** 2 - tail, rel=1e-9)
        assert con.zcdp_variance(cross, delta) == pytest.approx(con.classical_variance(cross, delta), rel=1e-12)
        assert con.zcdp_variance(0.9 * cross, delta) < con.classical_variance(0.9 * cross, delta)
        assert con.zcdp_variance(1.1 * cross, delta) > con.classical_variance(1.1 * cross, delta)
        assert con.printed_variance(0.9 * cross, delta) > 3 * con.classical_variance(0.9 * cross, delta)


@pytest.mark.parametrize(("epsilon", "delta", "classical", "true", "exact"), SIGMAS)
def test_classical_and_exact_noise(epsilon: float, delta: float, classical: float, true: float, exact: float) -> None:
    assert math.sqrt(con.classical_variance(epsilon, delta)) == pytest.approx(classical, abs=5e-7)
    assert dpcore.gaussian_classic(epsilon, delta).delta(epsilon) == pytest.approx(true, rel=5e-5)
    assert math.sqrt(con.exact_variance(epsilon, delta)) == pytest.approx(exact, abs=5e-7)
    mu = 1 / classical
    closed = ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)
    assert closed == pytest.approx(true, rel=5e-4)
    assert (true > delta) == (epsilon > 1)  # Theorem 4.4.3 beyond its range


def test_theorem_4_4_3_is_judged_inside_its_range() -> None:
    """The theorem says ε in (0, 1); whatever a reader asks for, no row about it lies outside or calls it false."""
    assert all(0 < epsilon < 1 for epsilon, _ in CLASSICAL)
    for chosen in (lab("concentrated"), lab("concentrated", epsilon=10.0)):
        rows = chosen.table()
        about = rows[rows["place"] == "Theorem 4.4.3"]
        assert set(about["verdict"]) <= {"loose", ""}
        assert not about["quantity"][about["verdict"] != ""].str.contains("ε = 10,").any()


def test_one_hundred_answers() -> None:
    total = con.totals(0.1, 1e-6, 100, 1e-4)
    assert math.sqrt(con.classical_variance(0.1, 1e-6)) == pytest.approx(52.98803, abs=5e-6)
    assert total.basic == pytest.approx(10.0)
    assert total.zcdp == pytest.approx(0.827789, abs=5e-7)
    assert total.exact == pytest.approx(0.563548, abs=5e-7)
    assert total.exact < total.zcdp_tight < total.zcdp
    rho = 100 / (2 * con.classical_variance(0.1, 1e-6))
    assert rho == pytest.approx(0.01780797, abs=5e-9)
    # second route: the composition of the regions themselves
    sigma = math.sqrt(con.classical_variance(0.1, 1e-6))
    assert (dpcore.gaussian(sigma) ** 100).epsilon(1e-4) == pytest.approx(total.exact, rel=1e-9)
    assert dpcore.zcdp(rho).epsilon(1e-4) <= total.zcdp_tight * (1 + 1e-6)


def test_the_exact_calibration_needs_least_where_both_others_are_proved() -> None:
    for delta in (1e-12, 1e-5, 0.01, 0.2):
        for epsilon in (0.01, 0.1, 0.5, 0.99):
            others = con.classical_variance(epsilon, delta), con.zcdp_variance(epsilon, delta)
            assert con.exact_variance(epsilon, delta) < min(others)
        assert con.exact_variance(10.0, delta) < con.zcdp_variance(10.0, delta)
    # at epsilon 10 the classical noise is smaller, and does not keep its promise
    assert con.classical_variance(10.0, 1e-5) < con.exact_variance(10.0, 1e-5)
    assert dpcore.gaussian_classic(10.0, 1e-5).delta(10.0) > 1e-5


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_pure_privacy_as_concentrated_privacy(epsilon: float) -> None:
    """Lemmas 5.8.3 and 5.8.4: the worst mechanism, randomized response, and Laplace noise, at many orders."""
    for region in (dpcore.rr(epsilon), dpcore.laplace(epsilon)):
        for order in (1.001, 1.5, 2.0, 10.0, 100.0):
            found = divergences.renyi(region, order)
            assert found is not None
            assert found[0] <= min(epsilon, order * epsilon**2 / 2) + 1e-12
        last = divergences.renyi(region, 1e4)
        assert last is not None
        assert last[0] == pytest.approx(epsilon, abs=1e-3)  # and no smaller constant will do
    assert con.zcdp_epsilon(0.0, 1e-5, xi=epsilon) == pytest.approx(epsilon, rel=1e-12)


def test_the_unsquared_misquotation_is_not_private() -> None:
    """Sections 5.1 and 5.3 at sensitivity 1, epsilon 0.1: the quoted variance is ten times too small."""
    sigma = math.sqrt(con.unsquared_variance(0.1, 1e-5))
    assert dpcore.gaussian(sigma).delta(0.1) > 1e-5
    assert con.unsquared_variance(1.0, 1e-5) == con.classical_variance(1.0, 1e-5)


def test_the_proof_of_theorem_5_8_6_is_misprinted_in_the_middle() -> None:
    """The exponent (order - 1) D of two normal laws, by integration."""
    x = np.linspace(-14, 18, 32_001)
    p, q = np.exp(-((x - 1) ** 2) / 2), np.exp(-(x**2) / 2)
    for order in (1.5, 2.0, 3.0):
        total = np.sum(p**order * q ** (1 - order)) * (x[1] - x[0]) / math.sqrt(2 * math.pi)
        assert math.log(total) == pytest.approx(order * (order - 1) / 2, rel=1e-9)
        assert abs(math.log(total) - con.printed_exponent(order, 1.0, 0.0)) > 0.5


def test_the_story_is_in_the_first_picture() -> None:
    shown = lab("concentrated")
    picture = shown.view(shown.views[0])
    assert "0.448429" in picture.takeaway
    right = picture.frame[picture.frame["series"] == "concentrated, solved rightly"]
    assert right[right["x"] < 0.44]["y"].max() < 1 < right[right["x"] > 0.46]["y"].min()
    assert picture.frame[picture.frame["series"] == "printed"]["y"].min() > 3.9
    verdicts = shown.table().groupby("place")["verdict"].agg(set)
    assert verdicts["Remark 5.8.7"] == {"false"}
    assert verdicts["Theorem 5.8.6"] == {"holds"}


def test_the_numbers_of_the_story() -> None:
    story = lab("concentrated").story
    assert f"below ε = {con.crossover(1e-5):.3f} (at δ = 1e-5)" in story.true
    for epsilon in (0.1, 1.0):
        ratio = con.printed_variance(epsilon, 1e-5) / con.zcdp_variance(epsilon, 1e-5)
        assert 3.9 < ratio < 4  # "about four times"
    total = con.totals(0.1, 1e-6, 100, 1e-4)
    words = f"cost ε = {total.basic:g} by adding up, {outward(total.zcdp, 3)} by concentrated privacy and {outward(total.exact, 3)}"
    assert words in story.matters


def test_parameters_are_refused() -> None:
    for bad, words in (
        ({"epsilon": 0.0}, "epsilon must be"),
        ({"k": 0}, "k must be an integer"),
        ({"k": 1000, "each_delta": 0.1}, r"k \* each_delta must be at most 0.5"),
    ):
        with pytest.raises(DomainError, match=words):
            lab("concentrated", **bad)
