"""What the usual libraries print for a training run: their accountants with the settings they come with.

Each number is computed here, by the method and the constants that the library documents; the libraries are not imported. The
oracles in the tests were printed by the libraries themselves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from dpcore.central_limit.convergence import ABOVE, BELOW, verdict
from dpcore.central_limit.gaussians import epsilons_of
from dpcore.core.domains import SHARE
from dpcore.core.errors import DpcoreError
from dpcore.core.kinds import FACTS
from dpcore.core.lazy import Lazy
from dpcore.core.numerals import nearest
from dpcore.regions import gate
from dpcore.theorems.rdp_tight import tight_epsilon
from dpcore.training.accountants import USUAL_ORDERS
from dpcore.training.discretised import dots_epsilon, random_variable_epsilon
from dpcore.training.gradients import clt_mu, renyi
from dpcore.words import between, outward

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.training.run import TrainingRun

COLUMNS = ("library", "method", "epsilon", "delta", "verdict", "note", *FACTS)
NOT_COMPUTED = "not computed"
LONG_ORDERS: Final = (
    *(1 + step / 10 for step in range(1, 100)),
    *(float(order) for order in (*range(11, 64), 128, 256, 512, 1024)),
)
"""The orders of dp-accounting."""

Number = tuple[float, str, str]
"""Epsilon (inf if there is none), kind and note."""


@dataclass(frozen=True)
class LibraryQuestion:
    """A run, a delta, and what several accountants need of them."""

    run: TrainingRun
    delta: float

    @Lazy
    def bracket(self) -> tuple[float, float]:
        """The certified bracket of epsilon."""
        low, high = gate.epsilon_bounds(self.run.region, np.array([self.delta]))
        return float(low[0]), float(high[0])

    @Lazy
    def curve(self) -> dict[float, float]:
        """The Rényi divergence of one step at every order that a library tries."""
        orders = sorted({*USUAL_ORDERS, *LONG_ORDERS})
        return dict(zip(orders, renyi(self.run.sigma, self.run.rate, orders).tolist(), strict=True))

    def best_order(self, orders: tuple[float, ...], steps: int, delta: float) -> tuple[float, float]:
        """Return the least epsilon over some orders, and its order."""
        bounds = (
            (tight_epsilon(order, steps * self.curve[order], delta), order)
            for order in orders
            if math.isfinite(self.curve[order])
        )
        return min(bounds, default=(math.inf, orders[0]))

    def usual_bound(self, steps: int, delta: float) -> float:
        """Return epsilon by the usual orders."""
        return self.best_order(USUAL_ORDERS, steps, delta)[0]


@dataclass(frozen=True, slots=True)
class LibraryAccountant:
    """An accountant of a library.

    Attributes
    ----------
    library, method : str
        Names, as the library spells them.
    version : str
        The version whose documentation was followed.
    reference : str
        The theorem or method.
    number : callable
        From a question to its epsilon, kind and note.
    """

    library: str
    method: str
    version: str
    reference: str
    number: Callable[[LibraryQuestion], Number]


def _orders(orders: tuple[float, ...]) -> Callable[[LibraryQuestion], Number]:
    def number(question: LibraryQuestion) -> Number:
        epsilon, order = question.best_order(orders, question.run.steps, question.delta)
        return epsilon, "upper", f"order {nearest(order)}, of {len(orders)}"

    return number


def _limit(question: LibraryQuestion) -> Number:
    run = question.run
    mu = clt_mu(run.sigma, run.rate, run.steps)
    epsilon = float(epsilons_of(np.array([mu]), np.zeros(1), question.delta, certified=False)[0])
    return epsilon, "approximate", f"μ = {nearest(mu)}, by the central limit theorem"


def _random_variable(question: LibraryQuestion) -> Number:
    value = random_variable_epsilon(question.run.training, question.delta, question.usual_bound)
    return value, "approximate", "0.01 is added for the error it allows"


def _dots(question: LibraryQuestion) -> Number:
    return dots_epsilon(question.run.training, question.delta, question.usual_bound), "approximate", "grid of 1e-4"


LIBRARY_ACCOUNTANTS: Final = (
    LibraryAccountant("Opacus", "PRV", "1.6.0", "Gopi, Lee, Wutschitz 2021", _random_variable),
    LibraryAccountant("Opacus", "RDP", "1.6.0", "Balle et al. 2020, Theorem 21", _orders(USUAL_ORDERS)),
    LibraryAccountant("Opacus", "GDP", "1.6.0", "Bu, Dong, Long, Su 2020", _limit),
    LibraryAccountant("dp-accounting", "PLD", "0.6.0", "Doroshenko et al. 2022", _dots),
    LibraryAccountant(
        "dp-accounting, TensorFlow Privacy",
        "RDP",
        "0.6.0",
        "Canonne, Kamath, Steinke 2020, Proposition 12",
        _orders(LONG_ORDERS),
    ),
)


def library_reports(
    run: TrainingRun, delta: float = 1e-5, *, bracket: tuple[float, float] | None = None
) -> pd.DataFrame:
    """Tabulate what the accountants of Opacus, dp-accounting and TensorFlow Privacy print for a run.

    They account for single records in Poisson samples. For any other run, their numbers are not bounds.

    Parameters
    ----------
    run : TrainingRun
        What `training_run` returns.
    delta : float, default 1e-5
        Where epsilon is asked, in (0, 1].
    bracket : tuple of (float, float), optional
        What epsilon is known to lie between, if it is not that of the run's own region.

    Returns
    -------
    DataFrame
        `library, method, epsilon, delta, verdict, note, kind, theorem, neighbours`: `verdict` says on which side of the certified
        bracket the number lies, or that it is not computed; `note` says how it arises.

    Examples
    --------
    >>> from dpcore.training import training_run
    >>> rows = library_reports(training_run("poisson", sigma=1.0, rate=0.01, steps=1000))
    >>> rows[["method", "verdict"]].iloc[2].tolist()
    ['GDP', 'below the truth']
    """
    question = LibraryQuestion(run, SHARE.but(name="delta").check(delta))
    rows = []
    for one in LIBRARY_ACCOUNTANTS:
        try:
            epsilon, kind, note = one.number(question)
            side = verdict(epsilon, *(bracket or question.bracket))
            if bracket is not None or run.twin != run.training:
                kind, note = "approximate", f"assumes Poisson samples of single records; {note}"
        except DpcoreError as error:
            epsilon, kind, note, side = math.inf, "none", str(error).removeprefix(f"{NOT_COMPUTED}: "), NOT_COMPUTED
        rows.append(
            (one.library, one.method, epsilon, question.delta, side, note, kind, one.reference, run.region.neighbours)
        )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def library_words(row: pd.Series, bracket: tuple[float, float]) -> str:
    """Say what one accountant prints and whether it promises too much.

    Parameters
    ----------
    row : Series
        A row of `library_reports`.
    bracket : tuple of (float, float)
        The certified bracket of epsilon.

    Returns
    -------
    str
        A sentence.
    """
    name = f"{row['library']}, {row['method']}"
    if row["verdict"] == NOT_COMPUTED:
        return f"{name}: {NOT_COMPUTED}, {row['note']}."
    value = float(row["epsilon"])
    shown = outward(value, 5) if row["kind"] == "upper" else f"about {nearest(value, 5)}"
    low, high = bracket
    place = {
        BELOW: f"below the truth by at least {outward(low - value, 3, up=False)}: it promises too much",
        ABOVE: f"above the truth, by at most {outward(value - low, 3)}",
    }.get(str(row["verdict"]), f"inside the bracket between {between(low, high)}")
    return f"{name} prints {shown}, {place}."
