r"""From one notion of privacy to another: a table of conversions and the function that applies them.

Each conversion is a record: which regions it takes, what it gives, its formula, assumptions and reference, and a
number to check it by. Values are rounded to the safe side: what comes out is implied by what went in.
"""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpcore import divergences, theorems
from dpcore.algebra import Assume, Composite, Intersection, factors
from dpcore.curves.gaussian import Gaussian
from dpcore.curves.laplace import Laplace
from dpcore.curves.tangents import pure_mu, smallest_mu
from dpcore.errors import DomainError
from dpcore.guarantees import DP, DPTV, RDP, TV, ZCDP
from dpcore.registry import COUNT, shown
from dpcore.risk import largest_loss
from dpcore.theorems import domain
from dpcore.theorems.rounding import up
from dpcore.tradeoff import TradeOff, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DEFAULT_DELTA = (1e-5,)
DEFAULT_ORDER = (2.0,)
COLUMNS = ("region", "to", "parameters", "kind", "formula")


@dataclass(frozen=True, slots=True)
class Options:
    """At which delta, epsilon or order, and for which group size, a conversion is asked."""

    delta: tuple[float, ...] = DEFAULT_DELTA
    epsilon: tuple[float, ...] = ()
    order: tuple[float, ...] = DEFAULT_ORDER
    k: int = 2


Values = tuple[dict[str, float], str]
"""Named parameters of a statement, and ``exact`` or ``upper``."""


@dataclass(frozen=True, slots=True)
class Check:
    """A number known from elsewhere: `parameter` of the first row for `expression` is `value`, as `source` says."""

    expression: str
    parameter: str
    value: float
    tolerance: float
    source: str
    options: Options = Options()


@dataclass(frozen=True, slots=True)
class Conversion:
    """One way from a notion to another; `kind` is ``exact`` (nothing smaller holds) or ``bound``."""

    source: str
    target: str
    formula: str
    kind: str
    assumptions: str
    reference: str
    applies: Callable[[TradeOff], bool]
    rows: Callable[[TradeOff, Options], list[Values]]
    oracle: Check


def convert(
    region: TradeOff,
    to: str,
    *,
    delta: float | Sequence[float] | None = None,
    epsilon: float | Sequence[float] | None = None,
    order: float | Sequence[float] | None = None,
    k: int = 2,
) -> pd.DataFrame:
    """Tabulate what a region says in the words of another notion.

    Parameters
    ----------
    region : any region.
    to : dp, tv, gdp, zcdp, rdp or group.
    delta, epsilon : for dp and group, where to state the other of the two; by default delta = 1e-5.
    order : for rdp, orders above 1; by default 2.
    k : for group, how many people.

    Returns
    -------
    DataFrame
        `region, to, parameters, kind, formula`: `parameters` as in ``epsilon=1.0, delta=1e-05``; `kind` is ``exact``
        when no smaller parameters hold, otherwise ``upper``. An infinite parameter says that no finite one holds.
    """
    if not getattr(region, "is_region", False):
        msg = f"convert takes a region such as dp(1), got {shown(region)}."
        raise DomainError(msg)
    options = Options(
        _numbers(delta, "delta", DEFAULT_DELTA if epsilon is None else (), high=1.0),
        _numbers(epsilon, "epsilon", ()),
        _numbers(order, "order", DEFAULT_ORDER, low=1.0, low_open=True),
        COUNT.but(high=10_000).check(k),
    )
    chosen = applicable(region, _notion(to))
    rows = [(values, kind, c.formula) for c in chosen for values, kind in c.rows(region, options)]
    text = [", ".join(f"{name}={value!r}" for name, value in values.items()) for values, _, _ in rows]
    columns = {"parameters": text, "kind": [kind for _, kind, _ in rows], "formula": [f for _, _, f in rows]}
    return pd.DataFrame({"region": str(region), "to": to, **columns}, columns=list(COLUMNS))


def applicable(region: TradeOff, to: str) -> list[Conversion]:
    """Return the conversions that apply; the one for any region only where no exact one speaks of this kind."""
    found = [c for c in CONVERSIONS if c.target == to and c.applies(region)]
    if any(c.kind == "exact" and c.source != "region" for c in found):
        found = [c for c in found if c.source != "region"]
    if not found:
        msg = f"No conversion leads from {shorten(str(region))} to {to}: {_WHY[to]}."
        raise DomainError(msg)
    return found


