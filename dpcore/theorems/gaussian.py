r"""Composition of Gaussian differential privacy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpcore.curves.gaussian import Gaussian
from dpcore.theorems import domain
from dpcore.theorems.table import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

EPSILONS = tuple(i / 2 for i in range(11))


def composed_mu(mus: object) -> float:
    r"""Return :math:`\sqrt{\sum\mu_i^2}` of a number or a list of numbers."""
    return domain.number(math.hypot(*domain.numbers(mus, "mu")), "root of the sum of squares of mu")


def gdp(mus: object, epsilon: float | Sequence[float] = EPSILONS) -> pd.DataFrame:
    r"""Compose mu_i-Gaussian DP mechanisms: :math:`\mu=\sqrt{\sum\mu_i^2}`, without loss.

    .. math:: \delta(\varepsilon) = \Phi(\mu/2-\varepsilon/\mu) - e^\varepsilon\Phi(-\mu/2-\varepsilon/\mu)

    In words: Gaussian mechanisms compose like independent errors, by squares. One row for each `epsilon` >= 0 asked.
    Reference: Dong, Roth, Su (2022), Corollary 3.3 and Corollary 2.13.
    """
    mu = composed_mu(mus)
    points = np.asarray(domain.numbers(epsilon, "epsilon"), dtype=np.float64)
    deltas = Gaussian(mu).delta_bounds(points)[1] if mu > 0 else np.zeros_like(points)
    return table("gdp", points, deltas, "exact", f"mu = {mu!r}")
