"""One use of a sample: statements by formula, the region by counting samples, and the claim that ties them together."""

from __future__ import annotations

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpcore
from dpcore import RelationError, parse
from dpcore.charts.amplified import forms_figure
from dpcore.core.errors import DomainError
from dpcore.training import FIXED, POISSON, form_table, forms, sampled

LAWS = settings(max_examples=40, deadline=None)


@LAWS
@given(st.floats(1e-6, 900), st.floats(0, 1), st.floats(0, 1), st.floats(1e-6, 0.999))
def test_a_statement_is_amplified_by_the_formula_and_rounded_up(
    epsilon: float, delta: float, eta: float, p: float
) -> None:
    found = sampled(epsilon, delta, eta, p)
    with mp.workdps(60):
        truth = mp.log(1 + mp.mpf(p) * mp.expm1(mp.mpf(epsilon)))
        assert mp.mpf(found.epsilon) >= truth
        assert mp.mpf(found.epsilon) <= truth * (1 + mp.mpf(10) ** -13)
    assert p * delta <= found.delta <= min(1.0, p * delta * (1 + 1e-14) + 1e-320)
    assert p * eta <= found.eta <= min(1.0, p * eta * (1 + 1e-14) + 1e-320)


@pytest.mark.parametrize("change", [{"epsilon": -1}, {"delta": 2}, {"eta": -0.1}, {"p": 0}, {"p": 1.5}])
def test_statements_have_domains(change: dict[str, float]) -> None:
    given_ = {"epsilon": 1.0, "delta": 0.1, "eta": 0.3, "p": 0.5, **change}
    with pytest.raises(DomainError, match=f"^{next(iter(change))} must be"):
        sampled(**given_)


@LAWS
@given(
    st.sampled_from(["gdp(1)", "laplace(1)", "dp(1, 0.01)", "dptv(1, 0.01, 0.2)", "rr(1, 5)", "laplace(0.2) * gdp(1)"]),
    st.floats(0.001, 1),
    st.floats(0, 5),
)
def test_the_region_is_what_all_statements_say_together(text: str, p: float, epsilon: float) -> None:
    base = parse(text)
    whole = dpcore.subsample(base, p)
    after = math.log1p(p * math.expm1(epsilon))
    assert whole.delta(after) == pytest.approx(p * float(base.delta(epsilon)), rel=1e-9, abs=1e-15)


@LAWS
@given(st.floats(0.05, 4), st.floats(0, 0.2), st.floats(0.05, 1), st.floats(0.01, 1))
def test_three_numbers_stay_three_numbers(epsilon: float, delta: float, share: float, p: float) -> None:
    eta = delta + share * (1 - delta) * math.tanh(epsilon / 2)
    base = dpcore.dptv(epsilon, delta, eta)
    _, plain, helped, whole = forms(base, p, delta=delta)
    assert helped.kind == "exact"
    grid = np.linspace(0, epsilon, 30)
    np.testing.assert_allclose(helped.region.delta(grid), whole.region.delta(grid), rtol=1e-9, atol=1e-13)
    assert np.all(plain.region.delta(grid) >= whole.region.delta(grid) - 1e-13)


def binary_answer(share_of_ones: float, epsilon: float) -> np.ndarray:
    """Return the law of a coin that says the truth about one record with odds e^epsilon."""
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    one = share_of_ones * keep + (1 - share_of_ones) * (1 - keep)
    return np.array([1 - one, one])


def test_a_sample_of_fixed_size_by_counting_all_samples() -> None:
    """Two of four records are drawn, then randomized response about the first record of the sample: all samples counted."""
    n, epsilon = 4, 1.0

    def law(data: tuple[int, ...]) -> np.ndarray:
        return sum(binary_answer(float(data[pair[0]]), epsilon) for pair in itertools.permutations(range(n), 2)) / (
            n * (n - 1)
        )

    pair = dpcore.pmf(law((0, 0, 0, 0)).tolist(), law((1, 0, 0, 0)).tolist())
    # the mechanism looks at one record only, so a record counts with probability 1/n
    region = dpcore.subsample(dpcore.dp(epsilon), 1 / n)
    alpha = np.linspace(0, 1, 101)
    assert np.all(pair.pair.beta_bounds(alpha)[0] >= region.beta(alpha) - 1e-12)
    assert pair.total_variation == pytest.approx(region.total_variation, rel=1e-12)
    assert pair.epsilon(0.0) == pytest.approx(math.log1p(math.expm1(epsilon) / n), rel=1e-12)


