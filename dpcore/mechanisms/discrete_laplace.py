"""Discrete Laplace mechanism: geometric noise by its scale, as libraries of samplers state it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dpcore.core.registry import SCALE, Oracle, register
from dpcore.mechanisms.base import Mechanism, check_noise
from dpcore.mechanisms.geometric import STEPS, Geometric, GeometricLaw

if TYPE_CHECKING:
    from dpcore.curves.base import Curve


@register(
    "discrete_laplace",
    title="discrete Laplace mechanism",
    group="mechanism",
    symbol=r"L_{\mathbb{Z},\Delta/b}",
    formula=r"P(N=n)\propto e^{-|n|/b},\quad n\in\mathbb{Z}",
    meaning="An integer answer plus discrete Laplace noise of scale b: geometric noise of ε = Δ/b.",
    assumptions="The query is an integer and moves by at most the sensitivity.",
    reference="Ghosh, Roughgarden, Sundararajan 2012; the name: Inusah, Kozubowski 2006",
    oracles=(
        Oracle((1.0,), "delta", 0.0, math.tanh(0.5), 1e-15, "geometric(1)"),
        Oracle((3.0, 3), "delta", 0.0, 0.401797, 1e-6, "geometric(1, 3)"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class DiscreteLaplace(Mechanism):
    """Two-sided geometric noise with ratio e^(-1 / scale)."""

    scale: float = SCALE.but(meaning="scale of the noise: each integer further out is e^(1/b) times as rare").field()
    sensitivity: int = STEPS.field(1)
    offered: ClassVar[bool] = False  # the geometric mechanism is

    @property
    def same(self) -> Geometric:
        """The geometric mechanism with the same noise."""
        return Geometric(self.sensitivity / self.scale, self.sensitivity)

    @property
    def table_size(self) -> int:
        """One loss for every step between the two answers."""
        return self.same.table_size

    def _pair(self) -> Curve:
        return self.same.pair

    @property
    def law(self) -> GeometricLaw:
        """Two-sided geometric noise."""
        return GeometricLaw(1.0 / check_noise(self.text, self.scale))

    @property
    def claimed_epsilon(self) -> float:
        """The sensitivity over the scale."""
        return self.sensitivity / self.scale
