"""Noise cut to an interval: scales, losses, bias and error."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcore import DomainError
from dpcore.labs import Plot, lab
from dpcore.labs import bounded_noise as cut
from dpcore.words import outward

TEN = cut.Bounds(0.0, 10.0)
SCALES = [
    (1.0, 1.0, cut.Bounds(0, 1), 0.0, 1.0),
    (1.0, 1.0, TEN, 0.0, 1.611560),
    (1.0, 1.0, TEN, 1e-3, 1.609668),
    (1.0, 1.0, TEN, 0.1, 1.431746),
    (0.1, 1.0, TEN, 0.0, 18.772741),
    (0.5, 1.0, TEN, 0.0, 3.527871),
    (2.0, 1.0, TEN, 0.0, 0.697456),
    (1.0, 0.1, cut.Bounds(0, 1), 0.0, 0.161156),
    (1.0, 10.0, cut.Bounds(0, 110), 0.0, 16.120430),
]


@pytest.mark.parametrize(("epsilon", "move", "bounds", "delta", "scale"), SCALES)
def test_scales(epsilon: float, move: float, bounds: cut.Bounds, delta: float, scale: float) -> None:
    found = cut.required_scale(epsilon, move, bounds, delta)
    assert found == pytest.approx(scale, abs=5e-7)
    assert found >= cut.right_side(found, epsilon, move, bounds, delta)
    assert found == pytest.approx(cut.right_side(found, epsilon, move, bounds, delta), rel=1e-12)
    region = cut.mechanism(found, move, bounds)
    assert region.delta(epsilon) <= delta + 1e-12
    assert cut.largest_loss(found, move, bounds) == pytest.approx(region.epsilon(0.0), rel=1e-9)
    if delta == 0:
        assert region.epsilon(0.0) == pytest.approx(epsilon, rel=1e-9)


def test_the_uncut_scale_is_not_private() -> None:
    assert cut.largest_loss(1.0, 1.0, TEN) == pytest.approx(1.489850, abs=5e-7)
    region = cut.mechanism(1.0, 1.0, TEN)
    assert region.epsilon(0.0) == pytest.approx(1.489850, abs=5e-7)
    # second route: the densities themselves, over pairs one sensitivity apart
    x = np.linspace(0, 10, 20_001)
    worst = max(np.log(region.density(x, q + 1) / region.density(x, q)).max() for q in np.linspace(0, 9, 181))
    assert worst == pytest.approx(1.489850, abs=5e-7)


def test_delta_covers_pairs_inside_the_interval() -> None:
    """The worst pair at delta > 0 is not at the end: 0.002636 there, 0.0046868 over all pairs."""
    scale = cut.required_scale(1.0, 1.0, TEN, 0.1)
    region = cut.mechanism(scale, 1.0, TEN)
    step = 10 / 50_000
    x = (np.arange(50_000) + 0.5) * step

    def brute(q: float) -> float:
        return float(np.maximum(region.density(x, q + 1) - math.e * region.density(x, q), 0).sum() * step)

    assert brute(9.0) == pytest.approx(0.002636, abs=5e-6)
    worst = max(brute(q) for q in np.linspace(8.8, 9.0, 21))
    assert float(region.delta(1.0)) == pytest.approx(worst, abs=2e-5)
    assert worst == pytest.approx(0.004687, abs=2e-5)
    assert region.delta(1.0) < 0.1  # the theorem holds and is loose


def test_the_least_scale_for_a_delta() -> None:
    scale = cut.exact_scale(1.0, 1.0, TEN, 0.1, 1e-6)
    assert scale < cut.required_scale(1.0, 1.0, TEN, 0.1)
    assert cut.mechanism(scale, 1.0, TEN).delta(1.0) <= 0.1
    assert cut.mechanism(scale * (1 - 1e-5), 1.0, TEN).delta(1.0) > 0.1


@pytest.mark.parametrize(
    ("answer", "scale", "bounds", "bias", "square"),
    [
        (1.0, 1.61156, TEN, 0.935364, 3.354297),
        (5.0, 1.61156, TEN, 0.0, 3.259889),
        (0.0, 1.0, TEN, 0.999546, 1.994552),
        (10.0, 16.12043, cut.Bounds(0, 110), 9.458780, 345.853472),
    ],
)
def test_bias_and_error(answer: float, scale: float, bounds: cut.Bounds, bias: float, square: float) -> None:
    assert cut.bias(answer, scale, bounds) == pytest.approx(bias, abs=1e-6)
    assert cut.mean_square(answer, scale, bounds) == pytest.approx(square, rel=1e-6)
    # second route: quadrature of the density, cells meeting at the answer
    region = cut.mechanism(scale, 1.0, bounds)
    node, weight = np.polynomial.legendre.leggauss(60)
    edges = np.unique(np.array([bounds.lower, answer, bounds.upper]))
    half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    x = (middle[:, None] + half[:, None] * node).ravel()
    w = (half[:, None] * weight).ravel() * region.density(x, answer)
    assert w.sum() == pytest.approx(1.0, rel=1e-9)
    assert w @ (x - answer) == pytest.approx(cut.bias(answer, scale, bounds), abs=1e-8)
    assert w @ (x - answer) ** 2 == pytest.approx(cut.mean_square(answer, scale, bounds), rel=1e-8)


def test_clamped_noise_by_simulation() -> None:
    draws = np.clip(1.0 + np.random.default_rng(2).laplace(0, 1.5, 400_000), 0.0, 10.0) - 1.0
    spread = draws.std() / math.sqrt(draws.size)
    assert draws.mean() == pytest.approx(cut.clamped_bias(1.0, 1.5, TEN), abs=4 * spread)
    squares = draws**2
    spread = squares.std() / math.sqrt(draws.size)
    assert squares.mean() == pytest.approx(cut.clamped_mean_square(1.0, 1.5, TEN), abs=4 * spread)


def test_the_misprinted_constant() -> None:
    region = cut.mechanism(2.0, 1.0, TEN)
    x = np.linspace(0, 10, 200_001)
    uncut = np.exp(-np.abs(x - 9) / 2.0) / 4.0
    mass = np.sum((uncut[1:] + uncut[:-1]) / 2) * (x[1] - x[0])
    assert cut.norm(9.0, 2.0, TEN) == pytest.approx(mass, abs=1e-8)
    assert abs(cut.printed_norm(9.0, 2.0, TEN) - mass) > 0.05
    assert region.density(np.array([9.0]), 9.0)[0] == pytest.approx(1 / (4 * cut.norm(9.0, 2.0, TEN)), rel=1e-12)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_the_standard_deviation_is_more_sensitive_than_printed(n: int) -> None:
    """Example 5.5.2, by brute force over a grid of data sets and replacements."""
    rng = np.random.default_rng(n)
    corners = np.array(np.meshgrid(*[[0.0, 0.5, 1.0]] * n)).reshape(n, -1).T
    data = np.vstack((corners, rng.random((200, n))))
    worst = 0.0
    for value in (0.0, 0.3, 1.0):
        changed = data.copy()
        changed[:, 0] = value
        worst = max(worst, float(np.abs(changed.std(axis=1, ddof=1) - data.std(axis=1, ddof=1)).max()))
    assert worst == pytest.approx(cut.deviation_sensitivity(1.0, n), rel=1e-12)
    assert worst > cut.printed_deviation_sensitivity(1.0, n)


def test_the_story_is_in_the_first_picture() -> None:
    shown = lab("bounded_noise")
    picture = shown.view(shown.views[0])
    assert isinstance(picture, Plot)
    assert "1.48985" in picture.takeaway
    naive, right = (
        picture.frame[picture.frame["series"] == f"cut noise at the {which} scale"] for which in ("uncut", "right")
    )
    assert (naive["y"] > naive["x"]).all()
    np.testing.assert_allclose(right["y"], right["x"], rtol=1e-9)


def test_the_numbers_of_the_story() -> None:
    story = lab("bounded_noise").story
    scale, loss = cut.required_scale(1.0, 1.0, TEN), cut.largest_loss(1.0, 1.0, TEN)
    assert f"it needs {outward(scale, 4)}, while the usual scale 1 has a loss of {outward(loss, 3)}" in story.true
    # releases lean away from the ends, and the noise is larger than that of a clamped answer of the same loss
    assert cut.bias(0.0, scale, TEN) > 0 > cut.bias(10.0, scale, TEN)
    for answer in np.linspace(0.0, 10.0, 21).tolist():
        assert cut.mean_square(answer, scale, TEN) > cut.clamped_mean_square(answer, 1.0, TEN)


def test_a_printed_statement_is_called_false_only_if_the_source_states_it() -> None:
    """The source says itself that the uncut scale need not do, and that its constant depends on the scale."""
    rows = lab("bounded_noise").table().set_index("place")
    assert set(rows.loc[["Section 5.5", "Theorem 5.5.5"], "verdict"]) == {"holds", "reading", "loose"}
    assert rows.loc["Example 5.5.2", "verdict"] == "false"


def test_parameters_are_refused() -> None:
    for bad, words in (
        ({"lower": 10.0}, "lower must be below upper"),
        ({"sensitivity": 11.0}, r"sensitivity must be a number in \(0, 10\]"),
        ({"delta": 0.7}, r"delta must be a number in \[0, 0.5\]"),
    ):
        with pytest.raises(DomainError, match=words):
            lab("bounded_noise", **bad)
    with pytest.raises(DomainError, match=r"The answer must be a number in \["):
        cut.bias(11.0, 1.0, TEN)
