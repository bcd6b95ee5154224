"""The question of an analyst, and the promise that every answer keeps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.core.domains import PROBABILITY
from dpcore.core.errors import DomainError
from dpcore.core.lazy import Lazy
from dpcore.core.numerals import nearest, numeral
from dpcore.core.registry import DELTA, EPSILON, ETA, value_text
from dpcore.regions.guarantees import DP, DPTV, TV, largest_eta

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dpcore.curves.base import FloatArray
    from dpcore.regions.tradeoff import TradeOff

SUM_TOLERANCE = 1e-9  # how far probabilities may be from adding up to 1; they are divided by their sum
MOST_LETTERS = 64
MOST_EPSILON = 100.0  # e^100 and its square are ordinary doubles
LONGEST_NAME = 24  # characters
RESERVED = ("erased", "nothing", "letter")
_SAME_RATIO = 1e-13  # letters whose share P0 / (P0 + P1) differs by less are one letter to every test


@dataclass(frozen=True)
class Hypotheses:
    r"""Two distributions of a person's private letter; one of them is true for everyone.

    Parameters
    ----------
    p0, p1 : tuple of float
        Probabilities of the same 2 to 64 letters; each list adds up to 1 within 1e-9 (it is then divided by
        its sum, so that 1/3, 1/3, 1/3 is exact to the last digit).
    letters : tuple of str, default ()
        Names, by default 1, 2, 3, ...
    """

    p0: tuple[float, ...]
    p1: tuple[float, ...]
    letters: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check lengths, signs and sums."""
        p0, p1 = _masses(self.p0, "P0"), _masses(self.p1, "P1")
        if len(p0) != len(p1):
            msg = f"P0 and P1 must have the same number of letters, got {len(p0)} and {len(p1)}."
            raise DomainError(msg)
        letters = tuple(self.letters) or tuple(str(i + 1) for i in range(len(p0)))
        if len(letters) != len(p0):
            msg = f"There must be as many names as letters ({len(p0)}), got {len(letters)}."
            raise DomainError(msg)
        for name in letters:
            if not 0 < len(str(name).strip()) <= LONGEST_NAME or "," in name:
                msg = f"A letter's name must have 1 to {LONGEST_NAME} characters and no comma, got {value_text(name)}."
                raise DomainError(msg)
            if name in RESERVED:
                msg = f"A letter cannot be called {name!r}: channels use that word."
                raise DomainError(msg)
        if len(set(letters)) < len(letters):
            msg = f"Every letter must have its own name, got {value_text(list(letters))}."
            raise DomainError(msg)
        for name, value in (("p0", p0), ("p1", p1), ("letters", letters)):
            object.__setattr__(self, name, value)

    @property
    def size(self) -> int:
        """Number of letters."""
        return len(self.p0)

    @Lazy
    def arrays(self) -> tuple[FloatArray, FloatArray]:
        """P0 and P1 as arrays."""
        return np.array(self.p0), np.array(self.p1)

    @Lazy
    def total_variation(self) -> float:
        """Half the sum of |P0 - P1|: 0 if they are the same, 1 if no letter is possible under both."""
        return math.fsum(abs(a - b) for a, b in zip(self.p0, self.p1, strict=True)) / 2

    @Lazy
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Letters grouped by likelihood ratio, the most likely under P0 first; impossible letters join the first group.

        Averaging the rows of such letters changes no output and keeps every promise, so nothing is lost.
        """
        share = [a / (a + b) if a + b > 0 else math.inf for a, b in zip(self.p0, self.p1, strict=True)]
        groups: list[list[int]] = []
        for x in sorted((x for x in range(self.size) if share[x] <= 1), key=lambda x: -share[x]):
            if groups and share[groups[-1][0]] - share[x] <= _SAME_RATIO:
                groups[-1].append(x)
            else:
                groups.append([x])
        groups[0] += [x for x in range(self.size) if share[x] > 1]
        return tuple(tuple(sorted(group)) for group in groups)

    @Lazy
    def grouped(self) -> tuple[FloatArray, FloatArray]:
        """P0 and P1 of the groups."""
        first, second = self.arrays
        return np.array([first[list(g)].sum() for g in self.groups]), np.array(
            [second[list(g)].sum() for g in self.groups]
        )


def _masses(values: Iterable[Any], name: str) -> tuple[float, ...]:
    """Return probabilities divided by their sum; raise if one is not a probability."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        msg = f"{name} must be a list of probabilities, got {value_text(values)}."
        raise DomainError(msg)
    items = list(values)
    if not 2 <= len(items) <= MOST_LETTERS:
        msg = f"{name} must have 2 to {MOST_LETTERS} letters, got {len(items)}."
        raise DomainError(msg)
    masses = PROBABILITY.but(name=f"A probability of {name}", high=1.0 + SUM_TOLERANCE).array(items).tolist()
    total = math.fsum(masses)
    if abs(total - 1.0) > SUM_TOLERANCE:
        msg = f"{name} must add up to 1 within {nearest(SUM_TOLERANCE)}, got {numeral(total)}."
        raise DomainError(msg)
    return tuple(value / total for value in masses)


