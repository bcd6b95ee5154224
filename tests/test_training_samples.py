"""Samples of training runs: the pairs by brute force, quadrature and simulation, their transforms in 25 digits."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from mpmath import mp, mpc, mpf
from scipy.special import ndtr

from dpcore import parse
from dpcore.core.errors import DomainError, RelationError
from dpcore.curves.allocation import Allocation
from dpcore.curves.bound import floors, published
from dpcore.engine.contour_product import rounding_units
from dpcore.engine.cut_normal import LOWEST, CutNormal, legendre
from dpcore.engine.lognormal_sum import LogNormal, LogNormalSum
from dpcore.engine.normal_jumps import Jumps
from dpcore.engine.trimmed_mixture import Trimmed
from dpcore.engine.visible_choice import ChosenTransform
from dpcore.mechanisms.random_allocation import FARTHEST

EPSILON = np.array([0.0, 0.05, 0.3, 1.0, 2.0])
UNIT = 2.0**-53


def mixture_delta(moves: list[float], shares: list[float], epsilon: float, *, add: bool = False) -> float:
    """Return delta of N(0, 1) against a mixture of N(m, 1), by a fine Riemann sum, in either direction."""
    x = np.linspace(-14.0, 14.0 + max(moves), 400_001)
    p0 = np.exp(-(x**2) / 2)
    p1 = sum(p * np.exp(-((x - m) ** 2) / 2) for m, p in zip(moves, shares, strict=True))
    first, second = (p0, p1) if add else (p1, p0)
    total = np.maximum(first - math.exp(epsilon) * second, 0.0).sum()
    return float(total * (x[1] - x[0]) / math.sqrt(2 * math.pi))


@pytest.mark.parametrize(("sigma", "q", "records"), [(1.0, 0.1, 3), (0.7, 0.4, 2), (2.0, 0.05, 8)])
def test_several_records_of_one_person(sigma: float, q: float, records: int) -> None:
    region = parse(f"user_gaussian({sigma}, {q}, {records})")
    moves = [j / sigma for j in range(records + 1)]
    shares = [math.comb(records, j) * q**j * (1 - q) ** (records - j) for j in range(records + 1)]
    for epsilon in EPSILON.tolist():
        both = [mixture_delta(moves, shares, epsilon, add=add) for add in (False, True)]
        assert float(region.delta(epsilon)) == pytest.approx(max(both), rel=2e-6, abs=1e-9)
        assert float(region.pair.inverse().delta_bounds(np.array([epsilon]))[0][0]) == pytest.approx(
            both[1], rel=2e-6, abs=1e-9
        )


def test_moves_in_space_are_no_worse_than_on_a_line() -> None:
    """Kahane's inequality: three moves of lengths 1 and 2 in the plane against the same lengths on a line."""
    grid = np.linspace(-8.0, 10.0, 721)
    x, y = np.meshgrid(grid, grid)
    cell = (grid[1] - grid[0]) ** 2 / (2 * math.pi)
    p0 = np.exp(-(x**2 + y**2) / 2)
    vectors, shares = [(0.0, 0.0), (1.0, 0.0), (0.3, 1.97737), (0.0, -1.0)], [0.6, 0.2, 0.1, 0.1]
    p1 = sum(p * np.exp(-((x - a) ** 2 + (y - b) ** 2) / 2) for (a, b), p in zip(vectors, shares, strict=True))
    region = parse("gaussian_mixture(1, [0, 1, 2], [0.6, 0.3, 0.1])")
    for epsilon in EPSILON.tolist():
        space = [np.maximum(a - math.exp(epsilon) * b, 0.0).sum() * cell for a, b in ((p1, p0), (p0, p1))]
        line = [float(c.delta_bounds(np.array([epsilon]))[1][0]) for c in (region.pair, region.pair.inverse())]
        assert space[0] <= line[0] + 1e-9
        assert space[1] <= line[1] + 1e-9


