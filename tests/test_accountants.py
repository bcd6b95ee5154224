"""Accountants and claims against closed forms, published numbers and brute force."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from dpcore import parse
from dpcore.central_limit.convergence import BELOW
from dpcore.charts.claims import accountants_figure, claim_figure
from dpcore.core.effort import effort
from dpcore.core.errors import DomainError
from dpcore.training import (
    ACCOUNTANTS,
    OPEN,
    SAFE,
    TIGHT,
    WRONG,
    accountant,
    judge,
    least_noise,
    refutation,
    report,
    reports,
)
from dpcore.training.accountants import LIMIT, THEOREM, USUAL_ORDERS
from dpcore.training.judgement import decided
from dpcore.training.reports import SILENT

if TYPE_CHECKING:
    import pandas as pd

GRADIENTS = "poisson_gaussian(1.5, 0.04)"  # 2250 steps at δ = 1e-5: the case of the tests of Opacus
CASES = [
    ("gaussian(2)", 5, 1e-5),
    ("gaussian_classic(10, 1e-5)", 1, 1e-5),
    ("laplace(0.1)", 100, 1e-6),
    ("dp(0.5)", 100, 1e-5),
    ("dp(1, 1e-7)", 20, 1e-5),
    ("rr(1, 5)", 4, 1e-6),
    ("laplace(1) * gaussian(1)", 3, 1e-6),
    ("laplace(1)", 5, 0.0),
    (GRADIENTS, 2250, 1e-5),
]


def gaussian_delta(mu: float, epsilon: float) -> float:
    return float(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu))


def gaussian_epsilon(mu: float, delta: float) -> float:
    low, high = 0.0, 1000.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(mu, middle) > delta else (low, middle)
    return high


def response_delta(epsilon: float, k: int, at: float) -> float:
    """δ of k pure ε mechanisms by the binomial law of randomized response: a second route to the composition."""
    p = 1 / (1 + math.exp(-epsilon))
    total = 0.0
    for j in range(k + 1):
        loss = (2 * j - k) * epsilon
        if loss > at:
            total += math.comb(k, j) * p**j * (1 - p) ** (k - j) * -math.expm1(at - loss)
    return total


@lru_cache(maxsize=32)
def table(mechanism: str, k: int, delta: float) -> pd.DataFrame:
    with effort(tolerance=1e-3):
        return reports(mechanism, k, delta)


# ---- what the accountants report -----------------------------------------------------------------------------


def test_the_published_numbers_of_opacus() -> None:
    assert report("rdp_tight", GRADIENTS, 2250, 1e-5).epsilon == pytest.approx(7.32911117143, rel=1e-9)
    mu = 0.04 * math.sqrt(2250 * math.expm1(1 / 1.5**2))
    assert report("gdp_clt", GRADIENTS, 2250, 1e-5).epsilon == pytest.approx(gaussian_epsilon(mu, 1e-5), rel=1e-9)
    assert report("gdp_clt", "poisson_gaussian(1, 0.01)", 1000, 1e-5).epsilon == pytest.approx(1.6177, abs=5e-5)


@pytest.mark.parametrize(("sigma", "k", "delta"), [(2.0, 5, 1e-5), (0.7, 1, 1e-6), (30.0, 400, 1e-9)])
def test_gaussian_noise_by_the_formulas(sigma: float, k: int, delta: float) -> None:
    mu, log = math.sqrt(k) / sigma, math.log(1 / delta)
    a = np.array(USUAL_ORDERS)
    expected = {
        "dpcore": gaussian_epsilon(mu, delta),
        "gdp_clt": gaussian_epsilon(mu, delta),
        "classic": math.sqrt(2 * math.log(1.25 / delta)) * mu,
        "moments": min(i * mu**2 / 2 + log / (i - 1) for i in range(2, 34)),
        "rdp_mironov": float(np.min(a * mu**2 / 2 + log / (a - 1))),
        "rdp_tight": float(np.min(a * mu**2 / 2 + np.log(1 - 1 / a) + (log - np.log(a)) / (a - 1))),
        "zcdp_bun_steinke": mu**2 / 2 + 2 * math.sqrt(mu**2 / 2 * log),
    }
    for name, value in expected.items():
        found = report(name, f"gaussian({sigma})", k, delta)
        assert found.epsilon == pytest.approx(value, rel=1e-8), name
        if found.kind == "upper":
            assert found.epsilon >= value * (1 - 1e-13), name
    finer = np.linspace(1.001, 200, 200_000)
    best = float(np.min(finer * mu**2 / 2 + np.log(1 - 1 / finer) + (log - np.log(finer)) / (finer - 1)))
    assert report("zcdp_tight", f"gaussian({sigma})", k, delta).epsilon == pytest.approx(best, rel=1e-6)


def test_pure_privacy_by_the_binomial_law() -> None:
    truth = report("dpcore", "dp(0.5)", 100, 1e-5).epsilon
    assert response_delta(0.5, 100, truth) == pytest.approx(1e-5, rel=1e-8)
    assert report("kov_optimal", "dp(0.5)", 100, 1e-5).epsilon == pytest.approx(truth, rel=1e-9)
    naive = report("advanced_naive", "dp(0.5)", 100, 1e-5)
    assert naive.epsilon == pytest.approx(0.5 * math.sqrt(200 * math.log(1e5)), rel=1e-12)
    assert naive.kind == "approximate"
    assert response_delta(0.5, 100, naive.epsilon) > 300 * 1e-5
    whole = report("advanced_drv", "dp(0.5)", 100, 1e-5).epsilon
    assert whole == pytest.approx(naive.epsilon + 50 * math.expm1(0.5), rel=1e-9)
    # D_a of randomized response: log(p^a q^(1-a) + q^a p^(1-a)) / (a - 1)
    p = 1 / (1 + math.exp(-0.5))
    orders = range(2, 34)
    moments = [
        100 / (a - 1) * math.log(p**a * (1 - p) ** (1 - a) + (1 - p) ** a * p ** (1 - a)) + math.log(1e5) / (a - 1)
        for a in orders
    ]
    assert report("moments", "dp(0.5)", 100, 1e-5).epsilon == pytest.approx(min(moments), rel=1e-9)


@pytest.mark.parametrize(("mechanism", "k", "delta"), CASES)
def test_no_theorem_is_below_the_truth(mechanism: str, k: int, delta: float) -> None:
    frame = table(mechanism, k, delta)
    assert not frame.isna().any().any()
    assert frame["accountant"].tolist() == [one.name for one in ACCOUNTANTS]
    low = dict(zip(frame["accountant"], frame["verdict"], strict=True))
    for one in ACCOUNTANTS:
        if one.rests_on == THEOREM:
            assert low[one.name] != BELOW, one.name
    values = dict(zip(frame["accountant"], frame["epsilon"], strict=True))
    assert values["rdp_optimal"] <= values["rdp_tight"] * (1 + 1e-12) <= values["rdp_mironov"] * (1 + 1e-12)
    assert values["rdp_mironov"] <= values["moments"] * 1.001  # its grid lacks order 11 only
    assert values["zcdp_tight"] <= values["zcdp_bun_steinke"]
    assert values["kov_optimal"] <= values["kov_simplified"] * (1 + 1e-12)
    silent = frame[frame["kind"] == "none"]
    assert (silent["verdict"] == SILENT).all()
    assert silent["note"].str.len().min() > 5 or silent.empty


def test_where_no_theorem_holds_the_table_says_so() -> None:
    frame = table("gaussian_classic(10, 1e-5)", 1, 1e-5)
    below = frame[frame["verdict"] == BELOW]
    assert below["accountant"].tolist() == ["classic"]
    assert below["note"].tolist() == ["proved for ε below 1 only"]
    assert set(below["kind"]) == {"approximate"}
    gradient = table(GRADIENTS, 2250, 1e-5)
    assert gradient[gradient["verdict"] == BELOW]["accountant"].tolist() == ["gdp_clt"]
    assert report("classic", "gaussian(10)", 1, 1e-5).kind == "upper"  # ε below 1: there the formula is proved
    assert report("classic", "laplace(1)").kind == "none"
    assert accountant("gdp_clt").rests_on == LIMIT


def test_wrong_questions_are_named() -> None:
    with pytest.raises(DomainError, match="did you mean rdp_tight"):
        report("rdp_tigt", "laplace(1)")
    with pytest.raises(DomainError, match="k must be an integer"):
        reports("laplace(1)", 0)
    with pytest.raises(DomainError, match="delta must be"):
        reports("laplace(1)", 1, 2.0)
    with pytest.raises(DomainError, match="epsilon must be"):
        judge("laplace(1)", 1, -1.0, 0.0)


# ---- claims --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "k", "epsilon", "delta", "verdict", "true"),
    [
        ("gaussian_classic(10, 1e-5)", 1, 10.0, 1e-5, WRONG, 2.265e-5),
        ("gaussian_classic(1, 1e-5)", 1, 1.0, 1e-5, SAFE, 4.114e-8),
        ("gaussian_classic(5, 0.3)", 1, 5.0, 0.3, WRONG, 0.3035),
        ("dp(0.5)", 100, 24.0, 1e-5, WRONG, response_delta(0.5, 100, 24.0)),
        ("laplace(1)", 1, 1.0, 0.0, TIGHT, 0.0),
        ("laplace(1)", 7, 7.0, 0.0, TIGHT, 0.0),
        ("rr(log(1.5))", 1, 2 * 0.1 + math.log(2), 0.0, SAFE, 0.0),
        ("tv(0.25)", 1, 0.0, 0.25, TIGHT, 0.25),
        # groups of three of (2, 0.001): the thesis prints 3 e^2 delta, the truth is delta (e^6 - 1)/(e^2 - 1)
        ("group(dp(2, 0.001), 3)", 1, 6.0, 3 * math.exp(2) * 1e-3, WRONG, 1e-3 * math.expm1(6) / math.expm1(2)),
        # Gaussian noise for k queries as printed, sigma^2 = 4 log(e + epsilon/delta)/epsilon^2
        (f"gaussian({math.sqrt(4 * math.log(math.e + 600)) / 60!r})", 1, 60.0, 0.1, WRONG, 0.783),
        ("histogram(1)", 1, 0.0, -math.expm1(-0.5), SAFE, 0.24183668),
    ],
)
def test_verdicts(mechanism: str, k: int, epsilon: float, delta: float, verdict: str, true: float) -> None:
    found = judge(mechanism, k, epsilon, delta)
    assert found.verdict == verdict
    low, high = found.delta_bounds
    assert low <= high
    assert high == pytest.approx(true, rel=5e-4)
    words = found.words()
    assert ("is wrong" in words) == (verdict == WRONG)
    assert ("at least" if verdict == WRONG else "at most") in words
    assert found.short()
    assert (found.refutation is None) == (verdict != WRONG)


def test_a_claim_inside_the_bracket_is_not_decided() -> None:
    """Closed regions composed are a bound: what k uses of a sample really give away lies between two sides."""
    found = judge("subsample(laplace(1), 0.1)", 10, 1.0, 1e-4)
    assert found.verdict == OPEN
    assert found.delta_bounds[0] < 1e-4 < found.delta_bounds[1]
    assert "Not decided" in found.words()
    assert "is between 0.9" in found.words()
    assert "not decided" in found.short()


def test_a_decided_claim_narrows_the_bracket() -> None:
    with effort(tolerance=1e-2):
        region = parse("poisson_gaussian(1, 0.1)") ** 3
        low, high = (float(bound[0]) for bound in region.epsilon_bounds(np.array([1e-4])))
        found = judge("poisson_gaussian(1, 0.1)", 3, (low + high) / 2, 1e-4)
    assert found.verdict == SAFE
    assert found.epsilon_bounds[1] <= found.epsilon < high


def test_a_delta_too_small_for_a_double_is_not_zero() -> None:
    found = judge("gaussian(1)", 1, 1e4, 0.0)
    assert found.delta_bounds == (0.0, 2.2250738585072014e-308)
    assert found.verdict == WRONG
    assert "no ε holds at δ = 0" in found.words()
    assert found.refutation is None  # its rates are below every double
    assert report("gdp_clt", "gaussian(1e-6)", 1, 1e-5).kind == "exact"


@pytest.mark.parametrize(
    ("epsilon", "delta", "bracket", "reached", "verdict"),
    [
        (4.5, 1e-6, (4.3, 4.4), (0.0, 1e-8), SAFE),  # a wide bracket of delta can decide
        (1.0, 1e-6, (1.1, 1.2), (2e-6, 3e-6), WRONG),
        (1.0, 1e-6, (0.9, 1.1), (0.9e-6, 1.1e-6), OPEN),
        (2.0, 0.0, (1.5, 1.6), (0.0, 0.0), SAFE),
        (2.0, 0.0, (math.inf, math.inf), (0.0, 0.0), WRONG),
        (2.0, 0.0, (1.9, 2.1), (0.0, 1e-9), OPEN),
        (0.0, 0.25, (0.0, 0.0), (0.25, 0.25), TIGHT),
    ],
)
def test_what_brackets_decide(
    epsilon: float, delta: float, bracket: tuple[float, float], reached: tuple[float, float], verdict: str
) -> None:
    found, narrowed = decided(epsilon, delta, bracket, reached)
    assert found == verdict
    assert narrowed[0] <= narrowed[1]
    assert found != SAFE or narrowed[1] <= epsilon
    assert found != WRONG or narrowed[0] >= epsilon


def test_the_noise_a_claim_needs() -> None:
    found: Any = judge("gaussian_classic(1, 1e-5)", 1, 1.0, 1e-5).least_noise
    assert found.present == pytest.approx(4.8448, abs=1e-4)
    assert found.value == pytest.approx(3.7306, abs=1e-4)
    assert gaussian_delta(1 / found.value, 1.0) <= 1e-5 * (1 + 1e-9) < gaussian_delta(1.001 / found.value, 1.0)
    assert found.ratio == pytest.approx(found.present / found.value)
    assert "29.8 % wider" in found.words()
    wrong: Any = judge("dp(0.5)", 100, 24.0, 1e-5).least_noise
    assert response_delta(wrong.value, 100, 24.0) <= 1e-5 * (1 + 1e-8) < response_delta(wrong.value * 1.001, 100, 24.0)
    assert wrong.ratio == pytest.approx(wrong.value / 0.5)
    assert "a loss 18.2 % smaller per use" in wrong.words()
    pure: Any = least_noise(parse("laplace(1)"), 4, 4.0, 0.0)
    assert "is just right" in pure.words()
    assert "no single noise" in str(least_noise(parse("laplace(1) * gaussian(1)"), 1, 1.0, 0.1))
    assert "meets delta = 0" in str(least_noise(parse("gaussian(1)"), 1, 1.0, 0.0))


@pytest.mark.parametrize(
    ("mechanism", "k", "epsilon", "delta"),
    [
        ("gaussian_classic(10, 1e-5)", 1, 10.0, 1e-5),
        ("gaussian_classic(5, 0.3)", 1, 5.0, 0.3),
        ("gaussian(2)", 1, 0.2, 0.05),
        ("gaussian(3)", 9, 1.0, 0.0),
    ],
)
def test_the_attack_is_real(mechanism: str, k: int, epsilon: float, delta: float) -> None:
    """The best test of Gaussian noise finds Phi(Phi^-1(FPR) + mu): at least what is said, more than is allowed."""
    found: Any = judge(mechanism, k, epsilon, delta)
    attack = found.refutation
    mu = found.mechanism.curve.mu * math.sqrt(k)
    assert attack.tpr <= float(ndtr(ndtri(attack.fpr) + mu)) * (1 + 1e-9)
    assert attack.allowed >= min(1.0, math.exp(epsilon) * attack.fpr + delta) * (1 - 1e-9)
    assert attack.tpr > attack.allowed
    said = [int(text.replace(" ", "")) for text in re.findall(r"at (?:least|most) ([\d ]+?)(?: of|\.)", attack.words())]
    crowd = int(re.findall(r"of ([\d ]+) people inside", attack.words())[0].replace(" ", ""))
    assert said[0] > said[1]
    assert said[0] <= attack.tpr * crowd
    assert said[1] >= attack.allowed * crowd


def test_a_region_inside_the_claim_exposes_nothing() -> None:
    assert refutation(parse("gaussian(5)"), 1.0, 0.1) is None


def test_certified_claims_about_gradients() -> None:
    with effort(tolerance=1e-3):
        said = report("gdp_clt", "poisson_gaussian(1, 0.01)", 1000, 1e-5).epsilon
        found: Any = judge("poisson_gaussian(1, 0.01)", 1000, said, 1e-5)
        assert found.verdict == WRONG
        assert found.epsilon_bounds[0] == pytest.approx(1.8282, abs=1e-4)
        noise = found.least_noise
        assert 1.06 < noise.value < 1.07
        again = judge(f"poisson_gaussian({noise.value!r}, 0.01)", 1000, said, 1e-5)
        assert again.verdict == SAFE
        less = judge(f"poisson_gaussian({noise.value * 0.999!r}, 0.01)", 1000, said, 1e-5)
        assert less.verdict == WRONG
        assert found.refutation.tpr > found.refutation.allowed


# ---- pictures ------------------------------------------------------------------------------------------------


def test_pictures_of_a_claim() -> None:
    found = judge("gaussian_classic(10, 1e-5)", 1, 10.0, 1e-5)
    figure = claim_figure(found)
    assert "below the true curve: it is wrong" in figure.takeaway
    assert figure.table["label"].tolist()[-1] == "claimed"
    spec = figure.chart.to_dict()
    assert any("claimed" in str(data) for data in spec["datasets"].values())
    pure = claim_figure(judge("bounded_laplace(1, 0, 10, 1)", 1, 1.0, 0.0))
    assert "no place on the log axis" in pure.notes[0]


def test_the_picture_of_the_accountants() -> None:
    figure = accountants_figure(table("gaussian_classic(10, 1e-5)", 1, 1e-5), claimed=10.0)
    assert "the true ε is at most 10.394" in figure.takeaway
    assert "Below the truth, so no promise: Classical Gaussian (10)." in figure.takeaway
    assert any("Advanced (DRV)" in note for note in figure.notes)
    with pytest.raises(DomainError, match="nothing to draw"):
        accountants_figure(reports("gaussian(1)", 1, 0.0))
