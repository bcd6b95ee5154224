"""Poisson sampling of any region: closed forms, brute force on both directions, and composition direction by direction."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpcore.core.errors import DomainError, RelationError
from dpcore.language import parse
from dpcore.regions.sampling import Poisson

EPSILON = np.array([0.0, 0.01, 0.1, 0.3, 1.0, 2.5])
ALPHA = np.array([1e-6, 0.01, 0.2, 0.5, 0.9])


@pytest.mark.parametrize(
    ("sampled", "known"),
    [
        ("poisson(gaussian(1), 0.1)", "poisson_gaussian(1, 0.1)"),
        ("poisson(gaussian(1), 0.1)^100", "poisson_gaussian(1, 0.1)^100"),
        ("poisson(gdp(2), 0.01)^50 * laplace(0.1)", "poisson_gaussian(0.5, 0.01)^50 * laplace(0.1)"),
        ("poisson(gaussian(sqrt(2))^2, 0.1)^10", "poisson_gaussian(1, 0.1)^10"),
        ("poisson(poisson_gaussian(1, 0.2), 0.5)", "poisson_gaussian(1, 0.1)"),
        ("poisson(poisson(dp(1), 0.4), 0.5)^7", "poisson(dp(1), 0.2)^7"),
        ("poisson(laplace(1), 1)^5", "laplace(1)^5"),
        ("poisson(poisson_gaussian(1, 0.3)^4, 1)", "poisson_gaussian(1, 0.3)^4"),
    ],
)
def test_what_is_known_otherwise(sampled: str, known: str) -> None:
    ours, theirs = parse(sampled), parse(known)
    for mine, other in zip(ours.delta_bounds(EPSILON), theirs.delta_bounds(EPSILON), strict=True):
        assert mine == pytest.approx(other, rel=1e-6, abs=1e-12)
    assert ours.beta(ALPHA) == pytest.approx(theirs.beta(ALPHA), rel=1e-6, abs=1e-9)
    assert ours.neighbours == "add/remove"


def by_enumeration(p0: list[float], p1: list[float], q: float, copies: int, epsilon: float) -> float:
    """Return the larger delta of both directions of a sampled pair, all outcomes listed."""
    mixed = [(1 - q) * a + q * b for a, b in zip(p0, p1, strict=True)]
    forward = backward = 0.0
    for outcome in itertools.product(range(len(p0)), repeat=copies):
        out = math.prod(p0[i] for i in outcome)
        with_record = math.prod(mixed[i] for i in outcome)
        forward += max(0.0, with_record - math.exp(epsilon) * out)
        backward += max(0.0, out - math.exp(epsilon) * with_record)
    return max(forward, backward)


@pytest.mark.parametrize("q", [0.01, 0.3, 0.9])
@pytest.mark.parametrize("copies", [1, 2, 5])
def test_statements_by_brute_force(q: float, copies: int) -> None:
    """(epsilon, delta)-DP is attained by four outcomes: certain out, the two answers, certain in."""
    e, d = 1.2, 0.03
    top = (1 - d) * math.exp(e) / (1 + math.exp(e))
    p0, p1 = [d, top, 1 - d - top, 0.0], [0.0, 1 - d - top, top, d]
    region = parse(f"poisson(dp({e}, {d}), {q})^{copies}")
    for epsilon in EPSILON.tolist():
        assert float(region.delta(epsilon)) == pytest.approx(by_enumeration(p0, p1, q, copies, epsilon), abs=1e-12)


def test_a_part_without_a_direction_is_closed_first() -> None:
    """Which of the two laws of a pmf belongs to the record is not said, so both are allowed for."""
    p0, p1, q = [0.5, 0.3, 0.2], [0.1, 0.2, 0.7], 0.4
    region = parse(f"poisson(pmf({p0}, {p1}), {q})")
    for epsilon in EPSILON.tolist():
        both = max(by_enumeration(p0, p1, q, 1, epsilon), by_enumeration(p1, p0, q, 1, epsilon))
        assert float(region.delta(epsilon)) >= both - 1e-12


@pytest.mark.parametrize("q", [0.2, 0.7])
def test_a_sample_of_sampled_steps_by_quadrature(q: float) -> None:
    """Two sampled Gaussian steps on one sample: an asymmetric part, in both directions."""
    rate, x = 0.3, np.linspace(-9.0, 10.0, 1201)
    normal = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    mixed = (1 - rate) * normal + rate * np.exp(-((x - 1) ** 2) / 2) / math.sqrt(2 * math.pi)
    out, steps = np.outer(normal, normal), np.outer(mixed, mixed)
    with_record, cell = (1 - q) * out + q * steps, (x[1] - x[0]) ** 2
    region = parse(f"poisson(poisson_gaussian(1, {rate})^2, {q})")
    forward, backward = region.pair, region.pair.inverse()
    for epsilon in (0.0, 0.05, 0.2, 0.5):
        deltas = [
            float(np.maximum(one - math.exp(epsilon) * other, 0.0).sum()) * cell
            for one, other in ((with_record, out), (out, with_record))
        ]
        at = np.array([epsilon])
        assert forward.delta_bounds(at)[1][0] == pytest.approx(deltas[0], abs=1e-5)
        assert backward.delta_bounds(at)[1][0] == pytest.approx(deltas[1], abs=1e-5)
        assert float(region.delta(epsilon)) == pytest.approx(max(deltas), abs=1e-5)


def test_published_oracle_of_sampled_laplace_noise() -> None:
    """dp-accounting's test: scale 0.5, q = 0.2, three steps, epsilon at delta = 0 is 2.46964; 3 log(1 + q (e^2 - 1))."""
    region = parse("poisson(laplace(2), 0.2)^3")
    assert float(region.epsilon(0.0)) == pytest.approx(2.46964, abs=1e-5)
    assert float(region.epsilon(0.0)) == pytest.approx(3 * math.log1p(0.2 * math.expm1(2)), rel=1e-12)


def test_the_two_directions_are_composed_before_they_are_closed() -> None:
    """Closing each step first, as for records that are replaced, gives more than either direction."""
    directed, closed = parse("poisson(dp(1), 0.1)^30"), parse("symmetric(poisson(dp(1), 0.1))^30")
    assert float(directed.delta(0.5)) < float(closed.delta(0.5)) * (1 - 1e-3)


def test_other_relations_and_rates_are_refused() -> None:
    with pytest.raises(RelationError, match="poisson is about add/remove neighbours, rr"):
        _ = parse("poisson(rr(1), 0.1)").neighbours
    with pytest.raises(DomainError, match=r"q must be .* got 0"):
        parse("poisson(dp(1), 0)")
    assert parse(str(parse("poisson(dp(1), q=0.1)"))) == Poisson(parse("dp(1)"), 0.1)
    assert float(parse('poisson(assume(rr(1), "add/remove"), 0.5)').delta(0.0)) == pytest.approx(0.5 * math.tanh(0.5))
