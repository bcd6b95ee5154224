"""The central type: a region, its name and the questions it answers.

Every node of the expression language is a `TradeOff`. It knows its canonical text, its neighbouring relation and,
through a `Curve`, its numbers. ``&`` means both hold, ``*`` composition, ``** k`` k-fold composition.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, cast, overload

import numpy as np

from dpcore.core.domains import ALPHA, ANY_LOSS, COUNT, DELTA
from dpcore.core.effort import current
from dpcore.core.errors import BudgetError, DomainError
from dpcore.core.kinds import settled
from dpcore.core.lazy import Lazy
from dpcore.core.numerals import nearest, numeral
from dpcore.core.question import question, remarked
from dpcore.core.registry import value_text
from dpcore.curves import tangents
from dpcore.curves.bound import lifted, published
from dpcore.curves.combined import closed
from dpcore.curves.polygon import Polygon
from dpcore.curves.polygon_algebra import closure
from dpcore.regions import gate

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable

    from dpcore.core.registry import Entry, Parameter
    from dpcore.curves.base import Bounds, Curve, FloatArray

Real: TypeAlias = float | Fraction | np.floating[Any] | np.integer[Any]
Whole: TypeAlias = int | np.integer[Any]
"""The types of numbers and integers; booleans, which type checkers accept as integers, are refused."""
MOST_CORNERS = 10**7  # two lists of doubles as long take 160 MB
_NEGLIGIBLE = 1e-290  # a bracket below it may have any relative width: next to the smallest doubles digits are lost
_EXPONENT = COUNT.but(name="The exponent k")
ATOM, POWER, PRODUCT, BOTH = 3, 2, 1, 0


class TradeOff(ABC):
    """A region: the false-positive and false-negative rates an attacker can reach.

    The published curve is symmetric: it holds whichever of the two neighbours is the real dataset. `pair` keeps the
    direction for parts that may be composed direction by direction (see `oriented`).
    """

    is_region: ClassVar[bool] = True
    in_language: ClassVar[bool] = True  # its text, read again, is the same region
    precedence: ClassVar[int] = ATOM

    @property
    @abstractmethod
    def text(self) -> str:
        """Canonical expression."""

    @property
    def identity(self) -> Hashable:
        """A key that is equal exactly for nodes that are the same region in the language."""
        return self.text

    @property
    @abstractmethod
    def neighbours(self) -> str:
        """Neighbouring relation: any, substitution or add/remove."""

    @property
    @abstractmethod
    def theorem(self) -> str:
        """The argument by which the numbers hold."""

    @abstractmethod
    def _pair(self) -> Curve:
        """Build the curve, in its own direction."""

    @Lazy
    def pair(self) -> Curve:
        """Curve in its own direction."""
        return self._pair()

    @property
    def table_size(self) -> int:
        """How many losses a table has that is made for its curve, known before it is made; 0 for a closed form."""
        return 0

    @property
    def oriented(self) -> str:
        """Why products may keep its direction: '' (close first), 'add/remove' or 'pair'."""
        return ""

    def shuffled(self, people: int) -> Curve | None:  # noqa: ARG002  overridden by channels whose law is known
        """Return the exact curve of one answer among those of n shuffled people; None if it is not known."""
        return None

    @Lazy
    def curve(self) -> Curve:
        """Symmetric closure of `pair`: the published curve."""
        return lifted(lambda curves: closed_either_way(curves[0]), [self.pair])

    @Lazy
    def dual(self) -> bool:
        """Whether its deltas and betas are consistent: True, or an `InternalError` (see `dpcore.regions.gate`)."""
        return gate.check_dual(self)

    @property
    def fails(self) -> bool:
        """Whether an answer may be possible on one side only, so that some loss is infinite: a delta remains at every epsilon."""
        return self.curve.q_inf > self.curve.untold

    @property
    def kind(self) -> str:
        """``exact``, or ``upper`` where a bound is published; for single numbers see `dpcore.core.kinds`."""
        return "exact" if self.curve.exact else "upper"

    def __str__(self) -> str:
        """Return the canonical expression."""
        return self.text

    def __repr__(self) -> str:
        """Return the canonical expression."""
        return self.text

    @property
    def legend(self) -> str:
        """What a legend calls it: words such as ``Laplace, ε = 1`` if it is one entry of the language, or its expression."""
        return self.text

    def _repr_html_(self) -> str:
        """Return the representation in a notebook: picture, sentence and table of deltas (see `dpcore.regions.notebook`)."""
        from dpcore.regions.notebook import html  # noqa: PLC0415  only notebooks need it

        return html(self)

    def __eq__(self, other: object) -> bool:
        """Compare canonical forms."""
        return isinstance(other, TradeOff) and self.text == other.text

    def __hash__(self) -> int:
        """Hash the canonical form."""
        return hash(self.text)

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields without the curves computed so far: a copy is small and computes its own."""
        names = getattr(self, "__dataclass_fields__", vars(self))
        return {name: getattr(self, name) for name in names}

    # ---- questions -------------------------------------------------------------------------------------------

    @overload
    def delta(self, epsilon: Real) -> float: ...

    @overload
    def delta(self, epsilon: Collection[Real]) -> FloatArray: ...

    def delta(self, epsilon: Real | Collection[Real]) -> float | FloatArray:
        """Return delta(epsilon), the safe side: 0 hides everything, 1 nothing.

        Parameters
        ----------
        epsilon : Real or collection of Real
            Any real number, infinity too, or a flat list or array of them.

        Returns
        -------
        float or FloatArray
            A Python float for one number, an array for a list or an array; so do the other questions.
        """
        return _answer(epsilon, self.delta_bounds(epsilon)[1])

    def delta_bounds(self, epsilon: Real | Collection[Real]) -> Bounds:
        """Return (lower, upper) of delta(epsilon) as arrays; equal for exact regions."""
        at = ANY_LOSS.array(epsilon)
        lower, upper = gate.delta_bounds(self, at)
        if self.curve.certified:
            _check_width("delta at epsilon", at, lower, upper)
        return settled((lower, upper), "upper", exact=self.curve.exact)

    @overload
    def epsilon(self, delta: Real) -> float: ...

    @overload
    def epsilon(self, delta: Collection[Real]) -> FloatArray: ...

    def epsilon(self, delta: Real | Collection[Real]) -> float | FloatArray:
        """Return the smallest epsilon >= 0 with delta(epsilon) <= delta in [0, 1], the safe side; inf where there is none."""
        return _answer(delta, self.epsilon_bounds(delta)[1])

    def epsilon_bounds(self, delta: Real | Collection[Real]) -> Bounds:
        """Return (lower, upper) of epsilon(delta) as arrays; refused where wider than the tolerance."""
        at = DELTA.array(delta)
        with question():
            lower, upper = gate.epsilon_bounds(self, at)
            if self.curve.certified:
                _check_width("epsilon at delta", at, lower, upper)
        return settled((lower, upper), "upper", exact=self.curve.exact)

    @overload
    def beta(self, alpha: Real) -> float: ...

    @overload
    def beta(self, alpha: Collection[Real]) -> FloatArray: ...

    def beta(self, alpha: Real | Collection[Real]) -> float | FloatArray:
        """Return the smallest false-negative rate at false-positive rate alpha in [0, 1], the safe (lower) side."""
        return _answer(alpha, gate.beta_safe(self, ALPHA.array(alpha)))

    def beta_bounds(self, alpha: Real | Collection[Real]) -> Bounds:
        """Return (lower, upper) of beta(alpha) as arrays; lower is safe. Refused where wider than the tolerance."""
        at = ALPHA.array(alpha)
        lower, upper = gate.beta_bounds(self, at)
        if self.curve.certified:
            _check_width("beta at alpha", at, lower, upper)
        return settled((lower, upper), "lower", exact=self.curve.exact, scale=np.minimum(lower, 1.0 - lower))

    @overload
    def power(self, alpha: Real) -> float: ...

    @overload
    def power(self, alpha: Collection[Real]) -> FloatArray: ...

    def power(self, alpha: Real | Collection[Real]) -> float | FloatArray:
        """Return the attacker's largest true-positive rate at false-positive rate alpha in [0, 1], the safe (upper) side."""
        return _answer(alpha, gate.power_bounds(self, ALPHA.array(alpha))[1])

    def power_bounds(self, alpha: Real | Collection[Real]) -> Bounds:
        """Return (lower, upper) of the attacker's largest true-positive rate 1 - beta(alpha) as arrays; upper is safe."""
        lower, upper = gate.power_bounds(self, ALPHA.array(alpha))
        return settled((lower, upper), "upper", exact=self.curve.exact, scale=np.minimum(upper, 1.0 - upper))

    @property
    def total_variation(self) -> float:
        """Delta at epsilon 0: the attacker's advantage over blind guessing; 0 none, 1 certain knowledge."""
        return float(self.delta(0.0))

    @property
    def area(self) -> float:
        """Area under the trade-off curve, never above the truth: 1/2 is perfect privacy, 0 none."""
        return self.area_bounds[0]

    @property
    def area_bounds(self) -> tuple[float, float]:
        """Bounds of the area under the trade-off curve; lower is safe, and an upper bound of 1/2 means that it is unknown."""
        below, exact = tangents.area(self.curve)
        below = gate.area(self, below)
        return below, below if exact else max(0.5, below)

    @property
    def is_symmetric(self) -> bool:
        """Whether both directions of the pair are the same curve."""
        return self.pair.symmetric

    @property
    def is_polygon(self) -> bool:
        """Whether the published curve is piecewise linear."""
        return isinstance(published(self.curve), Polygon)

    def _polygon(self, what: str) -> Polygon:
        shape = published(self.curve)
        if not isinstance(shape, Polygon):
            msg = f"{shorten(self.text)} is a smooth curve and has no {what}; ask for values at points instead."
            raise DomainError(msg)
        if shape.corner_count > MOST_CORNERS:
            msg = f"{shorten(self.text)} has {shape.corner_count} corners; at most {MOST_CORNERS} are listed."
            raise BudgetError(msg)
        return shape

    def vertices(self) -> tuple[FloatArray, FloatArray]:
        """Return the corner points (alpha, beta) of a polygon: its own, or those of the published bound."""
        alpha, beta = self._polygon("corners").vertices
        gate.corners(self, alpha, beta, ("alpha", "beta"))
        return alpha, beta

    def corners(self) -> tuple[FloatArray, FloatArray]:
        """Return the corners of a polygon as (epsilon, delta) statements, from epsilon 0 upwards."""
        epsilon, delta = self._polygon("corners").corners()
        gate.corners(self, epsilon, delta, ("epsilon", "delta"))
        return epsilon, delta

    def atoms(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the losses of a polygon with their masses under P0 and P1 (the rest to 1 is at infinity)."""
        polygon = self._polygon("loss atoms")
        return polygon.loss, polygon.p, polygon.q

    def symmetric(self) -> TradeOff:
        """Return the symmetric closure as a region of its own (``symmetric(...)`` in the language)."""
        from dpcore.regions.algebra import Symmetric  # noqa: PLC0415  operations are nodes themselves

        return Symmetric(self)

    def inverse(self) -> TradeOff:
        """Return the region of the exchanged pair (itself when symmetric)."""
        from dpcore.regions.custom import CustomRegion  # noqa: PLC0415  operations are nodes themselves

        return (
            self if self.is_symmetric else CustomRegion(self.pair.inverse(), f"inverse of {self.text}", self.neighbours)
        )

    def same_region(self, other: TradeOff, tolerance: float = 1e-12) -> bool:
        """Whether two regions have the same deltas up to `tolerance`, on a grid that covers both."""
        ends = [e for c in (self.curve, other.curve) for e in (c.max_loss,) if np.isfinite(e)]
        top = max([1.0, *ends])
        grid = np.unique(np.concatenate((np.linspace(0, top, 101), np.linspace(0, 8, 33), _some_losses(self, other))))
        a, b = self.delta_bounds(grid)[1], other.delta_bounds(grid)[1]
        return bool(np.all(np.abs(a - b) <= tolerance * (1 + np.maximum(a, b))))

    # ---- algebra ---------------------------------------------------------------------------------------------

    def __and__(self, other: TradeOff) -> TradeOff:
        """Both hold: the intersection."""
        from dpcore.regions.algebra import Intersection  # noqa: PLC0415  operations are nodes themselves

        return Intersection.of(self, joinable(other, "&"))

    def __mul__(self, other: TradeOff) -> TradeOff:
        """Composition: both answers are released."""
        from dpcore.regions.algebra import Product  # noqa: PLC0415  operations are nodes themselves

        return Product.of(self, joinable(other, "*"))

    def __pow__(self, k: Whole) -> TradeOff:
        """k-fold composition."""
        from dpcore.regions.algebra import Power  # noqa: PLC0415  operations are nodes themselves

        return Power(self, exponent(k))

    def __xor__(self, other: object) -> TradeOff:
        """Refuse ``^``, which in Python binds weaker than ``*``."""
        msg = f"In Python k-fold composition is written ** k, not ^: use ({shorten(self.text)}) ** {value_text(other)}."
        raise DomainError(msg)


def closed_either_way(curve: Curve) -> Curve:
    """Return the symmetric closure of a curve, of a polygon as a polygon."""
    return closure(curve) if isinstance(curve, Polygon) else closed(curve)


def exponent(k: object) -> int:
    """Return k as an integer from 1 upwards, or raise a sentence that names it."""
    return cast("int", _EXPONENT.check(k))


def joinable(other: object, sign: str) -> TradeOff:
    """Return the region, or raise a sentence that says the operator `sign` joins regions only."""
    if not getattr(other, "is_region", False):
        msg = f"{sign} joins two regions, got {value_text(other)}."
        raise DomainError(msg)
    return cast("TradeOff", other)


class Atom(TradeOff):
    """A named region: a dataclass whose fields are its parameters, checked on construction.

    `grows_with` lists the fields that the region grows (1) or shrinks (-1) with while all others stay the same: if each of
    them moves that way, the new region contains the old one.
    """

    entry: ClassVar[Entry]
    grows_with: ClassVar[tuple[tuple[str, int], ...]] = ()

    def __post_init__(self) -> None:
        """Check every field against its parameter."""
        for name, parameter in parameters_of(type(self)):
            argument = getattr(self, name)
            value = parameter.check(argument)
            if value is not argument:
                object.__setattr__(self, name, value)

    @property
    def text(self) -> str:
        """Name and arguments in the order of the table, defaults left out."""
        return call(self.entry.name, [(p, getattr(self, name)) for name, p in parameters_of(type(self))])

    @property
    def legend(self) -> str:
        """Its title and its numbers; its expression where an argument is not a number."""
        arguments = [(p, getattr(self, name)) for name, p in parameters_of(type(self))]
        stated = [(p, value) for p, value in arguments if p.required or value != p.default]
        if any(p.kind not in {"number", "integer"} for p, _ in stated):
            return self.text
        return ", ".join((self.entry.short_title, *(f"{p.label or p.name} = {nearest(value)}" for p, value in stated)))

    @property
    def identity(self) -> Hashable:
        """Its type and arguments, which the canonical text spells out."""
        return type(self), _arguments_of(type(self))(self)

    @property
    def fails(self) -> bool:
        """Whether its own loss, or that of a region it is made of, may be infinite: an operation alone makes none so."""
        if not super().fails:
            return False
        regions: list[TradeOff] = []
        for name, parameter in parameters_of(type(self)):
            if parameter.kind in {"region", "regions"}:
                inner = getattr(self, name)
                regions += inner if parameter.kind == "regions" else [inner]
        return not regions or any(region.fails for region in regions)

    @property
    def neighbours(self) -> str:
        """The relation the entry states."""
        return self.entry.neighbours

    @property
    def theorem(self) -> str:
        """The entry's title."""
        return self.entry.title


@cache
def parameters_of(cls: type) -> tuple[tuple[str, Parameter], ...]:
    """Return (field name, parameter) of an atom; a field ends in _ where its parameter is named like a question."""
    return tuple((f.name, f.metadata["parameter"]) for f in dataclasses.fields(cls) if "parameter" in f.metadata)


@cache
def _arguments_of(cls: type) -> Callable[[Any], Any]:
    names = [name for name, _ in parameters_of(cls)]
    return attrgetter(*names) if names else lambda _: ()


def call(name: str, arguments: list[tuple[Parameter, Any]]) -> str:
    """Return ``name(a, b)``, the arguments as the language writes them."""
    return f"{name}({', '.join(argument_texts(arguments))})"


def argument_texts(arguments: list[tuple[Parameter, Any]]) -> list[str]:
    """Return arguments as texts: positional at first, by name after the first default that is left out."""
    texts: list[str] = []
    skipped = False
    for parameter, value in arguments:
        if parameter.kind == "regions":
            texts += [str(item) for item in value]
        elif not parameter.required and value == parameter.default:
            skipped = True
        else:
            text = literal(value)
            texts.append(f"{parameter.name}={text}" if skipped else text)
    return texts


def literal(value: Any) -> str:
    """Return a value as the language writes it."""
    if isinstance(value, TradeOff):
        return value.text
    if isinstance(value, str):
        return '"' + value + '"'
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(literal(item) for item in value) + "]"
    return numeral(value)


def shorten(text: str, most: int = 60) -> str:
    """Return a text short enough for a message."""
    return text if len(text) <= most else text[: most - 3] + "..."


def _check_width(what: str, at: FloatArray, lower: FloatArray, upper: FloatArray) -> None:
    """Refuse a bracket wider than the tolerance; the message names its width."""
    tolerance = current().tolerance
    with np.errstate(divide="ignore", invalid="ignore"):  # 0 and infinity on both sides
        width = np.where((lower < upper) & (upper > _NEGLIGIBLE), 1.0 - lower / upper, 0.0)
    worst = int(np.argmax(width))
    if width[worst] > tolerance:
        seconds = remarked()
        time = "" if seconds is None else f", which would take up to about {nearest(max(seconds, 1.0), 2)} s"
        msg = (
            f"The bracket of {what} = {numeral(at[worst])} reached the relative width "
            f"{nearest(width[worst], 2)}, not the tolerance of {nearest(tolerance, 2)}{time}; allow a larger one."
        )
        raise BudgetError(msg)


def _answer(question: Any, values: FloatArray) -> float | FloatArray:
    """Return a float for a scalar question, an array for a list."""
    return float(values[0]) if np.ndim(question) == 0 and not isinstance(question, Iterator) else values


def _some_losses(*regions: TradeOff) -> FloatArray:
    """Return up to 200 losses >= 0 of the polygons among the regions."""
    losses = [np.zeros(1)]
    for region in regions:
        shape = published(region.curve)
        if isinstance(shape, Polygon):
            loss = shape.loss[shape.loss >= 0]
            losses.append(loss[:: max(1, loss.size // 200)])
    return np.concatenate(losses)
