"""Epsilon of many copies from few masses: the composition's own number, and never below the true one."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING

import mpmath as mp
import numpy as np
import pytest

import dpcore
from dpcore.central_limit.gaussians import epsilons_of
from dpcore.curves.polygon import Polygon
from dpcore.engine.splines import laplace_power
from dpcore.theorems import optimal, tails
from dpcore.theorems.composition import ladder
from dpcore.theorems.tails import epsilon_of_copies

if TYPE_CHECKING:
    from dpcore.regions.tradeoff import TradeOff

AGREE = 1e-10


def statement(epsilon: float, delta: float, still: float) -> TradeOff:
    """Return a statement whose loss is 0 with the share `still` of the finite mass."""
    if still == 0:
        return dpcore.dp(epsilon, delta)
    return dpcore.dptv(epsilon, delta, delta + (1 - delta) * (1 - still) * math.tanh(epsilon / 2))


def pair_of(region: TradeOff) -> Polygon:
    curve = region.curve
    assert isinstance(curve, Polygon)
    return curve


@pytest.mark.parametrize("still", [0.0, 0.001, 0.6, 0.97])
@pytest.mark.parametrize("epsilon", [1e-4, 0.1, 1.0, 50.0])
def test_it_is_the_epsilon_of_the_whole_composition(epsilon: float, still: float) -> None:
    answered = 0
    for delta, k in product((0.0, 1e-8, 0.05), (2, 57, 1000, 30_000)):
        region = statement(epsilon, delta, still)
        whole = region**k
        for asked in (1e-100, 1e-20, 1e-6, 0.05, 0.5):
            found = epsilon_of_copies(pair_of(region), k, asked)
            if found is not None:
                answered += 1
                assert found == pytest.approx(float(whole.epsilon(asked)), rel=AGREE, abs=1e-13)
    assert answered > 25


def true_delta(curve: Polygon, k: int, at: float) -> mp.mpf:
    """Return delta of k copies of the masses the curve holds, by the recurrence of a polynomial's powers, largest loss first."""
    weight = [mp.mpf(mass) for mass in curve.q[::-1]]
    weight = [mass / sum(weight) for mass in weight]
    degree, epsilon, e = len(weight) - 1, mp.mpf(curve.max_loss), mp.mpf(at)
    last, total = [weight[0] ** k], mp.mpf(0)
    for n in range(degree * k + 1):
        if n:
            near = [(i * k - (n - i)) * weight[i] * last[-i] for i in range(1, degree + 1) if i <= len(last)]
            last = [*last[-1:], sum(near) / (n * weight[0])]
        loss = (k - (2 * n if degree == 1 else n)) * epsilon
        if loss <= e:
            break
        total += last[-1] * (1 - mp.exp(e - loss))
    kept = (1 - mp.mpf(curve.q_inf)) ** k
    return 1 - kept + kept * total


@pytest.mark.parametrize("k", [7, 300, 301, 900])
@pytest.mark.parametrize("still", [0.0, 0.3])
def test_it_is_never_below_the_truth_and_hardly_above(k: int, still: float) -> None:
    with mp.workdps(60):
        for epsilon, delta, asked in product((1e-3, 0.3, 3.0), (0.0, 1e-9), (1e-12, 1e-5, 0.2)):
            curve = pair_of(statement(epsilon, delta, still))
            found = epsilon_of_copies(curve, k, asked)
            if found is not None and 0 < found < math.inf:
                assert true_delta(curve, k, found) <= asked
                assert true_delta(curve, k, found * (1 - 1e-9)) > asked


def test_where_the_composition_itself_must_be_asked() -> None:
    curve = pair_of(dpcore.dp(0.1, 1e-9))
    assert epsilon_of_copies(curve, 1, 1e-6) is None
    assert epsilon_of_copies(pair_of(dpcore.dp(0.1)), 1000, 1e-300) is None
    assert epsilon_of_copies(pair_of(dpcore.dp(0.1)), 1000, 0.0) is None
    assert epsilon_of_copies(curve, 1000, float(-np.expm1(1000 * np.log1p(-1e-9)))) is None  # nothing is left
    assert epsilon_of_copies(pair_of(dpcore.dp(60.0)), 1000, 1e-6) is None  # no bell: hardly any answer is against
    assert epsilon_of_copies(curve, 1000, 1e-9) == math.inf
    assert epsilon_of_copies(curve, 1000, 1.0) == 0.0


def test_ends_without_few_masses_stay_the_composition_s(monkeypatch: pytest.MonkeyPatch) -> None:
    with_it = {at: ladder("dptv(0.3, 1e-9, 0.1)", at, [1, 3, 400, 5000]) for at in (0.0, 1e-300, 1e-9, 1e-4, 0.3, 1.0)}
    monkeypatch.setattr(optimal, "epsilon_of_copies", lambda *_: None)
    for at, rows in with_it.items():
        without = ladder("dptv(0.3, 1e-9, 0.1)", at, [1, 3, 400, 5000])
        assert rows["kind"].tolist() == without["kind"].tolist()
        assert rows["note"].tolist() == without["note"].tolist()
        assert rows["epsilon"].to_numpy() == pytest.approx(without["epsilon"].to_numpy(), rel=AGREE)


def test_tilted_masses_are_the_binomial_ones() -> None:
    curve, k = pair_of(dpcore.dp(0.2)), 2000
    weight = curve.q / curve.q.sum()
    window = tails._tilted(weight, k, math.log(1e-6), 0.4)
    assert window is not None
    place = window.first + np.arange(window.mass.size)
    exact = [mp.binomial(k, int(j)) * mp.mpf(weight[1]) ** int(j) * mp.mpf(weight[0]) ** int(k - j) for j in place]
    seen = np.array([float(mass * mp.exp(-window.scale)) for mass in exact])
    large = seen > 1e-6 * seen.max()
    assert window.mass[large] == pytest.approx(seen[large], rel=1e-9)
    assert float(window.mass.sum()) >= float(seen.sum()) * (1 - window.error)


def test_gaussian_epsilons_of_any_size() -> None:
    mu = np.geomspace(1e-4, 1e12, 40)
    found = epsilons_of(mu, np.zeros_like(mu), 1e-6, certified=False)
    place = found / mu - mu / 2
    assert np.all(np.isfinite(found))
    assert np.all(found[mu > 100] > 0)
    # with epsilon = mu (l + mu/2), Phi(-l) alone decides for large mu
    assert place[mu > 1e5][:10] == pytest.approx(4.753424308822899, rel=1e-3)


@pytest.mark.parametrize(("epsilon", "k"), [(1.0, 3), (0.3, 20), (0.05, 200), (6.0, 5)])
def test_the_border_of_laplace_answers_is_that_of_their_thresholds(epsilon: float, k: int) -> None:
    region, power = dpcore.laplace(epsilon) ** k, laplace_power(epsilon, k)
    assert region.kind == "exact"
    # thresholds inside the cells between two atoms, and on the atoms themselves
    inside = (np.arange(-k, k, 2)[:, None] + 2 * np.array([0.1, 0.5, 0.93])).ravel() * epsilon
    on = np.arange(-k + 2, k, 2) * epsilon
    for t, at_least in ((inside, False), (on, False), (on, True)):
        alpha, found = power.alpha(t, at_least=at_least), power.power(t, at_least=at_least)
        known = (alpha > 1e-250) & (alpha < 0.999)
        assert known.any()
        assert region.beta(alpha[known]) == pytest.approx(1 - found[known], rel=1e-9, abs=1e-13)
