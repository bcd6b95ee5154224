r"""Cut queries by the Johnson-Lindenstrauss mechanism: how many edges cross a cut of a graph with n vertices.

The weights w_ij in [0, 1] of the graph become w/n + (1 - w/n) w_ij; r independent normal combinations of its edges are
released. For a set S of s vertices they give

.. math:: \frac{V X - w s (n-s)/n}{1-w/n}, \qquad V = \frac wn s(n-s) + \Big(1-\frac wn\Big) cut,\quad X=\chi^2_r/r ,

so that the error is V (X - 1) / (1 - w/n), and everything about it is known exactly: it depends on the graph through the
size of the cut only. With r >= 8 log(2/nu)/eta^2 rows P(|X - 1| > eta) <= nu for eta < 1.

Privacy (one weight changes by at most 1). A row is a centred normal vector whose covariance, the Laplacian, changes by
(1 - w/n)(e_i - e_j)(e_i - e_j)^T. After whitening this is N(0, 1) against N(0, 1 + c) with c = (1 - w/n) R_ij <= 2 (1 -
w/n)/w, R_ij the effective resistance, and equality for the graph without edges. So the exact region of the release is that
of r such rows, see `spread`. How w is chosen:

- ``basic``: rows of (eps_0, delta/(2r))-DP with eps_0 = eps/sqrt(4 r log(2/delta)), for eps < 1 (Dwork, Rothblum, Vadhan);
- ``optimal``: eps_0 = eps/sqrt(4 r log(e + 2 eps/delta)), by the optimal composition theorem; both take
  w = (4/eps_0) log(4r/delta), which makes a row (eps_0, delta/(2r))-DP (Blocki, Blum, Datta, Sheffet);
- ``exact``: the least w whose exact region keeps (eps, delta).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.special import gammainc, gammaincc, gammaln

from dpcore.core.domains import PRIOR
from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest
from dpcore.core.registry import PROBABILITY, Choice, Parameter
from dpcore.regions.custom import CustomRegion
from dpcore.utility.additive import SMALL_DELTA, parameter_words, scalar_measures, within_words
from dpcore.utility.base import MAIN_EPSILON, MISS, Fact, UtilityMeasure, UtilityPair, enter
from dpcore.utility.noise import least_reach
from dpcore.utility.spread import Spread, spread_delta
from dpcore.words import grouped, outward

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpcore.regions.tradeoff import TradeOff
    from dpcore.utility.dataset import Dataset

BASIC, OPTIMAL, EXACT = "basic", "optimal", "exact"
COMPOSITION: Final = Choice(
    "composition",
    "text",
    label="composition",
    meaning="how the weight w is chosen: advanced composition, optimal composition, or the exact region of the rows",
    choices=(BASIC, OPTIMAL, EXACT),
)
VERTICES: Final = Parameter("vertices", "integer", low=4, high=10**12, label="n", meaning="vertices of the graph")
SIDE: Final = Parameter("side", "integer", low=1, high=10**12, label="s", meaning="vertices on the smaller side")
ETA_ERROR: Final = Parameter(
    "eta",
    low=0.01,
    high=1.0,
    high_open=True,
    label="η",
    meaning="relative error allowed for the projection",
    example=0.2,
)


def rows_for(eta: float, miss: float) -> int:
    """Return r = 8 log(2/nu)/eta^2, rounded up."""
    return math.ceil(8.0 * math.log(2.0 / miss) / eta**2)


@lru_cache(maxsize=1024)
def weight_for(epsilon: float, delta: float, rows: int, vertices: int, composition: str) -> float:
    """Return the weight w of the complete graph that is mixed in; it must stay below n."""
    if composition == EXACT:
        return _exact_weight(epsilon, delta, rows, vertices)
    if composition == BASIC:
        PRIOR.but(name=f"epsilon of {BASIC} composition").check(epsilon)
    inside = 2.0 / delta if composition == BASIC else math.e + 2.0 * epsilon / delta
    w = 4.0 * math.sqrt(4.0 * rows * math.log(inside)) * math.log(4.0 * rows / delta) / epsilon
    if w >= vertices:
        msg = (
            f"vertices must exceed the weight w = {nearest(w)} that epsilon = {nearest(epsilon)} needs under {composition} "
            f"composition, got {vertices}."
        )
        raise DomainError(msg)
    return w


def excess(w: float, vertices: int) -> float:
    """Return c = 2 (1 - w/n)/w, the largest relative change of a row's variance."""
    return 2.0 * (1.0 - w / vertices) / w


def _exact_weight(epsilon: float, delta: float, rows: int, vertices: int) -> float:
    low, high = 1e-9, float(vertices) * (1.0 - 1e-12)
    for _ in range(200):
        middle = math.sqrt(low * high)
        if high - low <= 1e-12 * high:
            break
        safe = spread_delta(rows, excess(middle, vertices), epsilon) <= delta
        low, high = (low, middle) if safe else (middle, high)
    return high


