"""The composition theorems against second routes: rational arithmetic, high precision, brute force and one another."""

from __future__ import annotations

import itertools
import math
import warnings
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore import theorems as th
from dpcore.core.errors import BudgetError, DomainError, DomainWarning
from dpcore.core.rounding import sum_up

EXACT = 1e-10
few = settings(max_examples=30, deadline=None)
epsilons = st.floats(1e-4, 4)
deltas = st.sampled_from([0.0, 1e-9, 1e-3, 0.05, 0.3])
lists = st.lists(st.tuples(epsilons, deltas), min_size=1, max_size=5)


def brute_delta(statements, epsilon):
    """Profile of the worst case of a list, all sign patterns, by high-precision definition."""
    with mpmath.workdps(40):
        eps = [mpmath.mpf(e) for e, _ in statements]
        keep = mpmath.fprod(1 - mpmath.mpf(d) for _, d in statements)
        total = mpmath.mpf(0)
        for signs in itertools.product((1, -1), repeat=len(eps)):
            loss = mpmath.fsum(s * e for s, e in zip(signs, eps, strict=True))
            mass = mpmath.fprod(1 / (1 + mpmath.exp(-s * e)) for s, e in zip(signs, eps, strict=True))
            if loss > epsilon:
                total += mass * (1 - mpmath.exp(epsilon - loss))
        return 1 - keep * (1 - total)


def lattice_delta(k, weights, step, point, lost=0):
    """Profile at `point` of k steps with the given masses of losses +step, 0, -step; 60 digits, multinomial sum."""
    up, stay, down = weights
    total = mpmath.mpf(0)
    for plus in range(k + 1):
        for minus in range(k - plus + 1):
            loss = (plus - minus) * step
            zero = k - plus - minus
            if loss > point and (stay or not zero):
                count = mpmath.binomial(k, plus) * mpmath.binomial(k - plus, minus)
                total += count * up**plus * down**minus * stay**zero * (1 - mpmath.exp(point - loss))
    return lost + (1 - lost) * total


def rows(frame):
    """(epsilon, delta) pairs of a frame."""
    return list(zip(frame["epsilon"].tolist(), frame["delta"].tolist(), strict=True))


@pytest.mark.parametrize(
    ("record", "oracle"),
    [pytest.param(r, o, id=f"{r.name}-{i}") for r in th.THEOREMS for i, o in enumerate(r.oracles)],
)
def test_oracle(record, oracle):
    frame = record.rows(*oracle.arguments, at_epsilon=oracle.at_epsilon)
    nearest = min(rows(frame), key=lambda row: abs(row[0] - oracle.epsilon))
    assert nearest[0] == pytest.approx(oracle.epsilon, rel=oracle.tolerance, abs=oracle.tolerance)
    assert nearest[1] == pytest.approx(oracle.delta, rel=oracle.tolerance, abs=1e-300)


def test_records_are_complete():
    names = [record.name for record in th.THEOREMS]
    assert len(set(names)) == len(names)
    for record in th.THEOREMS:
        assert all([record.title, record.formula, record.meaning, record.assumptions, record.reference])
        assert record.neighbours in {"any", "substitution", "add/remove"}
        assert record.kind in {"exact", "upper", "approximate"}
        assert record.oracles or record.name == "zcdp_tight"  # checked below against high precision
        assert th.theorem(record.name) is record
    with pytest.raises(DomainError, match="kov_optimal"):
        th.theorem("kov")


def test_kov_optimal_is_the_printed_formula_in_rationals():
    """E = e^epsilon = 3/2 exactly; epsilon = log(3/2) rounded costs 1e-16."""
    odds, k, delta = Fraction(3, 2), 7, Fraction(1, 64)
    frame = th.kov_optimal(math.log(1.5), 1 / 64, k)
    assert frame["epsilon"].tolist() == pytest.approx([(k - 2 * i) * math.log(1.5) for i in (3, 2, 1, 0)], rel=1e-15)
    for i, got in zip((3, 2, 1, 0), frame["delta"], strict=True):
        inner = sum(math.comb(k, m) * (odds ** (k - m) - odds ** (k - 2 * i + m)) for m in range(i)) / (1 + odds) ** k
        assert got == pytest.approx(float(1 - (1 - delta) ** k * (1 - inner)), rel=1e-14)


