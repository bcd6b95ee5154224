r"""Stochastic gradient descent with Laplace noise: the printed schedule, its error terms and what it really costs.

.. math:: \Theta_{t}=\Theta_{t-1}-\eta_{t-1}\{\nabla\psi_{I}(\Theta_{t-1})+\gamma_tZ_t\},\qquad \eta_t=\eta(1+t)^{-\rho},\
          \beta_t=t^{\kappa}

Sums are written with :math:`S_t=\eta_0+\dots+\eta_{t-1}`.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpcore.core.effort import checkpoint
from dpcore.core.lazy import Lazy
from dpcore.core.registry import Parameter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dpcore.curves.base import FloatArray

STEPS = Parameter("steps", "integer", low=1, high=1_000_000, label="N", meaning="number of gradient steps")
DECAY = Parameter("rho", low=0.0, high=1.0, high_open=True, label="ρ", meaning="how fast the learning rate falls")
GROWTH = Parameter("kappa", low=0.0, high=2.0, label="κ", meaning="how fast the privacy loss may grow")
RATE = Parameter("rate", low=1e-6, high=10.0, label="η", meaning="first learning rate")
BUDGET = Parameter("epsilon", low=1e-3, high=1e3, label="ε", meaning="loss promised for the first step")
_RECORDS = Parameter("records", "integer", low=1, label="n", meaning="number of records")
GRADIENT = Parameter("gradient", low=1e-9, high=1e9, label="D", meaning="l1 sensitivity of one gradient")


@dataclass(frozen=True)
class Schedule:
    """Learning rates and noise of the printed algorithm.

    Parameters
    ----------
    steps : int
        N.
    rho, kappa : float
        Exponents of the learning rate and of the promised loss.
    rate : float, default 0.1
        The first learning rate.
    epsilon : float, default 1
        Loss promised for the first iterate; iterate t is promised epsilon t^kappa.
    gradient : float, default 1
        D, the l1 sensitivity of one gradient, at equal parameters.
    """

    steps: int
    rho: float = 0.5
    kappa: float = 0.75
    rate: float = 0.1
    epsilon: float = 1.0
    gradient: float = 1.0

    def __post_init__(self) -> None:
        """Check every field."""
        for parameter in (STEPS, DECAY, GROWTH, RATE, BUDGET, GRADIENT):
            object.__setattr__(self, parameter.name, parameter.check(getattr(self, parameter.name)))

    @Lazy
    def rates(self) -> FloatArray:
        """Learning rates eta_0 ... eta_(N-1)."""
        return np.asarray(self.rate * (1.0 + np.arange(self.steps)) ** -self.rho, dtype=np.float64)

    @Lazy
    def sums(self) -> FloatArray:
        """S_1 ... S_N."""
        return np.asarray(np.cumsum(self.rates), dtype=np.float64)

    @Lazy
    def promised(self) -> FloatArray:
        """Loss the source promises for each iterate alone, epsilon t^kappa, t = 1 ... N."""
        return np.asarray(self.epsilon * np.arange(1.0, self.steps + 1.0) ** self.kappa, dtype=np.float64)

    @Lazy
    def noise(self) -> FloatArray:
        r"""Noise levels gamma_1 ... gamma_N.

        .. math:: \gamma_t=\frac1{\beta_t}\Big\{\frac{\sum_{j\le t-2}\eta_j}{\eta_{t-1}}+1\Big\}\frac D\varepsilon
                          =\frac{S_t}{\eta_{t-1}\beta_t}\frac D\varepsilon

        The second form says what it does: the noise in iterate t covers everything its past could have moved.
        Reference: Theorem 7.6.1 of the source.
        """
        return np.asarray(self.gradient * self.sums / (self.rates * self.promised), dtype=np.float64)

    @Lazy
    def losses(self) -> FloatArray:
        """Loss D / gamma_t of each step for someone who sees all iterates; the t-th is promised_t eta_(t-1) / S_t."""
        return np.asarray(self.gradient / self.noise, dtype=np.float64)

    @property
    def joint(self) -> float:
        """Loss of releasing all iterates, and so of their average: the sum of the losses of the steps.

        Given the iterate before, a step is a Laplace mechanism on a gradient, so losses add up. It is attained by a
        record that every step uses.
        """
        return math.fsum(self.losses.tolist())

    def sampled(self, records: int) -> float:
        r"""Return a bound on the loss of all iterates when each step uses one secret record, drawn from `records`.

        .. math:: \sum_t\ln\{1+(e^{\varepsilon_t}-1)/n\}

        Reference: Balle, Barthe, Gaboardi (2018), Theorem 9; all gradients, of whatever record, differ by at most D.
        """
        count = _RECORDS.check(records)
        small = np.minimum(self.losses, 1.0)
        large = self.losses + np.log((1.0 + (count - 1.0) * np.exp(-self.losses)) / count)  # e^loss would overflow
        return float(np.where(self.losses > 1.0, large, np.log1p(np.expm1(small) / count)).sum())

    @property
    def terms(self) -> tuple[float, float, float]:
        r"""A1, A2, A3 of the convergence bound, without constants.

        .. math:: A_1=\frac1{S_N},\quad A_2=\frac{\sum\eta_t^2}{S_N},\quad
                  A_3=\frac{\sum\eta_{t-1}^2\gamma_t^2}{S_N}=\frac{1}{S_N}\sum\Big(\frac{DS_t}{\varepsilon\beta_t}\Big)^2
        """
        total = float(self.sums[-1])
        moved = self.rates * self.noise
        return 1.0 / total, float(self.rates @ self.rates) / total, float(moved @ moved) / total

    def bound(self, start: float, spread: float, dimension: int) -> float:
        r"""Return the bound on the expected excess of the weighted average, a true upper bound.

        .. math:: E[\Psi(\bar\theta_N)-\Psi^*]\le A_1\|\theta_0-\theta^*\|^2+2\sigma_*^2A_2+2pA_3

        for convex, L-smooth losses and rates at most 1/(4L). Reference: Theorem 7.7.1 of the source.

        Parameters
        ----------
        start : float
            Squared distance of the first parameter from the best one.
        spread : float
            Mean squared norm of the gradients at the best parameter.
        dimension : int
            p; a standard Laplace vector has mean squared norm 2p.
        """
        first, second, third = self.terms
        return start * first + 2.0 * spread * second + 2.0 * dimension * third


def exponents(rho: float, kappa: float) -> tuple[float, float, float]:
    r"""Return the powers of N at which A1, A2, A3 grow; a term vanishes if its power is below 0.

    .. math:: A_1\sim N^{\rho-1},\quad A_2\sim N^{\max(-\rho,\rho-1)},\quad A_3\sim N^{\max(2-\rho-2\kappa,\rho-1)}

    up to a factor log N where the two powers of a maximum meet. The source prints -rho and 2 - rho - 2 kappa only.
    """
    rho, kappa = DECAY.check(rho), GROWTH.check(kappa)
    return rho - 1.0, max(-rho, rho - 1.0), max(2.0 - rho - 2.0 * kappa, rho - 1.0)


def vanishing(rho: float) -> float:
    """Return the kappa above which the noise term A3 vanishes: 1 - rho/2; for rho = 0 the source prints 3/2."""
    return 1.0 - float(DECAY.check(rho)) / 2.0


PRINTED_CONSTANT = 1.5  # Example 7.8.3: kappa > 3/2 at a constant learning rate


def cheaper(rho: float) -> float:
    r"""Return the kappa above which releasing everything costs less than the printed loss of the last iterate.

    :math:`\sum t^\kappa\eta_{t-1}/S_t\sim\frac{1-\rho}{\kappa}N^\kappa`, so the line is 1 - rho, below the line of
    `vanishing`: wherever the error vanishes, plain composition promises more than the theorem.
    """
    return 1.0 - float(DECAY.check(rho))


def grid(rhos: Iterable[float], kappas: Iterable[float], steps: int, **others: float) -> pd.DataFrame:
    """Return the error terms and costs on a grid.

    Columns ``rho, kappa, steps, a1, a2, a3, noise, promised, joint, vanishes``: noise, promised and joint are the
    noise level of the last step, the printed loss of the last iterate alone and the true one of all iterates;
    `vanishes` says whether all three terms tend to 0.
    """
    rows, pairs = [], list(itertools.product(list(rhos), list(kappas)))
    for at, (rho, kappa) in enumerate(pairs):
        checkpoint(at / len(pairs))
        plan = Schedule(steps, rho, kappa, **others)
        powers = exponents(rho, kappa)
        vanishes = all(power < 0 for power in powers)
        rows.append(
            (
                rho,
                kappa,
                steps,
                *plan.terms,
                float(plan.noise[-1]),
                float(plan.promised[-1]),
                plan.joint,
                vanishes,
            )
        )
    columns = ["rho", "kappa", "steps", "a1", "a2", "a3", "noise", "promised", "joint", "vanishes"]
    return pd.DataFrame(rows, columns=columns)
