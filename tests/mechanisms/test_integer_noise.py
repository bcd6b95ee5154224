"""Integer noise: regions beside direct sums and convolutions in many digits, products of many widths, sums of noises."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

from dpcore import (
    discrete_gaussian,
    discrete_gaussian_sum,
    discrete_laplace,
    gdp,
    geometric,
    parse,
    rounded_gaussian,
    skellam,
)
from dpcore.calibration import calibrate
from dpcore.core.effort import effort
from dpcore.curves import integer_gaussian
from dpcore.curves.composed import Certified
from dpcore.curves.composition import compose
from dpcore.curves.integer_gaussian import IntegerGaussian, IntegerGaussians, sum_gap
from dpcore.curves.polygon import Polygon
from dpcore.regions.algebra import Product
from dpcore.theorems.conversion import gaussian_mu
from dpcore.theorems.divergences import renyi

DIGITS = 30
Law = dict[int, mp.mpf]


def normalised(weights: Law) -> Law:
    """Return weights that add up to one."""
    total = mp.fsum(weights.values())
    return {x: w / total for x, w in weights.items()}


def gaussian_law(sigma: str | mp.mpf, far: float = 14.0) -> Law:
    """Return the masses of a discrete Gaussian, as far as they matter for a delta of 1e-40."""
    width = mp.mpf(sigma)
    most = int(far * width) + 3
    return normalised({x: mp.exp(-(mp.mpf(x) ** 2) / (2 * width**2)) for x in range(-most, most + 1)})


def convolved(first: Law, second: Law) -> Law:
    """Return the law of the sum."""
    out: Law = {}
    for x, p in first.items():
        for y, q in second.items():
            out[x + y] = out.get(x + y, mp.mpf(0)) + p * q
    return out


def direct_delta(law: Law, move: int, epsilon: float | mp.mpf) -> mp.mpf:
    """Return delta of one noise against the same noise moved."""
    none, factor = mp.mpf(0), mp.exp(mp.mpf(epsilon))
    places = range(min(law), max(law) + move + 1)
    return mp.fsum(max(none, law.get(x - move, none) - factor * law.get(x, none)) for x in places)


def composed_delta(parts: list[tuple[str, int]], epsilon: float) -> mp.mpf:
    """Return delta of discrete Gaussians of different widths, one copy each, by listing every combination of answers."""
    rows: list[tuple[mp.mpf, mp.mpf]] = [(mp.mpf(1), mp.mpf(0))]
    for sigma, move in parts:
        law, rate = gaussian_law(sigma, 10.0), mp.mpf(move) / mp.mpf(sigma) ** 2
        rows = [(q * mass, loss + (x + mp.mpf(move) / 2) * rate) for q, loss in rows for x, mass in law.items()]
    return mp.fsum(q * (1 - mp.exp(epsilon - loss)) for q, loss in rows if loss > epsilon)


@pytest.mark.parametrize(
    ("sigma", "move", "epsilon"),
    [("0.3", 1, 2.0), ("1", 1, 0.0), ("1.7", 3, 4.5), ("6", 1, 0.9), ("25", 2, 0.3), ("25", 40, 5.0)],
)
def test_one_discrete_gaussian(sigma: str, move: int, epsilon: float) -> None:
    with mp.workdps(DIGITS):
        true = direct_delta(gaussian_law(sigma, 40.0), move, epsilon)
        assert abs(discrete_gaussian(float(sigma), move).delta(epsilon) / true - 1) < 1e-12


@pytest.mark.parametrize(
    ("sigma", "copies", "epsilon"), [("0.6", 3, 5.0), ("1.3", 6, 7.0), ("2", 4, 9.0), ("3", 5, 1.0)]
)
def test_equal_ones_convolve_on_their_lattice(sigma: str, copies: int, epsilon: float) -> None:
    with mp.workdps(DIGITS):
        law = one = gaussian_law(sigma, 20.0)
        for _ in range(copies - 1):
            law = convolved(law, one)
        # the loss of the sum x is (x - copies/2) / sigma^2, which is that of the move by `copies` of a sum
        rate = 1 / mp.mpf(sigma) ** 2
        terms = ((p, (x + mp.mpf(copies) / 2) * rate) for x, p in law.items())
        true = mp.fsum(p * (1 - mp.exp(epsilon - loss)) for p, loss in terms if loss > epsilon)
        region = parse(f"discrete_gaussian({sigma})^{copies}")
        assert region.kind == "exact"
        assert abs(region.delta(epsilon) / true - 1) < 1e-10


@pytest.mark.parametrize(
    ("parts", "epsilon"),
    [
        ([("0.9", 1), ("1.3", 1), ("2.1", 1)], 3.0),
        ([("0.9", 2), ("1.3", 1)], 8.0),
        ([("1.1", 1), ("1.9", 1), ("1.5", 2)], 12.0),
    ],
)
def test_different_ones_beside_every_combination(parts: list[tuple[str, int]], epsilon: float) -> None:
    with mp.workdps(DIGITS):
        true = composed_delta(parts, epsilon)
        region = parse(" * ".join(f"discrete_gaussian({sigma}, {move})" for sigma, move in parts))
        assert abs(region.delta(epsilon) / true - 1) < 1e-10


@pytest.mark.parametrize(("sigma", "move"), [(0.8, 1), (1.3, 2), (6.0, 1), (6.0, 5)])
def test_the_transform_is_that_of_the_masses(sigma: float, move: int) -> None:
    curve = IntegerGaussian(sigma, move)
    s = np.array([0.3 + 0.2j, 2 + 5j, -0.5 + 3j, -0.5 + 50j, 7 + 100j, -3.2 + 1j])
    at_c = Polygon.log_mgf(curve, s.real + 0j).real
    by_masses = np.exp(Polygon.log_mgf(curve, s) - at_c)
    np.testing.assert_allclose(np.exp(curve.log_mgf(s) - at_c), by_masses, rtol=0, atol=1e-11)
    c = s.real
    np.testing.assert_allclose(IntegerGaussians([(sigma, move, 3)]).cumulants(c)[0], 3 * at_c, rtol=1e-10)


@pytest.mark.parametrize(
    "parts",
    [
        [(1.3, 2, 1), (5.0, 1, 2), (30.0, 1, 1)],
        [(1.0 + i * 0.618 % 1, 1 + i % 3, 1) for i in range(40)],
        [(3.0 + 9.0 * (i * 0.618 % 1), 1, 1) for i in range(100)],
    ],
)
def test_the_decay_is_bounded_cell_by_cell(parts: list[tuple[float, int, int]]) -> None:
    product = IntegerGaussians(parts)
    ends = np.linspace(0.1, 60.0, 600)
    bound = product.decay_between(ends)
    assert bound.min() < -20
    y = np.linspace(0.11, 59.9, 20_000)
    for c in (-0.5, 0.3, 4.0):
        true = product.log_mgf(c + 1j * y).real - product.log_mgf(np.array([c + 0j])).real
        assert np.all(true <= bound[np.searchsorted(ends, y) - 1] + 1e-9)


def test_the_contour_agrees_with_the_lattice() -> None:
    """Widths with a common lattice are composed both ways."""
    parts = [(3.0, 1, 7), (math.sqrt(18.0), 1, 5), (3 * math.sqrt(3.0), 1, 9), (math.sqrt(4.5), 1, 2)]
    exact = compose([(IntegerGaussian(sigma, move), k) for sigma, move, k in parts])
    assert exact.exact
    bracket = Certified([(IntegerGaussians(parts), 1)])
    epsilon = np.array([0.0, 0.7, 2.0, 5.0, 9.0])
    with effort(tolerance=1e-4):
        lower, upper = bracket.delta_bounds(epsilon)
    true = exact.delta_bounds(epsilon)[0]
    assert np.all(lower <= true * (1 + 1e-9))
    assert np.all(true <= upper * (1 + 1e-9))
    assert np.all(upper - lower <= 1.01e-4 * upper)


def test_copies_of_one_are_one_of_a_larger_width() -> None:
    one = IntegerGaussian(2.2, 1)
    merged = one.repeated(40)
    assert merged is not None
    lattice = compose([(Polygon(one.loss, one.p, one.q, symmetric=True, ends=(-np.inf, np.inf)), 40)])
    epsilon = np.array([0.0, 1.0, 10.0, 40.0])
    np.testing.assert_allclose(merged.delta_bounds(epsilon)[0], lattice.delta_bounds(epsilon)[0], rtol=1e-9)
    assert IntegerGaussian(0.9, 1).repeated(2) is None


@pytest.mark.parametrize("delta", [1e-5, 1e-35])
@pytest.mark.parametrize("widths", [(20.0, 200.0), (10.0, 100.0), (30.0, 40.0)])
def test_two_thousand_different_ones(
    delta: float, widths: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    sigma = np.random.default_rng(23).uniform(*widths, 2000)
    bracket, sizes = integer_gaussian._bracket, []

    def counted(sigma: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        sizes.append(np.broadcast(sigma, v).size)
        return bracket(sigma, v)

    monkeypatch.setattr(integer_gaussian, "_bracket", counted)
    region = Product.of(*(discrete_gaussian(float(width)) for width in sigma))
    lower, upper = (float(side[0]) for side in region.epsilon_bounds(np.array([delta])))
    assert 0 < sum(sizes) <= 20 * sigma.size  # each width is asked a few times, however many there are
    assert upper - lower <= 1e-6 * upper
    # so many different lattices are as good as normal
    assert lower * (1 - 1e-6) <= gdp(float(np.sqrt(np.sum(sigma**-2.0)))).epsilon(delta) <= upper * (1 + 1e-6)


@pytest.mark.parametrize("sigma", ["0.5", "0.7", "1"])
def test_the_gap_of_distributed_noise(sigma: str) -> None:
    with mp.workdps(DIGITS):
        one = law = gaussian_law(sigma)
        for parties in (2, 3, 4):
            law = convolved(law, one)
            whole = gaussian_law(mp.mpf(sigma) * mp.sqrt(parties))
            true = max(abs(mp.log(law[x] / whole[x])) for x in range(-6, 7))
            assert 0 < true <= sum_gap(float(sigma), parties)
            region = discrete_gaussian_sum(float(sigma), parties, 2)
            assert region.gap == sum_gap(float(sigma), parties)
            assert abs(region.delta(0.5) / direct_delta(law, 2, 0.5) - 1) < 1e-9


def test_distributed_noise_is_calibrated() -> None:
    """The search begins at the ends of the range, where the noise of all parties was no width."""
    row = calibrate("discrete_gaussian_sum(?, 10)^10", epsilon=1.0, delta=1e-5).iloc[0]
    one = calibrate("discrete_gaussian(?)^10", epsilon=1.0, delta=1e-5).iloc[0]
    assert row["value"] * math.sqrt(10.0) == pytest.approx(one["value"], rel=1e-6)


def test_wide_distributed_noise_is_one_discrete_gaussian() -> None:
    region = discrete_gaussian_sum(4.0, 100)
    assert region.gap < 1e-60
    assert region.delta(0.01) == discrete_gaussian(40.0).delta(0.01)


@pytest.mark.parametrize(("mu", "move", "epsilon"), [("0.3", 1, 0.4), ("7", 2, 1.5), ("400", 3, 0.7)])
def test_skellam(mu: str, move: int, epsilon: float) -> None:
    with mp.workdps(DIGITS):
        most = int(15 * float(mu) ** 0.5) + 40
        law = {x: mp.besseli(abs(x), mp.mpf(mu)) * mp.exp(-mp.mpf(mu)) for x in range(-most, most + 1)}
        assert abs(skellam(float(mu), move).delta(epsilon) / direct_delta(law, move, epsilon) - 1) < 1e-11


def test_discrete_laplace_is_geometric_by_its_scale() -> None:
    for epsilon in (0.0, 0.3, 0.9):
        assert discrete_laplace(4.0, 3).delta(epsilon) == geometric(0.75, 3).delta(epsilon)


def test_rounding_and_cutting() -> None:
    with mp.workdps(DIGITS):
        law = {x: mp.ncdf((x + mp.mpf(1) / 2) / 3) - mp.ncdf((x - mp.mpf(1) / 2) / 3) for x in range(-60, 61)}
        true = direct_delta(law, 1, 0.45)
        assert abs(parse("rounded_gaussian(3)").delta(0.45) / true - 1) < 1e-12
        assert true < parse("gaussian(3)").delta(0.45)
        cut = normalised({x: mp.exp(-(mp.mpf(x) ** 2) / 8) for x in range(-5, 6)})
        assert abs(parse("truncated_discrete_gaussian(2, 5, 2)").delta(1.1) / direct_delta(cut, 2, 1.1) - 1) < 1e-12


@pytest.mark.parametrize("epsilon", [20.0, 27.2, 27.25, 27.27, 27.28, 27.3, 27.5, 28.0])
def test_far_tails_of_unbounded_noise_are_not_left_out(epsilon: float) -> None:
    with mp.workdps(40):
        mass = {n: mp.exp(-4) * mp.besseli(abs(n), 4) for n in range(-300, 301)}
        ratio = mp.exp(mp.mpf(epsilon))
        truth = mp.fsum(max(mass[n] - ratio * mass[n + 6], 0) for n in range(-300, 295))
    value = mp.mpf(float(parse("skellam(4, 6)").delta_bounds([epsilon])[1][0]))
    assert value >= truth * (1 - mp.mpf(1e-12))
    assert value <= truth * (1 + mp.mpf(1e-12)) + 1e-285


def test_a_group_is_a_larger_move() -> None:
    """Moves of log-concave noise compose: h_s(h_s(alpha)) = h_2s(alpha), also where corners are joined by lines."""
    epsilon = np.linspace(0.0, 112.0, 500)
    group = parse("group(skellam(4, 6), 4)")
    lower, upper = parse("skellam(4, 24)").delta_bounds(epsilon)
    grouped = group.delta_bounds(epsilon)[1]
    np.testing.assert_allclose(grouped[lower == upper], upper[lower == upper], rtol=1e-10)
    assert (lower == upper).sum() > 400
    assert np.all((lower * (1 - 1e-10) <= grouped) & (grouped <= upper * (1 + 1e-10)))
    assert group.epsilon_bounds([0.0])[1][0] == np.inf


@pytest.mark.parametrize("sigma", ["2.37", "9.46", "200"])
def test_discrete_gaussian_deltas_down_to_the_smallest_normal_double(sigma: str) -> None:
    """Integers as rare as the delta itself belong to it: they were left out below 1e-300."""
    region = parse(f"discrete_gaussian({sigma})")
    with mp.workdps(DIGITS):
        width = mp.mpf(sigma)
        weights = [mp.exp(-mp.mpf(x * x) / (2 * width**2)) for x in range(int(45 * width))]
        total = weights[0] + 2 * mp.fsum(weights[1:])
        for delta in (1e-290, 1e-301, 1e-306, 3e-308):
            epsilon = float(region.epsilon(delta))
            scale, start = mp.exp(mp.mpf(repr(epsilon))), int(epsilon * float(width) ** 2)
            truth = mp.fsum(max(mp.mpf(0), weights[x - 1] - scale * weights[x]) for x in range(start, len(weights)))
            # a rounding of epsilon changes deltas near a corner by more than its own
            assert float(region.delta(epsilon)) == pytest.approx(float(truth / total), rel=1e-7, abs=0.0)


@pytest.mark.parametrize(
    ("sigma", "epsilon"),
    [
        ("0.3", "116.66666666666666"),
        ("0.3", "116.66666666666667"),
        ("0.3", "61.1111111111111"),
        ("0.3", "61.11111111111111"),
        ("0.7", "11.22448979591836"),
        ("0.7", "11.22448979591837"),
    ],
)
def test_a_delta_beside_a_loss_is_that_of_the_decimals(sigma: str, epsilon: str) -> None:
    """Next to a loss the whole delta is its rounding: it was that of the double next to sigma."""
    with mp.workdps(DIGITS):
        truth = direct_delta(gaussian_law(sigma, 60.0), 1, mp.mpf(epsilon))
        lower, upper = parse(f"discrete_gaussian({sigma})").delta_bounds(float(epsilon))
        assert lower == upper
        assert float(upper[0]) == pytest.approx(float(truth), rel=1e-9, abs=3e-308)


@pytest.mark.parametrize("text", ["skellam(0.01)", "truncated_discrete_gaussian(0.3, 5)"])
def test_deltas_beside_a_computed_loss_are_brackets(text: str) -> None:
    region = parse(text)
    corners = region.corners()[0]
    at = corners[min(10, corners.size - 3)]
    for epsilon in (at * (1 - 3e-16), at, at * (1 + 3e-16)):
        lower, upper = (float(side[0]) for side in region.delta_bounds(epsilon))
        assert lower < upper * (1 - 1e-10)
    lower, upper = region.delta_bounds(at * (1 - 5e-3))
    assert lower == upper


@pytest.mark.parametrize("text", ["skellam(4, 2)", "rounded_gaussian(2)", "discrete_gaussian_sum(0.7)"])
def test_noise_without_an_end_never_fails(text: str) -> None:
    """What doubles cannot tell far out is no infinite loss, so divergences and mu are finite or unknown, and small deltas brackets."""
    region = parse(text)
    assert not parse(f"{text} & dp(3, 1e-5)").fails
    for one in (region, region**3, parse(f"poisson({text}, 0.1)")):
        assert not one.fails
        for divergence in (renyi(one, 2.0), gaussian_mu(one)):
            assert divergence is None or math.isfinite(divergence[0])
    lower, upper = region.delta_bounds([1.0, 1e4])
    assert lower[0] >= upper[0] * (
        1 - 1e-8
    )  # the masses of a sum are right to 1e-11, a loss between two of them to twice that
    assert lower[1] == 0 < upper[1] < 1e-290
    assert parse("truncated_discrete_gaussian(2, 9)").fails
    assert parse(f"{text} * dp(1, 1e-9)").fails


@pytest.mark.parametrize(("sigma", "move"), [(0.6, 1), (2.0, 1), (5.0, 4)])
def test_rounding_lowers_every_divergence_of_normal_noise(sigma: float, move: int) -> None:
    region = rounded_gaussian(sigma, move)
    rho = move**2 / (2 * sigma**2)
    assert region.concentrated_rate == rho
    with mp.workdps(DIGITS):
        far = int(80 * sigma) + move
        law = {
            x: (mp.erfc((x - 0.5) / sigma / mp.sqrt(2)) - mp.erfc((x + 0.5) / sigma / mp.sqrt(2))) / 2
            for x in range(far)
        }
        law |= {-x: p for x, p in law.items()}
        shares = []
        for order in (1.5, 3, 10, 30):
            if order * move + 12 * sigma > far - move:
                continue
            terms = (law[x - move] ** order * law[x] ** (1 - order) for x in range(move + 1 - far, far))
            shares.append(mp.log(mp.fsum(terms)) / (order - 1) / order / rho)
        assert all(share <= 1 for share in shares)
        assert shares[-1] > max(shares[0], 0.9)


def test_moves_beyond_every_output_hide_nothing() -> None:
    for text in (
        "rounded_gaussian(6.2, 100000)",
        "best_of(truncated_discrete_gaussian(0.19, 3, 391), 1.04, 0.49)",
        "best_of(truncated_discrete_gaussian(0.19, 3, 7), 3, 1)",
    ):
        lower, upper = parse(text).delta_bounds([0.0, 5.0, 300.0])
        assert upper.tolist() == [1.0] * 3, text
        assert (lower <= upper).all()


@pytest.mark.parametrize("sigma", [2.9242501209079746e-39, 0.02, 0.05, 0.3])
@pytest.mark.parametrize("order", [1.0655488399955582, 2.0, 4.655608075414056])
def test_renyi_of_noise_that_is_nearly_none(sigma: float, order: float) -> None:
    """Its sums have no term that a double holds; beside another statement that was a math domain error."""
    with mp.workdps(60):
        width, a, move = mp.mpf(sigma), mp.mpf(order), 4
        weights = {x: mp.exp(-(mp.mpf(x) ** 2) / (2 * width**2)) for x in range(-60, 61)}
        moved = mp.fsum(
            mp.exp(-(a * mp.mpf(x - move) ** 2 + (1 - a) * mp.mpf(x) ** 2) / (2 * width**2)) for x in weights
        )
        truth = float(mp.log(moved / mp.fsum(weights.values())) / (a - 1))
    assert parse(f"discrete_gaussian({sigma!r}, 4)").renyi(order) == pytest.approx(truth, rel=1e-12)
    assert parse(f"discrete_gaussian({sigma!r}, 4) * rdp({order}, 1)").delta_bounds(1.0)[1].item() <= 1.0
