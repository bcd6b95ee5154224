"""The pieces of the contour engine against other routes: windows, lines of a mixture, lists of halves, narrow tables."""

from __future__ import annotations

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from scipy.special import bdtrc

from dpcore.calibration.search import Axis, Search
from dpcore.core.question import question
from dpcore.curves.combined import closed
from dpcore.curves.composed import Certified
from dpcore.curves.gaussian import GaussianCurve
from dpcore.curves.laplace import LaplaceCurve
from dpcore.curves.subsampled import SampledGaussian
from dpcore.engine import enumeration, mixture_mgf, profile, splines
from dpcore.engine.contour import Contour
from dpcore.engine.contour_plan import windows
from dpcore.engine.contour_product import TransformProduct
from dpcore.engine.contour_table import crossings
from dpcore.engine.normal_jumps import Jumps


@pytest.mark.parametrize("parts", [[(LaplaceCurve(0.1), 1000)], [(SampledGaussian(GaussianCurve(1.0), 0.01), 1000)]])
def test_windows_of_many_buckets_are_those_of_each(parts: list[tuple[LaplaceCurve | SampledGaussian, int]]) -> None:
    engine = Contour(parts, 1e-6)
    with question():
        engine.delta_bounds(np.array([0.0, 0.5, 1.0, 2.0, 4.0, 20.0, 40.0]))
        buckets = engine._line_cache().buckets
    assert len(buckets) >= 3
    for bucket in buckets.values():
        apart, ratio = bucket.others
        target = bucket.plan[0] * bucket.size
        for found in (bucket.plan[1:], [float(x[0]) for x in windows(apart[None], ratio[None], np.array([target]))]):
            assert found == pytest.approx(bucket.window(0.0, target), rel=1e-9)


def test_a_short_line_leaves_out_less_than_it_says() -> None:
    """The nodes beyond the cut, summed on and on, stay below the bound of the cut."""
    engine = Contour([(SampledGaussian(GaussianCurve(1.0), 0.01), 1000)], 1e-6)
    with question():
        engine.delta_bounds(np.array([0.5, 2.0, 3.5]))
        buckets = engine._line_cache().buckets
    assert buckets
    for bucket in buckets.values():
        line = bucket.lines[0]
        y = line.step * np.arange(line.count, 4 * line.count)
        z = line.c + 1j * y
        size = np.exp(engine.product.log_mgf(z).real - line.log_scale) / np.abs(z * (z + 1))
        assert size.sum() * line.step / math.pi <= line.cut


def test_several_lines_at_once_are_those_one_by_one() -> None:
    c, step = np.array([[-3.0], [0.4], [6.0], [500.0]]), np.array([[0.5], [0.2], [0.1], [0.1]])
    s = c + 1j * step * np.arange(40)
    together = mixture_mgf.log_mgf(s, Jumps.single(1.0, 0.01))
    assert np.isnan(together[3]).all()  # beyond every exponent that is computed
    for row, alone in zip(together[:3], s[:3], strict=True):
        one = mixture_mgf.log_mgf(alone, Jumps.single(1.0, 0.01))
        assert np.abs(np.exp(row - one[0].real) - np.exp(one - one[0].real)).max() < 1e-13


def test_the_other_direction_is_left_out_only_where_it_is_smaller() -> None:
    """The ceiling at tabulated saddle points is above the certified delta everywhere."""
    pair = Certified([(SampledGaussian(GaussianCurve(1.0), 0.01), 1000)])
    epsilon = np.linspace(0.0, 6.0, 40)
    for direction in (pair, pair.inverse()):
        assert np.all(direction.ceiling(epsilon) >= direction.delta_bounds(epsilon)[0])


@pytest.mark.parametrize("delta", [0.05, 1e-3, 1e-5, 1e-9, 1e-20])
def test_the_root_of_a_delta_is_enclosed(delta: float) -> None:
    curve = closed(Certified([(SampledGaussian(GaussianCurve(1.0), 0.01), 1000)]))
    low, high = (float(side[0]) for side in curve.epsilon_bounds(np.array([delta])))
    assert 0 < high - low <= 1e-6 * high
    assert curve.delta_bounds(np.array([low]))[1][0] >= delta >= curve.delta_bounds(np.array([high]))[0][0]


