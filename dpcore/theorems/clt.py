"""The central limit as a theorem about a list of releases: an approximation, never a promise."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpcore.central_limit import limit
from dpcore.central_limit.gaussians import epsilons_of, joined
from dpcore.core.numerals import nearest
from dpcore.regions.guarantees import DP
from dpcore.theorems.record import Promise, PromisedRegion, Theorem, TheoremOracle
from dpcore.theorems.releases import MOST_DIFFERENT
from dpcore.words import grouped, outward

if TYPE_CHECKING:
    from dpcore.theorems.releases import Releases


def _objection(releases: Releases, _delta: float) -> str:
    if releases.mus is not None:
        return "No approximation is needed: Gaussian (GDP) is exact."
    if len(releases.factors) > MOST_DIFFERENT:
        return f"It is not computed for more than {grouped(MOST_DIFFERENT)} different releases."
    return ""


def _epsilon(releases: Releases, delta: float) -> Promise:
    gaussian = limit(releases.region)  # moments are summed over the factors
    value = float(epsilons_of(np.array([gaussian.mu]), np.array([gaussian.lost]), delta, certified=False)[0])
    return Promise(value, "approximate", f"μ = {nearest(gaussian.mu)}; an approximation, not a promise")


def _region(releases: Releases, _delta: float, _slack: float) -> PromisedRegion:
    gaussian = limit(releases.region)
    gamma = gaussian.gamma(1)
    band = "how far off is not known" if math.isinf(gamma) else f"both rates are off by at most {outward(gamma, 3)}"
    return PromisedRegion(joined(gaussian.mu, gaussian.lost), "approximate", f"μ = {nearest(gaussian.mu)}; {band}")


THEOREM = Theorem(
    name="clt",
    title="The central limit",
    label="CLT, approximate",
    formula=r"\mu=\frac{2\sum_i m_i}{\sqrt{\sum_i v_i}},\quad m_i=E[L_i],\ v_i=\mathrm{Var}[L_i]",
    meaning="Many small losses are nearly Gaussian; the number may be below the truth.",
    reference="Dong, Roth, Su 2022, Theorem 3.4 and Corollary 3.6",
    kind="approximate",
    # mu = 20 m / sqrt(v) with m = 0.1 tanh(0.05), v = 0.01 - m^2, and the Gaussian curve, in high precision.
    oracles=(TheoremOracle(([(DP(0.1), 100)], 1e-5), 4.379290034978235, 1e-5, 1e-9),),
    objection=_objection,
    of_statements=False,
    epsilon=_epsilon,
    region=_region,
    account=None,
)
