"""Tables over epsilon: how much of the difference each channel preserves, and what is proved about all of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpcore.core.domains import LOSS
from dpcore.core.effort import checkpoint
from dpcore.core.kinds import FACTS, kind
from dpcore.core.numerals import nearest
from dpcore.local.bounds import NEIGHBOURS, Case
from dpcore.local.channels import binary, randomized_response
from dpcore.local.checks import proved_bounds
from dpcore.local.extremal import MOST_APPROXIMATE
from dpcore.local.optimum import ALIKE, optimum, why_not

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dpcore.local.hypotheses import Hypotheses, LocalPromise
    from dpcore.local.measures import DivergenceMeasure
    from dpcore.local.optimum import Optimum

COLUMNS = ("series", "parameter", "value", "low", "high", *FACTS)
BEST, FREE, TWO, MANY = "best channel", "best channel without η", "binary mechanism", "randomized response"
RATIO = "binary mechanism / best channel"
CHART_BOUNDS = (
    "dobrushin",
    "sharp",
    "sharp_symmetric",
    "sharp_chi2",
    "contraction",
    "variation",
    "corollary",
    "duchi",
    "erasure",
)
_MANY_POINTS, _FEW_POINTS = 25, 9

Row = tuple[str, float, float, float, float, str, str, str]


def grid(question: Hypotheses, promise: LocalPromise, top: float | None = None) -> tuple[float, ...]:
    """Return the epsilons for a chart: even steps up to `top`, and that of the promise; fewer steps if each takes long.

    Parameters
    ----------
    question : Hypotheses
        What is to be decided.
    promise : LocalPromise
        What every answer guarantees.
    top : float, optional
        The largest epsilon; by default 6, or a quarter more than an epsilon above 5.

    Returns
    -------
    tuple of float
        Ascending.
    """
    if top is None:
        top = 6.0 if promise.epsilon <= 5 else math.ceil(1.25 * promise.epsilon)
    slow = len(question.groups) >= (MOST_APPROXIMATE if promise.delta > 0 else 11)
    steps = np.linspace(0.0, top, (_FEW_POINTS if slow else _MANY_POINTS) + 1)[1:]
    return tuple(sorted({*(float(f"{x:.10g}") for x in steps), *([promise.epsilon] if promise.epsilon > 0 else [])}))


def utilities(
    question: Hypotheses, promise: LocalPromise, measure: DivergenceMeasure, epsilons: Iterable[float]
) -> pd.DataFrame:
    """Tabulate a measure of the outputs against epsilon, with delta and eta as promised.

    Parameters
    ----------
    question : Hypotheses
        What is to be decided.
    promise : LocalPromise
        What every answer guarantees; its epsilon is replaced.
    measure : DivergenceMeasure
        What is tabulated.
    epsilons : iterable of float
        At least 0 each.

    Returns
    -------
    DataFrame
        `series, parameter, value, low, high, kind, theorem, neighbours`: the best channel (from `low`, attained, to
        `high`, certified), the binary mechanism and randomized response (both exact), and every bound that applies,
        ``upper`` or ``lower``. Infinite values are left out.
    """
    values = sorted(set(LOSS.array(list(epsilons)).tolist()))
    rows: list[Row] = []
    for place, epsilon in enumerate(values):
        checkpoint(place / len(values))
        rows += _at(Case(question, promise.at(epsilon), measure))
    return _framed([row for row in rows if math.isfinite(row[2])])


def _at(case: Case) -> list[Row]:
    epsilon = case.promise.epsilon
    rows: list[Row] = []
    if case.best is not None:
        rows.append(_attained(BEST, epsilon, case.best))
        if case.promise.eta is not None and case.free is not None:
            rows.append(_attained(FREE, epsilon, case.free))
    for name, channel in ((TWO, case.two), (MANY, randomized_response(case.question, case.promise))):
        value = case.measure.between(*channel.outputs(case.question))
        rows.append((name, epsilon, value, value, value, "exact", "finite sum", NEIGHBOURS))
    for bound in proved_bounds(case.measure):
        value_ = bound.value(case)
        doubled = bound.name == "variation" and case.promise.eta is None  # then it is the corollary
        if bound.name in CHART_BOUNDS and value_ is not None and not doubled:
            rows.append((bound.title, epsilon, value_, value_, value_, bound.kind, bound.source, NEIGHBOURS))
    return rows


def _attained(name: str, epsilon: float, best: Optimum) -> Row:
    low, high = best.sides
    return name, epsilon, low, low, high, best.kind, "linear program", NEIGHBOURS


def ratios(
    question: Hypotheses, promise: LocalPromise, measure: DivergenceMeasure, epsilons: Iterable[float]
) -> pd.DataFrame:
    """Tabulate binary mechanism / best channel against epsilon, with the bounds that hold for all hypotheses.

    The bounds are about the KL divergence with delta = 0 (Figure 5 of Ghazi and Issa).

    Parameters
    ----------
    question : Hypotheses
        What is to be decided.
    promise : LocalPromise
        What every answer guarantees; its epsilon is replaced.
    measure : DivergenceMeasure
        What is compared.
    epsilons : iterable of float
        At least 0 each.

    Returns
    -------
    DataFrame
        Columns as in `utilities`.
    """
    values = sorted(set(LOSS.array(list(epsilons)).tolist()))
    rows: list[Row] = []
    for place, epsilon in enumerate(values):
        checkpoint(place / len(values))
        case = Case(question, promise.at(epsilon), measure)
        if case.best is not None and 0 < case.best.value < math.inf:
            attained, limit = case.best.sides
            low, high = case.two_value / limit, case.two_value / attained
            rows.append((RATIO, epsilon, high, low, high, kind(low, high, "upper"), "linear program", NEIGHBOURS))
        for bound in proved_bounds(measure, "ratio"):
            value = bound.value(case)
            if value is not None:
                rows.append((bound.title, epsilon, value, value, value, bound.kind, bound.source, NEIGHBOURS))
    return _framed(rows)


def _framed(rows: list[Row]) -> pd.DataFrame:
    """Return the rows as a frame, one series after another in the order of first appearance."""
    order: dict[str, int] = {}
    for row in rows:
        order.setdefault(row[0], len(order))
    ordered = sorted(rows, key=lambda row: (order[row[0]], row[1]))
    return pd.DataFrame(ordered, columns=list(COLUMNS))


def regimes(
    question: Hypotheses, promise: LocalPromise, measure: DivergenceMeasure, epsilons: Iterable[float]
) -> pd.DataFrame:
    """Tabulate for each epsilon which simple channel is as good as the best one, up to 1e-9.

    Parameters
    ----------
    question : Hypotheses
        What is to be decided.
    promise : LocalPromise
        What every answer guarantees; its epsilon is replaced.
    measure : DivergenceMeasure
        What is compared.
    epsilons : iterable of float
        At least 0 each.

    Returns
    -------
    DataFrame
        `epsilon, binary, response`: whether the binary mechanism (with the better side of ties) and randomized response
        attain the optimum; empty if the best channel cannot be computed.
    """
    rows = []
    for epsilon in sorted(set(LOSS.array(list(epsilons)).tolist())):
        here = promise.at(epsilon)
        if why_not(question, here):
            break
        best = optimum(question, here, measure)
        two = max(measure.between(*binary(question, here, ties=side).outputs(question)) for side in (0, 1))
        many = measure.between(*randomized_response(question, here).outputs(question))
        rows.append((epsilon, *(value >= best.upper * (1 - ALIKE) for value in (two, many))))
    return pd.DataFrame(rows, columns=["epsilon", "binary", "response"])


def regime_words(table: pd.DataFrame, question: Hypotheses) -> str:
    """Say up to which epsilon the binary mechanism and from which randomized response is as good as the best channel.

    Parameters
    ----------
    table : DataFrame
        What `regimes` returns.
    question : Hypotheses
        What is to be decided.

    Returns
    -------
    str
        One sentence, or nothing.
    """
    if table.empty:
        return ""
    tied = any(a == b > 0 for a, b in zip(question.p0, question.p1, strict=True))
    two = "the binary mechanism, with ties on the better side," if tied else "the binary mechanism"
    order = table.sort_values("epsilon")
    parts = []
    good = order["binary"].to_numpy(dtype=bool)
    if good.all():
        return f"{two[:1].upper()}{two[1:]} is as good as the best channel at every ε drawn."
    if good[0]:
        until = float(order["epsilon"].iloc[int(np.argmin(good)) - 1])
        parts.append(f"{two} is as good as the best channel up to ε = {nearest(until)}")
    many = order["response"].to_numpy(dtype=bool)
    if many[-1]:
        last_bad = int(many.size - np.argmin(many[::-1])) if not many.all() else 0
        also = "" if parts else " is as good as the best channel"
        parts.append(f"randomized response{also} from ε = {nearest(float(order['epsilon'].iloc[last_bad]))} on")
    return f"At the ε drawn, {' and '.join(parts)}." if parts else ""
