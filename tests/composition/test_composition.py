"""One mechanism k times: every theorem's numbers against second routes, and the best one is the best."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

import dpcore
from dpcore.central_limit.gaussians import epsilons_of
from dpcore.core.effort import effort
from dpcore.core.errors import DomainError
from dpcore.theorems import advanced_course, advanced_drv, kov_simplified_epsilon
from dpcore.theorems.composition import (
    KS,
    TITLES,
    best,
    ladder,
    limit,
    rungs,
    statements,
    step_of,
    theorem_regions,
    verdict,
)
from dpcore.theorems.sharing import statement_epsilon

if TYPE_CHECKING:
    import pandas as pd

PRESETS = Path(__file__).resolve().parents[2] / "data" / "presets" / "composition.toml"
MECHANISMS = [
    "dp(0.6, 0.05)",
    "dptv(0.1, 0, 0.03)",
    "laplace(0.2)",
    "gaussian(3)",
    "rr(1, 5)",
    "tv(0.1)",
    "dp(0)",
]


def epsilon_of(rows: pd.DataFrame, theorem: str) -> float:
    return float(rows.loc[rows["theorem"] == theorem, "epsilon"].iloc[0])


# ---- the central limit ---------------------------------------------------------------------------------------


def test_the_limit_of_pure_privacy_has_the_moments_of_the_paper() -> None:
    found = limit(dpcore.dp(0.5))
    kl, square, third = 0.1224593312018546, 0.25, 0.12455022270453478
    assert found.mu == pytest.approx(2 * kl / math.sqrt(square - kl**2), rel=1e-12)
    assert found.band == pytest.approx(0.56 * third / (square - kl**2) ** 1.5, rel=1e-10)


@pytest.mark.parametrize(
    ("epsilon", "k", "mu", "gamma"),
    [(0.5, 100, 5.05224634, 0.06122382), (0.1, 100, 1.00041672, 0.05620996), (1.0, 20, 4.66081810, 0.17135492)],
)
def test_limit_and_band_of_known_cases(epsilon: float, k: int, mu: float, gamma: float) -> None:
    found = limit(dpcore.dp(epsilon))
    assert found.mu * math.sqrt(k) == pytest.approx(mu, rel=1e-8)
    assert found.gamma(k) == pytest.approx(gamma, rel=1e-6)


def test_the_band_holds_around_the_exact_curve() -> None:
    found, k = limit(dpcore.dptv(0.5, 0.0, 0.15)), 100
    gamma = found.gamma(k)
    alpha = np.linspace(gamma, 1 - gamma, 40)
    exact = (dpcore.dptv(0.5, 0.0, 0.15) ** k).beta(alpha)
    centre = dpcore.gdp(found.mu * math.sqrt(k))
    assert np.all(exact >= centre.beta(np.minimum(alpha + gamma, 1.0)) - gamma - 1e-12)
    assert np.all(exact <= centre.beta(np.maximum(alpha - gamma, 0.0)) + gamma + 1e-12)


def test_moments_of_a_smooth_curve_by_a_second_route() -> None:
    epsilon = 0.7
    # loss of Laplace noise: epsilon with mass 1/2, -epsilon with mass e^-epsilon / 2, a density between
    mean = mp.quad(lambda x: (abs(x) - abs(x - epsilon)) * mp.exp(-abs(x - epsilon)) / 2, [-60, 0, epsilon, 60])
    square = mp.quad(lambda x: (abs(x) - abs(x - epsilon)) ** 2 * mp.exp(-abs(x - epsilon)) / 2, [-60, 0, epsilon, 60])
    assert limit(dpcore.laplace(epsilon)).mu == pytest.approx(float(2 * mean / mp.sqrt(square - mean**2)), rel=1e-9)


def test_the_limit_of_subsampled_gaussian_noise_is_near_its_known_rate() -> None:
    q, sigma = 0.01, 2.0
    assert limit(dpcore.poisson_gaussian(sigma, q)).mu == pytest.approx(q * math.sqrt(math.expm1(sigma**-2)), rel=0.02)


@pytest.mark.parametrize("text", ["dp(1, 1)", "dp(0)", "zcdp(0.1)", "exponential(0.1)"])
def test_no_limit_says_why(text: str) -> None:
    with pytest.raises(DomainError, match=r"[.]$"):
        limit(dpcore.parse(text))


# ---- statements ----------------------------------------------------------------------------------------------


def test_a_bounded_mechanism_becomes_its_strongest_statement() -> None:
    step = step_of(dpcore.laplace(0.5))
    assert (step.epsilon, step.delta) == (0.5, 0.0)
    assert step.eta == pytest.approx(-math.expm1(-0.25), rel=1e-12)
    assert not step.attained
    assert "laplace(0.5) taken as" in step.note


def test_an_unbounded_mechanism_spends_half_of_delta() -> None:
    step = step_of(dpcore.gaussian(2.0), 50, 1e-6)
    assert step.delta == pytest.approx(1e-8)
    assert step.epsilon == pytest.approx(float(dpcore.gaussian(2.0).epsilon(1e-8)))


@given(epsilon=some.floats(1e-3, 20), share=some.floats(0.01, 1), delta=some.floats(0, 0.9))
@settings(max_examples=40, deadline=None)
def test_the_bounding_gaussian_contains_the_statement(epsilon: float, share: float, delta: float) -> None:
    eta = delta + (1 - delta) * share * math.tanh(epsilon / 2)
    step = step_of(dpcore.dptv(epsilon, delta, eta) if share < 1 else dpcore.dp(epsilon, delta))
    at = np.linspace(0, 1.2 * epsilon, 25)
    gaussian = dpcore.gdp(step.bounding_mu).delta_bounds(at)[1]
    assert np.all(delta + (1 - delta) * gaussian >= step.region.delta_bounds(at)[0] * (1 - 1e-12))


def test_statement_epsilon_is_the_region_s() -> None:
    for epsilon, delta, at in [(3.0, 0.1, 0.2), (10.0, 0.0, 1e-6), (0.5, 0.3, 0.9), (800.0, 0.0, 0.3)]:
        found = statement_epsilon(epsilon, delta, at)
        assert found == pytest.approx(float(dpcore.dp(epsilon, delta).epsilon(at)), rel=1e-12, abs=1e-15)
    assert statement_epsilon(1.0, 0.2, 0.1) == math.inf


def test_gaussian_epsilons_are_the_curve_s() -> None:
    mu = np.array([1e-3, 0.1, 1.0, 5.0, 60.0])
    for delta in (1e-12, 1e-6, 0.1):
        found = epsilons_of(mu, np.zeros(5), delta)
        assert found == pytest.approx([float(dpcore.gdp(m).epsilon(delta)) for m in mu], rel=1e-10, abs=1e-14)
    assert epsilons_of(np.array([1.0]), np.array([0.2]), 0.1)[0] == math.inf
    lost = epsilons_of(np.array([1.0]), np.array([0.05]), 0.1)[0]
    assert lost == pytest.approx(float((dpcore.gdp(1.0) * dpcore.tv(0.05)).epsilon(0.1)), rel=1e-9)


# ---- ladder --------------------------------------------------------------------------------------------------


def test_closed_forms_are_the_theorems_own() -> None:
    rows = ladder("dp(0.1, 1e-8)", 1e-5, [1, 40, 900])
    for k in (1, 40, 900):
        own = rows[rows["k"] == k]
        simple = float(kov_simplified_epsilon([(0.1, 1e-8, k)], 1e-5)["epsilon"].iloc[0])
        # the whole statement also uses delta below its own corner, which is worth less than 2 delta
        assert simple - 2e-5 <= epsilon_of(own, "kov_simplified") <= simple * (1 + 1e-12)
        drv = float(advanced_drv(0.1, 1e-8, k, 1e-5 - k * 1e-8)["epsilon"].iloc[0])
        assert epsilon_of(own, "advanced_drv") == pytest.approx(drv, rel=1e-10)
        assert epsilon_of(own, "basic") == pytest.approx(0.1 * k, abs=2e-5)
        assert epsilon_of(own, "kov_optimal") == pytest.approx(
            float((dpcore.dp(0.1, 1e-8) ** k).epsilon(1e-5)), rel=1e-12
        )


def test_the_pure_theorem_ends_where_its_domain_ends() -> None:
    rows = ladder("dp(0.1)", 1e-6, [1000, 2000])
    first, second = (rows[(rows["k"] == k) & (rows["theorem"] == "advanced_course")].iloc[0] for k in (1000, 2000))
    assert first["epsilon"] == pytest.approx(float(advanced_course(0.1, 1000, 1e-6)["epsilon"].iloc[0]), rel=1e-12)
    assert (second["kind"], second["epsilon"]) == ("none", math.inf)
    assert "ε²k" in second["note"]


@pytest.mark.parametrize("delta", [0.0, 1e-9, 1e-3, 0.3, 1.0])
@pytest.mark.parametrize("text", MECHANISMS)
def test_the_best_is_never_worse_than_any_other_promise(text: str, delta: float) -> None:
    rows = ladder(text, delta, [1, 7, 200])
    assert not rows.isna().any().any()
    assert set(rows["kind"]) <= {"exact", "upper", "approximate", "none"}
    assert (rows.loc[rows["kind"] == "none", "note"].str.len() > 10).all()
    assert (rows.loc[rows["epsilon"] == math.inf, "note"].str.len() > 10).all()
    for k, own in rows.groupby("k"):
        assert set(own["theorem"]) == set(TITLES)
        top, held = best(own), own[own["kind"].isin(["exact", "upper"])]
        if top is None:
            assert (held["epsilon"] == math.inf).all()
            continue
        assert (held["epsilon"] >= top["epsilon"]).all()
        said = verdict(own, delta)
        assert f"**{top['title']}** is best" in said
        assert f"k = {k}" in said


@given(epsilon=some.floats(1e-3, 3), delta=some.floats(0, 1e-3), share=some.floats(0.05, 0.95), k=some.integers(1, 300))
@settings(max_examples=30, deadline=None)
def test_sharper_theorems_promise_more(epsilon: float, delta: float, share: float, k: int) -> None:
    eta = delta + (1 - delta) * share * math.tanh(epsilon / 2)
    rows = ladder(dpcore.dptv(epsilon, delta, eta), 0.01, [k])
    order = [epsilon_of(rows, name) for name in ("dptv", "kov_optimal", "kov_simplified")]
    assert order[0] <= order[1] * (1 + 1e-9) + 1e-15
    assert order[1] <= order[2] * (1 + 1e-9) + 1e-15
    assert order[2] <= epsilon_of(rows, "basic") * (1 + 1e-9) + 1e-15
    assert epsilon_of(rows, "dptv") <= epsilon_of(rows, "gdp") * (1 + 1e-9) + 1e-15


def test_the_mechanism_itself_is_inside_its_statement() -> None:
    rows = ladder("laplace(0.3)", 1e-6, [50])
    assert epsilon_of(rows, "exact") <= epsilon_of(rows, "dptv")
    assert best(rows)["theorem"] == "exact"  # type: ignore[index]  # a row is found here


def test_gaussian_noise_is_composed_exactly() -> None:
    rows = ladder("gaussian(2)", 1e-6, [16])
    exact = float(dpcore.gdp(2.0).epsilon(1e-6))
    assert epsilon_of(rows, "gdp") == pytest.approx(exact, rel=1e-10)
    assert epsilon_of(rows, "exact") == pytest.approx(exact, rel=1e-10)
    assert rows.loc[rows["theorem"] == "clt", "kind"].iloc[0] == "none"


def test_rungs_end_where_failures_exceed_delta() -> None:
    assert rungs(dpcore.dp(0.1), 1e-6) == KS
    found = rungs(dpcore.dp(0.6, 0.05), 0.25)
    assert found[-1] == 6
    assert found[-2] == 5
    assert 1 - 0.95**5 <= 0.25 < 1 - 0.95**6


def test_bad_arguments_are_named() -> None:
    with pytest.raises(DomainError, match="k must be an integer"):
        ladder("dp(1)", 1e-6, [0])
    with pytest.raises(DomainError, match="delta must be"):
        ladder("dp(1)", 2.0, [1])
    with pytest.raises(DomainError, match="slack must be"):
        theorem_regions("dp(1)", 1, slack=0.0)
    with pytest.raises(DomainError, match="k must be an integer"):
        theorem_regions("dp(1)", 10**12)


# ---- ways and their table ------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [*MECHANISMS, "dp(1, 1)", "dp(inf)", "dp(800)"])
def test_every_way_has_a_region_or_a_reason(text: str) -> None:
    found = theorem_regions(text, 6, delta=1e-6)
    assert [way.name for way in found] == list(TITLES)
    table = statements(found)
    assert not table.isna().any().any()
    for way in found:
        assert (way.region is None) == (way.kind == "none")
        own = table[table["theorem"] == way.name]
        if way.region is None:
            assert len(way.note) > 10
            assert own["note"].iloc[0] == way.note
            assert (own["epsilon"].iloc[0], own["delta"].iloc[0]) == (math.inf, 1.0)
        else:
            assert own["delta"].to_numpy() == pytest.approx(way.region.delta_bounds(own["epsilon"].to_numpy())[1])


def test_long_tables_are_thinned_and_say_so() -> None:
    table = statements(theorem_regions("dp(0.01)", 20_000), longest=100)
    own = table[table["theorem"] == "kov_optimal"]
    assert len(own) <= 100
    assert own["note"].str.contains("corners").all()
    assert own["epsilon"].iloc[-1] == pytest.approx(200.0)  # only the largest loss has delta 0
    assert (own["delta"].iloc[:-1] >= 1e-300).all()


# ---- the presets' numbers ------------------------------------------------------------------------------------


def preset(name: str) -> dict[str, str]:
    rows = {row["name"]: row["state"] for row in tomllib.loads(PRESETS.read_text(encoding="utf-8"))["preset"]}
    return rows[name]


def deltas_of(name: str, theorem: str) -> dict[float, float]:
    state = preset(name)
    parts = [state["epsilon"], state["delta"], *([state["eta"]] if state["eta"] else [])]
    text = f"{'dptv' if state['eta'] else 'dp'}({', '.join(parts)})"
    table = statements(theorem_regions(text, int(state["k"]), slack=float(state.get("slack", "1e-7"))))
    own = table[table["theorem"] == theorem]
    return {round(e, 9): d for e, d in zip(own["epsilon"], own["delta"], strict=True)}


def test_thesis_figure_2_2() -> None:
    wanted = {3.0: 0.2262190625, 1.8: 0.286890111785, 0.6: 0.471648769767}
    assert deltas_of("composition_thesis_2_2", "kov_optimal") == pytest.approx(wanted, rel=1e-10)


def test_thesis_figure_2_4() -> None:
    wanted = [0.51005783, 0.37588657, 0.2845929, 0.2410477, 0.22805148, 0.22621906]
    found = deltas_of("composition_thesis_2_4", "dptv")
    assert [found[round(0.6 * j, 9)] for j in range(6)] == pytest.approx(wanted, abs=5e-9)


def test_thesis_figure_3_9() -> None:
    wanted = [0.454214860211, 0.31860061901, 0.250526098969, 0.229895651835, 0.226460368676, 0.2262190625]
    found = deltas_of("composition_thesis_3_9", "dptv")
    assert [found[round(0.6 * j, 9)] for j in range(6)] == pytest.approx(wanted, rel=1e-10)
    assert deltas_of("composition_thesis_3_9", "kov_optimal")[1.8] == pytest.approx(0.286890111785, rel=1e-10)
    assert deltas_of("composition_thesis_3_9", "basic") == pytest.approx({3.0: 0.25}, rel=1e-12)
    rows = ladder("dptv(0.6, 0.05, 0.15)", float(preset("composition_thesis_3_9")["at_delta"]), [5])
    assert epsilon_of(rows, "basic") == pytest.approx(3.0, rel=1e-12)  # 5 times 0.05 is 0.25 up to rounding


def test_thesis_figure_3_10() -> None:
    state = preset("composition_thesis_3_10")
    epsilon, k = float(state["epsilon"]), int(state["k"])
    assert k * epsilon**2 == pytest.approx(1.0)
    alpha = np.linspace(0, 1, 2001)
    gap = np.abs((dpcore.dp(epsilon) ** k).beta(alpha) - dpcore.gdp(1.0).beta(alpha))
    assert gap.max() == pytest.approx(0.00125, abs=2e-5)
    drawn = next(way for way in theorem_regions(dpcore.dp(epsilon), k) if way.name == "clt")
    assert drawn.kind == "approximate"
    assert drawn.region == dpcore.gdp(limit(dpcore.dp(epsilon) ** k).mu)  # the number that tables show
    assert limit(dpcore.dp(epsilon) ** k).mu == pytest.approx(10 * limit(dpcore.dp(epsilon)).mu, rel=1e-15)


def test_total_variation_paper_figure_4() -> None:
    assert float(preset("tv_paper_4")["eta"]) == pytest.approx(0.7 * math.tanh(0.5), rel=1e-15)
    wanted = [0.63108967, 0.43269298, 0.23934495, 0.09537257, 0.02218457, 0.0]
    found = deltas_of("tv_paper_4", "dptv")
    assert [found[float(j)] for j in range(6)] == pytest.approx(wanted, abs=5e-9)
    assert set(deltas_of("tv_paper_4", "kov_optimal")) == {1.0, 3.0, 5.0}


def test_a_thousand_laplace_answers() -> None:
    state = preset("laplace_1000")
    with effort(tolerance=1e-3):
        rows = ladder(state["mechanism"], 1e-6, [int(state["k"])])
        region = dpcore.parse(state["mechanism"]) ** int(state["k"])
        assert epsilon_of(rows, "exact") == pytest.approx(float(region.epsilon(1e-6)))
    top = best(rows)
    assert top is not None
    assert top["theorem"] == "exact"
    # the central limit with the loss's own moments is close for so many small losses
    assert epsilon_of(rows, "exact") == pytest.approx(epsilon_of(rows, "clt"), rel=0.01)


def test_noisy_gradients() -> None:
    state = preset("dp_sgd")
    with effort(tolerance=1e-3):
        rows = ladder(state["mechanism"], float(state["at_delta"]), [int(state["k"])])
    top = best(rows)
    assert top is not None
    assert top["theorem"] == "exact"
    # 1 < epsilon < 2.2: the moments accountant's 2.1 (Rényi) above, the central limit below
    assert epsilon_of(rows, "clt") < epsilon_of(rows, "exact") < 2.2