def _numbers(value: object, name: str, default: tuple[float, ...], **interval: float | bool) -> tuple[float, ...]:
    return default if value is None else domain.numbers(value, name, **interval)


def _notion(to: object) -> str:
    names = list(dict.fromkeys(c.target for c in CONVERSIONS))
    if isinstance(to, str) and to in names:
        return to
    near = difflib.get_close_matches(to, names, 1) if isinstance(to, str) else []
    hint = f"; did you mean {near[0]}?" if near else "."
    msg = f"to must be one of {', '.join(names)}, got {shown(to)}{hint}"
    raise DomainError(msg)


# ---- to (epsilon, delta) -------------------------------------------------------------------------------------


def _statements(region: TradeOff, options: Options) -> list[Values]:
    """Return the exact statements of the region at each delta and each epsilon asked."""
    rows: list[Values] = []
    if options.delta:
        low, high = region.epsilon_bounds(np.array(options.delta))
        for at, least, most in zip(options.delta, low.tolist(), high.tolist(), strict=True):
            rows.append(({"epsilon": most, "delta": at}, "exact" if least == most else "upper"))
    if options.epsilon:
        low, high = region.delta_bounds(np.array(options.epsilon))
        for at, least, most in zip(options.epsilon, low.tolist(), high.tolist(), strict=True):
            rows.append(({"epsilon": at, "delta": most}, "exact" if least == most else "upper"))
    return rows


def _by_theorem(name: str) -> Callable[[TradeOff, Options], list[Values]]:
    """Return the rows of one of the named Rényi or concentrated theorems; at delta 0 it promises nothing."""

    def rows(region: TradeOff, options: Options) -> list[Values]:
        frames = []
        positive = [d for d in options.delta if d > 0]
        if isinstance(region, RDP):
            frames += [theorems.rdp_to_dp(region.order, region.epsilon_, positive)] if positive else []
            frames += [theorems.rdp_delta(region.order, region.epsilon_, options.epsilon)] if options.epsilon else []
        elif isinstance(region, ZCDP):
            frames += [theorems.zcdp_to_dp(region.rho, region.xi, positive)] if positive else []
            frames += [theorems.zcdp_delta(region.rho, region.xi, options.epsilon)] if options.epsilon else []
        found: list[Values] = [({"epsilon": math.inf, "delta": 0.0}, "upper") for d in options.delta if d == 0]
        for frame in frames:
            mine = frame[frame["theorem"] == name]
            pairs = zip(mine["epsilon"].tolist(), mine["delta"].tolist(), strict=True)
            found += [({"epsilon": e, "delta": d}, "upper") for e, d in pairs]
        return found

    return rows


# ---- to total variation and Gaussian privacy -----------------------------------------------------------------


def _variation(region: TradeOff, _: Options) -> list[Values]:
    return [({"eta": region.total_variation}, region.kind)]


def _mu_rows(region: TradeOff, _: Options) -> list[Values]:
    found = gaussian_mu(region)
    if found is None:
        msg = f"No conversion leads from {shorten(str(region))} to gdp: {_WHY['gdp']}."
        raise DomainError(msg)
    return [({"mu": found[0]}, "exact" if found[1] else "upper")]


def gaussian_mu(region: TradeOff) -> tuple[float, bool] | None:
    """Return the smallest known mu for which the region is mu-Gaussian private, and whether none smaller is.

    By the region itself where its loss is bounded; a product has at most the root of the sum of squares of its
    parts, an intersection at most the least of its parts. None where neither says anything.
    """
    if isinstance(region, DP) and region.delta_ == 0:
        return pure_mu(region.epsilon_), True
    own = smallest_mu(region.curve, largest_loss(region)[0])
    if own is not None and own[1]:
        return own
    known = [] if own is None else [own[0]]
    if isinstance(region, Composite):
        parts = [(gaussian_mu(node), count) for node, count in factors(region)]
        squares = [count * found[0] ** 2 for found, count in parts if found is not None]
        if len(squares) == len(parts):
            known.append(up(math.sqrt(math.fsum(squares))))
    elif isinstance(region, Intersection):
        known += [found[0] for found in map(gaussian_mu, region.parts) if found is not None]
    elif isinstance(region, Assume):
        return gaussian_mu(region.region)
    return (min(known), False) if known else None


# ---- to concentrated and Rényi privacy -----------------------------------------------------------------------


