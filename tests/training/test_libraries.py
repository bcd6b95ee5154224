"""What libraries print: our computation beside numbers that Opacus 1.6.0 and dp-accounting 0.6.0 printed themselves."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcore.training import library_reports, training_run
from dpcore.training.discretised import GridLaw
from dpcore.training.libraries import COLUMNS, LIBRARY_ACCOUNTANTS, LibraryQuestion, library_words

# sigma, q, T, delta: Opacus PRV, RDP, GDP (1.6.0, torch 2.13.0), dp-accounting PLD, RDP (0.6.0)
PRINTED = {
    (1.5, 0.04, 2250, 1e-5): (6.7791320762541165, 7.3291111714386545, 6.6015670901582295, 6.768787373891152, 7.329334702381698),
    (1.0, 0.01, 1000, 1e-5): (1.838371637017295, 2.1013652716430564, 1.6177118087467202, 1.8282436455855091, 2.101366525420273),
    (1.1, 256 / 60_000, 14_063, 1e-5): (2.3918365361863922, 2.5966555286883684, 2.324361662835491, 2.381778812581751, 2.596655529521983),
    (10.0, 1.0, 100, 1e-5): (4.3874132887923745, 4.728507067217623, 4.389877591260578, 4.37717810002493, 4.728507067217623),
    (0.8, 1e-3, 100_000, 1e-6): (2.924621752953501, 3.1878044589946253, 2.8275640696740134, 2.9151371863934283, 3.1878046637866326),
    (0.7, 0.02, 50, 1e-7): (4.763710053993261, 5.636297618373413, 1.7774605219059432, 4.753379462747965, 5.636542512381529),
    (4.0, 0.1, 500, 1e-8): (3.1970365440301376, 3.3744422254751014, 3.1063686109757627, 3.1869297101628082, 3.3744422255148074),
}  # fmt: skip
TRANSFORM = 1e-6  # relative: rounding of a transform, divided by delta
SERIES = 5e-5  # relative: dp-accounting sums a series for orders that are no integers, and rounds it up


@pytest.mark.parametrize("case", PRINTED, ids=str)
def test_the_numbers_that_the_libraries_print(case: tuple[float, float, int, float]) -> None:
    sigma, q, steps, delta = case
    rows = library_reports(training_run("poisson", sigma=sigma, rate=q, steps=steps), delta)
    assert tuple(rows) == COLUMNS
    assert not rows.isna().any().any()
    tolerances = (TRANSFORM, 1e-9, 1e-12, TRANSFORM, SERIES)
    for epsilon, printed, tolerance in zip(rows["epsilon"], PRINTED[case], tolerances, strict=True):
        assert epsilon == pytest.approx(printed, rel=tolerance)
    assert rows["kind"].tolist() == ["approximate", "upper", "approximate", "approximate", "upper"]


def test_every_bound_is_above_the_truth_and_the_limit_is_not() -> None:
    rows = library_reports(training_run("poisson", sigma=0.7, rate=0.02, steps=50), 1e-7).set_index("method")
    assert rows.loc["GDP", "verdict"] == "below the truth"
    assert (rows.drop(index="GDP")["verdict"] == "above the truth").all()
    words = library_words(rows.reset_index().iloc[2], (4.7532, 4.7533))
    assert words == "Opacus, GDP prints about 1.7775, below the truth by at least 2.97: it promises too much."


def test_what_is_not_computed_is_said() -> None:
    run = training_run("poisson", sigma=1.0, rate=0.01, steps=1000)
    rows = library_reports(run, 1e-13)
    missing = rows[rows["verdict"] == "not computed"]
    assert missing["method"].tolist() == ["PRV", "PLD"]
    assert (missing["kind"] == "none").all()
    assert all(math.isinf(value) for value in missing["epsilon"])
    assert "not computed, below δ = 1e-11" in library_words(missing.iloc[0], (1.0, 1.0))
    long = library_reports(training_run("poisson", sigma=0.5, rate=0.5, steps=10**6), 1e-5)
    assert "points" in long.iloc[0]["note"]
    assert long.iloc[0]["verdict"] == "not computed"


def test_a_law_on_a_grid_by_hand() -> None:
    """Randomized response with epsilon = 1: delta(e) = p - e^e (1 - p) with p = e / (1 + e)."""
    p = math.e / (1 + math.e)
    law = GridLaw(-1.0, 1.0, np.array([1 - p, 0.0, p]))
    for epsilon in (0.2, 0.5, 0.9):
        assert law.epsilon(p - math.exp(epsilon) * (1 - p)) == pytest.approx(epsilon, rel=1e-12)
    assert law.epsilon(0.9) == 0.0
    assert GridLaw(-1.0, 1.0, np.array([0.2, 0.0, 0.7]), 0.1).epsilon(0.05) == math.inf


def test_every_accountant_names_its_source() -> None:
    question = LibraryQuestion(training_run("full", sigma=5, steps=10), 1e-5)
    for one in LIBRARY_ACCOUNTANTS:
        assert one.library
        assert one.version
        assert one.reference
        assert one.number(question)[0] > 0
