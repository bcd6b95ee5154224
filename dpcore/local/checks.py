"""Every bound compared with the truth: whether it holds, and how far off it is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd

from dpcore.core.kinds import FACTS
from dpcore.core.rounding import up
from dpcore.local.bounds import BOUNDS, NEIGHBOURS, Case, DivergenceBound

if TYPE_CHECKING:
    from dpcore.local.hypotheses import Hypotheses, LocalPromise
    from dpcore.local.measures import DivergenceMeasure

COLUMNS = ("bound", "formula", "value", "truth", "holds", "of", "note", *FACTS)
SLACK = 1e-9  # relative accuracy of the computed optimum
_OF = {"optimum": "the best channel", "channel": "its total variation", "ratio": "binary mechanism / best channel"}


def proved_bounds(measure: DivergenceMeasure, of: str = "optimum") -> tuple[DivergenceBound, ...]:
    """Return the bounds of one kind for a measure, without printed formulas that are wrong."""
    return tuple(bound for bound in BOUNDS if measure.name in bound.measures and bound.of == of and bound.proved)


def bounds(question: Hypotheses, promise: LocalPromise, measure: DivergenceMeasure) -> pd.DataFrame:
    """Tabulate every bound on a measure, with a check against the best channel.

    Parameters
    ----------
    question : Hypotheses
        What is to be decided.
    promise : LocalPromise
        What every answer guarantees.
    measure : DivergenceMeasure
        What is bounded.

    Returns
    -------
    DataFrame
        `bound, formula, value, truth, holds, of, note, kind, theorem, neighbours`; `theorem` is the source of the bound,
        `truth` is what is bounded (infinite if the best channel is not known), `holds` is yes, no or "not checked".
        Bounds whose conditions fail are left out; `not_applicable` names them.
    """
    case = Case(question, promise, measure)
    rows = [_row(bound, case) for bound in BOUNDS if measure.name in bound.measures]
    return pd.DataFrame([row for row in rows if row], columns=list(COLUMNS))


def _row(bound: DivergenceBound, case: Case) -> tuple[str | float, ...] | None:
    value = bound.value(case)
    best = case.best
    if value is None or (bound.of == "ratio" and best is not None and not 0 < best.value < math.inf):
        return None
    low, high = _truth(bound, case)
    value = up(value) if bound.side == "upper" and bound.proved else value
    if best is None:
        holds, note = "not checked", "the best channel is not known"
    else:
        right = value >= low * (1 - SLACK) if bound.side == "upper" else value <= high * (1 + SLACK)
        holds = "yes" if right else "no"
        note = "" if bound.proved else "a misprint: nothing promises it" if right else "a misprint, and false here"
    return bound.title, bound.formula, value, low, holds, _OF[bound.of], note, bound.kind, bound.source, NEIGHBOURS


def _truth(bound: DivergenceBound, case: Case) -> tuple[float, float]:
    """Return what is bounded, from below and from above; infinite if it is not known."""
    best = case.best
    if best is None:
        return math.inf, math.inf
    if bound.of == "channel":
        return best.channel.total_variation, best.channel.total_variation
    if bound.of == "ratio":
        return case.two_value / best.upper, case.two_value / best.value
    return best.value, best.upper


def not_applicable(question: Hypotheses, promise: LocalPromise, measure: DivergenceMeasure) -> tuple[str, ...]:
    """Say which bounds do not apply here, and why.

    Parameters
    ----------
    question : Hypotheses
        What is to be decided.
    promise : LocalPromise
        What every answer guarantees.
    measure : DivergenceMeasure
        What is bounded.

    Returns
    -------
    tuple of str
        One sentence for each reason.
    """
    case = Case(question, promise, measure)
    silent: dict[str, list[str]] = {}
    for bound in BOUNDS:
        meant = bound.name != "erasure" or promise.eta is not None  # without η nobody expects this bound
        if meant and measure.name in bound.measures and bound.proved and bound.value(case) is None:
            silent.setdefault(bound.needs, []).append(bound.formula)
    return tuple(f"Not listed, as it {why}: {'; '.join(names)}." for why, names in silent.items())
