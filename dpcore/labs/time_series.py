r"""What two noisy means of a vector autoregression say about its records: as printed, as programmed, corrected, exact.

The series is :math:`X^{(2)}=AX^{(1)}+B`, :math:`B\sim N(0,\Sigma)`; at either time the mean of n records is released
with normal noise of variance :math:`2(\Delta f/\varepsilon_t)^2\ln(1.26/\delta_t)`. Given what the attacker wants to learn
the releases are independent normals whose means move, so every scenario has one exact region: that of a Gaussian shift.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.core.domains import POSITIVE, PRIOR
from dpcore.core.errors import DomainError
from dpcore.core.lazy import Lazy
from dpcore.core.registry import unknown
from dpcore.planner.series.attacks import largest_move, user_attack
from dpcore.planner.series.model import FLAT, SeriesModel
from dpcore.regions.guarantees import GDP

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from dpcore.regions.tradeoff import TradeOff

    FloatArray = NDArray[np.float64]

ATTACKS: Final = {
    "A1": "record 1 at time 1",
    "A2": "record 1 at time 2",
    "A3": "all records at time 1",
    "A4": "record 1 at both times",
}
KNOWLEDGE: Final = {"N1": "the first release", "N2": "the second release", "N3": "both releases"}


def logarithm(delta: float, constant: float = 1.26) -> float:
    """Return ln(constant / delta); the source writes 1.26 in its text and 1.25 in its program."""
    return math.log(constant / delta)


def classical_leak(shift: float, noise: float, extra: float, delta: float) -> float:
    r"""Return the epsilon at which the classical Gaussian theorem covers a shift of the mean, at this delta.

    .. math:: \varepsilon'=\frac{s}{\sqrt{(\sigma^2+v)/(2\ln(1.26/\delta))}}

    Parameters
    ----------
    shift : float
        How far the mean moves between the two cases compared.
    noise : float
        Standard deviation of the noise that was added.
    extra : float
        Variance v that the series itself adds to the mean.

    Reference: Dwork, Roth (2014), Theorem 3.22, proved for epsilon below 1 only.
    """
    return shift * math.sqrt(2.0 * logarithm(delta) / (noise * noise + extra))


def code_first(rho: float, delta: float) -> float:
    r"""Return the curve the source's program draws as Figure 6.1: :math:`1/\sqrt{1+\frac{1+\rho}{4}\ln(1.25/\delta)}`.

    It multiplies by the logarithm where formula (6.6) divides, and has epsilon = 1 and sensitivity 1 written into it.
    """
    return 1.0 / math.sqrt(1.0 + (1.0 + rho) / 4.0 * logarithm(delta, 1.25))


def code_last(shift: float, variance: float, n: int, delta: float) -> float:
    r"""Return the curve the source's program draws as Figures 6.2 to 6.5: :math:`\Delta g/\sqrt{1+v/(2n\ln(1.25/\delta))}`.

    It takes the sensitivity of the mean as 1, although the text (and a comment beside it) say 1/2.
    """
    return shift / math.sqrt(1.0 + variance / (2.0 * n * logarithm(delta, 1.25)))


def printed_delta(first: tuple[float, float], second: tuple[float, float]) -> float:
    r"""Return the printed delta of both releases, :math:`e^{\varepsilon_1}\delta_2+e^{\varepsilon_2}\delta_1+\delta_1\delta_2`.

    It adds to densities what is promised of probabilities; basic composition needs only delta1 + delta2.
    """
    (one, delta_one), (two, delta_two) = first, second
    return math.exp(one) * delta_two + math.exp(two) * delta_one + delta_one * delta_two


def printed_dependence(epsilon_1: float, epsilon_2: float, factor: float) -> float:
    """Return the printed loss of releasing f(x) and f(ax) with pure noise: epsilon1 + epsilon2 / a (Lemma 6.3.1)."""
    return epsilon_1 + epsilon_2 / factor


def total_dependence(epsilon_1: float, epsilon_2: float, factor: float) -> float:
    """Return the true loss of releasing f(x) and f(ax), f linear, with pure noise: epsilon1 + a epsilon2.

    The second query moves by a times the sensitivity its noise was made for; the first and second loss attain their
    largest values together, so this is the smallest epsilon.
    """
    return epsilon_1 + factor * epsilon_2


@dataclass(frozen=True)
class Autoregression:
    """A vector autoregression with two noisy means released.

    Parameters
    ----------
    matrix : tuple of tuple of float
        A, rows of n numbers; entry (i, j) is what record j at time 1 gives record i at time 2.
    covariance : tuple of tuple of float
        Of the innovations B, symmetric and positive semidefinite.
    epsilon, delta : tuple of (float, float), optional
        The (epsilon_t, delta_t) either release was made for by the classical formula with 1.26.
    reach : float, default 1
        How far one record can move, R; the mean then moves by R / n.
    """

    matrix: tuple[tuple[float, ...], ...]
    covariance: tuple[tuple[float, ...], ...]
    epsilon: tuple[float, float] = (1.0, 1.0)
    delta: tuple[float, float] = (0.05, 0.05)
    reach: float = 1.0

    def __post_init__(self) -> None:
        """Check the series and its noise."""
        _ = self.series
        POSITIVE.but(name="epsilon").array(self.epsilon)
        PRIOR.but(name="delta").array(self.delta)

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.matrix)

    @property
    def query(self) -> float:
        """Sensitivity of the mean, R / n."""
        return self.reach / self.n

    def noise(self, time: int) -> float:
        """Return the standard deviation of the noise added at time 1 or 2."""
        return self.query / self.epsilon[time - 1] * math.sqrt(2.0 * logarithm(self.delta[time - 1]))

    @Lazy
    def columns(self) -> FloatArray:
        """Column sums of A: what each record at time 1 gives to the total at time 2."""
        return np.asarray(np.array(self.matrix).sum(axis=0), dtype=np.float64)

    @Lazy
    def innovation(self) -> float:
        """Sum of all entries of the covariance: the variance of the sum of the innovations."""
        return max(0.0, float(np.array(self.covariance).sum()))

    @Lazy
    def series(self) -> SeriesModel:
        """The series as the planner takes it."""
        return SeriesModel(self.matrix, self.covariance, self.reach)

    @property
    def invertible(self) -> bool:
        """Whether time 1 can be told from time 2 without a prior."""
        return self.series.invertible

    def backward(self, prior: float = math.inf) -> tuple[FloatArray, float]:
        r"""Return weights w and variance v of the total at time 1 given time 2: mean w'x + const, variance v.

        .. math:: w=K^T1,\quad v=1^T(\tau^2I-KA\tau^2)1,\qquad K=\tau^2A^T(\tau^2AA^T+\Sigma)^{-1}

        with the prior :math:`X^{(1)}\sim N(\cdot,\tau^2I)`. In the limit of a flat prior :math:`w=A^{-T}1`,
        :math:`v=w^T\Sigma w`: that is what the source uses, treating the innovation as independent of the later value.
        """
        gain, root = self.series.kernels(_prior(prior), 1)[0]
        return np.asarray(gain.sum(axis=0), dtype=np.float64), float(np.square(root.sum(axis=0)).sum())

    def move(self, attack: str, time: int, prior: float = math.inf) -> tuple[float, float]:
        """Return the largest shift of a release for an attack, and the variance the series adds to it.

        For A3 both releases attain theirs together if the column sums of A have one sign; `mu` knows the exact maximum.
        """
        if attack not in ATTACKS:
            raise DomainError(unknown("attack", attack, list(ATTACKS)))
        if attack == "A2" and time == 1:
            weights, variance = self.backward(prior)
            return abs(float(weights[0])) * self.query, variance / self.n**2
        if attack in {"A1", "A3"} and time == 2:
            columns = np.abs(self.columns[:1] if attack == "A1" else self.columns)
            return float(columns.sum()) * self.query, self.innovation / self.n**2
        return self.reach if attack == "A3" else self.query, 0.0

    def mu(self, attack: str, knowledge: str, prior: float = math.inf) -> float:
        r"""Return the exact Gaussian shift :math:`\mu=\sqrt{\sum_t s_t^2/(\sigma_t^2+v_t)}` over the releases known.

        For A3 with both releases: the largest over all moves of the n records within the range.
        """
        if attack not in ATTACKS:
            raise DomainError(unknown("attack", attack, list(ATTACKS)))
        noise, known = np.array([self.noise(1), self.noise(2)]), _times(knowledge)
        if attack == "A4":
            return user_attack(self.series, noise, known).mu
        states = self.series.information(noise, known, _prior(prior))
        information = next(itertools.islice(states, int(attack == "A2"), None))
        length = largest_move(information)[0] if attack == "A3" else math.sqrt(max(0.0, float(information[0, 0])))
        return self.reach * length

    def region(self, attack: str, knowledge: str, prior: float = math.inf) -> TradeOff:
        """Return the exact region of a scenario."""
        return GDP(self.mu(attack, knowledge, prior))

    def corrected(self, attack: str, knowledge: str, prior: float = math.inf) -> tuple[float, float]:
        """Return (epsilon, delta) by the source's own route with its slips repaired.

        The classical theorem for each release with variance over n squared, then basic composition.
        """
        parts = []
        for time in _times(knowledge):
            shift, extra = self.move(attack, time, prior)
            parts.append(classical_leak(shift, self.noise(time), extra, self.delta[time - 1]))
        return math.fsum(parts), math.fsum(self.delta[time - 1] for time in _times(knowledge))

    def printed_first(self, column: int = 0) -> float:
        """Return epsilon2' of (6.6) as printed, for one column of A: the variance is divided by n, not n squared."""
        shift = abs(float(self.columns[column])) * self.query
        return classical_leak(shift, self.noise(2), self.innovation / self.n, self.delta[1])

    def printed_last(self) -> float:
        """Return epsilon1' of Theorem 6.3.6 as printed."""
        weights, variance = self.backward()
        return classical_leak(abs(float(weights[0])) * self.query, self.noise(1), variance / self.n, self.delta[0])

    def printed(self, attack: str, knowledge: str) -> tuple[float, float] | None:
        """Return (epsilon, delta) as printed for a scenario, or None where the source says nothing."""
        (one, two), (d_one, d_two) = self.epsilon, self.delta
        both = printed_delta((one, d_one), (two, d_two))
        theorems: dict[str, Callable[[], tuple[float, float]]] = {
            "A1N1": lambda: (one, d_one),
            "A1N2": lambda: (self.printed_first(), d_two),
            "A1N3": lambda: (one + self.printed_first(), both),
            "A2N1": lambda: (self.printed_last(), d_one),
            "A2N2": lambda: (two, d_two),
            "A3N3": lambda: (one + math.fsum(self.printed_first(i) for i in range(self.n)), both),
            "A4N3": lambda: (one + two, both),
        }
        theorem = theorems.get(attack + knowledge)
        return None if theorem is None else theorem()


