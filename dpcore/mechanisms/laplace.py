"""Laplace mechanism: the answer plus two-sided exponential noise; also on vectors and histograms."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.core.registry import EPSILON, SCALE, SENSITIVITY, Oracle, Parameter, register
from dpcore.curves import renyi_divergence
from dpcore.curves.composition import compose
from dpcore.curves.laplace import LaplaceCurve
from dpcore.mechanisms.base import Claim, Mechanism, Offer, check_noise
from dpcore.mechanisms.coordinates import Coordinates
from dpcore.mechanisms.law import Law
from dpcore.regions.guarantees import NO_PRIVACY, three_point
from dpcore.words import best_advantage, outward

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.curves.base import Curve, FloatArray


def laplace_curve(epsilon: float) -> Curve:
    """Return the curve of one Laplace answer with its limits: perfect privacy at 0, none at infinity."""
    if epsilon == 0.0:
        return three_point(0.0, 0.0, 1.0)
    return NO_PRIVACY if math.isinf(epsilon) else LaplaceCurve(epsilon)


@register(
    "laplace",
    title="Laplace mechanism",
    group="mechanism",
    symbol=r"L_\varepsilon",
    formula=(
        r"L(\alpha)=\begin{cases}1-e^{\varepsilon}\alpha & \alpha<e^{-\varepsilon}/2\\"
        r"e^{-\varepsilon}/(4\alpha) & e^{-\varepsilon}/2\le\alpha\le 1/2\\ e^{-\varepsilon}(1-\alpha) & \alpha>1/2\end{cases}"
    ),
    meaning="The answer plus Laplace noise of scale sensitivity / ε.",
    assumptions="The query moves by at most the sensitivity in l1 norm.",
    reference="Dwork, McSherry, Nissim, Smith 2006; trade-off: Dong, Roth, Su 2022",
    oracles=(
        Oracle((1.0,), "delta", 0.0, 1 - math.exp(-0.5), 1e-15, "1 - e^(-ε/2)"),
        Oracle((1.0,), "beta", 0.25, math.exp(-1.0), 1e-15, "e^-ε / (4 α)"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class Laplace(Mechanism):
    """Laplace noise; epsilon is sensitivity over scale."""

    epsilon_: float = EPSILON.field()
    grows_with: ClassVar[tuple[tuple[str, int], ...]] = (("epsilon_", 1),)
    also_accepts: ClassVar[tuple[Parameter, ...]] = (SCALE, SENSITIVITY.but(default=1.0))

    @classmethod
    def make(cls, *args: Any, **kwargs: Any) -> Laplace:
        """Return laplace(epsilon), or laplace(scale=, sensitivity=1)."""
        if "scale" not in kwargs:
            if "sensitivity" in kwargs:
                msg = "laplace takes epsilon, or scale with an optional sensitivity; sensitivity came without scale."
                raise DomainError(msg)
            if not args and "epsilon" not in kwargs:
                msg = f"laplace needs epsilon: {EPSILON.domain}."
                raise DomainError(msg)
            return cls(args[0] if args else kwargs["epsilon"])
        if args or "epsilon" in kwargs:
            msg = "laplace takes epsilon or scale, not both."
            raise DomainError(msg)
        scale = SCALE.check(kwargs["scale"])
        return cls(SENSITIVITY.check(kwargs.get("sensitivity", 1.0)) / scale)

    def _pair(self) -> Curve:
        return laplace_curve(self.epsilon_)

    def renyi(self, order: float) -> float | None:
        """Return the Rényi divergence of this order in closed form."""
        return None if math.isinf(self.epsilon_) else renyi_divergence.laplace(self.epsilon_, order)

    @property
    def law(self) -> LaplaceLaw:
        """Laplace noise of scale 1 / epsilon, in units of the sensitivity."""
        return LaplaceLaw(check_noise(self.text, _width(self.epsilon_)), self.epsilon_)

    def law_at(self, sensitivity: float) -> LaplaceLaw:
        """Return Laplace noise of scale sensitivity / epsilon."""
        return LaplaceLaw(check_noise(self.text, sensitivity / self.epsilon_ if self.epsilon_ else math.inf))

    @property
    def claimed_epsilon(self) -> float:
        """Epsilon itself."""
        return self.epsilon_

    @classmethod
    def offer(cls) -> Offer:
        """Return its entry in a list of noises."""
        return Offer("Laplace noise", "Laplace", 1, "ε")


class LaplaceLaw(Law):
    """The law with density e^(-|x|/b) / (2b)."""

    log_concave = True

    def __init__(self, scale: float, rate: float | None = None) -> None:
        self.scale = scale
        self._rate = 1.0 / scale if rate is None else rate  # a rate that is known keeps all its digits

    def density(self, x: FloatArray) -> FloatArray:
        """Return e^(-|x|/b) / (2b)."""
        return np.asarray(np.exp(-np.abs(np.asarray(x)) / self.scale) / (2 * self.scale), dtype=np.float64)

    def above(self, x: FloatArray) -> FloatArray:
        """Return half the exponential tail on the side of x."""
        t = self._rate * np.asarray(x, dtype=np.float64)
        tail = 0.5 * np.exp(-np.abs(t))
        return np.where(t >= 0, tail, 1.0 - tail)

    @property
    def absolute_deviation(self) -> float:
        """The scale."""
        return self.scale

    @property
    def variance(self) -> float:
        """2 b^2."""
        return 2.0 * self.scale**2

    def reach(self, miss: float) -> float:
        """Return -b log(miss), rounded up."""
        return math.nextafter(-self.scale * math.log(miss), math.inf)

    def sample(self, rng: Generator, size: int) -> FloatArray:
        """Return draws of the noise.

        For simulation, not for releasing data: floating-point noise is attackable.
        """
        return rng.laplace(0.0, self.scale, size)


def _width(epsilon: float) -> float:
    """Return 1 / epsilon, inf at 0."""
    return 1.0 / epsilon if epsilon else math.inf


class LaplaceCoordinates(Coordinates):
    """Laplace noise of one scale on several coordinates."""

    @property
    def width(self) -> float:
        """The scale of the noise of each coordinate."""
        raise NotImplementedError

    @property
    def law(self) -> LaplaceLaw:
        """Law of the noise of one coordinate."""
        return LaplaceLaw(check_noise(self.text, self.width))

    def loss(self, answer: FloatArray, shift: float) -> FloatArray:
        """Return the difference of the distances from the two true answers, over the scale."""
        return np.asarray((np.abs(answer) - np.abs(answer - shift)) / self.width, dtype=np.float64)


SHIFTS = Parameter(
    "shifts",
    "numbers",
    low=0.0,
    high=1e50,
    least=1e-50,
    label="shifts",
    meaning="how far each coordinate moves",
    example=(1.0, 1.0),
)


@register(
    "laplace_vector",
    title="Laplace noise on a vector",
    group="mechanism",
    symbol=r"\bigotimes_i L_{s_i/b}",
    formula=r"\bigotimes_i L_{s_i/b}",
    meaning="Every coordinate gets Laplace noise of scale b; coordinate i moves by the given shift.",
    assumptions="Exactly the given shifts; each coordinate has its own independent noise.",
    reference="tensor product of Laplace trade-offs, Dong, Roth, Su 2022",
    oracles=(Oracle((2.0, (1.0, 1.0)), "delta", 0.0, 0.24183668, 1e-8, "theory: Lap(e/2) twice, e = 1"),),
)
@dataclass(frozen=True, eq=False, repr=False)
class LaplaceVector(LaplaceCoordinates):
    """Laplace noise of one scale on a vector that moves by the shifts."""

    scale: float = SCALE.field()
    shifts: tuple[float, ...] = SHIFTS.field()

    def _pair(self) -> Curve:
        counts = Counter(shift / self.scale for shift in self.shifts)
        return compose([(laplace_curve(epsilon), count) for epsilon, count in counts.items()])

    @property
    def width(self) -> float:
        """The scale."""
        return self.scale

    @property
    def moves(self) -> tuple[float, ...]:
        """The shifts."""
        return self.shifts

    @property
    def claimed_epsilon(self) -> float:
        """The sum of the shifts over the scale."""
        return math.fsum(shift / self.scale for shift in self.shifts)


@register(
    "histogram",
    title="histogram with Laplace noise",
    group="mechanism",
    symbol=r"L_{\varepsilon/2}\otimes L_{\varepsilon/2}",
    formula=r"L_{\varepsilon/2}\otimes L_{\varepsilon/2}",
    meaning="Counts of a histogram with noise of scale 2/ε: a replaced record moves two cells by one.",
    reference="Dwork, McSherry, Nissim, Smith 2006; exact region: two Laplace coordinates",
    neighbours="substitution",
    oracles=(Oracle((1.0,), "delta", 0.0, 0.24183668, 1e-8, "theory, two-dimensional quadrature"),),
)
@dataclass(frozen=True, eq=False, repr=False)
class Histogram(LaplaceCoordinates):
    """Two cells move by one each, noise of scale 2 / epsilon."""

    epsilon_: float = EPSILON.field()

    def _pair(self) -> Curve:
        return compose([(laplace_curve(self.epsilon_ / 2), 2)])

    @property
    def width(self) -> float:
        """Scale 2 / epsilon."""
        return _width(self.epsilon_ / 2)

    @property
    def moves(self) -> tuple[float, float]:
        """Two cells, 1 each."""
        return 1.0, 1.0

    @property
    def one_of_many(self) -> str:
        """The other cell."""
        return "The picture shows one of the two cells that move; the best attacker uses both."

    def claim(self) -> Claim:
        """Return the region of one Laplace answer, often used for a histogram."""
        region = Laplace(self.epsilon_)
        if self.epsilon_ == 0 or math.isinf(self.epsilon_):
            return Claim(region, True, "At this ε both regions are the same.")
        advantage, what = best_advantage(self)
        words = (
            f"The region of one Laplace answer, often used for a histogram, holds but is too large: its advantage is "
            f"{outward(region.total_variation, 4)}, the true one {outward(advantage, 4)} (rounded up, {what}). Two cells move, each hidden by noise twice as wide."
        )
        return Claim(region, True, words)
