"""Shuffled answers: what n people tell through local channels when nobody knows who said what."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpcore.core.errors import DomainError, RelationError
from dpcore.core.registry import COUNT, REGION, Oracle, register
from dpcore.curves import polygon_algebra
from dpcore.curves.bound import Outer, published
from dpcore.curves.polygon import Polygon
from dpcore.curves.shuffled import Shuffled, binomial_window
from dpcore.regions.algebra import Loose
from dpcore.regions.guarantees import pmf_polygon, three_point
from dpcore.regions.tradeoff import Atom, TradeOff, shorten

if TYPE_CHECKING:
    from dpcore.curves.base import Curve

_MOST_LISTED = 200_000  # people for whom the attained pair of randomized response is listed
_SAFE = 1.0 - 1e-9  # its rounding: the lower side must stay below the truth


@register(
    "shuffle",
    title="shuffled local answers",
    group="operation",
    symbol=r"S_n(f)",
    formula=(
        r"\delta(\varepsilon)\le E_C\,\delta\big(\mathrm{Bin}(C,\tfrac12)+B\big),\quad C\sim\mathrm{Bin}\big(n-1,"
        r"\tfrac{2}{e^{\varepsilon_0}+1}\big)"
    ),
    meaning="One answer among those of n people, all through the same channel, in random order.",
    assumptions="The region holds for each answer alone, with a largest loss ε0; the shuffler is honest, and all n people answer.",
    reference="Cheu, Smith, Ullman, Zeber, Zhilyaev 2019; Balle, Bell, Gascon, Nissim 2019; Feldman, McMillan, Talwar 2021 and 2023",
    neighbours="substitution",
    kind="upper",
    oracles=(
        Oracle(("dp(1)", 1), "delta", 0.0, math.tanh(0.5), 1e-12, "nobody to hide among"),
        Oracle(
            ("dp(1)", 2),
            "delta",
            0.0,
            math.tanh(0.5) * (1 - 1 / (math.e + 1)),
            1e-12,
            "two people: tanh(1/2) (P(C = 0) + P(C = 1)/2)",
        ),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class Shuffle(Atom, Loose):
    """The worst case over all channels whose largest loss is that of the region, or over the data of the others if the channel is known."""

    region: TradeOff = REGION.field()
    n: int = COUNT.but(name="n", high=10**8, label="n", meaning="number of people", example=1000).field()
    why_loose: ClassVar[str] = "the worst case over all channels composed"

    @property
    def neighbours(self) -> str:
        """Substitution; another relation of the part is an error."""
        if self.region.neighbours == "add/remove":
            msg = f"shuffle is about substitution neighbours, {shorten(self.region.text)} about add/remove neighbours."
            raise RelationError(msg)
        return "substitution"

    @property
    def table_size(self) -> int:
        """How many numbers of uniform answers are summed: up to 80 standard deviations on either side."""
        return math.ceil(160.0 * math.sqrt(self.n))

    @property
    def local(self) -> float:
        """Largest loss of one answer before the shuffle."""
        curve = published(self.region.curve)
        loss = max(curve.max_loss, 0.0) if curve.max_loss > -math.inf else 0.0
        if curve.q_inf > 0 or curve.p_inf > 0 or math.isinf(loss):
            msg = f"shuffle needs a region with a largest loss and δ = 0, which {shorten(self.region.text)} has not."
            raise DomainError(msg)
        return float(loss)

    def _pair(self) -> Curve:
        _ = self.neighbours  # raises when the part disagrees
        local = self.local
        if local == 0.0:
            return three_point(0.0, 0.0, 1.0)
        own = self.region.shuffled(self.n)
        if own is not None:
            return own
        return self._worst_channel(local)

    def _worst_channel(self, local: float) -> Curve:
        inner = self.attained()
        return Outer(Shuffled(local, self.n), [inner] if inner is not None else [], Shuffled.method)

    def simpler(self) -> Curve | None:
        """Return the bound for all channels where the curve of the known one is searched or summed: a product needs many values."""
        return None if isinstance(self.pair, Polygon) else self._worst_channel(self.local)

    def attained(self) -> Curve | None:
        """Return randomized response where all others have the same answer; None for channels of another region.

        The attacker counts one of the two answers. The masses are lowered by their rounding.
        """
        curve = self.region.curve
        coin = isinstance(curve, Polygon) and curve.symmetric and curve.size == 2 and self.local < 300.0
        if not coin or self.n > _MOST_LISTED:
            return None
        lie = math.exp(-self.local) / (1.0 + math.exp(-self.local))
        first, mass = binomial_window(self.n - 1, lie)
        same, other = np.zeros(mass.size + 1), np.zeros(mass.size + 1)
        for law, chance in ((same, lie), (other, 1.0 - lie)):
            law[1:] += mass * chance
            law[:-1] += mass * (1.0 - chance)
        pair = polygon_algebra.closure(pmf_polygon(same, other))
        return polygon_algebra.mixed_in(pair, _SAFE) if first >= 0 else None
