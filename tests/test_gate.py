"""The last gate: what cannot be true of a region is refused with its expression; what can be true passes."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import TYPE_CHECKING

import mpmath as mp
import numpy as np
import pytest

import dpcore
from dpcore import BudgetError, DomainError, InternalError, parse
from dpcore.core.effort import effort
from dpcore.curves import polygon_algebra
from dpcore.curves.bounded_range import AdaptiveRange
from dpcore.curves.gaussian import GaussianCurve
from dpcore.curves.polygon import Polygon
from dpcore.regions.custom import CustomRegion

if TYPE_CHECKING:
    from dpcore.curves.base import Bounds, FloatArray


class Wrong(GaussianCurve):
    """A Gaussian curve whose answers are changed."""

    def __init__(self, delta: float = 1.0, beta: float = 1.0, grows: float = 0.0) -> None:
        super().__init__(1.0)
        self.factors = delta, beta, grows

    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        low, _ = super().delta_bounds(epsilon)
        value = low * self.factors[0] + self.factors[2] * np.abs(epsilon)
        return value, value

    def beta_bounds(self, alpha: FloatArray) -> Bounds:
        low, _ = super().beta_bounds(alpha)
        return low * self.factors[1], low * self.factors[1]


@pytest.mark.parametrize(
    ("curve", "ask", "words"),
    [
        (Wrong(delta=math.nan), lambda r: r.delta(1.0), "delta at epsilon = 1 came out as nan"),
        (Wrong(delta=8.0), lambda r: r.delta(0.0), "came out as 3.06"),
        (Wrong(delta=-1.0), lambda r: r.delta([0.0, 1.0]), "came out as -"),
        (Wrong(grows=0.1), lambda r: r.delta([3.0, 4.0, 5.0]), "larger than at a smaller epsilon"),
        (Wrong(beta=math.nan), lambda r: r.beta(0.1), "beta at alpha = 0.1 came out as nan"),
        (Wrong(beta=1.5), lambda r: r.beta(0.01), "came out as 1.36"),
        (Wrong(beta=1.2), lambda r: r.beta(0.3), "contradict each other"),
        (Wrong(beta=0.9), lambda r: r.beta(0.3), "contradict each other"),
        (
            Wrong(delta=0.9),
            lambda r: r.delta(0.3),
            r"\bbeta\([0-9.]+\) = [0-9.]+ and delta\([0-9.-]+\) contradict each other",
        ),
        (Wrong(delta=1.1), lambda r: r.delta(0.3), "contradict each other"),
        (Wrong(delta=0.9), lambda r: r.epsilon(0.3), "contradict each other"),
        (Wrong(delta=0.9), lambda r: r.power(0.3), "contradict each other"),
        (Wrong(beta=4.0), lambda r: r.beta_bounds(0.9), "above 1 - alpha|contradict"),
        (Polygon([-1.0, 1.0], [0.9, 0.3], [0.3, 0.9], symmetric=True), lambda r: r.beta(0.3), "error of dpcore in"),
    ],
)
def test_impossible_numbers_are_refused(curve: GaussianCurve, ask: object, words: str) -> None:
    region = CustomRegion(curve, "a wrong region", "any")
    with pytest.raises(InternalError, match=words) as caught:
        ask(region)  # type: ignore[operator]  # a function of the region
    assert "a wrong region" in str(caught.value)


def test_a_right_region_passes() -> None:
    region = CustomRegion(Wrong(), "a right region", "any")
    assert region.delta(1.0) == dpcore.gdp(1.0).delta(1.0)
    assert region.beta(0.1) == dpcore.gdp(1.0).beta(0.1)
    assert region.dual


def test_the_gate_speaks_on_the_command_line() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dpcore", "curve", "group(dp(0.1), 6)", "--alpha", "0.05"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "0.90889405998" in done.stdout


# ---- what was found ------------------------------------------------------------------------------------------


def orbit(epsilon: float, k: int, alpha: float) -> mp.mpf:
    """Return beta of a group of k records under pure privacy, by following alpha k times in 40 digits."""
    with mp.workdps(40):
        x, grow = mp.mpf(alpha), mp.exp(mp.mpf(epsilon))
        for _ in range(k):
            x = min(grow * x, 1 - (1 - x) / grow)
        return 1 - x


@pytest.mark.parametrize(("epsilon", "k", "alpha"), [(0.1, 6, 0.05), (0.2, 10, 0.2), (0.6, 6, 0.05), (0.3, 41, 1e-4)])
def test_groups_follow_their_orbit(epsilon: float, k: int, alpha: float) -> None:
    region = parse(f"group(dp({epsilon}), {k})")
    assert region.beta(alpha) == pytest.approx(float(orbit(epsilon, k, alpha)), rel=1e-13)
    curve = region.curve
    assert math.fsum(curve.q) == pytest.approx(1.0, abs=1e-14)
    assert np.array_equal(curve.loss, -curve.loss[::-1])
    assert curve.loss.size == k + 1


@pytest.mark.parametrize(
    "text", ["dp(1)^40", "rr(60, 5)", "geometric(50)", "staircase(50, 0.3)", "gdp(9)", "laplace(80)"]
)
def test_a_sample_of_everybody_is_the_region_itself(text: str) -> None:
    whole, part = parse(text), parse(f"subsample({text}, 1)")
    for delta in (1e-12, 1e-6, 0.1):
        assert part.epsilon(delta) == whole.epsilon(delta)
    almost = parse(f"subsample({text}, {1 - 2**-53!r})")
    epsilon = np.linspace(0.0, 30.0, 7)
    np.testing.assert_allclose(almost.delta(epsilon), whole.delta(epsilon), rtol=1e-9)


@pytest.mark.parametrize(("epsilon", "x"), [(300.0, 400.0), (120.0, 3.0), (2.0, 1.0), (1e-6, 1e-6)])
def test_two_adaptive_choices_against_a_scan(epsilon: float, x: float) -> None:
    """The recursion of two choices scanned over many places lies in the bracket, also where e^x is no double."""
    curve = AdaptiveRange(epsilon, 2)
    with effort(tolerance=1e-2):
        lower, upper = (float(side[0]) for side in curve.delta_bounds(np.array([x])))

    def one(at: mp.mpf) -> mp.mpf:
        size = min(abs(at), e)
        value = mp.expm1((size - e) / 2) ** 2 / -mp.expm1(-e)
        return value if at >= 0 else -mp.expm1(at) + mp.exp(at) * value

    with mp.workdps(200):
        e = mp.mpf(epsilon)
        best = mp.mpf(0)
        for i in range(1001):
            t = e * i / 1000
            q = mp.expm1(t - e) / mp.expm1(-e)
            best = max(best, q * one(x - t) + (1 - q) * one(x - t + e))
    assert float(best) <= upper
    assert lower <= float(best) * (1 + 1e-3)
    assert upper <= float(best) * 1.05


@pytest.mark.long
def test_many_choices_are_bracketed_or_refused() -> None:
    with effort(tolerance=1e-2):
        low, high = (float(side[0]) for side in parse("exponential(12)^100").epsilon_bounds(1e-6))
    assert 1000 < low < high < 1005
    with pytest.raises(BudgetError, match="relative width"):
        parse("exponential(12)^100").epsilon(1e-6)


@pytest.mark.parametrize("mu", [1e-100, 1e-15, 1e-6, 0.1, 30.0, 1e4, 1e6])
@pytest.mark.parametrize("x", [-30.0, -3.0, -1.0, 0.0, 0.9, 2.0])
def test_gaussian_deltas_at_the_ends_of_the_range(mu: float, x: float) -> None:
    epsilon = mu * (mu / 2 - x)
    if epsilon < 0:
        return
    with mp.workdps(300 if mu < 1e-9 else 60):
        m, e = mp.mpf(mu), mp.mpf(epsilon)
        truth = float(mp.ncdf(m / 2 - e / m) - mp.exp(e) * mp.ncdf(-m / 2 - e / m))
    assert parse(f"gdp({mu!r})").delta(epsilon) == pytest.approx(truth, rel=1e-12, abs=1e-300)


@pytest.mark.parametrize(
    ("sigma", "scale", "move"),
    [
        (17.0, 1e-24, 1.0),
        (1.0, 1e-20, 1.0),
        (2.0, 1e-12, 1.0),
        (1.922583877122462, 1.2193390287088504e-36, 0.0329),
        (1, 5.3e-31, 0.0319),
    ],
)
def test_narrow_laplace_noise_beside_normal_noise_is_nothing(sigma: float, scale: float, move: float) -> None:
    epsilon = np.array([0.0, 0.1, 1.0]) * move
    both, normal = parse(f"normal_laplace({sigma}, {scale}, {move})"), parse(f"gaussian({sigma}, {move})")
    np.testing.assert_allclose(both.delta(epsilon), normal.delta(epsilon), rtol=1e-9)
    np.testing.assert_allclose(both.beta([0.1, 0.5]), normal.beta([0.1, 0.5]), rtol=1e-9)


@pytest.mark.parametrize("text", ["rdp(1.9955, 2.4e-7)", "rdp(1.018, 2)", "zcdp(0.1)", "zcdp(1.6, 0.04)"])
def test_far_deltas_of_divergences_stay_below_chernoffs_bound(text: str) -> None:
    """They were 0.5 at epsilon 1e100, and not a number at 1e308."""
    region = parse(text)
    assert np.all(np.asarray(region.delta([1e10, 1e100, 1e308])) <= 2.3e-308)


@pytest.mark.parametrize("mu", [1e-3, 1.0, 30.0])
def test_the_smallest_delta_has_an_epsilon(mu: float) -> None:
    """It was infinite, and called exact."""
    region = parse(f"gdp({mu!r})")
    epsilon = float(region.epsilon(5e-324))
    assert float(region.epsilon(1e-320)) < epsilon < math.inf
    assert float(region.delta(epsilon)) <= 2.3e-308 < float(region.delta(0.9 * epsilon))


def test_a_strong_gaussian_that_is_rarely_sampled_beside_another() -> None:
    """It was refused: a sampled record is as good as known, so that delta is q + (1 - q) delta(epsilon - log(1 - q))."""
    q, other = 0.01, parse("gdp(1)")
    with effort(tolerance=1e-4):
        low, high = (float(side[0]) for side in parse(f"poisson_gaussian(0.02, {q}) * gdp(1)").delta_bounds(1.0))
    truth = q + (1 - q) * float(other.delta(1.0 - math.log1p(-q)))
    assert low <= truth <= high


def test_a_record_that_is_never_sampled_tells_nothing() -> None:
    """The transform asked for 1e10 nodes."""
    expected = float(parse("gdp(0.7)").delta(0.2))
    assert float(parse("gdp(0.7) * poisson_gaussian(6.13, 3.6e-170)").delta(0.2)) == pytest.approx(expected, rel=1e-9)


def test_what_is_left_of_many_copies_may_be_nothing() -> None:
    """A mass that rounds to 1 was a domain error."""
    region = parse("(staircase(3.2e-165, 0.064) * pmf([0, 0, 1], [0.3, 0.25, 0.45]))^100")
    assert (float(region.delta(1.0)), region.area, float(region.beta(0.3))) == (1.0, 0.0, 0.0)


@pytest.mark.parametrize(
    "text",
    [
        "histogram(6.8e252)",
        "rr(1.797e308)^2",
        "symmetric(dp(1e308, delta=0.4497)^10)",
        "histogram(1)*laplace(9007199254740993)",
        "laplace_vector(sqrt(2), [2055310261, 1e15])",
        "bounded_laplace(5e-324, 0, 10, 0.77)",
        "gdp(2.97e157)^1000000000000",
        "gdp(1.07e296)*tv(0.76)",
        "normal_laplace(1.19, 1e-300)",
        "gdp(1e200)^1000000",
        "laplace_vector(1,[1e308,1e308])",
        "staircase(5e-324,1)",
        "(gdp(1)^1000000000000)^1000000000000",
        "gaussian(1e-20, 1e20)",
        "zcdp(5e-15)",
    ],
)
def test_what_doubles_cannot_hold_is_refused_in_words(text: str) -> None:
    with pytest.raises((DomainError, BudgetError), match=r"must be|is above"):
        _ = parse(text).total_variation


def test_copies_without_end_are_refused_in_words() -> None:
    for region in (dpcore.rdp(2, 1), dpcore.zcdp(1), dpcore.dp(1), dpcore.gdp(1), dpcore.exponential(1)):
        with pytest.raises(BudgetError, match=r"too many|is above"):
            (region ** (10**400)).delta(1.0)


@pytest.mark.parametrize(
    ("text", "epsilon", "expected"),
    [
        # the tail in closed form and the root of the likelihood ratio, both in 80 digits
        ("normal_laplace(0.2278, 5.958, 1.8e-7)", 0.5 * 1.8e-7 / 5.958, 7.19529072700029e-9),
        ("normal_laplace(0.2278, 5.958, 1.8e-7)", 0.8 * 1.8e-7 / 5.958, 2.82481881358378e-9),
        ("normal_laplace(1, 10, 0.001)", 0.5 * 0.001 / 10, 2.20309090637601e-5),
    ],
)
def test_a_small_move_beside_wide_laplace_noise_keeps_its_digits(text: str, epsilon: float, expected: float) -> None:
    """The difference of two corrections was rounding: 1e-8 of the truth, and called exact."""
    assert float(parse(text).delta(epsilon)) == pytest.approx(expected, rel=1e-13, abs=0)


@pytest.mark.parametrize("epsilon", [1e-6, 1e-9, 1e-11, 1e-13, 1e-15])
def test_corners_at_tiny_losses_have_their_whole_mass(epsilon: float) -> None:
    """Between the corners of dp(1) the border is 1 - delta - e^epsilon alpha; it was 9e-10 too high, or refused."""
    region = parse(f"dp({epsilon!r}, 0.01) & dp(1)")
    for alpha in (0.05, 0.2, 0.4):
        assert float(region.beta(alpha)) == pytest.approx(0.99 - math.exp(epsilon) * alpha, rel=1e-14, abs=0)


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e-6, 1e-9, 1e-12])
def test_both_hold_where_the_larger_beta_says(scale: float) -> None:
    """Pairs that are not symmetric, with slopes near 1: masses from differences of deltas put beta 9e-5 too high."""
    rng = np.random.default_rng(5)
    alpha = np.concatenate((np.linspace(0.001, 0.999, 101), 10.0 ** -rng.uniform(0, 12, 20)))

    def pair() -> Polygon:
        p = rng.dirichlet(np.ones(4))
        q = p * (1 + scale * (rng.random(4) - 0.5))
        q /= q.sum()
        lost, told = rng.choice([0.0, 0.01, 1e-9]), rng.choice([0.0, 0.02, 1e-7])
        p, q = p * (1 - lost), q * (1 - told)
        loss = np.log(q) - np.log(p)
        order = np.argsort(loss)
        return Polygon(loss[order], p[order], q[order], lost, told)

    for _ in range(60):
        first, second = pair(), pair()
        both = polygon_algebra.intersection([first, second])
        larger = np.maximum(first.beta_bounds(alpha)[0], second.beta_bounds(alpha)[0])
        np.testing.assert_allclose(both.beta_bounds(alpha)[0], larger, rtol=0, atol=4e-15)
        assert both.p.sum() + both.p_inf == pytest.approx(1.0, abs=4e-15)
        assert both.q.sum() + both.q_inf == pytest.approx(1.0, abs=4e-15)


@pytest.mark.parametrize(
    "text", ["laplace(1e-20)*gdp(1e-20)", "laplace(1e-60)*gdp(1e-60)", "laplace(6.6e-52)*gdp(5.6e-48)"]
)
def test_next_to_nothing_is_blind_guessing(text: str) -> None:
    """The powers of a series were no doubles, and 1 - beta a rounding below alpha."""
    region = parse(text)
    assert float(region.beta(0.97)) == pytest.approx(0.03, rel=1e-6)
    assert float(region.power(1e-9)) == pytest.approx(1e-9, abs=1e-6)
    assert float(region.power(1e-9)) >= 1e-9


def test_rounded_corners_are_not_above_blind_guessing() -> None:
    """Corners near alpha = 1 are rounded sums: beta was 2.5e-16 above 1 - alpha, and refused."""
    alpha = 0.9999999149118767
    assert float(parse("dp(1e-300)^1000").beta(alpha)) == 1.0 - alpha


@pytest.mark.parametrize("text", ["group(dp(1), 720)", "group(dp(1), 790)", "group(rr(0.2907976653998061, 8)^5, 503)"])
def test_groups_whose_rates_are_no_doubles_are_refused(text: str) -> None:
    """What lies beyond the smallest double was lost: delta(1) of the first came out as 1.2e-5 instead of 1."""
    with pytest.raises(DomainError, match="size times the largest loss must be at most about 705, got 7"):
        parse(text).delta(1.0)


def test_groups_just_within_the_doubles_are_answered() -> None:
    region = parse("group(dp(1), 705)")
    assert float(region.delta(1.0)) == pytest.approx(1.0, abs=1e-12)
    assert float(region.epsilon(1e-6)) == pytest.approx(705.0, rel=1e-8)


@pytest.mark.long
def test_lines_with_different_numbers_of_nodes_have_no_common_series() -> None:
    """They were put into one array, which is no array."""
    text = (
        "dptv(4.55366458077814, 2.7996056378552576e-9, 0.014972959011262261)^10"
        " & gaussian_classic(0.4736528394751638, 0.04295260621374227) * laplace(1.0939379960065565e-250)"
    )
    with effort(tolerance=1e-3):
        lower, upper = parse(text).epsilon_bounds([5e-324])
    assert 0.0 <= lower[0] <= upper[0] < np.inf


def test_a_delta_below_all_doubles_is_not_zero() -> None:
    """0 says that no failure is possible; the Gaussian loss has no bound."""
    (low,), (high,) = parse("gaussian(35.3)").delta_bounds([7.546])
    assert low == 0.0
    assert high == np.finfo(np.float64).smallest_normal
    assert parse("dp(1)").delta(1.0) == 0.0
    assert parse("gaussian(35.3)").delta(float("inf")) == 0.0
