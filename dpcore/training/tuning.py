r"""The cost of tuning: several runs with different settings, of which only the best is published.

- A fixed number k of runs: the published run is one of k, so the composition of all k is safe, and close to what selection can reveal.
- A random number of runs, drawn beforehand and kept secret: much less, because an attacker does not know of how many runs the
  published one is the best (`dpcore.curves.selected` has the proof). The law matters: geometric, logarithmic or Poisson.

Each run may use settings drawn at random from a list fixed beforehand: the draw is part of the run. References: Liu, Talwar (2019);
Papernot, Steinke (2022).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from dpcore.core.domains import SHARE
from dpcore.core.effort import checkpoint
from dpcore.core.errors import BudgetError
from dpcore.core.kinds import FACTS, kind
from dpcore.core.numerals import nearest
from dpcore.core.parameter import one_of
from dpcore.regions import gate
from dpcore.regions.algebra import Power
from dpcore.regions.selection import GEOMETRIC, LOGARITHMIC, MEAN, POISSON, BestOf
from dpcore.words import grouped, outward

if TYPE_CHECKING:
    from dpcore.regions.tradeoff import TradeOff

COLUMNS = ("law", "runs", "epsilon", "epsilon_lower", "words", *FACTS)
RUNS: Final = MEAN.but(name="runs", low=1.0, low_open=False, least=0.0, meaning="how many runs, or how many on average")
FIXED: Final = "fixed"


@dataclass(frozen=True, slots=True)
class RunLaw:
    """How the number of runs is chosen.

    Attributes
    ----------
    name : str
        In options and tables.
    shape : float or None
        Of `best_of`; None if the number is fixed.
    words : str
        As people read it.
    """

    name: str
    shape: float | None
    words: str


RUN_LAWS: Final = (
    RunLaw(FIXED, None, "a fixed number of runs"),
    RunLaw("geometric", GEOMETRIC, "a geometric number of runs"),
    RunLaw("logarithmic", LOGARITHMIC, "a logarithmic number of runs"),
    RunLaw("poisson", POISSON, "a Poisson number of runs"),
)
"""How the number of runs of a private tuning may be drawn."""
LAW: Final = one_of("law", tuple(law.name for law in RUN_LAWS))


def tuned(region: TradeOff, runs: float, law: str = "geometric") -> TradeOff:
    """Return the region of the best of several runs.

    Parameters
    ----------
    region : TradeOff
        One run.
    runs : float
        How many runs: an integer if their number is fixed, otherwise the mean.
    law : str, default "geometric"
        ``fixed``, ``geometric``, ``logarithmic`` or ``poisson``.

    Returns
    -------
    TradeOff
        An upper bound for every way to rank the runs.

    Examples
    --------
    >>> from dpcore import gdp
    >>> [round(float(tuned(gdp(1), 10, law).epsilon(1e-5)), 2) for law in ("fixed", "geometric", "logarithmic")]
    [17.86, 6.62, 6.21]
    """
    name, many = str(LAW.check(law)), RUNS.check(runs)
    shape = next(one.shape for one in RUN_LAWS if one.name == name)
    if shape is not None:
        return BestOf(region, many, shape)
    count = math.ceil(many)
    return region if count == 1 else Power(region, count)


def tuning_costs(region: TradeOff, runs: float, delta: float = 1e-5) -> pd.DataFrame:
    """Tabulate epsilon of one run, and of the best of several by every law of their number.

    Parameters
    ----------
    region : TradeOff
        One run.
    runs : float
        How many runs, or how many on average; a part of a run counts as a run if their number is fixed.
    delta : float, default 1e-5
        In (0, 1].

    Returns
    -------
    DataFrame
        `law, runs, epsilon, epsilon_lower, words, kind, theorem, neighbours`: first ``one``, a single run. The worst ranking lies
        between `epsilon_lower` and `epsilon`; for a fixed number `epsilon_lower` is that of one run.
    """
    many, failing = RUNS.check(runs), SHARE.but(name="delta").check(delta)
    alone = _bounds(region, failing)
    rows = [
        (
            "one",
            1.0,
            alone[1],
            alone[0],
            f"One run: ε at most {outward(alone[1], 5)}.",
            kind(*alone, "upper"),
            region.theorem,
        )
    ]
    for place, law in enumerate(RUN_LAWS):
        checkpoint(place / len(RUN_LAWS))
        best = tuned(region, many, law.name)
        count = float(math.ceil(many)) if law.shape is None else many
        try:
            low, high = _bounds(best, failing)
        except BudgetError as error:
            checkpoint()  # raises if the time has run out
            rows.append((law.name, count, math.inf, alone[0], str(error), "none", "none"))
            continue
        if law.shape is None:
            low = alone[0]
        rows.append((law.name, count, high, min(low, high), _words(law, count, high), "upper", best.theorem))
    frame = pd.DataFrame(rows, columns=list(COLUMNS[:-1]))
    frame["neighbours"] = region.neighbours
    return frame


def _bounds(region: TradeOff, delta: float) -> tuple[float, float]:
    low, high = gate.epsilon_bounds(region, np.array([delta]))
    return float(low[0]), float(high[0])


def _words(law: RunLaw, count: float, epsilon: float) -> str:
    many = grouped(int(count)) if count == int(count) else nearest(count)
    average = many if law.shape is None else f"{many} on average"
    return f"The best of {law.words}, {average}: ε at most {outward(epsilon, 5)}."
