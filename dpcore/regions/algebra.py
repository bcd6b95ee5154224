"""Regions made of regions: composition, intersection, union and the operations of the language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dpcore.core.errors import BudgetError, RelationError
from dpcore.core.lazy import Lazy
from dpcore.core.numerals import nearest
from dpcore.core.registry import COUNT, PROBABILITY, REGION, RELATIONS, Choice, Oracle, Parameter, register, value_text
from dpcore.curves import polygon_algebra
from dpcore.curves.bound import Outer, floors, lifted
from dpcore.curves.combined import Both, Either, Erased, closed
from dpcore.curves.composition import compose, directed
from dpcore.curves.polygon import Polygon
from dpcore.regions.tradeoff import BOTH, POWER, PRODUCT, Atom, TradeOff, joinable, shorten

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from dpcore.curves.base import Curve

Factors = list[tuple[TradeOff, int]]
MOST_COPIES = 10**30  # far more than anybody composes; its square and cube, as moments need them, are still doubles


def relation(parts: Sequence[TradeOff]) -> str:
    """Return the relation that all parts share; an error names two parts that differ."""
    stated = [(part, name) for part in parts if (name := part.neighbours) != "any"]
    for part, name in stated[1:]:
        if name != stated[0][1]:
            msg = (
                f"{shorten(stated[0][0].text)} speaks of {stated[0][1]} neighbours and {shorten(part.text)} of {name} "
                f'neighbours; state one relation with assume(region, "{name}").'
            )
            raise RelationError(msg)
    return stated[0][1] if stated else "any"


def _bracketed(part: TradeOff, level: int) -> str:
    return f"({part.text})" if part.precedence < level else part.text


class Composite(TradeOff):
    """A product or power, computed from the flat list of its factors."""

    @Lazy
    def flat(self) -> Factors:
        """Its factors, each once, in order."""
        return factors(self)

    @property
    def neighbours(self) -> str:
        """The relation of the factors."""
        return relation([node for node, _ in self.flat])

    @property
    def theorem(self) -> str:
        """How the composition was computed."""
        assumed = [node.theorem for node, _ in factors(self) if isinstance(node, Assume)]
        return "; ".join([self.curve.method, *dict.fromkeys(assumed)])

    @property
    def fails(self) -> bool:
        """Whether an answer of one of the factors may be possible on one side only."""
        return super().fails and any(node.fails for node, _ in self.flat)

    @property
    def oriented(self) -> str:
        """The common orientation of all asymmetric factors, or ''."""
        return _orientation(factors(self))

    def _pair(self) -> Curve:
        _ = self.neighbours  # raises when the factors disagree
        return composed(self.flat)


@dataclass(frozen=True, eq=False, repr=False)
class Power(Composite):
    """k-fold composition of one region."""

    base: TradeOff
    k: int
    precedence: ClassVar[int] = POWER

    @property
    def text(self) -> str:
        """Return base^k."""
        return f"{_bracketed(self.base, POWER + 1)}^{self.k}"


@dataclass(frozen=True, eq=False, repr=False)
class Product(Composite):
    """Composition of several regions."""

    parts: tuple[TradeOff, ...]
    precedence: ClassVar[int] = PRODUCT

    @classmethod
    def of(cls, *parts: TradeOff) -> Product:
        """Return the product, with nested products flattened."""
        flat: list[TradeOff] = []
        for part in parts:
            flat += part.parts if type(part) is Product else (part,)
        return cls(tuple(flat))

    def __mul__(self, other: TradeOff) -> Product:
        """Composition with one more region, or with those of another product."""
        more = other.parts if type(other) is Product else (joinable(other, "*"),)
        return Product(self.parts + more)

    @property
    def text(self) -> str:
        """Return a * b * c."""
        return " * ".join(_bracketed(part, PRODUCT + 1) for part in self.parts)


def factors(node: TradeOff) -> Factors:
    """Return the flat list of (atom, count) of a product, equal atoms joined, in order."""
    counts: dict[Hashable, tuple[TradeOff, int]] = {}
    stack: list[tuple[TradeOff, int]] = [(node, 1)]
    while stack:  # every node is taken once
        part, count = stack.pop()
        if count > MOST_COPIES:
            msg = f"k = {value_text(count)} copies of {shorten(part.text)} are too many; at most {nearest(MOST_COPIES)} are counted."
            raise BudgetError(msg)
        if type(part) is Power:
            stack.append((part.base, count * part.k))
        elif type(part) is Product:
            stack += [(p, count) for p in reversed(part.parts)]
        else:
            key = part.identity
            before = counts.get(key)
            counts[key] = (part, count if before is None else before[1] + count)
    return list(counts.values())


def _orientation(parts: Factors) -> str:
    labels = {node.oriented for node, _ in parts if not node.pair.symmetric}
    return labels.pop() if len(labels) == 1 else ""


def composed(parts: Factors) -> Curve:
    """Return the curve of a product: special rules first, then direction by direction or closed parts."""
    if len(parts) == 1 and parts[0][1] == 1:
        return parts[0][0].pair
    terms = parts
    parts = _added(terms)
    if len(parts) == 1:
        node, count = parts[0]
        if count == 1:
            return _sum_pair(node, terms)
        own = node.power_curve(count) if isinstance(node, SelfComposing) else None
        if own is not None:
            return own
    orientation = _orientation(parts)
    keep = bool(orientation)
    counts = [count for _, count in parts]
    curves = [_factor(node, keep=keep).for_copies(count) for node, count in parts]

    def product(factor_curves: list[Curve]) -> Curve:
        pairs = list(zip(factor_curves, counts, strict=True))
        return directed(pairs) if keep else compose(pairs)

    outer = lifted(product, curves)
    loose = [node for node, _ in parts if isinstance(node, Loose)]
    if not loose:
        return outer
    inner = [*(node.curve for node, _ in parts), *_attained(parts)]
    return Outer(outer, inner, f"{outer.method}, safe: {loose[0].why_loose}")


def _factor(node: TradeOff, *, keep: bool) -> Curve:
    """Return the curve of a node in a product: its pair if directions are kept, a simpler bound if it has one."""
    simpler = node.simpler() if isinstance(node, Loose) else None
    if simpler is not None:
        return simpler
    return node.pair if keep or node.pair.symmetric else node.curve


def _sum_pair(node: TradeOff, terms: Factors) -> Curve:
    """Return the pair of a sum of Rényi-type statements, a bound: no composition attains the whole region of the sum.

    A test merges outcomes, and a product of two informative parts has more than two likelihood ratios to merge.
    """
    if not isinstance(node, Additive) or node.pair.max_loss <= 0.0:
        return node.pair
    mixed = any(not isinstance(part, Additive) for part, _ in terms)
    why = "of the mechanisms only their divergence is used" if mixed else node.why_loose
    inner = [*(part.curve for part, _ in terms), *_attained(terms)]
    return Outer(node.pair, inner, f"{node.pair.method}, safe: {why}")


def _attained(parts: Factors) -> list[Curve]:
    """Return the composition in one fixed direction where every loose part offers an attained pair."""
    pairs = [(node.attained() if isinstance(node, Loose) else floors(node.pair)[-1], count) for node, count in parts]
    attained = [(curve, count) for curve, count in pairs if curve is not None]
    return [closed(directed(attained))] if len(attained) == len(pairs) else []


class SelfComposing:
    """Mixin: the k-fold composition of the worst case is not the tensor power of the region."""

    def power_curve(self, k: int) -> Curve | None:
        """Return the curve of the k-fold composition, or None for the tensor power."""
        raise NotImplementedError


class Loose:
    """Mixin: composing the region itself is safe but not tight."""

    why_loose: ClassVar[str] = "the composed region is an upper bound"

    def attained(self) -> Curve | None:
        """Return a pair that some mechanism attains in every step, for the lower side of the bracket."""
        return None

    def simpler(self) -> Curve | None:
        """Return a curve that contains the region and composes faster than its own; None if there is none."""
        return None


class Additive(Loose):
    """Mixin of Rényi-type statements: they add before they become regions."""

    def joined(self, count: int, others: Factors) -> tuple[TradeOff, Factors]:
        """Return the sum of `count` copies with every factor that can join, and the factors left over."""
        raise NotImplementedError


def _added(parts: Factors) -> Factors:
    """Let the Rényi-type statements of a product add up first."""
    for index, (node, count) in enumerate(parts):
        if isinstance(node, Additive) and (count > 1 or len(parts) > 1):
            total, rest = node.joined(count, parts[:index] + parts[index + 1 :])
            return [(total, 1), *rest]
    return parts


@dataclass(frozen=True, eq=False, repr=False)
class Intersection(TradeOff):
    """Several guarantees hold at once."""

    parts: tuple[TradeOff, ...]
    precedence: ClassVar[int] = BOTH

    @classmethod
    def of(cls, *parts: TradeOff) -> Intersection:
        """Return the intersection, with nested intersections flattened."""
        flat: list[TradeOff] = []
        for part in parts:
            flat += part.parts if isinstance(part, Intersection) else [part]
        return cls(tuple(flat))

    @property
    def fails(self) -> bool:
        """Whether an answer of every part may be possible on one side only."""
        return super().fails and all(part.fails for part in self.parts)

    @property
    def text(self) -> str:
        """Return a & b."""
        return " & ".join(_bracketed(part, BOTH + 1) for part in self.parts)

    @property
    def neighbours(self) -> str:
        """The relation of the parts."""
        return relation(self.parts)

    @property
    def theorem(self) -> str:
        """All parts hold."""
        return "intersection of regions"

    def _pair(self) -> Curve:
        _ = self.neighbours  # raises when the parts disagree
        return lifted(both, [part.curve for part in self.parts])


def both(curves: list[Curve]) -> Curve:
    """Return the intersection of symmetric curves."""
    smooth: list[Curve] = [c for c in curves if not isinstance(c, Polygon)]
    polygons = [c for c in curves if isinstance(c, Polygon)]
    together: list[Curve] = [polygon_algebra.intersection(polygons)] if polygons else []
    parts = [*together, *smooth]
    return parts[0] if len(parts) == 1 else Both(parts)


@register(
    "union",
    title="union of regions",
    group="operation",
    symbol=r"\cup",
    formula=r"f = \left(\min_i f_i\right)^{**},\qquad \delta(\varepsilon)=\max_i \delta_i(\varepsilon)",
    meaning="Either part may be the truth: the convex envelope of the smaller curve.",
    reference="Dong, Roth, Su 2022, on symmetrisation",
    neighbours="any",
    oracles=(Oracle(("dp(1)", "tv(0.5)"), "delta", 0.0, 0.5, 1e-15, "the larger total variation"),),
)
@dataclass(frozen=True, eq=False, repr=False)
class Union(Atom):
    """Any one of the parts may hold."""

    parts: tuple[TradeOff, ...] = Parameter("parts", "regions", meaning="regions, any of which may hold").field()

    @classmethod
    def make(cls, *parts: Any) -> Union:
        """Return union(a, b, ...)."""
        return cls(parts)

    @property
    def neighbours(self) -> str:
        """The relation of the parts."""
        return relation(self.parts)

    def _pair(self) -> Curve:
        _ = self.neighbours  # raises when the parts disagree
        return lifted(either, [part.curve for part in self.parts])


def either(curves: list[Curve]) -> Curve:
    """Return the union of symmetric curves."""
    polygons = [c for c in curves if isinstance(c, Polygon)]
    smooth = [c for c in curves if not isinstance(c, Polygon)]
    together: list[Curve] = [polygon_algebra.union(polygons)] if polygons else []
    parts = [*together, *smooth]
    return parts[0] if len(parts) == 1 else Either(parts, symmetric=True)


class OfPart(Atom):
    """An operation on one region: it keeps the region's neighbouring relation."""

    region: TradeOff

    @property
    def neighbours(self) -> str:
        """The relation of the part."""
        return self.region.neighbours


