r"""The best channel under a promise, by a linear program over extremal columns.

With columns S_j (`dpcore.local.extremal`) and weights :math:`\theta_j\ge 0`:

.. math:: \max_\theta\ \sum_j\mu(S_j)\theta_j\quad\text{with}\quad \sum_j S_j\theta_j=1,\quad
          \sum_j(S_{jx}-e^{\varepsilon}S_{jx'})_+\theta_j\le\delta,\quad \sum_j(S_{jx}-S_{jx'})_+\theta_j\le\eta,

where :math:`\mu(S)` is the divergence's term of masses :math:`P_0\cdot S` and :math:`P_1\cdot S`. The solver's
result is not trusted: the channel is rebuilt from its support and measured directly, which bounds the optimum from
below; the dual variables, shifted until they are feasible, bound it from above.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dpcore.core.effort import checkpoint
from dpcore.core.errors import BudgetError
from dpcore.core.kinds import ROUNDING, kind
from dpcore.local.channels import Channel, binary, randomized_response, silence
from dpcore.local.extremal import ABSENT, MOST_APPROXIMATE, MOST_PURE, columns

if TYPE_CHECKING:
    from dpcore.curves.base import FloatArray
    from dpcore.local.hypotheses import Hypotheses, LocalPromise
    from dpcore.local.measures import DivergenceMeasure

ALIKE = 1e-9  # relative difference below which two channels count as equally good
_SCALE = 100.0  # scale of the objective, because the solver's tolerances are absolute
_NOTHING = 1e-11  # smaller weights are not part of the basis
_ATTEMPTS: tuple[tuple[Literal["highs", "highs-ds", "highs-ipm"], float], ...] = (
    ("highs-ds", 1e-10),
    ("highs-ds", 1e-8),
    ("highs-ipm", 1e-9),
    ("highs", 1e-7),
)


@dataclass(frozen=True)
class Optimum:
    """The best channel, with its divergence and a certified upper bound for all channels.

    Attributes
    ----------
    value : float
        What the channel attains, measured on its outputs.
    upper : float
        No channel that keeps the promise attains more (from a feasible dual solution, evaluated in doubles).
    channel : Channel
        A best channel; there may be others.
    """

    value: float
    upper: float
    channel: Channel

    @property
    def kind(self) -> str:
        """``exact`` if both sides agree up to rounding, otherwise ``lower``."""
        return kind(*self.sides, "lower")

    @property
    def sides(self) -> tuple[float, float]:
        """What is attained and what no channel exceeds; equal if they differ only by rounding."""
        one = self.upper <= self.value * (1 + ROUNDING) + 1e-300
        return self.value, self.value if one else self.upper


def why_not(question: Hypotheses, promise: LocalPromise) -> str:
    """Say why the best channel cannot be computed, and what can be; return an empty text if it can.

    Parameters
    ----------
    question : Hypotheses
        What is to be decided.
    promise : LocalPromise
        What every answer guarantees.

    Returns
    -------
    str
        Two sentences, or nothing.
    """
    most = MOST_PURE if promise.delta == 0 else MOST_APPROXIMATE
    kinds = len(question.groups)
    if kinds <= most:
        return ""
    extra = "" if promise.delta == 0 else f" (with δ = 0: {MOST_PURE})"
    return (
        f"The best channel is computed for at most {most} letters with different likelihood ratios{extra}; these "
        f"hypotheses have {kinds}. The binary mechanism, randomized response and all bounds remain; joining letters of "
        "similar ratio gives a question whose best channel is a lower bound."
    )


def optimum(question: Hypotheses, promise: LocalPromise, measure: DivergenceMeasure) -> Optimum:
    """Return the best channel for a measure: in closed form for the total variation, otherwise by the linear program.

    Parameters
    ----------
    question : Hypotheses
        What is to be decided.
    promise : LocalPromise
        What every answer guarantees.
    measure : DivergenceMeasure
        What is maximised.

    Returns
    -------
    Optimum
        The channel and the bounds of its divergence.

    Raises
    ------
    BudgetError
        With more than 12 letters of different likelihood ratio (6 with delta > 0).
    """
    if len(question.groups) == 1 or promise.total_variation == 0:
        return Optimum(0.0, 0.0, silence(question))
    if measure.name == "tv":
        channel = binary(question, promise)
        value = measure.between(*channel.outputs(question))
        return Optimum(value, max(value, promise.total_variation * question.total_variation), channel)
    refused = why_not(question, promise)
    if refused:
        raise BudgetError(refused)
    if promise.delta > 0 and math.isinf(measure.between(*question.arrays)):
        return Optimum(math.inf, math.inf, randomized_response(question, promise))
    checkpoint(0.0)
    return _solved(question, promise, measure)


@dataclass(frozen=True)
class _Program:
    """The linear program for a question: columns, objective and the rows of its constraints."""

    columns: FloatArray
    objective: FloatArray
    limits: FloatArray
    most: FloatArray


def _program(question: Hypotheses, promise: LocalPromise, measure: DivergenceMeasure) -> _Program:
    k = len(question.groups)
    column = columns(k, promise.epsilon, pure=promise.delta == 0)
    first, second = question.grouped
    rows, most = [], []
    if promise.delta > 0:
        grown = math.exp(promise.epsilon)
        ordered = [(x, z) for x in range(k) for z in range(k) if x != z]
        rows += [np.maximum(column[:, x] - grown * column[:, z], 0.0) for x, z in ordered]
        most += [promise.delta] * len(ordered)
    if promise.binds:
        # differences of rows that add up to 1 have equal positive and negative parts: one order of each pair is enough
        pairs = [(x, z) for x in range(k) for z in range(x)]
        rows += [np.maximum(column[:, x] - column[:, z], 0.0) for x, z in pairs]
        most += [promise.total_variation] * len(pairs)
    limits = np.array(rows) if rows else np.zeros((0, column.shape[0]))
    return _Program(column, measure.terms(column @ first, column @ second), limits, np.array(most))


@lru_cache(maxsize=512)  # a chart, its sentence and its bounds need the same optimum
def _solved(question: Hypotheses, promise: LocalPromise, measure: DivergenceMeasure) -> Optimum:
    program = _program(question, promise, measure)
    weight, prices, fines = _answer(program, -math.expm1(-promise.epsilon) or 1.0)
    weight = _refined(program, weight)
    channel = _channel(question, promise, program.columns, weight)
    value = measure.between(*channel.outputs(question))
    upper = min(_dual(program, prices, fines), _dual(program, *_sharpened(program, weight, prices, fines)))
    return Optimum(value, max(value, upper), channel)


def _answer(program: _Program, step: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the solver's weights and its dual variables: prices for the letters and fines for the limits.

    For small epsilon all columns are almost equal. So the solver gets the row of the first letter and the differences
    from it, divided by `step` = 1 - e^-epsilon.
    """
    from scipy.optimize import linprog  # noqa: PLC0415  a second of import that only this program needs

    column = program.columns.T
    scale = _SCALE / max(float(program.objective.max()), 1e-300)
    extra: dict[str, Any] = {"A_ub": program.limits / step, "b_ub": program.most / step} if program.most.size else {}
    rows = np.vstack((column[:1], (column[1:] - column[:1]) / step))
    target = np.concatenate((np.ones(1), np.zeros(column.shape[0] - 1)))
    for method, precision in _ATTEMPTS:
        extra["options"] = {"primal_feasibility_tolerance": precision, "dual_feasibility_tolerance": precision}
        result = linprog(-scale * program.objective, A_eq=rows, b_eq=target, method=method, **extra)
        if result.x is not None and result.status == 0:
            break
    else:
        msg = f"The linear program of the best channel did not end: {result.message}"
        raise BudgetError(msg)
    prices = -np.asarray(result.eqlin.marginals) / scale
    prices[1:] /= step
    prices[0] -= prices[1:].sum()
    fines = -np.asarray(result.ineqlin.marginals) / scale / step if program.most.size else np.zeros(0)
    return np.asarray(result.x, dtype=np.float64), prices, fines


