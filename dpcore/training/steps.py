"""What any number of equal steps reveals, certified at every point: epsilon as steps grow, and attacks at low false-positive rates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpcore.core.domains import ALPHA, COUNT, POSITIVE, SHARE
from dpcore.core.effort import checkpoint, effort
from dpcore.core.errors import BudgetError, DomainError
from dpcore.core.kinds import kind, kinds, labelled
from dpcore.language import parse
from dpcore.regions import gate
from dpcore.regions.algebra import Power
from dpcore.training.gradients import COMPOSED, FPR, LARGEST_T, ROW_WORK, STEPS, TABLE_WORK, TITLES
from dpcore.words import outward

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.regions.tradeoff import TradeOff


def _all(step: TradeOff | str, steps: int) -> TradeOff:
    region = parse(step) if isinstance(step, str) else step
    return region if steps == 1 else Power(region, steps)


def step_ladder(
    step: TradeOff | str, delta: float, steps: Sequence[int] | None = None, *, work: float = TABLE_WORK
) -> pd.DataFrame:
    """Tabulate the certified epsilon of several numbers of equal steps.

    Parameters
    ----------
    step : TradeOff or str
        The region of one step, or its expression.
    delta : float
        In (0, 1].
    steps : sequence of int, optional
        Numbers of steps, by default those of `gradient_ladder`.
    work : float, default TABLE_WORK
        Operations allowed for all of them together; a row that takes more has kind ``none`` and says so.

    Returns
    -------
    DataFrame
        `k, title, epsilon, epsilon_lower, note, kind, theorem, neighbours`, what `dpcore.charts.amplified.steps_figure` draws.
    """
    counts = sorted({COUNT.but(name="T", high=LARGEST_T).check(t) for t in (STEPS if steps is None else steps)})
    failing, left = SHARE.but(name="delta").check(delta), POSITIVE.but(name="work").check(work)
    if not counts:
        msg = "steps must hold at least one number of steps, got none."
        raise DomainError(msg)
    rows = []
    for place, count in enumerate(reversed(counts)):  # many steps are quick
        checkpoint(place / len(counts))
        with effort(work=min(ROW_WORK, left)) as settings:
            try:
                low, high = (float(side[0]) for side in gate.epsilon_bounds(_all(step, count), np.array([failing])))
                note, what = f"at least {outward(low, 6, up=False)}", kind(low, high, "upper")
            except BudgetError as error:
                checkpoint()  # raises if the time has run out
                low, high, note, what = 0.0, math.inf, str(error), "none"
        if settings.work is not None:
            left = max(1.0, left - settings.work.whole + max(0.0, settings.work.left))
        rows.append((count, TITLES[COMPOSED], high, low, note, what, COMPOSED))
    frame = pd.DataFrame(rows[::-1], columns=["k", "title", "epsilon", "epsilon_lower", "note", "kind", "theorem"])
    return labelled(frame, neighbours=_all(step, 1).neighbours)


def step_rates(step: TradeOff | str, steps: int, fpr: Sequence[float] = FPR) -> pd.DataFrame:
    """Tabulate the attacker's true-positive rate at low false-positive rates after equal steps.

    Parameters
    ----------
    step : TradeOff or str
        The region of one step, or its expression.
    steps : int
        How many steps, from 1 to 10^6.
    fpr : sequence of float, default FPR
        False-positive rates, in [0, 1].

    Returns
    -------
    DataFrame
        `fpr, tpr, tpr_lower, kind, theorem, neighbours`: the truth lies between `tpr_lower` and `tpr`.
    """
    region = _all(step, COUNT.but(name="T", high=LARGEST_T).check(steps))
    at = ALPHA.but(name="fpr").array(fpr)
    low, high = gate.power_bounds(region, at)
    frame = pd.DataFrame({"fpr": at, "tpr": high, "tpr_lower": low})
    return labelled(frame, region, kind=kinds((low, high), "upper"))
