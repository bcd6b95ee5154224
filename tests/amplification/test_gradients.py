"""Many steps on samples: the certified number, the Rényi bound by high precision, and the CLT flagged."""

from __future__ import annotations

import itertools
import math
import time

import mpmath as mp
import numpy as np
import pytest
from pandas.testing import assert_frame_equal
from scipy.special import ndtr, ndtri

import dpcore
from dpcore.central_limit.convergence import ABOVE, BELOW
from dpcore.charts.amplified import rate_figure, steps_figure
from dpcore.core.effort import effort
from dpcore.core.errors import BudgetError, DomainError
from dpcore.training import clt_mu, gradient_ladder, gradients, rates, renyi, renyi_epsilon
from dpcore.training.gradients import ACCOUNTANT, COMPOSED, MOMENTS, RENYI, STEPS, WHOLE, Training


def test_the_number_of_2250_steps_is_certified_and_narrow() -> None:
    with effort(tolerance=1e-3):
        rows = gradients(1.5, 0.04, 2250, 1e-5).set_index("theorem")
    low, high = rows.loc[COMPOSED, "epsilon_lower"], rows.loc[COMPOSED, "epsilon"]
    assert low <= 6.76878 <= high
    assert high == pytest.approx(6.769, abs=1e-3)
    assert (high - low) / high < 1e-3
    assert rows["kind"].to_dict() == {
        COMPOSED: "upper",
        RENYI: "upper",
        ACCOUNTANT: "approximate",
        MOMENTS: "approximate",
        WHOLE: "exact",
    }
    assert rows.loc[RENYI, "epsilon"] == pytest.approx(7.3284, abs=5e-4)
    assert rows.loc[ACCOUNTANT, "epsilon"] == pytest.approx(6.6016, abs=5e-4)
    assert "below the truth by 0.167 or more" in rows.loc[ACCOUNTANT, "note"]
    assert not rows.isna().any().any()


def test_the_accountants_number_is_the_published_one() -> None:
    """A thousand steps, sigma 1, q 0.01: GDP accountants print 1.6177, the truth is 1.8282."""
    assert clt_mu(1.0, 0.01, 1000) == pytest.approx(0.01 * math.sqrt(1000 * (math.e - 1)), rel=1e-14)
    assert dpcore.gdp(clt_mu(1.0, 0.01, 1000)).epsilon(1e-5) == pytest.approx(1.6177, abs=1e-4)
    with effort(tolerance=1e-3):
        rows = gradients(1.0, 0.01, 1000, 1e-5).set_index("theorem")
    assert rows.loc[COMPOSED, "epsilon"] == pytest.approx(1.8282367, abs=1e-5)
    assert rows.loc[ACCOUNTANT, "epsilon"] == pytest.approx(1.6177, abs=1e-4)


@pytest.mark.parametrize(
    ("sigma", "q", "order"), [(1.0, 0.01, 8.0), (1.5, 0.04, 3.5), (0.6, 0.3, 1.5), (2.0, 0.9, 20.0)]
)
def test_renyi_divergences_by_integration(sigma: float, q: float, order: float) -> None:
    mu = mp.mpf(1) / sigma

    def ratio(x: mp.mpf) -> mp.mpf:
        return 1 - q + q * mp.exp(mu * x - mu * mu / 2)

    with mp.workdps(30):
        ends = [-15, 0, float(order * mu) / 2, float(order * mu), float(order * mu) + 15]
        added = mp.log(mp.quad(lambda x: mp.npdf(x) * ratio(x) ** order, ends)) / (order - 1)
        removed = mp.log(mp.quad(lambda x: mp.npdf(x) * ratio(x) ** (1 - mp.mpf(order)), ends)) / (order - 1)
    truth = float(max(added, removed))
    found = float(renyi(sigma, q, order)[0])
    assert truth <= found
    assert found == pytest.approx(truth, rel=1e-9, abs=2e-11)


def test_renyi_without_sampling_is_gaussian() -> None:
    assert renyi(2.0, 1.0, [2.0, 8.0]).tolist() == pytest.approx([0.25, 1.0], rel=1e-14)
    assert math.isinf(renyi(0.05, 0.5, 1000.0)[0])


