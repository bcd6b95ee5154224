r"""The truth of a training run to 25 digits, by a route that dpcore does not use: two trapezoidal sums in 220 bits.

With r(x) = 1 - q + q e^(x/sigma - 1/(2 sigma^2)) the transform of one step is E_0[r^(s+1)], with the record removed E_0[r^(-s)],
a sum over x on the real axis with step 1/16 (no path off the axis, no cut); delta is the contour integral through a saddle
point, refined until two steps agree.
"""

from __future__ import annotations

from typing import Any

from flint import acb, arb, ctx

_BITS = 220
_FINE = 16  # nodes per unit of x: the sum is off by e^(-2 pi 16 pi), since the nearest branch point is about pi away
_LEAST = arb(10) ** -34
_AGREE = arb(10) ** -24
_HALVINGS = 12


def _law(sigma: float, rate: float, *, removed: bool) -> tuple[list[arb], list[arb]]:
    """Return P1 masses and losses at the nodes."""
    reach = 14 + int(2 / sigma + 14)
    spread, q = 1 / arb(sigma), arb(rate)
    masses, losses = [], []
    for i in range(-14 * _FINE, reach * _FINE):
        x = arb(i) / _FINE
        normal = (-x * x / 2).exp() / (2 * arb.pi()).sqrt() / _FINE
        ratio = 1 + q * (spread * x - spread * spread / 2).expm1()
        masses.append(normal if removed else normal * ratio)
        losses.append(-ratio.log() if removed else ratio.log())
    return masses, losses


def _saddle(masses: list[Any], losses: list[Any], steps: int, epsilon: Any) -> tuple[Any, Any]:
    """Return a c > 0 near the least value of the integrand on the real axis, and the curvature there."""
    low, high = arb("1e-3"), arb("1e9")
    for _ in range(60):
        c = (low * high).sqrt()
        terms = [m * (c * loss).exp() for m, loss in zip(masses, losses, strict=True)]
        total = sum(terms)
        mean = sum(t * loss for t, loss in zip(terms, losses, strict=True)) / total
        slope = steps * mean - epsilon - 1 / c - 1 / (c + 1)
        low, high = (c.mid(), high) if not slope > 0 else (low, c.mid())
    spread = sum(t * loss * loss for t, loss in zip(terms, losses, strict=True)) / total - mean * mean
    return c.mid(), (steps * spread + 1 / c**2 + 1 / (c + 1) ** 2).mid()


def direction(sigma: float, rate: float, steps: int, epsilon: float | Any, *, removed: bool) -> Any:
    """Return delta of one direction."""
    before, ctx.prec = ctx.prec, _BITS
    try:
        masses, losses = _law(sigma, rate, removed=removed)
        epsilon = arb(epsilon)
        c, curvature = _saddle(masses, losses, steps, epsilon)
        weights = [m * (c * loss).exp() for m, loss in zip(masses, losses, strict=True)]
        most = sum(weights)
        kept = [(w, loss) for w, loss in zip(weights, losses, strict=True) if w > most * _LEAST * _LEAST]
        step, last = (1 / curvature.sqrt()).mid() / 2, None
        for _ in range(_HALVINGS):
            value = _line(kept, c, step, steps, epsilon)
            if last is not None and abs(value - last) < _AGREE * abs(value):
                return value
            last, step = value, step / 2
        msg = "The sums do not agree."
        raise ArithmeticError(msg)
    finally:
        ctx.prec = before


def _line(kept: list[tuple[Any, Any]], c: Any, step: Any, steps: int, epsilon: Any) -> Any:
    """Return the trapezoidal sum of one step of the contour."""
    turns = [(acb(0, 1) * step * loss).exp() for _, loss in kept]
    terms = [acb(w) for w, _ in kept]
    total, small, n = arb(0), 0, 0
    while small < 8:
        s = acb(c, n * step)
        value = (steps * sum(terms, acb(0)).log() - s * epsilon).exp() / (s * (s + 1))
        total += value.real / 2 if n == 0 else value.real
        small = small + 1 if abs(value) < _LEAST * abs(total) else 0
        terms = [t * turn for t, turn in zip(terms, turns, strict=True)]
        n += 1
    return (total * step / arb.pi()).mid()


def delta(sigma: float, rate: float, steps: int, epsilon: float) -> Any:
    """Return delta(epsilon): the larger of both directions."""
    return max((direction(sigma, rate, steps, epsilon, removed=removed) for removed in (False, True)), key=float)


def holds(sigma: float, rate: float, steps: int, at: float, bracket: tuple[float, float]) -> bool:
    """Return whether the epsilon of `at` lies in a bracket: delta falls from above `at` to below it."""
    low, high = bracket
    above = low == 0.0 or bool(delta(sigma, rate, steps, low) >= arb(at))
    return above and bool(delta(sigma, rate, steps, high) <= arb(at))