def _prior(variance: float) -> str | float:
    """Return a variance as the planner names it: infinity is a flat prior."""
    return FLAT if math.isinf(variance) else variance


def _times(knowledge: str) -> tuple[int, ...]:
    """Return the releases an attacker sees."""
    if knowledge not in KNOWLEDGE:
        raise DomainError(unknown("knowledge", knowledge, list(KNOWLEDGE)))
    return {"N1": (1,), "N2": (2,), "N3": (1, 2)}[knowledge]


def pair(
    matrix: Sequence[Sequence[float]],
    rho: float,
    *,
    epsilon: tuple[float, float] = (1.0, 1.0),
    delta: tuple[float, float] = (0.05, 0.05),
    reach: float = 1.0,
) -> Autoregression:
    """Return the two-record series of the source's figures: innovations of variance 1 and correlation rho."""
    rows = tuple(tuple(float(value) for value in row) for row in matrix)
    return Autoregression(rows, ((1.0, rho), (rho, 1.0)), epsilon, delta, reach)


def many(n: int, own: float, *, epsilon: float = 1.0, delta: float = 0.05, reach: float = 1.0) -> Autoregression:
    """Return n records that each follow their own past with the factor `own` and independent innovations."""
    one = np.eye(n)
    return Autoregression(
        tuple(map(tuple, (own * one).tolist())), tuple(map(tuple, one.tolist())), (epsilon,) * 2, (delta,) * 2, reach
    )
