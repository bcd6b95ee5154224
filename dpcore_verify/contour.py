"""The contour integral: delta as a sum over nodes of a vertical line, with proved bounds of all that is left out.

On the line s = c + i n step the whole sum equals the sum over m of e^(cmW) D(epsilon + mW), D = delta - delta(infinity), W =
2 pi / step. Its terms are not negative, the one with m = 0 is wanted, and Chernoff's bound limits the others. If the losses lie
on a lattice the sum is finite. The nodes that are not evaluated are bounded interval by interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING

from flint import acb, arb

from dpcore_verify.expression import Unproved, ball
from dpcore_verify.laws import Atoms
from dpcore_verify.sums import lattice, split
from dpcore_verify.work import spend

if TYPE_CHECKING:
    from fractions import Fraction

    from dpcore_verify.laws import Tilt
    from dpcore_verify.regions import Composition

MOST_NODES = 60_000
MOST_INTERVALS = 6_000


@dataclass(frozen=True)
class Line:
    """What a certificate says about the sum."""

    c: Fraction
    """The line Re s = c."""
    window: Fraction
    """W; on a lattice, how many steps of it."""
    nodes: int
    """How many nodes are evaluated on each side of the real one."""
    above: Fraction
    below: Fraction
    """Where Chernoff's bound is taken for m > 0 and m < 0: below < c < above."""


@dataclass(frozen=True)
class Sum:
    """The enclosure."""

    low: arb
    high: arb


def on_line(composition: Composition, epsilon: Fraction, line: Line, finest: float = 1.0) -> Sum:
    """Return delta by the sum over a line; `finest` is how short intervals of the truncation may become."""
    step = 2 * arb.pi() / ball(line.window)
    c, e = ball(line.c), ball(epsilon)
    values = _transform(composition, c, step, line.nodes)
    total = arb(0)
    for n, value in enumerate(values):
        s = acb(c, n * step)
        term = value * (-s * e).exp() / (s * (s + 1))
        total += term.real * (2 if n else 1)
    total *= step / (2 * arb.pi())
    scale = composition.real(c) * (-c * e).exp()
    far = _beyond(composition, c, (line.nodes + 1) * step, step, abs(total) / scale, finest)
    return _enclosed(composition, e, line, ball(line.window), total, scale * far / arb.pi())


def on_lattice(composition: Composition, epsilon: Fraction, line: Line) -> Sum:
    """Return delta of losses on a lattice; the window is a number of its steps."""
    atoms, rest = split(composition)
    if rest or any(law.keys is None for law, _ in atoms) or line.window.denominator != 1:
        msg = "The method 'lattice' needs finite laws whose losses are multiples of one number."
        raise Unproved(msg)
    gap, low, _ = lattice(atoms)
    if not gap:
        msg = "The method 'lattice' needs at least two losses."
        raise Unproved(msg)
    count = int(line.window)
    # the first loss above epsilon
    first = low + gap * (floor((epsilon - low) / gap) + 1)
    x, h = ball(first - epsilon), ball(gap)
    c, e = ball(line.c), ball(epsilon)
    step = 2 * arb.pi() / (count * h)
    if 2 * line.nodes >= count:
        msg = "There are more nodes than the lattice has."
        raise Unproved(msg)
    total = arb(0)
    for n, value in enumerate(_transform(composition, c, step, line.nodes)):
        s = acb(c, n * step)
        kernel = (-s * x).exp() / (1 - (-s * h).exp()) - (-(s + 1) * x).exp() / (1 - (-(s + 1) * h).exp())
        total += (value * (-s * e).exp() * kernel).real * (2 if n else 1)
    total /= count
    kernel0 = (-c * x).exp() / (1 - (-c * h).exp()) - (-(c + 1) * x).exp() / (1 - (-(c + 1) * h).exp())
    far = _between(composition, c, (line.nodes + 1) * step, arb.pi() / h, step)
    scale = composition.real(c) * (-c * e).exp() * kernel0
    return _enclosed(composition, e, line, count * h, total, 2 * scale * far / count)


