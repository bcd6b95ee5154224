"""Products of curves known by their profiles alone, against closed forms, splines and exact polygons."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore import parse
from dpcore.core.effort import effort
from dpcore.core.errors import BudgetError
from dpcore.curves.base import Bounds, Curve, FloatArray
from dpcore.curves.bounded_range import BoundedRange
from dpcore.curves.combined import Either, Erased, closed
from dpcore.curves.composed import Certified, Sum
from dpcore.curves.composition import compose
from dpcore.curves.gaussian import GaussianCurve
from dpcore.curves.laplace import LaplaceCurve
from dpcore.curves.polygon import Polygon
from dpcore.curves.polygon_algebra import closure, erase, mixed_in
from dpcore.curves.renyi import Renyi
from dpcore.curves.shuffled import Shuffled
from dpcore.curves.subsampled import SampledGaussian, Subsampled
from dpcore.engine import profile, sandwich_measure
from dpcore.engine.sandwich import Sandwich
from dpcore.engine.splines import laplace_power

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

TOLERANCE = 1e-6


class Veiled(Curve):
    """A curve whose moment generating function is hidden, optionally known as a bracket only."""

    def __init__(self, base: Curve, slack: float = 0.0) -> None:
        self.base, self.slack = base, slack
        self.symmetric, self.exact = base.symmetric, slack == 0.0
        self.q_inf, self.p_inf = base.q_inf, base.p_inf
        self.max_loss, self.min_loss = base.max_loss, base.min_loss

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        low, high = self.base.delta_bounds(epsilon)
        # a ripple that breaks convexity, as roundings do
        ripple = self.slack * (1.5 + np.sin(1e5 * np.where(np.isfinite(epsilon), epsilon, 0.0)))
        return low * (1 - ripple), np.minimum(high * (1 + ripple), 1.0)

    def inverse(self) -> Curve:
        return self if self.symmetric else Veiled(self.base.inverse(), self.slack)


def bracket(parts: list[tuple[Curve, int]], epsilon: list[float], tolerance: float = TOLERANCE) -> Bounds:
    return Sandwich(parts).delta_bounds(np.array(epsilon), tolerance)


def check(bounds: Bounds, truth: FloatArray, width: float = TOLERANCE, rounding: float = 1e-12) -> None:
    lower, upper = bounds
    assert np.all(lower <= truth * (1 + rounding))
    assert np.all(upper >= truth * (1 - rounding))
    assert np.all(upper - lower <= width * upper)


def losses(measure: sandwich_measure.Measure, h: float) -> FloatArray:
    return np.asarray((measure.first + np.arange(measure.mass.size)) * h, dtype=np.float64)


def two_point(epsilon: float) -> Polygon:
    low, high = 1 / (1 + np.exp(epsilon)), 1 / (1 + np.exp(-epsilon))
    return Polygon([-epsilon, epsilon], [high, low], [low, high])


@pytest.mark.parametrize(("mu", "k"), [(0.3, 1), (0.1, 100), (2.0, 3)])
def test_gaussians_as_if_nothing_were_known(mu: float, k: int) -> None:
    epsilon = [0.0, 0.5, 2.0, 6.0]
    truth = GaussianCurve(mu * np.sqrt(k)).delta_bounds(np.array(epsilon))[0]
    check(bracket([(GaussianCurve(mu), k)], epsilon, 1e-4), truth, 1e-4)


def test_deltas_near_the_smallest_double_stay_enclosed() -> None:
    curve, epsilon = GaussianCurve(0.16569221266550316), np.array([4.49731422, 6.09117222])
    truth = curve.delta_bounds(epsilon)[0]
    assert 0.0 < truth[-1] < 1e-296
    lower, upper = Sandwich([(curve, 1)]).delta_bounds(epsilon, 1e-3)
    assert np.all(lower < truth)
    assert np.all(upper > truth)


def test_tails_keep_their_digits() -> None:
    epsilon = [20.0, 30.0]
    truth = GaussianCurve(1.0).delta_bounds(np.array(epsilon))[0]
    assert truth[-1] < 1e-190
    check(bracket([(GaussianCurve(0.5), 4)], epsilon, 1e-3), truth, 1e-3)


@pytest.mark.parametrize(("loss", "k", "share"), [(1.0, 2, 0.95), (0.1, 50, 0.4), (0.1, 300, 0.2), (3.0, 3, 0.9)])
def test_laplace_with_its_atoms(loss: float, k: int, share: float) -> None:
    epsilon = np.array([0.0, 0.5, 1.0]) * share * k * loss
    check(bracket([(LaplaceCurve(loss), k)], list(epsilon)), laplace_power(loss, k).delta(epsilon))


def test_two_laplace_scales_have_no_common_step() -> None:
    truth = compose([(LaplaceCurve(1.0), 1), (LaplaceCurve(np.sqrt(0.5)), 1)])
    epsilon = [0.0, 0.3, 1.1]
    lower, upper = truth.delta_bounds(np.array(epsilon))
    assert np.all(upper - lower <= 1e-6 * upper)
    low, high = bracket([(LaplaceCurve(1.0), 1), (LaplaceCurve(np.sqrt(0.5)), 1)], epsilon)
    assert np.all(low <= upper)
    assert np.all(high >= lower)
    assert np.all(high - low <= 1e-6 * high)


def test_polygons_known_by_their_profile() -> None:
    polygon = closure(mixed_in(two_point(2.0), 0.1))
    epsilon = [0.0, 0.1, 0.4]
    truth = compose([(polygon, 12)])
    assert isinstance(truth, Polygon)
    check(bracket([(Veiled(polygon), 12)], epsilon, 1e-5), truth.delta_bounds(np.array(epsilon))[0], 1e-5)


def test_mass_at_infinity() -> None:
    polygon = Polygon(
        [-1.0, 1.0],
        [0.9 / (1 + np.exp(-1.0)), 0.9 / (1 + np.exp(1.0))],
        [0.9 / (1 + np.exp(1.0)), 0.9 / (1 + np.exp(-1.0))],
        0.1,
        0.1,
    )
    truth = compose([(polygon, 5), (GaussianCurve(0.5), 1)])
    epsilon = [0.0, 1.0, 3.0, 40.0]
    check(bracket([(Veiled(polygon), 5), (GaussianCurve(0.5), 1)], epsilon), truth.delta_bounds(np.array(epsilon))[0])


def test_published_tensor_square_of_bounded_range() -> None:
    lower, upper = bracket([(BoundedRange(1.0), 2)], [0.0, 0.5, 1.0, 1.5])
    np.testing.assert_allclose(upper, [0.322606, 0.170981, 0.064042, 0.010183], atol=1e-6)
    assert np.all(upper - lower <= TOLERANCE * upper)


SHARE, PIECES = 0.2, (0.5, 3.0, 6.0, 12.0)


def over_outputs(function: Callable[[FloatArray], FloatArray], cuts: Iterable[float]) -> float:
    """Integrate over the output x of N(0, 1) against 0.2 N(1, 1) + 0.8 N(0, 1), under the second of them."""
    node, weight = np.polynomial.legendre.leggauss(200)
    total = 0.0
    for a, b in pairwise(sorted(cuts)):
        x = 0.5 * (a + b) + 0.5 * (b - a) * node
        density = ((1 - SHARE) * np.exp(-x * x / 2) + SHARE * np.exp(-((x - 1) ** 2) / 2)) / np.sqrt(2 * np.pi)
        total += 0.5 * (b - a) * float(weight @ (density * function(x)))
    return total


def loss_at(x: FloatArray) -> FloatArray:
    return np.asarray(np.log1p(SHARE * np.expm1(x - 0.5)), dtype=np.float64)


def output_at(loss: float) -> float:
    return float(np.log1p(np.expm1(loss) / SHARE)) + 0.5


def test_square_of_a_subsampled_closure_against_quadrature() -> None:
    """The closure has the pair's law above loss 0, its mirror image below, and the rest of the mass at 0."""
    curve = closed(SampledGaussian(GaussianCurve(1.0), SHARE))

    def delta(epsilon: FloatArray) -> FloatArray:
        return curve.delta_bounds(epsilon)[0]

    def other_step(x: FloatArray, e: float) -> FloatArray:
        return np.asarray(delta(e - loss_at(x)) + np.exp(-loss_at(x)) * delta(e + loss_at(x)), dtype=np.float64)

    def unmoved(x: FloatArray) -> FloatArray:
        return np.asarray(1.0 + np.exp(-loss_at(x)), dtype=np.float64)

    epsilon, truth = [0.0, 0.2, 0.5], []
    for e in epsilon:
        cuts = {*PIECES, output_at(e)}
        still = 1.0 - over_outputs(unmoved, cuts)
        truth.append(over_outputs(partial(other_step, e=e), cuts) + still * float(delta(np.array([e]))[0]))
    np.testing.assert_allclose(truth, [0.12756101, 0.06981610, 0.02865903], atol=1e-8)
    check(bracket([(curve, 2)], epsilon), np.array(truth))


