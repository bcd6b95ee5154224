"""To Gaussian privacy: the smallest mu whose curve lies below the region's."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd

from dpcore.core.domains import SHARE
from dpcore.core.effort import checkpoint, effort
from dpcore.core.errors import BudgetError
from dpcore.core.kinds import kind
from dpcore.core.numerals import nearest
from dpcore.core.rounding import up
from dpcore.curves.gaussian_range import ALPHA, BestGaussian, best_gaussian
from dpcore.curves.quantiles import pure_mu
from dpcore.curves.tangents import smallest_mu
from dpcore.regions import gate
from dpcore.regions.algebra import Assume, Composite, Intersection, factors
from dpcore.regions.guarantees import DP
from dpcore.risk import largest_loss
from dpcore.theorems.conversion.kinds import anything, is_gaussian, is_pure
from dpcore.theorems.conversion.records import SINGLE, Check, Conversion, Options, Values, no_conversion
from dpcore.words import outward

if TYPE_CHECKING:
    from dpcore.regions.tradeoff import TradeOff


def gaussian_mu(region: TradeOff) -> tuple[float, bool] | None:
    """Return the smallest known mu for which the region satisfies mu-GDP, and whether it is the smallest of all.

    If the loss is bounded, mu follows from the region itself. The mu of a product is at most the root of the sum of
    squares of its parts, that of an intersection at most the smallest of its parts.

    Parameters
    ----------
    region : TradeOff
        Any region.

    Returns
    -------
    tuple of (float, bool) or None
        mu, rounded up, and whether it is exact; None if nothing is known.
    """
    if isinstance(region, DP) and region.delta_ == 0:
        return pure_mu(region.epsilon_), True
    with gate.curve_of(region) as curve:
        own = smallest_mu(curve, largest_loss(region)[0]) if region.fails or curve.q_inf == 0 else None
    if own is not None and own[1]:
        return own
    bounds = [] if own is None else [own[0]]
    if isinstance(region, Composite):
        parts = [(gaussian_mu(node), count) for node, count in factors(region)]
        squares = [count * part[0] ** 2 for part, count in parts if part is not None]
        if len(squares) == len(parts):
            bounds.append(up(math.sqrt(math.fsum(squares))))
    elif isinstance(region, Intersection):
        bounds += [part[0] for part in map(gaussian_mu, region.parts) if part is not None]
    elif isinstance(region, Assume):
        return gaussian_mu(region.region)
    return (min(bounds), False) if bounds else None


FIT_WORK = 2e7
"""Operations allowed for the mu in a sentence: it needs the whole curve, which is slow if a region reveals little."""
NO_MU = "Gaussian differential privacy: no μ is known within the work allowed."
FIT_REFERENCE = "Dong, Roth, Su 2022, Definition 2.6; Kulynych et al. 2025"
RANGE_FORMULA = (
    r"\mu=\sup_{\alpha_0\le\alpha\le1/2}\Phi^{-1}(1-f(\alpha))-\Phi^{-1}(\alpha),\quad"
    r"\mathrm{regret}=\min\{\kappa: f(\alpha)-\kappa\le G_\mu(\alpha-\kappa)\},\quad"
    r"\mathrm{gap}=\max_{\alpha_0\le\alpha\le1/2} f-G_\mu"
)


def gaussian_fit(region: TradeOff, alpha: float = ALPHA) -> BestGaussian | None:
    """Return the smallest mu whose Gaussian curve lies below the region's on [alpha, 1/2], and what that curve loses.

    Parameters
    ----------
    region : TradeOff
        Any region.
    alpha : float, default 1e-12
        The smallest false-positive rate considered, in (0, 1/2].

    Returns
    -------
    BestGaussian or None
        Brackets of mu, regret and gap; None if no finite mu holds on the range.

    Examples
    --------
    >>> fit = gaussian_fit(DP(1.0))
    >>> round(fit.mu[1], 4), round(fit.regret[1], 4)
    (1.232, 0.0575)
    """
    with gate.curve_of(region) as curve:
        return best_gaussian(curve, SHARE.but(name="alpha", high=0.5).check(alpha))


def bounded_fit(region: TradeOff, alpha: float = ALPHA) -> BestGaussian | None:
    """Return `gaussian_fit` within the work that a sentence may take; also None if that is not enough.

    Parameters
    ----------
    region : TradeOff
        Any region.
    alpha : float, default 1e-12
        The smallest false-positive rate considered, in (0, 1/2].

    Returns
    -------
    BestGaussian or None
        Brackets of mu, regret and gap.
    """
    try:
        with effort(work=FIT_WORK):
            return gaussian_fit(region, alpha)
    except BudgetError:
        checkpoint()  # raises if the time has run out
        return None


def fit_words(fit: BestGaussian | None) -> str:
    """Return mu and its regret in one sentence.

    Parameters
    ----------
    fit : BestGaussian or None
        What `gaussian_fit` or `bounded_fit` returns.

    Returns
    -------
    str
        A sentence that states the range of rates.
    """
    if fit is None:
        return NO_MU
    if fit.mu[0] == fit.mu[1]:
        return f"Gaussian differential privacy: μ = {outward(fit.mu[1], 5)} (exact)."
    return (
        f"Gaussian differential privacy: μ = {outward(fit.mu[1], 5)} for false-positive rates from {nearest(fit.alpha)} to 1/2; regret "
        f"{outward(fit.regret[1], 3)} (both error rates of the best attack are off by at most that)."
    )


def fit_table(region: TradeOff, alpha: float = ALPHA) -> pd.DataFrame:
    """Tabulate the smallest mu of a region and what its curve loses.

    Parameters
    ----------
    region : TradeOff
        Any region.
    alpha : float, default 1e-12
        The smallest false-positive rate considered, in (0, 1/2].

    Returns
    -------
    DataFrame
        `region, measure, at, value, lower, words, kind, theorem, neighbours`: rows ``mu``, ``regret`` and ``gap``, each between `lower` and
        `value`; `at` is the smallest false-positive rate. An infinite mu means that no finite one holds.
    """
    fit, words = gaussian_fit(region, alpha), ""
    words = fit_words(fit) if fit is not None else "No finite μ holds."
    sides = {"mu": (0.0, math.inf)} if fit is None else {"mu": fit.mu, "regret": fit.regret, "gap": fit.gap}
    rows = [
        (
            str(region),
            name,
            float(alpha),
            high,
            low,
            words,
            kind(low, high, "upper"),
            f"{region.theorem}; {FIT_REFERENCE}",
        )
        for name, (low, high) in sides.items()
    ]
    frame = pd.DataFrame(rows, columns=["region", "measure", "at", "value", "lower", "words", "kind", "theorem"])
    return frame.assign(neighbours=region.neighbours)


def _mu_rows(region: TradeOff, options: Options) -> list[Values]:
    """Return mu for all rates if it is known, and the best mu for rates above `alpha` with its regret."""
    smallest = gaussian_mu(region)
    rows: list[Values] = [] if smallest is None else [({"mu": smallest[0]}, "exact" if smallest[1] else "upper")]
    if region.curve.gaussian_mu is not None:
        return rows  # the curve is Gaussian: nothing is lost
    best = gaussian_fit(region, options.alpha)
    if best is not None:
        sides = {"mu": best.mu, "regret": best.regret, "gap": best.gap}
        values = {
            name: value for key, (low, high) in sides.items() for name, value in ((key, high), (f"{key}_lower", low))
        }
        rows.append((values | {"alpha": best.alpha}, "upper"))
    if not rows:
        raise no_conversion(region, "gdp")
    return rows


CONVERSIONS: tuple[Conversion, ...] = (
    Conversion(
        "dp",
        "gdp",
        r"\mu=-2\Phi^{-1}\bigl(\tfrac1{1+e^\varepsilon}\bigr)",
        "exact",
        "delta = 0; with delta > 0 no finite mu holds.",
        "Kulynych et al. 2025, Proposition 6.1",
        is_pure,
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
        is_gaussian,
        _mu_rows,
        Check("gaussian(2)", "mu", 0.5, 1e-14, "formula"),
    ),
    Conversion(
        "region",
        "gdp",
        r"\mu=\sup_\alpha\ \Phi^{-1}(1-f(\alpha))-\Phi^{-1}(\alpha)",
        "exact",
        "Exact at the corners of a polygon. With its regret: for alpha from 1e-12 to 1/2, in a bracket.",
        "Dong, Roth, Su 2022, Definition 2.6",
        anything,
        _mu_rows,
        Check("dp(1) * dp(2)", "mu", 2.358, 1e-3, "dp-accounting tests"),
    ),
)
