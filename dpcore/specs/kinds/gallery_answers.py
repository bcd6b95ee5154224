"""Answers of individuals: the accuracy of randomized response, and the majority."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd
from scipy.special import expit

from dpcore.charts.theme import PLAIN, Look
from dpcore.charts.utility import utility_figure
from dpcore.core.errors import DomainError
from dpcore.core.kinds import EXACT, labelled
from dpcore.core.numerals import nearest
from dpcore.core.registry import EPSILON, Parameter
from dpcore.mechanisms.randomized_response import RandomizedResponse
from dpcore.specs import fields
from dpcore.specs.base import Drawer, enter
from dpcore.specs.kinds.regions import number_list
from dpcore.specs.recipes import draws
from dpcore.utility.binary_median import MajorityExponential, MajorityInverse
from dpcore.utility.survey import Survey

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dpcore.charts.figure import Figure

NU = Parameter("nu", low=0.0, high=1.0, low_open=True, high_open=True)
THETA = Parameter("theta", low=0.0, high=1.0)
COUNT = Parameter("n", "integer", low=1, high=10**9)
MOST_COUNT = 10_001  # answers in a picture of the majority
FIXED = "fixed data"


# ---- randomized response -------------------------------------------------------------------------------------


def response_table(nu: Sequence[float], theta: Sequence[float], n: int) -> pd.DataFrame:
    r"""Tabulate the mean squared error of ν-randomized response.

    With probability ν a person tells the truth, otherwise a fair coin decides. The unbiased estimate of a share θ has
    :math:`E(\hat\theta-\theta)^2=\ell(1-\ell)/(n\nu^2)` with :math:`\ell=(1-\nu)/2+\nu\theta`; compared with the
    share among the n people themselves it is :math:`(1-\nu^2)/(4n\nu^2)`.

    Returns
    -------
    DataFrame
        `label, parameter, value, low, high, epsilon, kind, theorem, neighbours`: `parameter` is ν, and
        `epsilon` = log((1 + ν)/(1 - ν)).
    """
    people = int(COUNT.check(n))
    rows = []
    for share in (None, *(float(THETA.check(t)) for t in theta)):
        label = FIXED if share is None else f"population, θ = {nearest(share)}"
        for value in nu:
            survey = Survey.from_nu(float(NU.check(value)))
            error = survey.variance(people) if share is None else survey.statistical_mse(share, people)
            rows.append((label, float(value), error, error, error, survey.epsilon))
    frame = pd.DataFrame(rows, columns=["label", "parameter", "value", "low", "high", "epsilon"])
    return labelled(frame, RandomizedResponse(1.0), kind=EXACT)


def response_figure(
    nu: Sequence[float], theta: Sequence[float], n: int, *, mark: float | None = None, look: Look = PLAIN
) -> Figure:
    """Return the error of ν-randomized response against ν, with a dotted line at `mark`."""
    table = response_table(nu, theta, n)
    value = f"Mean squared error of the share, n = {n}"
    figure = utility_figure(table, current=mark, parameter="ν", value=value, look=look)
    return replace(figure, table=table)


@enter
@dataclass(frozen=True, kw_only=True)
class ResponseDrawer(Drawer):
    """How well a survey by randomized response estimates a share."""

    kind: ClassVar[str] = "response"
    meaning: ClassVar[str] = "the squared error of ν-randomized response against ν"

    nu: tuple[float, ...] = fields.numbers()
    theta: tuple[float, ...] = fields.numbers((0.5,))
    n: int = fields.integer(100, low=1)
    mark: float | None = fields.rate()

    def recipe(self) -> Any:
        """Return the figure of the error."""
        path = "dpcore.specs.kinds.gallery_answers:response_figure"
        return draws(path, number_list(self.nu), number_list(self.theta), self.n, mark=self.mark)


# ---- the majority --------------------------------------------------------------------------------------------


def majority_table(n: int, epsilon: float) -> pd.DataFrame:
    r"""Tabulate the chance that yes is released when s of n people say yes, for each s.

    The exponential mechanism has :math:`p(s)=1/(1+e^{-(s-n/2)\varepsilon})`; the inverse-sensitivity mechanism has
    :math:`1/(1+e^{-\varepsilon D})`, D answers away from the other majority; no ε-DP mechanism that treats yes and no
    alike is right more often than :math:`1/(1+e^{-|2s-n|\varepsilon})`.

    Returns
    -------
    DataFrame
        `label, parameter, value, kind, low, high`; the bound is ``upper`` above n/2, ``lower`` below.
    """
    people, eps = int(COUNT.check(n)), float(EPSILON.check(epsilon))
    if people % 2 == 0 or people > MOST_COUNT:
        msg = f"n must be an odd integer of at most {MOST_COUNT}, got {people}."
        raise DomainError(msg)
    lines: dict[str, Callable[[int, int], float]] = {
        "exponential mechanism": MajorityExponential(eps).logit,
        "inverse sensitivity": MajorityInverse(eps).logit,
        "most that ε-DP allows": lambda s, m: (2 * s - m) * eps,
    }
    rows = []
    for label, logit in lines.items():
        for s in range(people + 1):
            p = float(expit(logit(s, people)))
            bound = "upper" if 2 * s > people else "lower"
            rows.append((label, float(s), p, bound if label.startswith("most") else "exact", p, p))
    return pd.DataFrame(rows, columns=["label", "parameter", "value", "kind", "low", "high"])


def majority_figure(n: int, epsilon: float, *, look: Look = PLAIN) -> Figure:
    """Return the chance of yes against the number of yes, with a dotted line at the count nearest to n/2 + 3/ε."""
    table = majority_table(n, epsilon)
    return utility_figure(
        table,
        current=float(min(n, math.ceil(n / 2 + 3 / epsilon))),
        parameter="Number of yes",
        value="Chance that yes is released",
        log_x=False,
        log_y=False,
        look=look,
    )


@enter
@dataclass(frozen=True, kw_only=True)
class MajorityDrawer(Drawer):
    """The private median of yes-no answers."""

    kind: ClassVar[str] = "majority"
    meaning: ClassVar[str] = "how often the private majority of n yes-no answers is yes, for each number of yes"

    n: int = fields.integer(low=1)
    epsilon: float = fields.above_zero(fields.REQUIRED)

    def recipe(self) -> Any:
        """Return the figure of the majority."""
        return draws("dpcore.specs.kinds.gallery_answers:majority_figure", self.n, self.epsilon)
