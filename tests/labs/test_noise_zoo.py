"""The noise zoo: oracles, second routes, and the printed statements that are false."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

from dpcore import DomainError, parse
from dpcore.labs import lab
from dpcore.labs import mixed_noise as mix
from dpcore.labs import noise_zoo as zoo
from dpcore.words import outward

SIX = 5e-7


# ---- oracles of the digest ------------------------------------------------------------------------------------------


def test_two_laplace_noises() -> None:
    """2.7: the sum is private and its region is smaller than that of one noise."""
    one, two = parse("laplace(1)"), parse("laplace_sum(1)")
    for epsilon, single, double in ((0.0, 0.393469, 0.241837), (0.5, 0.221199, 0.057238), (0.75, 0.117503, 0.004446)):
        assert one.delta(epsilon) == pytest.approx(single, abs=SIX)
        assert two.delta(epsilon) == pytest.approx(double, abs=SIX)
    assert parse("laplace(2)").total_variation == pytest.approx(0.632121, abs=SIX)
    assert parse("laplace_sum(1, 2)").total_variation == pytest.approx(0.448181, abs=SIX)


def test_the_sum_of_two_laplace_noises_is_private() -> None:
    """Example 4.5.7 says the ratio is unbounded: on [-60, 60] it is 0.98374, it nears 1 and never gets there."""
    noise, x = parse("laplace_sum(1)"), np.linspace(-60.0, 60.0, 24_001)
    losses = zoo.loss(noise, x, 1.0)
    assert np.abs(losses).max() == pytest.approx(0.98374, abs=5e-6)
    far = np.abs(zoo.loss(noise, np.linspace(-600.0, 600.0, 24_001), 1.0)).max()
    assert 0.998 < far < 1.0
    assert noise.epsilon(0.0) == 1.0


def test_two_laplace_noises_of_different_scales() -> None:
    """Example 4.5.8: the largest loss is that of the wider noise, the region is smaller than either one's."""
    x = np.linspace(-40.0, 41.0, 81_001)
    step = x[1] - x[0]

    def density(y: np.ndarray) -> np.ndarray:
        return (2 * np.exp(-np.abs(y) / 2) - np.exp(-np.abs(y))) / 6

    p, q = density(x), density(x - 1)
    assert p.sum() * step == pytest.approx(1.0, abs=1e-6)
    assert 0.4999 < np.log(q / p).max() < 0.5
    for epsilon in (0.0, 0.2, 0.4):
        brute = np.maximum(q - math.exp(epsilon) * p, 0).sum() * step
        assert brute < parse("laplace(0.5)").delta(epsilon) - 0.01


def test_the_misprinted_characteristic_function() -> None:
    x = np.linspace(-60.0, 60.0, 120_001)
    assert (np.exp(-np.abs(x) * 2) / 4).sum() * (x[1] - x[0]) == pytest.approx(0.25, abs=1e-6)
    assert (np.exp(-np.abs(x) / 2) / 4).sum() * (x[1] - x[0]) == pytest.approx(1.0, abs=1e-6)


def test_normal_and_laplace_noise() -> None:
    """2.7 and Figure 4.1: sigma 1, scale 2."""
    more, one = parse("normal_laplace(1, 2)"), parse("laplace(0.5)")
    np.testing.assert_allclose(more.density(np.array([0.0, 1.0, 3.0])), [0.174809, 0.150012, 0.063113], atol=SIX)
    assert parse("laplace(0.5)").epsilon_ == 0.5
    assert zoo.Laplace(1 / math.sqrt(4.5)).density(np.zeros(1))[0] == pytest.approx(0.235702, abs=SIX)
    assert zoo.Gaussian(3.0).density(np.zeros(1))[0] == pytest.approx(0.132981, abs=SIX)
    assert more.law.variance == 9.0
    assert more.total_variation == pytest.approx(0.172519, abs=SIX)
    assert one.total_variation == pytest.approx(0.221199, abs=SIX)
    assert more.delta(0.25) == pytest.approx(0.074320, abs=SIX)
    assert one.delta(0.25) == pytest.approx(0.117503, abs=SIX)
    assert more.epsilon(0.0) == pytest.approx(0.5, rel=1e-12)


