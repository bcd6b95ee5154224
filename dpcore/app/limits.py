"""The page Limits: its question, computed once, as specs of figures and as sentences."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dpcore.app import inputs, work
from dpcore.central_limit.arrays import arrays
from dpcore.central_limit.convergence import Copies, copies, understated, warning
from dpcore.charts.central_limit import CLT
from dpcore.core.domains import COUNT, SHARE
from dpcore.core.kinds import labelled, readable
from dpcore.core.numerals import nearest
from dpcore.core.results import result
from dpcore.language.numbers import read_value
from dpcore.words import grouped, outward

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpcore.central_limit.moments import Bracket

LINEAR, LOGLOG = "linear", "log-log"
COPIES = COUNT.but(high=10**5)
DEFAULTS: dict[str, Any] = {
    "lim_mechanism": "rr(1, 50)",
    "lim_k": "50",
    "lim_delta": "1e-5",
    "lim_view": LINEAR,
    "lim_axes": "f-DP",
    "lim_mu": "1",
    "lim_failing": "0.1",
    "lim_c": "0.25",
    "lim_n": "10",
}
KS = inputs.round_values(0, 5)
SLIDERS = ("lim_k_slider", "lim_delta_slider")
HEIGHT = 400


@dataclass(frozen=True, slots=True)
class LimitsQuery:
    """k copies of a mechanism, and the delta at which epsilon is compared."""

    mechanism: str
    k: int
    delta: float

    def moved(self, held: Mapping[str, str]) -> LimitsQuery:
        """Return the query with the value of a slider that is held in place of that of its field."""
        if "lim_k_slider" in held:
            return replace(self, k=int(read_value(COPIES, held["lim_k_slider"], "Copies k")))
        if "lim_delta_slider" in held:
            return replace(self, delta=float(read_value(SHARE, held["lim_delta_slider"], "Compared at δ")))
        return self


@dataclass(frozen=True, slots=True)
class Rows:
    """The three arrays: mu of their limit, sum of the failures, power c, and the row n that is shown."""

    mu: float
    failing: float
    c: float
    n: int


# ---- copies of one mechanism ---------------------------------------------------------------------------------


def row_of(query: LimitsQuery) -> tuple[Copies, tuple[str, ...]]:
    """Return the copies beside their limit, and the library's warnings from reading the mechanism."""
    _, notices = work.region(query.mechanism)
    return result(copies, query.mechanism, query.k), notices


def verdict(query: LimitsQuery) -> tuple[bool, str]:
    """Return whether the limit is below the truth at the given delta, and the sentence about it."""
    return result(_verdict, query)


def _verdict(query: LimitsQuery) -> tuple[bool, str]:
    return warning(row_of(query)[0], query.delta)


def worst(query: LimitsQuery) -> str:
    """Say where the limit understates delta most."""
    return result(_worst, query.mechanism, query.k)


def _worst(mechanism: str, k: int) -> str:
    row = result(copies, mechanism, k)
    return understated(row, row.distance())


def spec(query: LimitsQuery, view: Mapping[str, str]) -> dict[str, Any]:
    """Return the spec of the composition, its limit and the band."""
    copies_ = {"mechanism": query.mechanism, "k": query.k}
    return {"draw": "limit", **copies_, "axes": _axes(view), "log": view["view"] == LOGLOG}


def _axes(view: Mapping[str, str]) -> str:
    return "thesis" if view["axes"] == "thesis" else "fdp"


def distance_spec(query: LimitsQuery) -> dict[str, Any]:
    """Return the spec of the distance to the limit as k grows."""
    return {"draw": "limit_distance", "mechanism": query.mechanism, "delta": query.delta, "mark": query.k}


def safety_spec(query: LimitsQuery) -> dict[str, Any]:
    """Return the spec of the limit's epsilon beside the true one, against delta."""
    return {"draw": "limit_safety", "mechanism": query.mechanism, "k": query.k, "delta": query.delta}


def numbers(query: LimitsQuery) -> pd.DataFrame:
    """Return the moments of one mechanism and what the theorem makes of them, as text with each number's kind."""
    row, _ = row_of(query)
    moments = row.limit.moments
    rows = [("μ of k copies", nearest(row.goal.mu, 8), "approximation of the composition")]
    if moments is not None:
        kind = "exact" if moments.kind == "exact" else "within these bounds, by quadrature"
        if moments.factors > 1:
            kind += f", summed over {grouped(moments.factors)} factors"
        names = {"kl": "kl", "κ₂": "kappa2", "κ₃": "kappa3", "κ̄₃": "kappa3_bar"}
        rows += [(sign, _between(getattr(moments, name)), kind) for sign, name in names.items()]
    if row.goal.lost:
        rows.append(("probability of failure, all k", outward(row.goal.lost, 6), "exact"))
    why = row.limit.silence(row.k)
    rows.append(("γ of k copies", "no band" if why else outward(row.limit.gamma(row.k), 6), why or "upper bound"))
    frame = pd.DataFrame(rows, columns=["quantity", "value", "kind"])
    own = frame["quantity"].str.endswith("of k copies")
    theorem = np.where(own, CLT, row.mechanism.theorem)
    return readable(labelled(frame, theorem=theorem, neighbours=row.mechanism.neighbours))


def _between(bracket: Bracket) -> str:
    if bracket.lower == bracket.upper:
        return nearest(bracket.upper, 10)
    return f"{outward(bracket.lower, 7, up=False)} to {outward(bracket.upper, 7)}"


# ---- arrays --------------------------------------------------------------------------------------------------


def array_spec(query: Rows, part: str, view: Mapping[str, str]) -> dict[str, Any]:
    """Return the spec of the distances of the three arrays, or of row n as regions."""
    numbers_ = {"mu": query.mu, "failing": query.failing, "c": query.c, "n": query.n}
    return {"draw": "arrays", **numbers_, "view": part, "axes": _axes(view)}


def array_words(query: Rows) -> str:
    """Say which mechanisms row n holds."""
    pure, failing, varying = (array.statement(query.n) for array in arrays(query.mu, query.failing, query.c))
    many = "1 mechanism" if query.n == 1 else f"{grouped(query.n)} mechanisms"
    return (
        f"Row n = {grouped(query.n)} has {many}. Each has ε = {nearest(pure.epsilon, 4)} (pure), "
        f"δ = {nearest(failing.delta, 4)} in addition (with δ), or ε = {nearest(varying.epsilon, 4)} and "
        f"η = {nearest(varying.eta, 4)} (with TV); all rounded."
    )