def test_listed_halves_agree_with_every_combination() -> None:
    rng = np.random.default_rng(4)
    for losses in (rng.uniform(0.05, 0.3, 7), np.array([0.1, 0.1, 0.2, 0.3, 0.3])):
        parts = [(np.array([-x, x]), np.array([0.6, 0.3]), np.array([0.3, 0.6])) for x in losses]
        listed, merged = enumeration.SmallProduct(parts), enumeration.product(parts)
        assert listed.loss == pytest.approx(merged[0], abs=1e-14)
        assert listed.p == pytest.approx(merged[1], rel=1e-14)
        assert listed.q == pytest.approx(merged[2], rel=1e-14)
        every = [sum(signs) for signs in itertools.product(*([-x, x] for x in losses))]
        assert np.unique(np.round(every, 12)).size == listed.loss.size
        assert listed.q.sum() == pytest.approx(0.9 ** len(losses), rel=1e-14)


def test_signed_halves_are_the_listed_ones() -> None:
    rng = np.random.default_rng(5)
    for losses in (rng.uniform(1e-4, 2.4, 12), np.array([0.1, 0.1, 0.2, 0.3, 0.3]), np.array([7.5, 7.5, 7.5, 7.5])):
        parts = []
        for x in losses:
            high, low = 0.9 / (1 + np.exp(-x)), 0.9 * np.exp(-x) / (1 + np.exp(-x))
            parts.append((np.array([-x, x]), np.array([high, low]), np.array([low, high])))
        assert enumeration.signed(parts)
        found, listed = enumeration.Signed(parts), enumeration.SmallProduct(parts)
        assert found.loss == pytest.approx(listed.loss, abs=1e-13)
        assert found.q == pytest.approx(listed.q, rel=5e-14)
        assert found.p == pytest.approx(listed.p, rel=5e-14)
    far = [(np.array([-16.0, 16.0]), np.array([1.0, 0.0]), np.array([0.0, 1.0]))] * 2
    assert not enumeration.signed(far)


@pytest.mark.parametrize("scale", [1.0, 1e-290])
def test_narrow_tables_in_high_precision(scale: float) -> None:
    rng = np.random.default_rng(8)
    loss, q = np.sort(rng.uniform(-1.9, 1.9, 300)), scale * rng.uniform(0, 1, 300)
    found = profile.tables(loss, q, 0.25 * scale)
    with mp.workdps(40):
        for j in (0, 1, 150, 298, 299):
            terms = [(mp.mpf(m), mp.exp(mp.mpf(loss[j]) - mp.mpf(x))) for x, m in zip(loss[j:], q[j:], strict=True)]
            delta = mp.mpf(0.25 * scale) + mp.fsum(m * (1 - fade) for m, fade in terms)
            assert abs(found.delta[j] / delta - 1) < 4e-15
            assert abs(found.discounted[j] / mp.fsum(m * fade for m, fade in terms) - 1) < 4e-15
    assert found.delta[-1] == 0.25 * scale
    assert found.discounted[-1] == 0


@pytest.mark.parametrize(("epsilon", "k"), [(0.1, 1), (0.1, 1000), (1.0, 60), (5.0, 300), (1e-6, 5000)])
def test_the_order_of_the_splines_is_the_first_whose_tail_is_small(epsilon: float, k: int) -> None:
    tail = bdtrc(np.arange(k + 1), k, epsilon / (2 + epsilon))
    assert splines._order(epsilon, k) == max(1, int(np.argmax(tail <= splines._OMITTED)))


def test_a_trusted_search_stops_at_a_good_root() -> None:
    asked: list[float] = []

    def gap(v: float) -> float:
        asked.append(v)
        return -20 * (v - 0.3) - 3 * (v - 0.3) ** 2

    search = Search(gap, Axis(-5.0, 5.0, 1e-12), trusted=1e-8)
    assert search.enclose(0.0, 0.1)
    assert search.narrow()
    assert abs(search.root - 0.3) < 1e-7
    assert search.missed <= 0.3 <= search.met
    plain = Search(gap, Axis(-5.0, 5.0, 1e-12))
    count = len(asked)
    assert plain.enclose(0.0, 0.1)
    assert plain.narrow()
    assert count < len(asked) - count


def test_of_very_many_parts_the_strongest_decays_are_counted_and_the_bound_holds() -> None:
    parts = [(SampledGaussian(GaussianCurve(0.5 + 0.001 * i), 0.01), 1) for i in range(230)]
    many = TransformProduct([*parts, (LaplaceCurve(0.3), 2)])
    few = TransformProduct([*parts[:30], (LaplaceCurve(0.3), 2)])
    for c, y in ((0.5, 3.0), (2.0, 20.0)):
        whole = math.fsum(k * part.log_decay(c, y) for part, k in many.parts)
        found = many.log_decay(c, y)
        assert whole <= found < 0
        assert found <= math.fsum(k * part.log_decay(c, y) for part, k in many.parts[-101:])
        assert few.log_decay(c, y) == math.fsum(k * part.log_decay(c, y) for part, k in few.parts)


