r"""From Renyi and concentrated privacy to (epsilon, delta) statements."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpcore.theorems import domain
from dpcore.theorems.rounding import UNIT, up
from dpcore.theorems.table import stack, table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd

_SMALLEST = math.ulp(0.0)
_GOLDEN = (math.sqrt(5) - 1) / 2


def rdp_to_dp(order: float, epsilon: float, delta: float | Sequence[float]) -> pd.DataFrame:
    r"""Convert (order, epsilon)-RDP, order a > 1, into (epsilon', delta)-DP at the given delta in (0, 1].

    ``rdp_mironov``: :math:`\varepsilon' = \varepsilon + \log(1/\delta)/(a-1)`; ``rdp_tight``:

    .. math:: \varepsilon' = \varepsilon + \log\frac{a-1}{a} - \frac{\log\delta+\log a}{a-1},

    not below 0. In words: a moment of the likelihood ratio limits its tail; the second form counts only the part of
    the tail that exceeds e^epsilon', and is always the smaller one.
    Reference: Mironov (2017), Proposition 3; Balle, Barthe, Gaboardi, Hsu, Sato (2020), Theorem 21; Canonne, Kamath,
    Steinke (2020), Proposition 12.
    """
    a, bound = _order(order), domain.number(epsilon, "epsilon")
    rows = []
    for failing in domain.numbers(delta, "delta", high=1.0, low_open=True):
        rows.append(table("rdp_mironov", _mironov(a, bound, failing), failing, "upper", f"order {a!r}"))
        rows.append(table("rdp_tight", _tight(a, bound, failing), failing, "upper", f"order {a!r}"))
    return stack(rows)


def rdp_delta(order: float, epsilon: float, at: float | Sequence[float]) -> pd.DataFrame:
    r"""Convert (order, epsilon)-RDP, order a > 1, into (t, delta)-DP at the given t = `at` >= 0.

    ``rdp_mironov``: :math:`\delta=e^{(a-1)(\varepsilon-t)}`; ``rdp_tight``:
    :math:`\delta=\frac{e^{(a-1)(\varepsilon-t)}}{a-1}\bigl(1-\tfrac1a\bigr)^a`; neither above 1. In words:
    `rdp_to_dp` solved for delta.
    Reference: as for `rdp_to_dp`.
    """
    a, bound = _order(order), domain.number(epsilon, "epsilon")
    rows = []
    for point in domain.numbers(at, "epsilon"):
        main = (a - 1) * (bound - point)
        size = (a - 1) * (bound + point)
        rows.append(table("rdp_mironov", point, _exp_up(main, size), "upper", f"order {a!r}"))
        rows.append(table("rdp_tight", point, _tight_delta(a, bound, point), "upper", f"order {a!r}"))
    return stack(rows)


def zcdp_to_dp(rho: float, xi: float, delta: float | Sequence[float]) -> pd.DataFrame:
    r"""Convert (xi, rho)-zCDP into (epsilon, delta)-DP at the given delta in (0, 1].

    ``zcdp_bun_steinke``: :math:`\varepsilon=\xi+\rho+2\sqrt{\rho\log(1/\delta)}`; ``zcdp_tight``: the smallest
    `rdp_tight` over all orders a > 1, each with :math:`\xi+\rho a`. In words: zCDP bounds every moment at once; take
    the one that says most.
    Reference: Bun, Steinke (2016), Lemma 3.5; Canonne, Kamath, Steinke (2020), Proposition 12.
    """
    r, x = domain.number(rho, "rho"), domain.number(xi, "xi")
    rows = []
    for failing in domain.numbers(delta, "delta", high=1.0, low_open=True):
        plain = up(x + r + 2 * math.sqrt(-r * math.log(failing)))
        rows.append(table("zcdp_bun_steinke", plain, failing, "upper", f"rho {r!r}, xi {x!r}"))
        best, a = _best_epsilon(r, x, failing)
        rows.append(table("zcdp_tight", min(best, plain), failing, "upper", f"order {a:.6g}"))
    return stack(rows)


def zcdp_delta(rho: float, xi: float, at: float | Sequence[float]) -> pd.DataFrame:
    r"""Convert (xi, rho)-zCDP into (t, delta)-DP at the given t = `at` >= 0.

    ``zcdp_bun_steinke``: :math:`\delta=e^{-(t-\xi-\rho)^2/(4\rho)}` for t above xi + rho, else 1; ``zcdp_tight``: the
    smallest `rdp_tight` delta over all orders. In words: `zcdp_to_dp` solved for delta.
    Reference: as for `zcdp_to_dp`.
    """
    r, x = domain.number(rho, "rho"), domain.number(xi, "xi")
    rows = []
    for point in domain.numbers(at, "epsilon"):
        gap = point - x - r - 4 * UNIT * (point + x + r)  # rounded down
        plain = 1.0 if gap <= 0 else _exp_up(-gap * gap / (4 * r), gap * gap / (4 * r)) if r > 0 else 0.0
        rows.append(table("zcdp_bun_steinke", point, plain, "upper", f"rho {r!r}, xi {x!r}"))
        best, a = _best_delta(r, x, point)
        rows.append(table("zcdp_tight", point, min(best, plain), "upper", f"order {a:.6g}"))
    return stack(rows)


def _order(value: object) -> float:
    return domain.number(value, "order", 1.0, low_open=True)


def _mironov(order: float, bound: float, delta: float) -> float:
    return up(bound - math.log(delta) / (order - 1))


def _tight(order: float, bound: float, delta: float) -> float:
    shrink = _log_share(order)
    spent, count = math.log(delta) / (order - 1), math.log(order) / (order - 1)
    value = bound + shrink - spent - count
    error = 8 * UNIT * (bound + abs(shrink) + abs(spent) + abs(count))
    return max(0.0, up(value, error))


def _log_share(order: float) -> float:
    """Return log((order - 1) / order), precise at both ends."""
    return math.log1p(-1 / order) if order > 2 else math.log((order - 1) / order)


def _tight_delta(order: float, bound: float, point: float) -> float:
    main = (order - 1) * (bound - point)
    shrink, count = order * _log_share(order), math.log(order - 1)
    size = (order - 1) * (bound + point) + abs(shrink) + abs(count)
    return _exp_up(main + shrink - count, size)


def _best_epsilon(rho: float, xi: float, delta: float) -> tuple[float, float]:
    """Return the smallest tight epsilon of (xi, rho)-zCDP at delta, and its order."""
    start = 1 + math.sqrt(-math.log(delta) / rho) if rho > 0 and delta < 1 else 2.0
    return _smallest(lambda order: _tight(order, xi + rho * order, delta), start)


def _best_delta(rho: float, xi: float, point: float) -> tuple[float, float]:
    """Return the smallest tight delta of (xi, rho)-zCDP at epsilon `point`, and its order."""
    start = 1 + (point - xi) / (2 * rho) if rho > 0 and point > xi else 2.0
    return _smallest(lambda order: _tight_delta(order, xi + rho * order, point), start)


def _exp_up(exponent: float, size: float) -> float:
    """Return min(1, e^exponent) rounded up, where `size` bounds the terms the exponent was summed from."""
    if exponent >= 0 or not math.isfinite(exponent):
        return 1.0
    return min(1.0, max(_SMALLEST, up(math.exp(exponent + 8 * UNIT * size))))


def _smallest(bound: Callable[[float], float], start: float) -> tuple[float, float]:
    """Return the smallest value found, and its order, by golden section in log(order - 1) around `start`.

    Every order gives a valid bound, so a search that stops early is loose and never wrong.
    """
    centre = math.log(max(start - 1, 1e-12))
    # Coarse first: the bound need not be unimodal over many decades.
    grid = [centre + step / 4 for step in range(-60, 61)]
    values = [bound(1 + math.exp(point)) for point in grid]
    best = min(range(len(grid)), key=values.__getitem__)
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    while high - low > 1e-9:
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        if bound(1 + math.exp(left)) <= bound(1 + math.exp(right)):
            high = right
        else:
            low = left
    found = 1 + math.exp((low + high) / 2)
    return min((bound(found), found), (values[best], 1 + math.exp(grid[best])))
