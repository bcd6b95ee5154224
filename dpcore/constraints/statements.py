"""A list of (epsilon, delta) statements that one mechanism satisfies at the same time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

from dpcore.core.errors import DomainError
from dpcore.core.lazy import Lazy
from dpcore.core.numerals import numeral
from dpcore.core.registry import DELTA, EPSILON
from dpcore.language import parse
from dpcore.regions.guarantees import DP, DPTV, TV
from dpcore.regions.tradeoff import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dpcore.regions.tradeoff import TradeOff

MOST = 40  # statements in a list
LONGEST = 4000  # characters in its text
_REGION = re.compile(r"(?!(?:log|sqrt|inf)\b)[A-Za-z_(]")


@dataclass(frozen=True, slots=True)
class Constraint:
    """(epsilon, delta)-DP in both directions; epsilon 0 bounds the total variation by delta."""

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        """Check that epsilon is finite and not negative, and that delta is a probability."""
        object.__setattr__(self, "epsilon", EPSILON.but(infinite=False).check(self.epsilon) + 0.0)
        object.__setattr__(self, "delta", DELTA.check(self.delta) + 0.0)

    @property
    def region(self) -> TradeOff:
        """Its region: ``tv(delta)`` if epsilon is 0."""
        return TV(self.delta) if self.epsilon == 0 else DP(self.epsilon, self.delta)

    def __str__(self) -> str:
        """Return ``0.6, 0.05``."""
        return f"{numeral(self.epsilon)}, {numeral(self.delta)}"


@dataclass(frozen=True)
class Constraints:
    """Statements that hold together, in the order given.

    Examples
    --------
    >>> Constraints.read("0.6, 0.05; 0, 0.2").region
    dp(0.6, 0.05) & tv(0.2)
    """

    items: tuple[Constraint, ...]

    def __post_init__(self) -> None:
        """Check the number of statements."""
        if not 1 <= len(self.items) <= MOST:
            msg = f"A list holds 1 to {MOST} statements, got {len(self.items)}."
            raise DomainError(msg)

    @classmethod
    def of(cls, *pairs: tuple[float, float]) -> Constraints:
        """Return the list of pairs (epsilon, delta)."""
        return cls(tuple(Constraint(*pair) for pair in pairs))

    @classmethod
    def read(cls, text: str) -> Constraints:
        """Read ``0.6, 0.05; 0, 0.2``: pairs joined by ``;``, numbers as in the language (``log(3)``, ``1/3``).

        ``dp(0.6, 0.05)``, ``tv(0.2)`` and ``dptv(0.6, 0.05, 0.2)`` may stand for pairs, and ``&`` for ``;``.
        """
        if len(text) > LONGEST:
            msg = f"A list of statements has at most {LONGEST} characters, got {len(text)}."
            raise DomainError(msg)
        pieces = [piece.strip() for piece in text.replace("&", ";").split(";")]
        return cls(tuple(one for piece in pieces if piece for one in _piece(piece)))

    @property
    def text(self) -> str:
        """The list as written in a field or a link."""
        return "; ".join(str(item) for item in self.items)

    @Lazy
    def region(self) -> TradeOff:
        """What all statements together promise: the intersection of their regions, f = max_i f_i."""
        return reduce(and_, (item.region for item in self.items))

    def composed(self, k: int) -> TradeOff:
        """Return what k such mechanisms promise together: f composed k times, which some mechanism attains."""
        return self.region if k == 1 else self.region**k


def _piece(text: str) -> Iterable[Constraint]:
    """Return the statements in one piece of a list."""
    atom = parse(text if _REGION.match(text) else f"dp({text})")
    if isinstance(atom, DP):
        return [Constraint(atom.epsilon_, atom.delta_)]
    if isinstance(atom, TV):
        return [Constraint(0.0, atom.eta)]
    if isinstance(atom, DPTV):
        return [Constraint(atom.epsilon_, atom.delta_), Constraint(0.0, atom.eta)]
    msg = f"A list holds pairs ε, δ, or dp, tv and dptv; {shorten(str(atom))} is something else."
    raise DomainError(msg)
