"""Delta of log-concave laws from their density and tails: against built-in mechanisms, closed forms and 40 digits."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy.special import expit, ndtr

import dpcore
from dpcore.curves.composition import compose
from dpcore.engine.sandwich_measure import corners
from dpcore.mechanisms.law import Law
from dpcore.mechanisms.shifted_law import ShiftedLaw

E = np.array([0.0, 1e-6, 0.05, 0.3, 0.7, 0.99, 1.5, 4.0, 30.0, 800.0])


class Normal(Law):
    log_concave = True

    def density(self, x: np.ndarray) -> np.ndarray:
        return np.exp(-np.square(x) / 2) / math.sqrt(2 * math.pi)

    def above(self, x: np.ndarray) -> np.ndarray:
        return ndtr(-np.asarray(x))


class Double(Law):
    """Laplace noise: its loss is flat on both sides."""

    log_concave = True

    def density(self, x: np.ndarray) -> np.ndarray:
        return 0.5 * np.exp(-np.abs(x))

    def above(self, x: np.ndarray) -> np.ndarray:
        return np.where(x > 0, 0.5 * np.exp(-np.maximum(x, 0)), 1 - 0.5 * np.exp(np.minimum(x, 0)))


class Logistic(Law):
    log_concave = True

    def density(self, x: np.ndarray) -> np.ndarray:
        return expit(x) * expit(-np.asarray(x))

    def above(self, x: np.ndarray) -> np.ndarray:
        return expit(-np.asarray(x))


class Box(Law):
    """Uniform noise: the loss is 0 or infinite."""

    log_concave = True
    low, high = -1.0, 1.0

    def density(self, x: np.ndarray) -> np.ndarray:
        return np.where(np.abs(x) <= 1, 0.5, 0.0)

    def above(self, x: np.ndarray) -> np.ndarray:
        return np.clip((1 - np.asarray(x)) / 2, 0, 1)


class Gumbel(Law):
    symmetric = False
    log_concave = True

    def density(self, x: np.ndarray) -> np.ndarray:
        return np.exp(-np.asarray(x) - np.exp(-np.asarray(x)))

    def above(self, x: np.ndarray) -> np.ndarray:
        return -np.expm1(-np.exp(-np.asarray(x)))

    def below(self, x: np.ndarray) -> np.ndarray:
        return np.exp(-np.exp(-np.asarray(x)))


def check(truth: np.ndarray, curve: ShiftedLaw, epsilon: np.ndarray = E) -> None:
    """Check that the bracket holds the truth and is as narrow as the error of the tails allows."""
    lower, upper = curve.delta_bounds(epsilon)
    assert np.all(lower <= truth + 1e-16), (lower, truth)
    assert np.all(upper >= truth - 1e-16), (upper, truth)
    assert np.all(upper - lower <= 30 * curve.noise.accuracy), upper - lower


@pytest.mark.parametrize("move", [0.01, 0.5, 1.0, 3.0])
def test_known_laws(move: float) -> None:
    check(dpcore.gaussian(1, move).delta(E), ShiftedLaw(Normal(), move))
    check(dpcore.laplace(move).delta(E), ShiftedLaw(Double(), move))
    check(np.full(E.size, min(move / 2, 1.0)), ShiftedLaw(Box(), move))


@pytest.mark.parametrize("move", [0.3, 1.3])
def test_logistic(move: float) -> None:
    """The best false-positive rate solves a quadratic."""
    e = E[move > E]
    grow = math.expm1(move)
    a = np.expm1((move - e) / 2) / grow
    check(math.exp(move) * a / (1 + grow * a) - np.exp(e) * a, ShiftedLaw(Logistic(), move), e)


def test_nothing_beyond_the_largest_loss() -> None:
    lower, upper = ShiftedLaw(Logistic(), 1.0).delta_bounds(np.array([1.0 + 1e-9, 1.1, 50.0, 1e6]))
    assert lower.max() == 0.0
    assert upper.max() < 1e-280


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("move", [0.4, 2.0])
def test_both_directions_of_gumbel_noise(move: float, mirrored: bool) -> None:
    """Up, the loss D - e^-x (e^D - 1) ends at D; down, e^-x (1 - e^-D) - D has no end."""
    curve = ShiftedLaw(Gumbel(), move, mirrored=mirrored)
    with mpmath.workdps(40):
        truth = []
        for e in (0.0, 0.1, 0.35, 1.0, 1.9):
            if mirrored:
                # P1 is the noise moved down, and its loss falls with x: the test accepts below a threshold
                x = -mpmath.log((move + mpmath.mpf(e)) / -mpmath.expm1(-move))
                one, zero = (mpmath.exp(-mpmath.exp(-(x + shift))) for shift in (mpmath.mpf(move), mpmath.mpf(0)))
                truth.append(max(one - mpmath.exp(e) * zero, 0))
            elif e < move:
                x = -mpmath.log((move - mpmath.mpf(e)) / mpmath.expm1(move))
                one, zero = (-mpmath.expm1(-mpmath.exp(-(x - shift))) for shift in (mpmath.mpf(move), mpmath.mpf(0)))
                truth.append(one - mpmath.exp(e) * zero)
            else:
                truth.append(mpmath.mpf(0))
        check(np.array([float(t) for t in truth]), curve, np.array([0.0, 0.1, 0.35, 1.0, 1.9]))


# ---- many copies -------------------------------------------------------------------------------------------------


class Secant(Law):
    """Its loss has a largest value at which the density of the loss has a pole."""

    log_concave = True

    def density(self, x: np.ndarray) -> np.ndarray:
        return 2 * np.exp(-np.abs(x)) / (1 + np.exp(-2 * np.abs(x))) / math.pi

    def above(self, x: np.ndarray) -> np.ndarray:
        return 2 / math.pi * np.arctan(np.exp(-np.asarray(x)))


class Mesa(Law):
    """Flat within 1/4, exponential beyond: its loss has atoms at 0 and at both ends."""

    log_concave = True

    def density(self, x: np.ndarray) -> np.ndarray:
        return np.exp(-np.maximum(np.abs(x) - 0.25, 0)) / 2.5

    def above(self, x: np.ndarray) -> np.ndarray:
        far = np.abs(x)
        upper = np.where(far <= 0.25, 1.25 - far, np.exp(-np.maximum(far - 0.25, 0))) / 2.5
        return np.where(np.asarray(x) >= 0, upper, 1 - upper)


def by_transform(law: Law, move: float, k: int, epsilon: float) -> float:
    """Return delta of k copies by the integral of M(s)^k e^(-s epsilon) / (s (s + 1)) along a line, with no code of the engine.

    M(s) = E_1 e^(sL) by 16 Gauss nodes on each piece between the bends of the density; the line's nodes are so dense
    and so many that more of them change nothing.
    """
    bends = np.array([-0.25, 0.25])
    places = np.unique(np.concatenate((np.linspace(-40, 40, 321), bends, bends + move)))
    node, weight = np.polynomial.legendre.leggauss(16)
    half, middle = np.diff(places) / 2, (places[1:] + places[:-1]) / 2
    x = (middle[:, None] + half[:, None] * node).ravel()
    mass = (half[:, None] * weight).ravel() * law.density(x - move)
    loss = np.log(law.density(x - move) / law.density(x))
    rates = np.linspace(0.05, 20, 400)
    exponents = k * np.log(np.exp(np.outer(rates, loss)) @ mass) - rates * epsilon - np.log(rates * (rates + 1))
    c = float(rates[np.argmin(exponents)])
    s = c + 1j * np.arange(0.0, 20.0, 0.05)
    values = (np.exp(np.outer(s, loss)) @ mass) ** k * np.exp(-s * epsilon) / (s * (s + 1))
    return float((values[0].real / 2 + values[1:].real.sum()) * 0.05 / math.pi)


@pytest.mark.parametrize(("law", "epsilon"), [(Secant(), 5.0), (Mesa(), 5.0), (Logistic(), 3.0)])
def test_a_thousand_copies_answer_within_the_tolerance(law: Law, epsilon: float) -> None:
    (lower,), (upper,) = compose([(ShiftedLaw(law, 0.05), 1000)]).delta_bounds(np.array([epsilon]))
    truth = by_transform(law, 0.05, 1000, epsilon)
    assert lower * (1 - 1e-9) <= truth <= upper * (1 + 1e-9)
    assert upper - lower <= 1e-6 * upper


def test_the_ends_of_the_losses_are_found() -> None:
    """Delta grows like x^(3/2) before the largest loss of a secant, like x^2 for logistic noise; mesa noise has atoms there."""
    for law, after in ((Secant(), 0.35), (Logistic(), 0.7)):
        (end,) = corners(ShiftedLaw(law, 0.05), -0.06, 0.06)
        assert end.loss == pytest.approx(0.05, rel=1e-6)
        assert end.after == pytest.approx(after, abs=0.01)
    atoms = corners(ShiftedLaw(Mesa(), 0.05), -0.06, 0.06)
    assert sorted(atom.loss for atom in atoms) == pytest.approx([-0.05, 0.05], rel=1e-8)
    assert all(1e-12 < atom.blur < 1e-8 for atom in atoms)
    assert corners(ShiftedLaw(Normal(), 0.05), -0.5, 0.5) == []
