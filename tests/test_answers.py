"""Inverse questions: every answer meets its requirement, a little less noise would not, and errors are those of draws."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpcore import parse
from dpcore.calibration.answers import (
    COLUMNS,
    COUNT,
    NOISE,
    PRIVACY,
    RECORDS,
    UNKNOWNS,
    Question,
    answers,
    ladder,
    regions,
    table,
)
from dpcore.calibration.candidates import candidates
from dpcore.calibration.requirements import Advantage, AttackRates, EpsilonDelta, Posterior
from dpcore.calibration.sentences import best, verdict, words
from dpcore.core.effort import effort
from dpcore.core.errors import DomainError
from dpcore.mechanisms.staircase import Staircase
from dpcore.risk import best_posterior

RESPONSE, SAMPLED = "rr", "poisson_gaussian"
MISS = 0.05
REQUIREMENTS: list[Any] = [
    EpsilonDelta(1.0, 1e-5),
    EpsilonDelta(0.7, 0.0),
    Advantage(0.1),
    AttackRates(0.05, 0.01),
    Posterior(0.1, 0.2),
    Posterior(0.1, 0.2, 0.01),
]


def meets(requirement: Any, total: Any) -> bool:
    """Whether a region meets a requirement, asked of the region itself."""
    if isinstance(requirement, EpsilonDelta):
        return float(total.delta(requirement.epsilon)) <= requirement.delta * (1 + 1e-9)
    if isinstance(requirement, Advantage):
        return float(total.total_variation) <= requirement.advantage * (1 + 1e-9)
    if isinstance(requirement, AttackRates):
        return float(total.power(requirement.fpr)) <= requirement.tpr * (1 + 1e-9)
    if requirement.fpr == 0:
        return float(best_posterior(total, [requirement.prior])[0]) <= requirement.posterior * (1 + 1e-9)
    rates = np.linspace(requirement.fpr, 1.0, 200)
    found = np.asarray(total.power(rates))
    share = requirement.prior * found / (requirement.prior * found + (1 - requirement.prior) * rates)
    return bool(np.all(share <= requirement.posterior * (1 + 1e-9)))


def less(one: Any, share: float = 1e-3) -> str:
    """Return the expression with a little less noise."""
    factor = 1 + share if one.candidate.parameter == "epsilon" else 1 - share
    return f"{one.candidate.written(repr(one.value * factor))}^{one.k}"


# ---- noise and privacy ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=repr)
@pytest.mark.parametrize("k", [1, 7])
def test_every_answer_meets_its_wish_and_no_less_noise_would(requirement: Any, k: int) -> None:
    found = answers(Question(NOISE, requirement, k=k))
    assert [one.candidate.name for one in found] == [one.name for one in candidates(1.0, 1.0)]
    assert any(not one.trouble for one in found)
    for one in found:
        if one.trouble:
            assert "Some rare answers" in one.trouble
            assert requirement.keywords.get("delta") == 0
        else:
            assert meets(requirement, parse(one.total)), one
            assert not meets(requirement, parse(less(one))), one
            assert one.k == k
            assert math.isfinite(one.advantage)


@pytest.mark.parametrize("sensitivity", [1.0, 4.0])
@pytest.mark.parametrize("name", [one.name for one in candidates(1.0, 1.0) if one.name != RESPONSE])
def test_errors_and_deviations_are_those_of_draws(name: str, sensitivity: float) -> None:
    rng = np.random.default_rng(7)
    (candidate,) = [one for one in candidates(sensitivity, 1.0) if one.name == name]
    value = 3.0 * sensitivity if candidate.is_noise else 0.8
    candidate = candidate.shaped(value)
    mechanism: Any = parse(candidate.written(repr(value)))
    count = 200_000
    draws = mechanism.sample(rng, count) * (sensitivity / mechanism.move)  # some are written for sensitivity 1
    bound: Any = candidate.error(value, MISS)
    rate = float(np.mean(np.abs(draws) > bound))
    spread = 4 * math.sqrt(MISS * (1 - MISS) / count)
    assert rate <= MISS + spread
    if not mechanism.law.integer:  # integers: the bound may be rarer than asked
        assert rate >= MISS - spread
    else:
        assert float(np.mean(np.abs(draws) > bound - 1)) >= MISS - spread
    deviation: Any = candidate.deviation(value)
    fourth = float(np.std(draws**2) / math.sqrt(count))
    assert float(np.mean(draws**2)) == pytest.approx(deviation**2, abs=4 * fourth)


@pytest.mark.parametrize("error", [0.4, 2.0, 30.0])
def test_the_error_fixes_the_noise(error: float) -> None:
    found = answers(Question(PRIVACY, error=error, probability=MISS))
    for one in found:
        if one.candidate.name == RESPONSE:
            assert "number of people" in one.trouble
            continue
        reach: Any = one.candidate.error(one.value, MISS)
        assert reach <= error * (1 + 1e-12)
        more: Any = one.candidate.shaped(one.value * 0.99).error(
            one.value * (1.01 if one.candidate.is_noise else 0.99), MISS
        )
        assert more > error * (1 - 1e-12) or one.candidate.name == "staircase"
        assert one.epsilon == pytest.approx(float(parse(one.total).epsilon(1e-5)))


def test_the_staircase_has_the_shape_of_least_error() -> None:
    gamma = Staircase(3.0, 0.5).shaped().gamma
    assert gamma == pytest.approx(1 / (1 + math.exp(1.5)))
    rng = np.random.default_rng(3)
    means = [float(np.mean(np.abs(parse(f"staircase(3, {g!r})").sample(rng, 400_000)))) for g in (gamma, 0.5, 0.05)]
    assert means[0] < min(means[1:])


# ---- k and n -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("requirement", REQUIREMENTS[:4], ids=repr)
def test_one_answer_more_would_be_too_many(requirement: Any) -> None:
    found = answers(Question(COUNT, requirement, error=25.0))
    assert sum(not one.trouble for one in found) >= 3
    for one in found:
        if not one.trouble:
            assert meets(requirement, parse(one.total))
            assert not meets(requirement, parse(f"{one.one}^{one.k + 1}"))
            assert one.error == pytest.approx(25.0, rel=1e-9) or one.candidate.name == "geometric"


@pytest.mark.parametrize("width", [1.0, 3.0])
def test_as_many_records_as_said_are_enough(width: float) -> None:
    rng = np.random.default_rng(11)
    question = Question(RECORDS, EpsilonDelta(0.5, 1e-4), error=0.05, width=width)
    count = 20_000
    for one in answers(question):
        if one.candidate.name == RESPONSE:
            if width != 1:
                assert "move by 1" in one.trouble
                continue
            errors = _survey_errors(one, rng, count)
        else:
            noise = parse(one.one).sample(rng, count)  # type: ignore[attr-defined]  # a mechanism
            scale = width if one.candidate.name in ("laplace", "staircase") else 1.0
            errors = np.abs(noise * scale) / one.n
            assert float(np.mean(np.abs(noise * scale) / (one.n - 2) > 0.05)) > 0.03  # far fewer would not do
        assert float(np.mean(errors > 0.05)) <= MISS + 4 * math.sqrt(MISS * (1 - MISS) / count)


def _survey_errors(one: Any, rng: np.random.Generator, count: int) -> Any:
    """Return the errors of a survey of n people, half of whom say yes."""
    p = 1 / (1 + math.exp(-one.value))
    yes = one.n // 2
    said = rng.binomial(yes, p, count) + rng.binomial(one.n - yes, 1 - p, count)
    return np.abs((said / one.n - (1 - p)) / (2 * p - 1) - yes / one.n)


# ---- sampling, words, tables ---------------------------------------------------------------------------------


def test_noise_on_samples_is_asked_where_there_are_samples() -> None:
    with effort(tolerance=1e-3):
        question = Question(NOISE, EpsilonDelta(2.0, 1e-5), k=1000, q=0.01)
        found = answers(question)
        sampled = found[-1]
        assert sampled.candidate.name == SAMPLED
        assert sampled.value == pytest.approx(0.9591, abs=1e-4)
        assert sampled.epsilon <= 2.0
        assert "On samples of 0.01, σ = 0.95" in verdict(question, found)
        assert best(question, found) is not sampled


def test_the_belief_of_bayes() -> None:
    """A requirement about beliefs at a positive rate, checked by counting people."""
    requirement = Posterior(0.25, 0.5, 0.05)
    assert requirement.keywords["tpr"] == pytest.approx(0.05 * 3)
    assert Posterior(0.25, 0.5).keywords["epsilon"] == pytest.approx(math.log(3))
    inside, outside = 25_000 * 0.15, 75_000 * 0.05  # accused of 100 000 people at exactly the rates allowed
    assert inside / (inside + outside) == pytest.approx(0.5)


def test_words_and_tables() -> None:
    question = Question(NOISE, Posterior(0.1, 0.2), k=3)
    found = answers(question)
    said = {one.candidate.name: words(question, one) for one in found}
    assert said["gaussian"] == (
        "Gaussian noise: no answer. Some rare answers reveal more than that, however much noise there is."
    )
    assert said["laplace"].startswith(
        "Laplace noise: ε = 0.27031 per answer (exact, rounded to the safe side); one answer"
    )
    frame = table(question, found)
    assert tuple(frame.columns) == COLUMNS
    assert len(frame) == sum(not one.trouble for one in found)
    assert frame.loc[frame["mechanism"] == "rr", "error"].tolist() == [None]
    assert "the requirement" in regions(Question(NOISE, Advantage(0.1)), ())
    assert set(regions(question, found)) == {"Laplace", "Geometric", "Staircase", "Rand. response"}
    assert verdict(Question(NOISE, Posterior(0.1, 0.2)), ()) == "No noise has an answer to this question."


@pytest.mark.parametrize("unknown", UNKNOWNS)
def test_the_ladder_goes_the_right_way(unknown: str) -> None:
    error = 0.02 if unknown == RECORDS else 25.0
    question = Question(unknown, Advantage(0.1), error=error if unknown in (COUNT, RECORDS) else None)
    frame = ladder(question, (0.5, 1.0, 2.0))
    assert not frame.isna().any().any()
    rising = unknown in (PRIVACY, COUNT)
    for _, rows in frame.groupby("series"):
        values = rows.sort_values("parameter")["value"].to_numpy()
        assert np.all(np.diff(values) >= 0) if rising else np.all(np.diff(values) <= 0)
    assert set(frame["parameter"]) == {0.05, 0.1, 0.2}


def test_wishes_move_within_their_ranges() -> None:
    assert Advantage(0.5).moved(4.0) is None
    assert AttackRates(0.5, 0.1).moved(4.0) is None
    assert EpsilonDelta(9000.0, 0.0).moved(4.0) is None
    moved = Posterior(0.1, 0.2).moved(0.5)
    assert moved is not None
    assert 0.1 < moved.posterior < 0.2
    assert Posterior(0.1, 0.2, 0.3).moved(4.0) is None


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Question("size"), "unknown must be one of noise, privacy, k, n"),
        (lambda: Question(NOISE), "give a requirement about privacy or an error"),
        (lambda: Question(NOISE, Advantage(0.1), error=1.0), "one of them"),
        (lambda: Question(COUNT, Advantage(0.1)), "both a requirement about privacy and an error"),
        (lambda: Question(NOISE, Advantage(0.1), k=0), "k must be an integer"),
        (lambda: Question(NOISE, error=-1.0), "error must be"),
        (lambda: Question(NOISE, error=1.0, probability=1.0), r"probability must be a number in \(0, 1\), got 1"),
        (lambda: Question(NOISE, error=1.0, width=0.0), "width must be"),
        (lambda: Question(NOISE, error=1.0, q=0.0), "q must be"),
        (lambda: Advantage(1.0), r"advantage must be a number in \(0, 1\), got 1"),
        (lambda: EpsilonDelta(-1.0, 0.0), "epsilon must be"),
        (lambda: AttackRates(0.1, 0.2), "tpr must be above fpr"),
        (lambda: Posterior(0.5, 0.4), "posterior must be above the prior"),
        (lambda: Posterior(0.1, 0.9, 0.5), "every noise meets that"),
    ],
)
def test_impossible_questions_are_named(make: Any, said: str) -> None:
    with pytest.raises(DomainError, match=said):
        make()


def test_what_a_noise_cannot_do_is_said() -> None:
    odd = {one.candidate.name: one.trouble for one in answers(Question(NOISE, Advantage(0.1), width=2.5))}
    assert "move by an integer, not by 2.5" in odd["geometric"]
    assert "yes-no answers" in odd["rr"]
    assert not odd["laplace"]
    none = answers(Question(COUNT, EpsilonDelta(0.1, 0.0), error=0.1))
    assert all(one.trouble for one in none)
    assert "Not even one answer" in none[0].trouble
    far = answers(Question(RECORDS, EpsilonDelta(1e-9, 0.0), error=1e-9))
    assert any("More than 10^15" in one.trouble for one in far)
    assert replace(none[0], trouble="").k == 0
