r"""Rényi divergences of a region and the rate of concentrated privacy that bounds them all.

A region stands for every mechanism inside it; a value is exact when some mechanism inside attains it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpcore.core.rounding import up
from dpcore.curves import renyi_divergence
from dpcore.curves.polygon import Polygon
from dpcore.mechanisms.base import Mechanism
from dpcore.regions.algebra import Additive, Assume, Composite, Intersection, Loose, factors
from dpcore.regions.guarantees import DP, RDP, ZCDP
from dpcore.risk import largest_loss

if TYPE_CHECKING:
    from dpcore.regions.tradeoff import TradeOff


class Rate(NamedTuple):
    """(xi, rho)-concentrated privacy, and whether nothing smaller holds."""

    rho: float
    xi: float
    exact: bool


def concentrated(region: TradeOff) -> Rate | None:
    r"""Return the smallest known rho with :math:`D_a\le\xi+\rho a` for every order a > 1; None if none is known.

    Pure epsilon-DP has :math:`\rho=\varepsilon\tanh(\varepsilon/2)` exactly. Its largest divergences are those of
    randomized response, :math:`(a-1)D_a=g(x)-g(x_0)` with g = log cosh, :math:`x_0=\varepsilon/2` and
    :math:`x=(2a-1)x_0`. As a function of :math:`y=x^2` the slope of g is :math:`\tanh(x)/(2x)`, which falls, so g is
    concave in y and :math:`g(x)-g(x_0)\le(x^2-x_0^2)\tanh(x_0)/(2x_0)=a(a-1)\,\varepsilon\tanh(\varepsilon/2)`; for
    a to 1 both sides meet. The suprema of Laplace noise (epsilon + e^-epsilon - 1) and of Gaussian noise (mu^2/2)
    lie at the same end, so that rates of products of such parts add up to the exact one.
    References: Bun, Steinke (2016); Harrison, Manurangsi (2026).
    """
    curve = region.curve
    if region.fails:
        return Rate(math.inf, 0.0, exact=True)
    if isinstance(region, ZCDP):
        return Rate(region.rho, region.xi, exact=True)
    if isinstance(region, DP):
        return Rate(renyi_divergence.randomized_response(region.epsilon_, 1.0), 0.0, exact=True)
    if curve.gaussian_mu is not None:
        return Rate(curve.gaussian_mu * curve.gaussian_mu / 2, 0.0, exact=True)
    if curve.laplace_epsilon is not None:
        return Rate(renyi_divergence.laplace(curve.laplace_epsilon, 1.0), 0.0, exact=True)
    own = region.concentrated_rate if isinstance(region, Mechanism) else None
    return Rate(own, 0.0, exact=True) if own is not None else _by_parts(region) or _by_loss(region)


def _by_parts(region: TradeOff) -> Rate | None:
    """Return the rate of a product (the sum), of an intersection (the smallest) or of a region under `assume`."""
    if isinstance(region, Composite):
        parts = [(concentrated(node), count) for node, count in factors(region)]
        terms = [(rate, count) for rate, count in parts if rate is not None]
        if len(terms) < len(parts):
            return None
        exact = all(rate.exact for rate, _ in terms) and not _loose(region)
        rho = math.fsum(count * rate.rho for rate, count in terms)
        xi = math.fsum(count * rate.xi for rate, count in terms)
        return Rate(rho, xi, exact) if exact else Rate(up(rho), up(xi), exact)
    if isinstance(region, Intersection):
        rates = [rate for rate in map(concentrated, region.parts) if rate is not None and rate.xi == 0]
        return min(rates)._replace(exact=False) if rates else None
    return concentrated(region.region) if isinstance(region, Assume) else None


def _by_loss(region: TradeOff) -> Rate | None:
    """Return the rate of the pure statement; exact when the region is just that one."""
    loss, sure = largest_loss(region)
    if math.isinf(loss):
        return None
    rho = renyi_divergence.randomized_response(loss, 1.0)
    curve = region.curve
    pure = isinstance(curve, Polygon) and curve.corner_count == curve.loss.size and np.all(np.abs(curve.loss) == loss)
    return Rate(rho, 0.0, exact=True) if pure and sure else Rate(up(rho), 0.0, exact=False)


def renyi(region: TradeOff, order: float) -> tuple[float, bool] | None:
    """Return the larger Rényi divergence of the two directions, and whether it is attained; None if unknown.

    Orders lie in [1, inf]: 1 is the Kullback-Leibler divergence, infinity the largest loss. A divergence of 0 means
    that the answer tells nothing, infinity that some answer is possible on one side only.
    """
    if region.fails:
        return math.inf, True
    if math.isinf(order):
        return largest_loss(region)
    if isinstance(region, RDP):
        return (region.epsilon_, order == region.order) if order <= region.order else None
    for route in (_renyi_in_closed_form, _renyi_by_parts, _renyi_of_masses, _renyi_by_loss):
        divergence = route(region, order)
        if divergence is not None:
            return divergence
    return None


def _renyi_in_closed_form(region: TradeOff, order: float) -> tuple[float, bool] | None:
    curve = region.curve
    if isinstance(region, ZCDP):
        return region.xi + region.rho * order, region.xi == 0
    if isinstance(region, DP):
        return renyi_divergence.randomized_response(region.epsilon_, order), True
    if curve.gaussian_mu is not None:
        return renyi_divergence.gaussian(curve.gaussian_mu, order), True
    if curve.laplace_epsilon is not None:
        return renyi_divergence.laplace(curve.laplace_epsilon, order), True
    own = region.renyi(order) if isinstance(region, Mechanism) else None
    return None if own is None else (own, True)


def _renyi_by_parts(region: TradeOff, order: float) -> tuple[float, bool] | None:
    if isinstance(region, Composite):
        parts = [(renyi(node, order), count) for node, count in factors(region)]
        terms = [(*divergence, count) for divergence, count in parts if divergence is not None]
        if len(terms) < len(parts):
            return None
        exact = all(sure for _, sure, _ in terms) and not _loose(region)
        total = math.fsum(count * value for value, _, count in terms)
        return (total, True) if exact else (up(total), False)
    if isinstance(region, Intersection):
        values = [
            divergence[0] for divergence in (renyi(part, order) for part in region.parts) if divergence is not None
        ]
        return (min(values), False) if values else None
    return renyi(region.region, order) if isinstance(region, Assume) else None


def _loose(region: TradeOff) -> bool:
    """Whether a product composes a bound, or asymmetric parts whose larger directions need not go together."""
    nodes = [node for node, _ in factors(region)]
    bound = any(isinstance(node, Loose) and not isinstance(node, Additive) for node in nodes)
    return bound or (len(nodes) > 1 and any(not node.pair.symmetric for node in nodes))


def _renyi_of_masses(region: TradeOff, order: float) -> tuple[float, bool] | None:
    """Return the divergence of a finite pair, the larger of its two directions."""
    curve = region.pair if region.oriented else region.curve
    if not isinstance(curve, Polygon) or curve.corner_count > curve.loss.size:
        return None
    if curve.q_inf > 0 or curve.p_inf > 0:
        return (math.inf, True) if region.fails else None
    p, q = curve.p / curve.p.sum(), curve.q / curve.q.sum()
    if np.any((p <= 0) | (q <= 0)):
        return None
    return max(
        renyi_divergence.pmf(q.tolist(), p.tolist(), order), renyi_divergence.pmf(p.tolist(), q.tolist(), order)
    ), True


def _renyi_by_loss(region: TradeOff, order: float) -> tuple[float, bool] | None:
    """Return the divergence of the pure statement that the largest loss makes."""
    loss, _ = largest_loss(region)
    return None if math.isinf(loss) else (up(renyi_divergence.randomized_response(loss, order)), False)
