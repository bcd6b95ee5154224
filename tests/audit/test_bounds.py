"""What a measurement proves: by a second route, and never more than the truth more often than promised."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dpcore import parse
from dpcore.app import forms
from dpcore.audit import Audit, Counts, Scores, audit, bounds_table, consistent, report, sentence, simulate, verdict
from dpcore.audit.bounds import envelope, epsilons, etas, mus
from dpcore.audit.confidence import simultaneous_limits, upper_limits
from dpcore.audit.measurements import either, errors_of
from dpcore.audit.simulate import attack_on
from dpcore.audit.statements import ceiling_sentence, epsilon_if_gaussian
from dpcore.core import registry
from dpcore.core.effort import effort
from dpcore.core.errors import BudgetError, DomainError
from dpcore.theorems.conversion.claims import statements

RUNS = 1000
RISK = 0.05
ALLOWED = RISK + 3 * math.sqrt(RISK * (1 - RISK) / RUNS)


def known(text: str = "laplace(2)", trials: int = 600, seed: int = 1, confidence: float = 0.95) -> Audit:
    return audit(simulate(parse(text), np.random.default_rng(seed), trials, trials), confidence)


# ---- coverage ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "trials"), [("gaussian(1)", 120), ("rr(1, 3)", 60), ("laplace(1)", 40)])
def test_of_1000_audits_at_95_percent_at_most_5_percent_exceed_the_truth(text: str, trials: int) -> None:
    region, rng = parse(text), np.random.default_rng(7)
    truth = np.array([region.epsilon(1e-5), region.epsilon(0.05), region.total_variation, _true_mu(text)])
    wrong = np.zeros(5)
    proved = np.zeros(5)
    for _ in range(RUNS):
        found = audit(simulate(region, rng, trials, trials))
        alpha, beta = found.proved
        bounds = [found.epsilon(1e-5), found.epsilon(0.05), found.eta, found.mu]
        wrong += [*(bounds > truth), bool(np.any(1 - beta > region.power(alpha) + 1e-12))]
        proved += [*bounds, 0.0]
    assert np.all(wrong / RUNS <= ALLOWED)
    assert np.all(proved[:4] > 0)  # and they do prove something


def _true_mu(text: str) -> float:
    (gaussian,) = [s.region for s in statements(parse(text), 1e-5) if s.notion == "μ-GDP"]
    found: Any = gaussian
    return float(found.mu)


def test_limits_that_do_not_hold_together_would_fail_that_test() -> None:
    """Where every threshold is a best one and one rate is known well, limits made for one test fail too often."""
    region, rng, trials = parse("tv(0.5)"), np.random.default_rng(7), (80, 30_000)
    single = [upper_limits(np.arange(n + 1), n, either(RISK)) for n in trials]
    runs, naive, right = 200, 0, 0
    for _ in range(runs):
        scores = simulate(region, rng, *trials)
        accused, missed = scores.errors()
        naive += float(etas((single[0][accused], single[1][missed])).max()) > 0.5
        right += audit(scores).eta > 0.5
    assert naive / runs > RISK + 3 * math.sqrt(RISK * (1 - RISK) / runs)
    assert right / runs <= RISK


def test_the_limits_of_both_samples_hold_together_in_95_of_100_audits() -> None:
    rng = np.random.default_rng(9)
    trials, missed = 50, 0
    for _ in range(RUNS):
        scores = Scores(rng.random(trials), rng.random(trials) ** 2)  # true rates 1 - t and sqrt(t)
        alpha, beta = audit(scores).limits
        at = scores.thresholds
        inside = np.isfinite(at)
        # the threshold t stands for every one up to the next score, where beta is largest
        later = np.append(1.0, at[inside][:-1])
        missed += bool(np.any(alpha[inside] < 1 - at[inside]) or np.any(beta[inside] < np.sqrt(later)))
    error = math.sqrt(RISK * (1 - RISK) / RUNS)
    assert missed / RUNS <= RISK + 3 * error
    assert missed / RUNS >= 0.9 * RISK - 4 * error


def test_the_band_holds_the_curve_of_the_attack() -> None:
    """Both borders, for thresholds whose true rates are known: a best attack's curve is that of the mechanism."""
    for seed in range(20):
        found = known("gaussian(1)", 200, seed, confidence=0.999)
        region = parse("gaussian(1)")
        assert np.all(region.beta(found.limits[0]) <= found.limits[1] + 1e-12)
        assert np.all(region.beta(found.attack[0]) >= found.attack[1] - 1e-12)


