r"""Composition of Gaussian differential privacy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpcore.central_limit.gaussians import epsilons_of, joined
from dpcore.core.domains import LOSS
from dpcore.core.errors import DomainError
from dpcore.core.numerals import numeral
from dpcore.core.rounding import failure
from dpcore.curves.gaussian import GaussianCurve
from dpcore.regions import gate
from dpcore.regions.guarantees import GDP
from dpcore.theorems.optimal import SAFE
from dpcore.theorems.record import Promise, PromisedRegion, Theorem, TheoremOracle
from dpcore.theorems.table import table
from dpcore.words import outward

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from dpcore.theorems.listing import Listing
    from dpcore.theorems.releases import Releases, Statements

EPSILONS = tuple(i / 2 for i in range(11))


def composed_mu(mus: object) -> float:
    r"""Return :math:`\sqrt{\sum\mu_i^2}` of a number or a list of numbers.

    Parameters
    ----------
    mus : float or sequence of float
        At least 0 each.

    Returns
    -------
    float
        The mu of all together.

    Examples
    --------
    >>> composed_mu([3.0, 4.0])
    5.0
    """
    root = math.hypot(*LOSS.but(name="mu").array(mus).tolist())
    return float(LOSS.but(name="root of the sum of squares of mu").check(root))


def gdp(mus: object, epsilon: float | Sequence[float] = EPSILONS) -> pd.DataFrame:
    r"""Compose mu_i-Gaussian DP mechanisms: :math:`\mu=\sqrt{\sum\mu_i^2}`, without loss.

    .. math:: \delta(\varepsilon) = \Phi(\mu/2-\varepsilon/\mu) - e^\varepsilon\Phi(-\mu/2-\varepsilon/\mu)

    In words: Gaussian mechanisms compose like independent errors, by squares. One row for each `epsilon` >= 0.
    Reference: Dong, Roth, Su (2022), Corollary 3.3 and Corollary 2.13.

    Parameters
    ----------
    mus : float or sequence of float
        One mu per mechanism, at least 0.
    epsilon : float or sequence of float, default 0, 0.5, ..., 5
        Where delta is stated; one row each.

    Returns
    -------
    DataFrame
        `theorem, epsilon, delta, kind, note`: one row per epsilon.
    """
    mu = composed_mu(mus)
    points = LOSS.array(epsilon)
    deltas = GaussianCurve(mu).delta_bounds(points)[1] if mu > 0 else np.zeros_like(points)
    return table("gdp", points, deltas, "exact", f"mu = {numeral(mu)}")


def _listing(listing: Listing, _slacks: Sequence[float]) -> pd.DataFrame | None:
    if listing.kinds != {"gdp"}:
        return None
    return gdp([values[0] * float(np.sqrt(float(count))) for _, values, count in listing.parts], EPSILONS)


def _root(mus: Sequence[tuple[float, int]]) -> float:
    return math.hypot(*(mu * math.sqrt(count) for mu, count in mus))


def _around(statements: Statements) -> tuple[float, float]:
    """Return mu of Gaussian privacy around every release and the probability of an infinite loss, both rounded up."""
    mu = _root([(step.bounding_mu, count) for step, count in statements.parts]) * SAFE
    if not math.isfinite(mu):
        msg = "Its μ is too large for a number."
        raise DomainError(msg)
    return mu, min(1.0, failure([(step.delta, count) for step, count in statements.parts]) * SAFE)


def _epsilon(releases: Releases, delta: float) -> Promise:
    if (mus := releases.mus) is not None:
        region = releases.region
        value = float(gate.epsilon_bounds(region, np.array([delta]))[1][0])
        return Promise(value + 0.0, region.kind, f"μ = {outward(_root(mus), 6)}")
    mu, lost = _around(releases.statements(delta, gaussian=False))
    value = float(epsilons_of(np.array([mu]), np.array([lost]), delta)[0])
    return Promise(value, "upper", f"every release inside Gaussian privacy, together μ = {outward(mu, 6)}")


def _region(releases: Releases, delta: float, _slack: float) -> PromisedRegion:
    if (mus := releases.mus) is not None:
        mu = _root(mus)
        return PromisedRegion(GDP(mu), "exact", f"μ = {outward(mu, 6)}")
    statements = releases.statements(delta, gaussian=False)
    mu, lost = _around(statements)
    note = f"μ = {outward(mu, 6)}" + (f", failing with probability {outward(lost, 4)}" if lost else "")
    if len(statements.parts) == 1:
        note += f"; one mechanism is inside gdp({outward(statements.parts[0][0].bounding_mu, 4)})"
    return PromisedRegion(joined(mu, lost), "upper", "; ".join(filter(None, (note, statements.note))))


THEOREM = Theorem(
    name="gdp",
    title="Composition of Gaussian privacy",
    label="Gaussian (GDP)",
    formula=r"\mu=\sqrt{\sum\mu_i^2},"
    r"\quad\delta(\varepsilon)=\Phi(\tfrac\mu2-\tfrac\varepsilon\mu)"
    r"-e^\varepsilon\Phi(-\tfrac\mu2-\tfrac\varepsilon\mu)",
    meaning="Gaussian mechanisms compose like independent errors, by squares.",
    reference="Dong, Roth, Su 2022, Corollary 3.3 and Corollary 2.13",
    kind="exact",
    oracles=(
        # mu = 1: delta(0) = 2 Phi(1/2) - 1.
        TheoremOracle(([0.6, 0.8], 0.0), 0.0, 0.3829249225480262, 1e-14),
    ),
    function=gdp,
    listing=_listing,
    unlisted="It is about Gaussian privacy alone; name a δ to have every part put inside a Gaussian region.",
    of_statements=False,
    epsilon=_epsilon,
    region=_region,
    because="Gaussian privacy composes without loss.",
    account=None,
)
