"""Audits of mechanisms that are known: the scores that the best attacker gives to people inside and outside the data.

Where a mechanism has noise of its own, its answers are drawn and scored by the best test: by the answer itself where
the likelihood ratio rises with it, by the logarithm of that ratio where it does not. Any other region is drawn from its
curve f alone: outsiders get -U and members -f(V) with U and V uniform on [0, 1]. Then P(-f(V) > -a) = P(f(V) < a) is
1 - f(a) for a symmetric f, so that thresholds reach exactly the points (a, f(a)): U is the p-value of the best test.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from dpcore.audit.measurements import Scores
from dpcore.domains import COUNT
from dpcore.mechanisms.gaussian import Gaussian, GaussianNoise
from dpcore.mechanisms.geometric import Geometric
from dpcore.mechanisms.laplace import Histogram, Laplace, LaplaceVector
from dpcore.mechanisms.poisson_gaussian import PoissonGaussian
from dpcore.mechanisms.randomized_response import RandomizedResponse
from dpcore.mechanisms.staircase import Staircase
from dpcore.mechanisms.uniform import Uniform
from dpcore.threshold import Choice, Noisy, pair_of

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.curves.base import FloatArray
    from dpcore.tradeoff import TradeOff

Draw: TypeAlias = Callable[["Generator", int, bool], "FloatArray"]
MOST = 1_000_000
_GRID = 801  # points between which the curve of a region without noise of its own is drawn straight


@dataclass(frozen=True)
class Attack:
    """How scores are drawn: `draw(rng, size, inside)` gives scores of members (inside) or of outsiders."""

    draw: Draw
    words: str


def simulate(region: TradeOff, rng: Generator, outsiders: int, members: int) -> Scores:
    """Return scores of the best attack on a mechanism that is known.

    Parameters
    ----------
    region : any region; a mechanism is attacked through its noise, another region through its curve.
    rng : source of randomness.
    outsiders, members : how many trials of either kind, from 1 to 1 000 000.
    """
    trials = COUNT.but(high=MOST)
    out, own = trials.but(name="outsiders").check(outsiders), trials.but(name="members").check(members)
    attack = attack_on(region)
    return Scores(attack.draw(rng, out, False), attack.draw(rng, own, True))


def attack_on(region: TradeOff) -> Attack:
    """Return the best attack on a region, and what its score is."""
    if isinstance(region, RandomizedResponse):
        return Attack(_choice(Choice(region)), "The score is the answer, ordered by how much it speaks for a member.")
    if isinstance(region, Staircase):
        return Attack(_staircase(region), "The score is the logarithm of the likelihood ratio of the noisy answer.")
    if isinstance(region, (LaplaceVector, Histogram)):
        pair_of(region)  # says itself why there is no noise to draw
        vector = region if isinstance(region, LaplaceVector) else LaplaceVector(2.0 / region.epsilon_, (1.0, 1.0))
        return Attack(_vector(vector), _SUMMED)
    if isinstance(region, (Laplace, GaussianNoise, Geometric, Uniform, PoissonGaussian)):
        noisy = pair_of(region)
        if isinstance(noisy, Noisy):
            return Attack(_answer(noisy), "The score is the noisy answer.")
    return Attack(
        _curve(region), "The score is one minus the p-value of the best test, drawn from the curve of the region."
    )


_SUMMED = "The score is the logarithm of the likelihood ratio of all noisy answers together."


def _answer(pair: Noisy) -> Draw:
    """Draw the noisy answer."""
    noise = pair.noise

    def draw(rng: Generator, size: int, inside: bool) -> FloatArray:
        if isinstance(noise, PoissonGaussian):  # its own draws are those with the record in the data
            return noise.sample(rng, size) if inside else Gaussian(noise.sigma).sample(rng, size)
        return np.asarray(pair.answers[inside] + noise.sample(rng, size), dtype=np.float64)

    return draw


def _choice(pair: Choice) -> Draw:
    """Draw the place of an answer of randomized response."""

    def draw(rng: Generator, size: int, inside: bool) -> FloatArray:
        upto = np.cumsum(pair.chances[int(inside)])
        return np.searchsorted(upto[:-1], rng.random(size), side="right").astype(np.float64)

    return draw


def _staircase(noise: Staircase) -> Draw:
    """Draw the noisy answer, and score it by both densities."""

    def draw(rng: Generator, size: int, inside: bool) -> FloatArray:
        answer = noise.sample(rng, size) + float(inside)
        with np.errstate(divide="ignore"):
            loss = np.log(noise.density(answer, 1.0)) - np.log(noise.density(answer, 0.0))
        return np.asarray(np.round(loss, 9), dtype=np.float64)  # three losses, told apart from rounding

    return draw


def _vector(noise: LaplaceVector) -> Draw:
    """Draw one answer for each coordinate; the losses add."""

    def draw(rng: Generator, size: int, inside: bool) -> FloatArray:
        total = np.zeros(size)
        for shift in noise.shifts:
            answer = noise.sample(rng, size) + (shift if inside else 0.0)
            total += (np.abs(answer) - np.abs(answer - shift)) / noise.scale
        return total

    return draw


def _curve(region: TradeOff) -> Draw:
    """Draw p-values; the curve is taken straight between points, which is a little more private, never less."""
    inner = 1.0 / (1.0 + np.exp(-np.linspace(-30.0, 30.0, _GRID)))
    alpha = np.unique(np.concatenate(([0.0], inner, [1.0])))
    if region.is_polygon:
        corners = region.vertices()[0]
        alpha = corners if corners.size <= 100 * _GRID else alpha
    beta = np.asarray(region.beta(alpha), dtype=np.float64)
    order = np.argsort(alpha, kind="stable")

    def draw(rng: Generator, size: int, inside: bool) -> FloatArray:
        uniform = rng.random(size)
        return np.asarray(-np.interp(uniform, alpha[order], beta[order]) if inside else -uniform, dtype=np.float64)

    return draw
