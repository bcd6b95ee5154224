"""Audits by one run: bounds against all small mechanisms, coverage by simulation, ties, and the command."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.special import bdtrc

from dpcore import DomainError, dp, gdp, parse, union
from dpcore.audit import OneRun, OneRunAudit, Scores, one_run_report, one_run_sentence
from dpcore.cli.program import main
from dpcore.regions.guarantees import Pmf

if TYPE_CHECKING:
    from pathlib import Path


def binomial_tail(guesses: int, correct: int, epsilon: float) -> float:
    """P(Bin(guesses, p) >= correct), by summing."""
    p = math.exp(epsilon) / (1 + math.exp(epsilon))
    return math.fsum(math.comb(guesses, j) * p**j * (1 - p) ** (guesses - j) for j in range(correct, guesses + 1))


@pytest.mark.parametrize(("guesses", "correct"), [(20, 15), (100, 60), (7, 7), (9, 0)])
def test_pure_privacy_is_a_binomial_tail(guesses: int, correct: int) -> None:
    audit = OneRunAudit(OneRun(200, guesses, correct))
    for epsilon in (0.0, 0.3, 1.0, 3.0):
        wanted = binomial_tail(guesses, correct, epsilon)
        assert audit.chance(epsilon) == pytest.approx(wanted, rel=1e-8)
        assert audit.chance_of(dp(epsilon)) == pytest.approx(wanted, rel=1e-8)  # never above the binomial form
    assert audit.chance(1.0, 1e-3) >= audit.chance(1.0)


def test_lower_bounds_are_where_the_p_value_is_the_risk() -> None:
    audit = OneRunAudit(OneRun(1000, 100, 90), 0.95)
    assert float(bdtrc(89, 100, 1 / (1 + math.exp(-audit.epsilon_binomial())))) == pytest.approx(0.05, rel=1e-4)
    assert audit.chance_of(gdp(audit.mu)) == pytest.approx(0.05, rel=2e-3)
    assert audit.chance_of(gdp(audit.mu * 1.05)) > 0.05
    assert audit.epsilon(1e-5) == max(audit.epsilon_binomial(1e-5), audit.epsilon_region(1e-5))
    assert audit.epsilon(1e-5) <= audit.epsilon(0.0)
    assert audit.epsilon(0.0) < audit.ceiling(0.0)
    assert OneRunAudit(OneRun(1000, 100, 50)).epsilon(0.0) == 0.0
    assert OneRunAudit(OneRun(1000, 100, 50)).mu == 0.0


@pytest.mark.parametrize("seed", range(6))
def test_no_small_mechanism_beats_the_bounds(seed: int) -> None:
    """Every guesser against random mechanisms on two or three coins, under the mechanism's own region."""
    rng = np.random.default_rng(seed)
    coins = 2 + seed % 2
    outputs = 4
    settings = list(itertools.product((0, 1), repeat=coins))
    law = {s: rng.dirichlet(np.full(outputs, 0.7)) for s in settings}
    pairs = [
        Pmf(tuple(law[s]), tuple(law[(*s[:i], 1 - s[i], *s[i + 1 :])]))
        for s in settings
        for i in range(coins)
    ]  # fmt: skip
    region = union(*pairs)
    for guesses in range(1, coins + 1):
        bounds = [OneRunAudit(OneRun(coins, guesses, right)).chance_of(region) for right in range(guesses + 1)]
        choices = [
            [g if i in places else None for i, g in enumerate(guess)]
            for places in itertools.combinations(range(coins), guesses)
            for guess in itertools.product((0, 1), repeat=coins)
        ]
        for right in range(1, guesses + 1):
            # the best guesser answers every output with the guess that is likeliest to have so many right
            best = sum(
                max(
                    sum(
                        law[s][y] / len(settings)
                        for s in settings
                        if sum(g == c for g, c in zip(guess, s, strict=True)) >= right
                    )
                    for guess in choices
                )
                for y in range(outputs)
            )
            assert best <= bounds[right] + 1e-9, (guesses, right)


def test_delta_of_a_mechanism_that_may_tell_everything() -> None:
    """With probability delta one output tells all coins, otherwise nothing: all guesses are right with more than delta."""
    canaries, delta = 40, 0.004
    truth = delta + (1 - delta) * 0.5**canaries
    audit = OneRunAudit(OneRun(canaries, canaries, canaries))
    assert audit.chance(0.0, delta) >= truth
    assert audit.chance_of(dp(0.0, delta)) >= truth


