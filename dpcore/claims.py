"""What is said about a mechanism: the smallest statement of each kind that holds, and whether the usual claim is true."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore import gate
from dpcore.conversion import gaussian_mu
from dpcore.domains import COUNT
from dpcore.guarantees import DP, DPTV, GDP, TV
from dpcore.kinds import WORDS, kind
from dpcore.mechanisms.bounded_laplace import BoundedLaplace
from dpcore.mechanisms.exponential import Exponential
from dpcore.mechanisms.gaussian import GaussianAnalytic, GaussianClassic
from dpcore.mechanisms.geometric import Geometric
from dpcore.mechanisms.laplace import Histogram, Laplace, LaplaceVector
from dpcore.mechanisms.laplace_sum import LaplaceSum
from dpcore.mechanisms.normal_laplace import NormalLaplace
from dpcore.mechanisms.randomized_response import RandomizedResponse
from dpcore.mechanisms.staircase import Staircase
from dpcore.tradeoff import parameters_of, written
from dpcore.words import best_advantage, kind_of, outward

if TYPE_CHECKING:
    from dpcore.mechanisms.base import Mechanism
    from dpcore.tradeoff import Atom, TradeOff

SLIGHTLY = 1e-12  # how far rounding may move the two sides of an equality
_PURE = (Laplace, Geometric, RandomizedResponse, Staircase, Exponential)


@dataclass(frozen=True)
class Statement:
    """One statement that holds about a region; `region` is None where no finite one is known."""

    notion: str
    region: TradeOff | None
    kind: str
    words: str


@dataclass(frozen=True)
class Claim:
    """What is usually claimed: a region, and whether it contains the true one (None: the bracket does not decide)."""

    region: TradeOff
    holds: bool | None
    words: str


# ---- statements that hold ------------------------------------------------------------------------------------


def statements(region: TradeOff, delta: float) -> list[Statement]:
    """Return the smallest (epsilon, delta), DP-TV and Gaussian statements.

    Parameters
    ----------
    region : any region.
    delta : at which delta the (epsilon, delta) statement is made, in [0, 1].
    """
    return [_approximate(region, delta), _with_variation(region, delta), _gaussian(region)]


def _approximate(region: TradeOff, delta: float) -> Statement:
    notion = "(ε, δ)-DP"
    low, high = (float(bound[0]) for bound in gate.epsilon_bounds(region, np.array([delta])))
    what = WORDS[kind(low, high, "upper")]
    if math.isinf(high):
        least = outward(region.curve.q_inf, 4)
        floor = f"δ stays at {least} (rounded up)" if region.curve.q_inf > 0 else "the loss has no bound"
        return Statement(notion, None, what, f"No ε holds at δ = {delta:g}: {floor}.")
    return Statement(notion, DP(high, delta), what, f"ε = {outward(high, 5)} (rounded up) at δ = {delta:g}.")


def _with_variation(region: TradeOff, delta: float) -> Statement:
    """Return the DP-TV statement: at the largest loss where there is one, otherwise at the delta asked."""
    notion, curve = "DP-TV", region.curve
    eta = min(1.0, region.total_variation)
    epsilon = max(0.0, curve.max_loss)
    bounded = math.isfinite(epsilon)
    if not bounded:
        epsilon = float(region.epsilon(delta))
    at = curve.q_inf if bounded else delta
    if math.isinf(epsilon):
        words = f"η = {outward(eta, 5)} (rounded up); no ε goes with it at δ = {delta:g}."
        return Statement(notion, TV(eta), kind_of(region), words)
    where = "ε is the largest finite loss" if bounded else "the loss has no bound"
    words = f"ε = {outward(epsilon, 5)}, δ = {outward(at, 5)}, η = {outward(eta, 5)} (rounded up); {where}."
    return Statement(notion, _dptv(epsilon, at, eta), kind_of(region), words)


def _dptv(epsilon: float, delta: float, eta: float) -> TradeOff:
    """Return both statements together; where one says everything, that one."""
    if eta <= delta or epsilon == 0:
        return TV(min(eta, delta) if epsilon == 0 else eta)
    if eta >= delta + (1.0 - delta) * math.tanh(epsilon / 2):
        return DP(epsilon, delta)
    return DPTV(epsilon, delta, eta)


def _gaussian(region: TradeOff) -> Statement:
    notion = "μ-GDP"
    found = gaussian_mu(region)
    if found is None:
        return Statement(notion, None, "unknown", "Whether a finite μ holds is not decided: the loss has no bound.")
    mu, exact = found
    if math.isinf(mu):
        return Statement(notion, None, "exact", "No finite μ holds: some answers give a person away for certain.")
    kind = "exact" if exact else "upper bound"
    return Statement(notion, GDP(mu), kind, f"μ = {outward(mu, 5)} (rounded up).")


# ---- the usual claim -----------------------------------------------------------------------------------------


def claim(mechanism: Mechanism) -> Claim | None:
    """Return what is usually claimed about a mechanism and whether it is true; None where nothing is."""
    if isinstance(mechanism, GaussianClassic):
        return _classical(mechanism)
    if isinstance(mechanism, GaussianAnalytic):
        region = DP(mechanism.epsilon_, mechanism.delta_)
        sigma = outward(mechanism.noise, 5)
        return Claim(region, True, f"The claim holds with σ = {sigma} (rounded up); with a smaller one it would not.")
    if isinstance(mechanism, BoundedLaplace):
        return _cut(mechanism)
    if isinstance(mechanism, Histogram):
        return _one_dimensional(mechanism)
    epsilon = _claimed_epsilon(mechanism)
    return None if epsilon is None else _pure(mechanism, epsilon)


def _claimed_epsilon(mechanism: Mechanism) -> float | None:
    """Return the epsilon that a mechanism is used for with delta 0."""
    if isinstance(mechanism, LaplaceVector):
        return math.fsum(shift / mechanism.scale for shift in mechanism.shifts)
    if isinstance(mechanism, (LaplaceSum, NormalLaplace)):
        return mechanism.sensitivity / mechanism.scale
    return mechanism.epsilon_ if isinstance(mechanism, _PURE) else None


def _holds(mechanism: Mechanism, epsilon: float, delta: float) -> bool | None:
    """Return whether delta(epsilon) <= delta, None where the bracket does not decide."""
    low, high = (float(bound[0]) for bound in mechanism.delta_bounds(np.array([epsilon * (1 + SLIGHTLY)])))
    if high <= delta:
        return True
    return False if low > delta * (1 + SLIGHTLY) else None


def _pure(mechanism: Mechanism, epsilon: float) -> Claim:
    region = DP(epsilon)
    if math.isinf(epsilon):
        return Claim(region, True, "Nothing is claimed: ε is infinite.")
    loss = max(0.0, mechanism.curve.max_loss)
    tight = abs(loss - epsilon) <= SLIGHTLY * max(1.0, epsilon)
    end = "no smaller ε holds at δ = 0" if tight else f"{outward(loss, 5)} (rounded up) would be enough"
    gain = (
        "the exact region is smaller still"
        if mechanism.total_variation < region.total_variation * (1 - 1e-9)
        else "the claim says everything there is to say"
    )
    return Claim(region, True, f"The claim of ε = {epsilon:.6g} holds: {end}, and {gain}.")


def _classical(mechanism: GaussianClassic) -> Claim:
    epsilon, delta = mechanism.epsilon_, mechanism.delta_
    true = float(mechanism.delta(epsilon))
    holds = true <= delta
    needed = GaussianAnalytic(epsilon, delta).noise
    ratio = mechanism.noise / needed
    sigma = f"Its σ is {mechanism.noise:.5g}; the exact calibration says σ = {outward(needed, 5)} (rounded up)"
    if holds:
        end = f"{sigma}: the classical noise is {100 * (ratio - 1):.3g} % wider than it has to be."
        words = f"The claim holds: at ε = {epsilon:g} the true δ is {outward(true, 4)} (exact, rounded up), claimed was {delta:g}."
    else:
        times = outward(true / delta, 3, up=False)
        end = f"{sigma}, {100 * (1 / ratio - 1):.3g} % more."
        words = (
            f"The claim fails: at ε = {epsilon:g} the true δ is {outward(true, 4, up=False)} (exact, rounded down), "
            f"{times} times the claimed {delta:g}. The classical formula is proved for ε below 1 only."
        )
    return Claim(DP(epsilon, delta), holds, f"{words} {end}")


def _cut(mechanism: BoundedLaplace) -> Claim:
    epsilon = mechanism.sensitivity / mechanism.scale
    holds = _holds(mechanism, epsilon, 0.0)
    if holds is False:
        loss = outward(mechanism.curve.max_loss, 4, up=False)
        words = (
            f"The claim fails: noise of scale sensitivity / ε hides ε = {epsilon:.5g} only while nothing is cut. Cut to the "
            f"interval, the largest loss is {loss} (rounded down)."
        )
    else:
        words = f"The claim of ε = {epsilon:.5g} holds: the interval leaves no worse pair of answers."
    return Claim(DP(epsilon), holds, words)


def _one_dimensional(mechanism: Histogram) -> Claim:
    region = Laplace(mechanism.epsilon_)
    if mechanism.epsilon_ == 0 or math.isinf(mechanism.epsilon_):
        return Claim(region, True, "At this ε both regions are the same.")
    advantage, what = best_advantage(mechanism)
    words = (
        f"The region of one Laplace answer, often drawn for a histogram, holds but is too large: its advantage is "
        f"{outward(region.total_variation, 4)}, the true one {outward(advantage, 4)} (rounded up, {what}). Two cells move, each hidden by noise twice as wide."
    )
    return Claim(region, True, words)


def calibration_text(mechanism: Atom, k: int = 1) -> str:
    """Return the expression to calibrate: the noise of the mechanism (or the loss of a statement) left open, used k times."""
    copies = COUNT.check(k)
    if isinstance(mechanism, (GaussianClassic, GaussianAnalytic)):
        text = "gaussian(?)"
    else:
        others = [(p, getattr(mechanism, name)) for name, p in parameters_of(type(mechanism))][1:]
        text = f"{mechanism.entry.name}({', '.join(['?', *written(others)])})"
    return text if copies == 1 else f"{text}^{copies}"
