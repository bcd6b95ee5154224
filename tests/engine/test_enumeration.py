"""Products by listing, and by meeting in the middle, against exact sums over every combination."""

from __future__ import annotations

from itertools import product as combinations
from math import comb

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.core.effort import effort
from dpcore.core.errors import BudgetError, DomainError
from dpcore.engine import enumeration, profile
from dpcore.engine.binomial import binomial_masses
from dpcore.engine.halves import Halves

TWELVE = [0.05, 0.11, 0.17, 0.23, 0.31, 0.37, 0.41, 0.53, 0.61, 0.73, 0.89, 1.07]


def two_point(epsilon):
    truth, lie = 1 / (1 + np.exp(-epsilon)), 1 / (1 + np.exp(epsilon))
    return np.array([-epsilon, epsilon]), np.array([truth, lie]), np.array([lie, truth])


def relative(value, truth):
    with mp.workdps(50):
        return float(abs(mp.mpf(float(value)) / truth - 1))


@pytest.fixture(scope="module")
def twelve():
    """All 4096 sums of twelve different losses with their P0- and P1-masses, forty digits."""
    with mp.workdps(40):
        atoms = [(mp.mpf(0), mp.mpf(1), mp.mpf(1))]
        for epsilon in map(mp.mpf, TWELVE):
            truth, lie = 1 / (1 + mp.exp(-epsilon)), 1 / (1 + mp.exp(epsilon))
            atoms = [
                (loss + sign * epsilon, p * (lie if sign > 0 else truth), q * (truth if sign > 0 else lie))
                for loss, p, q in atoms
                for sign in (-1, 1)
            ]
        return sorted(atoms)


def true_delta(atoms, epsilon):
    with mp.workdps(40):
        e = mp.mpf(epsilon)
        return mp.fsum(q * -mp.expm1(e - loss) for loss, _, q in atoms if loss > e)


EPSILONS = [-3.0, -0.5, 0.0, 0.1, 0.77, 1.5, 3.0, 4.9, 5.4, 5.47]


def test_twelve_different_parts_listed(twelve):
    loss, p, q = enumeration.product([two_point(epsilon) for epsilon in TWELVE])
    table = profile.tables(loss, q)
    for epsilon in EPSILONS:
        assert relative(profile.delta_at(epsilon, loss, table), true_delta(twelve, epsilon)) < 1e-12
    assert np.all(np.diff(loss) > 0)
    assert p.sum() == pytest.approx(1.0, abs=1e-14)
    assert np.log(q / p) == pytest.approx(loss, abs=1e-13)


def test_twelve_different_parts_in_halves(twelve):
    halves = Halves([two_point(epsilon) for epsilon in TWELVE])
    values = halves.delta(EPSILONS)
    for value, epsilon in zip(values, EPSILONS, strict=True):
        assert relative(value, true_delta(twelve, epsilon)) < 1e-12
    thresholds = [-5.4001, -2.0003, 0.01234, 1.0001, 4.50007, 5.4001]
    tails = halves.tails(thresholds)
    with mp.workdps(40):
        for n, t in enumerate(map(mp.mpf, thresholds)):
            assert relative(tails.alpha[n], mp.fsum(p for loss, p, _ in twelve if loss > t)) < 1e-13
            assert relative(tails.power[n], mp.fsum(q for loss, _, q in twelve if loss > t)) < 1e-13
            assert relative(tails.beta[n], mp.fsum(q for loss, _, q in twelve if loss <= t)) < 1e-13


def test_published_pairs_of_different_guarantees():
    """(1, 0) and (2, 0); (1, .1) and (2, .2): exact values with twelve digits."""
    halves = Halves([two_point(1.0), two_point(2.0)])
    assert halves.delta([0.0, 1.0, 3.0]) == pytest.approx([np.tanh(1), 0.556769941146, 0.0], abs=1e-12)
    finite = 0.9 * 0.8
    assert 1 - finite + finite * halves.delta([0.0, 1.0, 3.0]) == pytest.approx(
        [0.828347792288, 0.680874357625, 0.28], abs=1e-12
    )