def batches(others: int, q: float, most: int) -> list[tuple[float, int, bool]]:
    """Return (probability, other records in the batch, whether the record is in) for a Poisson sample cut to a size."""
    out = []
    for inside in itertools.product((0, 1), repeat=others + 1):
        chance = math.prod(q if i else 1 - q for i in inside)
        size = sum(inside)
        if size <= most:
            out.append((chance, size - inside[0], bool(inside[0])))
        elif inside[0]:
            out.append((chance * most / size, most - 1, True))
            out.append((chance * (1 - most / size), most, False))
        else:
            out.append((chance, most, False))
    return out


@pytest.mark.parametrize("values", [(-1.0, 1.0), (0.0, 1.0), (-1.0, -1.0), (1.0, -1.0)])
@pytest.mark.parametrize(("q", "most"), [(0.4, 2), (0.7, 3), (0.2, 1)])
def test_a_cut_sample_by_brute_force(values: tuple[float, float], q: float, most: int) -> None:
    """All samples of five records on a line, the others of one value and the record of another: delta is below the region's."""
    other, own = values
    sigma, others = 1.3, 4
    region = parse(f"truncated_poisson({sigma}, {q}, {most}, {others + 1})")
    x = np.linspace(-20.0, 20.0, 40_001)

    def density(places: list[tuple[float, float]]) -> np.ndarray:
        return np.asarray(sum(p * np.exp(-((x - at) ** 2) / (2 * sigma**2)) for p, at in places))

    with_record = density([(p, n * other + (own if inside else 0.0)) for p, n, inside in batches(others, q, most)])
    sizes = [math.comb(others, n) * q**n * (1 - q) ** (others - n) for n in range(others + 1)]
    without = density([(p, min(n, most) * other) for n, p in enumerate(sizes)])
    cell = (x[1] - x[0]) / (sigma * math.sqrt(2 * math.pi))
    for epsilon in EPSILON.tolist():
        lower, upper = (float(side[0]) for side in region.delta_bounds(epsilon))
        true = [
            np.maximum(a - math.exp(epsilon) * b, 0.0).sum() * cell
            for a, b in ((with_record, without), (without, with_record))
        ]
        assert max(true) <= upper + 1e-7
        if other == 0.0:
            assert max(true) == pytest.approx(lower, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("p", [0.3, 0.6])
def test_a_fixed_size_sample_attains_its_pair(p: float) -> None:
    """Others at -1, the record at +1: the batch sum moves by 2 with probability m/n, exactly."""
    n, sigma = 10, 1.1
    m = round(p * n)
    region = parse(f"fixed_size(gaussian({sigma}, 2), {p})")
    for epsilon in EPSILON.tolist():
        both = [mixture_delta([0.0, 2 / sigma], [1 - m / n, m / n], epsilon, add=add) for add in (False, True)]
        assert float(region.delta(epsilon)) == pytest.approx(max(both), rel=1e-6, abs=1e-9)
    with pytest.raises(RelationError, match="substituted records"):
        parse("fixed_size(poisson_gaussian(1, 0.1), 0.2)").delta(1.0)


def test_banded_noise_by_simulated_reduction() -> None:
    assert parse("banded_gaussian(2, 0.01, 5, 103, 1.5)").delta(0.5) == pytest.approx(
        parse("poisson_gaussian(4/3, 0.05)^21").delta(0.5), rel=1e-6
    )
    with pytest.raises(DomainError, match="does not fit"):
        parse("banded_gaussian(2, 0.3, 5, 100)")


@pytest.mark.parametrize("steps", [1, 2, 3, 4, 5, 8, 1000])
def test_the_nodes_of_a_tree_above_a_step(steps: int) -> None:
    """Count the complete subtrees that hold the first step."""
    count = sum(1 for height in range(40) if 2**height <= steps)
    tree, nodes = parse(f"tree_aggregation(2, {steps})"), parse(f"gaussian(2)^{count}")
    assert tree.delta(0.7) == pytest.approx(nodes.delta(0.7), rel=1e-12)


# ---- random allocation ---------------------------------------------------------------------------------------------


def test_allocation_to_two_steps_by_quadrature() -> None:
    x = np.linspace(-9.0, 10.0, 1601)
    a, b = np.meshgrid(x, x)
    mu = 1 / 1.2
    ratio = 0.5 * (np.exp(mu * a - mu**2 / 2) + np.exp(mu * b - mu**2 / 2))
    p0 = np.exp(-(a**2 + b**2) / 2) * (x[1] - x[0]) ** 2 / (2 * math.pi)
    region = parse("random_allocation(1.2, 2)")
    for epsilon in (0.1, 0.5, 1.0):
        call = float((p0 * np.maximum(ratio - math.exp(epsilon), 0.0)).sum())
        put = float((p0 * np.maximum(1 - math.exp(epsilon) * ratio, 0.0)).sum())
        for curve, true in ((region.pair, call), (region.pair.inverse(), put)):
            (lower,), (upper,) = curve.delta_bounds(np.array([epsilon]))
            assert lower - 1e-5 * true <= true <= upper + 1e-5 * true


def test_allocation_beyond_all_doubles_of_the_ratio() -> None:
    """Beyond epsilon = 709 the lower bound was no number: infinity times 0."""
    for sigma, epsilons in (
        (1.0 / FARTHEST, [250.0, 310.0, 710.0, 745.0, 2000.0]),
        (1.7, [300.5, 710.0, 745.0, 800.0]),
    ):
        for curve in (Allocation(1.0 / sigma, 4, 4), Allocation(1.0 / sigma, 4, 4, flipped=True)):
            low, high = curve.delta_bounds(np.array(epsilons))
            # where all four ratios are below e^-(epsilon + 1), so is their mean, and the gain is above 1 - 1/e
            each = ndtr(0.5 / sigma - sigma * (np.array(epsilons) + 1.0))
            assert np.all(high >= ((1.0 - math.exp(-1.0)) * each**4 if curve.flipped else 0.0))
            assert np.all((low >= 0.0) & (low <= high))
    assert np.all(Allocation(1.0, 4, 4, flipped=True).delta_bounds(np.array([math.inf]))[1] == 0.0)


@pytest.mark.parametrize(("sigma", "steps"), [(1.0, 30), (0.6, 20)])
def test_allocation_by_simulation(sigma: float, steps: int) -> None:
    rng, size = np.random.default_rng(5), 200_000
    mu = 1 / sigma
    ratio = np.exp(mu * rng.standard_normal((size, steps)) - mu**2 / 2).mean(axis=1)
    region = parse(f"random_allocation({sigma}, {steps})")
    for epsilon in (0.1, 0.4):
        gains = [np.maximum(gain, 0.0) for gain in (ratio - math.exp(epsilon), 1 - math.exp(epsilon) * ratio)]
        for curve, gain in zip((region.pair, region.pair.inverse()), gains, strict=True):
            (lower,), (upper,) = curve.delta_bounds(np.array([epsilon]))
            assert abs(gain.mean() - upper) < 5 * gain.std() / math.sqrt(size) + (upper - lower)


def test_tails_of_a_sum_agree_whatever_is_cut() -> None:
    """Brackets with different cuts overlap after the mass left out, in both kernels."""
    strike = 100 * np.exp(np.array([0.1, 0.3]))
    sums = [LogNormalSum(1.0, 100, mass, 1e-7) for mass in (1e-13, 1e-16)]
    ends = [(low, high + 100 * law.lost) for law in sums for low, high in [law.above(strike, 1e-7)]]
    assert np.all(ends[0][0] <= ends[1][1])
    assert np.all(ends[1][0] <= ends[0][1])
    direct = sums[0]._upper.kernel(sums[0].scale * strike)
    low, high = sums[0].above(strike, 0.5)
    assert np.all(direct[0] / sums[0].scale <= high * (1 + 1e-9))
    assert np.all(low <= direct[1] / sums[0].scale * (1 + 1e-9))


def test_shuffled_batches_hold_their_attack() -> None:
    """Shuffle for real: others at -1, the record at +1. The attack on the largest sum reaches the lower side, not more."""
    sigma, batch, steps, size = 1.0, 4, 6, 100_000
    region = parse(f"shuffled_batches({sigma}, {steps})")
    rng = np.random.default_rng(3)
    noise = rng.normal(0.0, sigma, (2, size, steps))
    sums = np.full((size, steps), -float(batch))
    sums[np.arange(size), rng.integers(0, batch * steps, size) // batch] += 2.0
    with_record = (sums + noise[0])[:, :-1].max(axis=1)
    without = (np.full((size, steps), -float(batch)) + noise[1])[:, :-1].max(axis=1)
    for epsilon in (0.2, 1.0):
        lower, upper = (float(side[0]) for side in region.delta_bounds(epsilon))
        at = np.linspace(-8.0, 8.0, 801)
        gains = [float(np.mean(with_record > t) - math.exp(epsilon) * np.mean(without > t)) for t in at]
        assert abs(max(gains) - lower) < 0.01
        assert lower < upper
    assert published(region.pair).gaussian_mu == pytest.approx(math.sqrt(5.0))
    assert len(floors(region.pair)) == 1
    (low,), (high,) = (region**4).epsilon_bounds([1e-5])
    assert parse("poisson_gaussian(1, 1/6)^24").epsilon(1e-5) < low < high


# ---- transforms ----------------------------------------------------------------------------------------------------


def in_many_digits(law: CutNormal, s: complex) -> mpc:
    """Return log M(s) of a cut law in 25 digits."""
    with mp.workdps(25):
        ends = [*np.linspace(LOWEST, law.high - 1.0, 16).tolist(), law.high - 0.5, law.high]
        power = mpc(s) + law.shift
        if isinstance(law, LogNormal):
            value = lambda x: mpf(law.scale) * mp.exp(mpf(law.move) * x - mpf(law.move) ** 2 / 2)
        else:
            assert isinstance(law, Trimmed)
            (mu,), (q,) = law.law.moves, law.law.shares
            value = lambda x: mp.log(1 - mpf(q) + mpf(q) * mp.exp(mpf(mu) * x - mpf(mu) ** 2 / 2))
        return mp.log(mp.quad(lambda x: mp.exp(-x * x / 2 + power * value(x)) / mp.sqrt(2 * mp.pi), ends))


@pytest.mark.parametrize(
    ("law", "points"),
    [
        (Trimmed(Jumps.single(1 / 1.1, 1e-5), 1e-24), [237.0, 237 + 800j, 349 + 300j, -300 + 50j]),
        (Trimmed(Jumps.single(2.0, 1e-3), 1e-20), [3.0, 3 + 40j, 20 + 5j, -0.5 + 300j, -40 + 3j]),
        (LogNormal(1.0, 10.5, 1e-12), [2e9, 2e9 + 2e9j, -1e10 + 3e9j]),
    ],
)
def test_transforms_to_their_stated_rounding(law: CutNormal, points: list[complex]) -> None:
    for s in points:
        at = np.array([s], dtype=np.complex128)
        got, true = complex(law.log_mgf(at)[0]), in_many_digits(law, s)
        with mp.workdps(25):
            size = float(abs(mp.exp(true.real - mpf(law.cumulants(at.real)[0][0])))) if s.imag else 1.0
            error = abs(complex(mp.exp(mpc(got) - true) - 1)) * size
        assert error <= UNIT * (float(law.mgf_rounding_along(at)[0]) + 4 * abs(got))


def test_a_visible_choice_states_the_rounding_of_its_parts() -> None:
    parts = [Trimmed(Jumps.single(1.0, 0.01), 1e-18), Trimmed(Jumps.single(2.0, 0.01), 1e-18)]
    s = 10.0 + 1j * np.array([[0.0, 1.0, 100.0]])
    units = rounding_units(ChosenTransform([(0.9, parts[0]), (0.1, parts[1])]), s)
    for part in parts:
        assert np.all(units >= part.mgf_rounding_along(s))


@pytest.mark.parametrize("law", [Trimmed(Jumps.single(1.0, 1e-3), 1e-20), LogNormal(1.0, 9.0, 1e-12)])
def test_the_decay_is_a_bound(law: CutNormal) -> None:
    c = 0.3 * law.ends[1]
    for share in (0.01, 0.1, 1.0, 5.0):
        y = share * law.ends[1]
        bound = law.log_decay(c, y)
        further = np.array([complex(c, y * more) for more in (1.0, 1.1, 1.7, 3.0)])
        assert np.all(law.log_mgf(further).real - law.cumulants(np.array([c]))[0][0] <= bound + 1e-9)


def test_weights_of_the_quadrature() -> None:
    nodes, weights = legendre(28)
    for power in range(0, 56, 5):
        assert float(weights @ nodes**power) == pytest.approx((1 + (-1) ** power) / (power + 1), rel=1e-15, abs=1e-16)
    assert float(ndtr(LOWEST)) < 1e-27


@pytest.mark.parametrize("share", [0.5, 0.999])
@pytest.mark.parametrize("count", [1, 10])
def test_one_near_move_and_a_far_one(share: float, count: int) -> None:
    """Against P1 = s N(m, 1) + (1 - s) elsewhere, delta is 1 - s + s delta_G(e - log s), and delta_G(e + log s) the other way."""
    pair = parse(f"gaussian_mixture(1, [3, 1000], [{share}, {1 - share}])^{count}").pair
    near, kept = parse(f"gdp(3)^{count}").curve, share**count
    epsilon = np.array([0.0, 1.0, 5.0, 30.0])
    forward = 1 - kept + kept * near.delta_bounds(epsilon - math.log(kept))[1]
    assert pair.delta_bounds(epsilon)[1] == pytest.approx(forward, rel=1e-6)
    assert pair.inverse().delta_bounds(epsilon)[1] == pytest.approx(
        near.delta_bounds(epsilon + math.log(kept))[1], rel=1e-6
    )


@pytest.mark.parametrize("move", [1.0, 2.0, pytest.param(4.0, marks=pytest.mark.long)])
def test_moves_that_are_nearly_one(move: float) -> None:
    region = parse(f"gaussian_mixture(1, [{move}, {move * (1 + 1e-12)}], [0.5, 0.5])^10")
    mu = move * math.sqrt(10)
    epsilon = np.array([mu * mu / 2, mu * mu / 2 + 3 * mu])
    low, high = region.delta_bounds(epsilon)
    truth = parse(f"gdp({mu})").delta(epsilon)
    assert np.all(low <= truth * (1 + 1e-9))
    assert np.all(high >= truth * (1 - 1e-9))
    assert high == pytest.approx(truth, rel=1e-3)


def test_rare_near_moves_beside_far_ones() -> None:
    """Both directions of one move, no move and an infinite loss, by sums on a fine grid."""
    x, step = np.linspace(-12.0, 14.0, 400_001, retstep=True)
    p0 = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    p1 = p0 * (0.5 + 0.3 * np.exp(x - 0.5))
    pair = parse("gaussian_mixture(1, [0, 1, 1000], [0.5, 0.3, 0.2])").pair
    for epsilon in (0.0, 0.1, 0.3, 0.5, 1.0):
        forward = 0.2 + np.maximum(p1 - math.exp(epsilon) * p0, 0.0).sum() * step
        backward = np.maximum(p0 - math.exp(epsilon) * p1, 0.0).sum() * step
        assert float(pair.delta_bounds(np.array([epsilon]))[1][0]) == pytest.approx(forward, abs=1e-8)
        assert float(pair.inverse().delta_bounds(np.array([epsilon]))[1][0]) == pytest.approx(backward, abs=1e-8)