@pytest.mark.long
@pytest.mark.parametrize(("mu", "canaries", "guesses"), [(1.0, 200, 60), (2.0, 100, 100)])
def test_the_stated_confidence_covers(mu: float, canaries: int, guesses: int) -> None:
    """Independent Gaussian canaries: mu is above its lower bound in at least 80 % of 200 audits at 80 % confidence."""
    rng = np.random.default_rng(7)
    missed, bounds = 0, []
    for _ in range(200):
        coin = rng.random(canaries) < 0.5
        score = rng.normal(size=canaries) + mu * coin
        audit = OneRunAudit(OneRun.of_scores(Scores(score[~coin], score[coin]), guesses), 0.8)
        bounds.append(audit.mu)
        missed += audit.mu > mu
    assert missed <= 40
    assert np.median(bounds) > 0.3 * mu  # and it proves something


def test_randomized_response_is_covered_and_tight() -> None:
    """The mechanism that the binomial form is exact for: the lower bound exceeds the truth about as often as it may."""
    rng = np.random.default_rng(3)
    epsilon, canaries, risk = 1.0, 400, 0.2
    right = rng.binomial(canaries, 1 / (1 + math.exp(-epsilon)), size=400)
    missed = np.mean(
        [OneRunAudit(OneRun(canaries, canaries, int(w)), 1 - risk).epsilon_binomial() > epsilon for w in right]
    )
    assert risk / 2 < missed <= risk + 3 * math.sqrt(risk * (1 - risk) / 400)


def test_ties_count_against_the_attacker() -> None:
    same = Scores(np.zeros(50), np.zeros(50))
    assert OneRun.of_scores(same).correct == 0
    assert OneRun.of_scores(same, 10).correct == 0
    sure = Scores(np.zeros(50), np.ones(50))
    assert OneRun.of_scores(sure).correct == 100
    assert OneRun.of_scores(sure, 31).correct == 31
    mixed = Scores(np.array([0.0, 0.0, 1.0]), np.array([1.0, 1.0, 1.0]))
    assert OneRun.of_scores(mixed, 2).correct == 1  # the highest may be the outsider
    assert OneRun.of_scores(Scores(np.zeros(4), np.ones(4), (1, 1))).correct == 8


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ((0, 1, 1), "canaries must be"),
        ((10, 11, 1), "guesses must be"),
        ((10, 5, 6), "correct must be"),
        ((10, 5, -1), "correct"),
    ],
)
def test_wrong_numbers_are_named(numbers: tuple[int, int, int], words: str) -> None:
    with pytest.raises(DomainError, match=words):
        OneRun(*numbers)


def test_the_table_and_the_sentence() -> None:
    audit = OneRunAudit(OneRun(1000, 100, 90))
    table = one_run_report(audit, [gdp(0.5), dp(3)], (1e-5,))
    assert table["measure"].tolist() == ["epsilon", "epsilon", "ceiling", "mu", "p-value", "p-value"]
    assert table["verdict"].tolist()[-2:] == ["contradicted", "not contradicted"]
    assert one_run_sentence(audit).startswith(
        "90 of 100 guesses are right: with 95 % confidence, ε at δ = 1e-5 is at least 1.62"
    )
    assert "shows no privacy loss" in one_run_sentence(OneRunAudit(OneRun(100, 100, 50)))


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["audit", "--canaries", "1000", "--guesses", "100", "--correct", "90", "--claim", "gdp(0.5)"]) == 0
    assert "gdp(0.5),contradicted" in capsys.readouterr().out
    rng = np.random.default_rng(1)
    coin = rng.random(300) < 0.5
    rows = "\n".join(
        f"{score},{int(label)}" for score, label in zip(rng.normal(size=300) + 2 * coin, coin, strict=True)
    )
    path = tmp_path / "canaries.csv"
    path.write_text(f"score,label\n{rows}\n", encoding="utf-8")
    assert main(["audit", str(path), "--one-run", "--guesses", "60"]) == 0
    assert "\nmu,," in capsys.readouterr().out
    for wrong, words in [
        (["audit"], "Give a file"),
        (["audit", str(path), "--guesses", "5"], "belongs to --one-run"),
        (["audit", "--canaries", "10"], "--correct"),
        (["audit", str(path), "--canaries", "10", "--correct", "1"], "Give a file of canaries, or"),
        (["audit", str(path), "--one-run", "--correct", "3"], "without a file"),
    ]:
        assert main(wrong) == 2
        assert words in capsys.readouterr().err


def test_a_training_run_as_a_claim() -> None:
    audit = OneRunAudit(OneRun(1000, 1000, 800))
    assert (
        audit.chance_of(parse("poisson_gaussian(1, 0.01)^1000"))
        < 0.05
        < audit.chance_of(parse("poisson_gaussian(0.5, 0.01)^1000"))
    )