@pytest.mark.parametrize("flipped", [False, True])
def test_one_direction_of_subsampling_against_quadrature(flipped: bool) -> None:
    curve = SampledGaussian(GaussianCurve(1.0), SHARE, flipped=flipped)
    sign = -1.0 if flipped else 1.0

    def other_step(x: FloatArray, e: float) -> FloatArray:
        weight = np.exp(-loss_at(x)) if flipped else 1.0
        return np.asarray(weight * curve.delta_bounds(e - sign * loss_at(x))[0], dtype=np.float64)

    epsilon, truth = [0.0, 0.1, 0.3], []
    for e in epsilon:
        # cut where the other step has loss 0, or its largest one
        bends = [sign * e, *([curve.max_loss - e] if flipped else [])]
        inside = [t for t in bends if t > np.log1p(-SHARE) + 1e-12]
        cuts = {-40.0, -14.0, -8.0, -5.0, -2.0, *PIECES, *(output_at(t) for t in inside)}
        truth.append(over_outputs(partial(other_step, e=e), cuts))
    check(bracket([(curve, 2)], epsilon), np.array(truth), rounding=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("slack", [1e-12, 1e-9, 1e-6])
def test_brackets_stay_brackets(slack: float) -> None:
    epsilon = [0.0, 0.5, 2.0]
    truth = GaussianCurve(np.sqrt(0.9)).delta_bounds(np.array(epsilon))[0]
    lower, upper = bracket([(Veiled(GaussianCurve(0.3), slack), 10)], epsilon, 1e-4)
    assert np.all(lower < truth)
    assert np.all(upper > truth)


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(
        [
            GaussianCurve(0.4),
            LaplaceCurve(0.7),
            BoundedRange(1.3),
            SampledGaussian(GaussianCurve(1.0), 0.2),
            Subsampled(LaplaceCurve(1.0), 0.3, flipped=True),
            Renyi(3.0, 0.2),
            closed(Subsampled(LaplaceCurve(2.0), 0.1)),
            Erased(GaussianCurve(1.0), 0.3),
            Either([GaussianCurve(0.8), LaplaceCurve(0.9)], symmetric=True),
            two_point(0.77),
            erase(Polygon([], [], [], 1.0, 1.0), 0.8),
            Veiled(LaplaceCurve(0.6), 1e-10),
        ]
    ),
    st.integers(2, 400),
    st.floats(0.0, 0.01),
)
def test_the_two_measures_enclose_the_profile(curve: Curve, cells: int, shift: float) -> None:
    """At every epsilon, not only on the lattice, inner <= delta <= outer."""
    h = (0.9 + shift) / cells
    inner, outer = sandwich_measure.pair(curve, h, max(-3.0, curve.min_loss), min(3.0, curve.max_loss))
    epsilon = np.concatenate((np.linspace(-3.3, 3.3, 997), np.arange(-cells, cells) * h))
    low, high = curve.delta_bounds(epsilon)
    for side, measure in ((-1.0, inner), (1.0, outer)):
        assert np.all(measure.mass >= 0)
        loss = losses(measure, h)
        delta = profile.delta_at(epsilon, loss, profile.tables(loss, measure.mass, measure.rest))
        assert np.all(side * delta >= side * (low if side > 0 else high) - 4e-16)