def _transform(composition: Composition, c: arb, step: arb, nodes: int) -> list[acb]:
    """Return M at the nodes."""
    if nodes > MOST_NODES:
        msg = f"This checker evaluates at most {MOST_NODES} nodes."
        raise Unproved(msg)
    spend(sum(4.0 * (nodes + 1) * (4 + k.bit_length()) for _, k in composition.parts))
    values = [acb(1)] * (nodes + 1)
    for law, k in composition.parts:
        values = [value * term**k for value, term in zip(values, law.line(c, step, nodes), strict=True)]
    return values


def _enclosed(composition: Composition, e: arb, line: Line, window: arb, total: arb, truncation: arb) -> Sum:
    """Take the errors off the sum and add them to it."""
    if not 0 <= line.below < line.c < line.above:
        msg = "The places of Chernoff's bound must lie on both sides of the line."
        raise Unproved(msg)
    excess = arb(0)
    for place, gap in ((line.above, line.above - line.c), (line.below, line.c - line.below)):
        t, shrink = ball(place), (-ball(gap) * window).exp()
        worst = t**t / (t + 1) ** (t + 1) if place else arb(1)
        excess += worst * composition.real(t) * (-t * e).exp() * shrink / (1 - shrink)
    lost = composition.lost
    low, high = total - truncation - excess, total + truncation
    return Sum(lost + low.nonnegative_part() if low > 0 else lost, lost + high)


def _beyond(composition: Composition, c: arb, start: arb, step: arb, size: arb, finest: float) -> arb:
    """Return a bound of the sum over the nodes from `start` on of step |phi(y)| / y^2, for both signs together.

    Intervals are added until the rest, bounded in closed form, is below 2^-40 of the sum itself. They are short where they weigh.
    """
    tilts = [(law.tilt(c), k) for law, k in composition.parts]
    total, y, aim, part = arb(0), start, size * arb(2) ** -40, finest
    for _ in range(MOST_INTERVALS):
        rest = _rest(tilts, y, step)
        if rest < aim:
            break
        high = min([y * 1.25, *(tilt.stride(y) for tilt, _ in tilts)])
        high = (y + (high - y) * part).upper()
        # both neighbours of the interval count a node that lies on its end, which is more than enough
        more = _bound(tilts, y, high) / (y * y) * (high - y + step)
        total, y, part = total + more, high, min(1.0, 2 * part) if more < aim else max(finest, part / 2)
    else:
        rest = _rest(tilts, y, step)
    return total + rest


def _between(composition: Composition, c: arb, start: arb, end: arb, step: arb) -> arb:
    """Return a bound of the sum over the nodes from `start` to `end` of |phi(y)|."""
    tilts = [(law.tilt(c), k) for law, k in composition.parts]
    total, y = arb(0), start
    for _ in range(MOST_INTERVALS):
        if y >= end:
            return total
        high = min([end.upper(), y * 1.25, *(tilt.stride(y) for tilt, _ in tilts)])
        total += _bound(tilts, y, high) * ((high - y) / step + 1)
        y = high
    msg = f"The lattice is too fine for {MOST_INTERVALS} intervals."
    raise Unproved(msg)


def _bound(tilts: list[tuple[Tilt, int]], low: arb, high: arb) -> arb:
    value = arb(1)
    for tilt, k in tilts:
        value *= min(arb(1), tilt.bound(low, high).upper()) ** k
    return value.upper()


def _rest(tilts: list[tuple[Tilt, int]], y: arb, step: arb) -> arb:
    """Return the bound of the nodes from y on: A (step y^-(p+2) + y^-(p+1) / (p+1))."""
    scale, power = arb(1), 0
    for tilt, k in tilts:
        a, p = tilt.tail(y)
        if p == 0:
            scale *= min(arb(1), a.upper()) ** k
        elif a < y:  # otherwise the trivial bound 1 is better here
            scale, power = scale * a**k, power + p * k
    return scale * (step / y ** (power + 2) + 1 / (y ** (power + 1) * (power + 1)))


def is_lattice(composition: Composition) -> bool:
    """Whether every law is finite with exact losses."""
    return all(isinstance(law, Atoms) and law.keys is not None for law, _ in composition.parts)