@pytest.mark.parametrize("n", [20, 31])
def test_halves_of_many_parts_against_another_split(n):
    """The listed product of all but ten parts, summed over the combinations of the ten."""
    rng = np.random.default_rng(n)
    parts = [two_point(epsilon) for epsilon in rng.uniform(0.1, 1.0, n)]
    halves = Halves(parts)
    few = enumeration.product(parts[:10])
    many = enumeration.product(parts[10 : min(n, 26)])
    rest = enumeration.product(parts[26:])
    few = enumeration.product([few, rest])
    table = profile.tables(many[0], many[2])
    epsilon = np.array([0.0, 0.5, 2.0])
    expected = [float(few[2] @ profile.delta_at(e - few[0], many[0], table)) for e in epsilon]
    assert halves.delta(epsilon) == pytest.approx(expected, rel=1e-12)
    assert halves.delta(-np.inf) == pytest.approx(1.0, abs=1e-13)
    assert halves.delta(np.inf) == 0.0
    tails = halves.tails([-np.inf, np.inf])
    assert tails.alpha.tolist() == pytest.approx([1.0, 0.0], abs=1e-13)
    assert tails.beta.tolist() == pytest.approx([0.0, 1.0], abs=1e-13)


@pytest.mark.parametrize("sizes", [[2] * 9, [2, 3, 2, 1, 3], [1, 1]])
def test_columns_may_be_lists_or_arrays(sizes):
    rng = np.random.default_rng(7)
    lists = []
    for size in sizes:
        whole = sorted(rng.choice(np.arange(-9, 10), size, replace=False).tolist())
        lists.append((whole, rng.uniform(0, 1, size).tolist(), rng.uniform(0, 1, size).tolist()))
    arrays = [tuple(np.array(column, dtype=np.float64) for column in part) for part in lists]
    for made, kept in zip(enumeration.product(lists), enumeration.product(arrays), strict=True):
        assert made.dtype == np.float64
        assert made.tolist() == kept.tolist()
    at = [-1.5, 0.0, 0.5, 3.0]
    assert Halves(lists).delta(at).tolist() == Halves(arrays).delta(at).tolist()
    assert Halves(lists).tails(at).beta.tolist() == Halves(arrays).tails(at).beta.tolist()


def test_equal_parts_merge_into_the_binomial_law():
    k, epsilon = 30, 0.3
    loss, p, q = enumeration.product([two_point(epsilon)] * k)
    index, binomial_p, binomial_q = binomial_masses(epsilon, k)
    assert loss == pytest.approx((k - 2 * index) * epsilon, abs=1e-13)
    assert q == pytest.approx(binomial_q, rel=1e-12)
    assert p == pytest.approx(binomial_p, rel=1e-12)
    halves = Halves([two_point(epsilon)] * k)
    table = profile.tables((k - 2 * index) * epsilon, binomial_q)
    at = np.array([0.0, 1.0, 8.9])
    assert halves.delta(at) == pytest.approx(profile.delta_at(at, (k - 2 * index) * epsilon, table), rel=1e-12)


@pytest.mark.parametrize(("m", "k"), [(1, 7), (2, 400), (3, 60), (4, 20), (5, 9)])
def test_powers_against_exact_multinomials(m, k):
    rng = np.random.default_rng(m)
    q = rng.random(m) * 10.0 ** -np.arange(m)
    loss = np.sort(rng.normal(size=m)) * np.sqrt([2, 3, 5, 7, 11][:m])
    loss.sort()
    p = q[::-1] * np.exp(-rng.random(m))
    total, power_p, power_q = enumeration.power(loss, p, q, k)
    assert total.size == enumeration.count([(m, k)]) == comb(k + m - 1, m - 1)
    picks = {tuple(rng.multinomial(k, np.ones(m) / m)) for _ in range(20)} | {(k, *[0] * (m - 1))}
    with mp.workdps(50):
        for counts in picks:
            at = int(np.argmin(np.abs(total - sum(n * x for n, x in zip(counts, loss, strict=True)))))
            ways = mp.factorial(k) / mp.fprod(mp.factorial(int(n)) for n in counts)
            for got, mass in ((power_q[at], q), (power_p[at], p)):
                truth = ways * mp.fprod(mp.mpf(x) ** int(n) for x, n in zip(mass, counts, strict=True))
                if truth > mp.mpf("1e-300"):
                    assert relative(got, truth) < 1e-12


