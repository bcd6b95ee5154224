"""Choices under privacy: closed forms against simulation and enumeration, bounds on their right side, errata."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest

from dpcore.core.errors import DomainError
from dpcore.mechanisms.randomized_response import from_gamma, from_nu
from dpcore.utility import PAIRS, Dataset, Fact, UtilityPair, facts, pair, simulate
from dpcore.utility.binary_median import steps_to_flip
from dpcore.utility.binomials import TwoBinomials
from dpcore.utility.inverse_sensitivity import QuantileInverse, least_miss
from dpcore.utility.median import MedianExponential, corrected_bound, printed_bound
from dpcore.utility.survey import Survey
from dpcore.utility.survey_many import SurveyMany
from dpcore.utility.winners import winners
from tests.utility.test_additive import CASES as ADDITIVE

RELEASES = 4000
AGES = Dataset.example(401)
CODES = Dataset.coded([0] * 90 + [1] * 60 + [2] * 51, ("never", "once", "often"), "survey")

CASES = [
    *(
        ("median_exponential", {"epsilon": e, "size": m, "within": t})
        for e, m, t in ((0.02, 101, 60), (0.1, 30, 20), (0.02, 7, 90))
    ),
    *(("quantile_inverse", {"epsilon": e, "level": q}) for e, q in ((0.05, 0.5), (0.3, 0.1), (1.0, 0.9))),
    *((f"majority_{m}", {"epsilon": e}) for m in ("exponential", "inverse") for e in (0.01, 0.05, 0.2)),
    *(("survey_rr", {"epsilon": e, "within": w}) for e, w in ((0.2, 0.3), (1.0, 0.1), (3.0, 0.02))),
    *(
        ("survey_many_rr", {"epsilon": e, "bins": k, "within": w})
        for e, k, w in ((0.5, 3, 0.2), (1.0, 5, 0.15), (4.0, 20, 0.02))
    ),
    *(("answer_rr", {"epsilon": e, "size": m}) for e, m in ((0.5, 5), (1.0, 2), (3.0, 40))),
    *(
        (f"scores_{m}", {"epsilon": e, "moves": w})
        for m in ("exponential", "permute", "laplace")
        for e, w in ((0.1, "any"), (0.5, "same"), (1.0, "any"))
    ),
    *(
        (f"mode_{m}", {"epsilon": e, "within": 30.0, "neighbours": n})
        for m in ("exponential", "permute", "laplace")
        for e, n in ((0.02, "substitution"), (0.05, "add/remove"), (0.1, "substitution"))
    ),
    *(("threshold_list", {"epsilon": e}) for e in (0.1, 0.3, 0.8)),
    *(("threshold_cells", {"epsilon": e, "threshold": 60.0}) for e in (0.1, 0.3, 1.0)),
    *(
        ("quantile_exponential", {"epsilon": e, "level": q, "within": 10.0})
        for e, q in ((0.02, 0.9), (0.2, 0.5), (1.0, 0.13))
    ),
]
OURS = sorted({name for name, _ in CASES})


def number_of(chosen: UtilityPair, data: Dataset, measure: str, kind: str = "exact") -> float:
    (value,) = {f.value for f in chosen.closed_forms(data) if f.measure == measure and f.kind == kind}
    return value


# ---- closed forms and simulation -----------------------------------------------------------------------------


def check_quantile(fact: Fact, level: float, errors: np.ndarray) -> None:
    """Check that a quantile t has at least `level` of the mass up to it, and less than that below it."""
    reach = 4 * math.sqrt(level * (1 - level) / errors.size)
    assert np.mean(errors <= fact.value * (1 + 1e-12)) >= level - reach
    assert fact.kind == "upper" or np.mean(errors < fact.value * (1 - 1e-12)) <= level + reach


@pytest.mark.parametrize(
    ("name", "values"), CASES, ids=lambda v: v if isinstance(v, str) else ",".join(map(str, v.values()))
)
def test_closed_forms_agree_with_the_simulation(name: str, values: dict[str, object]) -> None:
    chosen = pair(name, **values)
    releases = chosen.release(AGES, np.random.default_rng(len(str(values))), RELEASES)
    assert releases.shape == (RELEASES, *chosen.answer(AGES).shape)
    errors = chosen.errors(AGES, releases)
    seen = simulate(chosen, AGES, np.random.default_rng(len(str(values))), RELEASES).set_index("measure")
    assert set(errors) == {m.name for m in chosen.measures} == set(seen.index)
    for fact in facts(chosen, None, AGES):
        measure = chosen.measure_of(fact.measure)
        if measure.statistic == "quantile":
            check_quantile(fact, measure.level, errors[fact.measure])
            continue
        row = seen.loc[fact.measure]
        reach, gap = 4 * row["standard_error"], row["simulated"] - fact.value
        if fact.kind == "exact":
            assert abs(gap) <= reach, fact
        elif fact.kind == "upper":
            assert gap <= reach, fact
        elif fact.kind == "lower":
            assert gap >= -reach, fact


@pytest.mark.parametrize(
    ("name", "values"), CASES, ids=lambda v: v if isinstance(v, str) else ",".join(map(str, v.values()))
)
def test_bounds_lie_on_their_side_of_the_exact_number(name: str, values: dict[str, object]) -> None:
    chosen = pair(name, **values)
    for data in (AGES, CODES):
        known = chosen.closed_forms(data)
        exact = {f.measure: f.value for f in known if f.kind == "exact"}
        assert set(exact) == {m.name for m in chosen.measures}
        for fact in known:
            if fact.kind == "upper":
                assert fact.value >= exact[fact.measure] * (1 - 1e-12), fact
            elif fact.kind == "lower":
                assert fact.value <= exact[fact.measure] * (1 + 1e-12), fact


@pytest.mark.parametrize("name", OURS)
def test_every_pair_describes_itself(name: str) -> None:
    cls = PAIRS[name]
    chosen = pair(name)
    assert chosen.measures[0].name == chosen.measure
    assert all(getattr(cls, fact) for fact in ("title", "query", "mechanism", "formula", "assumptions", "reference"))
    assert all(not isinstance(v, str) or " " not in v for v in vars(chosen).values())  # they are written in links
    for data in (AGES, CODES):
        said = chosen.sentence(data)
        assert said.endswith(".")
        assert "nan" not in said
    assert chosen.region.kind in ("exact", "upper")
    assert chosen.depends_on_n() in (True, False)


def test_every_pair_is_compared_with_its_simulation_at_three_settings() -> None:
    for name in PAIRS:
        here = sum(name == other for other, _ in CASES)
        there = 3 * any(name == other for other, _ in ADDITIVE)  # each of them at three values of epsilon
        assert here + there >= 3, name


def test_larger_data_with_the_same_shares_are_better_known() -> None:
    chosen = pair("quantile_inverse", epsilon=0.1)
    few, many = (next(f.value for f in chosen.closed_forms(AGES, n) if f.measure == "distance") for n in (400, 4000))
    assert many < few
    assert chosen.closed_forms(AGES, AGES.n) == chosen.closed_forms(AGES)


# ---- median, errata 6 and 24 ---------------------------------------------------------------------------------


def test_the_score_is_twice_the_distance_of_the_mid_rank_from_the_middle() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        m, n = int(rng.integers(2, 9)), int(rng.integers(1, 12))
        x = rng.integers(1, m + 1, n)
        chosen = MedianExponential(1.0, m)
        data = Dataset(x, 1, m)
        for c, balance, rank in zip(range(1, m + 1), chosen.balance(data), chosen.costs(data)["rank"], strict=True):
            assert balance == sum(int(np.sign(c - v)) for v in x)
            position = sum(v < c for v in x) + sum(v == c for v in x) / 2
            assert abs(balance) == 2 * abs(position - n / 2) == 2 * rank


def test_tail_of_the_median_by_direct_sums() -> None:
    x = [1, 1, 2, 4, 4, 4, 7, 9]
    chosen = MedianExponential(0.7, 9, 2.5)
    weight = {c: math.exp(-0.7 / 4 * abs(sum((c > v) - (c < v) for v in x))) for c in range(1, 10)}
    far = [c for c in weight if abs(sum(v < c for v in x) + x.count(c) / 2 - 4) >= 2.5]
    value = math.fsum(weight[c] for c in far) / math.fsum(weight.values())
    data = Dataset(x, 1, 9)
    assert number_of(chosen, data, "miss") == pytest.approx(value, rel=1e-13)
    assert chosen.tail(data, "rank", 2.5) == pytest.approx(value, rel=1e-13)


def test_the_printed_median_bound_is_false_with_ties_and_the_corrected_one_holds() -> None:
    data = Dataset([1] * 70 + [2] * 30, 1, 2)
    chosen = MedianExponential(1.0, 2, 15.0)
    assert number_of(chosen, data, "miss") == 1.0
    assert printed_bound(1.0, 2, 15.0) == pytest.approx(0.047, abs=5e-4)
    kinds = {
        f.theorem.split(",")[2].strip()[:9]: f.kind
        for f in chosen.closed_forms(data)
        if f.measure == "miss" and f.formula
    }
    assert kinds == {"corrected": "upper", "as printe": "approximate"}
    assert number_of(chosen, data, "miss", "upper") == 1.0


def test_the_corrected_median_bound_holds_for_every_dataset_tried() -> None:
    rng = np.random.default_rng(4)
    broken = 0
    for _ in range(150):
        m, n = int(rng.integers(2, 7)), int(rng.integers(1, 60))
        data = Dataset(rng.choice(m, n, p=rng.dirichlet(np.full(m, 0.5))) + 1, 1, m)
        epsilon, t = float(rng.choice([0.2, 1.0, 3.0])), float(rng.uniform(0.5, n))
        chosen = MedianExponential(epsilon, m, t)
        exact, balance = number_of(chosen, data, "miss"), np.abs(chosen.balance(data))
        bound = corrected_bound(epsilon, m, t, float(balance.min()), int(np.sum(balance == balance.min())))
        assert exact <= bound * (1 + 1e-12)
        if balance.min() == 0:
            assert bound <= m * math.exp(-epsilon * t / 2) * (1 + 1e-12)  # erratum 6: twice the printed exponent
            assert bound <= printed_bound(epsilon, m, t)
        broken += exact > printed_bound(epsilon, m, t)
    assert broken > 5


# ---- inverse sensitivity and majority ------------------------------------------------------------------------


def test_steps_are_the_least_number_of_records_to_replace() -> None:
    rng = np.random.default_rng(1)
    for _ in range(12):
        m, n, level = int(rng.integers(2, 5)), int(rng.integers(1, 6)), float(rng.choice([0.1, 0.5, 0.8]))
        x = rng.integers(1, m + 1, n)
        chosen = QuantileInverse(1.0, level, m)
        rank = chosen.rank(n)
        least = np.full(m, 99)
        for other in itertools.product(range(1, m + 1), repeat=n):
            y = sorted(other)[rank - 1] - 1
            least[y] = min(least[y], int(np.sum(x != np.array(other))))
        data = Dataset(x, 1, m)
        assert chosen.steps(data).tolist() == least.tolist()
        assert float(chosen.answer(data)) == sorted(x)[rank - 1]


def test_the_inverse_sensitivity_mechanism_equals_the_bound_of_a_quarter_of_its_epsilon() -> None:
    for epsilon in (0.1, 1.0, 4.0):
        chosen = QuantileInverse(epsilon, 0.5, 40)
        assert number_of(chosen, AGES, "miss") == pytest.approx(least_miss(epsilon / 4, chosen.steps(AGES)), rel=1e-12)


def test_majority_formulas_and_how_the_two_mechanisms_compare() -> None:
    for n in (1, 4, 5, 8):
        for s in range(n + 1):
            data = Dataset([1] * s + [0] * (n - s), 0, 1)
            x = np.array([1] * s + [0] * (n - s))
            flips = [
                sum(a != b for a, b in zip(x, y, strict=True))
                for y in itertools.product((0, 1), repeat=n)
                if (2 * sum(y) >= n) != (2 * s >= n)
            ]
            assert steps_to_flip(s, n) == min(flips)
            first, second = (
                number_of(pair(f"majority_{m}", epsilon=0.8), data, "miss") for m in ("exponential", "inverse")
            )
            if 2 * s != n:
                assert first == pytest.approx(1 / (1 + math.exp(abs(2 * s - n) * 0.4)), rel=1e-12)
            assert second == pytest.approx(1 / (1 + math.exp(0.8 * steps_to_flip(s, n))), rel=1e-12)
            assert second <= first * (1 + 1e-12)
            assert second < first or n % 2 == 0
    for epsilon in (0.1, 1.0):  # at 3/eps from the middle the answer is right in 95 of 100 cases
        assert 1 / (1 + math.exp(-epsilon * math.ceil(3 / epsilon))) >= 0.95


# ---- randomized response, errata 9 and 21 --------------------------------------------------------------------


def test_the_survey_by_enumeration_of_all_answers() -> None:
    epsilon, truth = 0.9, [1, 0, 0, 1, 0]
    chosen, data = Survey(epsilon, 0.5, 0.4), Dataset([1.0, 0, 0, 1, 0], 0, 1)
    p, q, n = chosen.truth, chosen.lie, 5
    mean = square = far = 0.0
    for said in itertools.product((0, 1), repeat=n):
        chance = math.prod(p if a == b else q for a, b in zip(said, truth, strict=True))
        estimate = (sum(said) / n - q) / chosen.nu
        mean, square = mean + chance * estimate, square + chance * (estimate - 0.4) ** 2
        far += chance * (abs(estimate - 0.4) >= 0.4)
    assert mean == pytest.approx(0.4, rel=1e-13)
    assert number_of(chosen, data, "mse") == pytest.approx(square, rel=1e-12)
    assert number_of(chosen, data, "miss") == pytest.approx(far, rel=1e-12)
    assert square == pytest.approx(p * (1 - p) / (n * (2 * p - 1) ** 2), rel=1e-12)


def test_gamma_and_nu_are_the_same_survey() -> None:
    assert from_gamma(0.25).epsilon_ == pytest.approx(math.log(3), rel=1e-14)
    assert Survey.from_nu(0.5).epsilon == pytest.approx(math.log(3), rel=1e-14)
    assert Survey(from_gamma(0.1).epsilon_).nu == pytest.approx(0.2, rel=1e-13)
    assert from_gamma(0.1).epsilon_ < 2 * 0.1 + math.log(2)  # erratum 9: the printed value is valid and loose
    assert from_gamma(0.1).epsilon_ == pytest.approx(0.4055, abs=5e-5)


def test_the_printed_nu_estimator_is_biased_and_the_corrected_one_is_not() -> None:
    nu, theta = 0.4, 0.3
    said = (1 - nu) / 2 + nu * theta  # chance of yes
    assert said / nu - (1 - nu) / (2 * nu) == pytest.approx(theta, rel=1e-13)
    assert said / nu**2 - (1 - nu) / (2 * nu) - theta > 1.0
    survey = Survey(from_nu(nu).epsilon_)
    # course: mean squared error against the population
    assert survey.statistical_mse(theta, 50) == pytest.approx(said * (1 - said) / (50 * nu**2), rel=1e-12)


def test_k_answers_by_enumeration() -> None:
    chosen, data = SurveyMany(1.2, 3, 0.5), Dataset.coded([0, 0, 1, 2], ("a", "b", "c"))
    truth, n = [0, 0, 1, 2], 4
    p = math.exp(1.2) / (math.exp(1.2) + 2)
    o = (1 - p) / 2
    square = far = 0.0
    for said in itertools.product(range(3), repeat=n):
        chance = math.prod(p if a == b else o for a, b in zip(said, truth, strict=True))
        share = (np.bincount(said, minlength=3) / n - o) / (p - o)
        square += chance * float(np.sum((share - np.array([0.5, 0.25, 0.25])) ** 2))
        far += chance * (abs(share[0] - 0.5) >= 0.5)
    assert number_of(chosen, data, "mse") == pytest.approx(square, rel=1e-12)
    assert number_of(chosen, data, "miss") == pytest.approx(far, rel=1e-12)
    assert chosen.region.total_variation == pytest.approx(p - o, rel=1e-12)
    assert pair("answer_rr", epsilon=0.7, size=6).region.total_variation == pytest.approx(
        math.expm1(0.7) / (math.exp(0.7) + 5)
    )


@pytest.mark.parametrize(("n", "p", "m", "q"), [(30, 0.2, 50, 0.7), (0, 0.3, 4, 0.5), (60_000, 0.999, 40_000, 0.001)])
def test_sums_of_binomials(n: int, p: float, m: int, q: float) -> None:
    law = TwoBinomials(n, (p, 1 - p), m, (q, 1 - q))
    width = 3 * math.sqrt(law.variance)
    with mpmath.workdps(30):
        near = range(math.ceil(law.mean - width), math.floor(law.mean + width) + 1)
        first = {
            k: mpmath.binomial(n, k) * mpmath.mpf(p) ** k * mpmath.mpf(1 - p) ** (n - k)
            for k in range(max(0, n - 150), n + 1)
        }
        second = {
            k: mpmath.binomial(m, k) * mpmath.mpf(q) ** k * mpmath.mpf(1 - q) ** (m - k) for k in range(min(m, 120) + 1)
        }
        inside = mpmath.fsum(first.get(y - k, 0) * mass for y in near for k, mass in second.items() if y - k >= 0)
        if abs(1 - mpmath.fsum(first.values())) > 1e-14:
            pytest.fail("the reference must cover the whole law")
    step = 1e-6  # distances are told apart up to rounding
    assert law.tail(width + step) == pytest.approx(float(1 - inside), rel=1e-9)
    assert law.tail(0.0) == pytest.approx(1.0)
    t = law.quantile(0.9)
    assert law.tail(t + step) <= 0.1 < law.tail(t)


# ---- what is refused -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "values", "says"),
    [
        ("median_exponential", {"size": 1}, "size must be an integer in"),
        ("median_exponential", {"epsilon": 0}, "epsilon must be"),
        ("scores_laplace", {"scores": [1.0]}, "scores must be a list of 2 to 200 numbers, got 1"),
        ("scores_laplace", {"moves": "sam"}, "Did you mean same"),
        ("threshold_list", {"answers": [0.0] * 201}, "got 201"),
        ("survey_rr", {"within": 1.0}, "within must be"),
        ("quantile_inverse", {"level": 1.0}, "level must be"),
    ],
)
def test_wrong_parameters_are_named(name: str, values: dict[str, object], says: str) -> None:
    with pytest.raises(DomainError, match=says):
        pair(name, **values)


def test_other_refusals() -> None:
    with pytest.raises(DomainError, match="must be one of its 101 options"):
        pair("median_exponential").errors(AGES, np.array([41.5]))
    with pytest.raises(DomainError, match="known for these records only"):
        pair("quantile_exponential").closed_forms(AGES, 7)
    with pytest.raises(DomainError, match="noise must be one of"):
        winners(np.zeros(2), "cauchy")
    with pytest.raises(DomainError, match="at most 200 candidates, got 201"):
        winners(np.zeros(201), "laplace")
    with pytest.raises(DomainError, match="one column"):
        pair("median_exponential").closed_forms(Dataset.example(10, 2))


def test_a_form_may_offer_more_answers_than_the_data_have_but_not_fewer() -> None:
    chosen = pair("survey_many_rr", bins=5)
    assert chosen.answer(CODES).tolist() == pytest.approx([90 / 201, 60 / 201, 51 / 201, 0.0, 0.0])
    assert len(chosen.labels(CODES)) == 5
    with pytest.raises(DomainError, match="bins must be at least 3"):
        pair("survey_many_rr", bins=2).closed_forms(CODES)
