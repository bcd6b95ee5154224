"""Noisy maxima, above threshold and continuous quantiles: exact chances against integration and the algorithms."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from dpcore.utility import Dataset, UtilityPair, pair
from dpcore.utility.above_threshold import slack, stops
from dpcore.utility.choosing import quantile_of
from dpcore.utility.quantile import QuantileExponential
from dpcore.utility.winners import duel, winners

RELEASES = 4000
AGES = Dataset.example(401)


def number_of(chosen: UtilityPair, data: Dataset, measure: str) -> float:
    (value,) = {f.value for f in chosen.closed_forms(data) if f.measure == measure and f.kind == "exact"}
    return value


# ---- noisy maxima --------------------------------------------------------------------------------------------


def _reference(scores: list[float], noise: str) -> list[float]:
    """Integrate f(x - s_i) prod F(x - s_j) with mpmath."""
    top = max(scores)
    if noise == "exponential":
        cuts = [top, top + 2, top + 8, top + 40]
    else:
        cuts = [min(scores) - 40, min(scores) - 5, *sorted(set(scores)), top + 2, top + 8, top + 40]

    def density(z: mpmath.mpf) -> mpmath.mpf:
        return (
            mpmath.exp(-abs(z)) / (1 if noise == "exponential" else 2)
            if noise == "laplace" or z >= 0
            else mpmath.mpf(0)
        )

    def below(z: mpmath.mpf) -> mpmath.mpf:
        if noise == "exponential":
            return 1 - mpmath.exp(-z)
        return mpmath.exp(z) / 2 if z < 0 else 1 - mpmath.exp(-z) / 2

    def chance(i: int) -> float:
        others = [s for j, s in enumerate(scores) if j != i]
        return float(mpmath.quad(lambda x: density(x - scores[i]) * mpmath.fprod(below(x - s) for s in others), cuts))

    return [chance(i) for i in range(len(scores))]


@pytest.mark.parametrize("noise", ["exponential", "laplace"])
@pytest.mark.parametrize("scores", [[0.0, 0.0], [3.0, 0.0, 1.5], [0.0, 0.0, -1.0, -12.0]], ids=str)
def test_winning_chances_by_quadrature(noise: str, scores: list[float]) -> None:
    assert winners(np.array(scores), noise) == pytest.approx(_reference(scores, noise), rel=1e-11)


@pytest.mark.parametrize("noise", ["gumbel", "exponential", "laplace"])
def test_winning_chances_of_two_and_of_many(noise: str) -> None:
    gaps = np.array([0.1, 1.0, 5.0, 40.0])
    assert [winners(np.array([0.0, -g]), noise)[1] for g in gaps] == pytest.approx(duel(gaps, noise), rel=1e-12)
    rng = np.random.default_rng(8)
    scores = rng.normal(0.0, 2.0, 150)
    chances = winners(scores, noise)
    assert chances.sum() == pytest.approx(1.0, abs=1e-11)
    assert winners(scores + 1e4, noise) == pytest.approx(chances, rel=1e-9)
    draw = {"gumbel": rng.gumbel, "exponential": rng.exponential, "laplace": rng.laplace}[noise]
    seen = np.bincount(np.argmax(scores + draw(size=(RELEASES, 150)), axis=1), minlength=150) / RELEASES
    assert np.all(np.abs(seen - chances) <= 4.5 * np.sqrt(chances / RELEASES) + 4 / RELEASES)


def test_permute_and_flip_loses_less_than_the_exponential_mechanism() -> None:
    for epsilon in (0.1, 1.0, 3.0):
        lost = {m: number_of(pair(f"scores_{m}", epsilon=epsilon), AGES, "gap") for m in ("exponential", "permute")}
        assert lost["permute"] < lost["exponential"] <= 2 * lost["permute"]


def test_the_utility_theorem_counts_the_best_candidates() -> None:
    chosen = pair("scores_exponential", epsilon=1.0, scores=(5, 5, 0, 0), within=5.0)
    value = 2 * math.exp(-2.5) / (2 + 2 * math.exp(-2.5))
    assert number_of(chosen, AGES, "far") == pytest.approx(value, rel=1e-13)
    bounds = sorted(f.value for f in chosen.closed_forms(AGES) if f.measure == "far" and f.kind == "upper")
    assert bounds[1] == pytest.approx(2 * math.exp(-2.5), rel=1e-13)


# ---- above threshold -----------------------------------------------------------------------------------------


def test_stopping_chances_are_those_of_the_algorithm() -> None:
    rng = np.random.default_rng(3)
    answers, threshold, epsilon, runs = np.array([3.0, 9.0, 10.0, 14.0, 2.0]), 10.0, 0.8, 40_000
    line = threshold + rng.laplace(0.0, 2 / epsilon, (runs, 1))
    hit = answers + rng.laplace(0.0, 4 / epsilon, (runs, 5)) >= line
    first = np.where(hit.any(axis=1), hit.argmax(axis=1), 5)
    chances = stops(answers, threshold, 4 / epsilon)
    assert chances.sum() == pytest.approx(1.0, abs=1e-13)
    seen = np.bincount(first, minlength=6) / runs
    assert np.all(np.abs(seen - chances) <= 4 * np.sqrt(chances / runs))


def test_one_query_in_closed_form() -> None:
    """P(Lap(4/e) - Lap(2/e) > g) = (4 e^(-g e/4) - e^(-g e/2)) / 6 for g >= 0."""
    for gap in (0.0, 1.0, 30.0):
        value = (4 * math.exp(-gap * 0.8 / 4) - math.exp(-gap * 0.8 / 2)) / 6
        assert stops(np.array([10.0 - gap]), 10.0, 4 / 0.8)[0] == pytest.approx(value, rel=1e-11)
        assert stops(np.array([10.0 + gap]), 10.0, 4 / 0.8)[1] == pytest.approx(value, rel=1e-11)


def test_above_threshold_keeps_its_promise_on_neighbours() -> None:
    rng = np.random.default_rng(5)
    answers = rng.uniform(0.0, 10.0, 6)
    for _ in range(40):
        other = answers + rng.choice([-1.0, 0.0, 1.0], 6)
        ratio = np.abs(np.log(stops(answers, 5.0, 4.0) / stops(other, 5.0, 4.0)))
        assert ratio.max() <= 1.0


def test_slack_of_an_answer() -> None:
    assert slack(np.array([3.0, 12.0, 9.0, 15.0]), 10.0).tolist() == [7.0, 0.0, 2.0, 2.0, 5.0]
    assert slack(np.array([3.0]), 10.0).tolist() == [7.0, 0.0]


def test_many_queries_sum_to_one() -> None:
    chances = stops(np.linspace(-50.0, 80.0, 120), 20.0, 3.0)
    assert chances.sum() == pytest.approx(1.0, abs=1e-12)
    assert (chances >= 0).all()


# ---- continuous quantile -------------------------------------------------------------------------------------


def test_the_law_of_a_quantile_by_numeric_integration() -> None:
    x, level, epsilon = np.array([1.0, 1.0, 2.5, 4.0, 7.0]), 0.3, 1.1
    data = Dataset(x, 0, 10)
    chosen = QuantileExponential(epsilon, level, 1.5, 0.2)
    c = (np.arange(400_000) + 0.5) / 40_000
    rank = np.abs(np.searchsorted(x, c) - level * 5)
    density = np.exp(-epsilon / 2 * rank)
    density /= density.sum()
    truth = float(chosen.answer(data))
    assert truth == 1.0
    assert number_of(chosen, data, "distance") == pytest.approx(float(density @ np.abs(c - truth)), rel=1e-6)
    assert number_of(chosen, data, "rank") == pytest.approx(float(density @ rank), rel=1e-6)
    assert number_of(chosen, data, "miss") == pytest.approx(float(density @ (rank >= 1.5)), rel=1e-6)
    assert number_of(chosen, data, "quantile") == pytest.approx(quantile_of(np.abs(c - truth), density, 0.8), abs=1e-4)
    assert chosen.rank_quantile(data, 0.8) == quantile_of(rank, density, 0.8)