def test_a_poisson_sample_by_counting_all_samples() -> None:
    """Two records, each drawn with probability p, a geometric count of those drawn; one record is added."""
    p, epsilon, span = 0.3, 0.8, 60
    noise = np.exp(-epsilon * np.abs(np.arange(-span, span + 1)))
    noise /= noise.sum()

    def law(records: int) -> np.ndarray:
        out = np.zeros(2 * span + 4)
        for drawn in itertools.product((0, 1), repeat=records):
            weight = math.prod(p if one else 1 - p for one in drawn)
            out[sum(drawn) : sum(drawn) + noise.size] += weight * noise
        return out / out.sum()

    few, many = law(1), law(2)
    keep = (few > 0) & (many > 0)
    pair = dpcore.pmf((few[keep] / few[keep].sum()).tolist(), (many[keep] / many[keep].sum()).tolist())
    whole = forms(dpcore.geometric(epsilon), p, scheme=POISSON, delta=0.0)[3].region
    assert whole.neighbours == "add/remove"
    at = np.linspace(0, 1, 21)
    assert np.all(pair.delta(at) <= whole.delta(at) + 1e-12)
    # with no other record the bound is attained
    alone = dpcore.pmf(law(0)[: noise.size + 1].tolist(), law(1)[: noise.size + 1].tolist())
    assert alone.total_variation == pytest.approx(whole.total_variation, rel=1e-9)


def test_the_poisson_gaussian_is_the_same_region() -> None:
    whole = forms(dpcore.gaussian(1.5), 0.04, scheme=POISSON)[3].region
    named = dpcore.poisson_gaussian(1.5, 0.04)
    at = np.linspace(0, 2, 21)
    np.testing.assert_allclose(whole.delta(at), named.delta(at), rtol=1e-12, atol=1e-300)


def test_forms_and_their_kinds() -> None:
    found = forms(dpcore.gaussian(1.0), 0.1, scheme=POISSON)
    table = form_table(found)
    assert table["kind"].tolist() == ["exact", "upper", "upper", "exact"]
    assert table["neighbours"].tolist() == ["any", *[form.region.neighbours for form in found[-1:]] * 3]
    assert table["epsilon"].iloc[3] == pytest.approx(table["epsilon"].iloc[1], rel=1e-9)
    assert table["total_variation"].iloc[2] == pytest.approx(0.1 * table["total_variation"].iloc[0], rel=1e-9)
    assert not table.isna().any().any()
    powers = [float(form.region.power(0.05)) for form in found]
    assert powers[3] < powers[2] < powers[1]
    assert powers[3] < powers[0]
    figure = forms_figure(found)
    assert (
        "finds at most 26 of 100 people inside it before sampling (exact) and 71 of 1 000 after it" in figure.takeaway
    )
    exact = forms_figure(forms(dpcore.dp(1.0, 0.01), 0.1, delta=0.01))
    assert "The statement (ε, δ, η) says exactly that" in exact.takeaway


def test_without_sampling_nothing_changes() -> None:
    before, plain, _, whole = forms(dpcore.dp(1.0, 0.01), 1.0, delta=0.01)
    assert before.region.same_region(whole.region)
    assert plain.kind == "exact"


def test_the_relation_is_checked() -> None:
    with pytest.raises(RelationError, match="add/remove neighbours"):
        forms(parse("rr(1, 5)"), 0.1, scheme=POISSON)
    with pytest.raises(RelationError, match="substitution neighbours"):
        forms(parse("poisson_gaussian(1, 0.5)"), 0.1, scheme=FIXED)
    again = forms(parse("poisson_gaussian(1, 0.5)"), 0.1, scheme=POISSON)[3].region
    once = parse("poisson_gaussian(1, 0.05)")
    assert again.total_variation == pytest.approx(once.total_variation, rel=1e-9)
    with pytest.raises(DomainError, match="scheme must be one of"):
        forms(dpcore.dp(1.0), 0.1, scheme="shuffled")
    with pytest.raises(DomainError, match="state a larger δ"):
        forms(dpcore.gaussian(1.0), 0.1, delta=0.0)