def test_refinement_is_second_order() -> None:
    widths = []
    for h in (0.02, 0.01):
        inner, outer = sandwich_measure.pair(LaplaceCurve(1.0), h * (1 - 1e-6 * h), -1.0, 1.0)
        deltas = []
        for measure in (inner, outer):
            loss = losses(measure, h * (1 - 1e-6 * h))
            deltas.append(profile.delta_at(np.array([0.303]), loss, profile.tables(loss, measure.mass))[0])
        widths.append(deltas[1] - deltas[0])
    assert widths[1] < 0.35 * widths[0]


def test_corners_are_found() -> None:
    corners = sandwich_measure.kinks(Either([GaussianCurve(0.8), LaplaceCurve(0.9)], symmetric=True), -6.0, 6.0)
    found = np.array(sorted(loss for loss, _ in corners if loss > 0))
    gap = GaussianCurve(0.8).delta_bounds(found)[0] - LaplaceCurve(0.9).delta_bounds(found)[0]
    assert found.size
    assert np.min(np.abs(gap)) < 1e-9
    assert sandwich_measure.kinks(GaussianCurve(1.0), -6.0, 6.0) == []
    assert {round(loss, 6) for loss, _ in sandwich_measure.kinks(LaplaceCurve(0.7), -0.7, 0.7)} == {-0.7, 0.7}


