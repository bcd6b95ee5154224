r"""One use of a sample: amplified statements (epsilon, delta, eta) beside the amplified region.

A person who is in the sample with probability p is protected by

.. math:: \varepsilon' = \log(1+p(e^\varepsilon-1)),\quad \delta' = p\,\delta,\quad \eta' = p\,\eta .

A sample of fixed size m of n has p = m/n and is about substitution; a Poisson sample takes each record with
probability p and is about a record added or removed. As a region, with f symmetric,

.. math:: C_p(f) = \min(f_p, f_p^{-1})^{**},\qquad f_p(\alpha) = p f(\alpha) + (1-p)(1-\alpha),

which is what *all* amplified statements of f say together: for epsilon' >= 0 its profile is
:math:`\delta'(\varepsilon') = p\,\delta(\varepsilon)`. One statement alone loses something, unless f is that statement.
References: Balle, Barthe, Gaboardi (2018), Theorems 8 and 9; Dong, Roth, Su (2022), Theorem 4.2; Ghazi, Issa (2023),
Proposition 1; Zhu, Dong, Wang (2022).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpcore.core.domains import DELTA, ETA, LOSS, SHARE
from dpcore.core.errors import DomainError, RelationError
from dpcore.core.kinds import EXACT, FACTS
from dpcore.core.numerals import numeral
from dpcore.core.parameter import one_of
from dpcore.core.results import result
from dpcore.core.rounding import up
from dpcore.regions.algebra import Assume
from dpcore.regions.guarantees import DP, DPTV, TV, largest_eta
from dpcore.regions.sampling import Subsample
from dpcore.regions.tradeoff import shorten
from dpcore.words import outward

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpcore.regions.tradeoff import TradeOff

FIXED, POISSON = "fixed size", "Poisson"
"""How the batches of a training run are sampled."""
RELATIONS = {FIXED: "substitution", POISSON: "add/remove"}
TITLES = {
    "before": "before sampling",
    "dp": "after, by (ε, δ)",
    "dptv": "after, by (ε, δ, η)",
    "region": "after, by f-DP",
}
COLUMNS = ("form", "title", "epsilon", "delta", "eta", "total_variation", "region", *FACTS)


@dataclass(frozen=True, slots=True)
class DpTvStatement:
    """(epsilon, delta)-DP and a total variation of eta, which is never above what the other two allow."""

    epsilon: float
    delta: float
    eta: float

    def region(self, *, variation: bool = True) -> TradeOff:
        """Return the region; without `variation` that of (epsilon, delta) alone."""
        if not variation:
            return DP(self.epsilon, self.delta)
        if math.isinf(self.epsilon):
            return TV(self.eta)
        return DPTV.make(self.epsilon, self.delta, min(self.eta, largest_eta(self.epsilon, self.delta)))

    def words(self, *, variation: bool = True) -> str:
        """Return the numbers, rounded to the safe side."""
        parts = f"ε = {outward(self.epsilon, 5)}, δ = {outward(self.delta, 5)}"
        return f"{parts}, η = {outward(self.eta, 5)}" if variation else parts


@dataclass(frozen=True, slots=True)
class Form:
    """One form of what holds: its region, the kind of its numbers, its words, and its neighbours.

    The region of a statement follows from its numbers, for any neighbours; `neighbours` are those for which sampling
    gives these numbers.
    """

    name: str
    title: str
    region: TradeOff
    statement: DpTvStatement | None
    kind: str
    words: str
    reference: str
    neighbours: str


def sampled(epsilon: float, delta: float, eta: float, p: float) -> DpTvStatement:
    """Amplify a statement by sampling with probability p, rounded up.

    Parameters
    ----------
    epsilon, delta, eta : float
        What holds without sampling; epsilon >= 0 and finite, the others in [0, 1].
    p : float
        Probability that a record is in the sample, in (0, 1].

    Returns
    -------
    DpTvStatement
        What holds with sampling.

    Examples
    --------
    >>> statement = sampled(1.0, 1e-5, 0.4, 0.1)
    >>> round(statement.epsilon, 6), round(statement.eta, 6)
    (0.158565, 0.04)
    """
    e = LOSS.check(epsilon)
    d, h = DELTA.check(delta), ETA.check(eta)
    share = SHARE.check(p)
    if share == 1.0:
        return DpTvStatement(e, d, h)
    # log(1 + p (e^e - 1)) without overflow
    small = math.log1p(share * math.expm1(e)) if e < 500 else e + math.log(share + (1 - share) * math.exp(-e))
    return DpTvStatement(up(small), min(1.0, up(share * d)), min(1.0, up(share * h)))


def forms(region: TradeOff, p: float, *, scheme: str = FIXED, delta: float = 1e-5) -> tuple[Form, Form, Form, Form]:
    """Return the region before sampling and three forms of what holds after it.

    Parameters
    ----------
    region : TradeOff
        A mechanism without sampling.
    p : float
        Probability that a record is in the sample, in (0, 1].
    scheme : str, default FIXED
        ``fixed size`` (substitution) or ``Poisson`` (add/remove).
    delta : float, default 1e-5
        Where the smallest epsilon before sampling is stated, in [0, 1].

    Returns
    -------
    tuple of four Form
        Before sampling; after it by (epsilon, delta), by (epsilon, delta, eta) and by the whole region.
    """
    share, failing = SHARE.check(p), DELTA.check(delta)
    related = _checked(region, scheme)
    epsilon = result(_smallest_epsilon, region, failing)
    if math.isinf(epsilon):
        msg = f"No ε holds for {shorten(str(region))} at δ = {numeral(failing)}: state a larger δ."
        raise DomainError(msg)
    before = DpTvStatement(epsilon, failing, float(region.total_variation))
    after = sampled(before.epsilon, before.delta, before.eta, share)
    whole = _amplified(region, share, related)
    once = "Balle, Barthe, Gaboardi 2018, Theorem 9" if scheme == FIXED else "Balle, Barthe, Gaboardi 2018, Theorem 8"
    tight = "Dong, Roth, Su 2022, Theorem 4.2" if scheme == FIXED else "Zhu, Dong, Wang 2022"
    return (
        Form(
            "before",
            TITLES["before"],
            region,
            before,
            region.kind,
            before.words(),
            "the mechanism itself",
            region.neighbours,
        ),
        _statement_form("dp", after, whole, once),
        _statement_form("dptv", after, whole, f"{once}; η: Ghazi, Issa 2023, Proposition 1"),
        Form("region", TITLES["region"], whole, None, whole.kind, _at(whole, after.delta), tight, whole.neighbours),
    )


def _checked(region: TradeOff, scheme: str) -> str:
    """Return the relation of a scheme; raise if the region has another one."""
    relation = RELATIONS[one_of("scheme", RELATIONS).check(scheme)]
    if region.neighbours not in ("any", relation):
        msg = (
            f"A {scheme} sample is about {relation} neighbours, {shorten(str(region))} about {region.neighbours} neighbours; "
            f"use the other scheme, or a region that holds for any neighbours."
        )
        raise RelationError(msg)
    return relation


def _amplified(region: TradeOff, p: float, related: str) -> TradeOff:
    """Return C_p(f); for one use it is the same region under either relation."""
    if related == "substitution":
        return Subsample(region, p)
    free = Assume(region, "any") if region.neighbours != "any" else region
    return Assume(Subsample(free, p), related)


def _statement_form(name: str, after: DpTvStatement, whole: TradeOff, reference: str) -> Form:
    """Return a statement as a form, exact if the amplified region is just the statement."""
    variation = name == "dptv"
    region = after.region(variation=variation)
    kind = EXACT if whole.kind == EXACT and region.same_region(whole, 1e-11) else "upper"
    words = after.words(variation=variation)
    return Form(name, TITLES[name], region, after, kind, words, reference, whole.neighbours)


def _smallest_epsilon(region: TradeOff, delta: float) -> float:
    """Return the upper side of the smallest epsilon at a delta."""
    return float(region.epsilon_bounds(np.array([delta]))[1][0])


def _at(whole: TradeOff, delta: float) -> str:
    """Return the numbers of the amplified region at the delta of the statements."""
    epsilon = result(_smallest_epsilon, whole, delta)
    return f"ε = {outward(epsilon, 5)} at δ = {outward(delta, 5)}, η = {outward(whole.total_variation, 5)}"


def form_table(forms: Sequence[Form]) -> pd.DataFrame:
    """Return one row per form.

    Parameters
    ----------
    forms : sequence of Form
        What `forms` returns.

    Returns
    -------
    DataFrame
        `form, title, epsilon, delta, eta, total_variation, region, kind, theorem, neighbours`. For the region the
        epsilon is taken at the delta of the statements; `total_variation` is that of the region drawn.
    """
    delta = next(form.statement.delta for form in forms if form.name != "before" and form.statement is not None)
    rows = []
    for form in forms:
        own = form.statement
        if own is None:
            epsilon = result(_smallest_epsilon, form.region, delta)
            own = DpTvStatement(epsilon, delta, form.region.total_variation)
        eta = largest_eta(own.epsilon, own.delta) if form.name == "dp" else own.eta
        numbers = (own.epsilon, own.delta, min(1.0, eta), form.region.total_variation)
        facts = (form.kind, form.reference, form.neighbours)
        rows.append((form.name, form.title, *numbers, str(form.region), *facts))
    return pd.DataFrame(rows, columns=list(COLUMNS))
