"""A sample of ``make verify``: random products are certified, and the checker refutes none."""

from __future__ import annotations

import random

import pytest

from dpcore import parse
from dpcore.frames import deltas
from tests.certificates import sweep


def asked(questions: list[sweep.Question]) -> sweep.Tally:
    tally = sweep.Tally()
    for text, at in questions:
        tally.ask(text, at)
    return tally


def test_random_products_are_proved_or_the_reason_is_said() -> None:
    rng = random.Random(3)
    questions = [sweep.random_question(rng) for _ in range(60)]
    few = [(text, at) for text, at in questions if "poisson" not in text and "alpha" not in at][:15]
    tally = asked(few)
    assert not tally.refuted
    assert tally.proved >= 12
    assert tally.largest < 5000


@pytest.mark.parametrize(("text", "epsilon"), [("gaussian(35.3)", 7.546), ("gaussian(20)^9", 5.709)])
def test_deltas_below_the_normal_doubles_are_bounds(text: str, epsilon: float) -> None:
    """Once refuted: published as exact with the few digits of such doubles, or as 0."""
    row = deltas(parse(text), [epsilon]).iloc[0]
    assert (row["kind"], row["delta_lower"]) == ("upper", 0.0)
    assert asked([(text, {"epsilon": epsilon})]).proved == 1


def test_samples_of_large_losses() -> None:
    """Once an overflow: e^epsilon is above all doubles."""
    tally = asked([("subsample(dp(1)^900, 0.25)", {"epsilon": 750.0}), ("subsample(dp(1)^900, 0.25)", {"delta": 1e-9})])
    assert tally.proved == 2


def test_discrete_noise() -> None:
    tally = asked([("discrete_gaussian(2)^10", {"epsilon": 1.0}), ("discrete_gaussian(10)^1000", {"delta": 1e-6})])
    assert tally.proved == 2


def test_a_false_number_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    from dpcore.curves.polygon import Polygon

    true = Polygon.delta_bounds
    monkeypatch.setattr(Polygon, "delta_bounds", lambda self, at: tuple(0.999 * side for side in true(self, at)))
    tally = asked([("dp(0.5, 0.01)^20", {"epsilon": 1.0})])
    assert len(tally.refuted) == 1


@pytest.mark.long
def test_the_benchmark_and_the_presets() -> None:
    for questions in (sweep.benchmark_questions()[::9], sweep.preset_questions()[::14]):
        tally = asked(questions)
        assert not tally.refuted
        assert tally.proved > len(questions) / 3
