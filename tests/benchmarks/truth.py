"""The truth of every benchmark question, to twenty digits or more, by routes that dpcore does not use.

Run ``python tests/benchmarks/truth.py`` to compute ``data/oracles/benchmark_truth.json`` again (some minutes).
Parameters are taken as the floating-point numbers that every library is given, not as decimals.
"""

from __future__ import annotations

import json
import math
import sys
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import mpmath as mp
import numpy as np
from tasks import TASKS, Task, different_parts, different_widths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FILE = Path(__file__).parents[2] / "data" / "oracles" / "benchmark_truth.json"
DIGITS = 40
BITS = 2600
"""Fixed-point precision of the alternating Laplace sum: 1000 bits cancel at k = 1000."""


# --- Laplace, exact: a finite sum of polynomials -----------------------------------------------------------
# With u = s + 1/2 the transform is M = e^(-ε0/2) (e^(uε0) (1 + 1/(2u)) + e^(-uε0) (1 - 1/(2u))) / 2. Its k-th
# power, expanded by the binomial theorem, has poles at u = 0 and u = 1/2 only, and the residues are polynomials
# in x = (k - 2j) ε0 - ε with integer coefficients. The sum alternates, so it needs many digits and no more.


@cache
def _coefficients(k: int, j: int, plus: int, minus: int) -> list[int]:
    """Integer coefficients, degree ascending, of (v + 1)^(k-j-plus) (v - 1)^(j-minus)."""
    up, down = k - j - plus, j - minus
    first = [math.comb(up, i) for i in range(up + 1)]
    for _ in range(down):
        first = [b - a for a, b in zip([*first, 0], [0, *first], strict=True)]
    return first


