"""Statements about a mechanism: (epsilon, delta), total variation, Gaussian, Rényi and concentrated privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.core.notices import notice
from dpcore.core.numerals import nearest, numeral
from dpcore.core.registry import DELTA, EPSILON, ETA, MU, Oracle, Parameter, register, value_text
from dpcore.curves import polygon_algebra, renyi_divergence
from dpcore.curves.gaussian import GaussianCurve
from dpcore.curves.polygon import Polygon
from dpcore.curves.renyi import Concentrated, Renyi
from dpcore.regions.algebra import Additive, Factors
from dpcore.regions.tradeoff import Atom, TradeOff

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpcore.curves.base import Curve, FloatArray

_ROUNDING = 4e-16  # relative error of a square root; without it an attained pair could exceed its statement
NO_PRIVACY = Polygon([], [], [], 1.0, 1.0, symmetric=True, method="no privacy")


def three_point(epsilon: float, delta: float, middle_share: float) -> Polygon:
    """Return the pair with losses +-epsilon, a share `middle_share` of the finite mass at 0, and delta at infinity."""
    if math.isinf(epsilon):
        delta, epsilon, middle_share = 1.0 - (1.0 - delta) * middle_share, 0.0, 1.0
    finite = 1.0 - delta
    if finite <= 0:
        return NO_PRIVACY
    if epsilon == 0.0 or middle_share >= 1.0:
        return Polygon([0.0], [finite], [finite], delta, delta, symmetric=True)
    ratio = math.exp(-epsilon)
    high = finite * (1.0 - middle_share) / (1.0 + ratio)
    low = finite * (1.0 - middle_share) * ratio / (1.0 + ratio)
    if middle_share <= 0.0:
        return Polygon([-epsilon, epsilon], [high, low], [low, high], delta, delta, symmetric=True)
    middle = finite * middle_share
    return Polygon([-epsilon, 0.0, epsilon], [high, middle, low], [low, middle, high], delta, delta, symmetric=True)


def largest_eta(epsilon: float, delta: float) -> float:
    """Return the total variation of (epsilon, delta)-DP: delta + (1 - delta) tanh(epsilon / 2)."""
    return delta + (1.0 - delta) * math.tanh(epsilon / 2)


@register(
    "dp",
    title="(ε, δ)-differential privacy",
    group="guarantee",
    symbol=r"f_{\varepsilon,\delta}",
    formula=r"f(\alpha)=\max\{0,\,1-\delta-e^{\varepsilon}\alpha,\,e^{-\varepsilon}(1-\delta-\alpha)\}",
    meaning="The probability of any set of answers grows by a factor of at most e^ε, and by at most δ beyond that.",
    reference="Dwork, McSherry, Nissim, Smith 2006; Kairouz, Oh, Viswanath 2015",
    oracles=(Oracle((0.6, 0.05), "delta", 0.0, 0.05 + 0.95 * math.tanh(0.3), 1e-15, "δ + (1-δ) tanh(ε/2)"),),
)
@dataclass(frozen=True, eq=False, repr=False)
class DP(Atom):
    """(epsilon, delta)-differential privacy."""

    epsilon_: float = EPSILON.field()
    delta_: float = DELTA.field(0.0)
    grows_with: ClassVar[tuple[tuple[str, int], ...]] = (("epsilon_", 1), ("delta_", 1))

    def _pair(self) -> Curve:
        return three_point(self.epsilon_, self.delta_, 0.0)

    def renyi(self, order: float) -> float | None:
        """Return the Rényi divergence of this order; None (it is infinite) with delta > 0."""
        return renyi_divergence.randomized_response(self.epsilon_, order) if self.delta_ == 0 else None


@register(
    "tv",
    title="total variation",
    group="guarantee",
    symbol=r"f_{0,\eta}",
    formula=r"f(\alpha)=\max\{0,\,1-\eta-\alpha\}",
    meaning="No attacker gains more than η over blind guessing.",
    reference="Ghazi, Issa 2023",
    oracles=(Oracle((0.2,), "beta", 0.3, 0.5, 1e-15, "1 - η - α"),),
)
@dataclass(frozen=True, eq=False, repr=False)
class TV(Atom):
    """eta total variation, that is (0, eta)-DP."""

    eta: float = ETA.field()
    grows_with: ClassVar[tuple[tuple[str, int], ...]] = (("eta", 1),)

    def _pair(self) -> Curve:
        return three_point(0.0, self.eta, 1.0)


@register(
    "dptv",
    title="(ε, δ)-DP and η total variation",
    group="guarantee",
    symbol=r"f_{\varepsilon,\delta,\eta}",
    formula=r"f(\alpha)=\max\{f_{\varepsilon,\delta}(\alpha),\,1-\eta-\alpha\}",
    meaning="Both statements hold: the total variation cuts the corner of the DP region.",
    reference="Ghazi, Issa 2023, Section III",
    assumptions="δ ≤ η ≤ δ + (1-δ) tanh(ε/2); a larger η changes nothing.",
    oracles=(Oracle((0.6, 0.05, 0.15), "delta", 0.0, 0.15, 1e-15, "the total variation is η"),),
)
@dataclass(frozen=True, eq=False, repr=False)
class DPTV(Atom):
    """(epsilon, delta)-DP and eta total variation at once."""

    epsilon_: float = EPSILON.field()
    delta_: float = DELTA.field()
    eta: float = ETA.field()

    @classmethod
    def make(cls, epsilon: Any, delta: Any, eta: Any) -> TradeOff:
        """Return the region; eta above its largest value is clamped with a warning, below delta it means tv(eta)."""
        epsilon, delta, eta = EPSILON.check(epsilon), DELTA.check(delta), ETA.check(eta)
        if epsilon == 0.0 or eta < delta:
            return TV(min(delta, eta))
        if math.isinf(epsilon):
            return TV(eta)
        most = largest_eta(epsilon, delta)
        if eta > most:
            msg = (
                f"eta {numeral(eta)} is above the total variation of {DP(epsilon, delta)}, about {nearest(most)}: "
                "it changes nothing."
            )
            notice(msg, stacklevel=3)
            eta = most
        return cls(epsilon, delta, eta)

    @property
    def lost(self) -> float:
        """Share of the finite mass at loss 0: 1 - (eta - delta) / ((1 - delta) tanh(epsilon / 2))."""
        if self.delta_ >= 1.0:
            return 0.0
        most = largest_eta(self.epsilon_, self.delta_)
        return max(0.0, (most - self.eta) / ((1.0 - self.delta_) * math.tanh(self.epsilon_ / 2)))

    def _pair(self) -> Curve:
        return three_point(self.epsilon_, self.delta_, self.lost)


@register(
    "gdp",
    title="Gaussian differential privacy",
    group="guarantee",
    symbol=r"G_\mu",
    formula=r"G_\mu(\alpha)=\Phi(\Phi^{-1}(1-\alpha)-\mu)",
    meaning="At most as informative as one draw from N(0, 1) or N(μ, 1).",
    reference="Dong, Roth, Su 2022",
    oracles=(
        Oracle((1.0,), "delta", 1.0, 0.12693673750664397, 1e-12, "dp-accounting tests, high precision"),
        Oracle((1.0,), "beta", 0.1, 0.610856308354639, 1e-12, "dp-accounting tests: TPR 0.38914 at FPR 0.1"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class GDP(Atom):
    """mu-Gaussian differential privacy."""

    mu: float = MU.field()

    def _pair(self) -> Curve:
        return gaussian_curve(self.mu)

    def renyi(self, order: float) -> float | None:
        """Return order mu^2 / 2."""
        return renyi_divergence.gaussian(self.mu, order)


def gaussian_curve(mu: float) -> Curve:
    """Return G_mu, with its limits: perfect privacy at 0, none at infinity (in doubles mu = 80 looks the same)."""
    if mu == 0.0:
        return three_point(0.0, 0.0, 1.0)
    return NO_PRIVACY if math.isinf(mu) else GaussianCurve(mu)


ORDER = Parameter("order", low=1.0, high=1e9, low_open=True, label="a", meaning="Rényi order, above 1", example=2.0)
RENYI_EPSILON = EPSILON.but(infinite=False, high=1e5, least=1e-100, meaning="Rényi divergence of that order, in nats")
CONCENTRATED = RENYI_EPSILON.but(unit="", least=1e-12)  # over all orders, smaller divergences drown in rounding
RHO = CONCENTRATED.but(name="rho", label="ρ", meaning="rate of concentrated privacy; 0 is perfect", example=0.1)
XI = CONCENTRATED.but(name="xi", label="ξ", meaning="offset of concentrated privacy", example=0.0)


@register(
    "rdp",
    title="Rényi differential privacy",
    group="guarantee",
    symbol=r"\mathrm{RDP}_{a,\varepsilon}",
    formula=r"D_a(P_1\|P_0)\le\varepsilon,\quad D_a(P_0\|P_1)\le\varepsilon",
    meaning="The Rényi divergence of order a is at most ε, both ways.",
    reference="Mironov 2017; region: Balle, Barthe, Gaboardi, Hsu, Sato 2020",
    assumptions="The region is exact point by point; products add the ε at the smallest order first.",
    oracles=(Oracle((2.0, 0.5), "beta", 0.1, 0.658370294949, 1e-11, "theory, order 2 closed form"),),
)
@dataclass(frozen=True, eq=False, repr=False)
class RDP(Atom, Additive):
    """(order, epsilon)-Rényi differential privacy."""

    order: float = ORDER.field()
    epsilon_: float = RENYI_EPSILON.field()
    why_loose: ClassVar[str] = "no mechanism attains a whole Rényi region"

    def _pair(self) -> Curve:
        return three_point(0.0, 0.0, 1.0) if self.epsilon_ == 0 else Renyi(self.order, self.epsilon_)

    def renyi(self, order: float) -> float | None:
        """Return the bound, which also holds at every smaller order: divergences grow with the order."""
        return self.epsilon_ if order <= self.order else None

    def attained(self) -> Curve | None:
        """Return the Gaussian pair of this divergence, a mu^2 / 2."""
        return gaussian_curve(math.sqrt(2.0 * self.epsilon_ / self.order) * (1.0 - _ROUNDING))

    def joined(self, count: int, others: Factors) -> tuple[TradeOff, Factors]:
        """Add the epsilons at the smallest order of the Rényi statements; closed-form curves join at that order."""
        order = min([self.order, *(node.order for node, _ in others if isinstance(node, RDP))])
        total, rest = count * self.epsilon_, []
        for node, times in others:
            own = getattr(node, "renyi", lambda _: None)(order)
            if own is None or total + times * own > RENYI_EPSILON.high:  # no statement says so much; it stays a factor
                rest.append((node, times))
            else:
                total += times * own
        return RDP(order, total), rest


@register(
    "zcdp",
    title="concentrated differential privacy",
    group="guarantee",
    symbol=r"\mathrm{zCDP}_{\rho}",
    formula=r"D_a \le \xi+\rho a \quad\text{for every order } a>1",
    meaning="Every Rényi divergence is at most that of Gaussian noise with μ² = 2ρ.",
    reference="Bun, Steinke 2016",
    assumptions="Never tensor-composed: ρ and ξ add.",
    oracles=(Oracle((0.5,), "beta", 0.1, 0.51627171, 1e-7, "theory, maximum over orders"),),
)
@dataclass(frozen=True, eq=False, repr=False)
class ZCDP(Atom, Additive):
    """(xi, rho)-zero-concentrated differential privacy."""

    rho: float = RHO.field()
    xi: float = XI.field(0.0)
    why_loose: ClassVar[str] = "no mechanism attains a whole concentrated region"

    def _pair(self) -> Curve:
        # with rho = 0 every order is bounded by xi: pure (xi, 0)-DP
        return three_point(self.xi, 0.0, 0.0) if self.rho == 0 else Concentrated(self.rho, self.xi)

    def renyi(self, order: float) -> float | None:
        """Return xi + rho order."""
        return self.xi + self.rho * order

    def attained(self) -> Curve | None:
        """Return the Gaussian pair whose divergence of every order a is rho a; without rho that of pure xi-DP."""
        return self.pair if self.rho == 0 else gaussian_curve(math.sqrt(2.0 * self.rho) * (1.0 - _ROUNDING))

    def joined(self, count: int, others: Factors) -> tuple[TradeOff, Factors]:
        """Add rho and xi; Gaussian factors join exactly, and beside a Rényi statement its rule applies."""
        for index, (node, times) in enumerate(others):
            if isinstance(node, RDP):
                return node.joined(times, [(self, count), *others[:index], *others[index + 1 :]])
        rho, xi = count * self.rho, count * self.xi
        rest = []
        for node, times in others:
            mu = getattr(node, "gaussian_mu", None)
            if isinstance(node, ZCDP):
                rho, xi = rho + times * node.rho, xi + times * node.xi
            elif isinstance(node, GDP) or mu is not None:
                rho += times * (node.mu if isinstance(node, GDP) else float(mu or 0.0)) ** 2 / 2
            else:
                rest.append((node, times))
        return ZCDP(rho, xi), rest


RATE = Parameter("points", "points", low=0.0, high=1.0, meaning="pairs of rates in [0, 1]", example=((0.1, 0.6),))


@register(
    "points",
    title="given points",
    group="guarantee",
    symbol=r"f^{**}",
    formula=r"f = \text{convex lower envelope of } (\alpha_i,\beta_i),\ (0,1),\ (1,0)",
    meaning="The region of measured or given error rates, closed under randomising between them.",
    reference="Neyman, Pearson 1933",
    oracles=(Oracle((((0.1, 0.6),),), "delta", 0.0, 0.3, 1e-15, "1 - 0.1 - 0.6"),),
)
@dataclass(frozen=True, eq=False, repr=False)
class Points(Atom):
    """Convex lower envelope of given points."""

    points: tuple[tuple[float, float], ...] = RATE.field()

    def _pair(self) -> Curve:
        array = np.array(self.points)
        return polygon_algebra.from_points(array[:, 0], array[:, 1])


MASS = Parameter("p", "numbers", low=0.0, high=1.0, meaning="probabilities that add up to 1", example=(0.5, 0.5))


@register(
    "pmf",
    title="two finite distributions",
    group="guarantee",
    symbol=r"T(P_0,P_1)",
    formula=r"L_x=\log\frac{q_x}{p_x},\qquad \delta(\varepsilon)=\sum_x (q_x-e^{\varepsilon}p_x)_+",
    meaning="The attacker sees one draw from the first or the second distribution.",
    reference="Neyman, Pearson 1933",
    assumptions="One concrete pair: products keep its direction, the published region takes the worse one.",
    oracles=(
        Oracle(((0.5, 0.5), (0.6, 0.4)), "delta", 0.0, 0.1, 1e-15, "dp-accounting tests"),
        Oracle(((0.2, 0.2, 0.6, 0.0), (0.5, 0.4, 0.0, 0.1)), "delta", 0.0, 0.6, 1e-15, "dp-accounting tests"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class Pmf(Atom):
    """Two finite distributions, P0 first."""

    p: tuple[float, ...] = MASS.field()
    q: tuple[float, ...] = MASS.but(name="q").field()

    def __post_init__(self) -> None:
        """Check lengths and sums."""
        super().__post_init__()
        if len(self.p) != len(self.q):
            msg = f"p and q must have the same length, got {len(self.p)} and {len(self.q)}."
            raise DomainError(msg)
        for name, masses in (("p", self.p), ("q", self.q)):
            total = math.fsum(masses)
            if abs(total - 1.0) > 1e-9:
                msg = f"{name} must add up to 1, got {numeral(total)}."
                raise DomainError(msg)

    @property
    def oriented(self) -> str:
        """One concrete pair keeps its direction."""
        return "pair"

    def _pair(self) -> Curve:
        return pmf_polygon(np.array(self.p), np.array(self.q))

    def density(self, x: FloatArray, shift: float = 0.0) -> FloatArray:
        """Return the probability of the outcomes x = 0, 1, ...: of P0 at shift 0, of P1 at shift 1."""
        masses = self._masses(shift)
        at = np.asarray(x, dtype=np.float64)
        valid = (at >= 0) & (at < masses.size) & (at == np.floor(at))
        return np.asarray(np.where(valid, masses[np.where(valid, at, 0).astype(np.int64)], 0.0), dtype=np.float64)

    def sample(self, rng: Generator, size: int, shift: float = 0.0) -> NDArray[np.int64]:
        """Return draws of the outcome, integers from 0: of P0 at shift 0, of P1 at shift 1.

        For simulation, not for releasing data: floating-point noise is attackable.
        """
        masses = self._masses(shift)
        return rng.choice(masses.size, size, p=masses / masses.sum())

    def _masses(self, shift: float) -> FloatArray:
        if shift not in (0.0, 1.0):
            msg = f"shift must be 0 (the first distribution) or 1 (the second), got {value_text(shift)}."
            raise DomainError(msg)
        return np.array(self.q if shift else self.p)


def pmf_polygon(p: np.ndarray[Any, np.dtype[np.float64]], q: np.ndarray[Any, np.dtype[np.float64]]) -> Polygon:
    """Return the polygon of two mass vectors: sort by likelihood ratio, add equal ratios."""
    both = (p > 0) & (q > 0)
    loss = np.log(q[both]) - np.log(p[both])
    order = np.argsort(loss)
    merged = polygon_algebra.merge_equal(loss[order], p[both][order], q[both][order])
    return Polygon(*merged, p_inf=float(p[q == 0].sum()), q_inf=float(q[p == 0].sum()))
