"""Small samples: the losses of a sampled Gaussian, cut where what lies beyond is certain to count, or certain not to.

One step of a small sample has tiny losses and rare large ones; no line suits both. A step beyond the cut outweighs whatever the
others say, so its share of delta has a closed form, and the rest is an integral over a bounded law. Each panel of the rule of Gauss
and Legendre has a proved error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from flint import arb, ctx

from dpcore_verify import contour
from dpcore_verify.expression import Unproved, ball
from dpcore_verify.laws import Atoms
from dpcore_verify.sampled import CELLS, Sampled, SampledTilt
from dpcore_verify.work import spend

if TYPE_CHECKING:
    from fractions import Fraction

    from dpcore_verify.laws import Law
    from dpcore_verify.regions import Composition

ELLIPSES = (1.3, 1.6, 2.0, 2.5, 3.0, 4.0, 6.0, 9.0, 14.0, 20.0)
"""Sums of the half axes of the ellipses around a panel that are tried; any would do."""
FINEST = 1 / 16
"""How short intervals of the truncation may become: powers of |phi| are large where |phi| is near 1."""
COARSE = 40
"""Bits in which the coarse table is added up: its cells are known to few digits."""
MOST_POINTS = 400
"""Of the rule on one panel."""
MOST_PANELS = 100_000
"""Of one transform: more take minutes, and a plan has no other limit."""


@dataclass(frozen=True)
class Cut(Sampled):
    """The losses of one step whose place x is at most `end`; the masses of both laws add up to less than 1."""

    end: arb = arb(0)

    def beyond(self, w: arb, x: arb) -> arb:  # noqa: ARG002  nothing is left there
        """Return 0."""
        return arb(0)

    def mass(self) -> tuple[arb, arb]:
        """Return what lies beyond the end under the reference law and under the law of the loss."""
        plain = self.above(self.end)
        mixed = (1 - self.q) * plain + self.q * self.above(self.end - 1)
        return (plain, mixed) if self.forward else (mixed, plain)

    def nodes(self, w: arb, y: arb) -> tuple[list[arb], list[arb], arb]:
        """Return the weights of the rule on all panels, log R at its nodes, and a bound of its error for |Im s| <= y."""
        s, s2 = float(self.sigma), self.sigma**2
        wanted = ctx.prec * math.log(2) + 8
        low = arb(-s * math.sqrt(2 * (wanted + 4)))
        count = math.ceil(float(self.end - low) / (0.6 * min(s, s * s)))
        if count > MOST_PANELS:
            msg = f"A transform needs more than {MOST_PANELS} panels."
            raise Unproved(msg)
        spend(40.0 * count * 30)
        edges = [low + (self.end - low) * j / count for j in range(count + 1)]
        panels = [((a + b) / 2, (b - a) / 2) for a, b in pairwise(edges)]
        # the largest term on the panels: an aim, which no proof depends on
        top = max(float(w * self.ratio(x).log() - x * x / (2 * s2)) for x in edges)
        sizes = [self._heights(w, y, m, r) for m, r in panels]
        points = max(
            min((float(height.log()) - top + wanted + 4) / (2 * math.log(rho)) for rho, height in row) for row in sizes
        )
        if points > MOST_POINTS:
            msg = f"A panel needs more than {MOST_POINTS} points."
            raise Unproved(msg)
        n = max(8, math.ceil(points))
        error = self.above(-low) * (1 if self.forward else (1 - self.q) ** w)
        for row in sizes:
            error += min((arb(rho) ** (-2 * n) * height / (1 - 1 / arb(rho))).upper() for rho, height in row)
        spend(30.0 * n * count + 500.0 * n)
        rule, weights, logs = _legendre(n, ctx.prec), [], []
        scale = 1 / ((2 * arb.pi()).sqrt() * self.sigma)
        for m, r in panels:
            for root, weight in rule:
                x = m + r * root
                log = self.ratio(x).log()
                weights.append(scale * r * weight * (w * log - x * x / (2 * s2)).exp())
                logs.append(log)
        return weights, logs, error

    def _heights(self, w: arb, y: arb, m: arb, r: arb) -> list[tuple[float, arb]]:
        """Return ellipses around a panel with 8 r times the maximum of |phi R^(w+iy)| inside."""
        s2, rows = self.sigma**2, []
        for size in ELLIPSES:
            rho = arb(size)
            wide, high = r * (rho + 1 / rho) / 2, r * (rho - 1 / rho) / 2
            theta = high / s2
            if not theta <= arb.pi() / 2:
                break
            near = arb(0).max((abs(m) - wide).upper())
            largest = self.ratio(m + wide)
            turn = theta.min((largest - (1 - self.q)) * theta / (1 - self.q))
            power = (largest if self.forward else 1 - self.q) ** w
            height = ((high * high - near * near) / (2 * s2) + y * turn).exp() * power
            rows.append((size, (8 * r * height / ((2 * arb.pi()).sqrt() * self.sigma)).upper()))
        return rows

    def tilt(self, c: arb) -> CutTilt:
        """Return a coarse table of the tilted law."""
        return CutTilt(self, c, self.real(c))


@dataclass(frozen=True)
class CutTilt(SampledTilt):
    """The table up to the end."""

    law: Cut
    endless: ClassVar[bool] = False

    @cached_property
    def edges(self) -> tuple[list[arb], list[arb]]:
        """Ends of the cells, and log R there."""
        low = arb(-9.0 * float(self.law.sigma))
        edges = [low + (self.law.end - low) * j / CELLS for j in range(CELLS)]
        edges.append(self.law.end)
        return edges, [self.law.ratio(x).log() for x in edges]

    @cached_property
    def spread(self) -> arb:
        """A bound of the mean distance of L from some place, and so of |phi'| once L is centred there."""
        masses, logs, outside = self.table
        place = (sum((m * log for m, log in zip(masses, logs, strict=True)), arb(0)) / sum(masses, arb(0))).mid()
        near = sum((m * abs(log - place) for m, log in zip(masses, logs, strict=True)), arb(0))
        return (near + outside * ((1 - self.law.q).log().abs_upper() + abs(place))).upper()

    def at(self, y: arb) -> arb:
        """Return a bound of |phi(y)| from the coarse table, with as many digits as that has."""
        before = ctx.prec
        try:
            ctx.prec = COARSE
            return super().at(y)
        finally:
            ctx.prec = before

    @cached_property
    def variation(self) -> arb:
        """5 max h / M(c): the value at the end comes on top of the variation before it."""
        return (self.highest() * 5).upper()