def _rate(region: TradeOff, _: Options) -> list[Values]:
    rate = divergences.concentrated(region)
    if rate is None:
        msg = f"No conversion leads from {shorten(str(region))} to zcdp: {_WHY['zcdp']}."
        raise DomainError(msg)
    values = {"rho": rate.rho} if rate.xi == 0 else {"rho": rate.rho, "xi": rate.xi}
    return [(values, "exact" if rate.exact else "upper")]


def _bun_steinke(region: TradeOff, _: Options) -> list[Values]:
    epsilon = region.epsilon_ if isinstance(region, DP) else math.inf
    return [({"rho": up(epsilon * epsilon / 2)}, "upper")]


def _divergence(region: TradeOff, options: Options) -> list[Values]:
    rows: list[Values] = []
    for order in options.order:
        found = divergences.renyi(region, order)
        if found is None:
            msg = f"No conversion leads from {shorten(str(region))} to rdp of order {order!r}: {_WHY['rdp']}."
            raise DomainError(msg)
        rows.append(({"order": order, "epsilon": found[0]}, "exact" if found[1] else "upper"))
    return rows


# ---- to groups -----------------------------------------------------------------------------------------------


def _group_line(region: TradeOff, options: Options) -> list[Values]:
    epsilon, delta = (region.epsilon_, region.delta_) if isinstance(region, DP) else (math.inf, 1.0)
    frame = theorems.group(epsilon, delta, options.k)
    return _group_rows(frame, options.k)


def _group_corners(region: TradeOff, options: Options) -> list[Values]:
    epsilon, delta = (region.epsilon_, region.delta_) if isinstance(region, DP) else (math.inf, 1.0)
    return _group_rows(theorems.group_exact(epsilon, delta, options.k), options.k)


def _group_rows(frame: pd.DataFrame, k: int) -> list[Values]:
    cells = zip(frame["epsilon"].tolist(), frame["delta"].tolist(), frame["kind"].tolist(), strict=True)
    return [({"k": k, "epsilon": e, "delta": d}, kind) for e, d, kind in cells]


def _group_mu(region: TradeOff, options: Options) -> list[Values]:
    mu = region.curve.mu if isinstance(region.curve, Gaussian) else math.inf
    return [({"k": options.k, "mu": options.k * mu}, "exact")]


def _group_laplace(region: TradeOff, options: Options) -> list[Values]:
    epsilon = region.curve.epsilon if isinstance(region.curve, Laplace) else math.inf
    return [({"k": options.k, "epsilon": options.k * epsilon}, "exact")]


def _group_rate(region: TradeOff, options: Options) -> list[Values]:
    rho, xi = (region.rho, region.xi) if isinstance(region, ZCDP) else (math.inf, 0.0)
    harmonic = math.fsum(1 / i for i in range(1, options.k + 1))
    if xi == 0:
        return [({"k": options.k, "rho": rho * options.k**2}, "exact")]
    return [({"k": options.k, "rho": up(rho * options.k**2), "xi": up(xi * options.k * harmonic)}, "upper")]


def _group_region(region: TradeOff, options: Options) -> list[Values]:
    from dpcore.algebra import Group  # noqa: PLC0415  kept beside its only use

    return [({"k": options.k, **values}, kind) for values, kind in _statements(Group(region, options.k), options)]


# ---- which regions -------------------------------------------------------------------------------------------


def _is_dp(region: TradeOff) -> bool:
    return isinstance(region, DP)


def _is_pure(region: TradeOff) -> bool:
    return isinstance(region, DP) and region.delta_ == 0


def _is_finite_dp(region: TradeOff) -> bool:
    return isinstance(region, DP) and math.isfinite(region.epsilon_)


def _is_gaussian(region: TradeOff) -> bool:
    return isinstance(region.curve, Gaussian)


def _is_laplace(region: TradeOff) -> bool:
    return isinstance(region.curve, Laplace)


def _is(*kinds: type[TradeOff]) -> Callable[[TradeOff], bool]:
    return lambda region: isinstance(region, kinds)


def _any(_: TradeOff) -> bool:
    return True


_WHY = {
    "dp": "every region has one",
    "tv": "every region has one",
    "gdp": "its loss is unbounded and no finite number of its tangents decides whether a Gaussian curve lies below",
    "zcdp": "its loss is unbounded and no rate for it is known",
    "rdp": "its loss is unbounded and no closed form of its divergence is known",
    "group": "every region has one",
}
SINGLE = "One mechanism inside the region; nothing else is assumed."
AT_1E5 = Options()

