"""Sums on a lattice against exact coefficients and against direct convolution."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.core.effort import effort
from dpcore.core.errors import BudgetError, DomainError
from dpcore.curves.composition import lattice_step
from dpcore.engine import lattice, lattice_windows, profile
from dpcore.engine.binomial import binomial_masses
from dpcore.engine.lattice import LatticeMeasure, lattice_product

REL = 1e-11


def trinomial(epsilon, stay):
    """One DP-TV step: losses -epsilon, 0, epsilon."""
    up, down = (1 - stay) / (1 + np.exp(-epsilon)), (1 - stay) / (1 + np.exp(epsilon))
    return LatticeMeasure(np.array([-1, 0, 1]), np.array([up, stay, down]), np.array([down, stay, up]), epsilon)


def true_trinomial(weights, k, j):
    """Mass of n_plus - n_minus = j with forty digits: neighbouring terms have a simple ratio, summed from the largest."""
    with mp.workdps(40):
        down, stay, up = (mp.mpf(float(w)) / mp.fsum(map(mp.mpf, map(float, weights))) for w in weights)

        def ratio(m):
            still = k - 2 * m - j
            return mp.mpf(still) * (still - 1) / ((m + j + 1) * (m + 1)) * up * down / stay**2

        low, high = max(0, -j), (k - j) // 2
        a, b = low, high
        while b - a > 1:
            middle = (a + b) // 2
            a, b = (middle, b) if ratio(middle) > 1 else (a, middle)
        counts = (b + j, k - 2 * b - j, b)
        log_peak = mp.loggamma(k + 1) - mp.fsum(mp.loggamma(n + 1) for n in counts)
        peak = mp.exp(log_peak + counts[0] * mp.log(up) + counts[1] * mp.log(stay) + counts[2] * mp.log(down))
        total = term = peak
        for m in range(b, high):
            term *= ratio(m)
            total += term
            if term < total * mp.mpf("1e-18"):
                break
        term = peak
        for m in range(b - 1, low - 1, -1):
            term /= ratio(m)
            total += term
            if term < total * mp.mpf("1e-18"):
                break
        return total


@pytest.mark.parametrize(("epsilon", "stay"), [(0.6, 0.45), (0.01, 0.3), (3.0, 0.5), (0.5, 1 - 1e-6), (1.0, 0.01)])
@pytest.mark.parametrize("k", [1, 5, 100, 1500, 5000, 10**5, 10**6])
def test_trinomial_masses(epsilon, stay, k):
    measure = trinomial(epsilon, stay)
    index, p, q, _ = lattice_product([(measure, k)])
    picks = np.unique(np.concatenate([[0, q.size - 1], np.random.default_rng(k).integers(0, q.size, 3)]))
    with mp.workdps(50):
        for j in picks:
            if q[j] > 1e-300:
                truth = true_trinomial(measure.q, k, int(index[j]))
                assert float(abs(mp.mpf(q[j]) / truth - 1)) < REL
    assert np.array_equal(p, q[::-1])
    assert q.sum() == pytest.approx(1.0, abs=1e-13)


@pytest.mark.parametrize(
    ("epsilon", "stay", "k"),
    [(0.8, 6e-8, 480_880), (28.6, 1 - 3.8e-5, 769_345), (0.3, 1e-9, 10**5), (130.0, 0.997, 35_942)],
)
def test_hardly_ever_or_almost_always_staying(epsilon, stay, k):
    """Every other mass is small, or hardly anything happens: relative to the larger neighbour."""
    measure = trinomial(epsilon, stay)
    index, _, q, _ = lattice_product([(measure, k)])
    with mp.workdps(40):
        for j in np.unique(np.concatenate([[1, q.size - 2], np.random.default_rng(k).integers(1, q.size - 1, 4)])):
            if q[j] > 1e-300:
                truth = true_trinomial(measure.q, k, int(index[j]))
                assert float(abs(mp.mpf(q[j]) - truth)) < REL * q[j - 1 : j + 2].max()


# (epsilon, delta, eta, k) and delta' at j epsilon: exact sums with many digits
STATEMENTS = [
    (0.6, 0.05, 0.15, 5, [0.454214860211, 0.31860061901, 0.250526098969, 0.229895651835, 0.226460368676, 0.2262190625]),
    (1.0, 0.0, 0.3, 3, [0.491881700552, 0.242274220509, 0.067571558129, 0.0]),
    (0.6, 0.05, 0.2, 5, [0.51005783, 0.37588657, 0.2845929, 0.2410477, 0.22805148, 0.22621906]),
    (1.0, 0.0, 0.7 * np.tanh(0.5), 5, [0.63108967, 0.43269298, 0.23934495, 0.09537257, 0.02218457, 0.0]),
    (0.6, 0.15, 0.25, 3, [0.53226571, 0.42717598, 0.39078729, 0.385875]),
]


@pytest.mark.parametrize(("epsilon", "delta", "eta", "k", "expected"), STATEMENTS)
def test_published_statements(epsilon, delta, eta, k, expected):
    """The finite part moves with probability (eta - delta) / (tanh(epsilon / 2) (1 - delta)), else stays."""
    stay = 1 - (eta - delta) / (np.tanh(epsilon / 2) * (1 - delta))
    one = trinomial(epsilon, stay)
    part = LatticeMeasure(one.index, (1 - delta) * one.p, (1 - delta) * one.q, epsilon, delta, delta)
    index, _, q, _ = lattice_product([(part, k)])
    loss = index * epsilon
    table = profile.tables(loss, q, 1 - (1 - delta) ** k)
    values = profile.delta_at(np.arange(k + 1) * epsilon, loss, table)
    assert values == pytest.approx(expected, abs=6e-9)


CASES = {
    "upper end": [([0, 1, 2], [0.01, 0.04, 0.95], 5000)],
    "both ends": [([0, 1, 2], [0.45, 0.1, 0.45], 3000)],
    "lower end": [([0, 1, 2], [0.97, 0.02, 0.01], 4000)],
    "skew": [([0, 1, 2], [0.5, 0.499, 0.001], 4000)],
    "gaps": [([0, 3, 5], [0.3, 0.3, 0.4], 1500)],
    "gaps at the end": [([0, 3, 5], [0.05, 0.05, 0.9], 1500)],
    "two parts": [([0, 1, 2], [0.3, 0.3, 0.4], 2000), ([0, 2, 4], [0.2, 0.5, 0.3], 1500)],
    "many and one": [([0, 1, 2], [0.3, 0.3, 0.4], 4000), ([0, 7, 30], [0.2, 0.5, 0.3], 1)],
    "dense": [(range(101), np.exp(-0.5 * np.arange(101)), 120)],
    "hardly any weight": [([0, 1, 2], [0.5, 0.5, 1e-200], 4000)],
}


@pytest.mark.parametrize("name", CASES)
def test_windows_agree_with_direct_convolution(name):
    """Two routes that share nothing: tilted transforms, and products of positive arrays."""
    parts = [(np.array(index), np.array(weight) / np.sum(weight), k) for index, weight, k in CASES[name]]
    start, mass, _ = lattice_windows.sum_law(parts, np.log(1e-310))
    span = sum(int(index[-1]) * k for index, _, k in parts)
    direct, windows = np.zeros(span + 1), np.zeros(span + 1)
    windows[start : start + mass.size] = mass
    at, exact, _ = lattice._direct(parts)
    direct[at : at + exact.size] = exact
    clear = direct > 1e-300
    assert windows[clear] == pytest.approx(direct[clear], rel=REL, abs=0)
    assert np.all(windows[direct == 0] < 1e-315)


def test_unequal_pairs_keep_both_normalisations():
    """P0 and P1 of an asymmetric pair: q = p e^L holds in the product, and each sums to one."""
    q = np.array([0.1, 0.2, 0.3, 0.4])
    index = np.array([-2, -1, 1, 3])
    low, high = 0.0, 1.0
    for _ in range(200):  # the step at which the P0-masses q e^(-index step) sum to one (and not the step 0)
        step = 0.5 * (low + high)
        low, high = (step, high) if np.sum(q * np.exp(-index * step)) < 1 else (low, step)
    measure = LatticeMeasure(index, q * np.exp(-index * step), q, step)
    at, p_k, q_k, _ = lattice_product([(measure, 3000)])
    assert p_k.sum() == pytest.approx(1.0, abs=1e-12)
    assert q_k.sum() == pytest.approx(1.0, abs=1e-12)
    both = (p_k > 1e-290) & (q_k > 1e-290)
    assert both.sum() > 500
    assert np.log(q_k[both] / p_k[both]) == pytest.approx(at[both] * step, abs=1e-9)


@pytest.mark.parametrize(("epsilon", "k"), [(0.1, 700), (0.02, 20_000)])
def test_randomized_response_is_the_binomial_law(epsilon, k):
    one = LatticeMeasure(
        np.array([-1, 1]),
        np.array([1 / (1 + np.exp(-epsilon)), 1 / (1 + np.exp(epsilon))]),
        np.array([1 / (1 + np.exp(epsilon)), 1 / (1 + np.exp(-epsilon))]),
        epsilon,
    )
    index, p, q, _ = lattice_product([(one, k)])
    i, binomial_p, binomial_q = binomial_masses(epsilon, k)
    clear = (binomial_q > 1e-300) & (binomial_p > 1e-300)
    place = np.searchsorted(index, (k - 2 * i)[clear])
    assert np.array_equal(index[place], (k - 2 * i)[clear])
    assert q[place] == pytest.approx(binomial_q[clear], rel=REL, abs=0)
    assert p[place] == pytest.approx(binomial_p[clear], rel=REL, abs=0)


def test_mass_at_infinity_is_left_out_exactly():
    one = trinomial(0.1, 0.5)
    share = 1 - 1e-7
    part = LatticeMeasure(one.index, share * one.p, share * one.q, 0.1, 1e-7, 1e-7)
    _, p, q, _ = lattice_product([(part, 10**5)])
    assert q.sum() == pytest.approx(np.exp(10**5 * np.log1p(-1e-7)), rel=1e-13)
    assert p.sum() == pytest.approx(np.exp(10**5 * np.log1p(-1e-7)), rel=1e-13)
    _, _, q, _ = lattice_product([(LatticeMeasure(one.index, 0.5 * one.p, 0.5 * one.q, 0.1), 10)])
    assert q.sum() == pytest.approx(2.0**-10, rel=1e-13)


def test_nothing_and_single_values():
    assert [a.tolist() for a in lattice_product([])[:3]] == [[0], [1.0], [1.0]]
    one = trinomial(0.1, 0.5)
    assert [a.tolist() for a in lattice_product([(one, 0)])[:3]] == [[0], [1.0], [1.0]]
    certain = LatticeMeasure(np.array([7]), np.ones(1), np.ones(1))
    assert [a.tolist() for a in lattice_product([(certain, 10**6)])[:3]] == [[7 * 10**6], [1.0], [1.0]]
    empty = LatticeMeasure(np.zeros(0, dtype=int), np.zeros(0), np.zeros(0), 0.1)
    assert lattice_product([(empty, 2)])[0].size == 0


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.lists(
                st.tuples(st.integers(-9, 9), st.floats(0.01, 1)), min_size=1, max_size=4, unique_by=lambda t: t[0]
            ),
            st.integers(0, 4),
        ),
        min_size=1,
        max_size=3,
    )
)
def test_small_products_by_listing(parts):
    """Every combination listed one by one."""
    listed = {0: 1.0}
    measures = []
    for unsorted, k in parts:
        pairs = sorted(unsorted)
        total = sum(weight for _, weight in pairs)
        index = np.array([value for value, _ in pairs])
        weight = np.array([weight / total for _, weight in pairs])
        measures.append((LatticeMeasure(index, weight, weight), k))
        for _ in range(k):
            following: dict[int, float] = {}
            for old, mass in listed.items():
                for value, share in zip(index.tolist(), weight.tolist(), strict=True):
                    following[old + value] = following.get(old + value, 0.0) + mass * share
            listed = following
    index, p, q, _ = lattice_product(measures)
    assert index.tolist() == sorted(listed)
    assert q.tolist() == pytest.approx([listed[value] for value in index.tolist()], rel=1e-12)
    assert p.tolist() == pytest.approx(q.tolist(), rel=1e-12)


def test_refusals():
    one, other = trinomial(0.1, 0.5), trinomial(0.2, 0.5)
    with pytest.raises(DomainError, match="same step"):
        lattice_product([(one, 1), (other, 1)])
    with pytest.raises(DomainError, match=r"The number of copies must be an integer in \[0, inf\), got -1"):
        lattice_product([(one, -1)])
    with effort(memory=10**5), pytest.raises(BudgetError, match=r"lattice|transform"):
        lattice_product([(one, 10**9)])


def test_wide_parts_transformed_at_once_agree_with_node_by_node(monkeypatch: pytest.MonkeyPatch) -> None:
    index = np.arange(1030)
    weight = np.exp(-np.abs(index - 500) / 90.0)
    parts = [(index, weight / weight.sum(), 20), (np.arange(4), np.array([0.4, 0.3, 0.2, 0.1]), 7)]
    assert lattice_windows._Sum(parts)._wide
    start, mass, _ = lattice_windows.sum_law(parts, np.log(1e-7))
    monkeypatch.setattr(lattice_windows, "_FEW_COPIES", 0)
    assert not lattice_windows._Sum(parts)._wide
    other_start, other, _ = lattice_windows.sum_law(parts, np.log(1e-7))
    assert start == other_start
    seen = other > 1e-7
    np.testing.assert_allclose(mass[seen], other[seen], rtol=1e-9)


def test_the_step_of_very_many_even_losses_is_found_and_none_in_any_numbers() -> None:
    assert lattice_step([np.arange(-100_000, 100_001) * 1e-5]) == pytest.approx(1e-5, rel=1e-12)
    assert lattice_step([np.array([-0.3, 0.1]), np.array([0.25])]) == pytest.approx(0.05, rel=1e-12)
    assert lattice_step([np.sort(np.random.default_rng(3).uniform(0.0, 1.0, 4000))]) is None
    assert lattice_step([np.array([1.0]), np.array([np.sqrt(2.0)])]) is None