@register(
    "erase",
    title="erasure",
    group="operation",
    symbol=r"\mathrm{E}_p",
    formula=r"\delta'(\varepsilon) = (1-p)\,\delta(\varepsilon),\quad \varepsilon\ge 0",
    meaning="With probability p the output is replaced by a visible mark.",
    reference="Ghazi, Issa 2023, Section VI",
    oracles=(Oracle(("dp(1)", 0.25), "delta", 0.0, 0.75 * np.tanh(0.5), 1e-15, "TV times (1 - p)"),),
)
@dataclass(frozen=True, eq=False, repr=False)
class Erase(OfPart):
    """The output is erased with probability p."""

    region: TradeOff = REGION.field()
    p: float = PROBABILITY.field(meaning="probability that the output is erased")

    @property
    def oriented(self) -> str:
        """That of the part."""
        return self.region.oriented

    def _pair(self) -> Curve:
        return lifted(self._erased, [self.region.pair])

    def _erased(self, pairs: list[Curve]) -> Curve:
        (pair,) = pairs
        return polygon_algebra.erase(pair, self.p) if isinstance(pair, Polygon) else Erased(pair, self.p)


@register(
    "group",
    title="group privacy",
    group="operation",
    symbol=r"f^{\circ k}",
    formula=r"f_k = 1-(1-f)^{\circ k}",
    meaning="Protection of k records at once.",
    reference="Dong, Roth, Su 2022, Theorem 2.14",
    oracles=(Oracle(("dp(2, 0.01)", 2), "beta", 0.0, 0.916109439, 1e-8, "theory: 1 - 0.01 (1 + e^2)"),),
)
@dataclass(frozen=True, eq=False, repr=False)
class Group(OfPart):
    """Groups of k records."""

    region: TradeOff = REGION.field()
    k: int = COUNT.field(high=10_000, meaning="size of the group")

    def _pair(self) -> Curve:
        return lifted(self._grouped, [self.region.curve])

    def _grouped(self, curves: list[Curve]) -> Curve:
        (curve,) = curves
        return polygon_algebra.group(curve, self.k) if isinstance(curve, Polygon) else curve.group(self.k)


