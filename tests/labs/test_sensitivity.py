"""Sensitivities: brute force over small databases, exact pairs, and the printed statements that fail."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpcore.core.errors import DomainError
from dpcore.labs import lab
from dpcore.labs import sensitivity as plain
from dpcore.labs import sensitivity_smooth as smooth
from dpcore.labs import sensitivity_weighted as weighted
from dpcore.language import parse
from dpcore.planner.sensitivity.noise import laplace_worst_delta
from dpcore.planner.sensitivity.pairs import gaussian_delta, laplace_delta, laplace_pair
from dpcore.words import outward

ELEVEN = (0.05, 0.1, 0.2, 0.3, 0.35, 0.5, 0.55, 0.6, 0.7, 0.8, 0.9)
ASKED = {
    "mean": np.mean,
    "median": np.median,
    "variance": lambda x: np.var(x, ddof=1),
}


def changes(x: tuple[float, ...], grid: tuple[float, ...], neighbour: str) -> list[tuple[float, ...]]:
    """Return all neighbours of x with values of the grid."""
    if neighbour == "remove":
        return [x[:j] + x[j + 1 :] for j in range(len(x))]
    return [(*x[:j], y, *x[j + 1 :]) for j in range(len(x)) for y in grid]


# --- local and global ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", sorted(ASKED))
@pytest.mark.parametrize("neighbour", plain.NEIGHBOURS)
def test_local_sensitivity_is_the_largest_change(query: str, neighbour: str) -> None:
    f, x = ASKED[query], (-0.9, -0.2, 0.1, 0.4, 1.7)
    rest = (sum(x) - np.array(x)) / 4
    grid = (-1.0, 2.0, *x, *rest.tolist())  # ends, and the places where a variance is least
    found = max(abs(float(f(x)) - float(f(y))) for y in changes(x, grid, neighbour))
    assert plain.local(query, x, -1.0, 2.0, neighbour) == pytest.approx(found, abs=1e-12)


@pytest.mark.parametrize("query", sorted(ASKED))
@pytest.mark.parametrize("neighbour", plain.NEIGHBOURS)
@pytest.mark.parametrize("n", [3, 5])
def test_global_sensitivity_is_the_largest_local_one(query: str, neighbour: str, n: int) -> None:
    grid = (-1.0, 0.0, 1.0)
    found = max(plain.local(query, x, -1.0, 1.0, neighbour) for x in itertools.combinations_with_replacement(grid, n))
    assert plain.largest(query, n, -1.0, 1.0, neighbour) == pytest.approx(found, abs=1e-12)


def test_oracles_of_plain_sensitivities() -> None:
    assert plain.largest("variance", 4, 0.0, 1.0) == 0.25
    corners = itertools.product((0.0, 1.0), repeat=4)
    assert max(plain.local("variance", x, 0.0, 1.0) for x in corners) == pytest.approx(0.25)
    assert plain.local("identity", (0.2, 0.5), -1.0, 1.0) == pytest.approx(1.5)
    assert plain.largest("identity", 7, -1.0, 1.0) == 2.0
    assert plain.leave_one_out((100, 1, 2, 3, 4, 5)) == pytest.approx(16.1667, abs=5e-5)
    assert plain.printed_leave_one_out((100, 1, 2, 3, 4, 5)) == pytest.approx(3.6333, abs=5e-5)


@pytest.mark.parametrize("n", [3, 5, 9])
def test_both_notions_of_neighbours_on_a_range_from_zero(n: int) -> None:
    """L/n for the mean and L^2/n for the variance either way; the median moves by L, and by L/2 if a record is dropped.

    The digest has L for the median under both; with one record of n dropped the median is the middle of two records.
    """
    for query, both in (("mean", 7 / n), ("variance", 49 / n)):
        for neighbour in plain.NEIGHBOURS:
            assert plain.largest(query, n, 0.0, 7.0, neighbour) == pytest.approx(both, rel=1e-12)
    assert plain.largest("median", n, 0.0, 7.0) == 7.0
    assert plain.largest("median", n, 0.0, 7.0, "remove") == 3.5
    half = [0.0] * (n // 2) + [7.0] * (n // 2 + 1)
    assert abs(np.median(half) - np.median(half[:-1])) == 3.5


def test_identity_sensitivity_is_the_largest_change_of_one_record() -> None:
    x, low, high = (-0.9, 0.3, 1.7), -1.0, 2.0
    found = max(math.dist(x, y) for y in changes(x, (low, high), "substitute"))
    assert plain.local("identity", x, low, high) == pytest.approx(found, rel=1e-12)


def test_misprints_of_the_first_examples() -> None:
    """Example 2.1.3 puts its records outside the range; Example 2.1.4 forgets the square of its query."""
    low, high = -1.0, 2.0
    with pytest.raises(DomainError, match=r"values must be a number in \[-1, 2\], got -2"):
        plain.local("median", [-high] * 5 + [-low] * 6, low, high)
    assert plain.local("median", [low] * 5 + [high] * 6, low, high) == high - low
    for x in ((0.25, 0.5, 0.5), (3.0, -1.0, 7.0, 2.0)):
        assert plain.printed_variance_query(x) == pytest.approx(0.0, abs=1e-12)
        assert plain.variance_query(x) == pytest.approx(float(np.var(x, ddof=1)), rel=1e-12)


def test_leave_one_out_of_the_mean_in_closed_form() -> None:
    x = np.array((100.0, 1, 2, 3, 4, 5))
    assert plain.leave_one_out(x) == pytest.approx(np.abs(x - x.mean()).max() / 5)
    assert plain.local("mean", x, 0.0, 100.0, "remove") == pytest.approx(plain.leave_one_out(x))
    wanted = plain.leave_one_out(x, lambda values: np.var(values, ddof=1))
    assert plain.local("variance", x, 0.0, 100.0, "remove") == pytest.approx(wanted)


def test_printed_sensitivities_of_mean_and_variance_are_false() -> None:
    x = (0.25, 0.5, 0.5)
    assert plain.printed_global_mean(10, -1.0, 1.0) < plain.largest("mean", 10, -1.0, 1.0)
    assert plain.printed_local_mean((0.5, 0.5)) < plain.local("mean", (0.5, 0.5), -1.0, 1.0)
    assert plain.printed_local_variance(x) < 0 < plain.kept_divisor_variance(x)
    kept = max(abs(_kept(x) - _kept(x[:j] + x[j + 1 :], 2)) for j in range(3))
    assert plain.kept_divisor_variance(x) == pytest.approx(kept)


def _kept(x: tuple[float, ...], divisor: int = 2) -> float:
    return sum((v - sum(x) / len(x)) ** 2 for v in x) / divisor


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: plain.local("mode", (1.0,), 0, 1), "query must be one of"),
        (lambda: plain.local("mean", (2.0,), 0, 1), r"values must be a number in \[0, 1\], got 2"),
        (lambda: plain.local("mean", (), 0, 1), r"values must be a number in \[0, 1\], got \(\)"),
        (lambda: plain.local("mean", (math.nan,), 0, 1), r"values must be a number in \[0, 1\], got nan"),
        (lambda: plain.local("median", (0.1, 0.2), 0, 1), "odd number of records, got 2"),
        (lambda: plain.local("mean", (0.1,), 1, 0), "low below high"),
        (lambda: plain.local("identity", (0.1, 0.2, 0.3), 0, 1, "remove"), "no removal"),
        (lambda: plain.largest("mean", 0, 0, 1), r"n must be an integer in \[1, inf\), got 0"),
        (lambda: smooth.smooth_median((0.1,), 0, 1, -1.0), r"beta must be a number in \[0, inf\), got -1"),
        (lambda: laplace_worst_delta(1.0, 0.6), "beta must be at most epsilon / 2 = 0.5, got 0.6"),
        (lambda: laplace_pair(0.0, 1.0, 0.0, "x"), "scale must be"),
        (lambda: smooth.mechanism_beta("uniform", 1.0, 0.1), "mechanism must be one of Laplace, Cauchy, Gaussian"),
    ],
)
def test_bad_values_are_refused_with_their_range(call: object, text: str) -> None:
    with pytest.raises(DomainError, match=text):
        call()  # type: ignore[operator]


# --- pairs of two widths -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("s", "t", "d"), [(1.0, 0.5, 0.0), (1.3, 0.7, 0.8), (0.7, 1.3, 0.8), (1.0, 1.0, 0.5)])
@pytest.mark.parametrize("e", [-0.5, 0.0, 0.3, 1.0])
def test_pairs_by_quadrature(s: float, t: float, d: float, e: float) -> None:
    z = np.linspace(-40, 40, 400_001)
    for profile, density in (
        (laplace_delta, lambda z, c, b: np.exp(-np.abs(z - c) / b) / (2 * b)),
        (gaussian_delta, lambda z, c, b: np.exp(-(((z - c) / b) ** 2) / 2) / (b * math.sqrt(2 * math.pi))),
    ):
        area = np.trapezoid(np.maximum(density(z, 0, s) - math.exp(e) * density(z, d, t), 0), z)
        assert profile(np.array([e]), s, t, d)[0] == pytest.approx(area, abs=2e-8)


def test_pairs_of_equal_widths_are_the_known_mechanisms() -> None:
    at = np.array([0.0, 0.3, 0.7, 2.0])
    assert laplace_pair(1.0, 1.0, 0.5, "x").delta(at) == pytest.approx(parse("laplace(0.5)").delta(at), abs=1e-15)
    assert gaussian_delta(at, 2.0, 2.0, 1.0) == pytest.approx(parse("gdp(0.5)").delta(at), abs=1e-15)


@pytest.mark.parametrize("widths", [(1.0, 0.5), (0.5, 1.0), (1.0, 1.0), (1.0, 1e-9)])
@pytest.mark.parametrize("shift", [0.0, 0.3])
def test_pairs_answer_at_the_ends(widths: tuple[float, float], shift: float) -> None:
    region = laplace_pair(*widths, shift, "x")
    deltas = region.delta([-800.0, -5.0, 0.0, 1.0, 50.0, 800.0, math.inf])
    assert np.all(np.diff(deltas) <= 0)
    assert deltas[0] == 1.0
    assert deltas[-1] == 0.0
    assert 0 <= region.area <= 0.5 + 1e-9


def test_largest_loss_of_a_pair_is_where_delta_ends() -> None:
    curve = laplace_pair(0.5, 1.0, 0.3, "x").pair
    assert curve.delta_bounds(np.array([curve.max_loss * (1 - 1e-3)]))[0][0] > 0
    assert curve.delta_bounds(np.array([curve.max_loss * (1 + 1e-3)]))[0][0] < 1e-15
    assert laplace_pair(1.0, 1.0, 0.0, "x").beta(0.3) == pytest.approx(0.7, abs=1e-12)


def test_region_of_a_pair_is_consistent() -> None:
    region = laplace_pair(1.0, 0.5, 0.0, "x")
    assert region.delta(1.0) == pytest.approx(math.exp(-1) / 4, rel=1e-12)
    alpha = np.array([0.01, 0.1, 0.5])
    beta = region.beta(alpha)
    for e in np.linspace(0, 4, 41):
        assert np.all(region.delta(e) >= 1 - beta - math.exp(e) * alpha - 1e-9)
    assert region.inverse().delta(1.0) == pytest.approx(region.delta(1.0))


# --- smooth sensitivity --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("beta", "value"), [(0.05, 0.576950), (0.1, 0.365913), (0.2, 0.219525), (0.5, 0.150000)])
def test_smooth_median_oracles(beta: float, value: float) -> None:
    assert smooth.smooth_median(ELEVEN, 0.0, 1.0, beta) == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("beta", [0.1, 0.5, 1.0])
def test_smooth_median_of_the_two_datasets(beta: float) -> None:
    assert smooth.smooth_median([0.0] * 6 + [7.0] * 5, 0.0, 7.0, beta) == pytest.approx(7.0)
    assert smooth.smooth_median([0.0] * 7 + [7.0] * 4, 0.0, 7.0, beta) == pytest.approx(7.0 * math.exp(-beta))


def smooth_median_squared(x: np.ndarray, beta: float) -> float:
    """Return the smooth sensitivity on [0, 1] by every pair (i, j), O(n^2) as printed in (5.7): the second route."""
    middle = (x.size + 1) // 2
    framed = np.concatenate(([0.0], x, [1.0]))
    i, j = np.arange(middle + 1)[:, None], np.arange(middle, x.size + 2)[None, :]
    size = np.where(j > i, (framed[j] - framed[i]) * np.exp(-beta * np.maximum(j - i - 1, 0)), 0.0)
    return float(size.max())


def test_fast_and_plain_route_agree() -> None:
    rng = np.random.default_rng(1)
    for n in (1, 3, 9, 51):
        for beta in (0.0, 0.01, 0.3, 5.0):
            x = np.round(rng.random(n), 1)  # with ties
            assert smooth.smooth_median(x, 0.0, 1.0, beta) == smooth_median_squared(np.sort(x), beta)


@pytest.mark.parametrize("query", ["median", "mean"])
def test_smooth_sensitivity_by_definition(query: str) -> None:
    grid, beta = (0.0, 0.25, 0.5, 1.0), 0.05
    for x in ((0.25, 0.5, 0.5), (0.0, 0.25, 1.0)):
        found = max(
            plain.local(query, y, 0.0, 1.0) * math.exp(-beta * sum(a != b for a, b in zip(x, y, strict=True)))
            for y in itertools.product(grid, repeat=3)
        )
        fast = smooth.smooth_median if query == "median" else smooth.smooth_mean
        assert fast(x, 0.0, 1.0, beta) == pytest.approx(found, abs=1e-12)


def test_smooth_sensitivity_changes_by_e_to_the_beta_at_most() -> None:
    """Lemma 5.2.4: S(y) >= e^-beta S(x); with the printed sign e^beta it fails."""
    beta, grid = 0.3, (0.0, 0.5, 1.0)
    ratios = [
        smooth.smooth_median(y, 0.0, 1.0, beta) / smooth.smooth_median(x, 0.0, 1.0, beta)
        for x in itertools.combinations_with_replacement(grid, 5)
        for y in changes(x, grid, "substitute")
    ]
    assert min(ratios) == pytest.approx(math.exp(-beta))
    assert max(ratios) == pytest.approx(math.exp(beta))


def test_example_5_2_15_and_remark_5_2_10() -> None:
    second = [0.0, *[0.0] * 7, *[1.0] * 4, 1.0]  # Dataset 2 with the ends of the range as records 0 and 12
    assert second[6 + 2] - second[6 + 2 - 1 - 1] == 1.0  # a_(2,1), printed as 0
    for beta in (0.1, 1.0):  # with 0 there the next would count: e^-2 beta
        found = smooth.smooth_median(second[1:-1], 0.0, 1.0, beta)
        assert found == pytest.approx(math.exp(-beta))
        assert found > math.exp(-2 * beta)
    largest = 2 * math.log(199)
    assert smooth.printed_laplace_delta(largest, 0.01) == pytest.approx(1.0)
    assert smooth.printed_laplace_delta(2 * math.log(200), 0.01) > 1


def test_smooth_mean_oracle_and_the_printed_one() -> None:
    x = (0.25, 0.5, 0.5)
    assert smooth.smooth_mean(x, 0.0, 1.0, 0.05) == pytest.approx(0.317076, abs=1e-6)
    assert smooth.printed_smooth_mean(x, 0.0, 1.0, 0.05) > plain.largest("mean", 3, 0.0, 1.0)


@pytest.mark.parametrize(
    ("e", "failure", "printed", "tighter", "exact"),
    [(1.0, 0.01, 0.013244, 0.008244, 1.10969e-4), (0.5, 1e-4, 1.142e-4, 6.420e-5, 2.629e-7)],
)
def test_laplace_by_smooth_sensitivity(e: float, failure: float, printed: float, tighter: float, exact: float) -> None:
    beta = smooth.laplace_beta(e, failure)
    assert smooth.printed_laplace_delta(e, failure) == pytest.approx(printed, rel=1e-4)
    assert failure / 2 * math.exp(e / 2) == pytest.approx(tighter, rel=1e-4)
    worst = laplace_worst_delta(e, beta)
    assert worst == pytest.approx(exact, rel=2e-4)  # all printed digits
    assert worst <= failure / 2  # widen first, move after
    ratio = math.exp(beta)
    assert laplace_delta(np.array([e]), ratio, 1.0, e / 2)[0] == pytest.approx(worst, rel=1e-9)
    for part in np.linspace(0, 1, 6):  # no smaller ratio or move is worse, in either direction
        for move in np.linspace(0, e / 2, 6):
            for pair in ((ratio**part, 1.0), (1.0, ratio**part)):
                assert laplace_delta(np.array([e]), *pair, float(move))[0] <= worst * (1 + 1e-9)


def test_dilation_of_laplace_noise_holds_for_small_epsilon_and_fails_at_10_and_15() -> None:
    for failure in (0.1, 0.01, 1e-4):
        for e in (0.1, 0.5, 1.0, 2.0, 5.0):
            assert smooth.dilation(e / 2, smooth.laplace_beta(e, failure)) <= failure / 2
        for e in (10.0, 15.0):
            assert smooth.dilation(e / 2, smooth.laplace_beta(e, failure)) > failure / 2


def test_dilation_of_gaussian_noise_fails_with_the_printed_beta() -> None:
    e, failure = 0.5, 1e-5
    assert smooth.dilation(e / 2, smooth.printed_gaussian_beta(e, failure), gaussian=True) == pytest.approx(
        1.22e-5, rel=5e-3
    )
    for e in (0.1, 0.5, 0.9):
        for failure in (0.1, 0.01, 1e-5):
            right = smooth.gaussian_beta(e, failure)
            assert smooth.dilation(e / 2, right, gaussian=True) <= failure / 2
            printed = smooth.printed_gaussian_beta(e, failure)
            assert smooth.gaussian_worst_delta(e, printed, smooth.gaussian_scale(e, failure), 50) <= failure


@pytest.mark.parametrize("gamma", [1.5, 2.0, 4.0, 9.0])
def test_heavy_tails_are_pure_with_room(gamma: float) -> None:
    e = 1.0
    bound = smooth.heavy_loss(e, gamma)
    beta, move = smooth.heavy_beta(e, gamma), 1 / smooth.heavy_scale(e, gamma)
    z = np.concatenate((-np.geomspace(1e-4, 1e7, 20001)[::-1], np.geomspace(1e-4, 1e7, 20001)))
    worst = 0.0
    for ratio in (math.exp(beta), math.exp(-beta), 1.0):  # scale of the neighbour over the own one
        small = move * min(1.0, ratio)
        loss = math.log(ratio) - np.log1p(np.abs(z) ** gamma) + np.log1p((np.abs(z - small) / ratio) ** gamma)
        worst = max(worst, float(np.abs(loss).max()))
    assert 0.5 * bound < worst <= bound * (1 + 1e-9) < e


@pytest.mark.parametrize("name", smooth.MECHANISMS)
def test_typical_errors_of_the_smooth_mechanisms_by_drawing(name: str) -> None:
    e, failure, rng = 0.8, 0.01, np.random.default_rng(11)
    beta = {"Laplace": e / (2 * math.log(200)), "Cauchy": e / 6, "Gaussian": e / (4 * (1 + math.log(200)))}[name]
    scale = {"Laplace": 2 / e, "Cauchy": 6 / e, "Gaussian": 5 * math.sqrt(2 * math.log(200)) / e}[name]
    assert smooth.mechanism_beta(name, e, failure) == pytest.approx(beta, rel=1e-12)
    assert smooth.mechanism_scale(name, e, failure) == pytest.approx(scale, rel=1e-12)
    draw = {"Laplace": rng.laplace, "Cauchy": rng.standard_cauchy, "Gaussian": rng.normal}[name]
    away = np.abs(scale * smooth.smooth_median(ELEVEN, 0.0, 1.0, beta) * draw(size=40_000))
    typical = smooth.typical_error(name, ELEVEN, 0.0, 1.0, e, failure)
    assert abs(np.mean(away < typical) - 0.5) < 4 * 0.5 / math.sqrt(away.size)


# --- the lab -------------------------------------------------------------------------------------------------------


def test_the_lab_shows_that_the_printed_claim_is_false() -> None:
    room = lab("sensitivity").view("room")
    at_ten = room.frame[(room.frame["x"] - 10).abs() == (room.frame["x"] - 10).abs().min()].set_index("series")["y"]
    assert at_ten["least b by the printed δ"] > at_ten["largest b that saves noise"]
    assert at_ten["least b by the printed δ"] < at_ten["largest b as printed"]
    table = lab("sensitivity").table()
    false = set(table[table["verdict"] == "false"]["place"])
    assert {"(5.14)", "Example 5.2.13", "Example 5.2.15", "R Code A.0.1", "Example 2.1.4"} <= false


def test_the_smooth_sensitivity_of_dataset_2() -> None:
    """Example 5.2.15: with a_(2,1) = Λ it is e^-β; without that term the next one, k = 2, would give e^-2β."""
    table = lab("sensitivity").table().set_index("place")
    assert table.loc["Example 5.2.15", "value"] == 1.0
    for beta in (0.1, 0.5):
        assert smooth.smooth_median((0.0,) * 7 + (1.0,) * 4, 0.0, 1.0, beta) == pytest.approx(
            math.exp(-beta), rel=1e-12
        )
        x = [0.0] * 7 + [1.0] * 4
        terms = [x[5 + t] - x[5 + t - 3] for t in range(4)]  # k = 2, from (5.7), ranks from 0
        assert max(terms) == 1.0


def test_the_numbers_of_the_story() -> None:
    story = lab("sensitivity").story
    assert "only b below 1/2 saves noise" in story.true
    assert weighted.useful_weight(0.0) == 0.5
    last = 2 * math.log(10) * math.log(2) / (1 - math.log(2))  # where (5.10) is 0.1 at b = 1/2
    assert f"only above ε = {outward(last, 3, up=False)}" in story.true
    for e in (1.0, 10.0):
        least = weighted.private_weight(e, 0.1)
        assert f"b ≥ {outward(least, 3)} at ε = {e:g}" in story.true
        assert weighted.delta(e, least) == pytest.approx(0.1, rel=1e-9)
        assert weighted.variance(e, least, 0.0) < 2 / e**2
    assert weighted.printed_delta(last, 0.5) == pytest.approx(0.1, rel=1e-12)
    for e in (0.5, 5.0, 10.4):
        assert weighted.printed_delta(e, 0.5) > 0.1
        assert weighted.delta(e, 0.49) > math.exp(-e) / 4
    assert weighted.useful_weight(0.0, printed=True) == pytest.approx(0.7, abs=0.01)  # as claimed
    assert weighted.printed_delta(15.0, 0.47) < 0.1  # "from about b = 0.45 at ε = 15"


def test_lab_parameters_are_checked() -> None:
    with pytest.raises(DomainError, match="population must be one of uniform, exponential"):
        lab("sensitivity", population="normal")
    with pytest.raises(DomainError, match="weight must be a number in"):
        lab("sensitivity", weight=1.0)
