"""The Gaussian mechanism on a Poisson sample: N(0, sigma^2) against (1-q) N(0, sigma^2) + q N(1, sigma^2).

With R(x) = 1 - q + q e^u, u = (2x - 1) / (2 sigma^2), the loss is log R under the second law, or -log R under the first, and
M(s) is the mean of R^(s+1), or of R^-s, under N(0, sigma^2). The trapezoidal rule in x has a proved error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from flint import acb, arb, ctx

from dpcore_verify.expression import Unproved
from dpcore_verify.laws import Normal, least, window
from dpcore_verify.work import spend

if TYPE_CHECKING:
    from collections.abc import Iterator

FRESH = 8  # nodes of a line after which turned balls are computed anew
OUTSIDE = 1e-12  # mass that the table may leave outside
CELLS = 1200  # of the coarse table of a tilted law: bounds of |phi| to about one hundredth


@dataclass(frozen=True)
class Sampled:
    """One step of private training, in one direction of the comparison."""

    sigma: arb
    q: arb
    forward: bool = True
    lost: arb = arb(0)

    def reversed(self) -> Sampled:
        """Return the other direction."""
        return replace(self, forward=not self.forward)

    def delta(self, epsilon: arb) -> arb:
        """Return delta of one step in closed form, by that of the Gaussian mechanism at distance 1/sigma."""
        base, x = Normal(1 / self.sigma**2), epsilon.exp()
        if self.forward:
            inner = (x - 1 + self.q) / self.q
            if inner > 0:
                return self.q * base.delta(inner.log())
            # all of P1 - x P0 is positive; where the sign is not certain, its negative part is below q times `inner`
            return 1 - x + arb(0).union(self.q * inner.upper().nonnegative_part())
        rest = 1 - x * (1 - self.q)
        if rest <= 0:
            return arb(0)
        return rest * base.delta((x * self.q / rest).log())

    # ---- the transform -------------------------------------------------------------------------------------------

    def exponent(self, c: arb) -> arb:
        """Return the real part of the exponent of R on the line Re s = c."""
        return c + 1 if self.forward else -c

    def ratio(self, x: arb) -> arb:
        """Return R(x)."""
        return 1 - self.q + self.q * ((2 * x - 1) / (2 * self.sigma**2)).exp()

    def beyond(self, w: arb, x: arb) -> arb:
        """Return a bound of the mean of R^w over the places beyond x.

        R^w <= 1-q + q e^(wu) for w >= 1, and R(x') <= R(x) e^((x'-x) / sigma^2) for x' >= x; for w <= 0, R^w <= (1-q)^w.
        """
        if not self.forward:
            return (1 - self.q) ** w * self.above(x)
        s2 = self.sigma**2
        convex = (1 - self.q) * self.above(x) + self.q * (w * (w - 1) / (2 * s2)).exp() * self.above(x - w)
        steep = self.ratio(x) ** w * ((w * w / 2 - w * x) / s2).exp() * self.above(x - w)
        return least(convex, steep)

    def above(self, x: arb) -> arb:
        """Return the mass of N(0, sigma^2) above x."""
        return (x / (arb(2).sqrt() * self.sigma)).erfc() / 2

    def ends(self, w: arb) -> tuple[arb, arb]:
        """Return how far the rule reaches: what is left out is below 2^-bits of M."""
        far = float(self.sigma) * math.sqrt(2 * (self.digits(w) + 12))
        return arb(-far), arb(far + (float(w) if self.forward else 0.0))

    def digits(self, w: arb) -> float:
        """Return the digits to aim at, in nats: those of the precision, and what the bound of M is above M itself.

        An aim, which no proof depends on: the error is bounded whatever it is.
        """
        sigma, q, power = float(self.sigma), float(self.q), float(w)
        logs = []
        for j in range(-200, 401):
            x = sigma * j / 20 + (max(power, 0.0) * j / 400 if j > 0 else 0.0)
            u = (2 * x - 1) / (2 * sigma**2)
            ratio = math.log1p(q * math.expm1(u)) if u < 600 else u + math.log(q)
            logs.append(power * ratio - x * x / (2 * sigma**2))
        return ctx.prec * math.log(2) + max(0.0, float(self.ratio_mean(w).log()) - max(logs) + 1)

    def strip(self, w: arb, y: arb) -> tuple[arb, arb]:
        """Return the step of the rule and the bound of its error for all |Im s| <= y, both by the best strip tried."""
        wanted = self.digits(w)
        best: tuple[arb, arb] | None = None
        total = self.ratio_mean(w)
        for share in range(12):
            theta = arb.pi() / 2 * arb(2) ** (-share)
            a = theta * self.sigma**2
            area = (a * theta / 2).exp() * self.on_strip(w, y, theta, total)
            step = arb(float(2 * arb.pi() * a / (wanted + max(0.0, float((area / total).log())))))
            if best is None or step > best[0]:
                best = step, 2 * area / ((2 * arb.pi() * a / step).exp() - 1)
        assert best is not None
        return best

    def ratio_mean(self, w: arb) -> arb:
        """Return a bound of the mean of |R|^w on a strip: R^w itself by convexity, or (1-q)^w below."""
        if not self.forward:
            return (1 - self.q) ** w
        return 1 - self.q + self.q * (w * (w - 1) / (2 * self.sigma**2)).exp()

    def on_strip(self, w: arb, y: arb, theta: arb, total: arb) -> arb:
        """Return a bound of the mean of |R^(w+iy)|: |arg R| is at most theta, and at most q e^u theta / (1-q)."""
        best = (y * theta).exp() * total
        for place in range(-4, 40, 2):  # the bound by e^u up to x, that by theta beyond
            x = arb(place) / 4 * self.sigma
            near = (y * theta * (self.ratio(x) - (1 - self.q)) / (1 - self.q)).exp() * total
            best = least(best, near + (y * theta).exp() * self.beyond(w, x))
        return best

    def nodes(self, w: arb, y: arb) -> tuple[list[arb], list[arb], arb]:
        """Return the weights of the rule, log R at its nodes, and a bound of its error."""
        low, high = self.ends(w)
        step, error = self.strip(w, y)
        first, last = math.floor(float(low / step)), math.ceil(float(high / step))
        spend(30.0 * (last - first + 1))
        weights, logs = [], []
        scale = step / ((2 * arb.pi()).sqrt() * self.sigma)
        for j in range(first, last + 1):
            x = j * step
            log = self.ratio(x).log()
            weights.append(scale * (w * log - x * x / (2 * self.sigma**2)).exp())
            logs.append(log)
        # nodes left out: both functions of the bound fall beyond the ends, so a sum is below its integral from one step before
        right, left = (last * step), (-first * step)
        if not (left > 0 and right > 0 and (right >= w or not self.forward)):
            msg = "The rule does not reach the places from which its bounds fall."
            raise Unproved(msg)
        outside = self.beyond(w, right) + self.above(left) * (1 if self.forward else (1 - self.q) ** w)
        return weights, logs, error + outside

    def real(self, c: arb) -> arb:
        """Return M(c)."""
        weights, _, error = self.nodes(self.exponent(c), arb(0))
        return sum(weights, arb(0)) + arb(0, error.upper())

    def line(self, c: arb, step: arb, count: int) -> list[acb]:
        """Return M at every node of the line."""
        weights, logs, error = self.nodes(self.exponent(c), count * step)
        spend(4.0 * len(logs) * (count + 1))
        sign = 1 if self.forward else -1
        turns = [acb(0, sign * step * log).exp() for log in logs]
        blur = acb(arb(0, error.upper()), arb(0, error.upper()))
        values: list[acb] = []
        terms: list[acb] = []
        for n in range(count + 1):
            if n % FRESH:
                terms = [term * turn for term, turn in zip(terms, turns, strict=True)]
            else:  # a ball that is turned again and again grows
                angle = sign * n * step
                terms = [weight * acb(0, angle * log).exp() for weight, log in zip(weights, logs, strict=True)]
            values.append(sum(terms, acb(0)) + blur)
        return values

    def tilt(self, c: arb) -> SampledTilt:
        """Return a coarse table of the tilted law."""
        return SampledTilt(self, c, self.real(c))


@dataclass(frozen=True)
class SampledTilt:
    """The tilted law in cells of x: masses as balls, and log R over each cell as a ball."""

    law: Sampled
    c: arb
    total: arb
    endless: ClassVar[bool] = True
    """Whether there are places beyond the last cell."""

    @cached_property
    def edges(self) -> tuple[list[arb], list[arb]]:
        """Ends of the cells, and log R there."""
        law, w = self.law, self.law.exponent(self.c)
        far = 9.0 * float(law.sigma)
        low, high = -far, far + 1.0
        while law.forward and high < far + 1.0 + float(w) and law.beyond(w + 1, arb(high)) > OUTSIDE:
            high += float(law.sigma)
        edges = [arb(low + (high - low) * j / CELLS) for j in range(CELLS + 1)]
        return edges, [law.ratio(x).log() for x in edges]

    @cached_property
    def table(self) -> tuple[list[arb], list[arb], arb]:
        """Masses over M(c), log R, and the mass outside."""
        law, w = self.law, self.law.exponent(self.c)
        edges, logs = self.edges
        # below 0 the tail on the left keeps its digits
        tails = [law.above(x) for x in edges]
        masses = []
        inside = []
        for (x, y), (a, b), (s, t) in zip(pairwise(edges), pairwise(logs), pairwise(tails), strict=True):
            mass = s - t if x > 0 else law.above(-y) - law.above(-x)
            log = a.union(b)
            masses.append(mass * (w * log).exp() / self.total)
            inside.append(log)
        left = law.above(-edges[0]) * (1 if law.forward else (1 - law.q) ** w)
        outside = (left + law.beyond(w, edges[-1])) / self.total
        return masses, inside, outside.upper()

    @cached_property
    def spread(self) -> arb:
        """A bound of the standard deviation: the root of the mean square of L, with L^2 <= 2 R (log R > 0) outside."""
        masses, logs, _ = self.table
        law, w = self.law, self.law.exponent(self.c)
        far, end = -self.edges[0][0], self.edges[0][-1]
        square = sum((m * log * log for m, log in zip(masses, logs, strict=True)), arb(0))
        lowest = (1 - law.q).log()
        left = law.above(far) * (1 if law.forward else (1 - law.q) ** w) * lowest**2
        if law.forward:
            right = 2 * law.beyond(w + 1, end)
        else:  # L^2 <= u^2 + log(1-q)^2 and R^w <= (1-q)^w; u^2 under the normal tail is below 2 e^u
            right = (1 - law.q) ** w * (lowest**2 * law.above(end) + 2 * law.above(end - 1))
        return (square + (left + right) / self.total).sqrt().upper()

    @cached_property
    def windows(self) -> list[tuple[arb, arb, arb]]:
        """Windows of the law: (share of the mass, variance inside, how far up the line they hold), lower bounds."""
        masses, logs, _ = self.table
        sizes = [float(m) for m in masses]
        found = []
        for cut in (0.003, 0.03, 0.12, 0.25):
            first, last = _quantile(sizes, cut), len(sizes) - 1 - _quantile(sizes[::-1], cut)
            if last - first < 4:
                continue
            part, inside = masses[first : last + 1], logs[first : last + 1]
            share = sum(part, arb(0))
            mean = (sum((m * log for m, log in zip(part, inside, strict=True)), arb(0)) / share).mid()
            # the variance is that around the mean, which lies in a small ball around `mean`
            around = sum((m * (log - mean) ** 2 for m, log in zip(part, inside, strict=True)), arb(0)) / share
            shift = sum((m * (log - mean) for m, log in zip(part, inside, strict=True)), arb(0)) / share
            variance = (around - shift * shift).lower()
            width = inside[-1].upper() - inside[0].lower()
            if variance > 0:
                found.append((share.lower(), variance, (arb.pi() / width).lower()))
        return found

    def stride(self, y: arb) -> arb:
        """Return a fifth beyond y where a window holds, else a part of the spread's inverse."""
        ends = [reach for _, _, reach in self.windows[:2] if reach > y * 1.01]
        if ends:
            return min(y * 1.25, max(ends))
        return y + 0.2 / self.spread

    def bound(self, low: arb, high: arb) -> arb:
        """Return the best of the windows, of the coarse table with the Lipschitz constant, and of the tail."""
        best = least(arb(1), self.tail(low)[0] / low)
        for share, variance, reach in self.windows:
            if high <= reach:
                best = least(best, 1 - share + share * window(variance, low))
        if best < 0.5 or (high <= self.windows[0][2] if self.windows else False):
            return best
        return least(best, self.at((low + high) / 2) + self.spread * (high - low) / 2)

    def at(self, y: arb) -> arb:
        """Return a bound of |phi(y)| from the coarse table."""
        masses, logs, outside = self.table
        spend(10.0 * len(masses))
        value = sum((m * acb(0, y * log).exp() for m, log in self.pairs(masses, logs)), acb(0))
        return abs(value).upper() + outside

    @staticmethod
    def pairs(masses: list[arb], logs: list[arb]) -> Iterator[tuple[arb, arb]]:
        """Return masses with their log R."""
        return zip(masses, logs, strict=True)

    def tail(self, y: arb) -> tuple[arb, int]:  # noqa: ARG002  it holds at every height
        """Return the bound by parts, |phi| <= V / y with V = 4 max h / M(c)."""
        return self.variation, 1

    @cached_property
    def variation(self) -> arb:
        """4 max h / M(c): the logarithm of h has at most three critical places, hence at most two peaks."""
        return (4 * self.highest()).upper()

    def highest(self) -> arb:
        """Return max h / M(c), h = sigma^2 phi e^-u R^v / q, v = w + 1: cell by cell, and by its falling bounds outside."""
        law, s2 = self.law, self.law.sigma**2
        v = law.exponent(self.c) + 1
        edges, logs = self.edges

        def part(x: arb, power: arb) -> arb:
            return ((-x * x + 2 * power * x - power) / (2 * s2)).exp()

        # left of all cells u < 0 and x < -1: phi e^-u rises, R is between 1 - q and 1
        left = part(edges[0].min(arb(-1)), arb(-1)) if edges[0] < -1 else (1 / s2).exp()
        best = left * (1 if v >= 0 else (1 - law.q) ** v)
        # right of them R(x) <= R(end) e^((x-end)/sigma^2), and the bound is largest at `top`; for v < 0, R only grows
        if self.endless:
            end = edges[-1]
            top = end.max(v - 1) if v > 0 else end
            best = best.max(law.ratio(end) ** v * part(top, arb(-1)) * (v * (top - end) / s2).exp())
        for (x, y), (low, high) in zip(pairwise(edges), pairwise(logs), strict=True):
            near = x if x > 0 else (y if y < 0 else arb(0))  # the ends are balls, which may contain 0
            peak = ((v * high).max(v * low) - near * near / (2 * s2) - (2 * x - 1) / (2 * s2)).exp()
            best = best.max(peak)
        return (law.sigma / (law.q * (2 * arb.pi()).sqrt()) * best / self.total).upper()


def _quantile(sizes: list[float], share: float) -> int:
    """Return the first place at which the running sum passes a share of the total."""
    goal, so_far = share * sum(sizes), 0.0
    for place, size in enumerate(sizes):
        so_far += size
        if so_far > goal:
            return place
    return len(sizes) - 1
