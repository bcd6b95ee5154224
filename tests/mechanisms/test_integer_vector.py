"""Integer noise on vectors: every integer move within both norms, by direct sums over all noisy vectors."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpcore import parse
from dpcore.calibration import calibrate
from dpcore.core.errors import BudgetError, DomainError
from dpcore.mechanisms.base import Mechanism
from dpcore.theorems.conversion.claims import calibration_text
from dpcore.theorems.divergences import concentrated, renyi

EPSILONS = np.array([0.0, 0.4, 1.0, 2.5])


def brute(text: str, l1: int, square: int) -> np.ndarray:
    """Return the largest delta over all moves of at most l1 cells, each a sum over a box of noisy vectors."""
    law = parse(text).law  # type: ignore[attr-defined]
    far = 18 if l1 > 2 else 40
    largest = np.zeros(EPSILONS.size)
    for size in range(1, l1 + 1):
        for move in itertools.product(range(-l1, l1 + 1), repeat=size):
            if 0 in move or sum(map(abs, move)) > l1 or sum(m * m for m in move) > square:
                continue
            p = q = np.ones(1)
            for m in move:
                x = np.arange(-far - l1, far + l1 + 1.0)
                p = np.multiply.outer(p, law.density(x)).ravel()
                q = np.multiply.outer(q, law.density(x - m)).ravel()
            for i, epsilon in enumerate(EPSILONS):
                largest[i] = max(largest[i], np.maximum(q - math.exp(epsilon) * p, 0.0).sum())
    return largest


@pytest.mark.parametrize(
    ("text", "l1", "l2"),
    [
        ("discrete_gaussian(0.7)", 2, "sqrt(2)"),
        ("discrete_gaussian(2)", 3, "sqrt(3)"),
        ("discrete_gaussian(1)", 3, "inf"),
        ("discrete_laplace(0.8)", 3, "sqrt(5)"),
        ("discrete_laplace(1.6)", 2, "2"),
        ("skellam(3)", 3, "sqrt(5)"),
        ("rounded_gaussian(1.2)", 2, "2"),
    ],
)
def test_no_move_within_both_norms_is_worse(text: str, l1: int, l2: str) -> None:
    square = round(parse(f"gaussian(1, {l2})").sensitivity ** 2) if l2 != "inf" else l1 * l1  # type: ignore[attr-defined]
    truth = brute(text, l1, square)
    lower, upper = parse(f"integer_vector({text}, {l1}, {l2})").delta_bounds(EPSILONS)
    np.testing.assert_allclose(upper, truth, rtol=1e-6, atol=1e-9)
    assert np.all(upper >= truth * (1 - 1e-9) - 1e-10)
    assert np.all(lower <= upper)


def test_a_replaced_record_moves_two_cells() -> None:
    region = parse("integer_vector(discrete_gaussian(3), 2, sqrt(2))")
    twice = parse("discrete_gaussian(3)^2")
    assert region.delta(0.5) == twice.delta(0.5)
    assert (region**50).delta(2.0) == parse("discrete_gaussian(3)^100").delta(2.0)
    assert region.kind == twice.kind
    assert [dict(vector) for vector in region.vectors] == [{1: 2}]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "epsilon"),
    [("integer_vector(discrete_gaussian(2), 2, 1.5)", None), ("integer_vector(discrete_laplace(2), 3, sqrt(3))", 1.5)],
)
def test_it_is_attacked_and_claimed_as_a_mechanism(text: str, epsilon: float | None) -> None:
    """The attacker of the only vector reaches the curve, by draws of all cells; a picture shows one of them."""
    region = parse(text)
    assert isinstance(region, Mechanism)
    assert "best attacker uses all" in region.answers().note
    assert region.claimed_epsilon == epsilon
    found = region.attack()
    assert found is not None
    scores = [np.sort(found[0](np.random.default_rng(4), 40_000, inside)) for inside in (False, True)]
    for cut in np.quantile(scores[0], (0.5, 0.9, 0.99)):
        alpha, beta = (scores[0] > cut).mean(), (scores[1] <= cut).mean()
        assert beta == pytest.approx(float(region.beta(alpha)), abs=0.02)
    assert parse("integer_vector(skellam(4), 3, 2.3)").attack() is None  # type: ignore[attr-defined]  # a mechanism


@pytest.mark.parametrize(
    ("noise", "l1", "l2"), [("discrete_gaussian(0.7)", 3, "sqrt(5)"), ("discrete_gaussian(2)", 2, "sqrt(2)")]
)
def test_divergences_are_the_largest_of_all_moves(noise: str, l1: int, l2: str) -> None:
    region = parse(f"integer_vector({noise}, {l1}, {l2})")
    law = parse(noise).law  # type: ignore[attr-defined]
    x = np.arange(-60.0, 61.0)

    def divergence(move: int, order: float) -> float:
        p, q = law.density(x), law.density(x - move)
        kept = (p > 0) & (q > 0)
        logs = order * np.log(q[kept]) + (1 - order) * np.log(p[kept])
        return float(np.logaddexp.reduce(logs) / (order - 1))

    square = 5 if l1 == 3 else 2
    moves = [m for size in range(1, l1 + 1) for m in itertools.product(range(1, l1 + 1), repeat=size)]
    moves = [m for m in moves if sum(m) <= l1 and sum(one * one for one in m) <= square]
    for order in (1.5, 2.0, 3.0):
        worst = max(sum(divergence(one, order) for one in move) for move in moves)
        assert renyi(region, order) == (pytest.approx(worst, rel=1e-9), True)
    rate = concentrated(region)
    assert rate is not None
    assert rate.rho == pytest.approx(max(sum(one * one for one in m) for m in moves) / (2 * parse(noise).sigma ** 2))  # type: ignore[attr-defined]


def test_its_noise_is_calibrated() -> None:
    text = calibration_text(parse("integer_vector(discrete_gaussian(2), 2, sqrt(2))"), 3)
    assert text == "integer_vector(discrete_gaussian(?), 2, 1.4142135623730951)^3"
    row = calibrate(text, epsilon=1.0, delta=1e-6).iloc[0]
    assert parse(str(row["expression"])).delta(1.0) <= 1e-6
    assert row["value"] == pytest.approx(
        float(calibrate("discrete_gaussian(?)^6", epsilon=1.0, delta=1e-6)["value"].iloc[0])
    )


def test_the_moves_to_which_nothing_can_be_added() -> None:
    vectors = parse("integer_vector(discrete_gaussian(3), 9, 3)").vectors  # type: ignore[attr-defined]
    assert {tuple(sorted(vector.elements())) for vector in vectors} == {
        (3,), (1, 2, 2), (1, 1, 1, 1, 1, 2), (1,) * 9,
    }  # fmt: skip
    # the square root of 2, rounded down, still lets two cells move
    low = math.nextafter(math.sqrt(2), 0)
    assert parse(f"integer_vector(discrete_laplace(1), 2, {low!r})").vectors[0].total() == 2  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("integer_vector(gaussian(1), 2, 2)", "needs integer noise with a sensitivity"),
        ("integer_vector(dp(1), 2, 2)", "needs integer noise with a sensitivity"),
        ("integer_vector(geometric(1), 2, 2)", "grows with the sensitivity"),
        ("integer_vector(discrete_gaussian(2, 3), 2, 2)", "with sensitivity 1, not 3"),
    ],
)
def test_what_is_no_integer_noise(text: str, sentence: str) -> None:
    with pytest.raises(DomainError, match=sentence):
        parse(text).delta(1.0)
    with pytest.raises(BudgetError, match="More than 64 different moves"):
        parse("integer_vector(discrete_gaussian(9), 100, 10)").delta(1.0)