# ---- the numbers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["laplace(2)", "gaussian(0.5)", "rr(2, 4)", "dp(1, 0.1)"])
def test_the_bounds_are_those_of_the_proved_region(text: str) -> None:
    found = known(text)
    pair: Any = found.region.pair
    both = (pair, pair.flipped())
    at = np.array([0.0, 1e-5, 0.01, 0.2])
    expected = np.maximum(*(curve.epsilon_bounds(at)[1] for curve in both))
    assert [found.epsilon(delta) for delta in at] == pytest.approx(expected, rel=1e-6, abs=1e-8)
    at = np.array([0.0, 0.3, 1.0, 5.0])
    expected = np.maximum(*(curve.delta_bounds(at)[1] for curve in both))
    assert [found.delta(epsilon) for epsilon in at] == pytest.approx(expected, rel=1e-6, abs=1e-7)
    assert found.eta == pytest.approx(float(pair.delta_bounds(np.zeros(1))[1][0]), abs=1e-8)
    assert found.power(0.1) == pytest.approx(float(pair.power_bounds(np.array([0.1]))[1][0]), abs=1e-7)


def test_the_bound_on_mu_by_bisection() -> None:
    found = known()
    alpha, beta = found.proved
    low, high = 0.0, 10.0
    for _ in range(50):
        middle = 0.5 * (low + high)
        inside = bool(np.all(parse(f"gdp({middle!r})").beta(alpha) <= beta))
        low, high = (low, middle) if inside else (middle, high)
    assert found.mu == pytest.approx(high, rel=1e-9)


def test_one_test_by_hand() -> None:
    found = audit(Counts(tp=80, fp=20, tn=80, fn=20))
    (a,), (b,) = found.limits
    assert a == b == pytest.approx(float(upper_limits(np.array([20]), 100, 1 - math.sqrt(0.95))[0]), rel=1e-12)
    assert found.epsilon(0.05) == pytest.approx(math.log((1 - 0.05 - b) / a), rel=1e-12)
    assert found.eta == pytest.approx(1 - a - b, rel=1e-12)
    alpha, beta = found.attack
    assert 1 - alpha[0] == pytest.approx(float(upper_limits(np.array([80]), 100, 1 - math.sqrt(0.95))[0]), rel=1e-12)
    assert beta[0] < 0.2 < b


def test_several_tests_share_the_risk() -> None:
    both = audit(Counts([80, 40], [20, 2], [80, 98], [20, 60]))
    each = either(RISK / 2)
    assert both.limits[0] == pytest.approx(upper_limits(np.array([20, 2]), 100, each), rel=1e-12)
    assert both.eta < audit(Counts(80, 20, 80, 20)).eta
    assert errors_of(1 / 3, 3) == 1
    assert errors_of(0.34, 3) == 2  # no count has this rate: rounded towards more errors
    assert errors_of(0.1 + 0.2, 10) == 3


def test_more_trials_and_less_confidence_prove_more() -> None:
    few, many = known(trials=100), known(trials=3000)
    assert few.epsilon(1e-5) < many.epsilon(1e-5) < 2.0
    assert few.ceiling(0.0) < many.ceiling(0.0)
    assert known(confidence=0.5).mu > known(confidence=0.95).mu > known(confidence=0.999999).mu
    assert known().epsilon(0.0) < known().ceiling(0.0)


def test_the_ceiling_is_what_a_perfect_attack_proves() -> None:
    perfect = audit(Scores(np.arange(50.0), np.arange(50.0) + 100))
    assert perfect.epsilon(0.01) == pytest.approx(perfect.ceiling(0.01), rel=1e-12)
    assert perfect.ceiling(0.01) == pytest.approx(known(trials=50).ceiling(0.01), rel=1e-12)
    assert "even an attack without any error" in ceiling_sentence(perfect, 0.01)


def test_scores_are_counted_as_the_rule_says() -> None:
    scores = Scores([3.0, 1.0, 1.0, math.inf], [1.0, 2.0, -math.inf])
    accused, missed = scores.errors()
    found = dict(zip(scores.thresholds.tolist(), zip(accused.tolist(), missed.tolist(), strict=True), strict=True))
    assert found == {math.inf: (0, 3), 3.0: (1, 3), 2.0: (2, 3), 1.0: (2, 2), -math.inf: (4, 1)}
    unscored = Scores([3.0, 1.0, 1.0], [1.0, 2.0], (1, 1))
    assert [part.tolist() for part in unscored.errors()] == [[0, 1, 2, 2, 4], [3, 3, 3, 2, 1]]
    assert unscored.trials == (4, 3)


