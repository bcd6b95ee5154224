"""Blocking: Table 5.2 reproduced, and why it proves nothing about the median."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from dpcore.core.errors import DomainError
from dpcore.labs import blocking, lab

if TYPE_CHECKING:
    from collections.abc import Callable

HALF = 0.5  # width of the two blocks of [0, 1] in the brute force


def uniform(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return 100 * rng.random(shape)


def skewed(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return np.minimum(rng.exponential(10.0, shape), 100.0)


# --- the estimates -------------------------------------------------------------------------------------------------


def test_block_medians_against_a_loop() -> None:
    rng = np.random.default_rng(0)
    rows = np.append(skewed(rng, (6, 40)), np.full((6, 1), 100.0), axis=1)  # the top end belongs to the last block
    found = blocking.block_medians(rows, 100.0, 7)
    for i, row in enumerate(rows):
        for k in range(7):
            top = row <= 100 if k == 6 else row < (k + 1) * 100 / 7
            block = row[(row >= k * 100 / 7) & top]
            if block.size:
                assert found[i, k] == pytest.approx(np.median(block))
            else:
                assert np.isnan(found[i, k])


def test_by_index_drops_what_is_left_over() -> None:
    row = np.array([1.0, 5, 2, 8, 4, 9, 1000])
    assert blocking.by_index(row, 2)[0] == pytest.approx((np.median(row[:3]) + np.median(row[3:6])) / 2)


@pytest.mark.parametrize("m", [5, 10, 20])
def test_block_dp_1_answers_the_middle_of_the_range_on_any_data(m: int) -> None:
    rng = np.random.default_rng(m)
    reach = blocking.reach(100.0, m)
    for draw in (uniform, skewed, lambda r, s: 100 * r.beta(30, 1, s), lambda _, s: np.full(s, 93.0)):
        answers = blocking.by_value(draw(rng, (50, 300)), 100.0, m)
        assert np.abs(answers - 50).max() <= reach * (1 + 1e-12)


def test_skewed_counter_example() -> None:
    rng = np.random.default_rng(5)
    found = blocking.estimates(skewed, 1000, 100.0, (5, 10, 20), 300, rng, "skip")
    for m, centre in ((5, 38.1), (10, 37.1), (20, 34.5)):
        one, two = (blocking.summarise(values, 10 * math.log(2)) for values in found[m])
        assert (
            abs(one.centre - centre) < 4 * one.centre_error * math.sqrt(1 + 300 / 1000) + 0.05
        )  # an oracle by simulation
        assert one.centre > 30 > two.centre
        assert two.centre == pytest.approx(6.93, abs=0.2)


def test_closed_form_for_uniform_data() -> None:
    rng = np.random.default_rng(6)
    found = blocking.estimates(uniform, 203, 100.0, (1, 5, 20), 3000, rng)
    for m, (one, two) in found.items():
        first = blocking.summarise(one, 50.0, blocking.noise_by_value(100.0, m, 1.0))
        second = blocking.summarise(two, 50.0, blocking.noise_by_index(100.0, m, 1.0))
        assert abs(first.mse - blocking.uniform_by_value(100.0, 203, m, 1.0)) < 4 * first.mse_error
        assert abs(second.mse - blocking.uniform_by_index(100.0, 203, m, 1.0)) < 4 * second.mse_error


def test_variance_of_a_median_of_uniforms() -> None:
    assert blocking.median_variance(1) == pytest.approx(1 / 12)
    assert blocking.median_variance(2) == pytest.approx(1 / 24)  # the mean of two
    assert blocking.median_variance(3) == pytest.approx(1 / 20)  # beta(2, 2)
    assert blocking.median_variance(0) == 0


# --- Table 5.2 -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", sorted(blocking.TABLE))
def test_table_5_2_within_error(m: int) -> None:
    exact = blocking.uniform_by_value(100.0, 1000, m, 1.0), blocking.uniform_by_index(100.0, 1000, m, 1.0)
    drawn = blocking.noise_by_value(100.0, m, 1.0), blocking.noise_by_index(100.0, m, 1.0)
    for at in (0, 1):
        error = blocking.table_error(drawn[at], exact[at] - drawn[at], (m, 1)[at])
        assert abs(blocking.TABLE[m][at] - exact[at]) < 2 * error
        assert abs(blocking.TABLE[m][at] - exact[at]) < 0.15 * exact[at]


@pytest.mark.parametrize(("m", "centre"), [(5, 0.097), (10, 0.024), (15, 0.011), (20, 0.006)])
def test_variance_of_the_centre(m: int, centre: float) -> None:
    """Both were simulated, 1000 runs each: a variance then has the relative error sqrt(2/1000)."""
    found = blocking.uniform_by_value(100.0, 1000, m, 1.0) - blocking.noise_by_value(100.0, m, 1.0)
    assert centre == pytest.approx(found, abs=4 * found * math.sqrt(2 / 1000) + 0.0005)
    theory, drawn = blocking.uniform_by_index(100.0, 1000, m, 1.0), blocking.noise_by_index(100.0, m, 1.0)
    error = (theory - drawn) * math.sqrt(2 / 1000)
    assert {5: 802.35, 10: 202.49, 15: 91.36, 20: 52.28}[m] == pytest.approx(theory, abs=4 * error + 0.005)


def test_standard_error_of_a_simulated_error() -> None:
    rng = np.random.default_rng(7)
    squares = rng.laplace(size=400_000) ** 2
    assert squares.std() == pytest.approx(blocking.table_error(2.0, 0.0, 1, 1), rel=0.03)
    means = rng.laplace(size=(200_000, 5)).mean(axis=1)
    assert (means**2).std() == pytest.approx(blocking.table_error(0.4, 0.0, 5, 1), rel=0.03)
    moved = (means + rng.normal(0.0, 0.7, means.size)) ** 2
    assert moved.std() == pytest.approx(blocking.table_error(0.4, 0.49, 5, 1), rel=0.03)


# --- privacy -------------------------------------------------------------------------------------------------------


def joint_move(answer: Callable[[list[float]], float], n: int) -> float:
    """Return the largest l1 move of the answers of two blocks, in widths, when one record is substituted."""
    grid = (0.0, 0.25, HALF - 1e-9, HALF, 0.75, 1.0)

    def answers(x: tuple[float, ...]) -> np.ndarray:
        blocks = [sorted(v for v in x if v < HALF), sorted(v for v in x if v >= HALF)]
        return np.array([answer(b) if b else 0.25 + k * HALF for k, b in enumerate(blocks)])

    found = 0.0
    for x in itertools.combinations_with_replacement(grid, n):
        here = answers(x)
        for j, y in itertools.product(range(n), grid):
            found = max(found, float(np.abs(here - answers((*x[:j], y, *x[j + 1 :]))).sum()))
    return found / HALF


def test_theorem_5_4_2_is_false_for_minima_and_holds_for_medians() -> None:
    for n in (2, 3, 4):
        assert joint_move(lambda b: float(np.median(b)), n) == pytest.approx(1.0, abs=1e-6)
    assert joint_move(min, 4) == pytest.approx(2.0, abs=1e-6)
    assert joint_move(lambda b: b[(len(b) - 1) // 2], 3) == pytest.approx(2.0, abs=1e-6)  # the lower of two middle ones
    rows = {row["quantity"].split(" when")[0]: row for row in lab("blocking").table().to_dict("records")}
    assert rows["largest loss of block minima"]["value"] == pytest.approx(2.0)
    assert rows["largest loss of block medians"]["value"] == pytest.approx(1.0)


def test_delta_of_theorem_5_4_3_is_spurious() -> None:
    assert blocking.printed_blocking_delta(1.0, math.log(2)) == pytest.approx(0.801438, abs=1e-6)


def test_skipping_empty_blocks_is_not_private() -> None:
    """One record alone in its block: when it leaves, the mean of the blocks left moves by more than a width over m."""
    here, there = ([[1.0, 2.0, 99.0]], [[1.0, 2.0, 3.0]])
    skipped, middle = (
        abs(blocking.by_value(here, 100.0, 10, empty)[0] - blocking.by_value(there, 100.0, 10, empty)[0])
        for empty in ("skip", "middle")
    )
    assert middle <= 100 / 10 / 10
    assert skipped > 40 > 100 / 10


def test_block_mean_with_one_record_is_not_private() -> None:
    assert blocking.small_block_loss(1000, 10, 1.0) == 50.0  # moved by 100 / 10, noise of scale 2 * 100 / 1000


# --- the lab -------------------------------------------------------------------------------------------------------


def test_the_first_view_shows_both_sides() -> None:
    frame = lab("blocking", replications=40).view("error").frame
    at = frame[frame["x"] == 20].set_index("series")["y"]
    assert at["by value, uniform data"] < at["by index, uniform data"]
    assert at["by value, skewed data"] > 10 * at["by index, skewed data"]


def test_bad_values_are_refused() -> None:
    with pytest.raises(DomainError, match=r"share must be a number in \[0.01, 1\], got 2"):
        lab("blocking", share=2.0)
    with pytest.raises(DomainError, match="empty must be one of middle, skip"):
        blocking.by_value([[1.0]], 2.0, 2, "zero")
    with pytest.raises(DomainError, match="m must be an integer"):
        blocking.by_index([[1.0]], 0)
