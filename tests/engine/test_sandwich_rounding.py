"""The proved rounding bounds of the lattice sandwich, against many digits."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from dpcore.core.rounding import UNIT
from dpcore.curves.gaussian import GaussianCurve
from dpcore.engine import profile, sandwich_fold, sandwich_measure
from dpcore.engine.lattice_windows import fast_length
from dpcore.engine.sandwich_fold import Fold
from dpcore.engine.sandwich_measure import Measure
from dpcore.engine.sandwich_rounding import kernel, transform_units


def law(rng: np.random.Generator, size: int, decades: float) -> Measure:
    """Masses that fall over some decades, with noise."""
    mass = 10.0 ** (-decades * np.abs(np.linspace(-1.0, 1.0, size)) ** 1.5) * rng.uniform(0.5, 1.0, size)
    return Measure(-(size // 3), mass / mass.sum(), 0.0)


@pytest.mark.parametrize("least", [60, 70, 90, 200, 250])
def test_a_transform_has_less_error_at_every_frequency_than_is_proved(least: int) -> None:
    """Lengths 2^a, 3 2^a and 5 2^a, against sums in forty digits."""
    length = fast_length(least)
    weight = law(np.random.default_rng(least), length, 12.0).mass
    got = np.fft.rfft(weight)
    with mp.workdps(40):
        roots = [mp.expjpi(mp.mpf(-2 * i) / length) for i in range(length)]
        exact = [mp.mpf(float(w)) for w in weight]
        worst = max(
            abs(mp.mpc(got[f]) - mp.fsum(w * roots[i * f % length] for i, w in enumerate(exact)))
            for f in range(0, length // 2 + 1, 7)
        )
    assert worst <= UNIT * transform_units(length)


def truths(parts: list[tuple[Measure, int]], h: float, epsilon: np.ndarray) -> list[mp.mpf]:
    """Return delta by convolutions in integers, and sums in sixty digits."""
    scale, total, first = 1, [1], 0
    for measure, k in parts:
        ratios = [Fraction(float(x)) for x in measure.mass]
        common = math.lcm(*(ratio.denominator for ratio in ratios))
        whole = [ratio.numerator * (common // ratio.denominator) for ratio in ratios]
        # one large integer for each polynomial: its product has the coefficients of the convolution
        bits = 64 + k * (max(whole).bit_length() + len(whole).bit_length()) + sum(total).bit_length()
        packed = sum(x << (bits * i) for i, x in enumerate(whole)) ** k * sum(
            x << (bits * i) for i, x in enumerate(total)
        )
        count = k * (len(whole) - 1) + len(total)
        total = [(packed >> (bits * i)) & ((1 << bits) - 1) for i in range(count)]
        scale, first = scale * common**k, first + k * measure.first
    with mp.workdps(60):
        out = []
        for e in epsilon.tolist():
            gaps = [(mp.mpf(x) / scale, mp.mpf(h) * (first + i) - mp.mpf(e)) for i, x in enumerate(total)]
            out.append(mp.fsum(-x * mp.expm1(-gap) for x, gap in gaps if gap > 0))
    return out


CASES = [(5, 40, 3.0, 0.01), (25, 30, 30.0, 0.3), (3, 200, 100.0, 0.002), (60, 6, 8.0, 1.0), (1, 300, 12.0, 0.05)]


@pytest.mark.parametrize(("k", "size", "decades", "h"), CASES)
def test_delta_is_within_its_error_in_many_digits(k: int, size: int, decades: float, h: float) -> None:
    """Without any allowance: the losses are exact multiples of h, whose rounding is part of the bound."""
    rng = np.random.default_rng(k)
    parts = [(law(rng, size, decades), k), (law(rng, 12, 4.0), 2)]
    fold = Fold(parts, h)
    epsilon = np.sort(rng.uniform(0.0, 0.95 * fold.top, 6))
    values = fold.delta(epsilon, 1e-6)
    for value, error, truth in zip(values.value, values.error, truths(parts, h, epsilon), strict=True):
        if truth > 1e-300:
            assert abs(mp.mpf(float(value)) - truth) <= mp.mpf(float(error))


def test_the_comparison_fails_for_a_transform_with_a_larger_error(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    parts = [(law(rng, 30, 6.0), 20)]
    exact = np.fft.rfft
    monkeypatch.setattr(sandwich_fold.np.fft, "rfft", lambda *x: exact(*x) * (1.0 + 1e-9))
    fold = Fold(parts, 0.1)
    epsilon = np.array([0.3 * fold.top])
    values = fold.delta(epsilon, 1e-6)
    assert abs(float(values.value[0]) - float(truths(parts, 0.1, epsilon)[0])) > values.error[0]


@pytest.mark.parametrize(("n", "span"), [(5, 1.0), (900, 3.0), (1500, 400.0), (34_000, 900.0)])
def test_running_sums_are_as_exact_as_is_proved(n: int, span: float) -> None:
    rng = np.random.default_rng(n)
    loss = np.sort(rng.uniform(-0.3 * span, 0.7 * span, n))
    q = 10.0 ** rng.uniform(-3, 0, n) * np.exp(rng.choice([0.0, 0.5]) * (loss - loss[-1]))
    table = profile.tables(loss, q)
    at = rng.integers(0, n - 1, 2)
    epsilon = loss[at] - rng.uniform(0.0, 1e-3, 2)
    with mp.workdps(40):
        for e, got in zip(epsilon.tolist(), profile.delta_at(epsilon, loss, table).tolist(), strict=True):
            above = loss > e
            truth = mp.fsum(
                -mp.mpf(x) * mp.expm1(mp.mpf(e) - mp.mpf(y))
                for x, y in zip(q[above].tolist(), loss[above].tolist(), strict=True)
            )
            assert abs(got / truth - 1) <= profile.rounding(n, span) * UNIT


@pytest.mark.parametrize("theta", [1e-3, 0.2, 1.0, 7.0, 300.0])
def test_the_kernel_is_nowhere_larger(theta: float) -> None:
    x = np.geomspace(1e-6, 50.0, 20_000) / min(theta, 1.0)
    most = np.max(np.exp(-theta * x) * -np.expm1(-x))
    assert most <= kernel(theta) <= most * (1.0 + 1e-6)


class Shape:
    """A profile in closed form: Gaussian noise of one mu, in doubles and in many digits."""

    symmetric, q_inf, max_loss, min_loss, work = True, 0.0, math.inf, -math.inf, 1.0

    def __init__(self, mu: float) -> None:
        self.mu = mu
        self.curve = GaussianCurve(mu)

    def delta_bounds(self, epsilon: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.curve.delta_bounds(epsilon)

    def inverse(self) -> Shape:
        return self

    def truth(self, epsilon: mp.mpf) -> mp.mpf:
        mu = mp.mpf(self.mu)
        return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)


def delta_of(measure: Measure, h: float, epsilon: mp.mpf) -> mp.mpf:
    """Return the delta of a lattice measure whose losses are exact multiples of h."""
    terms = ((mp.mpf(float(m)), mp.mpf(h) * (measure.first + i)) for i, m in enumerate(measure.mass) if m > 0)
    return mp.mpf(measure.rest) + mp.fsum(-m * mp.expm1(epsilon - loss) for m, loss in terms if loss > epsilon)


@pytest.mark.parametrize(
    ("mu", "h"),
    [(1.0, 0.03), (3.0, 0.5), *(pytest.param(*case, marks=pytest.mark.long) for case in [(0.05, 1e-4), (0.3, 7e-4)])],
)
def test_the_measures_are_on_their_sides_of_the_profile_in_many_digits(mu: float, h: float) -> None:
    """Without any allowance, far out too, where a profile is a rounding of its neighbours."""
    shape = Shape(mu)
    inner, outer = sandwich_measure.pair(shape, h, -8.0 * mu, 8.0 * mu)
    with mp.workdps(40):
        for share in (-6.3, -1.7, -0.2, 0.0, 0.031, 0.9, 2.2, 5.5, 7.7):
            epsilon = mp.mpf(share * mu)
            truth = shape.truth(epsilon)
            assert delta_of(inner, h, epsilon) <= truth <= delta_of(outer, h, epsilon)


@pytest.mark.parametrize("seed", range(4))
def test_lowered_masses_have_no_more_mass_above_any_loss(seed: int) -> None:
    """Also if nearly all masses are roundings of 0, as for a profile that is straight between few corners."""
    rng = np.random.default_rng(seed)
    signed = rng.normal(size=400) * 1e-16
    signed[rng.integers(0, 400, 6)] += rng.uniform(0.0, 0.1, 6)
    mass, rest = sandwich_measure._lowered(signed, 1e-15)
    exact = [Fraction(float(x)) for x in (*signed, 1e-15)]
    mine = [Fraction(float(x)) for x in (*mass, rest)]
    assert min(mine) >= 0
    tails = [sum(exact[i:]) for i in range(401)]
    assert all(sum(mine[i:]) <= max(tail, 0) for i, tail in enumerate(tails))
    assert sum(mine) >= sum(exact) - Fraction(1, 10**13)