@pytest.mark.parametrize("eps0", [1e-6, 1e-3, 0.1, 1.0, 10.0, 50.0])
def test_laplace_on_the_real_axis_in_high_precision(eps0: float) -> None:
    c = np.array([-30.0, -3.0, -1.0, -0.7, -0.5001, -0.4, -1e-3, 0.0, 1e-5, 0.01, 1.0, 30.0, 1e4])
    value, slope = LaplaceCurve(eps0).cumulants(c)
    with mp.workdps(40):

        def log_m(s: mp.mpf) -> mp.mpf:
            z = s + mp.mpf("0.5")
            return mp.log(mp.cosh(z * eps0) + mp.sinh(z * eps0) / (2 * z)) - mp.mpf(eps0) / 2

        for at, found, mean in zip(c.tolist(), value, slope, strict=True):
            assert abs(log_m(mp.mpf(at)) - found) <= 1e-15 * (1 + abs(at) * eps0)
            assert abs(mp.diff(log_m, mp.mpf(at)) - mean) <= 1e-11 * eps0


def test_laplace_is_level_in_the_middle_of_the_real_axis() -> None:
    value, slope = LaplaceCurve(2.0).cumulants(np.array([-0.5, -0.5 + 1e-9]))
    assert value == pytest.approx(np.log(2.0 * np.exp(-1.0)), rel=1e-11)
    assert np.abs(slope).max() < 1e-5


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize("mu", [0.5, 1.0, 2.0])
def test_subsampled_gaussian_on_the_real_axis_is_its_transform_there(mu: float, *, flipped: bool) -> None:
    curve = SampledGaussian(GaussianCurve(mu), 0.02, flipped=flipped)
    c = np.array([-4.0, -1.0, -0.3, 0.0, 0.7, 3.0, 9.0])
    value, slope = curve.cumulants(c)
    assert value == pytest.approx(curve.log_mgf(c.astype(np.complex128)).real, rel=1e-11, abs=1e-13)
    h = 1e-4
    high, low = (curve.log_mgf((c + step).astype(np.complex128)).real for step in (h, -h))
    assert slope == pytest.approx((high - low) / (2 * h), rel=1e-5, abs=1e-9)


@pytest.mark.parametrize(
    "parts",
    [
        [(LaplaceCurve(0.1), 1000)],
        [(LaplaceCurve(3.0), 4)],
        [(SampledGaussian(GaussianCurve(1.0), 0.01), 1000)],
        [(SampledGaussian(GaussianCurve(1.25), 0.001), 100)],
        [(SampledGaussian(GaussianCurve(1.25), 0.001, flipped=True), 100)],
    ],
)
def test_between_two_crossings_a_kernel_loses_the_fewest_digits(
    parts: list[tuple[LaplaceCurve | SampledGaussian, int]],
) -> None:
    branches = Contour(parts, 1e-6).branches
    low, high = crossings(branches, symmetric=False)
    assert low <= high
    eps = np.concatenate([low + np.array([-0.5, -0.1, 0.1]), high + np.array([0.1, 0.5]), [0.5 * (low + high)]])
    inside = eps[(eps > branches[0].epsilon[0]) & (eps < branches[0].epsilon[-1])]
    for e in inside.tolist():
        d, i, n = (float(np.interp(e, b.epsilon, b.value)) for b in branches)
        n = n + 1.0 if e >= 0 else n  # the handicap
        chosen = n if e < low else d if e >= high else i
        assert chosen <= min(d, i, n) + 0.7


def test_a_line_asked_for_more_than_it_covers_is_made_again() -> None:
    parts = [(LaplaceCurve(0.1), 1000)]
    at = np.array([14.0, 9.0, 16.5, 10.0])
    engine = Contour(parts, 1e-6)
    one_by_one = [engine.delta_bounds(at[i : i + 1]) for i in range(at.size)]
    together = Contour(parts, 1e-6).delta_bounds(at)
    for i, (low, high) in enumerate(one_by_one):
        assert high[0] - low[0] <= 1e-9 * high[0]
        assert low[0] <= together[1][i]
        assert together[0][i] <= high[0]
