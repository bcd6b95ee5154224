"""The page of limits: what is asked, computed once, as figures, words and Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dpcore.app import work
from dpcore.central_limit.arrays import NS, Array, array_distances, arrays
from dpcore.central_limit.convergence import Copies, convergence, copies, safety, warning
from dpcore.charts.central_limit import (
    CLT,
    array_figure,
    array_region_figure,
    convergence_figure,
    limit_figure,
    safety_figure,
)
from dpcore.charts.theme import Look
from dpcore.core.kinds import labelled, readable
from dpcore.core.numerals import nearest
from dpcore.words import grouped, outward

if TYPE_CHECKING:
    from dpcore.central_limit.moments import Bracket
    from dpcore.charts.figure import Figure

LINEAR, LOGLOG = "linear", "log-log"
LARGEST_K = 10**5
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
KS = [str(step * 10**power) for power in range(5) for step in (1, 2, 3, 5)] + [str(LARGEST_K)]
HEIGHT = 520


@dataclass(frozen=True, slots=True)
class LimitsQuery:
    """k copies of a mechanism, and the delta at which epsilon is compared."""

    mechanism: str
    k: int
    delta: float


@dataclass(frozen=True, slots=True)
class Rows:
    """The three arrays: mu of their limit, sum of the failures, power c, and the row looked at."""

    mu: float
    failing: float
    c: float
    n: int


# ---- copies of one mechanism ---------------------------------------------------------------------------------


def row_of(query: LimitsQuery) -> tuple[Copies, tuple[str, ...]]:
    """Return the copies beside their limit, and what the library warned about while reading the mechanism."""
    region, notices = work.region(query.mechanism)
    return work.cache().get(("limit of", str(region), query.k), lambda: copies(region, query.k)), notices


def picture(query: LimitsQuery, view: dict[str, str], *, dark: bool) -> Figure:
    """Return the composition, its limit and the band."""
    row, _ = row_of(query)
    look = Look(dark=dark, height=HEIGHT)
    key = ("limit chart", str(row.mechanism), query.k, view["view"], view["axes"], dark)
    return work.cache().get(key, lambda: limit_figure(row, look=look, **options(view)))


def options(view: dict[str, str]) -> dict[str, Any]:
    """Return the options of the chart that differ from its own defaults."""
    given: dict[str, Any] = {}
    if view["axes"] == "thesis":
        given["axes"] = "thesis"
    if view["view"] == LOGLOG:
        given["log"] = True
    return given


def verdict(query: LimitsQuery) -> tuple[bool, str]:
    """Return whether the limit is below the truth at the delta asked, and the sentence about it."""
    row, _ = row_of(query)

    def make() -> tuple[bool, str]:
        return warning(row, query.delta, row.distance())

    return work.cache().get(("limit verdict", str(row.mechanism), query.k, query.delta), make)


def safety_rows(query: LimitsQuery) -> pd.DataFrame:
    """Return the limit's epsilon beside the true one at powers of ten of delta."""
    row, _ = row_of(query)
    return work.cache().get(("limit safety", str(row.mechanism), query.k), lambda: safety(row))


def safety_picture(query: LimitsQuery, *, dark: bool) -> Figure:
    """Return both epsilons against delta."""
    rows = safety_rows(query)
    key = ("limit safety chart", query.mechanism, query.k, query.delta, dark)
    return work.cache().get(key, lambda: safety_figure(rows, delta=query.delta, look=Look(dark=dark)))


def distances(query: LimitsQuery) -> pd.DataFrame:
    """Return the distance to the limit for k from 1 to 10^5."""
    region, _ = work.region(query.mechanism)
    key = ("limit distances", str(region), query.delta)
    return work.cache().get(key, lambda: convergence(region, query.delta))


def distance_picture(query: LimitsQuery, *, dark: bool) -> Figure:
    """Return the distance against k."""
    frame = distances(query)
    key = ("limit distance chart", query.mechanism, query.delta, query.k, dark)
    return work.cache().get(key, lambda: convergence_figure(frame, k=query.k, look=Look(dark=dark)))


def numbers(query: LimitsQuery) -> pd.DataFrame:
    """Return the moments of one mechanism and what the theorem makes of them, as text with what each number is."""
    row, _ = row_of(query)
    found = row.limit
    rows = [("μ of k copies", nearest(row.goal.mu, 8), "approximation of the composition")]
    if found.moments is not None:
        kind = "exact" if found.moments.kind == "exact" else "between these, by quadrature"
        if found.moments.factors > 1:
            kind += f", summed over {grouped(found.moments.factors)} factors"
        named = {"kl": "kl", "κ₂": "kappa2", "κ₃": "kappa3", "κ̄₃": "kappa3_bar"}
        rows += [(sign, _between(getattr(found.moments, name)), kind) for sign, name in named.items()]
    if row.goal.lost:
        rows.append(("failing, all k", outward(row.goal.lost, 6), "exact"))
    gamma = found.gamma(row.k)
    why = found.silence(row.k)
    rows.append(("γ of k copies", "no band" if why else outward(gamma, 6), why or "upper bound"))
    frame = pd.DataFrame(rows, columns=["quantity", "value", "kind"])
    own = frame["quantity"].str.endswith("of k copies")
    theorem = np.where(own, CLT, row.mechanism.theorem)
    return readable(labelled(frame, theorem=theorem, neighbours=row.mechanism.neighbours))