@pytest.mark.parametrize(("epsilon", "k"), [(0.01, 10**6), (1e-6, 1000), (8.0, 10**6), (0.3, 5001)])
def test_kov_optimal_keeps_its_digits(epsilon, k):
    frame = th.kov_optimal(epsilon, 0.0, k)
    assert len(frame) == k // 2 + 1
    delta = frame["delta"].to_numpy()
    assert np.all(np.diff(delta) <= 0)
    with mpmath.workdps(50):
        e = mpmath.mpf(epsilon)
        odds = mpmath.exp(e)
        for target in (1e-3, 1e-40, 1e-290):
            position = int(np.searchsorted(-delta, -target))
            if position >= len(delta) - 1 or delta[position] < 1e-300:
                continue
            i = (k - round(frame["epsilon"].iloc[position] / epsilon)) // 2
            # from the corner upward: terms fall geometrically, so a few thousand hold fifty digits
            total, term = mpmath.mpf(0), mpmath.binomial(k, i - 1) * odds ** (k - i + 1) / (1 + odds) ** k
            for m in range(i - 1, max(-1, i - 40000), -1):
                add = term * (1 - mpmath.exp((2 * m - 2 * i) * e))
                total += add
                if add < total * mpmath.mpf(10) ** -25 and m < i - 5:
                    break
                term *= mpmath.mpf(m) / (k - m + 1) * odds
            assert delta[position] == pytest.approx(float(total), rel=EXACT)


def test_kov_optimal_beyond_the_exponent_range():
    frame = th.kov_optimal(100.0, 0.0, 20)  # k epsilon = 2000 > 709
    assert frame["epsilon"].iloc[-1] == 2000
    assert frame["delta"].iloc[-1] == 0
    # Next corner: q_0 (1 - e^-200) = (1 + e^-100)^-20.
    assert frame["delta"].iloc[-2] == pytest.approx(1.0, rel=1e-15)
    assert rows(th.kov_optimal(0.0, 0.25, 2)) + rows(th.kov_optimal(1.0, 1.0, 2)) == [(0.0, 0.4375), (0.0, 1.0)]


def test_too_many_corners_are_counted():
    with pytest.raises(BudgetError, match="10000001"):
        th.kov_optimal(0.1, 0.0, 2 * 10**7)
    with pytest.raises(BudgetError, match="10000002"):
        th.dptv(0.1, 0.0, 0.01, 10**7 + 1)
    with pytest.raises(BudgetError, match="2097152"):
        th.kov_heterogeneous([(0.1 * 1.37**i, 0.0) for i in range(21)])