def test_what_gave_no_score_proves_less() -> None:
    rng = np.random.default_rng(3)
    outsiders, members = rng.normal(0, 1, 300), rng.normal(2, 1, 300)
    whole = audit(Scores(outsiders, members))
    some = audit(Scores(outsiders[20:], members[20:], (20, 20)))
    assert some.epsilon(0.0) < whole.epsilon(0.0)
    assert some.eta < whole.eta


def test_many_scores_are_looked_at_by_some_thresholds() -> None:
    rng = np.random.default_rng(3)
    outsiders, members = rng.normal(0, 1, 6000), rng.normal(1, 1, 6000)
    scores = Scores(outsiders, members)
    assert scores.thresholds.size < 4000
    accused, missed = scores.errors()
    for index in (0, 100, 1500, scores.thresholds.size - 1):
        threshold = scores.thresholds[index]
        assert accused[index] == np.sum(outsiders > threshold)
        assert missed[index] == np.sum(members <= threshold)
    limits = simultaneous_limits(accused, 6000, either(RISK))
    assert audit(scores).limits[0] == pytest.approx(limits, rel=1e-9)
    assert 0.85 < audit(scores).mu < 1.0


def test_the_envelope() -> None:
    alpha, beta = envelope(np.array([0.5, 0.2, 0.3]), np.array([0.1, 0.3, 0.6]))
    assert list(zip(alpha.tolist(), beta.tolist(), strict=True)) == [(0.0, 1.0), (0.2, 0.3), (0.5, 0.1), (1.0, 0.0)]
    alpha, beta = envelope(np.array([0.7]), np.array([0.6]))  # worse than guessing
    assert alpha.tolist() == [0.0, 1.0]
    at_zero = envelope(np.array([0.0]), np.array([0.4]))
    assert (at_zero[0].tolist(), at_zero[1].tolist()) == ([0.0, 0.0, 1.0], [1.0, 0.4, 0.0])
    assert epsilons(at_zero, 0.5).max() == math.inf
    assert epsilons(at_zero, 0.6).max() == 0.0
    assert mus(at_zero).max() == math.inf


# ---- words and verdicts --------------------------------------------------------------------------------------


def test_the_smallest_statements_are_the_smallest() -> None:
    found, delta = known(), 0.01
    dp, dptv, gdp = (s.region for s in consistent(found, delta))
    for region in (dp, dptv, gdp):
        assert not verdict(found, region).contradicted
    less = 1 - 1e-6
    assert verdict(found, parse(f"dp({dp.epsilon_ * less!r}, {delta})")).contradicted
    assert verdict(found, parse(f"dptv({dptv.epsilon_ * less!r}, {delta}, {dptv.eta!r})")).contradicted
    assert verdict(found, parse(f"dptv({dptv.epsilon_!r}, {delta}, {dptv.eta * less!r})")).contradicted
    assert verdict(found, parse(f"gdp({gdp.mu * less!r})")).contradicted
    assert all(s.kind == "lower bound" for s in consistent(found, delta))


def test_a_false_claim_is_contradicted_and_a_true_one_is_not() -> None:
    found = known("laplace(2)", 1000)
    false, true = verdict(found, parse("dp(1)")), verdict(found, parse("laplace(2) & dp(2)"))
    assert false.contradicted
    assert "is contradicted with 95 % confidence" in false.words
    assert false.power > false.allowed == pytest.approx(float(parse("dp(1)").power(false.alpha)), rel=1e-12)
    assert not true.contradicted
    assert "no proof that it holds" in true.words
    assert verdict(found, parse("rdp(2, 0.5)")).contradicted
    assert not verdict(found, parse("dp(inf)")).contradicted
    assert "no mechanism with ε below" in sentence(found, 1e-5)


def test_nothing_measured_proves_nothing() -> None:
    found = known("gdp(0)", 50)
    assert (found.epsilon(0.0), found.mu, found.eta) == (0.0, 0.0, 0.0)
    assert "shows no privacy loss" in sentence(found, 1e-5)
    assert not verdict(found, parse("dp(0)")).contradicted
    assert [str(s.region) for s in consistent(found, 0.0)] == ["dp(0)", "tv(0)", "gdp(0)"]
    large = known("laplace(2)", 100)
    assert "no ε is ruled out" in sentence(large, 0.9)


def test_tables_say_what_every_number_is() -> None:
    found = known()
    bounds = bounds_table(found, (0.0, 0.01))
    assert (bounds["lower"] <= bounds["estimate"]).all()
    assert (bounds["estimate"] <= bounds["upper"]).all()
    table = report(found, [parse("dp(1)"), parse("laplace(2)")], (0.0, 0.01))
    assert not table.drop(columns="at").isna().any().any()
    assert set(table["kind"]) == {"lower", "approximate", "upper"}
    assert table["verdict"].tolist()[-2:] == ["contradicted", "not contradicted"]
    gaussian = table[table["measure"] == "epsilon_if_gaussian"]["value"]
    assert gaussian.tolist() == [epsilon_if_gaussian(found, 0.01)]
    assert epsilon_if_gaussian(found, 0.01) == pytest.approx(float(parse(f"gdp({found.mu!r})").epsilon(0.01)), rel=1e-9)