def test_a_polygon_and_one_curve_are_a_finite_sum() -> None:
    polygon, smooth = two_point(1.0), Renyi(2.0, 0.5)
    product = compose([(polygon, 1), (smooth, 1)])
    assert isinstance(product, Sum)
    epsilon = np.array([0.0, 0.5, 2.0])
    truth = sum(q * smooth.delta_bounds(epsilon - loss)[1] for loss, q in zip(polygon.loss, polygon.q, strict=True))
    np.testing.assert_allclose(product.delta_bounds(epsilon)[1], truth, rtol=1e-13)


def test_certified_uses_the_lattice_only_without_transforms() -> None:
    product = compose([(Shuffled(0.5, 3), 1), (LaplaceCurve(1.0), 1)])
    assert isinstance(product, Certified)
    assert "lattice" in product.method
    up, down = product.delta_bounds(np.array([0.4])), product.delta_bounds(np.array([-0.4]))
    np.testing.assert_allclose(-np.expm1(-0.4) + np.exp(-0.4) * up[1], down[1], rtol=1e-12)
    above = product.delta_bounds(np.array([1.5, 9.0]))[1]
    assert above.tolist() == [0.0, 0.0]


def test_very_many_copies_take_a_coarser_lattice_rather_than_none() -> None:
    """A Gaussian in disguise: so many copies do not fit into one transform on the first lattice."""
    k, mu = 100_000, 0.003
    low, high = Sandwich([(GaussianCurve(mu), k)]).delta_bounds(np.array([0.5, 2.0]), 1e-2)
    truth = GaussianCurve(mu * np.sqrt(k)).delta_bounds(np.array([0.5, 2.0]))[0]
    assert (low <= truth).all()
    assert (truth <= high).all()
    assert (high - low <= 1e-2 * high).all()


@pytest.mark.parametrize("epsilon", [0.0, 40.0, 100.0, 130.0, 155.0, 159.0])
def test_the_floor_far_below_the_losses(epsilon: float) -> None:
    """400 Gaussian answers are one of mu = 20, whose losses are around 200: delta is 1 there, and no transform is needed."""
    lattice = Sandwich([(Veiled(GaussianCurve(1.0)), 400)])._lattice(0, 0, TOLERANCE)
    at = np.array([epsilon])
    floor, truth = float(lattice.inner.floor(at)[0]), float(GaussianCurve(20.0).delta_bounds(at)[0][0])
    assert floor <= truth
    assert floor >= (1 - 1e-6 if epsilon <= 40.0 else 0.0)
    lower, upper = (float(side[0]) for side in lattice.bounds(at, TOLERANCE)[:2])
    assert lower <= truth <= upper


def test_a_refused_epsilon_names_its_width_and_the_time() -> None:
    with pytest.raises(
        BudgetError, match=r"reached the relative width .* would take up to about \d+ s; allow a larger one"
    ):
        parse("laplace_sum(1)^100000").epsilon(1e-5)


def test_a_direction_that_does_not_matter_is_bracketed_widely_only() -> None:
    """Of two directions on lattices the smaller delta is skipped where its wide bracket lies below the other: same numbers, half the work."""
    curve = parse("poisson(laplace_vector(1, [1, 1]), 0.01)^1000").curve
    at = np.array([2.0755])
    assert curve.on_lattices
    first, other = curve.parts
    with effort(work=8e6):
        low, high = curve.delta_bounds(at)
    assert (low, high) == first.delta_bounds(at)
    assert other.delta_bounds(at)[1] <= other.ceiling(at) <= low