@few
@given(lists)
def test_heterogeneous_against_all_patterns(statements):
    frame = th.kov_heterogeneous(statements)
    picked = frame.iloc[:: max(1, len(frame) // 3)]
    for epsilon, delta in rows(picked):
        assert delta == pytest.approx(float(brute_delta(statements, mpmath.mpf(epsilon))), rel=1e-10, abs=1e-15)


def test_heterogeneous_equals_homogeneous():
    left, right = th.kov_heterogeneous([(0.3, 0.01)] * 9), th.kov_optimal(0.3, 0.01, 9)
    np.testing.assert_allclose(left[["epsilon", "delta"]], right[["epsilon", "delta"]], rtol=1e-13, atol=1e-15)
    thousands = th.kov_heterogeneous([(0.01, 0.0, 900), (0.3, 0.0, 900)])  # few kinds of many copies
    assert thousands["delta"].is_monotonic_decreasing


def test_tiny_epsilon_beside_a_large_one():
    """The second corner from the top is q_top (1 - e^(-2 tiny)), although large + tiny == large in floats."""
    frame = th.kov_heterogeneous([(5.0, 0.0), (1e-17, 0.0)])
    expected = 2e-17 / (1 + math.exp(-5.0)) / 2
    assert frame["delta"].iloc[-2] == pytest.approx(expected, rel=EXACT)


@pytest.mark.parametrize(
    ("epsilon", "delta", "eta", "k"),
    [(0.6, 0.05, 0.2, 5), (1.0, 0.0, 0.3, 9), (0.05, 0.0, 1e-4, 12), (3.0, 0.1, 0.9, 6), (0.4, 0.0, 1e-12, 7)],
)
def test_dptv_against_the_multinomial(epsilon, delta, eta, k):
    frame = th.dptv(epsilon, delta, eta, k)
    assert len(frame) == k + 1
    with mpmath.workdps(60):
        e, d, n = (mpmath.mpf(x) for x in (epsilon, delta, eta))
        move = (n - d) / (1 - d) / mpmath.tanh(e / 2)
        up = move / (1 + mpmath.exp(-e))
        lost = 1 - (1 - d) ** k
        for j, got in enumerate(frame["delta"]):
            truth = lattice_delta(k, (up, 1 - move, up * mpmath.exp(-e)), e, j * e, lost)
            assert got == pytest.approx(float(truth), rel=EXACT, abs=1e-300)


def test_dptv_of_many_steps_against_mixture_of_binomials():
    """Of k steps a random number stay put: a mixture of optimal compositions of fewer steps."""
    epsilon, eta, k = 0.2, 0.05, 150
    frame = th.dptv(epsilon, 0.0, eta, k)
    move = eta / math.tanh(epsilon / 2)
    mixed = np.zeros(k + 1)
    weight = (1 - move) ** k
    for n in range(k + 1):
        if n:
            weight *= (k - n + 1) / n * move / (1 - move)
            inner = th.dptv(epsilon, 0.0, math.tanh(epsilon / 2), n)["delta"].to_numpy()
            mixed[: n + 1] += weight * inner
    np.testing.assert_allclose(frame["delta"], mixed, rtol=1e-9, atol=1e-300)


def test_dptv_edges():
    with pytest.warns(DomainWarning, match=r"0\.9 is above"):
        clamped = th.dptv(0.6, 0.05, 0.9, 4)
    optimal = th.kov_optimal(0.6, 0.05, 4)
    np.testing.assert_allclose(clamped["delta"][::2], optimal["delta"], rtol=1e-13)
    assert "clamped" in clamped["note"].iloc[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rows(th.dptv(0.6, 0.5, 0.25, 2)) == [(0.0, 0.4375)]
        assert rows(th.dptv(0.6, 0.25, 0.25, 2)) == [(0.0, 0.4375)]
        th.dptv(0.7, 0.0, math.tanh(0.35), 3)
    with pytest.warns(DomainWarning):
        assert rows(th.dptv(0.0, 0.25, 0.5, 2)) == [(0.0, 0.4375)]


def test_gdp_against_high_precision():
    with mpmath.workdps(60):
        for mus, points in (([1.0, 2.0], [0.0, 1.0, 30.0]), ([1e-3] * 4, [0.0, 1e-3, 0.05]), ([20.0], [0.0, 500.0])):
            frame = th.gdp(mus, points)
            mu = mpmath.sqrt(mpmath.fsum(mpmath.mpf(m) ** 2 for m in mus))
            for epsilon, delta in rows(frame):
                e = mpmath.mpf(epsilon)
                truth = mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu)
                assert delta == pytest.approx(float(truth), rel=EXACT)
    assert th.gdp(0.0)["delta"].tolist() == [0.0] * 11


@few
@given(lists, st.sampled_from([1e-9, 1e-6, 1e-3, 0.1, 0.9, 1.0]))
def test_upper_statements_hold(statements, slack):
    """Each stated delta is at least the exact delta at its epsilon, compared with 40 digits."""
    frames = [th.basic(statements), th.kov_simplified(statements, slack)]
    frames.append(th.kov_simplified_epsilon(statements, slack))
    if len(set(statements)) == 1:
        frames.append(th.advanced_drv(*statements[0], len(statements), slack))
    for frame in frames:
        for epsilon, delta in rows(frame):
            if math.isfinite(epsilon):
                assert mpmath.mpf(delta) >= brute_delta(statements, mpmath.mpf(epsilon))


@few
@given(epsilons, deltas, st.integers(1, 60), st.sampled_from([1e-9, 1e-4, 0.05, 0.5]))
def test_homogeneous_bounds_are_above_the_optimum(epsilon, delta, k, slack):
    frames = [th.basic([(epsilon, delta, k)]), th.kov_simplified([(epsilon, delta, k)], slack)]
    frames.append(th.advanced_drv(epsilon, delta, k, slack))
    if delta == 0 and epsilon**2 * k < -math.log(slack) * 0.999:
        frames.append(th.advanced_course(epsilon, k, slack))
    with mpmath.workdps(40):
        e, lost = mpmath.mpf(epsilon), 1 - (1 - mpmath.mpf(delta)) ** k
        odds = mpmath.exp(e)
        law = [mpmath.binomial(k, m) * odds ** (k - m) / (1 + odds) ** k for m in range(k + 1)]
        for frame in frames:
            for point, claimed in rows(frame):
                gaps = [(k - 2 * m) * e - mpmath.mpf(point) for m in range(k + 1)]
                inner = mpmath.fsum(q * (1 - mpmath.exp(-g)) for q, g in zip(law, gaps, strict=True) if g > 0)
                assert mpmath.mpf(claimed) >= lost + (1 - lost) * inner


@few
@given(st.floats(0.01, 3), deltas, st.floats(0.01, 1.2), st.integers(1, 40))
def test_dptv_is_inside_the_optimum(epsilon, delta, share, k):
    eta = delta + share * (1 - delta) * math.tanh(epsilon / 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DomainWarning)
        inside = dict(rows(th.dptv(epsilon, delta, min(eta, 1.0), k)))
    for point, outer in rows(th.kov_optimal(epsilon, delta, k)):
        inner = min(inside.items(), key=lambda row, point=point: abs(row[0] - point))[1]
        assert inner <= outer * (1 + 1e-12)


@few
@given(lists, st.floats(1e-6, 0.99))
def test_envelope_spends_the_whole_delta(statements, total):
    """The envelope lies on or below the bound at every slack whose delta is not larger."""
    frame = th.kov_simplified_epsilon(statements, total)
    best, note = frame["epsilon"].iloc[0], frame["note"].iloc[0]
    if ", slack " in note:
        with mpmath.workdps(40):  # the slack spent is rounded down
            spent = 1 - (1 - mpmath.mpf(float(note.split()[-1]))) * mpmath.fprod(
                1 - mpmath.mpf(d) for _, d in statements
            )
            assert total * (1 - mpmath.mpf("1e-12")) - 1e-14 <= spent <= total
    for slack in (1e-9, 1e-4, 0.01, 0.3):
        epsilon, delta = rows(th.kov_simplified(statements, slack))[0]
        if delta <= total * (1 - 1e-9):
            assert best <= epsilon * (1 + 1e-12)


def test_closed_forms_name_their_branch_and_domain():
    frame = th.kov_simplified([(0.05, 0.0, 20)], [1e-3, 1e-9])
    assert frame["note"].str.contains("sqrt").tolist() == [True, False]
    assert "log(1/slack)" in th.kov_simplified([(0.5, 0.0, 400)], 1e-3)["note"].iloc[0]
    assert th.kov_simplified([(0.05, 0.0)] * 20, 1e-3).equals(frame.iloc[:1])
    below = th.kov_simplified_epsilon([(0.1, 0.01, 3)], 0.02)
    assert below["epsilon"].tolist() == [math.inf]
    assert below["note"].str.contains("below").all()
    with pytest.raises(DomainError, match=r"0\.36787"):
        th.advanced_course(0.1, 100, 0.4)  # log(1/delta) below epsilon^2 k
    assert len(th.advanced_course(0.1, 100, [0.36, 1e-9])) == 2


def test_sum_rounds_up():
    assert Fraction(sum_up([(0.1, 3)])) >= 3 * Fraction(0.1)
    assert sum_up([(0.25, 3), (0.5, 1)]) == 1.25
    assert sum_up([(1e308, 10)]) == math.inf
    assert sum_up([(5e-324, 7)]) == 7 * 5e-324


def test_basic_says_when_it_is_tight():
    assert th.basic([(1.0, 0.0), (0.0, 0.1)])["kind"].tolist() == ["exact"]
    assert th.kov_heterogeneous([(1.0, 0.0), (0.0, 0.1)])["delta"].iloc[-1] == pytest.approx(0.1, rel=1e-15)
    assert th.basic([(1.0, 0.1), (0.0, 0.1)])["kind"].tolist() == ["upper"]
    clamped = th.basic([(0.1, 0.6), (0.1, 0.6)])
    assert rows(clamped)[0][1] == 1
    assert "clamped" in clamped["note"].iloc[0]


@few
@given(lists)
def test_parallel_is_the_hull_of_the_regions(statements):
    union, single = th.parallel_union(statements), th.parallel(statements)
    (epsilon, delta), (largest, _) = rows(union)[0], rows(single)[0]
    assert epsilon <= largest
    for point in (0.0, 0.1, 1.0, 3.0, epsilon):
        parts = max(max(d, d + (1 - d) * (math.exp(e) - math.exp(point)) / (1 + math.exp(e))) for e, d in statements)
        hull = max(delta, delta + (1 - delta) * (math.exp(epsilon) - math.exp(point)) / (1 + math.exp(epsilon)))
        # the profile of a union is the largest of the profiles
        assert hull == pytest.approx(parts, rel=1e-9, abs=1e-12)


@few
@given(st.floats(0.01, 2), st.sampled_from([0.0, 1e-6, 1e-3, 0.02, 0.2]), st.integers(1, 9))
def test_group_exact_is_the_iterated_curve(epsilon, delta, k):
    """Second route: apply 1 - f k times to a grid of alpha, and read the profile off it."""
    frame = th.group_exact(epsilon, delta, k)

    def climb(a):
        return min(1.0, delta + math.exp(epsilon) * a, 1 - math.exp(-epsilon) * (1 - delta - a))

    def curve(a):
        for _ in range(k):
            a = climb(a)
        return a

    for a in np.concatenate([np.linspace(0, 1, 41), np.logspace(-9, 0, 19)]):
        lines = [min(d + math.exp(e) * a, 1 - math.exp(-e) * (1 - d - a)) for e, d in rows(frame)]
        assert min(1.0, *lines) == pytest.approx(curve(float(a)), rel=1e-11, abs=1e-13)


@few
@given(st.floats(0, 2), st.sampled_from([0.0, 1e-6, 1e-3, 0.02, 0.2, 1.0]), st.integers(1, 30))
def test_group_statement_contains_the_exact_region(epsilon, delta, k):
    single, exact = th.group(epsilon, delta, k), th.group_exact(epsilon, delta, k)
    total, claimed = rows(single)[0]
    with mpmath.workdps(40):
        e = mpmath.mpf(epsilon)
        truth = mpmath.mpf(delta) * mpmath.fsum(mpmath.exp(i * e) for i in range(k))
        assert mpmath.mpf(claimed) >= min(truth, 1)
        assert claimed == pytest.approx(float(min(truth, 1)), rel=1e-12)
        assert mpmath.mpf(total) >= k * e
    for point, inner in rows(exact):
        # the single statement's own profile at the corner
        outer = claimed + (1 - claimed) * math.exp(point) * math.expm1(total - point) / (1 + math.exp(total))
        assert inner <= max(claimed, outer) * (1 + 1e-12)
    if claimed == 1 and delta < 1 and truth > 1:
        assert "clamped" in single["note"].iloc[0]


@pytest.mark.parametrize(("order", "bound"), [(10.0, 0.5), (2.0, 1.0), (1.001, 0.1), (300.0, 0.01)])
def test_rdp_forms_are_inverse_rounded_up_and_ordered(order, bound):
    with mpmath.workdps(40):
        a, r = mpmath.mpf(order), mpmath.mpf(bound)
        for delta in (1e-300, 1e-9, 1e-3, 0.5, 1.0):
            d = mpmath.mpf(delta)
            plain, tight = th.rdp_to_dp(order, bound, delta)["epsilon"]
            true_plain = r - mpmath.log(d) / (a - 1)
            true_tight = r + mpmath.log((a - 1) / a) - (mpmath.log(d) + mpmath.log(a)) / (a - 1)
            assert 0 <= mpmath.mpf(plain) - true_plain <= 1e-13 * max(true_plain, 1)
            assert 0 <= mpmath.mpf(tight) - max(true_tight, 0) <= 1e-13 * true_plain
            assert tight <= plain
            true_delta = mpmath.exp((a - 1) * (r - 2)) / (a - 1) * (1 - 1 / a) ** a
            assert mpmath.mpf(th.rdp_delta(order, bound, 2.0)["delta"].iloc[1]) >= min(true_delta, 1)
            if true_tight > 0:
                back = th.rdp_delta(order, bound, tight)["delta"].iloc[1]
                assert back == pytest.approx(delta, rel=1e-9)


@pytest.mark.parametrize(
    ("rho", "xi", "delta"), [(0.1, 0.0, 1e-6), (2.0, 0.5, 1e-12), (1e-6, 0.0, 1e-3), (50.0, 0, 0.5)]
)
def test_zcdp_minimum_over_orders(rho, xi, delta):
    plain, tight = th.zcdp_to_dp(rho, xi, delta)["epsilon"]
    with mpmath.workdps(30):

        def bound(s):
            a = 1 + mpmath.exp(s)
            return xi + rho * a + mpmath.log((a - 1) / a) - (mpmath.log(delta) + mpmath.log(a)) / (a - 1)

        grid = min(bound(s) for s in mpmath.linspace(-12, 18, 1500))
    assert plain == pytest.approx(xi + rho + 2 * math.sqrt(rho * math.log(1 / delta)), rel=1e-14)
    assert tight <= min(plain, max(0.0, float(grid))) + 1e-12
    assert tight == pytest.approx(max(0.0, float(grid)), rel=1e-3, abs=1e-6)
    if tight > 0:
        back = th.zcdp_delta(rho, xi, tight)["delta"].iloc[1]
        assert back == pytest.approx(delta, rel=1e-6)
    assert th.zcdp_to_dp(0.0, 0.3, delta)["epsilon"].max() <= 0.3 * (1 + 1e-14)


def test_renyi_bounds_contain_what_they_bound():
    """The exact delta of (10, 0.5)-RDP at 1 is 4.257453e-4; a Gaussian of sigma = 1 is 1/2-zCDP and has mu = 1."""
    plain, tight = th.rdp_delta(10.0, 0.5, 1.0)["delta"]
    assert 4.257453e-4 < tight < plain
    for point, exact in rows(th.gdp(1.0, [0.5, 1.0, 3.0, 6.0])):
        plain, tight = th.zcdp_delta(0.5, 0.0, point)["delta"]
        assert exact <= tight <= plain
