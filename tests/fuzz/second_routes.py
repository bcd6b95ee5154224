"""One region, many numbers: whether delta, beta, epsilon, corners, area and total variation belong to one region.

`verify` asks a region everything and compares the answers with each other by routes of its own. It returns the words of a
refusal, raises `AssertionError` for numbers that contradict each other, and lets every other exception pass.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpcore import BudgetError, DomainError
from dpcore.core.effort import checkpoint, effort
from dpcore.curves.polygon import Polygon

if TYPE_CHECKING:
    from dpcore import TradeOff
    from dpcore.curves.base import FloatArray

TOLERANCE = 1e-9
ROUNDING = 2.0**-52
_MOST_ATOMS = 2000


def verify(region: TradeOff, shares: list[float], alphas: list[float], seconds: float = 4.0) -> str:
    """Ask a region everything; return '' or the sentence of a refusal.

    Parameters
    ----------
    shares : where to ask deltas, as shares of the largest loss (of 5 where there is none).
    alphas : where to ask betas, in [0, 1].
    """
    try:
        # an overflow or a NaN on the way is judged by what comes of it
        with effort(tolerance=1e-3, deadline=seconds), np.errstate(all="ignore"):
            _verify(region, np.array(sorted(shares)), np.array(sorted(alphas)))
    except (BudgetError, DomainError) as refusal:
        return str(refusal)
    return ""


def _verify(region: TradeOff, shares: FloatArray, alpha: FloatArray) -> None:
    top = region.curve.max_loss
    top = min(max(top, 0.0), 1e300) if math.isfinite(top) else 5.0
    epsilon = np.unique(np.concatenate(([0.0], shares * top)))
    low, high = region.delta_bounds(epsilon)
    assert_bracket("delta", low, high)
    assert np.all(low[1:] <= high[:-1] * (1 + TOLERANCE)), "delta grows with epsilon"
    _mirror(region, epsilon[epsilon < 600.0])
    beta_low, beta_high = region.beta_bounds(alpha)
    assert_bracket("beta", beta_low, beta_high)
    assert np.all(beta_low <= 1 - alpha + TOLERANCE), "beta above blind guessing"
    assert np.all(beta_low[1:] <= beta_high[:-1] + TOLERANCE), "beta grows with alpha"
    _dual(region, alpha, beta_low, beta_high, epsilon, high)
    _epsilons(region, epsilon, high)
    _powers(region, alpha, beta_low, beta_high)
    assert low[0] - TOLERANCE <= region.total_variation <= high[0] + TOLERANCE + 2e-3 * (high[0] - low[0] > 0), (
        "total variation"
    )
    _area(region)
    if isinstance(region.curve, Polygon) and region.curve.size <= _MOST_ATOMS:
        _polygon(region, epsilon, high, alpha, beta_low)


def assert_bracket(what: str, low: FloatArray, high: FloatArray) -> None:
    """Numbers, in [0, 1], the lower one not above the upper one."""
    for side in (low, high):
        assert np.all((side >= 0) & (side <= 1)), f"{what} outside [0, 1]: {side}"
    assert np.all(low <= high * (1 + 1e-12)), f"{what}: lower above upper"


def _mirror(region: TradeOff, epsilon: FloatArray) -> None:
    """Check that the published region is symmetric: delta(-e) = 1 - e^-e + e^-e delta(e)."""
    low, high = region.delta_bounds(epsilon)
    back_low, back_high = region.delta_bounds(-epsilon)
    mirrored = [-np.expm1(-epsilon) + np.exp(-epsilon) * side for side in (low, high)]
    assert np.all(back_low <= mirrored[1] + TOLERANCE), "mirror"
    assert np.all(back_high >= mirrored[0] - TOLERANCE), "mirror"


def _lines(region: TradeOff, epsilon: FloatArray, alpha: float, side: int) -> FloatArray:
    """Return 1 - delta(epsilon) - e^epsilon alpha, a lower bound of beta(alpha) with the true delta."""
    checkpoint()  # a curve may take a tenth of a second for a few epsilons
    delta = region.curve.delta_bounds(epsilon)[side]
    with np.errstate(all="ignore"):
        return np.asarray(1.0 - delta - np.exp(np.minimum(epsilon, 700.0)) * alpha, dtype=np.float64)


def _dual(
    region: TradeOff, alpha: FloatArray, low: FloatArray, high: FloatArray, epsilon: FloatArray, delta: FloatArray
) -> None:
    """beta(alpha) is the largest of the lines: none is above it, and the best one reaches it."""
    for a, beta_low, beta_high in zip(alpha.tolist(), low.tolist(), high.tolist(), strict=True):
        with np.errstate(over="ignore", invalid="ignore"):
            price = np.where(epsilon < 700.0, np.exp(np.minimum(epsilon, 700.0)) * a, np.inf if a else 0.0)
        assert np.max(1.0 - delta - price) <= beta_high + TOLERANCE, f"a line above beta({a})"
        if 0.0 < a < 1.0 - region.curve.p_inf:
            best = _best_line(region, a)
            assert best >= beta_low - TOLERANCE - 1e-6 * beta_low, f"beta({a}) = {beta_low}, best line {best}"


def _best_line(region: TradeOff, alpha: float) -> float:
    """Return the largest line by narrowing an interval: they are concave in e^epsilon."""
    curve = region.curve
    high = min(max(curve.max_loss, 0.0), -math.log(alpha)) + 1e-9
    low = max(curve.min_loss, -60.0, math.log1p(-alpha) - 60.0) - 1e-9
    known = [x for x in (curve.max_loss, curve.min_loss, 0.0) if low <= x <= high]
    if isinstance(curve, Polygon):
        inside = curve.loss[(curve.loss >= low) & (curve.loss <= high)]
        return float(_lines(region, np.concatenate((inside, known, [low, high])), alpha, 0).max())
    best = -math.inf
    for _ in range(16):
        grid = np.unique(np.concatenate((np.linspace(low, high, 17), [x for x in known if low <= x <= high])))
        line = _lines(region, grid, alpha, 0)
        at = int(np.argmax(line))
        best = max(best, float(line[at]))
        # two places to each side: beside a known one the next is equal to rounding
        low, high = float(grid[max(at - 2, 0)]), float(grid[min(at + 2, grid.size - 1)])
    return best


def _powers(region: TradeOff, alpha: FloatArray, low: FloatArray, high: FloatArray) -> None:
    """Power is 1 - beta: the same number where rates are asked together, brackets of one truth where each is asked alone."""
    together = region.power(alpha)
    assert np.all((together >= 0) & (together <= 1)), "power outside [0, 1]"
    assert np.all(np.abs(together - (1 - low)) <= TOLERANCE + 1e-3 * together), "power and beta"
    alone = np.array([np.concatenate(region.curve.power_bounds(np.array([a]))) for a in alpha]).T
    assert np.all(alone[0] <= 1 - low + TOLERANCE), "power above 1 - beta"
    assert np.all(alone[1] >= 1 - high - TOLERANCE), "power below 1 - beta"


def _epsilons(region: TradeOff, epsilon: FloatArray, high: FloatArray) -> None:
    """epsilon(delta) is the place where the profile reaches delta."""
    for at, most in list(zip(epsilon.tolist(), high.tolist(), strict=True))[:4]:
        below, above = (float(side[0]) for side in region.epsilon_bounds(most))
        assert 0.0 <= below <= above, "epsilon"
        if not (math.isfinite(above) and most > 1e-290):
            continue
        reached = float(region.delta_bounds(above)[0][0])
        assert reached <= most * (1 + TOLERANCE), f"epsilon({most}) = {above}, where delta is {reached}"
        beyond = at * (1 + TOLERANCE) + 1e-12
        if region.curve.exact and region.curve.q_inf < most < 1.0 - 1e-6 and above > beyond:
            # where delta is so flat that it is the same double there, no answer is the better one
            there = float(region.delta_bounds(beyond)[1][0])
            assert there >= most * (1 - 2 * ROUNDING), f"delta({at}) = {most} but epsilon({most}) = {above}"


def _area(region: TradeOff) -> None:
    """Check that the area lies between the lower and upper sums of a falling function."""
    area = region.area
    grid = np.linspace(0.0, 1.0, 41)
    low, high = region.beta_bounds(grid)
    assert 0.0 <= area <= 0.5, "area"
    assert low[1:].sum() / 40 - TOLERANCE <= area * (1 + 1e-3) + TOLERANCE, "area below the lower sum"
    assert area <= high[:-1].sum() / 40 + TOLERANCE, "area above the upper sum"


def _polygon(region: TradeOff, epsilon: FloatArray, delta: FloatArray, alpha: FloatArray, beta: FloatArray) -> None:
    """Everything again from the atoms and corners of a polygon, term by term."""
    loss, p, q = region.atoms()
    curve = region.curve
    assert abs(math.fsum(p) + curve.p_inf - 1.0) <= TOLERANCE, "P0 has not mass 1"
    assert abs(math.fsum(q) + curve.q_inf - 1.0) <= TOLERANCE, "P1 has not mass 1"
    for e, value in zip(epsilon.tolist(), delta.tolist(), strict=True):
        total = math.fsum([curve.q_inf, *(m * -math.expm1(e - x) for x, m in zip(loss, q, strict=True) if x > e)])
        assert abs(total - value) <= TOLERANCE * (1 + abs(e)), f"delta({e}) from the atoms is {total}, not {value}"
    x, y = region.vertices()
    assert np.all(np.diff(x) >= 0), "corners"
    assert np.all(np.diff(y) <= 0), "corners"
    for a, value in zip(alpha.tolist(), beta.tolist(), strict=True):
        if a > 0.0:
            assert abs(float(np.interp(a, x, y)) - value) <= 1e-7, f"beta({a}) on the corners"
    assert abs(float(np.max(1 - x - y)) - region.total_variation) <= TOLERANCE, "total variation on the corners"
    assert abs(float(np.sum(np.diff(x) * (y[1:] + y[:-1])) / 2) - region.area) <= TOLERANCE, "area of the corners"
    e, d = region.corners()
    assert np.all(np.abs(region.delta(e) - d) <= TOLERANCE) if e.size else True, "corners as statements"
