"""Simulated audits of known mechanisms: the scores of the best attacker for people inside and outside the data.

If a mechanism has noise of its own, its answers are drawn and scored by the best test: by the answer itself if the
likelihood ratio rises with it, otherwise by the logarithm of that ratio. Scores of any other region are drawn from its
curve f alone: outsiders get -U and members -f(V) with U and V uniform on [0, 1]. Then P(-f(V) > -a) = P(f(V) < a) is
1 - f(a) for a symmetric f, so thresholds reach exactly the points (a, f(a)): U is the p-value of the best test.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from dpcore.audit.measurements import Scores
from dpcore.core.domains import COUNT
from dpcore.mechanisms.base import Mechanism

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.curves.base import FloatArray
    from dpcore.mechanisms.base import Attacker
    from dpcore.regions.tradeoff import TradeOff

MOST = 1_000_000  # trials of either kind
_GRID = 801  # points between which the curve of a region without noise of its own is taken as linear


@dataclass(frozen=True)
class SimulatedAttack:
    """How scores are drawn: `draw(rng, size, inside)` gives scores of members (inside) or of outsiders."""

    draw: Attacker
    words: str


def simulate(region: TradeOff, rng: Generator | int, outsiders: int, members: int) -> Scores:
    """Return scores of the best attack on a known mechanism.

    Parameters
    ----------
    region : TradeOff
        Any region; a mechanism is attacked through its noise, another region through its curve.
    rng : numpy.random.Generator or int
        Source of randomness, or the seed of a new one.
    outsiders, members : int
        How many trials of either kind, from 1 to 1 000 000.

    Returns
    -------
    Scores
        What `audit` takes.
    """
    trials = COUNT.but(high=MOST)
    out, own = trials.but(name="outsiders").check(outsiders), trials.but(name="members").check(members)
    attack, source = attack_on(region), np.random.default_rng(rng)
    return Scores(attack.draw(source, out, False), attack.draw(source, own, True))


def attack_on(region: TradeOff) -> SimulatedAttack:
    """Return the best attack on a region, and what its score is."""
    own = region.attack() if isinstance(region, Mechanism) else None
    if own is not None:
        return SimulatedAttack(*own)
    return SimulatedAttack(
        _curve(region), "The score is one minus the p-value of the best test, drawn from the curve of the region."
    )


def _curve(region: TradeOff) -> Attacker:
    """Draw p-values; the curve is linear between points, which is a little more private, never less."""
    points = cache(lambda: _points(region))  # slow for some regions: computed once, when scores are drawn

    def draw(rng: Generator, size: int, inside: bool) -> FloatArray:
        uniform = rng.random(size)
        return np.asarray(-np.interp(uniform, *points()) if inside else -uniform, dtype=np.float64)

    return draw


def _points(region: TradeOff) -> tuple[FloatArray, FloatArray]:
    """Return points of the curve, from left to right."""
    inner = 1.0 / (1.0 + np.exp(-np.linspace(-30.0, 30.0, _GRID)))
    alpha = np.unique(np.concatenate(([0.0], inner, [1.0])))
    if region.is_polygon:
        corners = region.vertices()[0]
        alpha = corners if corners.size <= 100 * _GRID else alpha
    beta = np.asarray(region.beta(alpha), dtype=np.float64)
    order = np.argsort(alpha, kind="stable")
    return alpha[order], beta[order]
