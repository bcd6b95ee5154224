"""Which regions a conversion applies to."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpcore.regions.guarantees import DP

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.regions.tradeoff import TradeOff


def is_dp(region: TradeOff) -> bool:
    """Return whether it is an (epsilon, delta) statement."""
    return isinstance(region, DP)


def is_pure(region: TradeOff) -> bool:
    """Return whether it is an (epsilon, 0) statement."""
    return isinstance(region, DP) and region.delta_ == 0


def is_finite_dp(region: TradeOff) -> bool:
    """Return whether it is an (epsilon, delta) statement of finite epsilon."""
    return isinstance(region, DP) and math.isfinite(region.epsilon_)


def is_gaussian(region: TradeOff) -> bool:
    """Return whether its curve is that of Gaussian noise."""
    return region.curve.gaussian_mu is not None


def is_laplace(region: TradeOff) -> bool:
    """Return whether its curve is that of Laplace noise."""
    return region.curve.laplace_epsilon is not None


def is_a(*kinds: type[TradeOff]) -> Callable[[TradeOff], bool]:
    """Return the test for regions of some classes."""
    return lambda region: isinstance(region, kinds)


def anything(_: TradeOff) -> bool:
    """Return True: the conversion takes any region."""
    return True
