"""`assert_private` in a stranger's test: what it finds, how often it is wrong, and what it refuses."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from dpcore import DomainError
from dpcore.audit import assert_private

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.random import Generator

LOW, HIGH = [1, 0, 1], [1, 0, 1, 1]


def count(data: list[int], generator: Generator) -> float:
    return sum(data) + float(generator.laplace())


def half_the_noise(data: list[int], generator: Generator) -> float:
    return sum(data) + float(generator.laplace(scale=0.5))


def vector(data: list[int], generator: Generator) -> np.ndarray:
    return np.array([sum(data), len(data)]) + generator.normal(size=2, scale=2.0)


def answer(data: list[int], generator: Generator) -> str:
    truth = generator.random() < math.e / (1 + math.e)
    return "yes" if bool(data[-1]) == truth else "no"


@pytest.mark.parametrize(
    ("mechanism", "claim", "without", "within"),
    [
        (count, "laplace(1)", LOW, HIGH),
        (vector, "gaussian(2, sqrt(2))", LOW, HIGH),
        (answer, "rr(1)", [0], [1]),
        (lambda _, generator: generator.normal(), "dp(0)", LOW, HIGH),
    ],
)
def test_true_claims_pass(mechanism, claim, without, within) -> None:
    assert not assert_private(mechanism, claim, without, within, trials=4000).contradicted


@pytest.mark.parametrize(
    ("mechanism", "claim", "without", "within"),
    [
        (half_the_noise, "laplace(1)", LOW, HIGH),
        (vector, "gaussian(4, sqrt(2))", LOW, HIGH),
        (answer, "rr(0.5)", [0], [1]),
        (lambda data, generator: math.nan if len(data) > 3 and generator.random() < 0.5 else 0.0, "dp(1)", LOW, HIGH),
    ],
)
def test_false_claims_fail(mechanism, claim, without, within) -> None:
    with pytest.raises(AssertionError, match=r"is contradicted with 99\.9999 % confidence"):
        assert_private(mechanism, claim, without, within)


def test_the_error_is_the_stated_one() -> None:
    """At 50 % confidence a true claim at its limit fails in at most half of the runs, here in far fewer."""
    failed = 0
    for seed in range(60):
        try:
            assert_private(count, "laplace(1)", LOW, HIGH, trials=400, confidence=0.5, seed=seed)
        except AssertionError:
            failed += 1
    assert failed <= 30


def test_the_same_seed_gives_the_same_verdict() -> None:
    first, second = (assert_private(count, "laplace(1)", LOW, HIGH, trials=500, seed=3) for _ in range(2))
    assert (first.alpha, first.power) == (second.alpha, second.power)


def test_a_score_of_ones_own() -> None:
    with pytest.raises(AssertionError):
        assert_private(
            lambda data, _: {"size": len(data)}, "dp(3)", LOW, HIGH, trials=2000, score=lambda one: one["size"]
        )


def test_what_is_refused() -> None:
    with pytest.raises(DomainError, match="trials must be"):
        assert_private(count, "laplace(1)", LOW, HIGH, trials=5)
    with pytest.raises(DomainError, match="region must be"):
        assert_private(count, 1.0, LOW, HIGH)
    with pytest.raises(DomainError, match="otherwise give a score"):
        assert_private(lambda _, generator: f"x{generator.random()}", "dp(1)", LOW, HIGH, trials=200)


def test_a_strangers_test_file(tmp_path: Path) -> None:
    """A file that knows only numpy and dpcore, run by pytest without anything of this repository."""
    (tmp_path / "test_release.py").write_text(
        "from dpcore.audit import assert_private\n"
        "def noisy(data, rng):\n    return sum(data) + rng.laplace(scale=1.0)\n"
        "def test_kept():\n    assert_private(noisy, 'laplace(1)', [1, 0], [1, 0, 1], trials=2000)\n"
        "def test_broken():\n    assert_private(noisy, 'laplace(0.2)', [1, 0], [1, 0, 1])\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null", str(tmp_path)],
        capture_output=True, text=True, check=False, cwd=tmp_path, env={"PATH": "", "PYTHONPATH": str(_root())},
    )  # fmt: skip
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "The claim laplace(0.2) is contradicted" in done.stdout


def _root() -> Path:
    from pathlib import Path as Folder

    import dpcore

    return Folder(dpcore.__file__).parents[1]
