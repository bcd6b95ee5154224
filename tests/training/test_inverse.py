"""The inverse questions of training: the answer meets the target and the next number does not."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpcore.core.errors import BudgetError, DomainError
from dpcore.training import TrainingRun, solve_training, training_run

TARGET = {"epsilon": 2.0, "delta": 1e-5}


def delta(run: TrainingRun) -> tuple[float, float]:
    low, high = run.region.delta_bounds(np.array([2.0]))
    return float(low[0]), float(high[0])


def test_noise() -> None:
    target = solve_training("poisson", rate=0.01, steps=1000, **TARGET)
    assert target.unknown == "sigma"
    assert delta(target.run)[1] <= 1e-5
    assert delta(replace(target.run, sigma=target.value * (1 - 1e-4)))[0] > 1e-5
    assert target.run.sigma == target.value


@pytest.mark.parametrize(
    ("numbers", "unknown", "step"),
    [
        ({"rate": 0.01}, "steps", 1),
        ({"examples": 60_000, "batch": 256}, "steps", 1),
        ({"examples": 60_000, "epochs": 15}, "batch", 1),
        ({"examples": 60_000, "steps": 1000}, "batch", 1),
        ({"batch": 256, "epochs": 15}, "examples", -1),
        ({"batch": 256, "steps": 1000}, "examples", -1),
        ({"batch": 256, "epochs": Fraction(31, 2)}, "examples", -1),
    ],
)
def test_the_next_number_does_not_meet_the_target(numbers: dict[str, Any], unknown: str, step: int) -> None:
    target = solve_training("poisson", sigma=1.1, **numbers, **TARGET)
    assert target.unknown == unknown
    assert delta(target.run)[1] <= 1e-5
    assert training_run("poisson", sigma=1.1, **{**numbers, unknown: int(target.value)}).region == target.run.region
    following = training_run("poisson", sigma=1.1, **{**numbers, unknown: int(target.value) + step})
    assert delta(following)[1] > 1e-5


def test_full_batches() -> None:
    assert solve_training("full", sigma=20, **TARGET).run.steps == 100
    target = solve_training("full", epochs=100, **TARGET)
    assert target.value == pytest.approx(20, rel=0.01)
    assert delta(target.run)[1] <= 1e-5


def test_all_records_may_be_in_a_batch() -> None:
    target = solve_training("poisson", sigma=100, examples=1000, steps=3, **TARGET)
    assert (target.unknown, target.value) == ("batch", 1000.0)
    assert target.words.endswith("all records are in it.")


def test_what_cannot_be_solved_is_said() -> None:
    with pytest.raises(DomainError, match="A target leaves one number open"):
        solve_training("poisson", sigma=1, rate=0.01, steps=10, **TARGET)
    with pytest.raises(BudgetError, match=r"Even a batch of 1 exceeds ε = 0\.001"):
        solve_training("poisson", sigma=0.3, examples=10, steps=100, epsilon=1e-3, delta=1e-9)
    with pytest.raises(BudgetError):
        solve_training("full", sigma=0.3, **TARGET)
    with pytest.raises(DomainError, match="target epsilon must be"):
        solve_training("poisson", epsilon=-1, rate=0.01, steps=10)
