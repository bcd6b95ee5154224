"""Regions of mechanisms that see a random sample of the records: a sample of fixed size, and Poisson sampling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpcore.core.errors import RelationError
from dpcore.core.registry import PROBABILITY, REGION, Oracle, register
from dpcore.curves import polygon_algebra
from dpcore.curves.bound import floors, lifted
from dpcore.curves.polygon import Polygon
from dpcore.curves.subsampled import Subsampled, closed_sample, subsampled
from dpcore.regions.algebra import Loose
from dpcore.regions.tradeoff import Atom, TradeOff, shorten

if TYPE_CHECKING:
    from dpcore.curves.base import Curve

_SMALLEST_SHARE = 1e-300  # of a sample of a sample; below, the product of the shares is soon no double


@register(
    "subsample",
    title="fixed-size subsampling",
    group="operation",
    symbol=r"C_p(f)",
    formula=r"C_p(f) = \min(f_p, f_p^{-1})^{**},\quad f_p = p f + (1-p)(1-\alpha)",
    meaning="Only a random fraction p = m/n of the records is used.",
    reference="Dong, Roth, Su 2022, Theorem 4.2",
    neighbours="substitution",
    assumptions="The sample has a fixed size m of n records and is drawn without replacement.",
    oracles=(Oracle(("dp(1)", 0.3), "delta", 0.0, 0.3 * np.tanh(0.5), 1e-14, "p times the total variation"),),
)
@dataclass(frozen=True, eq=False, repr=False)
class Subsample(Atom, Loose):
    """Fixed-size subsampling without replacement."""

    region: TradeOff = REGION.field()
    p: float = PROBABILITY.field(low_open=True, least=1e-300, meaning="fraction m/n of the records that is used")
    why_loose: ClassVar[str] = "closed regions composed"

    @property
    def neighbours(self) -> str:
        """Substitution; another relation of the part is an error."""
        if self.region.neighbours == "add/remove":
            msg = (
                f"subsample is about substitution neighbours, {shorten(self.region.text)} about add/remove neighbours."
            )
            raise RelationError(msg)
        return "substitution"

    def _one_way(self, curve: Curve) -> Curve:
        if self.p == 1.0:
            return curve
        return polygon_algebra.mixed_in(curve, self.p) if isinstance(curve, Polygon) else subsampled(curve, self.p)

    def _pair(self) -> Curve:
        _ = self.neighbours  # raises when the part disagrees
        return lifted(self._sampled, [self.region.curve])

    def _sampled(self, curves: list[Curve]) -> Curve:
        one_way = self._one_way(curves[0])
        if isinstance(one_way, Polygon):
            return polygon_algebra.closure(one_way)
        return closed_sample(one_way, "subsampling")

    def attained(self) -> Curve | None:
        """Return one direction, which a mechanism attains in every step."""
        return self._one_way(floors(self.region.curve)[-1])


@register(
    "poisson",
    title="Poisson subsampling",
    group="operation",
    symbol=r"f_q",
    formula=r"f_q = q f + (1-q)(1-\alpha),\quad P_0\ \text{against}\ (1-q)P_0+qP_1",
    meaning="Each record is used independently with probability q.",
    reference="Zhu, Dong, Wang 2022; Balle, Barthe, Gaboardi 2018, Theorem 8",
    neighbours="add/remove",
    assumptions="The part holds for a record added or removed; the record is in under one hypothesis and out under the other.",
    oracles=(
        Oracle(("gaussian(1)", 0.1), "delta", 0.05, 0.02614366, 1e-8, "poisson_gaussian(1, 0.1)"),
        Oracle(("dp(1)", 0.3), "delta", 0.0, 0.3 * np.tanh(0.5), 1e-14, "q times the total variation"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class Poisson(Atom):
    """Poisson subsampling; products keep the direction: the record is in under H1 in every part."""

    region: TradeOff = REGION.field()
    q: float = PROBABILITY.but(name="q").field(low_open=True, least=1e-300, meaning="probability that a record is used")

    @property
    def neighbours(self) -> str:
        """Add/remove; another relation of the part is an error."""
        if self.region.neighbours == "substitution":
            msg = f"poisson is about add/remove neighbours, {shorten(self.region.text)} about substitution neighbours."
            raise RelationError(msg)
        return "add/remove"

    @property
    def oriented(self) -> str:
        """The record is in under H1 in every part."""
        return "add/remove"

    def _pair(self) -> Curve:
        _ = self.neighbours  # raises when the part disagrees
        # a part without a direction of its own may be met in either one, so its closure is sampled
        own = self.region.pair
        directed_ = own.symmetric or self.region.oriented == self.oriented
        return lifted(self._sampled, [own if directed_ else self.region.curve])

    def _sampled(self, curves: list[Curve]) -> Curve:
        (curve,) = curves
        if self.q == 1.0:
            return curve
        if isinstance(curve, Polygon):
            return polygon_algebra.mixed_in(curve, self.q)
        if isinstance(curve, Subsampled) and not curve.flipped and curve.share * self.q > _SMALLEST_SHARE:
            return subsampled(curve.base, curve.share * self.q)  # a sample of a sample
        return subsampled(curve, self.q)
