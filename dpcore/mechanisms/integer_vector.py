r"""Integer noise on every coordinate of a vector of integers that moves by at most l1 and l2.

For symmetric log-concave noise a threshold is the best test of every coordinate, so the region grows with its move; products keep
that order, and signs do not matter. Of all integer vectors within both norms only those to which nothing can be added
count: some coordinates of 2 and more, and as many of 1 as still fit. The region is the union of their products.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from dpcore.core.errors import BudgetError, DomainError
from dpcore.core.lazy import Lazy
from dpcore.core.numerals import nearest
from dpcore.core.registry import REGION, Oracle, Parameter, register
from dpcore.curves.bound import lifted
from dpcore.mechanisms.base import Mechanism
from dpcore.mechanisms.coordinates import Coordinates
from dpcore.regions.algebra import Loose, Power, Product, SelfComposing, either
from dpcore.regions.tradeoff import TradeOff, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dpcore.curves.base import Curve
    from dpcore.mechanisms.base import Attacker
    from dpcore.mechanisms.law import Law

_MOST_VECTORS = 64  # curves in one union: each is a composition of its own
_PLACES = np.arange(3.0)  # where two laws of noise are compared
_LAST_PLACE = 1e-12  # the square of a rounded square root may miss the integer by some units of its last place

NOISE = REGION.but(
    label="noise", meaning="the noise of one cell, as one that moves by 1", example="discrete_gaussian(2)"
)
SUM = Parameter(
    "l1", "integer", low=1, high=10**6, label="Δ₁", meaning="largest sum of all moves, without signs", example=2
)
LENGTH = Parameter(
    "l2", low=1.0, high=1e6, infinite=True, label="Δ₂", meaning="largest Euclidean length of the move", example=1.5
)


@register(
    "integer_vector",
    title="integer noise on a vector",
    group="mechanism",
    symbol=r"f_{\Delta_1,\Delta_2}",
    formula=r"\delta(\varepsilon)=\max_v\ \delta_{\bigotimes_i f_{v_i}}(\varepsilon),\quad v\in\mathbb{Z}^d,\ \|v\|_1\le\Delta_1,\ \|v\|_2\le\Delta_2",
    meaning="Every coordinate of a vector of integers gets its own noise; one person moves it by at most l1 and l2.",
    assumptions="The noise of one coordinate takes integers, is symmetric and log-concave, and is written with sensitivity 1.",
    reference="derived here: the order of moves of log-concave noise, and Dong, Roth, Su 2022 for products",
    neighbours="any",
    oracles=(
        Oracle(
            ("discrete_gaussian(2)", 2, 1.5),
            "delta",
            0.0,
            0.27354916205895335,
            1e-13,
            "two cells move by 1: direct sum",
        ),
        Oracle(("discrete_laplace(1)", 1, 1.0), "delta", 0.0, math.tanh(0.5), 1e-14, "one cell moves by 1"),
    ),
)
@dataclass(frozen=True, eq=False, repr=False)
class IntegerVector(Coordinates, SelfComposing, Loose):
    """The union over all integer moves within both norms."""

    region: TradeOff = NOISE.field()
    l1: int = SUM.field()
    l2: float = LENGTH.field()
    why_loose: ClassVar[str] = "the vector of the move may differ from answer to answer"

    @property
    def noise(self) -> Mechanism:
        """The noise of one coordinate; an error says why a region does not qualify."""
        part, whole = self.region, shorten(self.region.text)
        if not isinstance(part, Mechanism) or not isinstance(getattr(part, "sensitivity", None), int):
            msg = f"integer_vector needs integer noise with a sensitivity, as discrete_gaussian(2), not {whole}."
            raise DomainError(msg)
        law = part.law
        if not (law.integer and law.symmetric and law.log_concave):
            msg = f"integer_vector needs integer noise that is symmetric and log-concave, which that of {whole} is not."
            raise DomainError(msg)
        if part.move != 1:
            msg = f"integer_vector takes the moves from l1 and l2: write {whole} with sensitivity 1, not {nearest(part.move)}."
            raise DomainError(msg)
        twice = _moved(part, 2).law.density(_PLACES)
        if not np.allclose(twice, law.density(_PLACES), rtol=1e-12, atol=0.0):
            msg = f"integer_vector needs noise that stays the same for every move; that of {whole} grows with the sensitivity: take discrete_laplace(scale)."
            raise DomainError(msg)
        return part

    @property
    def neighbours(self) -> str:
        """The relation of the noise."""
        return self.region.neighbours

    @Lazy
    def vectors(self) -> tuple[Counter[int], ...]:
        """Return the moves to which nothing can be added: how often each size occurs, the longest first."""
        square = math.inf if math.isinf(self.l2) else math.floor(self.l2**2 * (1.0 + _LAST_PLACE))
        vectors = []
        for large in _large_moves(self.l1, min(square, self.l1**2), self.l1):
            used, squared = sum(large), sum(size * size for size in large)
            ones = int(min(self.l1 - used, square - squared))
            vectors.append(Counter({**Counter(large), **({1: ones} if ones else {})}))
            if len(vectors) > _MOST_VECTORS:
                msg = (
                    f"More than {_MOST_VECTORS} different moves fit l1 = {self.l1} and l2 = {nearest(self.l2)}; "
                    "for discrete Gaussian noise zcdp(l2^2 / (2 sigma^2)) bounds them all."
                )
                raise BudgetError(msg)
        return tuple(sorted(vectors, key=lambda v: -sum(size * size * count for size, count in v.items())))

    def product(self, vector: Counter[int]) -> TradeOff:
        """Return the answers of a vector that moves by this one."""
        noise = self.noise
        each = [(_moved(noise, size), count) for size, count in vector.items()]
        parts: list[TradeOff] = [part if count == 1 else Power(part, count) for part, count in each]
        return parts[0] if len(parts) == 1 else Product.of(*parts)

    @property
    def law(self) -> Law:
        """Law of the noise of one coordinate."""
        return self.noise.law

    @property
    def moves(self) -> tuple[int, ...]:
        """The longest move, the largest one first."""
        return tuple(sorted(self.vectors[0].elements(), reverse=True))

    @property
    def move(self) -> int:
        """The largest move of a coordinate among all vectors."""
        return max(max(vector) for vector in self.vectors)

    @property
    def one_of_many(self) -> str:
        """The other coordinates, and the other vectors."""
        if len(self.vectors) > 1:
            return (
                "The picture shows the largest move of one coordinate; the region covers all vectors within both norms."
            )
        return super().one_of_many

    def attack(self) -> tuple[Attacker, str] | None:
        """Return the attacker of the only vector; None if there are several: none of them is the worst at every rate."""
        return super().attack() if len(self.vectors) == 1 else None

    def _pair(self) -> Curve:
        curves = [self.product(vector).pair for vector in self.vectors]
        return curves[0] if len(curves) == 1 else lifted(either, curves)

    def power_curve(self, k: int) -> Curve | None:
        """Return k times the only vector; None if there are several."""
        return Power(self.product(self.vectors[0]), k).pair if len(self.vectors) == 1 else None

    def attained(self) -> Curve | None:
        """Return the longest move."""
        return self.product(self.vectors[0]).pair

    # ---- claims and divergences: those of the coordinates add up -------------------------------------------------

    @property
    def claimed_epsilon(self) -> float | None:
        """The epsilon of a move by 1, for each unit of the sum of the moves; None where there is none."""
        one = self.noise.claimed_epsilon
        return None if one is None else self.l1 * one

    def renyi(self, order: float) -> float | None:
        """Return the largest of all vectors, where that of the noise is known."""
        return self._largest(lambda noise: noise.renyi(order))

    @property
    def concentrated_rate(self) -> float | None:
        """The largest of all vectors, where that of the noise is known."""
        return self._largest(lambda noise: noise.concentrated_rate)

    def _largest(self, measure: Callable[[Mechanism], float | None]) -> float | None:
        """Return the largest sum over the coordinates of a vector of what is measured of each; None if one is unknown."""
        sums = []
        for vector in self.vectors:
            parts = [(measure(_moved(self.noise, size)), count) for size, count in vector.items()]
            known = [(part, count) for part, count in parts if part is not None]
            if len(known) < len(parts):
                return None
            sums.append(math.fsum(count * part for part, count in known))
        return max(sums)

    # ---- calibration ---------------------------------------------------------------------------------------------

    @property
    def noise_parameter(self) -> tuple[str, float]:
        """That of the noise of one coordinate."""
        return self.noise.noise_parameter

    @property
    def open_text(self) -> str:
        """The expression with ? for the amount of noise of one coordinate."""
        return self.text.replace(self.region.text, self.noise.open_text, 1)


def _moved(noise: Mechanism, size: int) -> Mechanism:
    """Return the same noise on an answer that moves by `size`."""
    return cast("Mechanism", replace(cast("Any", noise), sensitivity=size))


def _large_moves(total: int, square: float, largest: int) -> Iterator[tuple[int, ...]]:
    """Return all descending lists of sizes of at least 2 with at most this sum and this sum of squares."""
    yield ()
    for size in range(min(total, largest, math.isqrt(int(square))), 1, -1):
        for rest in _large_moves(total - size, square - size * size, size):
            yield (size, *rest)
