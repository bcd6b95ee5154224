"""Gaussian noise on a Poisson sample of records of which one person has several."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.special import bdtrc, gammaln, xlog1py, xlogy

from dpcore.core.registry import COUNT, PROBABILITY, SIGMA, Oracle, register
from dpcore.curves.gaussian import GaussianCurve
from dpcore.curves.normal_jumps import mixture_curve
from dpcore.curves.subsampled import subsampled
from dpcore.mechanisms.base import Mechanism
from dpcore.regions.guarantees import three_point

if TYPE_CHECKING:
    from dpcore.curves.base import Curve

_LEFT_OUT = 1e-40  # mass of large numbers of records that counts as an infinite loss: below any delta that is asked for
_RARE = 1e-50  # shares of small numbers below it are added to the next larger number, which is safe


def binomial_moves(mu: float, q: float, records: int) -> Curve:
    """Return the curve of the moves j mu, j up to `records`, with binomial probabilities.

    Numbers of records beyond all but 1e-40 of the mass count as infinite losses; numbers far below the usual ones are
    replaced by larger ones. Both can only raise delta.
    """
    j = np.arange(records + 1.0)
    log_mass = gammaln(records + 1) - gammaln(j + 1) - gammaln(records - j + 1) + xlogy(j, q) + xlog1py(records - j, -q)
    mass = np.exp(log_mass)
    above = bdtrc(j, records, q)
    last = int(np.argmax(above <= _LEFT_OUT)) if above[-1] <= _LEFT_OUT else records
    lost = float(above[last]) if last < records else 0.0
    mass = mass[: last + 1]
    carried, shifts = 0.0, []
    for count in range(last + 1):
        carried += float(mass[count])
        if carried >= _RARE or count == last:
            shifts.append((count * mu, carried))
            carried = 0.0
    total = math.fsum(share for _, share in shifts) + lost
    shifts = [(move, share / total) for move, share in shifts]
    rest = shifts[0][1] if shifts[0][0] == 0.0 else 0.0
    moved = [pair for pair in shifts if pair[0] > 0.0]
    return mixture_curve(moved, rest, lost / total)


@register(
    "user_gaussian",
    title="Gaussian noise on samples, several records per person",
    group="mechanism",
    symbol=r"G_{1/\sigma}^{q,m}",
    formula=r"N(0,\sigma^2)\ \text{against}\ \sum_{j=0}^{m}\tbinom mj q^j(1-q)^{m-j}N(j,\sigma^2)",
    meaning="Each record is used with probability q, a person has up to m of them; the sum gets normal noise σ.",
    assumptions="Each record moves the sum by at most 1; all records of the person are in under one hypothesis and out under the other.",
    reference="Kahane 1985 (convexity inequality); Choquette-Choo, Ganesh, Steinke, Thakurta 2024",
    neighbours="add/remove",
    oracles=(
        Oracle((1.0, 0.1, 1), "delta", 0.05, 0.02614366, 1e-8, "one record: poisson_gaussian(1, 0.1)"),
        Oracle((1.0, 1.0, 2), "delta", 1.0, 0.50986166, 1e-8, "both records always: gdp(2)"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class UserGaussian(Mechanism):
    """Gaussian noise on a Poisson sample; a person has up to `records` records."""

    sigma: float = SIGMA.field()
    q: float = PROBABILITY.but(name="q", example=0.5).field(least=1e-300, meaning="probability that a record is used")
    records: int = COUNT.but(name="records").field(high=1000, meaning="most records of one person", label="m")

    offered: ClassVar[bool] = False
    grows_with: ClassVar[tuple[tuple[str, int], ...]] = (("sigma", -1), ("q", 1), ("records", 1))

    @property
    def oriented(self) -> str:
        """The person is in under H1 in every part."""
        return "add/remove"

    def _pair(self) -> Curve:
        if self.q == 0.0 or np.isinf(self.sigma):
            return three_point(0.0, 0.0, 1.0)
        if self.q == 1.0:
            return GaussianCurve(self.records / self.sigma)
        if self.records == 1:
            return subsampled(GaussianCurve(1.0 / self.sigma), self.q)
        return binomial_moves(1.0 / self.sigma, self.q, self.records)
