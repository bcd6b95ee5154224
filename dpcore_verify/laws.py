"""Privacy losses: the law of L = log dP1/dP0 under P1, one class for each family, in ball arithmetic.

A law has its transform M(s) = E[e^(sL)] over the finite losses, in closed form. Tilted to a line Re s = c it also bounds
|M(c + iy)| / M(c) over intervals of y, and for all large y. The guide text "How to check a certificate" has the proofs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from flint import acb, arb, arb_series

from dpcore_verify.work import spend

if TYPE_CHECKING:
    from fractions import Fraction


class Law(Protocol):
    """The law of a loss."""

    @property
    def lost(self) -> arb:
        """The mass of P1 at infinite loss."""
        ...

    def reversed(self) -> Law:
        """Return the law of the exchanged pair."""
        ...

    def real(self, c: arb) -> arb:
        """Return M(c) for a real c >= 0."""
        ...

    def line(self, c: arb, step: arb, count: int) -> list[acb]:
        """Return M(c + i n step) for n = 0, ..., count."""
        ...

    def tilt(self, c: arb) -> Tilt:
        """Return the law tilted by e^(cL)."""
        ...


class Tilt(Protocol):
    """A law on a line Re s = c; phi(y) = M(c + iy) / M(c)."""

    def stride(self, y: arb) -> arb:
        """Return how far an interval that starts at y should reach."""
        ...

    def bound(self, low: arb, high: arb) -> arb:
        """Return an upper bound of |phi| over [low, high]."""
        ...

    def tail(self, y: arb) -> tuple[arb, int]:
        """Return (A, p) with |phi(y')| <= A y'^-p for all y' >= y."""
        ...


@dataclass(frozen=True)
class Atoms:
    """Finitely many losses with their masses under P0 and P1, and the masses at minus and plus infinity."""

    losses: tuple[arb, ...]
    p: tuple[arb, ...]
    q: tuple[arb, ...]
    p_lost: arb
    lost: arb
    keys: tuple[Fraction, ...] | None = None
    """The losses as exact fractions, where they are."""
    symmetric: bool = False

    def reversed(self) -> Atoms:
        """Return the exchanged pair: losses change their sign, masses their place."""
        if self.symmetric:
            return self
        keys = None if self.keys is None else tuple(-key for key in self.keys)
        return Atoms(tuple(-loss for loss in self.losses), self.q, self.p, self.lost, self.p_lost, keys)

    def weights(self, c: arb) -> list[arb]:
        """Return q e^(cL)."""
        return [q * (c * loss).exp() for q, loss in zip(self.q, self.losses, strict=True)]

    def real(self, c: arb) -> arb:
        """Return the sum of q e^(cL)."""
        return sum(self.weights(c), arb(0))

    def line(self, c: arb, step: arb, count: int) -> list[acb]:
        """Return the sum of q e^(sL) at every node."""
        spend(12.0 * len(self.losses) * (count + 2))
        terms = [(w, step * loss) for w, loss in zip(self.weights(c), self.losses, strict=True)]
        return [sum((w * acb(0, n * turn).exp() for w, turn in terms), acb(0)) for n in range(count + 1)]

    def tilt(self, c: arb) -> Compact:
        """Return the masses q e^(cL)."""
        weights, total = self.weights(c), self.real(c)
        mean = sum((w * loss for w, loss in zip(weights, self.losses, strict=True)), arb(0)) / total
        square = sum((w * (loss - mean) ** 2 for w, loss in zip(weights, self.losses, strict=True)), arb(0)) / total
        lowest = highest = self.losses[0]
        for loss in self.losses:  # balls around the extremes: no loss is taken for another
            lowest, highest = lowest.min(loss), highest.max(loss)
        return AtomsTilt(square.nonnegative_part(), highest - lowest, c, total, self)


@dataclass(frozen=True)
class Compact:
    """A tilted law on an interval, with enclosures of its variance and of the interval's width."""

    variance: arb
    width: arb
    c: arb
    total: arb

    @cached_property
    def reach(self) -> arb:
        """Pi over the width: up to here the window inequality holds."""
        return (arb.pi() / self.width).lower() if self.width > 0 else arb("inf")

    @cached_property
    def spread(self) -> arb:
        """An upper bound of the standard deviation, hence of |phi'| after centring."""
        return self.variance.sqrt().upper()

    def stride(self, y: arb) -> arb:
        """Return a fifth beyond y inside the window, and a part of the spread's inverse outside."""
        if y < self.reach:
            return min(y * 1.25, self.reach)
        return y + 0.25 / self.spread

    def bound(self, low: arb, high: arb) -> arb:
        """Return the window inequality, or the value in the middle and the Lipschitz constant."""
        if high <= self.reach:
            return window(self.variance, low)
        return (self.at((low + high) / 2) + self.spread * (high - low) / 2).upper()

    def at(self, y: arb) -> arb:
        """Return |phi(y)|."""
        raise NotImplementedError

    def tail(self, y: arb) -> tuple[arb, int]:  # noqa: ARG002  the atoms of such a law do not decay
        """Return 1."""
        return arb(1), 0


@dataclass(frozen=True)
class AtomsTilt(Compact):
    """Atoms on a line."""

    law: Atoms

    def at(self, y: arb) -> arb:
        """Return |phi(y)| from the sum."""
        return abs(self.law.line(self.c, y, 1)[1]) / self.total


@dataclass(frozen=True)
class Normal:
    """The Gaussian pair at distance mu: L is normal with mean mu^2/2 and variance mu^2."""

    square: arb
    """mu^2."""
    lost: arb = arb(0)

    def reversed(self) -> Normal:
        """Return itself."""
        return self

    def real(self, c: arb) -> arb:
        """Return e^(mu^2 (c^2 + c) / 2)."""
        return (self.square * (c * c + c) / 2).exp()

    def line(self, c: arb, step: arb, count: int) -> list[acb]:
        """Return the same with complex s."""
        spend(12.0 * (count + 1))
        nodes = (acb(c, n * step) for n in range(count + 1))
        return [(self.square * (s * s + s) / 2).exp() for s in nodes]

    def tilt(self, c: arb) -> NormalTilt:  # noqa: ARG002  |phi| does not depend on the tilt
        """Return its decay."""
        return NormalTilt(self.square)

    def delta(self, epsilon: arb) -> arb:
        """Return Phi(mu/2 - e/mu) - e^e Phi(-mu/2 - e/mu)."""
        mu = self.square.sqrt()
        return _below(mu / 2 - epsilon / mu) - epsilon.exp() * _below(-mu / 2 - epsilon / mu)


@dataclass(frozen=True)
class NormalTilt:
    """|phi(y)| = e^(-mu^2 y^2 / 2)."""

    square: arb

    def stride(self, y: arb) -> arb:
        """Return a fifth beyond y."""
        return y * 1.25

    def bound(self, low: arb, high: arb) -> arb:  # noqa: ARG002  it falls
        """Return the value at the lower end."""
        return (-self.square * low * low / 2).exp()

    def tail(self, y: arb) -> tuple[arb, int]:
        """Return the value at y."""
        return (-self.square * y * y / 2).exp(), 0


@dataclass(frozen=True)
class Laplace:
    """Laplace noise: atoms at e and -e and a density between; M(s) = ((s+1) e^(se) + s e^(-(s+1)e)) / (2s+1)."""

    epsilon: arb
    key: Fraction | None = None
    lost: arb = arb(0)

    def reversed(self) -> Laplace:
        """Return itself."""
        return self

    def real(self, c: arb) -> arb:
        """Return the closed form."""
        e = self.epsilon
        return ((c + 1) * (c * e).exp() + c * (-(c + 1) * e).exp()) / (2 * c + 1)

    def line(self, c: arb, step: arb, count: int) -> list[acb]:
        """Return the closed form at every node."""
        spend(30.0 * (count + 1))
        e = self.epsilon
        nodes = (acb(c, n * step) for n in range(count + 1))
        return [((s + 1) * (s * e).exp() + s * (-(s + 1) * e).exp()) / (2 * s + 1) for s in nodes]

    def tilt(self, c: arb) -> LaplaceTilt:
        """Return its variance, the second derivative of log M."""
        s, e = arb_series([c, 1], prec=3), self.epsilon
        value = ((s + 1) * (s * e).exp() + s * (-(s + 1) * e).exp()) / (2 * s + 1)
        return LaplaceTilt((2 * value.log()[2]).nonnegative_part(), 2 * e, c, self.real(c), self)


@dataclass(frozen=True)
class LaplaceTilt(Compact):
    """Laplace noise on a line."""

    law: Laplace

    def at(self, y: arb) -> arb:
        """Return |phi(y)|."""
        return abs(self.law.line(self.c, y, 1)[1]) / self.total

    def bound(self, low: arb, high: arb) -> arb:
        """Return the better of the general bound and that of the tail."""
        return least(Compact.bound(self, low, high), self.tail(low)[0])

    def tail(self, y: arb) -> tuple[arb, int]:
        """Return e^(ce) |s+1|/|2s+1| + e^(-(c+1)e)/2 over M(c): |s+1|/|2s+1| falls with y, |s|/|2s+1| is below 1/2."""
        s, e, c = acb(self.c, y), self.law.epsilon, self.c
        return ((c * e).exp() * abs(s + 1) / abs(2 * s + 1) + (-(c + 1) * e).exp() / 2) / self.total, 0


def window(variance: arb, y: arb) -> arb:
    """Return sqrt(1 - 4 y^2 Var / pi^2), a bound of |phi(y')| for y' >= y while y' times the width is at most pi."""
    return (1 - 4 * variance.lower() * y * y / arb.pi() ** 2).nonnegative_part().sqrt()


def least(first: arb, second: arb) -> arb:
    """Return the smaller of two upper bounds."""
    return min(first.upper(), second.upper())


def _below(x: arb) -> arb:
    """Return the normal distribution function."""
    return (-x / arb(2).sqrt()).erfc() / 2