@dataclass(frozen=True)
class LocalPromise:
    r"""What every answer guarantees, whatever the letter: local (epsilon, delta)-DP and a total variation of at most eta.

    .. math:: Q(S|x)\le e^{\varepsilon}Q(S|x')+\delta,\qquad d_{TV}(Q(\cdot|x),Q(\cdot|x'))\le\eta

    for all letters x, x' and sets of answers S. The total variation is never above
    :math:`\delta+(1-\delta)\tanh(\varepsilon/2)` (`ceiling`); a larger eta changes nothing.

    Parameters
    ----------
    epsilon : float
        In [0, 100]; 0 lets nothing through.
    delta : float, default 0
        In [0, 1).
    eta : float, optional
        In [delta, 1]; None adds nothing to epsilon and delta.
    """

    epsilon: float
    delta: float = 0.0
    eta: float | None = None

    def __post_init__(self) -> None:
        """Check every number against its domain."""
        epsilon = EPSILON.but(infinite=False, high=MOST_EPSILON).check(self.epsilon)
        delta = DELTA.but(high_open=True).check(self.delta)
        eta = None if self.eta is None else ETA.but(low=delta).check(self.eta)
        for name, value in (("epsilon", epsilon), ("delta", delta), ("eta", eta)):
            object.__setattr__(self, name, value)

    @property
    def ceiling(self) -> float:
        """The largest total variation that epsilon and delta allow: delta + (1 - delta) tanh(epsilon / 2)."""
        return float(largest_eta(self.epsilon, self.delta))

    @property
    def total_variation(self) -> float:
        """The largest total variation of a channel that keeps the promise."""
        return self.ceiling if self.eta is None else min(self.eta, self.ceiling)

    @property
    def binds(self) -> bool:
        """Whether eta is stricter than epsilon and delta."""
        return self.eta is not None and self.eta < self.ceiling

    @property
    def open_share(self) -> float:
        """Share of the answers of a binary mechanism that are not erased: (eta - delta) / (ceiling - delta), at most 1."""
        room = (1.0 - self.delta) * math.tanh(self.epsilon / 2)
        return min(1.0, (self.total_variation - self.delta) / room) if self.binds and room > 0 else 1.0

    @property
    def region(self) -> TradeOff:
        """The region of the promise itself."""
        if self.epsilon == 0:
            return TV(self.total_variation)
        return DPTV(self.epsilon, self.delta, self.total_variation) if self.binds else DP(self.epsilon, self.delta)

    def at(self, epsilon: float) -> LocalPromise:
        """Return the promise with another epsilon."""
        return LocalPromise(epsilon, self.delta, self.eta)

    def without_eta(self) -> LocalPromise:
        """Return the promise without its bound on the total variation."""
        return LocalPromise(self.epsilon, self.delta)

    def __str__(self) -> str:
        """Return the numbers, as in ``ε = 1, δ = 0.01``."""
        parts = [f"ε = {nearest(self.epsilon)}"]
        if self.delta > 0:
            parts.append(f"δ = {nearest(self.delta)}")
        if self.eta is not None:
            parts.append(f"η = {nearest(self.eta)}")
        return ", ".join(parts)