@pytest.mark.parametrize(("sigma", "q", "steps"), [(1.0, 0.01, 1000), (0.8, 0.001, 10_000), (3.0, 0.5, 50)])
def test_the_renyi_bound_is_above_the_truth_and_the_best_of_its_orders(sigma: float, q: float, steps: int) -> None:
    bound, order = renyi_epsilon(sigma, q, steps, 1e-6)
    with effort(tolerance=1e-3):
        truth = float(Training(sigma, q, steps).region.epsilon_bounds(np.array([1e-6]))[0][0])
    assert truth <= bound <= 2 * truth
    for other in (order * 0.9, order * 1.1):
        a = max(other, 1.0001)
        value = steps * float(renyi(sigma, q, a)[0]) + math.log1p(-1 / a) - (math.log(1e-6) + math.log(a)) / (a - 1)
        assert bound <= value + 1e-9


def test_one_step_has_rates_of_the_best_threshold() -> None:
    """Second route for one step: accuse above a threshold of the noisy sum, either way round."""
    sigma, q, fpr = 0.7, 0.2, np.array([0.1, 1e-3, 1e-5])
    found = rates(sigma, q, 1, fpr.tolist())
    cut = -ndtri(fpr) * sigma
    added = (1 - q) * fpr + q * ndtr((1 - cut) / sigma)
    assert np.all(found["tpr"] >= added * (1 - 1e-9))
    assert np.all(found["tpr_lower"] <= found["tpr"])
    np.testing.assert_allclose(found["tpr"], added, rtol=1e-6)


def test_rates_after_many_steps() -> None:
    with effort(tolerance=1e-3):
        found = rates(1.5, 0.04, 2250)
    assert np.all((found["tpr"] - found["tpr_lower"]) <= 1e-3 * found["tpr"])
    assert np.all(found["renyi"] >= found["tpr"])
    assert found["verdict"].iloc[0] == ABOVE
    assert found["verdict"].iloc[-1] == BELOW
    assert found["clt"].iloc[-1] < found["tpr_lower"].iloc[-1]
    assert not found.isna().any().any()


def test_rates_by_simulation() -> None:
    """Four standard errors: the likelihood-ratio test on simulated runs never finds more than is certified."""
    sigma, q, steps, runs = 1.5, 0.04, 200, 4000
    rng = np.random.default_rng(7)

    def losses(inside: bool) -> np.ndarray:
        noise = rng.normal(0.0, 1.0, (runs, steps))
        noise += (rng.random((runs, steps)) < q) / sigma if inside else 0.0
        return np.log1p(q * np.expm1(noise / sigma - 1 / (2 * sigma**2))).sum(axis=1)

    outside, inside = losses(inside=False), losses(inside=True)
    cut = float(np.quantile(outside, 0.9))
    alpha, power = float((outside > cut).mean()), float((inside > cut).mean())
    with effort(tolerance=1e-3):
        row = rates(sigma, q, steps, [alpha]).iloc[0]
    room = 4 * math.sqrt(0.25 / runs) * 2
    assert power <= row["tpr"] + room
    assert power >= row["tpr_lower"] - room


def test_the_ladder_of_steps() -> None:
    with effort(tolerance=1e-3):
        frame = gradient_ladder(1.5, 0.04, 1e-5, [1, 1000])
    assert list(frame.columns) == ["k", "title", "epsilon", "epsilon_lower", "note", "kind", "theorem", "neighbours"]
    assert frame.loc[frame["theorem"] == COMPOSED, "k"].tolist() == [1, 1000]
    assert frame.loc[frame["kind"] != "none", "k"].size == len(frame)
    with pytest.raises(BudgetError, match="time allowed"), effort(deadline=0.0):
        gradient_ladder(1.5, 0.04, 1e-5, [1, 1000])
    with pytest.raises(DomainError, match="at least one"):
        gradient_ladder(1.5, 0.04, 1e-5, [])


