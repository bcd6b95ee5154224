"""Finite sums: delta as a sum over losses, with every term enclosed.

Each function returns an enclosure of delta(epsilon) of a composition, in its own direction.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb, floor, gcd
from typing import TYPE_CHECKING

from flint import arb, arb_poly, ctx, fmpq, fmpz

from dpcore_verify.expression import Unproved, ball
from dpcore_verify.laws import Atoms, Laplace, Normal
from dpcore_verify.sampled import Sampled
from dpcore_verify.work import spend

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dpcore_verify.regions import Composition

MOST_TERMS = 40_000
Parts = list[tuple[Atoms, int]]
Losses = list[tuple[Fraction | None, arb, arb]]
"""(exact loss if there is one, loss, mass under P1)."""


def closed(composition: Composition, epsilon: Fraction) -> arb:
    """Return the closed form: a Gaussian pair, one sampled Gaussian, or either with finitely many losses, summed."""
    atoms, rest = split(composition)
    smooth = [law for law, k in rest if k == 1 and isinstance(law, (Normal, Sampled))]
    if len(rest) > 1 or len(smooth) < len(rest):
        msg = "The method 'sum' needs finitely many losses and at most one Gaussian, sampled or not."
        raise Unproved(msg)
    total, e = composition.lost, ball(epsilon)
    for key, loss, q in losses(atoms):
        if smooth:
            total += q * smooth[0].delta(e - loss)
        elif key is not None:
            total += q * (1 - ball(epsilon - key).exp()) if key > epsilon else 0
        else:
            total += q * positive(loss - e)
    return total


def positive(x: arb) -> arb:
    """Return max(0, 1 - e^-x)."""
    value = 1 - (-x).exp()
    if x > 0:
        return value
    return arb(0) if x <= 0 else arb(0).union(value.nonnegative_part())


def split(composition: Composition) -> tuple[Parts, list[tuple[object, int]]]:
    """Return the factors with finitely many losses, and the others."""
    atoms = [(law, k) for law, k in composition.parts if isinstance(law, Atoms)]
    return atoms, [(law, k) for law, k in composition.parts if not isinstance(law, Atoms)]


def losses(parts: Parts) -> Losses:
    """Return all losses of a product of finite laws with their masses."""
    if not parts:
        return [(Fraction(0), arb(0), arb(1))]
    if all(law.keys is not None for law, _ in parts):
        return _on_lattice(parts)
    count = 1
    for law, k in parts:
        count *= comb(k + len(law.losses) - 1, k)
        if count > MOST_TERMS:
            msg = f"The product has more than {MOST_TERMS} losses."
            raise Unproved(msg)
    spend(30.0 * count)
    result: Losses = [(None, arb(0), arb(1))]
    for law, k in parts:
        power = multisets(law, k)
        result = [(None, a + b, v * w) for _, a, v in result for _, b, w in power]
    return result


def multisets(law: Atoms, k: int) -> Losses:
    """Return k copies of a law: every way to share the copies among its losses, with the multinomial mass."""
    if not law.losses:
        return []
    shared: list[tuple[int, arb, arb]] = [(k, arb(0), arb(1))]  # copies left, loss, mass
    for loss, q in zip(law.losses[:-1], law.q[:-1], strict=True):
        shared = [
            (left - times, at + times * loss, mass * ways * q**times)
            for left, at, mass in shared
            for times, ways in enumerate(_choices(left))
        ]
    return [(None, at + left * law.losses[-1], mass * law.q[-1] ** left) for left, at, mass in shared]


def _choices(count: int) -> Iterator[int]:
    """Yield the binomial coefficients of a count."""
    ways = 1
    for times in range(count + 1):
        yield ways
        ways = ways * (count - times) // (times + 1)


def lattice(parts: Parts) -> tuple[Fraction, Fraction, list[tuple[list[int], Atoms, int]]]:
    """Return the lattice of the total loss: its step, its lowest point, and each law's places from its lowest loss."""
    step, low, placed = Fraction(0), Fraction(0), []
    for law, k in parts:
        assert law.keys is not None
        first = min(law.keys)
        low += k * first
        for key in law.keys:
            gap = key - first
            step = Fraction(
                gcd(step.numerator * gap.denominator, gap.numerator * step.denominator),
                step.denominator * gap.denominator,
            )
    for law, k in parts:
        assert law.keys is not None
        first = min(law.keys)
        placed.append(([int((key - first) / step) if step else 0 for key in law.keys], law, k))
    return step, low, placed


