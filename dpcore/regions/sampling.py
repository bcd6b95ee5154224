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

_SMALLEST_SHARE = 1e-300  # of a sample of a sample; below, the product of the shares soon underflows


def one_way_sample(curve: Curve, share: float) -> Curve:
    """Return the pair (P0, (1 - share) P0 + share P1) of a curve."""
    if share == 1.0:
        return curve
    return polygon_algebra.mixed_in(curve, share) if isinstance(curve, Polygon) else subsampled(curve, share)


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

    def _pair(self) -> Curve:
        _ = self.neighbours  # raises when the part disagrees
        return lifted(self._sampled, [self.region.curve])

    def _sampled(self, curves: list[Curve]) -> Curve:
        one_way = one_way_sample(curves[0], self.p)
        if isinstance(one_way, Polygon):
            return polygon_algebra.closure(one_way)
        return closed_sample(one_way, "subsampling")

    def attained(self) -> Curve | None:
        """Return one direction, which a mechanism attains in every step."""
        return one_way_sample(floors(self.region.curve)[-1], self.p)


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
        if (
            isinstance(curve, Subsampled)
            and self.q < 1.0
            and not curve.flipped
            and curve.share * self.q > _SMALLEST_SHARE
        ):
            return subsampled(curve.base, curve.share * self.q)  # a sample of a sample
        return one_way_sample(curve, self.q)


@register(
    "fixed_size",
    title="fixed-size subsampling, one record more",
    group="operation",
    symbol=r"f_p",
    formula=r"f_p = p f + (1-p)(1-\alpha),\quad P_0\ \text{against}\ (1-p)P_0+pP_1",
    meaning="A random fraction p = m/n of the records is used, always m of them; the neighbour has one record less.",
    reference="Balle, Barthe, Gaboardi 2018; pair and proof in the guide",
    neighbours="add/remove",
    assumptions="The sample has a fixed size m of n records, n those of the larger dataset; the part holds for a substituted record.",
    oracles=(
        Oracle(("gaussian(1)", 0.1), "delta", 0.05, 0.02614366, 1e-8, "the pair of poisson_gaussian(1, 0.1)"),
        Oracle(("dp(1)", 0.3), "delta", 0.0, 0.3 * np.tanh(0.5), 1e-14, "p times the total variation"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class FixedSize(Atom):
    """Sampling without replacement when a record is added: it takes the place of another one, so the part is about substitution."""

    region: TradeOff = REGION.field()
    p: float = PROBABILITY.field(low_open=True, least=1e-300, meaning="fraction m/n of the records that is used")

    @property
    def neighbours(self) -> str:
        """Add/remove; the part must not be about added records itself."""
        if self.region.neighbours == "add/remove":
            msg = (
                f"fixed_size needs a part about substituted records, {shorten(self.region.text)} is about add/remove "
                "neighbours: a record that is drawn takes the place of another one."
            )
            raise RelationError(msg)
        return "add/remove"

    @property
    def oriented(self) -> str:
        """The record is in under H1 in every part."""
        return "add/remove"

    def _pair(self) -> Curve:
        _ = self.neighbours  # raises when the part disagrees
        return lifted(lambda curves: one_way_sample(curves[0], self.p), [self.region.curve])