@cache
def _rows(k: int, plus: int, minus: int) -> dict[int, list[int]]:
    """All coefficient rows j = minus, minus + 1, ... while both exponents are non-negative."""
    rows = {minus: _coefficients(k, minus, plus, minus)}
    for j in range(minus + 1, k // 2 + 1):
        # The next row is the last one times (v - 1), divided exactly by (v + 1).
        last = rows[j - 1]
        product = [b - a for a, b in zip([*last, 0], [0, *last], strict=True)]
        row, carry = [0] * len(last), 0
        for i in range(len(product) - 1, 0, -1):
            carry = product[i] - carry
            row[i - 1] = carry
        rows[j] = row
    return rows


def _taylor(x: mp.mpf, count: int) -> list[int]:
    """Return (x/2)^n / n! for n = 0 .. count - 1, in fixed point."""
    half = int(mp.floor(mp.ldexp(x, BITS - 1)))
    terms = [1 << BITS]
    for n in range(1, count):
        terms.append((terms[-1] * half >> BITS) // n)
    return terms


def laplace_exact(k: int, epsilon: float, plus: int, minus: int) -> mp.mpf:
    """Invert M^k / ((u + 1/2)^plus (u - 1/2)^minus) at ε ≥ 0 exactly, without the factor e^(∓ε/2).

    (plus, minus) = (1, 1) gives δ e^(-ε/2); (1, 0) gives P0(L > ε) e^(ε/2); (0, 1) gives P1(L > ε) e^(-ε/2).
    """
    with mp.workprec(BITS):
        return _laplace_sum(k, epsilon, plus, minus)


def _laplace_sum(k: int, epsilon: float, plus: int, minus: int) -> mp.mpf:
    rows = _rows(k, plus, minus)
    loss = mp.mpf(0.1)
    total = 0
    pole = mp.mpf(0)
    for j in range(k // 2 + 1):
        x = (k - 2 * j) * loss - mp.mpf(epsilon)
        if x <= 0:
            break
        terms = _taylor(x, k)
        if j >= minus:
            row = rows[j]
            # u = v/2: a factor 2 for each of the plus + minus cancelled brackets, and 1/2 for du.
            value = sum(a * terms[k - 1 - m] for m, a in enumerate(row) if m < k)
            total += math.comb(k, j) * value * 2 ** (plus + minus) // 2
            if len(row) > k:
                # Equal degrees (no bracket cancelled) cannot occur here: plus + minus is at least 1.
                msg = "the numerator's degree must stay below k."
                raise ArithmeticError(msg)
        else:
            # j = 0 and minus = 1: (v + 1)^(k-plus) / (v - 1), the pole at v = 1 beside the one at 0.
            row = [math.comb(k - plus, i) for i in range(k - plus + 1)]
            partial = np.cumsum(np.array(row, dtype=object))
            value = -sum(int(partial[min(m, len(row) - 1)]) * terms[k - 1 - m] for m in range(k))
            total += value * 2 ** (plus + minus) // 2
            pole += mp.mpf(2) ** (k - plus) * 2 ** (plus + minus) / 2 * mp.exp(x / 2)
    # The pole at 1/2 cancels against the one at 0, so the last line needs all the digits too.
    return (mp.ldexp(total, -BITS) + pole) * mp.exp(-k * loss / 2) / mp.mpf(2) ** k


# --- Any transform: the contour integral ---------------------------------------------------------------------


class Transform(Protocol):
    """k log M(s) of a mechanism: at one real s, and along the line c + i n step."""

    def at(self, c: float) -> mp.mpf:
        """Return k log M(c)."""

    def line(self, c: float, step: mp.mpf) -> Iterator[mp.mpc]:
        """Yield k log M(c + i n step) for n = 0, 1, 2, ..."""


def contour(transform: Transform, epsilon: float | mp.mpf, weight: Callable[[mp.mpc], mp.mpc], side: int = 1) -> mp.mpf:
    """Return (1/2πi) ∫ M(s)^k e^(-sε) weight(s) ds on Re s = c, c near the saddle, above 0 or (side -1) in (-1, 0).

    The trapezoidal rule is refined until two steps agree to 26 digits of the value.
    """
    epsilon = mp.mpf(epsilon)

    def size(c: float) -> float:
        return float(transform.at(c) - c * epsilon + mp.log(abs(weight(mp.mpc(c)))))

    c = _minimise(size, side)
    centre = size(c)
    step, last = mp.mpf(1) / 4, mp.mpf(0)
    while True:
        total, small = mp.mpf(0), 0
        for n, log_power in enumerate(transform.line(c, step)):
            s = mp.mpc(c, n * step)
            value = mp.re(mp.exp(log_power - s * epsilon - centre) * weight(s))
            total += value if n else value / 2
            small = small + 1 if abs(value) < mp.mpf(10) ** -30 * abs(total) else 0
            if small == 12:
                break
        result = total * step / mp.pi
        if abs(result - last) < mp.mpf(10) ** -26 * abs(result):
            return result * mp.exp(centre)
        last, step = result, step / 2


def _minimise(size: Callable[[float], float], side: int) -> float:
    """Golden-section search for the saddle, on a logarithmic scale of the distance from the pole at 0."""
    low, high = math.log(1e-4), math.log(100.0 if side > 0 else 0.999)
    ratio = (math.sqrt(5) - 1) / 2
    while high - low > 1e-2:
        a, b = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, b) if size(side * math.exp(a)) < size(side * math.exp(b)) else (a, high)
    return side * math.exp((low + high) / 2)


class LaplaceTransform:
    """The k-fold Laplace mechanism with ε0 = 0.1: a closed form."""

    def __init__(self, k: int) -> None:
        self.k = k

    def at(self, c: float) -> mp.mpf:
        """Return k log M(c)."""
        return mp.re(self._log(mp.mpc(c)))

    def line(self, c: float, step: mp.mpf) -> Iterator[mp.mpc]:
        """Yield k log M along the line."""
        return (self._log(mp.mpc(c, n * step)) for n in count())

    def _log(self, s: mp.mpc) -> mp.mpc:
        u, loss = s + mp.mpf(1) / 2, mp.mpf(0.1)
        up, down = mp.exp(u * loss), mp.exp(-u * loss)
        return self.k * (mp.log((up + down + (up - down) / (2 * u)) / 2) - loss / 2)


class PoissonTransform:
    """The Poisson-subsampled Gaussian with q = 0.01: one trapezoidal sum over the noise for every s.

    `removed`: H1 is the dataset without the record, so that the loss changes its sign.
    """

    def __init__(self, k: int, sigma: float | mp.mpf, *, removed: bool) -> None:
        self.k, sigma, rate = k, mp.mpf(sigma), mp.mpf(0.01)
        # Step 1/10: the nearest branch point is about π away, e^(-2π·π/0.1) is far below every digit kept.
        nodes = [mp.mpf(i) / 10 for i in range(-150, 301)]
        self.weights = [mp.npdf(z) / 10 for z in nodes]
        self.logs = [mp.log1p(rate * mp.expm1(z / sigma - 1 / (2 * sigma**2))) for z in nodes]
        self.removed = removed

    def _terms(self, c: float) -> tuple[list[mp.mpf], list[mp.mpf]]:
        """Weights at the real point c, those above 1e-45 of the largest only, and their losses."""
        order = -mp.mpf(c) if self.removed else mp.mpf(c) + 1
        terms = [w * mp.exp(order * loss) for w, loss in zip(self.weights, self.logs, strict=True)]
        least = max(terms) * mp.mpf(10) ** -45
        sign = -1 if self.removed else 1
        kept = [(term, sign * loss) for term, loss in zip(terms, self.logs, strict=True) if term > least]
        return [term for term, _ in kept], [loss for _, loss in kept]

    def at(self, c: float) -> mp.mpf:
        """Return k log M(c)."""
        return self.k * mp.log(mp.fsum(self._terms(c)[0]))

    def line(self, c: float, step: mp.mpf) -> Iterator[mp.mpc]:
        """Yield k log M along the line; each node turns the terms of the last one by a fixed angle."""
        start, losses = self._terms(c)
        terms = [mp.mpc(term) for term in start]
        turns = [mp.expj(step * loss) for loss in losses]
        while True:
            yield self.k * mp.log(mp.fsum(terms))
            terms = [term * turn for term, turn in zip(terms, turns, strict=True)]


def _profile_weight(s: mp.mpc) -> mp.mpc:
    return 1 / (s * (s + 1))


def poisson_delta(k: int, sigma: float | mp.mpf, epsilon: float | mp.mpf) -> mp.mpf:
    """δ(ε) of the Poisson-subsampled Gaussian with q = 0.01: the larger of the two directions."""
    return max(contour(PoissonTransform(k, sigma, removed=r), epsilon, _profile_weight) for r in (False, True))


def _secant(function: Callable[[mp.mpf], mp.mpf], first: float, second: float) -> mp.mpf:
    a, b = mp.mpf(first), mp.mpf(second)
    fa, fb = function(a), function(b)
    while abs(b - a) > mp.mpf(10) ** -22 * abs(b) and fa != fb:
        a, b, fa = b, b - fb * (b - a) / (fb - fa), fb
        fb = function(b)
    return b


# --- Finite sums -------------------------------------------------------------------------------------------------


def kov_delta(k: int, epsilon: float) -> mp.mpf:
    """Sum the binomial terms of k pure mechanisms with ε0 = 0.01 above ε; all terms are positive."""
    loss = mp.mpf(0.01)
    up, down = 1 / (1 + mp.exp(-loss)), 1 / (1 + mp.exp(loss))
    first = math.floor((k + epsilon / 0.01) / 2 - 1e-6) + 1
    log_term = mp.loggamma(k + 1) - mp.loggamma(first + 1) - mp.loggamma(k - first + 1)
    term = mp.exp(log_term + first * mp.log(up) + (k - first) * mp.log(down))
    total, j = mp.mpf(0), first
    while j <= k:
        part = -term * mp.expm1(mp.mpf(epsilon) - (2 * j - k) * loss)
        total += part
        if part < total * mp.mpf(10) ** -32 and j > first + 10 and (j - k * up) > 0:
            break
        term *= (k - j) * up / ((j + 1) * down)
        j += 1
    return total


def different_delta(number: int, epsilons: tuple[float, ...]) -> list[mp.mpf]:
    """Count the sign patterns of every sum on the lattice of 1e-5; extended precision, positive terms only."""
    parts = different_parts(number)
    units = [round(epsilon * 100_000) for epsilon, _ in parts]
    dtype = np.int64 if number < 60 else np.longdouble
    counts = np.zeros(sum(units) + 1, dtype=dtype)
    counts[0] = 1
    top = 0
    for unit in units:  # counts[n]: how many choices of the parts with a negative loss have n units in all
        fresh = counts[: top + 1].copy()
        top += unit
        counts[unit : top + 1] += fresh
    lattice = np.longdouble(1) / np.longdouble(100_000)
    scale = mp.mpf(1)
    for epsilon, delta in parts:
        scale *= (1 - mp.mpf(delta)) / (2 * mp.cosh(mp.mpf(epsilon) / 2))
    infinite = 1 - mp.fprod(1 - mp.mpf(delta) for _, delta in parts)
    results = []
    for epsilon in epsilons:
        above = (top - round(epsilon * 100_000) - 1) // 2 + 1  # the losses top - 2n that exceed ε
        n = np.arange(above)
        height = (top - 2 * n - round(epsilon * 100_000)).astype(np.longdouble) * lattice / 2
        total = np.sum(counts[:above].astype(np.longdouble) * 2 * np.sinh(height))
        results.append(infinite + scale * mp.exp(mp.mpf(epsilon) / 2) * mp.mpf(str(total)))
    return results


# --- The trade-off curve -------------------------------------------------------------------------------------


def laplace_tails(k: int, t: float, *, exact: bool) -> tuple[mp.mpf, mp.mpf]:
    """Return P0(L > t) and P1(L ≤ t) for a real t that is no atom, by symmetry from |t|."""
    t_mp = mp.mpf(abs(t))
    if exact:
        false_positive = laplace_exact(k, abs(t), 1, 0) * mp.exp(-t_mp / 2)
        false_negative = 1 - laplace_exact(k, abs(t), 0, 1) * mp.exp(t_mp / 2)
    else:
        transform = LaplaceTransform(k)
        false_positive = contour(transform, t_mp, lambda s: mp.exp(-t_mp) / (s + 1))
        false_negative = contour(transform, t_mp, lambda s: -1 / s, side=-1)
    return (false_positive, false_negative) if t >= 0 else (false_negative, false_positive)


def laplace_beta(k: int, alpha: float) -> mp.mpf:
    """β(α): the threshold by secant steps on log α, then the tangent there (its error is of second order)."""
    mean, deviation = k * 0.00484, math.sqrt(k * 0.00983)
    target = mp.log(mp.mpf(alpha)) if alpha < 0.5 else mp.log(1 - mp.mpf(alpha))

    def gap(t: mp.mpf) -> mp.mpf:
        positive = laplace_tails(k, float(t), exact=False)[0]
        return (mp.log(positive) if alpha < 0.5 else mp.log(1 - positive)) - target

    z = float(mp.sqrt(2) * mp.erfinv(1 - 2 * mp.mpf(alpha)))
    a, b = -mean + deviation * z, -mean + deviation * z * 0.98 + 0.01
    fa, fb = gap(a), gap(b)
    for _ in range(12):
        a, b, fa = b, float(b - fb * (b - a) / (fb - fa)), fb
        fb = gap(b)
        if abs(b - a) < 1e-11 * (1 + abs(b)) or fa == fb:
            break
    with mp.workdps(3 * DIGITS):  # one tail is 1 minus a sum: β near 1e-30 costs thirty digits
        positive, negative = laplace_tails(k, b, exact=k <= 1000)
        return negative - mp.exp(mp.mpf(b)) * (mp.mpf(alpha) - positive)


# --- Discrete Gaussians of many widths: a normal law ----------------------------------------------------------
# The transform is that of a normal law times a factor that differs from 1 only near half the period 2 pi sigma^2 of some
# part. There the product of all 2000 is far below e^-200 of its size on the real axis: seen on a grid up to Im s = 60000, not
# proved beyond, so that these values are checked against the tolerance of the task and no further.


def widths_epsilon(number: int, delta: float) -> mp.mpf:
    """ε(δ) of the normal law with the mean of the product, by secant steps on log δ."""
    mu = mp.sqrt(mp.fsum(mp.mpf(sigma) ** -2 for sigma in different_widths(number)))

    def gap(epsilon: mp.mpf) -> mp.mpf:
        value = mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)
        return mp.log(value) - mp.log(mp.mpf(delta))

    start = mu * mp.sqrt(-2 * mp.log(mp.mpf(delta))) + mu**2 / 2
    with mp.workdps(2 * DIGITS):  # the difference cancels
        return _secant(gap, float(start) * 0.9, float(start) * 0.91)


# --- All of it ------------------------------------------------------------------------------------------------

CURVE_SAMPLE = (0, 100, 250, 400, 450, 490, 499, 510, 560, 650, 750, 850, 950, 999)
"""Places, in the list of 1000 α, at which the curve's truth is computed."""


def laplace_delta(k: int, epsilon: float) -> mp.mpf:
    """δ(ε) of the k-fold Laplace mechanism: exact sum to k = 1000, contour beyond."""
    if k <= 1000:
        return laplace_exact(k, epsilon, 1, 1) * mp.exp(mp.mpf(epsilon) / 2)
    return contour(LaplaceTransform(k), epsilon, _profile_weight)


def solve(task: Task) -> dict[str, object]:
    """Return the true values of a task, where they hold, and how they were found."""
    kind, _, rest = task.name.partition("_")
    at = task.at
    if kind == "laplace":
        k = int(rest)
        method = "finite sum of integer polynomials, 780 digits" if k <= 1000 else "contour integral, 40 digits"
        values = [laplace_delta(k, epsilon) for epsilon in at]
    elif kind == "kov":
        method, values = "binomial sum, 40 digits", [kov_delta(1_000_000, epsilon) for epsilon in at]
    elif kind == "different":
        method, values = "count of all sign patterns on a lattice, extended precision", different_delta(int(rest), at)
    elif kind == "integers":
        method = "normal law of the same mean, 40 digits"
        values = [widths_epsilon(int(rest), delta) for delta in at]
    elif task.name == "calibrate":
        method = "contour integral with quadrature, secant in sigma, 40 digits"
        values = [_secant(lambda sigma: mp.log(poisson_delta(1000, sigma, at[0])) - mp.log(at[1]), 0.96, 0.97)]
    elif kind == "poisson":
        k = int(rest.split("_")[0])
        method = "contour integral with quadrature, 40 digits, the larger of both directions"
        if task.measure == "delta":
            values = [poisson_delta(k, 1.0, epsilon) for epsilon in at]
        else:
            guess = 1.83 if k == 1000 else 7.0
            values = [
                _secant(lambda x, d=delta: mp.log(poisson_delta(k, 1.0, x)) - mp.log(d), guess, guess * 1.01)
                for delta in at
            ]
    else:
        k, at = int(rest), tuple(task.at[i] for i in CURVE_SAMPLE)
        method = "tails of the loss at the threshold, " + ("finite sum" if k <= 1000 else "contour integral")
        values = [laplace_beta(k, alpha) for alpha in at]
    return {"method": method, "at": list(at), "values": [mp.nstr(value, 25) for value in values]}


def main() -> None:
    """Compute everything, or the tasks named on the command line, and write the file."""
    mp.mp.dps = DIGITS
    names = sys.argv[1:] or list(TASKS)
    known = json.loads(FILE.read_text(encoding="utf-8"))["tasks"] if FILE.exists() else {}
    for name in names:
        known[name] = solve(TASKS[name])
        print(name, known[name]["values"], flush=True)
    found = {
        "provenance": "tests/benchmarks/truth.py: mpmath with 40 digits, and extended precision; decimal strings",
        "tasks": {name: known[name] for name in TASKS if name in known},
    }
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