def _between(bracket: Bracket) -> str:
    if bracket.lower == bracket.upper:
        return nearest(bracket.upper, 10)
    return f"{outward(bracket.lower, 7, up=False)} to {outward(bracket.upper, 7)}"


# ---- arrays --------------------------------------------------------------------------------------------------


def three(query: Rows) -> tuple[Array, Array, Array]:
    """Return the three arrays."""
    return arrays(query.mu, query.failing, query.c)


def array_rows(query: Rows) -> pd.DataFrame:
    """Return the distance of every row to its limit."""
    key = ("array distances", query.mu, query.failing, query.c)
    return work.cache().get(key, lambda: array_distances(three(query), NS[::2]))


def array_picture(query: Rows, *, dark: bool) -> Figure:
    """Return the three distances on one chart."""
    frame = array_rows(query)
    key = ("array chart", query, dark)
    return work.cache().get(key, lambda: array_figure(frame, n=query.n, look=Look(dark=dark)))


def array_regions(query: Rows, view: dict[str, str], *, dark: bool) -> Figure:
    """Return row n of the three arrays and their limits."""
    given = {name: value for name, value in options(view).items() if name == "axes"}
    key = ("array regions", query, tuple(given.items()), dark)
    return work.cache().get(key, lambda: array_region_figure(three(query), query.n, look=Look(dark=dark), **given))


def array_words(query: Rows) -> str:
    """Say which mechanisms row n holds."""
    pure, failing, varying = (array.statement(query.n) for array in three(query))
    each = (
        f"ε = {nearest(pure.epsilon, 4)}; or also δ = {nearest(failing.delta, 4)}; "
        f"or ε = {nearest(varying.epsilon, 4)} and η = {nearest(varying.eta, 4)}"
    )
    many = "1 mechanism" if query.n == 1 else f"{grouped(query.n)} mechanisms"
    return f"Row n = {grouped(query.n)} has {many} with {each} (rounded)."


# ---- code ----------------------------------------------------------------------------------------------------

_WITH = f"with effort(tolerance={work.TOLERANCE}):"


def _code(imports: list[str], lines: list[str], file: str) -> str:
    return "\n".join([*imports, "from dpcore.core.effort import effort", "", _WITH, *lines, f'save(figure, "{file}")'])


def _copies_imports(maker: str, name: str) -> list[str]:
    return [
        "from dpcore.charts import save",
        f"from dpcore.charts.central_limit import {maker}",
        f"from dpcore.central_limit.convergence import {name}",
    ]


def picture_code(query: LimitsQuery, view: dict[str, str]) -> str:
    """Return the Python lines that draw the composition and its limit."""
    given = "".join(f", {name}={value!r}" for name, value in options(view).items())
    lines = [
        f"    row = copies({query.mechanism!r}, {query.k})",
        f"    figure = limit_figure(row{given})",
        f"    unsafe, words = warning(row, {query.delta!r}, row.distance())",
    ]
    return _code(_copies_imports("limit_figure", "copies, warning"), lines, "limit.svg")


def safety_code(query: LimitsQuery) -> str:
    """Return the Python lines that draw both epsilons."""
    lines = [
        f"    table = safety(copies({query.mechanism!r}, {query.k}))",
        f"    figure = safety_figure(table, delta={query.delta!r})",
    ]
    return _code(_copies_imports("safety_figure", "copies, safety"), lines, "safety.svg")


def distance_code(query: LimitsQuery) -> str:
    """Return the Python lines that draw the distance."""
    lines = [
        f"    table = convergence({query.mechanism!r}, {query.delta!r})",
        f"    figure = convergence_figure(table, k={query.k})",
    ]
    return _code(_copies_imports("convergence_figure", "convergence"), lines, "distance.svg")


def array_code(query: Rows, *, regions: bool, view: dict[str, str]) -> str:
    """Return the Python lines that draw the arrays."""
    maker = "array_region_figure" if regions else "array_figure"
    imports = [
        "from dpcore.charts import save",
        f"from dpcore.charts.central_limit import {maker}",
        "from dpcore.central_limit.arrays import array_distances, arrays",
    ]
    given = f", axes={view['axes']!r}" if view["axes"] == "thesis" else ""
    lines = [f"    chosen = arrays({query.mu!r}, {query.failing!r}, {query.c!r})"]
    if regions:
        lines.append(f"    figure = array_region_figure(chosen, {query.n}{given})")
    else:
        lines += [
            f"    table = array_distances(chosen, {list(NS[::2])!r})",
            f"    figure = array_figure(table, n={query.n})",
        ]
    return _code(imports, lines, "arrays.svg")
