"""The binomial loss law of randomized response against exact sums."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from dpcore.core.effort import effort
from dpcore.core.errors import BudgetError, DomainError
from dpcore.engine import binomial, profile
from dpcore.engine.binomial import binomial_masses, mass_rounding


def true_mass(epsilon, k, i):
    """C(k, i) e^((k-i) epsilon) / (1 + e^epsilon)^k with eighty digits."""
    with mp.workdps(80):
        e = mp.mpf(epsilon)
        log_count = mp.loggamma(k + 1) - mp.loggamma(i + 1) - mp.loggamma(k - i + 1)
        return mp.exp(log_count - i * e - k * mp.log1p(mp.exp(-e)))


def relative(value, truth):
    with mp.workdps(60):
        return float(abs(mp.mpf(float(value)) / truth - 1))


@pytest.mark.parametrize("epsilon", [0.0, 1e-8, 0.01, 0.6, 3.0, 30.0, 700.0])
@pytest.mark.parametrize("k", [1, 2, 5, 17, 100, 1000, 10**4, 10**6])
def test_masses(epsilon, k):
    index, p, q = binomial_masses(epsilon, k)
    picks = np.random.default_rng(k).integers(0, index.size, 8)
    picks = np.unique(np.concatenate([[0, index.size - 1, int(np.argmax(q))], picks]))
    bound = mass_rounding(q) * 2.0**-53
    errors = [(relative(q[j], true_mass(epsilon, k, int(index[j]))), bound[j]) for j in picks if q[j] > 1e-300]
    assert max(error for error, _ in errors) < 4e-13
    assert all(error <= proved for error, proved in errors)
    assert np.array_equal(p, q[::-1])
    assert np.array_equal(index[::-1], k - index)
    assert q.sum() == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize("epsilon", [1e-4, 2.0, 10.0])
def test_a_thousand_million_answers(epsilon):
    """The deviation from the mean needs more than one double here."""
    k = 10**9
    index, _, q = binomial_masses(epsilon, k, floor=1e-200)
    for j in np.linspace(0, index.size - 1, 9).astype(int):
        if q[j] > 1e-250:
            error = relative(q[j], true_mass(epsilon, k, int(index[j])))
            assert error < 1e-12
            assert error <= mass_rounding(q[j : j + 1])[0] * 2.0**-53


@pytest.mark.parametrize("seed", range(6))
def test_masses_of_random_laws_are_as_exact_as_is_proved(seed):
    rng = np.random.default_rng(seed)
    k = int(10 ** rng.uniform(0.3, 8))
    epsilon = float(10 ** rng.uniform(-6, 2))
    index, _, q = binomial_masses(epsilon, k, floor=1e-290)
    bound = mass_rounding(q) * 2.0**-53
    for j in rng.integers(0, index.size, 12):
        if q[j] > 1e-300:
            assert relative(q[j], true_mass(epsilon, k, int(index[j]))) <= bound[j]


@pytest.mark.parametrize(("epsilon", "k"), [(0.05, 10**5), (2.0, 5000), (0.3, 400)])
def test_the_window_holds_every_mass_above_the_floor(epsilon, k):
    """The largest masses left out are those next to the window's ends."""
    index, p, q = binomial_masses(epsilon, k, floor=1e-200)
    everything, _, all_q = binomial_masses(epsilon, k, full=True)
    assert everything.tolist() == list(range(k, -1, -1))
    left_out = np.setdiff1d(everything, index)
    assert all(max(all_q[k - i], all_q[i]) < 1e-200 for i in left_out)
    assert np.all(np.maximum(p, q) >= 0.99e-200)
    kept = q >= 1e-200
    assert np.array_equal(q[kept], all_q[k - index[kept]])


def test_two_windows_when_the_distributions_hardly_overlap():
    index, p, q = binomial_masses(2.0, 10**5)
    jumps = np.flatnonzero(np.diff(index) != -1)
    assert jumps.size == 1
    assert p[: jumps[0] + 1].sum() == pytest.approx(1.0)
    assert q[jumps[0] + 1 :].sum() == pytest.approx(1.0)


