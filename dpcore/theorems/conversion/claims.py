"""Statements about a mechanism: the smallest of each notion that holds, and whether the usual claim is true."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.domains import COUNT
from dpcore.core.kinds import WORDS, kind
from dpcore.core.numerals import nearest
from dpcore.mechanisms.base import Claim, Mechanism, open_expression
from dpcore.regions import gate
from dpcore.regions.guarantees import DP, DPTV, GDP, TV
from dpcore.theorems.conversion import gaussian_mu
from dpcore.words import kind_of, outward

if TYPE_CHECKING:
    from dpcore.regions.tradeoff import Atom, TradeOff

__all__ = ["Claim", "NotionStatement", "calibration_text", "claim", "statements"]


@dataclass(frozen=True)
class NotionStatement:
    """One statement that holds about a region; `region` is None if no finite one is known."""

    notion: str
    region: TradeOff | None
    kind: str
    words: str


# ---- statements that hold ------------------------------------------------------------------------------------


def statements(region: TradeOff, delta: float) -> list[NotionStatement]:
    """Return the smallest (epsilon, delta), DP-TV and Gaussian statements.

    Parameters
    ----------
    region : TradeOff
        Any region.
    delta : float
        Of the (epsilon, delta) statement, in [0, 1].

    Returns
    -------
    list of NotionStatement
        One for each notion, in this order.
    """
    return [_approximate(region, delta), _with_variation(region, delta), _gaussian(region)]


def _approximate(region: TradeOff, delta: float) -> NotionStatement:
    notion = "(ε, δ)-DP"
    low, high = (float(bound[0]) for bound in gate.epsilon_bounds(region, np.array([delta])))
    what = WORDS[kind(low, high, "upper")]
    if math.isinf(high):
        least = outward(region.curve.q_inf, 4)
        floor = f"δ stays at {least} (rounded up)" if region.fails else "the loss has no bound"
        return NotionStatement(notion, None, what, f"No ε holds at δ = {nearest(delta)}: {floor}.")
    return NotionStatement(
        notion, DP(high, delta), what, f"ε = {outward(high, 5)} (rounded up) at δ = {nearest(delta)}."
    )


def _with_variation(region: TradeOff, delta: float) -> NotionStatement:
    """Return the DP-TV statement: at the largest loss if it is finite, otherwise at `delta`."""
    notion, curve = "DP-TV", region.curve
    eta = min(1.0, region.total_variation)
    epsilon = max(0.0, curve.max_loss)
    bounded = math.isfinite(epsilon)
    if not bounded:
        epsilon = float(region.epsilon(delta))
    at = curve.q_inf if bounded else delta
    gate.rates(region, "delta", at)
    if math.isinf(epsilon):
        words = f"η = {outward(eta, 5)} (rounded up); no ε goes with it at δ = {nearest(delta)}."
        return NotionStatement(notion, TV(eta), kind_of(region), words)
    where = "ε is the largest finite loss" if bounded else "the loss has no bound"
    words = f"ε = {outward(epsilon, 5)}, δ = {outward(at, 5)}, η = {outward(eta, 5)} (rounded up); {where}."
    return NotionStatement(notion, _dptv(epsilon, at, eta), kind_of(region), words)


def _dptv(epsilon: float, delta: float, eta: float) -> TradeOff:
    """Return both statements together, or the one that implies the other."""
    if eta <= delta or epsilon == 0:
        return TV(min(eta, delta) if epsilon == 0 else eta)
    if eta >= delta + (1.0 - delta) * math.tanh(epsilon / 2):
        return DP(epsilon, delta)
    return DPTV(epsilon, delta, eta)


def _gaussian(region: TradeOff) -> NotionStatement:
    notion = "μ-GDP"
    smallest = gaussian_mu(region)
    if smallest is None:
        return NotionStatement(
            notion, None, "unknown", "Whether a finite μ holds is not decided: the loss has no bound."
        )
    mu, exact = smallest
    if math.isinf(mu):
        return NotionStatement(notion, None, "exact", "No finite μ holds: some answers give a person away for certain.")
    kind = "exact" if exact else "upper bound"
    return NotionStatement(notion, GDP(mu), kind, f"μ = {outward(mu, 5)} (rounded up).")


# ---- the usual claim -----------------------------------------------------------------------------------------


def claim(mechanism: Mechanism) -> Claim | None:
    """Return what is usually claimed about a mechanism and whether it is true; None if nothing is claimed.

    Parameters
    ----------
    mechanism : Mechanism
        Any mechanism.

    Returns
    -------
    Claim or None
        See `dpcore.mechanisms.base.Claim`.
    """
    return mechanism.claim()


def calibration_text(mechanism: Atom, k: int = 1) -> str:
    """Return the expression to calibrate: k uses with the noise (or the loss of a statement) written as ``?``.

    Parameters
    ----------
    mechanism : Atom
        A mechanism or a statement.
    k : int, default 1
        Number of uses.

    Returns
    -------
    str
        As in ``gaussian(?)^10``.
    """
    copies = COUNT.check(k)
    text = mechanism.open_text if isinstance(mechanism, Mechanism) else open_expression(mechanism)
    return text if copies == 1 else f"{text}^{copies}"