@enter
@dataclass(frozen=True)
class CutsJohnsonLindenstrauss(UtilityPair):
    """The size of one cut from a private sketch of a graph."""

    name = "cuts_johnson_lindenstrauss"
    title = "cut of a graph by the Johnson-Lindenstrauss mechanism"
    query = "cut"
    mechanism = "Johnson-Lindenstrauss"
    formula = r"\tilde L=\tfrac1r E^\top N^\top N E,\quad w_{ij}\mapsto \tfrac wn+(1-\tfrac wn)w_{ij}"
    assumptions = (
        "Weights in [0, 1]; neighbouring graphs differ by at most 1 in one weight; the cut is fixed beforehand."
    )
    reference = "Blocki, Blum, Datta, Sheffet 2012; Kairouz, Oh, Viswanath 2015, Appendix D"
    measure = "quantile"
    span = (0.05, 0.95)
    uses_data = False

    epsilon: float = MAIN_EPSILON.field(0.5)
    delta: float = SMALL_DELTA.field(1e-6)
    composition: str = COMPOSITION.field(OPTIMAL)
    eta: float = ETA_ERROR.field(0.2)
    vertices: int = VERTICES.field(10**6)
    side: int = SIDE.field(1000)
    joined: float = PROBABILITY.field(
        0.1, name="joined", label="joined", meaning="share of the pairs across that are edges"
    )
    probability: float = MISS.field(0.05)

    def __post_init__(self) -> None:
        """Check the fields, and that the side is the smaller one."""
        super().__post_init__()
        if 2 * self.side > self.vertices:
            msg = f"side must be at most half of the {self.vertices} vertices, got {self.side}."
            raise DomainError(msg)

    @property
    def rows(self) -> int:
        """How many rows are released."""
        return rows_for(self.eta, self.probability)

    @property
    def weight(self) -> float:
        """The weight w of the complete graph that is mixed in."""
        return weight_for(self.epsilon, self.delta, self.rows, self.vertices, self.composition)

    @property
    def own_share(self) -> float:
        """The share 1 - w/n that is left of the graph's own weights."""
        return 1.0 - self.weight / self.vertices

    @property
    def pairs(self) -> float:
        """How many pairs of vertices lie across the cut."""
        return float(self.side) * float(self.vertices - self.side)

    @property
    def cut(self) -> float:
        """The true size of the cut."""
        return float(round(self.joined * self.pairs))

    @property
    def reach(self) -> float:
        """V / (1 - w/n): the error is this times X - 1."""
        return self.cut + self.weight * self.pairs / (self.vertices * self.own_share)

    @property
    def region(self) -> TradeOff:
        """The exact region of all rows, whatever was claimed."""
        label = f"{self.rows} rows of a Johnson-Lindenstrauss sketch, w = {nearest(self.weight)}"
        return CustomRegion(Spread(self.rows, excess(self.weight, self.vertices)), label)

    @property
    def measures(self) -> tuple[UtilityMeasure, ...]:
        """Quantile of the error, mean absolute and mean squared error."""
        return scalar_measures("edges", self.probability)

    def answer(self, data: Dataset) -> NDArray[np.float64]:  # noqa: ARG002  the parameters say all
        """Return the true size of the cut."""
        return np.array(self.cut)

    def labels(self, data: Dataset) -> tuple[str, ...]:  # noqa: ARG002  one number
        """Return the name of the answer."""
        return ("edges across the cut",)

    def release(self, data: Dataset, rng: Generator, count: int) -> NDArray[np.float64]:  # noqa: ARG002  see above
        """Return the estimates of the cut: their exact law, without building the graph."""
        return np.asarray(self.cut + self.reach * (rng.chisquare(self.rows, count) / self.rows - 1.0), dtype=np.float64)

    def errors(self, data: Dataset, releases: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:  # noqa: ARG002
        """Return absolute and squared errors."""
        off = np.abs(releases - self.cut)
        return {"quantile": off, "l1": off, "mse": off * off}

    def closed_forms(self, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:  # noqa: ARG002  see above
        """Return the exact law of the error, and the bounds of the Johnson-Lindenstrauss lemma."""
        r, w, n_all, a = self.rows, self.weight, self.vertices, 0.5 * self.rows
        mean_off = 2.0 * math.exp(a * math.log(a) - a - float(gammaln(a))) / a  # E|G - a|/a, G a Gamma(a) variable
        lemma = self.eta * self.reach
        facts = [
            Fact("quantile", self.reach * relative_quantile(r, self.probability), "exact", "law of chi-square / r"),
            Fact("quantile", lemma, "upper", "Johnson-Lindenstrauss lemma: η cut + η w s (n-s)/(n-w)"),
            Fact("l1", self.reach * mean_off, "exact", "mean absolute deviation of chi-square / r"),
            Fact("mse", self.reach**2 * 2.0 / r, "exact", "variance 2/r of chi-square / r"),
        ]
        if n_all - self.side <= 2.0 * (n_all - w):
            printed = self.eta * (self.cut + 2.0 * self.side * w)
            facts.append(Fact("quantile", printed, "upper", "as printed: η cut + 2 s η w, where n - s ≤ 2 (n - w)"))
        return tuple(facts)

    def sentence(self, data: Dataset) -> str:  # noqa: ARG002  the parameters say all
        """Say how far the estimate of the cut is off."""
        far = self.reach * relative_quantile(self.rows, self.probability)
        return (
            f"{parameter_words(self)} a cut of {grouped(int(self.cut))} edges is off by at most {outward(far, 3)} edges in "
            f"{within_words(self.probability)} (exact, rounded up); w is {outward(self.weight, 3)} with {self.rows} "
            f"rows ({self.composition} composition)."
        )


def relative_quantile(rows: int, miss: float) -> float:
    """Return the smallest u with P(|chi-square_r / r - 1| > u) <= miss, rounded up."""
    a = 0.5 * rows

    def missed(u: float) -> float:
        return float(gammaincc(a, a * (1.0 + u)) + gammainc(a, a * max(0.0, 1.0 - u)))

    low, high = 0.0, 1.0
    while missed(high) > miss:  # doubles; nothing is missed at infinity
        low, high = high, 2.0 * high
    return least_reach(missed, miss, low, high)
