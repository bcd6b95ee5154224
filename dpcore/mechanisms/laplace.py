"""Laplace mechanism: the answer plus two-sided exponential noise; also on vectors and histograms."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dpcore import renyi_curves
from dpcore.compose import compose
from dpcore.curves.laplace import Laplace as LaplaceCurve
from dpcore.errors import DomainError
from dpcore.guarantees import NO_PRIVACY, three_point
from dpcore.mechanisms.base import Mechanism, check_noise
from dpcore.registry import EPSILON, SCALE, SENSITIVITY, Oracle, Parameter, register

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.curves.base import Curve, FloatArray


def laplace_curve(epsilon: float) -> Curve:
    """Return the curve of one Laplace answer with its limits: perfect at 0, no privacy at infinity."""
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
        """Return the Rényi divergence of the given order, closed form."""
        return None if math.isinf(self.epsilon_) else renyi_curves.laplace(self.epsilon_, order)

    def density(self, x: FloatArray, shift: float = 0.0) -> FloatArray:
        """Return eps/2 exp(-eps |x - shift|), in units of the sensitivity."""
        return _density(self.text, _width(self.epsilon_), x, shift)

    def survival(self, x: FloatArray, shift: float = 0.0) -> FloatArray:
        """Return half the exponential tail on the side of x."""
        t = self.epsilon_ * (np.asarray(x, dtype=np.float64) - shift)
        tail = 0.5 * np.exp(-np.abs(t))
        return np.where(t >= 0, tail, 1.0 - tail)

    def sample(self, rng: Generator, size: int) -> FloatArray:
        """Return draws of the noise in units of the sensitivity.

        For simulation, not for releasing data: floating-point noise is attackable.
        """
        return _draws(self.text, _width(self.epsilon_), rng, size)


def _width(epsilon: float) -> float:
    """Return 1 / epsilon, inf at 0."""
    return 1.0 / epsilon if epsilon else math.inf


def _density(text: str, scale: float, x: FloatArray, shift: float) -> FloatArray:
    check_noise(text, scale)
    return np.asarray(np.exp(-np.abs(np.asarray(x) - shift) / scale) / (2 * scale), dtype=np.float64)


def _draws(text: str, scale: float, rng: Generator, size: int) -> FloatArray:
    check_noise(text, scale)
    return rng.laplace(0.0, scale, size)


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
class LaplaceVector(Mechanism):
    """Laplace noise of one scale on a vector that moves by the shifts."""

    scale: float = SCALE.field()
    shifts: tuple[float, ...] = SHIFTS.field()

    def _pair(self) -> Curve:
        each = Counter(shift / self.scale for shift in self.shifts)
        return compose([(laplace_curve(epsilon), count) for epsilon, count in each.items()])

    def density(self, x: FloatArray, shift: float = 0.0) -> FloatArray:
        """Return the density of one noisy coordinate; every coordinate has its own noise of this scale."""
        return _density(self.text, self.scale, x, shift)

    def sample(self, rng: Generator, size: int) -> FloatArray:
        """Return draws of one coordinate's noise.

        For simulation, not for releasing data: floating-point noise is attackable.
        """
        return _draws(self.text, self.scale, rng, size)


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
class Histogram(Mechanism):
    """Two cells move by one each, noise of scale 2 / epsilon."""

    epsilon_: float = EPSILON.field()

    def _pair(self) -> Curve:
        return compose([(laplace_curve(self.epsilon_ / 2), 2)])

    def density(self, x: FloatArray, shift: float = 0.0) -> FloatArray:
        """Return the density of one noisy count; every cell has its own noise."""
        return _density(self.text, _width(self.epsilon_ / 2), x, shift)

    def sample(self, rng: Generator, size: int) -> FloatArray:
        """Return draws of one cell's noise.

        For simulation, not for releasing data: floating-point noise is attackable.
        """
        return _draws(self.text, _width(self.epsilon_ / 2), rng, size)
