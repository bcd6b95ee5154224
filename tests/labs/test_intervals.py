"""Private confidence intervals: coverage by simulation, widths, and what drawing again costs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcore.core.effort import effort
from dpcore.core.errors import BudgetError, DomainError
from dpcore.labs import Plot, intervals, lab
from dpcore.language import parse
from dpcore.planner.interval.laws import normal_quantile
from dpcore.words import outward

PLAN = intervals.Plan(0.5, 0.5, 1e-5, 0.95, 1.0, "uniform")
ORACLE = {  # n: coverage, noise ignored, share below 0, half-width, deviation of the noise (8000 runs)
    50: (0.951, 0.309, 0.064, 0.388, 0.193792),
    100: (0.951, 0.412, 0.008, 0.198, 0.096896),
    500: (0.946, 0.717, 0.0, 0.0456, 0.019379),
    1000: (0.954, 0.826, 0.0, 0.0261, 0.009690),
}


@pytest.mark.parametrize("n", sorted(ORACLE))
def test_coverage_oracles(n: int) -> None:
    runs = 3000
    found = intervals.simulate(PLAN, n, runs, np.random.default_rng(n))
    covered, ignored, negative, width, deviation = ORACLE[n]
    both_runs = math.sqrt(1 + runs / 8000)
    assert abs(found.estimated - covered) < 4 * found.error(covered) * both_runs
    assert abs(found.naive - ignored) < 4 * found.error(ignored) * both_runs
    assert abs(found.negative - negative) < 4 * found.error(negative) * both_runs + 5e-4
    half_unit = 0.5 * 10.0 ** (-3 if n <= 100 else -4)
    assert (
        abs(found.width - width) < half_unit + 4 * 0.28 / n / math.sqrt(runs) * both_runs
    )  # one width varies by 0.28/n
    assert intervals.noise_deviation(0.5, 1e-5, 1.0, n) == pytest.approx(deviation, abs=5e-7)
    assert abs(found.known - 0.95) < 4 * found.error(0.95) + 0.003
    assert found.display == 1.0  # the printed display covers always: too wide
    assert found.naive < 0.95 - 4 * found.error(found.naive)  # the naive one far too seldom


def test_naive_coverage_by_the_normal_law() -> None:
    """A mean that is exactly normal: P(|N(0, s² + t²)| <= z s)."""
    rng = np.random.default_rng(0)
    s, t = math.sqrt(2.0 / 30), 0.2
    hit = np.abs(rng.normal(0, s, 200_000) + rng.normal(0, t, 200_000)) <= 1.959964 * s
    wanted = intervals.naive_coverage(0.95, 2.0, 30, t)
    assert abs(hit.mean() - wanted) < 4 * math.sqrt(wanted * (1 - wanted) / hit.size)
    assert intervals.naive_coverage(0.95, 2.0, 30, 0.0) == pytest.approx(0.95)


def test_quantile_and_widths() -> None:
    assert normal_quantile(0.95) == pytest.approx(1.959963985, abs=1e-9)
    deviation = intervals.noise_deviation(0.5, 1e-5, 1.0, 50)
    by_hand = 1.959963985 * math.sqrt(1 / 12 / 50 + 2 * math.log(1.25e5) / (0.25 * 2500))
    assert intervals.half_width(0.95, 1 / 12, 50, deviation) == pytest.approx(by_hand, rel=1e-9)
    assert intervals.half_width(0.95, -1.0, 50, deviation) == pytest.approx(1.959963985 * deviation, rel=1e-9)
    least = intervals.noise_deviation(0.5, 1e-5, 1.0, 1, exact=True)
    assert least == pytest.approx(7.031827, abs=1e-6)


def test_the_printed_display_depends_on_the_unit() -> None:
    def widths(unit: float) -> tuple[float, float]:
        deviation = intervals.noise_deviation(0.5, 1e-5, unit, 50)
        right = intervals.half_width(0.95, unit**2 / 12, 50, deviation)
        return right / unit, intervals.printed_half_width(0.95, unit**2 / 12, 50, 0.5, 1e-5, unit) / unit

    assert widths(1.0)[0] == pytest.approx(widths(1000.0)[0])
    assert widths(1.0)[1] > 4 * widths(1.0)[0]  # Λ < εn: too wide
    assert widths(1000.0)[1] < widths(1000.0)[0] / 3  # Λ > εn: too narrow
    assert widths(25.0)[1] == pytest.approx(widths(25.0)[0])  # Λ = εn


def test_even_split() -> None:
    n = intervals.even_size(0.5, 1e-5, 1.0, 1 / 12)
    assert 2 * math.log(1.25e5) / (0.5 * n) ** 2 == pytest.approx(1 / 12 / n)


def test_drawing_again_costs_more_than_promised() -> None:
    for e in (0.1, 0.5, 2.0):
        b, wide = 1 / e, 80 / e
        z = np.linspace(0, wide, 4001)
        worst = 0.0
        for q in np.linspace(0, 3, 13):
            p0, p1 = (np.exp(-np.abs(z - c) / b) / (2 * b * (1 - 0.5 * math.exp(-c / b))) for c in (q, q + 1))
            worst = max(worst, float(np.abs(np.log(p0 / p1)).max()))
        assert intervals.resampled_loss(e) == pytest.approx(worst, rel=1e-9)
        assert intervals.resampled_loss(e) > e
        cut = parse(f"bounded_laplace({1 / e}, 0, {60 / e}, 1)")
        assert cut.epsilon(0.0) == pytest.approx(intervals.resampled_loss(e), rel=1e-6)


def test_negative_variances() -> None:
    rng = np.random.default_rng(1)
    noisy = 0.05 + rng.laplace(0, 1 / 50 / 0.5, 200_000)
    wanted = 0.5 * math.exp(-0.05 * 50 * 0.5)  # half the Laplace tail beyond the sample variance
    assert abs((noisy < 0).mean() - wanted) < 4 * math.sqrt(wanted / noisy.size)


@pytest.mark.parametrize("population", ["uniform", "skewed"])
def test_moments_of_the_populations(population: str) -> None:
    x = intervals.draw(population, 2.0, np.random.default_rng(2), (1000, 300)).ravel()
    mean, variance = intervals.moments(population, 2.0)
    assert abs(x.mean() - mean) < 4 * math.sqrt(variance / x.size)
    assert abs(x.var() - variance) < 4 * float(((x - mean) ** 2).std()) / math.sqrt(x.size)
    assert 0 <= x.min() <= x.max() <= 2.0


def test_both_releases_are_exactly_composed() -> None:
    """One pair moves mean and variance by all they can: all records 0, one of them moved to the top."""
    x, y = np.zeros(7), np.r_[np.zeros(6), 1.0]
    assert abs(x.mean() - y.mean()) == pytest.approx(1 / 7)
    assert abs(x.var(ddof=1) - y.var(ddof=1)) == pytest.approx(1 / 7)
    subject = lab("intervals")
    leak = float(subject.region.delta(1.0))  # type: ignore[attr-defined]
    assert 0 < leak <= 1e-5
    by_hand = parse("gaussian_classic(0.5, 1e-5) * laplace(0.5)")
    assert leak == pytest.approx(float(by_hand.delta(1.0)))
    loss = _laplace_losses(0.5, 4000)  # second route: the Gaussian's delta averaged over the Laplace loss
    mixed = float(np.mean(parse("gaussian_classic(0.5, 1e-5)").delta(1.0 - loss)))
    assert leak == pytest.approx(mixed, rel=0.01)


def _laplace_losses(epsilon: float, count: int) -> np.ndarray:
    """Return loss of Laplace noise at evenly spread probabilities of the moved noise."""
    u = (np.arange(count) + 0.5) / count
    z = np.where(u < 0.5, np.log(2 * u), -np.log(2 * (1 - u))) + epsilon  # P1 centred at epsilon, scale 1
    return np.abs(z) - np.abs(z - epsilon)


def test_negative_variances_count_as_zero() -> None:
    """With so little budget for the variance its noise decides: half of the widths are those of the mean's noise alone."""
    found = intervals.simulate(
        intervals.Plan(0.5, 0.01, 1e-5, 0.95, 1.0, "uniform"), 10, 4000, np.random.default_rng(7)
    )
    u = (np.arange(4000) + 0.5) / 4000
    noise = np.where(u < 0.5, np.log(2 * u), -np.log(2 * (1 - u))) * 1 / 10 / 0.01
    deviation = intervals.noise_deviation(0.5, 1e-5, 1.0, 10)
    widths = np.array([intervals.half_width(0.95, 1 / 12 + value, 10, deviation) for value in noise])
    assert abs(found.width - widths.mean()) < 4 * widths.std() / math.sqrt(4000)
    assert found.negative == pytest.approx(0.5, abs=0.04)


