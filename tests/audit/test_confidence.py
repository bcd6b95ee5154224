"""Confidence limits: exact by a second route, right as often as they promise, for one test and for all thresholds."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.special import smirnov

from dpcore.audit import confidence
from dpcore.audit.confidence import chance_of_a_miss, local_level, ranks, simultaneous_limits, upper_limits
from dpcore.core.errors import DomainError

LEVEL = 0.025


@pytest.mark.parametrize(("trials", "distance"), [(1, 0.4), (5, 0.3), (50, 0.15), (400, 0.06), (400, 0.11)])
def test_the_recursion_agrees_with_the_exact_law_of_smirnov(trials: int, distance: float) -> None:
    """U_(i) <= (i - 1)/n + d for every i says that the empirical distribution is never d below the true one."""
    watched = ranks(trials)
    limits = np.minimum((watched - 1) / trials + distance, 1.0)
    assert chance_of_a_miss(limits, watched, trials) == pytest.approx(smirnov(trials, distance), rel=1e-9)


def test_the_recursion_by_hand() -> None:
    both = chance_of_a_miss(np.array([0.3, 0.8]), np.array([1, 2]), 2)
    assert 1 - both == pytest.approx(0.3 * (2 * 0.8 - 0.3), rel=1e-13)  # area of the pairs below both limits
    middle = chance_of_a_miss(np.array([0.6]), np.array([2]), 3)
    assert 1 - middle == pytest.approx(3 * 0.6**2 - 2 * 0.6**3, rel=1e-13)  # at least 2 of 3 below 0.6
    assert chance_of_a_miss(np.array([0.0]), np.array([1]), 3) == 1.0
    assert chance_of_a_miss(np.array([1.0]), np.array([3]), 3) == pytest.approx(0.0, abs=1e-14)


def test_both_ways_to_convolve_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = ranks(300)
    limits = confidence._quantiles(watched, 300, 1e-3)
    direct = chance_of_a_miss(limits, watched, 300)
    monkeypatch.setattr(confidence, "_DIRECT", 0)
    assert chance_of_a_miss(limits, watched, 300) == pytest.approx(direct, rel=1e-9)


@pytest.mark.parametrize(("errors", "trials", "level"), [(0, 7, 0.05), (3, 40, 1e-3), (39, 40, 0.5), (2, 10**6, 1e-9)])
def test_clopper_and_pearson_by_the_binomial_sum(errors: int, trials: int, level: float) -> None:
    limit = float(upper_limits(np.array([errors]), trials, level)[0])
    with mpmath.workdps(40):
        rate = mpmath.mpf(limit)
        chance = sum(mpmath.binomial(trials, j) * rate**j * (1 - rate) ** (trials - j) for j in range(errors + 1))
        assert level * (1 - 1e-6) <= chance <= level


def test_one_test_is_right_as_often_as_promised_whatever_the_rate_is() -> None:
    trials = 25
    limits = upper_limits(np.arange(trials + 1), trials, LEVEL)
    assert limits[-1] == 1.0
    assert np.all(np.diff(limits) >= 0)
    for rate in np.linspace(0.001, 0.999, 333):
        law = [math.comb(trials, j) * rate**j * (1 - rate) ** (trials - j) for j in range(trials + 1)]
        assert sum(p for p, limit in zip(law, limits, strict=True) if limit < rate) <= LEVEL


@pytest.mark.parametrize(("trials", "runs"), [(1, 4000), (12, 4000), (80, 4000), (3000, 1000)])
def test_all_thresholds_together_miss_as_often_as_promised(trials: int, runs: int) -> None:
    """The event behind every threshold, drawn: its frequency is the level asked, not more and hardly less."""
    rng = np.random.default_rng(20)
    sorted_uniform = np.sort(rng.random((runs, trials)), axis=1)
    limits = simultaneous_limits(np.arange(trials), trials, LEVEL)
    missed = float(np.mean((sorted_uniform > limits).any(axis=1)))
    error = math.sqrt(LEVEL * (1 - LEVEL) / runs)
    assert missed <= LEVEL + 3 * error
    assert missed >= 0.9 * LEVEL - 4 * error


def test_the_common_level_lies_between_one_test_and_the_union_bound() -> None:
    levels = [local_level(trials, LEVEL) for trials in (1, 10, 100, 1000, 20_000)]
    assert levels == sorted(levels, reverse=True)
    assert levels[0] == pytest.approx(LEVEL, rel=0.02)
    assert levels[3] == pytest.approx(LEVEL / 47, rel=0.02)  # said in the guide
    assert levels[4] > LEVEL / 100
    for trials, level in ((5, 0.4), (300, 1e-6)):
        watched = ranks(trials)
        found = confidence._quantiles(watched, trials, local_level(trials, level))
        assert 0.9 * level <= chance_of_a_miss(found, watched, trials) <= level


def test_of_many_trials_some_ranks_are_watched_on_the_safe_side() -> None:
    watched = ranks(50_000)
    assert watched.size < 1700
    assert watched[0] == 1
    assert watched[-1] == 50_000
    limits = simultaneous_limits(np.arange(50_001), 50_000, LEVEL)
    single = upper_limits(np.arange(50_001), 50_000, LEVEL)
    assert np.all(limits >= single)
    assert np.all(np.diff(limits) >= 0)
    assert limits[-1] == 1.0
    assert limits[25_000] - 0.5 < 4.2 * 0.5 / math.sqrt(50_000)  # a little more than 3.4 standard deviations


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: upper_limits(np.array([0]), 0, 0.1), "number of trials must be an integer in"),
        (lambda: simultaneous_limits(np.array([0]), 10**8, 0.1), "got 100000000"),
        (lambda: local_level(5, 0.0), r"level of a limit must be a number in \[1e-12, 1\)"),
        (lambda: upper_limits(np.array([0]), 5, math.nan), "got nan"),
    ],
)
def test_wrong_questions_are_explained(call: Any, words: str) -> None:
    with pytest.raises(DomainError, match=words):
        call()
