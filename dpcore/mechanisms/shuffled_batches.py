"""Gaussian noise on batches of a shuffled dataset: what is proved, from both sides."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.special import log_ndtr

from dpcore.core.registry import COUNT, SIGMA, Oracle, register
from dpcore.curves.bound import Outer
from dpcore.curves.gaussian import GaussianCurve
from dpcore.mechanisms.base import Mechanism
from dpcore.regions.guarantees import pmf_polygon, three_point

if TYPE_CHECKING:
    from dpcore.curves.base import Curve
    from dpcore.curves.polygon import Polygon

LARGEST_MOVE = 5.0
"""Square of how far a record moves all sums of an epoch, in units of 1/sigma: 2 in its own batch and 1 in the last."""
_BINS = 120  # of the largest sum: more change the attack in the fourth digit
_ROUNDING = 1e-13  # relative error of a mass: no delta that is attained may be too large
_FEWEST = 1e-9  # smallest 1/sigma that is distinguished from 0


def largest_sum(move: float, steps: int) -> Polygon:
    """Return the laws of the largest of the first T - 1 noisy sums, in bins, without and with the record.

    Without it all are standard normal; with it one of T, each as likely, has moved by `move`, and the last is not looked at.
    """
    top = math.sqrt(2.0 * math.log(steps)) + move + 9.0
    at = np.concatenate(([-np.inf], np.linspace(-1.0, top, _BINS - 1), [np.inf]))
    log_below = (steps - 1) * log_ndtr(at)
    moved = log_ndtr(at - move) + ((steps - 2) * log_ndtr(at) if steps > 2 else 0.0)
    above0 = -np.expm1(log_below)
    above1 = above0 / steps - np.expm1(moved) * (1.0 - 1.0 / steps)
    p, q = (np.maximum(-np.diff(above), 0.0) for above in (above0, above1))
    # mixing a little of one law into the other hides more than roundings could reveal
    return pmf_polygon(p / p.sum(), (q / q.sum()) * (1.0 - _ROUNDING) + (p / p.sum()) * _ROUNDING)


@register(
    "shuffled_batches",
    title="shuffled batches",
    group="mechanism",
    symbol=r"S_{1/\sigma,T}",
    formula=r"\max_{t<T}x_t\ \text{with one of}\ T\ \text{answers moved by}\ 2/\sigma\ \text{is attained},\quad G_{\sqrt5/\sigma}\ \text{is safe}",
    meaning="One epoch of T batches of a shuffled dataset; each sum gets normal noise σ. The lower side is proved by an attack.",
    assumptions="Batches of equal size but for the last; each record moves a sum by at most 1; shuffled anew for every epoch.",
    reference="Chua et al. 2024 (shuffling is not Poisson sampling); pair and proof in the guide",
    neighbours="add/remove",
    kind="upper",
    oracles=(
        Oracle((2.0, 1), "delta", 1.0, 0.00682959, 1e-8, "one batch: gaussian(2)"),
        Oracle((math.sqrt(5.0), 10), "delta", 1.0, 0.12693674, 1e-8, "the safe side: gdp(1)"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class ShuffledBatches(Mechanism):
    """One epoch of shuffled batches, between an attack and a bound without amplification."""

    sigma: float = SIGMA.field()
    steps: int = COUNT.but(name="steps").field(high=10**9, meaning="batches of an epoch", label="T")

    offered: ClassVar[bool] = False
    grows_with: ClassVar[tuple[tuple[str, int], ...]] = (("sigma", -1),)

    @property
    def oriented(self) -> str:
        """The record is in under H1 in every part."""
        return "add/remove"

    def _pair(self) -> Curve:
        if np.isinf(self.sigma) or 1.0 / self.sigma < _FEWEST:
            return three_point(0.0, 0.0, 1.0)
        if self.steps == 1:
            return GaussianCurve(1.0 / self.sigma)
        attack = largest_sum(min(2.0 / self.sigma, 1e3), self.steps)
        return Outer(
            GaussianCurve(math.sqrt(LARGEST_MOVE) / self.sigma),
            [attack],
            "no amplification by shuffling is proved here",
        )