@pytest.mark.parametrize(("m", "k"), [(2, 3000), (2, 50), (3, 200), (4, 30)])
def test_the_rounding_of_a_power_is_bounded_down_to_its_tails(m, k):
    """Masses that sum to 1 up to rounding, as those of a part: every listed mass above 1e-300 against 60 digits."""
    rng = np.random.default_rng(k)
    weights = [mp.mpf(x) for x in rng.random(m) + 0.05]
    loss = np.sqrt([2.0, 3.0, 5.0, 7.0][:m])
    with mp.workdps(60):
        exact = [w / mp.fsum(weights) for w in weights]
        q = np.array([float(x) for x in exact])
        total, _, masses = enumeration.power(loss, q, q, k, (0.0, 0.0))
        bound, worst = enumeration.power_rounding(1.0, k, m) * 2.0**-53, 0.0
        logs = [mp.log(x) for x in exact]
        for counts in [rng.multinomial(k, rng.dirichlet(np.full(m, 0.4))) for _ in range(300)]:
            at = int(np.argmin(np.abs(total - float(counts @ loss))))
            ways = mp.loggamma(k + 1) - mp.fsum(mp.loggamma(int(n) + 1) for n in counts)
            truth = mp.exp(ways + mp.fsum(int(n) * log for n, log in zip(counts, logs, strict=True)))
            if truth > mp.mpf("1e-300"):
                worst = max(worst, float(relative(masses[at], truth)))
    assert 1e-17 < worst < bound


def test_powers_are_repeated_products():
    part = (np.array([-0.7, 0.1, 0.9]), np.array([0.6, 0.3, 0.1]), np.array([0.3, 0.33, 0.24]))
    for got, expected in zip(enumeration.power(*part, 6), enumeration.product([part] * 6), strict=True):
        assert got == pytest.approx(expected, rel=1e-12)


def test_nothing_once_and_never():
    part = two_point(0.5)
    assert [a.tolist() for a in enumeration.product([])] == [[0.0], [1.0], [1.0]]
    assert [a.tolist() for a in enumeration.power(*part, 0)] == [[0.0], [1.0], [1.0]]
    empty = (np.zeros(0), np.zeros(0), np.zeros(0))
    assert enumeration.product([part, empty])[0].size == 0
    assert enumeration.power(*empty, 3)[0].size == 0
    assert Halves([part, empty]).delta([0.0]).tolist() == [0.0]
    assert Halves([]).delta([-1.0, 1.0]) == pytest.approx([1 - np.exp(-1), 0.0])
    for got, expected in zip(enumeration.power(*part, 1), part, strict=True):
        assert got == pytest.approx(expected, rel=1e-14)


def test_predicted_sizes():
    assert enumeration.count([(2, 3), (3, 2), (5, 0)]) == 4 * 6
    assert enumeration.count([]) == 1
    assert enumeration.count([(0, 2)]) == 0
    assert Halves.count([2] * 40) == 2**20
    assert Halves.count([5, 2, 2, 2]) == 8
    assert enumeration.count([(10, 10**6)]) > 10**40


def test_refusals():
    with effort(memory=10**7), pytest.raises(BudgetError, match="combinations"):
        enumeration.product([two_point(0.1 + 0.01 * np.sqrt(n)) for n in range(2000)])
    with pytest.raises(BudgetError, match="combinations"):
        enumeration.power(np.arange(10.0), np.full(10, 0.1), np.full(10, 0.1), 1000)
    with effort(memory=10**6), pytest.raises(BudgetError, match="combinations"):
        Halves([two_point(0.1)] * 40)
    with pytest.raises(DomainError, match=r"k must be an integer in \[0, inf\), got 1.5"):
        enumeration.power(*two_point(0.1), 1.5)
    with pytest.raises(DomainError, match="nan"):
        Halves([two_point(0.1)]).delta([np.nan])


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(st.floats(-5, 5), min_size=1, max_size=3, unique=True), min_size=1, max_size=5), st.floats(-8, 8)
)
def test_any_parts_by_listing(losses, epsilon):
    parts = []
    for values in losses:
        loss = np.sort(np.array(values))
        q = np.linspace(1, 2, loss.size) / 4
        parts.append((loss, q * np.exp(-loss), q))
    expected = 0.0
    for atoms in combinations(*[list(zip(loss, q, strict=True)) for loss, _, q in parts]):
        total = sum(loss for loss, _ in atoms)
        if total > epsilon:
            expected += np.prod([q for _, q in atoms]) * -np.expm1(epsilon - total)
    loss, _, q = enumeration.product(parts)
    assert profile.delta_at(epsilon, loss, profile.tables(loss, q)) == pytest.approx(expected, rel=1e-11, abs=1e-14)
    assert Halves(parts).delta(epsilon) == pytest.approx(expected, rel=1e-11, abs=1e-14)