@register(
    "symmetric",
    title="symmetric closure",
    group="operation",
    symbol=r"\mathrm{C}(f)",
    formula=r"\mathrm{C}(f) = \min(f, f^{-1})^{**}",
    meaning="Whichever of the two neighbours is the truth.",
    reference="Dong, Roth, Su 2022, Proposition 2.4",
    oracles=(Oracle(("pmf([0.5, 0.5], [0.6, 0.4])",), "delta", np.log(1.1), 0.06, 1e-12, "dp-accounting tests"),),
)
@dataclass(frozen=True, eq=False, repr=False)
class Symmetric(OfPart):
    """Closes here, before any composition outside."""

    region: TradeOff = REGION.field()

    def _pair(self) -> Curve:
        return self.region.curve


@register(
    "assume",
    title="relation stated by hand",
    group="operation",
    symbol=r"\sim",
    formula=r"f \text{ under the stated relation}",
    meaning="The user states under which neighbouring relation the region holds.",
    reference="language contract of dpcore",
    neighbours="any",
    oracles=(Oracle(("rr(1)", '"add/remove"'), "delta", 0.0, np.tanh(0.5), 1e-15, "the region itself"),),
)
@dataclass(frozen=True, eq=False, repr=False)
class Assume(Atom):
    """The neighbouring relation, stated by hand."""

    region: TradeOff = REGION.field()
    relation: str = Choice("relation", "text", choices=RELATIONS, meaning="which datasets are neighbours").field()

    @property
    def neighbours(self) -> str:
        """The relation stated."""
        return self.relation

    @property
    def oriented(self) -> str:
        """That of the part."""
        return self.region.oriented

    @property
    def theorem(self) -> str:
        """The part's theorem, with the assumption named."""
        return f"{self.region.theorem}; {self.relation} neighbours assumed for {shorten(self.region.text, 40)}"

    def _pair(self) -> Curve:
        return self.region.pair