# ---- the simulator -------------------------------------------------------------------------------------------

MECHANISMS = [forms.example(entry) for entry in registry.entries("mechanism")]
OTHERS = [
    "dp(1, 0.1)",
    "laplace(1)^3",
    "gaussian(2)^3 & dp(2)",
    "tv(0.3)",
    "pmf([0.5, 0.5], [0.6, 0.4])",
    "staircase(2, 0.3)",
]


@pytest.mark.parametrize("text", [*MECHANISMS, *OTHERS])
def test_the_simulated_attack_is_the_best_one(text: str) -> None:
    """At 99.99 % the band around the measured curve holds the mechanism's own, from both sides."""
    region = parse(text)
    curve = region.pair if text.startswith("poisson") else region.curve
    found = audit(simulate(region, np.random.default_rng(11), 3000, 3000), 0.9999)
    assert np.all(curve.beta_bounds(found.limits[0])[0] <= found.limits[1] + 1e-9)
    alpha, beta = (part[1:] for part in found.optimistic)  # without (0, 1), the test that accuses nobody
    assert np.all(curve.beta_bounds(alpha)[1] >= beta - 1e-9)
    assert "score" in attack_on(region).words


def test_an_attack_is_described_before_its_curve_is_computed() -> None:
    region = parse("subsample(laplace(2), 0.1)^20")
    with effort(deadline=0.0):
        attack = attack_on(region)
        assert "p-value" in attack.words
        with pytest.raises(BudgetError, match="time allowed"):
            attack.draw(np.random.default_rng(1), 10, True)


def test_draws_are_repeatable_and_checked() -> None:
    first, second = known("rr(1, 3)"), known("rr(1, 3)")
    assert np.array_equal(first.measurement.members, second.measurement.members)  # type: ignore[union-attr]  # scores
    for count, words in (
        (0, "got 0"),
        (10**7, r"members must be an integer in \[1, 1000000\], got 10000000"),
        (1.5, "got 1.5"),
    ):
        with pytest.raises(DomainError, match=words):
            simulate(parse("laplace(1)"), np.random.default_rng(1), 10, count)  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(DomainError, match="width"):
        simulate(parse("gaussian(inf)"), np.random.default_rng(1), 10, 10)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: Scores([1.0, math.nan], [2.0]),
            r"A score of the outsiders .* must be a number in \[-inf, inf\], got nan \(number 2 of 2\)\.",
        ),
        (lambda: Scores([], [2.0]), "needs 1 to 10000000 outsiders, got 0"),
        (lambda: Scores("abc", [2.0]), "must be a list of scores, got 'abc'"),
        (lambda: Scores(3.0, [2.0]), "must be a list of scores"),
        (lambda: Scores([[1.0]], [2.0]), r"score of the outsiders .* must be a number .* got \[1.0\]"),
        (lambda: Scores([1.0], [2.0], (-1, 0)), r"unscored outsiders must be an integer in \[0, 10000000\], got -1"),
        (lambda: Counts(1, 2, -3, 4), r"tn must be an integer in \[0, 10000000\], got -3"),
        (lambda: Counts(1, 2.5, 3, 4), r"fp must be an integer in \[0, 10000000\], got 2.5"),
        (lambda: Counts(1, 0, 0, 4), "Every test needs 1 to 10000000 outsiders"),
        (lambda: Counts([1, 2], 1, 1, 1), "lists of one length"),
        (lambda: errors_of(1.5, 10, "fpr"), r"fpr must be a number in \[0, 1\], got 1.5"),
        (lambda: errors_of(0.5, 0), r"number of trials must be an integer in \[1, 10000000\], got 0"),
        (lambda: audit(Counts(1, 1, 1, 1), 1.0), r"confidence must be a number in \[0.5, 0.999999\], got 1"),
        (lambda: audit(Counts(1, 1, 1, 1), math.nan), "got nan"),
        (lambda: audit(Counts(1, 1, 1, 1)).epsilon(2.0), r"delta must be a number in \[0, 1\]"),
        (lambda: audit(Counts(1, 1, 1, 1)).power(-1), r"fpr must be a number in \[0, 1\]"),
    ],
)
def test_wrong_values_are_explained(call: Any, words: str) -> None:
    with pytest.raises(DomainError, match=words):
        call()
