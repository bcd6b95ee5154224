r"""What one mechanism of a composition promises, in the form the named theorems take."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from dpcore.core.errors import DomainError
from dpcore.core.numerals import numeral
from dpcore.core.rounding import sum_up
from dpcore.curves.polygon import Polygon
from dpcore.regions.guarantees import largest_eta
from dpcore.regions.tradeoff import shorten
from dpcore.theorems.sharing import share
from dpcore.words import outward

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.regions.tradeoff import TradeOff

_SAME = 1e-12  # relative: losses and total variations that differ by rounding only


@dataclass(frozen=True, slots=True)
class Step:
    """One mechanism by the numbers (epsilon, delta, eta) the theorems use.

    Attributes
    ----------
    region : TradeOff
        The mechanism itself.
    epsilon, delta : float
        The (epsilon, delta) statement that represents it.
    eta : float
        Its total variation, never above what (epsilon, delta) allows.
    attained : bool
        Whether the region is the statement (epsilon, delta, eta) and nothing more is known.
    mu : float
        The mu of a region that is exactly Gaussian; otherwise 0.
    note : str
        Which statement was taken; empty if nothing was lost.
    """

    region: TradeOff
    epsilon: float
    delta: float
    eta: float
    attained: bool
    mu: float
    note: str

    @property
    def tv_helps(self) -> bool:
        """Whether eta is below the total variation of (epsilon, delta)."""
        return self.eta < largest_eta(self.epsilon, self.delta) * (1 - _SAME)

    @property
    def bounding_mu(self) -> float:
        r"""Return the smallest mu whose Gaussian region, failures apart, contains the statement.

        The curve of Gaussian privacy is convex, so it lies below a polygon as soon as it does at the corners. With
        failures taken out, the corner is :math:`(a, 1-\eta'-a)`, :math:`a=\eta'/(e^\varepsilon-1)`, and
        :math:`\mu=\Phi^{-1}(a+\eta')-\Phi^{-1}(a)`, rounded up.
        """
        if self.mu > 0:
            return self.mu
        if self.epsilon == 0 or self.delta >= 1:
            return 0.0
        eta = min(max((self.eta - self.delta) / (1 - self.delta), 0.0), math.tanh(self.epsilon / 2))
        a = eta / math.expm1(self.epsilon) if self.epsilon < 700 else eta * math.exp(-self.epsilon)
        if a <= 0:
            return 0.0 if eta == 0 else math.inf
        low, high = float(ndtri(a)), float(ndtri(min(a + eta, 1.0)))
        return (high - low) + 1e-14 * (1 + abs(low) + abs(high))


def step_of(region: TradeOff, k: int = 1, delta: float = 1e-6) -> Step:
    """Return the strongest statement that theorems can use about each of k copies of a mechanism.

    A mechanism of unbounded loss satisfies many statements; `dpcore.theorems.sharing` decides which one is used. A
    bounded loss gives the same statement for every k.

    Parameters
    ----------
    region : TradeOff
        The mechanism.
    k : int, default 1
        Number of copies.
    delta : float, default 1e-6
        By how much all copies together may exceed e^epsilon, in [0, 1].

    Returns
    -------
    Step
        The statement, with its total variation.
    """
    curve = region.curve
    free = share(delta, sum_up([(curve.q_inf, k)]), k)
    if math.isinf(curve.max_loss) and curve.q_inf < 1 and not free > 0:
        rest = (
            f"got {numeral(delta)}"
            if curve.q_inf == 0
            else f"and the failures of {k} of them leave none of {numeral(delta)}"
        )
        msg = f"{shorten(str(region))} has unbounded loss; the theorems then need δ above 0, {rest}."
        raise DomainError(msg)
    return steps_at(region, [max(free, 0.0)])[0]


def steps_at(region: TradeOff, shares: Sequence[float]) -> list[Step]:
    """Return the statement for each share, the delta on top of the mechanism's own failure probability.

    Shares matter only if the loss is unbounded; they must then be above 0.
    """
    curve = region.curve
    mu = curve.gaussian_mu or 0.0
    if curve.q_inf >= 1.0:
        return [Step(region, 0.0, 1.0, 1.0, attained=True, mu=0.0, note="")] * len(shares)
    eta = min(1.0, region.total_variation)
    if math.isfinite(curve.max_loss):
        epsilon, failing = max(0.0, curve.max_loss), curve.q_inf
        eta = max(min(eta, largest_eta(epsilon, failing)), failing)
        attained = _is_statement(region)
        note = "" if attained else taken_as(region, epsilon, failing, eta)
        return [Step(region, epsilon, failing, eta, attained=attained, mu=mu, note=note)] * len(shares)
    failings = np.minimum(curve.q_inf + np.array(shares, dtype=np.float64), 1.0)
    epsilons = region.epsilon_bounds(failings)[1]
    return [_cut(region, float(e), float(d), eta, mu) for e, d in zip(epsilons, failings, strict=True)]


def _cut(region: TradeOff, epsilon: float, delta: float, eta: float, mu: float) -> Step:
    """Return the statement of an unbounded loss at one delta."""
    eta = max(min(eta, largest_eta(epsilon, delta)), delta)
    return Step(region, epsilon, delta, eta, attained=False, mu=mu, note=taken_as(region, epsilon, delta, eta))


def _is_statement(region: TradeOff) -> bool:
    """Whether the losses are at most -epsilon, 0 and epsilon: the worst case of a dp or dptv statement."""
    curve = region.curve
    if not isinstance(curve, Polygon) or not curve.symmetric:
        return False
    top = curve.max_loss
    return bool(np.all((np.abs(curve.loss) <= _SAME * top) | (np.abs(np.abs(curve.loss) - top) <= _SAME * top)))


def taken_as(region: TradeOff, epsilon: float, delta: float, eta: float) -> str:
    """Say which statement a region enters the theorems with."""
    return f"{shorten(str(region), 40)} taken as dptv({outward(epsilon, 4)}, {outward(delta, 4)}, {outward(eta, 4)})"