def test_distances_of_two_normal_laws() -> None:
    """2.2: the printed total variation is false, the divergences are right."""
    assert zoo.normal_total_variation(1, 1) == pytest.approx(0.38292, abs=5e-6)
    assert zoo.printed_total_variation(1, 1) == pytest.approx(0.76585, abs=5e-6)
    assert zoo.normal_total_variation(1, 2) == pytest.approx(0.197413, abs=SIX)
    assert zoo.printed_total_variation(1, 0.3) > 1
    assert zoo.renyi(zoo.Gaussian(2.0), 1.0)[0] == pytest.approx(1 / 8, rel=1e-14)
    assert zoo.renyi(zoo.Gaussian(2.0), 3.0)[0] == pytest.approx(3 / 8, rel=1e-14)
    assert math.isinf(zoo.renyi(zoo.Gaussian(2.0), math.inf)[0])


def test_the_total_variation_by_integration() -> None:
    for sigma in (1.0, 2.0):
        half = mp.quad(lambda x, s=sigma: abs(mp.npdf(x, 0, s) - mp.npdf(x, 1, s)), [-20, 0.5, 20]) / 2
        assert zoo.normal_total_variation(1, sigma) == pytest.approx(float(half), rel=1e-9)
        assert abs(zoo.printed_total_variation(1, sigma) - float(half)) > 1e-3


def test_inequalities_between_distances() -> None:
    """(2.6a) and (2.6c) hold for the whole zoo, (2.6b) from order 1 on and not below."""
    for noise in zoo.zoo(1.0, 1.0, 1.0).values():
        kl, tv = zoo.renyi(noise, 1.0)[0], noise.total_variation
        assert tv <= math.sqrt(kl / 2) + 1e-15
        for gamma in (1.2, 2.0):
            assert 1 - gamma * (1 - tv) <= noise.delta(math.log(gamma)) + 1e-12
        assert kl <= zoo.renyi(noise, 1.5)[0] <= zoo.renyi(noise, math.inf)[0]
    # order 1/2 of two normal laws 1 apart: -2 log of the integral of sqrt(pq) = 1/4, below Kullback-Leibler 1/2
    affinity = mp.quad(lambda x: mp.sqrt(mp.npdf(x, 0, 1) * mp.npdf(x, 1, 1)), [-20, 0.5, 20])
    assert float(-2 * mp.log(affinity)) == pytest.approx(0.25, rel=1e-9)


def test_laplace_trade_off() -> None:
    """2.4."""
    np.testing.assert_allclose(
        parse("laplace(1)").beta([0.05, 0.1, 0.2, 0.5]), [0.864086, 0.728172, 0.459849, 0.183940], atol=SIX
    )


def test_variances_of_the_zoo_by_integration() -> None:
    x = np.linspace(-60.0, 60.0, 240_001)
    for name, noise in zoo.zoo(0.5, 1.5, 0.7).items():
        second = (x**2 * zoo.density(noise, x, 0.5)).sum() * (x[1] - x[0])
        own = noise.law.variance * (0.25 if name == zoo.LAPLACE else 1.0)  # `laplace` counts in sensitivities
        assert second == pytest.approx(own, rel=1e-3), name


def test_errors_of_the_laplace_mechanism() -> None:
    """2.4 and (5.1): 2 (D/e)^2, D/e and D log 2/e; for the mean of n records in [0, L] D is L/n."""
    sensitivity, epsilon = 110 / 659, 0.5
    square = mix.laplace_variance(epsilon, sensitivity)
    assert square == pytest.approx(2 * 110**2 / (659**2 * 0.5**2), rel=1e-12)
    assert zoo.Laplace(epsilon).law.variance * sensitivity**2 == pytest.approx(square, rel=1e-12)
    mean, median, _ = mix.errors(square)["Laplace"]
    assert (mean, median) == pytest.approx((sensitivity / epsilon, sensitivity * math.log(2) / epsilon), rel=1e-12)
    draws = np.abs(np.random.default_rng(3).laplace(0.0, sensitivity / epsilon, 100_000))
    assert draws.mean() == pytest.approx(mean, abs=4 * draws.std() / math.sqrt(draws.size))
    assert np.mean(draws < median) == pytest.approx(0.5, abs=4 * 0.5 / math.sqrt(draws.size))