def _refined(program: _Program, weight: FloatArray) -> FloatArray:
    """Solve for the weights of the support to full precision: the solver stops at its own tolerance."""
    support = np.flatnonzero(weight > _NOTHING)
    tight = program.limits @ weight > program.most - 1e-8 if program.most.size else np.zeros(0, dtype=bool)
    rows = np.vstack((program.columns[support].T, program.limits[tight][:, support]))
    target = np.concatenate((np.ones(program.columns.shape[1]), program.most[tight]))
    better = np.linalg.lstsq(rows, target, rcond=None)[0]
    out = np.zeros_like(weight)
    sound = bool(np.all(better >= -1e-9)) and float(np.abs(rows @ better - target).max()) < 1e-9
    out[support] = np.maximum(better, 0.0) if sound else weight[support]
    return out


def _sharpened(
    program: _Program, weight: FloatArray, prices: FloatArray, fines: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Move prices and fines as little as possible so that every column in use earns exactly its cost."""
    support = np.flatnonzero(weight > _NOTHING)
    active = np.flatnonzero(fines > 0)
    rows = np.hstack((program.columns[support], program.limits[active][:, support].T))
    missing = program.objective[support] - rows @ np.concatenate((prices, fines[active]))
    change = np.linalg.lstsq(rows, missing, rcond=None)[0]
    moved = fines.copy()
    moved[active] += change[prices.size :]
    return prices + change[: prices.size], moved


def _dual(program: _Program, prices: FloatArray, fines: FloatArray) -> float:
    """Return the value of a dual solution, its prices raised until no column earns more than it costs."""
    fines = np.maximum(fines, 0.0)
    cost = program.columns @ prices + (fines @ program.limits if fines.size else 0.0)
    short = float(np.max((program.objective - cost) / program.columns.sum(axis=1), initial=0.0))
    return float(math.fsum(prices) + prices.size * short + (math.fsum(fines * program.most) if fines.size else 0.0))


def _channel(question: Hypotheses, promise: LocalPromise, column: FloatArray, weight: FloatArray) -> Channel:
    """Return the channel of the weights, its answers named by the letters that make them likely."""
    support = [int(j) for j in np.flatnonzero(weight > _NOTHING)]
    support.sort(key=lambda j: (int(np.ptp(column[j]) == 0), tuple(-column[j])))
    matrix = np.zeros((question.size, len(support)))
    for index, group in enumerate(question.groups):
        matrix[list(group)] = weight[support] * column[support, index]
    matrix /= matrix.sum(axis=1, keepdims=True)
    names: list[str] = []
    for j in support:
        name = _name(question, promise, column[j])
        names.append(name if name not in names else f"{name} ({j})")  # letters may themselves be named "a or b"
    return Channel(tuple(map(tuple, matrix.tolist())), question.letters, tuple(names), "best channel")


def _name(question: Hypotheses, promise: LocalPromise, column: FloatArray) -> str:
    """Name an answer by the letters that it points to, step by step; letters not named are the least likely."""
    if np.ptp(column) == 0:
        return "nothing"
    height = np.where(column > 0, np.round(-np.log(np.maximum(column, 1e-300)) / (promise.epsilon or 1.0)), ABSENT)
    steps = sorted(set(height.tolist()) - {ABSENT})
    open_ = bool(np.any(column == 0))
    names = []
    for step in steps if open_ or len(steps) == 1 else steps[:-1]:
        groups = [group for group, at in zip(question.groups, height.tolist(), strict=True) if at == step]
        names.append(" or ".join(question.letters[x] for x in sorted(x for group in groups for x in group)))
    return ", then ".join(names) + (" only" if open_ else "")
