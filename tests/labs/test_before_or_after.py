"""Noise before or after the query: closed forms against simulation and exact laws, printed formulas that fail."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcore.core.errors import DomainError
from dpcore.labs import before_or_after as both
from dpcore.labs import lab
from dpcore.labs.disclosure import COUNTS, ages

ALL = (0.0, 1.0)


def test_the_ages_have_the_printed_counts() -> None:
    x = ages()
    assert np.histogram(x, bins=np.arange(19, 80, 5))[0].tolist() == list(COUNTS)
    assert x.size == 659
    assert float(np.median(x)) == pytest.approx(38.5, abs=0.5)
    assert np.array_equal(x, ages())


# --- mean and variance ---------------------------------------------------------------------------------------------


def test_mean_before_and_after() -> None:
    rng = np.random.default_rng(0)
    x = both.spread_out(20, 3.0)
    off = (x + rng.laplace(0, 3.0 / 0.7, (40_000, 20))).mean(axis=1) - x.mean()
    squares = off**2
    assert abs(squares.mean() - 2 * (3.0 / 0.7) ** 2 / 20) < 4 * squares.std() / 200
    needed = both.equal_epsilon_mean(0.7, 20)
    assert 2 * (3.0 / needed) ** 2 / 20 == pytest.approx(2 * (3.0 / 20 / 0.7) ** 2)  # noise after: scale 3/(20 · 0.7)
    assert needed != pytest.approx(math.sqrt(20 * 0.7))  # the root printed over both


@pytest.mark.parametrize("n", [5, 50])
def test_variance_before_by_simulation(n: int) -> None:
    rng = np.random.default_rng(n)
    x = rng.random(n)
    spread = float(x.var(ddof=1))
    found = both.noisy_variances(x, 0.5, 20_000, rng, ALL)
    squares = (found - spread) ** 2
    exact = both.variance_before(2.0, 1.0, n, spread)
    assert abs(squares.mean() - exact) < 4 * squares.std() / math.sqrt(squares.size)
    assert abs(found.mean() - spread - both.variance_bias(2.0, 1.0)) < 4 * found.std() / math.sqrt(found.size)
    if n == 50:
        assert both.printed_variance_before(2.0, 1.0, x) < exact / 5


def test_variance_before_on_the_sample_of_the_digest() -> None:
    """Its 50 uniform records are unknown; 0.27879 and 0.03494 tell their second and fourth central moment."""
    n, b = 50, 0.5
    without = both.variance_before(2.0, 1.0, n, 0.0)
    spread = (0.27879 - without) * (n - 1) / (8 * b * b)
    assert both.variance_before(2.0, 1.0, n, spread) == pytest.approx(0.27879, abs=5e-6)
    assert abs(spread - 1 / 12) < 4 * math.sqrt(1 / 180 / n)
    flat = n / (n - 1) ** 2 * both.printed_fourth_moment(n, b) + 12 * b * b / n * spread
    fourth = (0.03494 - flat) * (n - 1) ** 2 / n
    assert abs(fourth - 1 / 80) < 4 * math.sqrt((1 / 2304 - 1 / 6400) / n) + 5e-6 * n
    x = both.spread_out(n, 1.0)  # the printed formula is these three terms
    own = n / (n - 1) ** 2 * (((x - 0.5) ** 4).mean() + both.printed_fourth_moment(n, b))
    assert both.printed_variance_before(2.0, 1.0, x) == pytest.approx(own + 12 * b * b / n * x.var(ddof=1), rel=1e-12)
    assert pytest.approx(0.27879, abs=0.003) == 0.27822, "simulated there"


def test_variance_before_by_exact_moments() -> None:
    """Two records: S = (x1 - x2 + D)²/2 with D = Z1 - Z2, whose moments are E D² = 4b², E D⁴ = 72 b⁴."""
    gap, b = 0.3, 0.8
    spread = gap**2 / 2
    first = (gap**2 + 4 * b**2) / 2
    second = (gap**4 + 6 * gap**2 * 4 * b**2 + 72 * b**4) / 4
    error = second - first**2 + (first - spread) ** 2
    assert both.variance_before(1 / b, 1.0, 2, spread) == pytest.approx(error, rel=1e-12)


def test_fourth_moment() -> None:
    assert both.fourth_moment(2) == pytest.approx(72 / 16)  # (Z1 - Z2)/2
    five = np.random.default_rng(2).laplace(size=(200_000, 5))
    found = (five[:, 0] - five.mean(axis=1)) ** 4
    error = found.std() / math.sqrt(found.size)
    assert abs(found.mean() - both.fourth_moment(5)) < 4 * error
    rng = np.random.default_rng(1)
    z = rng.laplace(size=(400_000, 2))
    fourth = (z[:, 0] - z.mean(axis=1)) ** 4
    assert abs(fourth.mean() - both.printed_fourth_moment(2)) > 4 * fourth.std() / math.sqrt(400_000)


@pytest.mark.parametrize(("n", "oracle"), [(100, 12.678), (1000, 39.872), (10_000, 126.12)])
def test_equal_epsilon_of_the_variance(n: int, oracle: float) -> None:
    found = both.equal_epsilon_variance(1.0, 1.0, n, 1 / 12)
    assert both.variance_before(found, 1.0, n, 1 / 12) == pytest.approx(both.variance_after(1.0, 1.0, n), rel=1e-12)
    # the oracle belongs to one uniform sample: the sample variance it implies is within 4 of its standard errors
    right = both.variance_after(1.0, 1.0, n)
    u = 1 / oracle**2
    implied = (right - 4 * u * u * (1 + (5 * n - 3) / (n * (n - 1)))) * (n - 1) / (8 * u)
    assert abs(implied - 1 / 12) < 4 * math.sqrt(1 / 180 / n)
    assert found == pytest.approx(oracle, rel=8e-3)


def test_equal_epsilon_grows_like_the_root_of_n() -> None:
    ratio = [both.equal_epsilon_variance(1.0, 1.0, n, 1 / 12) / math.sqrt(n) for n in (10**4, 10**6, 10**8)]
    assert ratio[-1] == pytest.approx(1.2612, abs=1e-4)
    assert max(ratio) / min(ratio) < 1.001


def test_printed_equation_has_no_solution_for_many_records() -> None:
    solved = [both.printed_equal_epsilon(1.0, both.spread_out(n, 1.0)) is not None for n in range(100, 400)]
    assert solved.index(False) + 100 == 159, "the digest has about 160"
    assert not any(solved[59:])
    x = both.spread_out(100, 1.0)
    root = both.printed_equal_epsilon(1.0, x)
    assert root is not None
    assert both.printed_variance_before(root, 1.0, x) == pytest.approx(both.variance_after(1.0, 1.0, 100))


# --- median --------------------------------------------------------------------------------------------------------


def test_median_before_beats_median_after() -> None:
    rng = np.random.default_rng(2)
    x = ages()
    off = both.noisy_medians(x, 110.0, 1000, rng, ALL) - np.median(x)
    before = math.sqrt(float((off**2).mean()))
    spread = before * math.sqrt(2 / 4000)  # of one simulated root mean square, about normal; 5.08 is another one
    assert before == pytest.approx(5.08, abs=4 * spread * math.sqrt(2))
    assert both.printed_median_sensitivity() == 1.0
    assert math.sqrt(both.median_after(1.0, 110.0)) == pytest.approx(155.56, abs=0.01)
    small = math.sqrt(both.median_after(1.0, 1.0))  # the program's; 1.42 was simulated, 1000 runs
    assert pytest.approx(small, abs=4 * small * math.sqrt(5 / 4000)) == 1.42
    after = float(np.std(rng.laplace(0, 110.0, 1000)))
    assert after == pytest.approx(153, abs=4 * 155.6 * math.sqrt(5 / 4000))
    assert before < after / 20
    bias, error = float(off.mean()), float(off.std()) / math.sqrt(1000)
    assert bias > 4 * error  # not unbiased
    assert bias == pytest.approx(1.83, abs=4 * error * math.sqrt(2))


def median_before_law(x: np.ndarray, scale: float, y: np.ndarray) -> np.ndarray:
    r"""Return P(median of x_i + Lap(scale) <= y) at every y, exact, for an odd number of records.

    It is the chance that at least (n+1)/2 of independent events of chances F(y - x_i) happen: one convolution per record.
    """
    t = (y[:, None] - x[None, :]) / scale
    chance = np.where(t < 0, 0.5 * np.exp(np.minimum(t, 0)), 1 - 0.5 * np.exp(-np.maximum(t, 0)))
    mass = np.zeros((y.size, x.size + 1))
    mass[:, 0] = 1.0
    for i in range(x.size):
        p = chance[:, i, None]
        mass[:, 1 : i + 2] = mass[:, 1 : i + 2] * (1 - p) + mass[:, : i + 1] * p
        mass[:, 0] *= 1 - p[:, 0]
    return np.asarray(mass[:, (x.size + 1) // 2 :].sum(axis=1), dtype=np.float64)


def test_law_of_the_noisy_median() -> None:
    x = np.array([0.0, 0.3, 2.0])
    y = np.linspace(-60, 60, 6001)
    law = median_before_law(x, 1.5, y)
    f = np.where(
        y[:, None] < x, 0.5 * np.exp(-np.abs(y[:, None] - x) / 1.5), 1 - 0.5 * np.exp(-np.abs(y[:, None] - x) / 1.5)
    )
    a, b, c = f.T
    assert law == pytest.approx(a * b + a * c + b * c - 2 * a * b * c, abs=1e-14)
    rng = np.random.default_rng(3)
    draws = both.noisy_medians(x, 1.5, 40_000, rng, ALL)
    seen = np.searchsorted(np.sort(draws), y) / draws.size
    assert np.abs(seen - law).max() < 2.2 / math.sqrt(draws.size)  # Kolmogorov's distance, 1 of 10 000


def test_large_n_formula_against_the_exact_law() -> None:
    x = ages()[2::3]  # an odd number
    centre, deviation = both.median_before_limit(x, 110.0)
    y = np.linspace(centre - 7 * deviation, centre + 7 * deviation, 121)
    law = median_before_law(x, 110.0, y)
    mean = y[0] + np.trapezoid(1 - law, y)
    second = np.trapezoid(2 * (y - mean) * (np.where(y > mean, 1.0, 0.0) - law), y)
    assert mean == pytest.approx(centre, abs=0.1)
    assert math.sqrt(second) == pytest.approx(deviation, rel=0.03)
    assert np.median(x) < centre < x.mean()


def test_sensitivity_of_the_variance_in_the_code() -> None:
    years = np.arange(111.0)
    largest = max(abs(years.var(ddof=1) - np.delete(years, i).var(ddof=1)) for i in range(111))
    rows = lab("before_or_after", replications=20).table()
    row = rows[rows["quantity"].str.startswith("sensitivity of the variance")].iloc[0]
    assert float(row["printed"]) == pytest.approx(largest / 659)
    assert row["value"] == pytest.approx(110**2 / 659)


# --- the lab -------------------------------------------------------------------------------------------------------


def test_the_numbers_of_the_story() -> None:
    story, x = lab("before_or_after").story, both.spread_out(659, 110.0)
    assert f"of {both.printed_median_sensitivity():g} year for the median instead of 110" in story.true
    ratio = both.variance_before(1.0, 110.0, 659, float(x.var(ddof=1))) / both.printed_variance_before(1.0, 110.0, x)
    assert round(ratio, -2) == 100
    assert "about 100 times too small at n = 659 and ε = 1" in story.true
    assert "659 ages" in story.claimed


def test_the_first_view_reverses_the_printed_order() -> None:
    frame = lab("before_or_after", replications=50).view("median").frame
    at = frame[frame["x"] == 1.0].set_index("series")["y"]
    assert at["after, as printed: sensitivity 1"] < at["before"] < at["after"] / 10


def test_bad_values_are_refused() -> None:
    with pytest.raises(DomainError, match=r"high must be a number in \[80, 1000000\], got 50"):
        lab("before_or_after", high=50.0)
    with pytest.raises(DomainError, match="at least 2 numbers"):
        both.noisy_medians([1.0], 1.0, 10, np.random.default_rng(0), ALL)