def _on_lattice(parts: Parts) -> Losses:
    """Multiply out the polynomials whose coefficients are the masses."""
    step, low, placed = lattice(parts)
    size = sum(k * max(places) for places, _, k in placed)
    if size > MOST_TERMS:
        msg = f"The lattice of the losses has more than {MOST_TERMS} points."
        raise Unproved(msg)
    spend(30.0 * (size + 1) * (len(placed) + 1))
    product = arb_poly([1])
    for places, law, k in placed:
        masses = [arb(0)] * (max(places) + 1)
        for place, q in zip(places, law.q, strict=True):
            masses[place] += q
        product = product * arb_poly(masses) ** k
    return [(low + j * step, ball(low + j * step), product[j]) for j in range(product.degree() + 1)]


# ---- one loss and its opposite ---------------------------------------------------------------------------------------


def binomial(composition: Composition, epsilon: Fraction) -> arb:
    """Return delta of k copies of the losses +-e: binomial masses, from the largest ones outwards."""
    atoms, rest = split(composition)
    keys = {law.keys for law, _ in atoms}
    pair = keys.pop() if len(keys) == 1 else None
    if rest or pair is None or len(pair) != 2 or pair[0] != -pair[1] or any(not law.symmetric for law, _ in atoms):
        msg = "The method 'binomial' needs copies of one loss and its opposite."
        raise Unproved(msg)
    key, k = pair[1], sum(k for _, k in atoms)
    # losses (k - 2j) e above epsilon: j below (k - epsilon/e) / 2
    last = -floor(-(k - epsilon / key) / 2) - 1
    if last < 0:
        return composition.lost
    last = min(last, k)
    e = ball(key)
    shrink = (-e).exp()
    start = min(last, max(0, int(k * float(shrink / (1 + shrink)))))
    log = arb(k + 1).lgamma() - arb(start + 1).lgamma() - arb(k - start + 1).lgamma()
    mass = (log - start * e - k * shrink.log1p()).exp()
    excess = (ball(epsilon) - (k - 2 * start) * e).exp()
    total = mass * (1 - excess)
    total += _walk(mass, excess, start, k, e, down=True, last=last)
    total += _walk(mass, excess, start, k, e, down=False, last=last)
    return composition.lost + (1 - composition.lost) * total


def _walk(mass: arb, excess: arb, start: int, k: int, e: arb, *, down: bool, last: int) -> arb:
    """Sum the terms on one side of the start; the ratio of neighbours falls, so the rest is below a geometric series."""
    total, tiny = arb(0), mass * arb(2) ** (-ctx.prec)
    ratio_scale, turn = ((-e).exp(), (2 * e).exp()) if down else (e.exp(), (-2 * e).exp())
    j = start
    while j < last if down else j > 0:
        ratio = ratio_scale * (fmpq(k - j, j + 1) if down else fmpq(j, k - j + 1))
        spend(5)
        if ratio < 0.999 and mass * ratio < tiny * (1 - ratio):
            return total + arb(0).union((mass * ratio / (1 - ratio)).upper())
        mass, excess, j = mass * ratio, excess * turn, j + 1 if down else j - 1
        total += mass * (1 - excess)
    return total


# ---- Laplace noise -------------------------------------------------------------------------------------------------------


