"""Truncated Laplace noise: no place of the answers has a delta above the proved one, in forty digits."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from dpcore.curves.bounded_laplace import BoundedLaplaceCurve


def delta(width: float, shift: float, epsilon: float, near: mp.mpf) -> mp.mpf:
    """Return delta of the pair whose upper answer is `near` below the upper end, by its definition as an integral in closed form."""
    w, s, e = mp.mpf(width), mp.mpf(shift), mp.mpf(epsilon)
    b = w - near
    a = b - s
    total = [2 - mp.exp(-m) - mp.exp(-(w - m)) for m in (a, b)]
    # the loss is |x - a| - |x - b| + log C(a)/C(b), and above epsilon beyond a threshold between a and b
    threshold = (a + b + e - mp.log(total[0] / total[1])) / 2
    if threshold >= b:
        return mp.mpf(0)
    threshold = max(threshold, a)
    above_b = (2 - mp.exp(-(b - threshold)) - mp.exp(-(w - b))) / total[1]
    above_a = (mp.exp(-(threshold - a)) - mp.exp(-(w - a))) / total[0]
    return above_b - mp.exp(e) * above_a


def compared(seed: int) -> float:
    """Check one random curve at random places; return the largest relative width of the brackets away from the largest loss."""
    rng = np.random.default_rng(seed)
    width = 10 ** rng.uniform(-2, 2)
    shift = width * 10 ** rng.uniform(-2, 0) if rng.random() < 0.8 else width
    curve = BoundedLaplaceCurve(width, shift)
    share = np.append(rng.random(4), 1.0 - 10.0 ** -rng.uniform(2, 6))
    epsilon = share * curve.max_loss
    low, high = curve.delta_bounds(epsilon)
    end = width - shift
    places = [
        0.0,
        end,
        *(end * rng.random(20)),
        *(end * 10 ** rng.uniform(-8, 0, 20)),
        *curve._worst_place(epsilon).tolist(),
    ]
    with mp.workdps(40):
        for e, least, most in zip(epsilon.tolist(), low.tolist(), high.tolist(), strict=True):
            largest = max(delta(width, shift, e, mp.mpf(place)) for place in places if place <= end)
            assert least <= largest <= most
    usual = share < 0.99
    return float((high[usual] / low[usual] - 1.0).max())


@pytest.mark.parametrize("seed", range(5))
def test_every_place_lies_below_the_proved_delta(seed: int) -> None:
    assert compared(seed) < 2e-9


@pytest.mark.long
def test_many_random_curves() -> None:
    assert max(compared(seed) for seed in range(100, 300)) < 1e-6


def test_a_search_that_finds_a_bad_place_does_not_lower_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """The upper side rests on the division into cells alone."""
    curve, at = BoundedLaplaceCurve(4.0, 1.0), np.array([0.1, 0.5])
    low, high = curve.delta_bounds(at)
    monkeypatch.setattr(BoundedLaplaceCurve, "_worst_place", lambda self, epsilon: np.full(epsilon.size, 2.9))  # noqa: ARG005
    bad, still = curve.delta_bounds(at)
    assert (bad < 0.99 * low).all()
    assert (still >= low).all()
    assert (still <= high * (1 + 1e-6)).all()
