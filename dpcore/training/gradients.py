r"""Many steps of Gaussian noise on Poisson samples, as in private gradient descent: certified, bounded, approximated.

The certified numbers come from the composition of the exact pair, N(0, s^2) against (1-q) N(0, s^2) + q N(1, s^2).
Two other numbers are in common use:

- Rényi: with the likelihood ratio r, one step has the divergence :math:`\frac1{a-1}\log E_0[r^a]` of order a, T steps
  have T times as much, and the best order gives an upper bound;
- the central limit: Gaussian privacy with :math:`\mu=q\sqrt{T(e^{1/\sigma^2}-1)}`, an approximation that is below the
  truth more often than not.

References: Abadi et al. (2016); Mironov, Talwar, Zhang (2019); Bu, Dong, Long, Su (2020).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from dpcore.central_limit.convergence import ABOVE, BELOW, verdict
from dpcore.central_limit.gaussians import epsilons_of
from dpcore.central_limit.limit import limit
from dpcore.core.domains import ALPHA, COUNT, OPEN_ORDER, POSITIVE, SHARE
from dpcore.core.effort import checkpoint, current, effort
from dpcore.core.errors import BudgetError, DomainError
from dpcore.core.kinds import kind, kinds, labelled
from dpcore.core.lazy import Lazy
from dpcore.core.numerals import nearest
from dpcore.core.rounding import UNIT, up
from dpcore.engine import mixture_mgf
from dpcore.engine.normal_jumps import Jumps
from dpcore.mechanisms.poisson_gaussian import PoissonGaussian
from dpcore.regions import gate
from dpcore.regions.guarantees import GDP, RDP
from dpcore.theorems import rdp_to_dp
from dpcore.words import outward

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.curves.base import FloatArray
    from dpcore.regions.tradeoff import TradeOff

COMPOSED, RENYI, ACCOUNTANT, MOMENTS, WHOLE = "composition", "renyi", "clt", "moments", "whole"
TITLES = {
    COMPOSED: "dpcore",
    RENYI: "Rényi",
    ACCOUNTANT: "CLT, as GDP accountants do",
    MOMENTS: "CLT, own moments",
    WHOLE: "without sampling",
}
STEPS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)
FPR = tuple(float(f"{10 ** (-step / 3):.6g}") for step in range(1, 25))
LARGEST_T = 10**6
SIGMA = POSITIVE.but(
    name="sigma",
    label="σ",
    low=0.05,
    low_open=False,
    high=1000.0,
    meaning="noise multiplier: deviation over clipping norm",
)
ROW_WORK, TABLE_WORK = 3e7, 6e7
"""Operations allowed for one number of steps in a ladder, and for all: a few seconds each, and less than ten together."""
ORDERS = 1 + np.geomspace(1e-2, 1e3, 240)  # a first grid; the best order is refined between its neighbours
_MANY = 100  # with at least this many steps, a narrow bracket takes no longer than a wide one
_NARROW = 1e-7
_RENYI_ORDERS = 24  # every order gives a valid bound; more orders make it a little smaller
_MOST_RENYI = 1e4  # a divergence this large bounds no rate


@dataclass(frozen=True)
class Training:
    """T steps with noise sigma on samples of rate q."""

    sigma: float
    q: float
    steps: int

    def __post_init__(self) -> None:
        """Check the three numbers."""
        object.__setattr__(self, "sigma", SIGMA.check(self.sigma))
        object.__setattr__(self, "q", SHARE.but(name="q").check(self.q))
        object.__setattr__(self, "steps", COUNT.but(name="T", high=LARGEST_T).check(self.steps))

    @property
    def step(self) -> TradeOff:
        """One step."""
        return PoissonGaussian(self.sigma, self.q)

    @Lazy
    def region(self) -> TradeOff:
        """All steps."""
        return self.step if self.steps == 1 else self.step**self.steps

    @property
    def mu(self) -> float:
        """The mu of GDP accountants."""
        return clt_mu(self.sigma, self.q, self.steps)

    @property
    def own_mu(self) -> float:
        """The central limit with the moments of the loss itself."""
        if self.q == 1.0:
            return math.sqrt(self.steps) / self.sigma
        return _limit_mu(self.sigma, self.q) * math.sqrt(self.steps)

    @property
    def whole_mu(self) -> float:
        """Gaussian privacy without sampling, exact."""
        return math.sqrt(self.steps) / self.sigma

    @property
    def tolerance(self) -> float:
        """The tolerance for small rates."""
        return min(current().tolerance, _NARROW) if self.steps >= _MANY else current().tolerance


@lru_cache(maxsize=128)
def _limit_mu(sigma: float, q: float) -> float:
    return limit(PoissonGaussian(sigma, q)).mu


@lru_cache(maxsize=128)
def _curve(sigma: float, q: float) -> tuple[float, ...]:
    return tuple(renyi(sigma, q, ORDERS.tolist()).tolist())


# ---- single numbers ------------------------------------------------------------------------------------------


def clt_mu(sigma: float, q: float, steps: int) -> float:
    r"""Return :math:`q\sqrt{T(e^{1/\sigma^2}-1)}`, the mu of GDP accountants: an approximation, not a bound.

    Parameters
    ----------
    sigma : float
        Noise multiplier, in [0.05, 1000].
    q : float
        Sampling rate, in (0, 1].
    steps : int
        How many steps, from 1 to 10^6.

    Returns
    -------
    float
        The mu of all steps.

    Examples
    --------
    >>> round(clt_mu(1.0, 0.01, 1000), 9)
    0.414521631
    """
    training = Training(sigma, q, steps)
    return training.q * math.sqrt(training.steps * math.expm1(training.sigma**-2))


def renyi(sigma: float, q: float, order: float | Sequence[float]) -> FloatArray:
    """Return an upper bound of the Rényi divergence of one step at each order, the larger of both directions.

    Parameters
    ----------
    sigma : float
        Noise multiplier, in [0.05, 1000].
    q : float
        Sampling rate, in (0, 1].
    order : float or sequence of float
        Above 1.

    Returns
    -------
    ndarray of float
        One per order: 0 if a step reveals nothing, inf if the order is too large for the quadrature.
    """
    training = Training(sigma, q, 1)
    orders = OPEN_ORDER.array(order)
    mu = 1.0 / training.sigma
    if training.q == 1.0:
        return np.asarray(orders * mu * mu / 2, dtype=np.float64)
    law = Jumps.single(mu, training.q)
    powers = orders - 1.0, -orders
    larger = np.maximum(*(mixture_mgf.cumulants(c, law)[0] for c in powers))
    units = np.maximum(*(mixture_mgf.cumulant_rounding(c, law) for c in powers))
    value = (np.maximum(larger, 0.0) * (1 + 8 * UNIT) + UNIT * units) / (orders - 1.0)
    return np.asarray(np.where(np.isnan(larger), np.inf, value), dtype=np.float64)


def renyi_epsilon(sigma: float, q: float, steps: int, delta: float) -> tuple[float, float]:
    """Return the smallest epsilon that Rényi divergences give at delta, an upper bound, and its order.

    Parameters
    ----------
    sigma : float
        Noise multiplier, in [0.05, 1000].
    q : float
        Sampling rate, in (0, 1].
    steps : int
        How many steps, from 1 to 10^6.
    delta : float
        In (0, 1].

    Returns
    -------
    tuple of (float, float)
        Epsilon and the best order.
    """
    training = Training(sigma, q, steps)
    failing = SHARE.but(name="delta").check(delta)
    curve = training.steps * np.array(_curve(training.sigma, training.q))
    with np.errstate(invalid="ignore"):
        epsilons = curve + np.log1p(-1.0 / ORDERS) - (math.log(failing) + np.log(ORDERS)) / (ORDERS - 1.0)
    best = int(np.nanargmin(epsilons))
    around = np.linspace(ORDERS[max(best - 1, 0)], ORDERS[min(best + 1, ORDERS.size - 1)], 41)
    finer = training.steps * renyi(training.sigma, training.q, around.tolist())
    tight = finer + np.log1p(-1.0 / around) - (math.log(failing) + np.log(around)) / (around - 1.0)
    at = int(np.argmin(tight))
    if not math.isfinite(finer[at]):
        return math.inf, float(around[at])
    rows = rdp_to_dp(float(around[at]), up(float(finer[at])), failing)
    return float(rows.loc[rows["theorem"] == "rdp_tight", "epsilon"].iloc[0]), float(around[at])


def _renyi_power(training: Training, fpr: FloatArray) -> FloatArray:
    """Return an upper bound of the true-positive rate: the best of the regions of some orders."""
    orders = 1 + np.geomspace(0.05, 300.0, _RENYI_ORDERS)
    curve = training.steps * renyi(training.sigma, training.q, orders.tolist())
    bound = np.ones(fpr.size)
    for order, epsilon in zip(orders.tolist(), curve.tolist(), strict=True):
        if epsilon < _MOST_RENYI:
            bound = np.minimum(bound, RDP(order, up(epsilon)).power(fpr))
    return bound


# ---- tables --------------------------------------------------------------------------------------------------


def gradients(sigma: float, q: float, steps: int, delta: float) -> pd.DataFrame:
    """Tabulate epsilon at delta by every method.

    Parameters
    ----------
    sigma : float
        Noise multiplier, in [0.05, 1000].
    q : float
        Sampling rate, in (0, 1].
    steps : int
        How many steps, from 1 to 10^6.
    delta : float
        In (0, 1].

    Returns
    -------
    DataFrame
        `k, title, epsilon, epsilon_lower, note, kind, theorem, neighbours`, one row per method: the certified bracket,
        the Rényi bound, both central limits (approximations; `note` says if one is below the truth) and the exact
        number for the same noise without sampling.
    """
    training = Training(sigma, q, steps)
    failing = SHARE.but(name="delta").check(delta)
    return _framed(training, failing, _bracket(training, failing))


def _bracket(training: Training, delta: float) -> tuple[float, float]:
    low, high = (float(bound[0]) for bound in training.region.epsilon_bounds(np.array([delta])))
    return low, high


def _framed(training: Training, failing: float, bracket: tuple[float, float], why: str = "") -> pd.DataFrame:
    """Return the rows of one number of steps; `why` is the reason if the certified bracket is not known."""
    low, high = bracket
    bound, order = renyi_epsilon(training.sigma, training.q, training.steps, failing)
    rows: list[tuple[Any, ...]] = [
        (
            COMPOSED,
            high,
            low,
            why or f"at least {outward(low, 6, up=False)}",
            "none" if why else kind(low, high, "upper"),
        ),
        (RENYI, bound, 0.0, f"best order {nearest(order, 4)}", "upper"),
    ]
    for name, mu in ((ACCOUNTANT, training.mu), (MOMENTS, training.own_mu)):
        value = _gaussian(mu, failing)
        words = f"μ = {nearest(mu)}"
        rows.append((name, value, value, words if why else _flag(value, low, high, words), "approximate"))
    plain = GDP(training.whole_mu)
    least, most = (float(bound[0]) for bound in plain.epsilon_bounds(np.array([failing])))
    rows.append((WHOLE, most, least, f"μ = {nearest(training.whole_mu)}", kind(least, most, "upper")))
    frame = pd.DataFrame(rows, columns=["theorem", "epsilon", "epsilon_lower", "note", "kind"])
    frame.insert(0, "k", training.steps)
    frame.insert(1, "title", frame["theorem"].map(TITLES))
    sampled = frame["theorem"] != WHOLE
    return labelled(frame, neighbours=np.where(sampled, training.region.neighbours, plain.neighbours))


def _gaussian(mu: float, delta: float) -> float:
    return float(epsilons_of(np.array([mu]), np.zeros(1), delta, certified=False)[0])


def _flag(value: float, low: float, high: float, words: str) -> str:
    side = verdict(value, low, high)
    if side == BELOW:
        return f"{words}; below the truth by {outward(low - value, 3, up=False)} or more"
    return f"{words}; {'above the truth here' if side == ABOVE else 'inside the bracket'}"


def rates(sigma: float, q: float, steps: int, fpr: Sequence[float] = FPR) -> pd.DataFrame:
    """Tabulate the attacker's true-positive rate at low false-positive rates.

    Parameters
    ----------
    sigma : float
        Noise multiplier, in [0.05, 1000].
    q : float
        Sampling rate, in (0, 1].
    steps : int
        How many steps, from 1 to 10^6.
    fpr : sequence of float, default FPR
        False-positive rates, in [0, 1].

    Returns
    -------
    DataFrame
        `fpr, tpr, tpr_lower, renyi, clt, verdict, kind, theorem, neighbours`: the truth lies between `tpr_lower` and `tpr`; `renyi` is an upper
        bound, `clt` an approximation, `verdict` says on which side of the truth it lies; `kind` is that of `tpr`.
    """
    training = Training(sigma, q, steps)
    at = ALPHA.but(name="fpr").array(fpr)
    with effort(tolerance=training.tolerance):
        low, high = gate.power_bounds(training.region, at)
    bound = _renyi_power(training, at)
    clt = ndtr(ndtri(at) + training.mu)
    sides = [verdict(c, a, b) for c, a, b in zip(clt.tolist(), low.tolist(), high.tolist(), strict=True)]
    columns = {"fpr": at, "tpr": high, "tpr_lower": low, "renyi": bound, "clt": clt, "verdict": sides}
    return labelled(pd.DataFrame(columns), training.region, kind=kinds((low, high), "upper"))


def gradient_ladder(
    sigma: float, q: float, delta: float, steps: Sequence[int] | None = None, *, work: float = TABLE_WORK
) -> pd.DataFrame:
    """Tabulate `gradients` for several numbers of steps.

    Work is counted, not timed, so every machine gives the same table: if a certified bracket takes more than `ROW_WORK`
    operations, or more than is left of `work`, or does not get narrow enough, its row has kind ``none`` and says so. Many
    steps come first: they are quick. A deadline refuses the whole table.

    Parameters
    ----------
    sigma : float
        Noise multiplier, in [0.05, 1000].
    q : float
        Sampling rate, in (0, 1].
    delta : float
        In (0, 1].
    steps : sequence of int, optional
        Numbers of steps, by default `STEPS`.
    work : float, default TABLE_WORK
        Operations allowed for all certified brackets together.

    Returns
    -------
    DataFrame
        `k, title, epsilon, epsilon_lower, note, kind, theorem, neighbours`, what `dpcore.charts.ladder_figure` draws.
    """
    counts = sorted({COUNT.but(name="T", high=LARGEST_T).check(t) for t in (STEPS if steps is None else steps)})
    failing = SHARE.but(name="delta").check(delta)
    if not counts:
        msg = "steps must hold at least one number of steps, got none."
        raise DomainError(msg)
    parts, left = [], POSITIVE.but(name="work").check(work)
    for place, count in enumerate(reversed(counts)):
        checkpoint(place / len(counts))
        training, why = Training(sigma, q, count), ""
        with effort(work=min(ROW_WORK, left)) as settings:
            try:
                bracket = _bracket(training, failing)
            except BudgetError as error:
                checkpoint()  # raises if the time has run out
                bracket, why = (0.0, math.inf), str(error)
        if settings.work is not None:
            left -= settings.work.whole - max(0.0, settings.work.left)
        parts.append(_framed(training, failing, bracket, why))
    frame = pd.concat(reversed(parts), ignore_index=True)
    order = {name: place for place, name in enumerate(TITLES)}
    return frame.sort_values("theorem", key=lambda names: names.map(order), kind="stable", ignore_index=True)