def test_variance_of_noisy_records_is_inconsistent() -> None:
    rng = np.random.default_rng(3)
    x = rng.random(200_000) + rng.laplace(0, 2.0, 200_000)
    assert x.var() == pytest.approx(intervals.before_variance(1 / 12, 1.0, 0.5), rel=0.03)


# --- the lab -------------------------------------------------------------------------------------------------------


def test_the_numbers_of_the_story() -> None:
    story, right = lab("intervals").story, intervals.noise_deviation(0.5, 1e-5, 1.0, 50)
    display = intervals.printed_half_width(0.95, 1 / 12, 50, 0.5, 1e-5, 1.0)
    assert f"{display / intervals.half_width(0.95, 1 / 12, 50, right):.1f} times as wide at n = 50" in story.true
    assert f"from 0.5 to {outward(intervals.resampled_loss(0.5), 3)}" in story.true
    covered = intervals.naive_coverage(0.95, 1 / 12, 50, right)
    assert f"in {100 * covered:.0f} of 100 cases instead of 95" in story.matters
    ten, eleven = (
        intervals.half_width(0.95, 1 / 12, n, intervals.noise_deviation(0.5, 1e-5, 1.0, n)) for n in (10, 11)
    )
    assert "as wide as the right one from only 10 of the 50 records" in story.matters
    assert eleven < display < ten
    assert lab("intervals").n == 50  # type: ignore[attr-defined]