@pytest.mark.parametrize(("sigma", "q"), [(1.5, 0.04), (1.0, 0.01), (4.0, 0.2)])
def test_a_straight_line_between_the_steps_drawn_is_close(sigma: float, q: float) -> None:
    """Half-way between two points of the ladder, both axes logarithmic, the line is at most 1.5 % off."""
    between = [round(math.sqrt(a * b)) for a, b in itertools.pairwise(STEPS[1:])]
    with effort(tolerance=1e-3):
        drawn, exact = (gradient_ladder(sigma, q, 1e-5, steps) for steps in (STEPS, between))
    own = drawn[drawn["theorem"] == COMPOSED]
    line = np.exp(np.interp(np.log(between), np.log(own["k"]), np.log(own["epsilon"])))
    np.testing.assert_allclose(line, exact.loc[exact["theorem"] == COMPOSED, "epsilon"], rtol=0.015)


def test_a_table_with_little_work_keeps_the_quick_rows() -> None:
    with effort(tolerance=1e-3):
        few = gradient_ladder(0.22, 1e-6, 1e-9, [100, 1000], work=1e5)
    kinds = few[few["theorem"] == COMPOSED].set_index("k")["kind"].to_dict()
    assert kinds == {100: "upper", 1000: "none"}
    figure = steps_figure(few, delta=1e-9)
    assert figure.notes == ("Not drawn: dpcore at T = 1 000. That takes more operations than are allowed.",)


def test_the_figure_of_rates() -> None:
    with effort(tolerance=1e-3):
        figure = rate_figure(rates(1.5, 0.04, 2250))
    assert "wrongly accuses 1 of 1 000 000 people outside the data finds at most 47 of 100 000" in figure.takeaway
    assert "the CLT says about 43 of 100 000 (approximation, below the truth)" in figure.takeaway


def test_the_figure_of_steps_speaks_of_steps() -> None:
    with effort(tolerance=1e-3):
        figure = steps_figure(gradient_ladder(1.5, 0.04, 1e-5, [1, 1000]), delta=1e-5, steps=1000)
    assert figure.takeaway == "At δ = 1e-5, ε is at most 0.277 for T = 1 and 4.29 for T = 1 000 (upper bound)."
    assert "Number of steps T" in figure.chart.to_json()
    assert "Number of mechanisms" not in figure.chart.to_json()


@pytest.mark.parametrize(
    ("change", "name"), [({"sigma": 0}, "sigma"), ({"q": 0}, "q"), ({"steps": 0}, "T"), ({"q": 2}, "q")]
)
def test_training_has_domains(change: dict[str, float], name: str) -> None:
    with pytest.raises(DomainError, match=f"^{name} must be"):
        Training(**{"sigma": 1.0, "q": 0.1, "steps": 10, **change})  # type: ignore[arg-type]  # wrong on purpose


def test_full_batches_are_gaussian_privacy() -> None:
    training = Training(2.0, 1.0, 16)
    assert training.own_mu == training.whole_mu == 2.0
    rows = gradients(2.0, 1.0, 16, 1e-5).set_index("theorem")
    assert rows.loc[COMPOSED, "epsilon"] == pytest.approx(rows.loc[WHOLE, "epsilon"], rel=1e-9)


def test_the_clock_changes_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    with effort(tolerance=1e-3):
        slow = gradient_ladder(0.22, 1e-6, 1e-9, [1, 100, 1000])
    clock = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: 8 * clock())
    with effort(tolerance=1e-3, deadline=1e4):
        fast = gradient_ladder(0.22, 1e-6, 1e-9, [1, 100, 1000])
    assert_frame_equal(slow, fast, check_exact=True)
    certified = slow[slow["theorem"] == COMPOSED].set_index("k")
    assert certified["kind"].to_dict() == {1: "exact", 100: "upper", 1000: "none"}
    assert "reached the relative width" in certified.loc[1000, "note"]
    bounded = slow[slow["theorem"] == RENYI]
    assert np.isfinite(bounded["epsilon"]).all()  # what needs no composition is there for every number of steps
