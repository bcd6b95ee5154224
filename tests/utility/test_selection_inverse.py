"""The inverse question about choices: answers rest on what only grows or only falls with the parameter."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcore.core.errors import DomainError
from dpcore.utility import PAIRS, Dataset, UtilityPair, pair
from dpcore.utility.choosing import Choosing
from dpcore.utility.median import MedianExponential
from dpcore.utility.quantile import QuantileExponential
from dpcore.utility.survey import Survey
from dpcore.utility.survey_many import SurveyMany

AGES = Dataset.example(401)
OURS = [n for n, cls in PAIRS.items() if issubclass(cls, (Choosing, Survey, SurveyMany, QuantileExponential))]


def number_of(chosen: UtilityPair, data: Dataset, measure: str) -> float:
    (value,) = {f.value for f in chosen.closed_forms(data) if f.measure == measure and f.kind == "exact"}
    return value


def test_inverse_question_of_a_survey() -> None:
    n = AGES.n
    answer = pair("survey_rr").requirement("mse", 0.001, AGES)
    assert answer.value == pytest.approx(2 * math.asinh(1 / math.sqrt(4 * n * 0.001)), rel=1e-9)
    assert pair("survey_rr").requirement("mse", 0.001, AGES, "n").value == math.ceil(Survey(1.0).variance(1) / 0.001)


STEADY = [
    ("median_exponential", "distance", (0.01, 0.05, 0.2)),
    ("quantile_inverse", "miss", (0.1, 0.3, 1.0)),
    ("quantile_inverse", "distance", (0.05, 0.1, 0.3)),
    ("majority_exponential", "miss", (0.02, 0.1, 0.4)),
    ("majority_inverse", "miss", (0.02, 0.1, 0.4)),
    ("mode_exponential", "success", (0.02, 0.1, 0.5)),
    ("mode_laplace", "success", (0.02, 0.1, 0.5)),
    ("survey_rr", "miss", (0.3, 1.0, 2.0)),
    ("survey_rr", "quantile", (0.3, 1.0, 2.0)),
    ("survey_many_rr", "quantile", (0.3, 1.0, 2.0)),
]


@pytest.mark.parametrize(("name", "measure", "epsilons"), STEADY)
def test_promises_for_more_records_are_monotone_and_hold(name: str, measure: str, epsilons: tuple[float, ...]) -> None:
    for epsilon in epsilons:
        chosen = pair(name, epsilon=epsilon)
        better = 1 if chosen.measure_of(measure).larger_is_better else -1
        before = -math.inf
        for n in (1, 7, 40, 41, 42, 43, 101, 402, 1000, 1001, 5000):
            promised = [f for f in chosen.monotone_facts(measure, "n", AGES, n) if f.kind in ("upper", "lower")]
            value = better * max(better * f.value for f in promised)
            assert better * value >= before - 1e-12
            before = better * value
            (exact,) = (f.value for f in chosen.closed_forms(AGES, n) if f.measure == measure and f.kind == "exact")
            assert better * exact >= better * value - 1e-12


@pytest.mark.parametrize("name", [n for n in OURS if n != "answer_rr"])
def test_promises_for_more_epsilon_are_monotone_and_hold(name: str) -> None:
    for measure in pair(name).measures:
        better = 1 if measure.larger_is_better else -1
        before = -math.inf
        for epsilon in np.geomspace(0.003, 8.0, 25):
            chosen = pair(name, epsilon=float(epsilon))
            steady = [f for f in chosen.monotone_facts(measure.name, "epsilon", AGES) if f.measure == measure.name]
            value = better * max(better * f.value for f in steady)
            assert better * value >= before - 1e-12 * abs(before)
            before = better * value
            exact = number_of(chosen, AGES, measure.name)
            assert better * exact >= better * value - 1e-12 * abs(value)


def test_a_distance_may_grow_with_epsilon_and_its_promise_does_not() -> None:
    """Far values above the median are nearly as good as it, near ones below are not: those are given up first."""
    data = Dataset([9.0] * 20 + [10.0] * 2 + [50.0] * 20, 0, 50)
    exact, promised = [], []
    for epsilon in (1e-6, 0.2, 10.0):
        chosen = MedianExponential(epsilon, 51)
        exact.append(number_of(chosen, data, "distance"))
        (fact,) = chosen.monotone_facts("distance", "epsilon", data)
        assert fact.kind == "upper"
        assert fact.value >= exact[-1]
        promised.append(fact.value)
    assert exact[1] > exact[0] > exact[2]
    assert promised == sorted(promised, reverse=True)


def test_the_exact_tail_of_a_survey_goes_up_and_down_with_n_but_the_answer_stays_safe() -> None:
    chosen = pair("survey_rr", within=0.1)
    exact = [
        next(f.value for f in chosen.closed_forms(AGES, n) if (f.measure, f.kind) == ("miss", "exact"))
        for n in range(250, 300)
    ]
    assert np.any(np.diff(exact) > 0)
    enough = chosen.requirement("miss", 0.05, AGES, "n")
    assert enough.kind == "upper"
    for n in range(int(enough.value), int(enough.value) + 30):
        (value,) = (f.value for f in chosen.closed_forms(AGES, n) if (f.measure, f.kind) == ("miss", "exact"))
        assert value <= 0.05


@pytest.mark.parametrize(
    ("name", "measure", "of"),
    [
        ("median_exponential", "rank", "n"),
        ("median_exponential", "miss", "size"),
        ("quantile_exponential", "distance", "level"),
        ("mode_laplace", "gap", "n"),
        ("survey_rr", "miss", "cut"),
        ("threshold_cells", "right", "threshold"),
    ],
)
def test_what_goes_up_and_down_is_not_solved_for(name: str, measure: str, of: str) -> None:
    with pytest.raises(DomainError, match=f"not known to be monotone in {of}"):
        pair(name).requirement(measure, 0.5, AGES, of)


def test_what_can_be_solved_for_besides_epsilon() -> None:
    chosen = pair("scores_exponential", epsilon=2.0)
    wide = chosen.requirement("success", 0.6, AGES, "sensitivity")
    assert number_of(chosen.but(sensitivity=wide.value), AGES, "success") == pytest.approx(0.6, rel=1e-9)
    assert pair("answer_rr", epsilon=1.0).requirement("lie", 0.75, AGES, "size").value == 9  # (m - 1) / (e + m - 1)
    assert pair("median_exponential").requirement("miss", 0.3, AGES, "within").kind == "exact"