def test_the_law_of_the_noisy_mean_has_the_mean_of_the_population() -> None:
    """Section 5.7 prints N(0, .) for it."""
    rng = np.random.default_rng(6)
    found = intervals.draw("uniform", 2.0, rng, (4000, 30)).mean(axis=1) + rng.normal(0.0, 0.3, 4000)
    rows = lab("intervals", high=2.0, replications=100).table().set_index("quantity")
    row = rows.loc["centre of the law of the noisy mean (high = 2)"]
    error = found.std() / math.sqrt(found.size)
    assert abs(found.mean() - row["value"]) < 4 * error < abs(found.mean() - float(row["printed"]))
    assert row["verdict"] == ""
    assert rows.loc["centre of the law of the noisy mean", ["value", "verdict", "row"]].tolist() == [
        0.5,
        "loose",
        "centre-of-the-mean",
    ]


def test_classical_noise_beyond_its_range_says_so() -> None:
    """Theorem 4.4.3 is proved for ε < 1: at ε = 10 and δ = 1e-5 both releases have a true δ of 1.42e-5."""
    inside, beyond = lab("intervals"), lab("intervals", epsilon=10.0, replications=100)
    assert inside.condition == ()
    assert beyond.mean_delta == pytest.approx(2.265374e-05, rel=1e-5)
    for view in beyond.views:
        assert any("proved for ε < 1" in note and "2.27e-5, above 1e-5" in note for note in beyond.view(view).notes), (
            view
        )
        assert not any("proved for ε < 1" in note for note in inside.view(view).notes), view
    rows = beyond.table().set_index("quantity")
    own = rows[rows["verdict"] == ""]
    assert own.loc["δ of both releases at ε + ε₁ = 10.5 (epsilon = 10)", "value"] == pytest.approx(1.4157e-05, rel=1e-3)
    assert "false" not in set(rows.loc[rows["place"] == "Theorem 5.7.2", "verdict"])


def test_known_and_noisy_variance_side_by_side() -> None:
    picture = lab("intervals", replications=1000).view("variances")
    assert isinstance(picture, Plot)
    assert set(picture.frame["series"]) == {"known variance", "noisy variance"}
    assert (picture.frame["low"] - 0.02 < 0.95).all()
    assert (picture.frame["high"] + 0.02 > 0.95).all()


def test_the_first_view_shows_who_misses() -> None:
    frame = lab("intervals", replications=400).view("coverage").frame
    at = frame[frame["x"] == 50].set_index("series")
    assert at.loc["noise ignored", "high"] < 0.5
    assert at.loc["corrected, noisy variance", "low"] < 0.95 < at.loc["corrected, noisy variance", "high"] + 0.02
    assert at.loc["as displayed, c²Λ/(εn)", "y"] == 1.0


def test_work_can_be_stopped_and_bad_values_are_refused() -> None:
    with effort(deadline=-1.0), pytest.raises(BudgetError):
        lab("intervals").view("coverage")
    with pytest.raises(DomainError, match=r"level must be a number in \[0.5, 0.999\], got 1"):
        lab("intervals", level=1.0)
    with pytest.raises(DomainError, match="population must be one of uniform, skewed"):
        intervals.moments("normal", 1.0)