CONVERSIONS: tuple[Conversion, ...] = (
    Conversion(
        "rdp",
        "dp",
        r"\varepsilon'=\varepsilon+\frac{\log(1/\delta)}{a-1}",
        "bound",
        SINGLE,
        "Mironov 2017, Proposition 3",
        _is(RDP),
        _by_theorem("rdp_mironov"),
        Check("rdp(11, 1)", "epsilon", 1 + math.log(1e5) / 10, 1e-12, "1 + log(1e5)/10"),
    ),
    Conversion(
        "rdp",
        "dp",
        r"\varepsilon'=\varepsilon+\log\frac{a-1}{a}-\frac{\log\delta+\log a}{a-1}",
        "bound",
        SINGLE,
        "Balle, Barthe, Gaboardi, Hsu, Sato 2020, Theorem 21; Canonne, Kamath, Steinke 2020, Proposition 12",
        _is(RDP),
        _by_theorem("rdp_tight"),
        Check("rdp(11, 1)", "epsilon", 1 + math.log(10 / 11) + (math.log(1e5) - math.log(11)) / 10, 1e-12, "formula"),
    ),
    Conversion(
        "zcdp",
        "dp",
        r"\varepsilon=\xi+\rho+2\sqrt{\rho\log(1/\delta)}",
        "bound",
        SINGLE,
        "Bun, Steinke 2016, Lemma 3.5",
        _is(ZCDP),
        _by_theorem("zcdp_bun_steinke"),
        Check("zcdp(0.25)", "epsilon", 0.25 + math.sqrt(math.log(1e5)), 1e-12, "formula"),
    ),
    Conversion(
        "zcdp",
        "dp",
        r"\min_{a>1}\ \xi+\rho a+\log\frac{a-1}{a}-\frac{\log\delta+\log a}{a-1}",
        "bound",
        SINGLE,
        "Canonne, Kamath, Steinke 2020, Proposition 12",
        _is(ZCDP),
        _by_theorem("zcdp_tight"),
        Check("zcdp(0.5)", "epsilon", 4.728386984943314, 1e-12, "minimum over orders, high precision"),
    ),
    Conversion(
        "gdp",
        "dp",
        r"\delta(\varepsilon)=\Phi(\tfrac\mu2-\tfrac\varepsilon\mu)-e^\varepsilon\Phi(-\tfrac\mu2-\tfrac\varepsilon\mu)",
        "exact",
        SINGLE,
        "Dong, Roth, Su 2022, Corollary 2.13; Balle, Wang 2018, Theorem 8",
        _is_gaussian,
        _statements,
        Check("gdp(1)", "delta", 0.12693673750664397, 1e-12, "dp-accounting tests", Options((), (1.0,))),
    ),
    Conversion(
        "region",
        "dp",
        r"\varepsilon=\min\{t\ge0:\ 1-\inf_\alpha(e^t\alpha+f(\alpha))\le\delta\}",
        "exact",
        SINGLE,
        "Wasserman, Zhou 2010; Dong, Roth, Su 2022, Proposition 2.5",
        _any,
        _statements,
        Check("dp(1, 0.001)^30", "epsilon", 21.7096126245, 1e-10, "high precision", Options((0.06,))),
    ),
    Conversion(
        "dp",
        "tv",
        r"\eta=\delta+(1-\delta)\tanh(\varepsilon/2)",
        "exact",
        SINGLE,
        "Kairouz, Oh, Viswanath 2015; Ghazi, Issa 2023",
        _is_dp,
        _variation,
        Check("dp(0.6, 0.05)", "eta", 0.05 + 0.95 * math.tanh(0.3), 1e-14, "formula"),
    ),
    Conversion(
        "dptv",
        "tv",
        r"\eta=\min\{\eta,\ \delta+(1-\delta)\tanh(\varepsilon/2)\}",
        "exact",
        SINGLE,
        "Ghazi, Issa 2023",
        _is(DPTV, TV),
        _variation,
        Check("dptv(0.6, 0.05, 0.15)", "eta", 0.15, 1e-14, "by definition"),
    ),
    Conversion(
        "gdp",
        "tv",
        r"\eta=2\Phi(\mu/2)-1",
        "exact",
        SINGLE,
        "Dong, Roth, Su 2022",
        _is_gaussian,
        _variation,
        Check("gdp(1)", "eta", 0.3829249225480262, 1e-13, "2 Phi(1/2) - 1"),
    ),
    Conversion(
        "laplace",
        "tv",
        r"\eta=1-e^{-\varepsilon/2}",
        "exact",
        SINGLE,
        "Dong, Roth, Su 2022",
        _is_laplace,
        _variation,
        Check("laplace(1)", "eta", 1 - math.exp(-0.5), 1e-14, "formula"),
    ),
    Conversion(
        "region",
        "tv",
        r"\eta=\max_\alpha\{1-\alpha-f(\alpha)\}=\delta(0)",
        "exact",
        SINGLE,
        "Neyman, Pearson 1933",
        _any,
        _variation,
        Check("histogram(1)", "eta", 0.24183668, 1e-7, "two-dimensional quadrature"),
    ),
    Conversion(
        "dp",
        "gdp",
        r"\mu=-2\Phi^{-1}\bigl(\tfrac1{1+e^\varepsilon}\bigr)",
        "exact",
        "delta = 0; with delta > 0 no finite mu holds.",
        "Kulynych et al. 2025, Proposition 6.1",
        _is_pure,
        _mu_rows,
        Check("dp(log(3))", "mu", 1.34898, 1e-5, "dp-accounting tests, randomized response with noise 0.5"),
    ),
    Conversion(
        "gdp",
        "gdp",
        r"\mu=\Delta/\sigma",
        "exact",
        SINGLE,
        "Dong, Roth, Su 2022, Theorem 2.7",
        _is_gaussian,
        _mu_rows,
        Check("gaussian(2)", "mu", 0.5, 1e-14, "formula"),
    ),
    Conversion(
        "region",
        "gdp",
        r"\mu=\sup_\alpha\ \Phi^{-1}(1-f(\alpha))-\Phi^{-1}(\alpha)",
        "exact",
        "Bounded loss, or a product or intersection of parts that have a mu; exact at the corners of a polygon.",
        "Dong, Roth, Su 2022, Definition 2.6",
        _any,
        _mu_rows,
        Check("dp(1) * dp(2)", "mu", 2.358, 1e-3, "dp-accounting tests"),
    ),
    Conversion(
        "dp",
        "zcdp",
        r"\rho=\varepsilon\tanh(\varepsilon/2)",
        "exact",
        "delta = 0; with delta > 0 no finite rho holds.",
        "Proved in dpcore.divergences.concentrated; Harrison, Manurangsi 2026",
        _is_dp,
        _rate,
        Check("dp(1)", "rho", math.tanh(0.5), 1e-14, "Kullback-Leibler divergence of randomized response"),
    ),
    Conversion(
        "dp",
        "zcdp",
        r"\rho=\varepsilon^2/2",
        "bound",
        "delta = 0.",
        "Bun, Steinke 2016, Proposition 1.4",
        _is_pure,
        _bun_steinke,
        Check("dp(1)", "rho", 0.5, 1e-14, "formula"),
    ),
    Conversion(
        "gaussian",
        "zcdp",
        r"\rho=\mu^2/2",
        "exact",
        SINGLE,
        "Bun, Steinke 2016, Proposition 1.6",
        _is_gaussian,
        _rate,
        Check("gaussian(2)", "rho", 0.125, 1e-14, "formula"),
    ),
    Conversion(
        "laplace",
        "zcdp",
        r"\rho=\varepsilon+e^{-\varepsilon}-1",
        "exact",
        SINGLE,
        "Harrison, Manurangsi 2026, Exact zCDP characterizations",
        _is_laplace,
        _rate,
        Check("laplace(1)", "rho", math.exp(-1.0), 1e-14, "formula"),
    ),
    Conversion(
        "region",
        "zcdp",
        r"\rho=\sum_i\rho_i,\quad\rho_i\le L_i\tanh(L_i/2),\ L_i\text{ the largest loss}",
        "bound",
        "Parts of bounded loss, Gaussian, Laplace or concentrated; exact where every part is.",
        "Bun, Steinke 2016, Lemma 1.7",
        _any,
        _rate,
        Check("dp(1) * gdp(1)", "rho", math.tanh(0.5) + 0.5, 1e-14, "sum of both"),
    ),
    Conversion(
        "laplace",
        "rdp",
        r"\frac1{a-1}\log\bigl(\tfrac{a}{2a-1}e^{(a-1)\varepsilon}+\tfrac{a-1}{2a-1}e^{-a\varepsilon}\bigr)",
        "exact",
        SINGLE,
        "Mironov 2017, Proposition 6",
        _is_laplace,
        _divergence,
        Check("laplace(1)", "epsilon", math.log(2 / 3 * math.e + math.exp(-2) / 3), 1e-13, "formula, order 2"),
    ),
    Conversion(
        "gaussian",
        "rdp",
        r"a\mu^2/2",
        "exact",
        SINGLE,
        "Mironov 2017, Proposition 7",
        _is_gaussian,
        _divergence,
        Check("gaussian(2)", "epsilon", 0.25, 1e-14, "formula, order 2"),
    ),
    Conversion(
        "dp",
        "rdp",
        r"\frac1{a-1}\log\frac{\cosh((a-1/2)\varepsilon)}{\cosh(\varepsilon/2)}",
        "exact",
        "delta = 0; with delta > 0 every divergence is infinite.",
        "Mironov 2017, Proposition 5 (randomized response)",
        _is_dp,
        _divergence,
        Check("dp(1)", "epsilon", math.log(math.cosh(1.5) / math.cosh(0.5)), 1e-13, "formula, order 2"),
    ),
    Conversion(
        "zcdp",
        "rdp",
        r"\xi+\rho a",
        "exact",
        SINGLE,
        "Bun, Steinke 2016, Definition 1.1",
        _is(ZCDP),
        _divergence,
        Check("zcdp(0.5)", "epsilon", 1.0, 1e-14, "by definition, order 2"),
    ),
    Conversion(
        "region",
        "rdp",
        r"\sum_i D_a^{(i)},\quad D_a=\frac1{a-1}\log\sum_x q_x^a p_x^{1-a}",
        "bound",
        "Parts with closed-form divergence, finite distributions or bounded loss; exact where every part is.",
        "Mironov 2017, Proposition 1; van Erven, Harremoës 2014",
        _any,
        _divergence,
        Check("pmf([0.5, 0.5], [0.6, 0.4])", "epsilon", math.log(0.25 / 0.6 + 0.25 / 0.4), 1e-13, "larger direction"),
    ),
    Conversion(
        "dp",
        "group",
        r"\bigl(k\varepsilon,\ \delta\tfrac{e^{k\varepsilon}-1}{e^\varepsilon-1}\bigr)",
        "bound",
        SINGLE,
        "Vadhan 2017, Lemma 2.2",
        _is_finite_dp,
        _group_line,
        Check("dp(2, 0.01)", "delta", 0.08389056098930651, 1e-13, "0.01 (1 + e^2)"),
    ),
    Conversion(
        "dp",
        "group",
        r"1-(1-f)^{\circ k}",
        "exact",
        SINGLE,
        "Dong, Roth, Su 2022, Theorem 2.14",
        _is_finite_dp,
        _group_corners,
        Check("dp(log(2))", "delta", 0.5, 1e-14, "1 - e^-epsilon at 0, k = 2"),
    ),
    Conversion(
        "gdp",
        "group",
        r"\mu_k=k\mu",
        "exact",
        SINGLE,
        "Dong, Roth, Su 2022, Theorem 2.14",
        _is_gaussian,
        _group_mu,
        Check("gdp(0.5)", "mu", 1.0, 1e-14, "formula, k = 2"),
    ),
    Conversion(
        "laplace",
        "group",
        r"\varepsilon_k=k\varepsilon\ \text{(Laplace noise again)}",
        "exact",
        SINGLE,
        "Dong, Roth, Su 2022",
        _is_laplace,
        _group_laplace,
        Check("laplace(0.5)", "epsilon", 1.0, 1e-14, "k = 2"),
    ),
    Conversion(
        "zcdp",
        "group",
        r"\rho_k=k^2\rho,\quad\xi_k=\xi\,k\sum_{i\le k}1/i",
        "exact",
        "Exact for xi = 0, where Gaussian noise attains it; a bound otherwise.",
        "Bun, Steinke 2016, Proposition 1.9",
        _is(ZCDP),
        _group_rate,
        Check("zcdp(0.5)", "rho", 2.0, 1e-14, "formula, k = 2"),
    ),
    Conversion(
        "region",
        "group",
        r"1-(1-f)^{\circ k}",
        "exact",
        SINGLE,
        "Dong, Roth, Su 2022, Theorem 2.14",
        _any,
        _group_region,
        Check("tv(0.2)", "delta", 0.4, 1e-14, "k eta", Options((), (0.0,))),
    ),
)
