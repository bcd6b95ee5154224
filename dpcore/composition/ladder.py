r"""The ladder: epsilon at one delta as the number of mechanisms grows, one line per theorem.

Closed forms are computed for all k at once. A theorem that may be stated for any slack is used at the slack that
spends all of delta. Numbers are those of the whole statement: (E, D)-DP also promises every delta above D at a
slightly smaller epsilon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dpcore.composition.clt import limit
from dpcore.composition.gaussians import epsilons_of
from dpcore.composition.step import Step, steps_of
from dpcore.composition.tails import epsilon_of_copies
from dpcore.composition.ways import LARGEST_K, TITLES, kov_note, no_tv, statement_region
from dpcore.curves.gaussian import Gaussian
from dpcore.curves.polygon import Polygon
from dpcore.errors import BudgetError, DpcoreError
from dpcore.guarantees import DP
from dpcore.language import parse
from dpcore.limits import checkpoint, limits
from dpcore.theorems import domain
from dpcore.theorems.rounding import sum_up
from dpcore.words import outward

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.curves.base import FloatArray
    from dpcore.tradeoff import TradeOff

Block = list[tuple[int, str, str, float, str, str]]  # rows of one theorem, in the order of COLUMNS
KS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)
COLUMNS = ("k", "theorem", "title", "epsilon", "kind", "note")
_UP = 1 + 1e-13
_ROUNDING = 1e-15
_BELOW = "No ε reaches this δ: the failure probability is already larger."


def ladder(
    mechanism: TradeOff | str, delta: float = 1e-6, ks: Sequence[int] | None = None, *, patience: float = 10.0
) -> pd.DataFrame:
    """Tabulate the epsilon every theorem promises for k copies of a mechanism at one delta.

    Parameters
    ----------
    mechanism : a region, or its expression.
    delta : failure probability of the whole composition, in [0, 1].
    ks : numbers of copies, by default those of `rungs`. A mechanism whose exact composition takes long is composed at powers of ten only.
    patience : seconds for the exact compositions; those that do not fit say so.

    Returns
    -------
    DataFrame
        `k, theorem, title, epsilon, kind, note`, a row for every theorem and k. `kind` is ``exact``, ``upper``,
        ``approximate`` or ``none``; with ``none`` epsilon is inf and `note` says why. inf with another kind means
        that no epsilon reaches this delta.
    """
    region = parse(mechanism) if isinstance(mechanism, str) else mechanism
    wanted = domain.probability(delta, "delta")
    asked = rungs(region, wanted) if ks is None else ks
    counts = [domain.integer(k, "k", high=LARGEST_K) for k in asked]
    try:
        steps = steps_of(region, counts, wanted)
    except DpcoreError as error:
        rows = [_silent(name, str(error), counts) for name in TITLES if name not in {"exact", "clt", "gdp"}]
        steps = []
    else:
        rows = [*_closed_forms(_Copies.of(steps, counts), wanted, steps), *_optimal(steps, counts, wanted)]
    rows += [_gaussian(region, steps, counts, wanted), _limit(region, counts, wanted)]
    with limits(deadline=patience):
        rows.append(_exact(region, steps, counts, wanted))
    order = {name: place for place, name in enumerate(TITLES)}
    listed = sorted((row for block in rows for row in block), key=lambda row: order[row[1]])
    return pd.DataFrame(listed, columns=list(COLUMNS))


def rungs(region: TradeOff, delta: float) -> tuple[int, ...]:
    """Return numbers of copies from 1 to 10^5, two in each decade.

    Where the failures of fewer copies already exceed `delta`, the rungs end there and are closer.
    """
    failing = region.curve.q_inf
    if not 0 < failing < 1 or delta >= 1:
        return KS
    most = int(min(math.log1p(-delta) / math.log1p(-failing), KS[-1]))  # 1 - (1 - failing)^k = delta
    if most >= KS[-1]:
        return KS
    spread = np.unique(np.geomspace(1, max(most, 1), len(KS)).round().astype(np.int64))
    return (*(int(k) for k in spread), max(most, 1) + 1)


@dataclass(frozen=True, slots=True)
class _Copies:
    """The statements of all steps as columns."""

    k: FloatArray
    epsilon: FloatArray
    delta: FloatArray

    @classmethod
    def of(cls, steps: Sequence[Step], counts: Sequence[int]) -> _Copies:
        return cls(
            np.array(counts, dtype=np.float64),
            np.array([step.epsilon for step in steps]),
            np.array([step.delta for step in steps]),
        )


def _block(name: str, counts: Sequence[int], epsilon: object, kind: object, note: object) -> Block:
    """Return the rows of one theorem; what is the same for all k is given once."""
    columns = (_spread(value, len(counts)) for value in (epsilon, kind, note))
    title = TITLES[name]
    return [
        (int(k), name, title, float(e), str(what), str(why)) for k, e, what, why in zip(counts, *columns, strict=True)
    ]


def _spread(value: object, count: int) -> list[Any]:
    return np.asarray(value).tolist() if np.ndim(value) else [value] * count  # type: ignore[arg-type]  # a number, a text or a list


def _silent(name: str, why: str, counts: Sequence[int]) -> Block:
    return _block(name, counts, math.inf, "none", why)


def _noted(name: str, counts: Sequence[int], epsilon: FloatArray, kind: str, note: str = "") -> Block:
    """Return rows of a theorem that applies; where no epsilon is left the note says so."""
    return _block(name, counts, epsilon + 0.0, kind, [_BELOW if math.isinf(e) else note for e in epsilon])


# ---- closed forms --------------------------------------------------------------------------------------------


def _closed_forms(copies: _Copies, delta: float, steps: Sequence[Step]) -> list[Block]:
    """Return basic, both advanced theorems and the simplified optimal one."""
    k, counts, taken = copies.k, [int(k) for k in copies.k], steps[0].note
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        total = k * copies.epsilon * _UP
        kept = k * np.log1p(-np.minimum(copies.delta, 1.0))  # log of the probability that nothing fails
        plain = statement_epsilon(total, -np.expm1(kept) * _UP, delta)
        simple = np.minimum(_simplified(copies, kept, delta), plain)
        return [
            _noted("basic", counts, statement_epsilon(total, _sums(copies), delta), "upper", taken),
            _noted("kov_simplified", counts, simple, "upper", taken or "slack chosen to spend all of δ"),
            _noted("advanced_drv", counts, _drv(copies, delta), "upper", taken or "slack chosen to spend all of δ"),
            _course(copies, delta, counts),
        ]


def _sums(copies: _Copies) -> FloatArray:
    """Return the sums of the deltas without rounding error."""
    pairs = zip(copies.delta.tolist(), copies.k.tolist(), strict=True)
    return np.array([min(1.0, sum_up([(failing, int(k))])) for failing, k in pairs])


def statement_epsilon(epsilon: FloatArray, delta: FloatArray, at: float) -> FloatArray:
    r"""Return the smallest epsilon at delta = `at` of (E, D)-DP statements, rounded up.

    :math:`\delta(x) = D + (1-D)\frac{e^E-e^x}{1+e^E}`, hence :math:`x = E + \log(1-t(1+e^{-E}))`,
    :math:`t=(\delta-D)/(1-D)`; inf where D is above `at`. Five times the double 0.05 is a little above 0.25: a D that
    differs from `at` by rounding counts as reached.
    """
    spare = np.maximum(0.0, (at - delta) - 1e-15 * at) / np.maximum(1.0 - delta, 1e-300)
    inner = np.maximum(-spare * (1.0 + np.exp(-epsilon)) * (1 - 1e-15), -1.0)
    with np.errstate(divide="ignore"):
        value = epsilon + np.log1p(inner)
    found = np.where(delta > at * (1 + _ROUNDING), np.inf, np.maximum(value, 0.0))
    return np.asarray(found if at < 1 else np.zeros_like(found), dtype=np.float64)


def _simplified(copies: _Copies, kept: FloatArray, delta: float) -> FloatArray:
    """Return the envelope of the simplified optimal theorem over its slack."""
    if delta >= 1:
        return np.zeros_like(kept)
    k, epsilon = copies.k, copies.epsilon
    slack = -np.expm1(math.log1p(-delta) - kept) * (1 - 1e-15) - 1e-15 * np.abs(kept)
    mean, spread = k * epsilon * np.tanh(epsilon / 2), np.sqrt(k) * epsilon
    safe = np.where(slack > 0, slack, 0.5)
    first = mean + spread * np.sqrt(-2 * np.log(safe))
    second = mean + spread * np.sqrt(2 * np.log(np.e + spread / safe))
    found = np.minimum(k * epsilon, np.minimum(first, second)) * _UP
    return np.asarray(np.where(slack > 0, found, np.inf), dtype=np.float64)


def _drv(copies: _Copies, delta: float) -> FloatArray:
    """Return the classical advanced theorem with slack delta minus the sum of deltas."""
    if delta >= 1:
        return np.zeros_like(copies.k)
    slack = (delta - copies.k * copies.delta) * (1 - 1e-15) - 1e-15 * delta
    safe = np.where(slack > 0, slack, 0.5)
    spread = copies.epsilon * np.sqrt(-2 * copies.k * np.log(safe))
    found = np.where(copies.epsilon > 0, spread + copies.k * copies.epsilon * np.expm1(copies.epsilon), 0.0) * _UP
    return np.asarray(np.where(slack > 0, found, np.inf), dtype=np.float64)


def _course(copies: _Copies, delta: float, counts: Sequence[int]) -> Block:
    """Return the advanced theorem of pure privacy where log(1/delta) >= epsilon^2 k; elsewhere say so."""
    name = "advanced_course"
    if copies.delta.max() > 0 or delta <= 0:
        shown = f"δ = {outward(float(copies.delta.max()), 4)}" if copies.delta.max() > 0 else "a total δ of 0"
        return _block(
            name, counts, math.inf, "none", f"It is about δ = 0 per mechanism and a total δ above 0; got {shown}."
        )
    budget = -math.log(delta)
    held = budget >= copies.epsilon**2 * copies.k * _UP
    value = np.where(held, 4 * copies.epsilon * np.sqrt(2 * copies.k * budget) * _UP, np.inf)
    why = f"It holds for ε²k up to log(1/δ) = {outward(budget, 4, up=False)} only"
    notes = ["" if fits else f"{why}, here {e * e * k:.4g}." for fits, e, k in _rows(held, copies)]
    return _block(name, counts, value, np.where(held, "upper", "none"), notes)


def _rows(held: object, copies: _Copies) -> zip[tuple[bool, float, float]]:
    return zip(np.asarray(held, dtype=bool).tolist(), copies.epsilon.tolist(), copies.k.tolist(), strict=True)


# ---- Gaussian ones -------------------------------------------------------------------------------------------


def _gaussian(region: TradeOff, steps: Sequence[Step], counts: Sequence[int], delta: float) -> Block:
    """Return Gaussian privacy: exact for a Gaussian mechanism, otherwise a region that contains the statement."""
    curve, k = region.curve, np.array(counts, dtype=np.float64)
    if isinstance(curve, Gaussian):
        return _noted("gdp", counts, epsilons_of(curve.mu * np.sqrt(k), np.zeros_like(k), delta), "exact")
    mu = np.array([step.bounding_mu for step in steps])
    if not steps or not np.isfinite(mu).all():
        why = "Its μ is too large for a number." if steps else "The loss is unbounded and not Gaussian."
        return _silent("gdp", why, counts)
    with np.errstate(divide="ignore"):
        lost = -np.expm1(k * np.log1p(-np.array([step.delta for step in steps])))
    epsilon = epsilons_of(mu * np.sqrt(k) * _UP, np.minimum(lost * _UP, 1.0), delta)
    return _noted("gdp", counts, epsilon, "upper", steps[0].note)


def _limit(region: TradeOff, counts: Sequence[int], delta: float) -> Block:
    """Return the central limit, labelled as the approximation it is."""
    if isinstance(region.curve, Gaussian):
        return _silent("clt", f"No limit is needed: {TITLES['gdp']} is exact.", counts)
    try:
        found = limit(region)
    except DpcoreError as error:
        return _silent("clt", str(error), counts)
    k = np.array(counts, dtype=np.float64)
    epsilon = epsilons_of(found.mu * np.sqrt(k), -np.expm1(k * math.log1p(-found.lost)), delta, certified=False)
    return _noted("clt", counts, epsilon, "approximate", "an approximation, not a promise")


# ---- compositions --------------------------------------------------------------------------------------------


def _optimal(steps: Sequence[Step], counts: Sequence[int], delta: float) -> list[Block]:
    """Return the optimal theorems: the exact composition of the statements."""
    parts = {"kov_optimal": _Rows(), "dptv": _Rows()}
    plain, helped = DP(steps[0].epsilon, steps[0].delta), statement_region(steps[0])
    for index, (k, step) in enumerate(zip(counts, steps, strict=True)):
        checkpoint(index / len(counts))
        if step is not steps[0]:
            plain, helped = DP(step.epsilon, step.delta), statement_region(step)
        tight = step.attained and not step.tv_helps
        parts["kov_optimal"].add(k, plain, delta, "exact" if tight else "upper", kov_note(step))
        if step.tv_helps:
            parts["dptv"].add(k, helped, delta, "exact" if step.attained else "upper", step.note)
        else:
            parts["dptv"].rows.append((k, math.inf, "none", no_tv(step)))
    return [part.block(name) for name, part in parts.items()]


def _exact(region: TradeOff, steps: Sequence[Step], counts: Sequence[int], delta: float) -> Block:
    """Return the composition of the mechanism itself, unless its statement is all there is."""
    if steps and steps[0].attained:
        twin = TITLES["dptv"] if steps[0].tv_helps else TITLES["kov_optimal"]
        return _silent("exact", f"Nothing but the statement is known: {twin} is its exact composition.", counts)
    cheap = isinstance(region.curve, (Polygon, Gaussian)) or not any(_round(k) for k in counts[1:])
    part = _Rows()
    for index, k in enumerate(counts):
        if cheap or _round(k):
            try:
                checkpoint(index / len(counts))
                part.add(k, region, delta, "exact", "exact composition of the mechanism itself")
            except BudgetError as error:
                part.rows.append((k, math.inf, "none", str(error)))
    return part.block("exact")


def _round(k: int) -> bool:
    """Whether k is a power of ten."""
    return str(k).rstrip("0") == "1"


class _Rows:
    """Rows of one theorem, one k at a time."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, float, str, str]] = []

    def add(self, k: int, region: TradeOff, delta: float, kind: str, note: str) -> None:
        """Compose k copies and ask for epsilon; of a statement the few masses that decide are enough."""
        pair = region.pair
        few = epsilon_of_copies(pair, k, delta) if isinstance(pair, Polygon) and pair.symmetric else None
        composed = region**k
        value = (float(composed.epsilon(delta)) if few is None else few) + 0.0
        if kind == "exact":
            kind = composed.kind if few is None else "exact"
        else:
            value *= _UP  # right to rounding; as an upper bound it must not be below the truth at all
        self.rows.append((k, value, kind, _BELOW if math.isinf(value) else note))

    def block(self, name: str) -> Block:
        """Return the rows with their theorem."""
        counts, epsilon, kind, note = (list(column) for column in zip(*self.rows, strict=True))
        return _block(name, [int(k) for k in counts], epsilon, kind, note)