@pytest.mark.parametrize("name", [zoo.LAPLACE, zoo.TWICE, zoo.MIXED, zoo.NORMAL, zoo.UNIFORM])
def test_the_other_divergences_by_their_definitions(name: str) -> None:
    """E_gamma = sup P(A) - gamma Q(A) and the approximate largest loss sup log (P(A) - delta)/Q(A), over half-lines A.

    All noises of the zoo have monotone likelihood ratios, so that half-lines are the best sets (2.2, (4.3) and (4.4)).
    """
    noise = zoo.zoo(1.0, 1.0, 1.0)[name]
    x = np.linspace(-12.0, 13.0, 100_001)
    p, q = (zoo.density(noise, x, 1.0, moved=moved) for moved in (True, False))
    above_p, above_q = (np.cumsum(part[::-1])[::-1] * (x[1] - x[0]) for part in (p, q))
    for epsilon in (0.0, 0.3, 0.8):
        brute = (above_p - math.exp(epsilon) * above_q).max()
        assert noise.delta(epsilon) == pytest.approx(brute, abs=2e-4)
    for delta in (0.02, 0.1):
        kept = (above_p > delta) & (above_q > 1e-9)
        brute = np.log((above_p[kept] - delta) / above_q[kept]).max() if name != zoo.UNIFORM else math.inf
        found = float(noise.epsilon(delta))
        assert found == pytest.approx(max(brute, 0.0), abs=2e-3)


# ---- divergences of the sums by a second route ----------------------------------------------------------------------


@pytest.mark.parametrize("order", [1.0, 2.0, 5.0])
def test_divergences_of_two_laplace_noises_in_high_precision(order: float) -> None:
    def density(x: mp.mpf) -> mp.mpf:
        return (1 + abs(x)) * mp.exp(-abs(x)) / 4

    places = [-70, -10, 0, 1, 10, 70]
    if order == 1.0:
        truth = mp.quad(lambda x: density(x) * mp.log(density(x) / density(x - 1)), places)
    else:
        truth = mp.log(mp.quad(lambda x: density(x) ** order * density(x - 1) ** (1 - order), places)) / (order - 1)
    value, kind = zoo.renyi(parse("laplace_sum(1)"), order)
    assert value == pytest.approx(float(truth), rel=1e-10)
    assert kind == "approximate"


def test_divergences_of_narrow_normal_noise_are_those_of_laplace_noise() -> None:
    for order in (1.0, 2.0, 40.0):
        narrow = zoo.renyi(zoo.NormalLaplace(1e-4, 1.0), order)[0]
        assert narrow == pytest.approx(zoo.renyi(zoo.Laplace(1.0), order)[0], rel=1e-3)
    wide = zoo.renyi(zoo.NormalLaplace(1.0, 1e-3), 2.0)[0]
    assert wide == pytest.approx(1.0, rel=1e-3)
    with pytest.raises(DomainError, match=r"order must be a number in \[1, inf\]"):
        zoo.renyi(zoo.Laplace(1.0), 0.5)
    with pytest.raises(DomainError, match="no noise of its own"):
        _ = parse("exponential(1)").law


# ---- the lab --------------------------------------------------------------------------------------------------------


def test_the_first_picture_tells_the_story() -> None:
    shown = lab("noise_zoo")
    regions = shown.view(shown.views[0]).regions
    alpha = np.linspace(0.01, 0.99, 99)
    assert np.all(regions[zoo.TWICE].beta(alpha) > regions[zoo.LAPLACE].beta(alpha))
    assert "0.2418" in shown.view("regions").takeaway
    rows = shown.table().set_index("place")
    assert rows.loc["Example 4.5.7", "verdict"] == "false"
    assert set(rows.loc["Fallacy 4.5.10", "verdict"]) == {"false"}
    fallacy = rows.loc["Fallacy 4.5.10"]
    assert set(fallacy["printed"]) == {"no improvement on one noise"}
    alone = fallacy["why"].str.extract(r"([0-9.]*[0-9])(?: with one noise)?\.$")[0].astype(float)
    assert (fallacy["value"] < alone).all()
    assert alone.iloc[0] == pytest.approx(parse("laplace(1)").total_variation, abs=1e-6)


def test_the_numbers_of_the_story() -> None:
    story = lab("noise_zoo").story
    one, two = (parse(text).total_variation for text in ("laplace(1)", "laplace_sum(1)"))
    assert f"falls from {outward(one, 3)} to {outward(two, 3)}" in story.true


def test_parameters_are_refused_with_their_range() -> None:
    for bad, words in (({"scale": 0.0}, r"scale must be a number in \[0.1, 10\]"), ({"order": 0.5}, "order must be"),
                       ({"sensitivity": math.inf}, "sensitivity must be")):  # fmt: skip
        with pytest.raises(DomainError, match=words):
            lab("noise_zoo", **bad)
    with pytest.raises(DomainError, match="picture"):
        lab("noise_zoo").view("regionz")