def on_cut(composition: Composition, epsilon: Fraction, line: contour.Line) -> contour.Sum:
    """Return delta by the closed form of the steps beyond their cuts, and a sum over a line for the others."""
    pair, beyond = divided(composition, epsilon)
    if _is_above_all(composition, epsilon):
        return contour.Sum(composition.lost, composition.lost)
    rest = contour.on_line(pair, epsilon, line, FINEST)
    return contour.Sum(beyond + rest.low, beyond + rest.high)


def divided(composition: Composition, epsilon: Fraction) -> tuple[Composition, arb]:
    """Return a composition with its sampled steps cut, and the share of delta of all events beyond the cuts.

    Forward, a step beyond its cut has a loss that brings the total above epsilon whatever the other steps do, because they have
    smallest losses. Backward, it brings the total below epsilon, because they have largest ones.
    """
    steps = [law for law, _ in composition.parts if isinstance(law, Sampled)]
    if not steps or any(not isinstance(law, (Sampled, Atoms)) for law, _ in composition.parts):
        msg = "The method 'cut' needs sampled Gaussian noise, and finite laws beside it."
        raise Unproved(msg)
    forward = steps[0].forward
    total = sum((k * _extreme(law, forward) for law, k in composition.parts), arb(0))
    parts: list[tuple[Law, int]] = []
    kept_p, kept_q, e = arb(0), arb(0), ball(epsilon)
    finite_p, finite_q = arb(1), arb(1)
    for law, k in composition.parts:
        if isinstance(law, Atoms):
            finite_p, finite_q = finite_p * (1 - law.p_lost) ** k, finite_q * (1 - law.lost) ** k
            parts.append((law, k))
            continue
        assert isinstance(law, Sampled)
        others = total - _extreme(law, forward)
        cut = _cut(law, e - others if forward else others - e)
        p, q = cut.mass()
        kept_p, kept_q = kept_p + k * (-p).log1p(), kept_q + k * (-q).log1p()
        parts.append((cut, k))
    share = -finite_q * kept_q.expm1() + e.exp() * finite_p * kept_p.expm1() if forward else arb(0)
    return replace(composition, parts=tuple(parts)), share


def _is_above_all(composition: Composition, epsilon: Fraction) -> bool:
    """Whether epsilon is at least the sum of the largest losses; forward, those of a sampled step have no end."""
    if any(isinstance(law, Sampled) and law.forward for law, _ in composition.parts):
        return False
    return bool(sum((k * _extreme(law, forward=False) for law, k in composition.parts), arb(0)) <= ball(epsilon))


def _extreme(law: Law, forward: bool) -> arb:
    """Return the smallest loss of a law, or, backward, the largest one."""
    if isinstance(law, Sampled):
        return (1 - law.q).log() if forward else -((1 - law.q).log())
    assert isinstance(law, Atoms)
    best = law.losses[0]
    for loss in law.losses[1:]:
        best = best.min(loss) if forward else best.max(loss)
    return best


def _cut(law: Sampled, least: arb) -> Cut:
    """Return the law up to a place x with log R(x) >= least."""
    rise = (least.expm1() + law.q) / law.q  # e^u at the place
    far = float(law.sigma) ** 2 * float(rise.log()) + 0.5 if rise > 1e-300 else 0.0
    end = arb(max(far + 1e-6 * (1 + abs(far)), 0.0))
    if not (math.isfinite(far) and law.ratio(end).log() >= least):
        msg = "No place was found beyond which the losses of one step decide."
        raise Unproved(msg)
    return Cut(law.sigma, law.q, law.forward, law.lost, end)


@lru_cache(maxsize=8)
def _legendre(n: int, bits: int) -> tuple[tuple[arb, arb], ...]:  # noqa: ARG001  the roots are balls of that precision
    """Return the rule of Gauss and Legendre on [-1, 1]."""
    return tuple(arb.legendre_p_root(n, i, weight=True) for i in range(n))