@pytest.mark.parametrize("epsilon", [800.0, 1e5, np.inf])
def test_huge_epsilon_leaves_one_loss_each(epsilon):
    index, p, q = binomial_masses(epsilon, 10)
    assert index.tolist() == [10, 0]
    assert p.tolist() == [1.0, 0.0]
    assert q.tolist() == [0.0, 1.0]


# (epsilon, delta, k), and the (epsilon', delta') of the composition: exact sums by hand with many digits
STATEMENTS = [
    (0.6, 0.05, 5, [(3.0, 0.2262190625), (1.8, 0.286890111785), (0.6, 0.471648769767)]),
    (0.6, 0.1, 4, [(2.4, 0.3439), (1.2, 0.423576843402), (0.0, 0.622485362601)]),
    (1.0, 0.0, 3, [(3.0, 0.0), (1.0, 0.337834712147)]),
]


@pytest.mark.parametrize(("epsilon", "delta", "k", "statements"), STATEMENTS)
def test_published_statements(epsilon, delta, k, statements):
    index, _, q = binomial_masses(epsilon, k)
    finite = (1 - delta) ** k
    loss = (k - 2 * index) * epsilon
    table = profile.tables(loss, finite * q, 1 - finite)
    for at, expected in statements:
        assert profile.delta_at(at, loss, table) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("epsilon", "k"), [(0.1, 1000), (1e-6, 1000), (0.02, 3000)])
def test_whole_profile_against_exact_sums(epsilon, k):
    index, _, q = binomial_masses(epsilon, k)
    loss = (k - 2 * index) * epsilon
    with mp.workdps(60):
        e = mp.mpf(epsilon)
        weight = mp.log1p(mp.exp(-e)) * k
        terms = [mp.binomial(k, i) * mp.exp(-i * e - weight) for i in range(k // 2 + 1)]
        for j in sorted({0, k // 50, k // 10, k // 5, 2 * k // 5, k // 2 - 1}):
            at = (k - 2 * (j + 1)) * epsilon
            truth = mp.fsum(terms[i] * -mp.expm1(mp.mpf(at) - (k - 2 * i) * e) for i in range(j + 1))
            value = profile.delta_at(at, loss, profile.tables(loss, q))
            if truth > mp.mpf("1e-300"):
                # a loss is a rounded number: half a unit of it, relative to the distance to the next loss
                assert relative(value, truth) < 1e-12 + 4e-16 * abs(at) / (2 * epsilon)


def test_stirling_error():
    n = np.array([1, 2, 3, 9, 15, 16, 17, 40, 1e3, 1e6, 1e9])
    with mp.workdps(60):
        truth = [
            mp.loggamma(mp.mpf(x) + 1) - (mp.mpf(x) + 0.5) * mp.log(x) + mp.mpf(x) - mp.log(2 * mp.pi) / 2 for x in n
        ]
    values = binomial.stirling_error(n)
    assert max(relative(v, t) for v, t in zip(values, truth, strict=True)) < 2e-15


def test_deviance():
    x = np.array([1.0, 5.0, 100.0, 1e6, 1e6, 1e6, 3.0, 2.0])
    mean = np.array([1.0, 5.0000001, 80.0, 999_000.0, 700_000.0, 2e6, 1e-290, 7.0])
    values = binomial.deviance(x, mean, x - mean)
    with mp.workdps(60):
        for value, a, b in zip(values, x, mean, strict=True):
            truth = mp.mpf(a) * mp.log(mp.mpf(a) / mp.mpf(b)) + mp.mpf(b) - mp.mpf(a)
            assert abs(float(mp.mpf(float(value)) - truth)) <= 2e-15 * float(truth)


@pytest.mark.parametrize(("epsilon", "k"), [(-0.1, 3), (np.nan, 3), (1.0, 0), (1.0, 2.5), (1.0, np.inf)])
def test_values_outside_the_domain(epsilon, k):
    with pytest.raises(DomainError, match="must be"):
        binomial_masses(epsilon, k)


def test_memory_is_claimed_before_it_is_used():
    with effort(memory=10**6), pytest.raises(BudgetError, match="binomial law"):
        binomial_masses(0.01, 10**9)
