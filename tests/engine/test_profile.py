"""The profile of a finite loss distribution against its definition in high precision."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.core.errors import DomainError
from dpcore.engine import profile

REL = 1e-13


def definition(loss, q, q_inf, epsilon):
    """Sum the definition with 60 digits."""
    with mp.workdps(60):
        return [
            mp.mpf(q_inf)
            + mp.fsum(mp.mpf(b) * -mp.expm1(mp.mpf(e) - mp.mpf(a)) for a, b in zip(loss, q, strict=True) if a > e)
            for e in map(float, epsilon)
        ]


def worst(values, truth):
    with mp.workdps(60):
        return max(
            float(abs(mp.mpf(float(v)) / t - 1)) if t else float(abs(v)) for v, t in zip(values, truth, strict=True)
        )


@pytest.mark.parametrize("n", [1, 2, 3, 5, 16, 17, 100, 401])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 100.0, 1e4])
def test_any_spacing_and_masses_over_280_decades(n, scale):
    rng = np.random.default_rng(n)
    loss = np.sort(rng.normal(size=n)) * scale
    q = rng.random(n) * 10.0 ** -rng.uniform(0, 280, n)
    epsilon = np.concatenate([loss[rng.integers(0, n, 5)], rng.normal(size=5) * scale, [loss[0] - 1]])
    table = profile.tables(loss, q, 1e-290)
    assert worst(profile.delta_at(epsilon, loss, table), definition(loss, q, 1e-290, epsilon)) < REL
    assert worst(table.delta[:-1][::97], definition(loss, q, 1e-290, loss[::97])) < REL


def test_tiny_losses_keep_their_digits():
    """Where the difference of the P1-sum and the P0-sum loses eleven digits (losses of 1e-6, a thousand of them)."""
    k, unit = 1000, 1e-6
    loss = (np.arange(-k, k + 1, 2)) * unit
    with mp.workdps(40):
        q = np.array(
            [float(mp.binomial(k, i) / (1 + mp.exp(-unit)) ** k * mp.exp(-i * mp.mpf(unit))) for i in range(k + 1)]
        )
    q = q[::-1]
    epsilon = np.array([-5e-4, -1e-5, 0.0, 1e-6, 3.3e-5, 2e-4, 5e-4, 9.9e-4])
    table = profile.tables(loss, q)
    assert worst(profile.delta_at(epsilon, loss, table), definition(loss, q, 0.0, epsilon)) < 2e-14


def test_a_long_uniform_lattice_does_not_drift():
    """One heavy atom on top of a million weightless ones: the recurrence must carry it all the way down."""
    n = 1_000_000
    loss = np.arange(n) * 1e-6
    q = np.zeros(n)
    q[-1] = 1.0
    table = profile.tables(loss, q)
    at = np.array([0, 1, 12_345, 500_000, 999_998])
    assert worst(table.delta[at], definition(loss[-1:], q[-1:], 0.0, loss[at])) < REL
    assert worst(table.discounted[at], [mp.exp(mp.mpf(loss[j]) - mp.mpf(loss[-1])) for j in at]) < REL


def test_no_atoms_one_atom_and_infinite_epsilon():
    empty = np.zeros(0)
    table = profile.tables(empty, empty, 0.25)
    assert profile.delta_at([-np.inf, 0.0, np.inf], empty, table).tolist() == [0.25, 0.25, 0.25]
    one = np.array([0.5])
    table = profile.tables(one, np.array([0.75]), 0.25)
    assert profile.delta_at([-np.inf, 0.5, np.inf], one, table).tolist() == [1.0, 0.25, 0.25]
    assert profile.delta_at(0.0, one, table) == pytest.approx(0.25 + 0.75 * (1 - np.exp(-0.5)), rel=1e-15)
    assert profile.delta_at(np.zeros((2, 3)), one, table).shape == (2, 3)


def test_distances_beyond_the_range_of_exp():
    loss = np.array([-1e308, -800.0, 0.0, 800.0, 1e308])
    q = np.array([0.1, 0.2, 0.3, 0.25, 0.15])
    table = profile.tables(loss, q)
    assert profile.delta_at([-np.inf, -5000.0, -100.0, 100.0, 5000.0], loss, table) == pytest.approx(
        [1.0, 0.9, 0.7, 0.4, 0.15], rel=1e-15
    )


def test_one_loss_far_above_the_others_does_not_blur_them():
    loss = np.array([-1.5e308, 0.0, 0.25, 0.5, 1.0, 1e20, 1e308])
    q = np.array([0.1, 0.2, 0.2, 0.2, 0.2, 0.1, 0.0])
    epsilon = np.array([-0.5, 0.1, 0.25, 0.7])
    table = profile.tables(loss, q)
    assert worst(profile.delta_at(epsilon, loss, table), definition(loss, q, 0.0, epsilon)) < 1e-15


def test_input_that_cannot_be_meant_is_refused():
    one = np.array([0.5])
    with pytest.raises(DomainError, match="same length"):
        profile.tables(one, np.array([0.5, 0.5]))
    with pytest.raises(DomainError, match="nan"):
        profile.delta_at([np.nan], one, profile.tables(one, one))


@pytest.mark.parametrize("n", [0, 1, 7, 1000, 4567])
def test_suffix_sums(n):
    values = np.random.default_rng(n).random(n) * 10.0 ** -np.linspace(0, 250, n)
    sums = profile.suffix_sums(values)
    assert sums.size == n + 1
    assert sums[n] == 0.0
    for j in range(0, n, max(1, n // 50)):
        assert sums[j] == pytest.approx(float(mp.fsum(map(mp.mpf, values[j:]))), rel=1e-14)


@pytest.mark.parametrize("n", [1, 1000, 1025, 1599, 40_000])
def test_the_rounding_of_suffix_sums_is_bounded(n):
    """Terms of 1/3 that are rounded the same way each time, and random ones."""
    for values in (np.full(n, 1.0 / 3.0), np.random.default_rng(n).random(n)):
        sums = profile.suffix_sums(values)
        for j in range(0, n, max(1, n // 20)):
            truth = math.fsum(values[j:])
            assert abs(sums[j] - truth) <= profile.suffix_rounding(n) * 2.0**-53 * truth


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.floats(-50, 50), st.floats(0, 1)), min_size=1, max_size=40, unique_by=lambda pair: pair[0]),
    st.floats(0, 1),
)
def test_profile_is_decreasing_and_convex_in_exp_epsilon(pairs, q_inf):
    loss, q = (np.array(column) for column in zip(*sorted(pairs), strict=True))
    table = profile.tables(loss, q, q_inf)
    price = np.linspace(0.01, 20, 60)
    values = profile.delta_at(np.log(price), loss, table)
    slack = 1e-12 * (values[0] + 1e-300)
    assert np.all(np.diff(values) <= slack)
    assert np.all(values[2:] + values[:-2] - 2 * values[1:-1] >= -slack)
    assert profile.delta_at(np.inf, loss, table) == q_inf