def laplace_steps(parts: list[tuple[object, int]]) -> list[tuple[Laplace, int]]:
    """Return the Laplace noises among some factors, whose residues are summed."""
    return [(law, k) for law, k in parts if isinstance(law, Laplace)]


def residues(composition: Composition, epsilon: Fraction) -> arb:
    """Return delta of Laplace steps, with finitely many other losses, by the residues of its contour integral.

    M is a sum of terms e^(sx) (s+1)^(m-j) s^j / (2s+1)^m; those with x <= epsilon vanish, the others have one pole of order m
    at -1/2, and simple ones at 0 (j = 0) and -1 (j = m).
    """
    atoms, others = split(composition)
    steps = laplace_steps(others)
    if not steps or len(steps) < len(others):
        msg = "The method 'residues' needs Laplace noise and finite laws."
        raise Unproved(msg)
    m = sum(k for _, k in steps)
    terms: list[tuple[int, Fraction | None, arb, arb]] = [(0, key, loss, q) for key, loss, q in losses(atoms)]
    for law, k in steps:
        e, key = law.epsilon, law.key
        if len(terms) * (k + 1) > MOST_TERMS:
            msg = f"The expansion has more than {MOST_TERMS} terms."
            raise Unproved(msg)
        spend(40.0 * len(terms) * (k + 1))
        weights = [(k - 2 * j, comb(k, j) * (-j * e).exp()) for j in range(k + 1)]
        terms = [
            (j + done, None if key is None or at is None else at + n * key, loss + n * e, mass * weight)
            for done, at, loss, mass in terms
            for j, (n, weight) in enumerate(weights)
        ]
    spend(len(terms) * (20.0 + m))
    total, polynomials = arb(0), _Numerators(m)
    target = ball(epsilon)
    for j, at, loss, mass in terms:
        x = loss - target if at is None else ball(at - epsilon)
        if x <= 0:
            continue
        value = polynomials.residue(j, x)
        total += mass * (value if x > 0 else arb(0).union(value))
    return composition.lost + total


class _Numerators:
    """Residues of e^(sx) (s+1)^(m-j-1) s^(j-1) / (2s+1)^m for x > 0, summed over the poles."""

    def __init__(self, m: int) -> None:
        self.m = m
        self.known: dict[int, list[arb]] = {}

    def coefficients(self, j: int) -> list[arb]:
        """Return those of (u + 1/2)^(m-j-1) (u - 1/2)^(j-1) up to u^(m-1), divided by the factorials that e^(xu) brings."""
        if j not in self.known:
            spend(30.0 * self.m)
            plus, minus, m = arb_poly([arb(1) / 2, 1]), arb_poly([-arb(1) / 2, 1]), self.m
            if j == 0:  # 1 / (u - 1/2) = -2 sum (2u)^i
                series = [-(arb(2) ** (i + 1)) for i in range(m)]
                product = (plus ** (m - 1)) * arb_poly(series)
            elif j == m:  # 1 / (u + 1/2) = 2 sum (-2u)^i
                series = [2 * arb(-2) ** i for i in range(m)]
                product = (minus ** (m - 1)) * arb_poly(series)
            else:
                product = (plus ** (m - j - 1)) * (minus ** (j - 1))
            self.known[j] = [product[m - 1 - i] / arb(fmpz(_factorial(i))) for i in range(m)]
        return self.known[j]

    def residue(self, j: int, x: arb) -> arb:
        """Return the sum of the residues."""
        value = arb(0)
        for coefficient in reversed(self.coefficients(j)):
            value = value * x + coefficient
        value *= (-x / 2).exp() / arb(2) ** self.m
        if j == 0:
            value += 1
        if j == self.m:
            value -= (-x).exp()
        return value


_FACTORIALS = [1]


def _factorial(n: int) -> int:
    while len(_FACTORIALS) <= n:
        _FACTORIALS.append(_FACTORIALS[-1] * len(_FACTORIALS))
    return _FACTORIALS[n]
