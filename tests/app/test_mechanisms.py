"""The page of mechanisms: every mechanism, preset and error; statements and claims by a second route; no link breaks it."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest
import streamlit as st

from dpcore import parse
from dpcore.app import composition, forms, mechanisms, mechanisms_panels, page, work
from dpcore.calibration import calibrate
from dpcore.core import registry
from dpcore.core.effort import effort
from dpcore.core.errors import DomainError
from dpcore.regions.comparison import compare_curves
from dpcore.theorems.conversion.claims import calibration_text, claim, statements
from dpcore.words import outward
from tests.app import visits
from tests.app.visits import alts, errors, said, sources_without

PAGE = visits.Page("pages/3_Mechanisms.py", "Mechanisms")
opened, ran = PAGE.opened, PAGE.ran
PRESETS = {preset.name: preset for preset in page.presets() if preset.page == "Mechanisms"}
PROMISED = {  # what presets say
    "mechanism_classic_fails": "The claim fails",
    "mechanism_classic_holds": "The claim holds",
    "mechanism_cut": "The claim fails",
    "mechanism_exponential": "has no noise of its own",
    "mechanism_histogram": "The best attacker with as few false positives misses at least",
    "mechanism_gradient": "For 1 000 answers within ε = 2 and δ = 1e-5, the least sigma is",
}
EXAMPLES = [forms.example(entry) for entry in registry.entries("mechanism")]
DELTA = 1e-5


def view(text: str, alpha: float = 0.05, delta: float = DELTA) -> mechanisms.MechanismView:
    return mechanisms.MechanismView(text, alpha, delta)


# ---- statements and claims -----------------------------------------------------------------------------------


@pytest.mark.parametrize("text", EXAMPLES)
def test_statements_contain_the_region(text: str) -> None:
    region = parse(text)
    alpha = np.linspace(0.0, 1.0, 41)
    with effort(tolerance=1e-3):
        found = statements(region, DELTA)
        border = region.beta_bounds(alpha)[1]
    assert [statement.notion for statement in found] == ["(ε, δ)-DP", "DP-TV", "μ-GDP"]
    for statement in found:
        assert statement.kind in {"exact", "upper bound", "unknown"}
        if statement.region is not None:
            assert np.all(statement.region.beta_bounds(alpha)[0] <= border + 1e-9)


@pytest.mark.parametrize("text", ["laplace(1)", "gaussian(1)", "rr(1, 5)", "geometric(1, 2)", "histogram(1)"])
def test_exact_statements_cannot_be_smaller(text: str) -> None:
    region = parse(text)
    for statement in statements(region, DELTA):
        if statement.notion == "(ε, δ)-DP" and statement.kind == "exact":
            epsilon = statement.region.epsilon_  # type: ignore[union-attr]  # a dp statement
            assert region.delta(0.999 * epsilon) > DELTA


@pytest.mark.parametrize("text", EXAMPLES)
def test_claims_are_judged_by_the_region(text: str) -> None:
    region: Any = parse(text)
    with effort(tolerance=1e-3):
        found = claim(region)
        if found is None:
            assert region.claimed_epsilon is None
            return
        slightly = np.linspace(0.0, 12.0, 25) * (1 + 1e-9)
        inside = bool(
            np.all(region.delta_bounds(slightly)[0] <= found.region.delta_bounds(slightly / (1 + 1e-9))[1] + 1e-9)
        )
    assert found.holds == inside
    assert ("fails" in found.words) == (found.holds is False)


def test_the_classical_gaussian() -> None:
    fails: Any = claim(mechanisms.read("gaussian_classic(10, 1e-5)")[0])
    assert fails.holds is False
    assert "the true δ is 2.265e-5" in fails.words
    assert "2.26 times the claimed" in fails.words
    holds: Any = claim(mechanisms.read("gaussian_classic(1, 1e-5)")[0])
    assert holds.holds is True
    assert "4.115e-8" in holds.words or "4.114e-8" in holds.words
    assert "3.7307" in holds.words  # the exact calibration
    assert "29.9 % wider" in holds.words


def test_the_histogram_is_smaller_than_one_answer() -> None:
    found: Any = claim(mechanisms.read("histogram(1)")[0])
    assert str(found.region) == "laplace(1)"
    assert "0.3935" in found.words
    assert "0.2419" in found.words


@pytest.mark.parametrize("text", EXAMPLES)
def test_every_mechanism_is_calibrated(text: str) -> None:
    region: Any = parse(text)
    unknown = calibration_text(region, 2)
    assert unknown.count("?") == 1
    assert unknown.endswith("^2")
    with effort(tolerance=1e-2):
        row = calibrate(calibration_text(region), epsilon=1.0, delta=1e-3).iloc[0]
    assert 0 < row["value"] < math.inf
    assert parse(row["expression"]).delta(1.0) <= 1e-3
    with pytest.raises(DomainError, match="k must be an integer"):
        calibration_text(region, 0)


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("laplace_vector(2, [1, 0.5])", "laplace_vector(?, [1, 0.5])"),
        ("bounded_laplace(2, 0, 10, 1)", "bounded_laplace(?, 0, 10, 1)"),
        ("gaussian(2)", "gaussian(?)"),
        ("gaussian(2, 3)", "gaussian(?, 3)"),
        ("gaussian_classic(1, 0.01)", "gaussian(?)"),
        ("pmf([0.5, 0.5], [0.4, 0.6])", "pmf(?, [0.4, 0.6])"),
    ],
)
def test_only_the_first_argument_is_left_open(text: str, unknown: str) -> None:
    assert calibration_text(cast("Any", parse(text))) == unknown


# ---- the page ------------------------------------------------------------------------------------------------


def test_the_first_view() -> None:
    app = opened()
    assert len(alts(app)) == 4
    assert "Accusing at answers above 2.303" in alts(app)[0]
    assert "finds at most 14 of 100 people inside it (exact)" in alts(app)[1]
    assert "the point lies on the region's border" in said(app)
    assert "**(ε, δ)-DP** (exact): ε = 0.99998 (rounded up) at δ = 1e-5." in said(app)
    assert "**DP-TV** (exact)" in said(app)
    assert "**μ-GDP** (upper bound): μ = 1.0301 (rounded up)." in said(app)
    assert "The claim of ε = 1 holds" in said(app)
    assert "the largest epsilon of the mechanism is **1.000002**" in said(app)
    assert "`laplace(1.000002)` reaches δ = 1e-6 at ε = 1." in said(app)
    assert not errors(app)


@pytest.mark.parametrize("name", PRESETS)
def test_each_preset(name: str) -> None:
    preset = PRESETS[name]
    app = opened(**preset.state)
    assert not errors(app)
    state = {**mechanisms.DEFAULTS, **preset.state}
    assert app.text_input(key="expression").value == state["expression"]
    assert app.text_input(key="test_alpha").value == state["test_alpha"]
    assert app.select_slider(key="test_alpha_slider").value == state["test_alpha"]
    assert set(preset.state) <= set(mechanisms.DEFAULTS)
    assert PROMISED.get(name, "") in said(app)
    assert set(PROMISED) <= set(PRESETS)
    other = visits.choose_example(PAGE.opened(), name)
    assert alts(other) == alts(app)
    assert said(other) == said(app)


def test_figure_3_8_shows_the_laplace_region_inside_its_guarantee() -> None:
    shown = {name: parse(text) for name, text in view("laplace(0.6)", 0.35, 0.0).regions().items()}
    assert shown["DP-TV"].total_variation == pytest.approx(1 - math.exp(-0.3), rel=1e-12)
    relation = compare_curves(shown["exact region"].curve, shown["DP-TV"].curve).relation
    assert relation == "a inside b"


def test_choosing_another_mechanism() -> None:
    app = opened()
    app.selectbox(key="kind_of_noise").select("rr")
    ran(app)
    assert app.text_input(key="expression").value.startswith("rr(")
    app.number_input(key="noise_rr_size").set_value(7)
    ran(app)
    assert app.text_input(key="expression").value.endswith(", 7)")
    next(button for button in app.button if button.label == "Undo").click()
    ran(app)
    assert not app.text_input(key="expression").value.endswith(", 7)")
    assert app.number_input(key="noise_rr_size").value == 2


def test_a_field_outside_its_domain_is_explained() -> None:
    app = opened()
    app.text_input(key="noise_laplace_epsilon").set_value("-3")
    ran(app)
    assert "epsilon must be" in errors(app)
    assert app.text_input(key="expression").value == "laplace(1)"
    app.text_input(key="noise_laplace_epsilon").set_value("log(3)")
    ran(app)
    assert not errors(app)
    assert app.text_input(key="expression").value == "laplace(log(3))"
    assert app.text_input(key="noise_laplace_epsilon").value == "log(3)"


def test_the_slider_moves_the_threshold_and_the_point() -> None:
    app = opened()
    before = alts(app)
    app.select_slider(key="test_alpha_slider").set_value("0.2")
    ran(app)
    assert app.text_input(key="test_alpha").value == "0.2"
    assert "above 0.9163" in alts(app)[0]  # -log(0.4)
    assert alts(app)[1] != before[1]


def test_the_goal_can_be_looked_at() -> None:
    app = opened(expression="gaussian(1)", goal_epsilon="1", goal_delta="1e-5", goal_k="10")
    assert "the least sigma is **11.7973**" in said(app)
    next(button for button in app.button if button.label == "Look at this noise").click()
    ran(app)
    assert app.text_input(key="expression").value.startswith("gaussian(11.797")


@pytest.mark.parametrize("text", ["laplace(1)", "rr(1, 5)", "geometric(1, 3)", "exponential(1)"])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (1.0, 1e-9), (0.3, 1e-13), (1.0, 0.0)])
def test_the_number_for_a_goal_is_on_the_safe_side_and_never_the_goal_in_place_of_a_larger_one(
    text: str, epsilon: float, delta: float
) -> None:
    row = calibrate(calibration_text(cast("Any", parse(text))), epsilon=epsilon, delta=delta).iloc[0]
    words = mechanisms.goal_words(row, epsilon, delta, 1)
    (shown,) = re.findall(r"the largest epsilon of the mechanism is \*\*(.+?)\*\*", words)
    assert float(shown) <= row["value"]
    assert (float(shown) > epsilon) == (row["value"] > epsilon)
    assert len(shown) < 18


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "expected"),
        ("laplace(", "expression ends"),
        ("lapalce(1)", "did you mean laplace"),
        ("laplace(-1)", "without a sign"),
        ("dp(1)", "Type one mechanism"),
        ("laplace(1)^5", "Type one mechanism"),
        ("rr(1, 1)", "size must be"),
        ("geometric(1, 10000000000000)", "sensitivity must be"),
        ("<script>alert(1)</script>", "Unexpected '<'"),
        ("x" * 3000, "at most 2000 characters"),
        ("((((" * 400, ""),
    ],
)
def test_what_is_no_mechanism_is_explained(text: str, words: str) -> None:
    app = opened(expression=text)
    if text:
        assert words in errors(app)
        assert "Correct the field" in said(app)
        next(button for button in app.button if button.label == "Reset").click()
        assert len(alts(ran(app))) == 4


def test_a_link_of_a_megabyte() -> None:
    app = opened(expression="laplace(1) " * 100_000)
    assert "at most 2000 characters" in errors(app) or app.text_input(key="expression").value == "laplace(1)"


@pytest.mark.parametrize("value", ["nan", "-1", "2", "inf", "", "1e400", "<b>", "9" * 100_000])
def test_hostile_numbers_are_explained(value: str) -> None:
    app = opened(test_alpha=value, stated_delta=value, goal_epsilon=value, goal_delta=value, goal_k=value)
    assert "must be" in errors(app)
    assert app.select_slider(key="test_alpha_slider").disabled
    assert len(errors(app)) < 2000


def test_huge_counts_are_refused() -> None:
    assert "k must be an integer in [1, 1000000], got" in errors(opened(goal_k="1e12"))


@pytest.mark.parametrize(
    "text",
    [
        "laplace(0)",
        "laplace(inf)",
        "laplace(1e-308)",
        "laplace(1e300)",
        "gaussian(inf)",
        "gaussian(1e-300)",
        "rr(inf)",
        "rr(0, 5)",
        "rr(1, 1000000000)",
        pytest.param("geometric(1, 1000000)", marks=pytest.mark.long),
        "staircase(700, 0.5)",
        "uniform(0.1)",
        "uniform(1e300)",
        "laplace_vector(1, [0, 0])",
        "poisson_gaussian(1, 0)",
        "poisson_gaussian(inf, 1)",
        "bounded_laplace(inf, 0, 1, 1)",
        "exponential(0)",
    ],
)
def test_extreme_mechanisms_do_no_harm(text: str) -> None:
    app = opened(expression=text)
    assert "Traceback" not in errors(app)
    assert app.text_input(key="expression").value == text


@pytest.mark.parametrize(
    ("held", "text", "alpha"),
    [
        ({"noise_rr_epsilon_slide": "2.5"}, "rr(2.5, 5)", 0.05),
        ({"noise_rr_size_slide": "9"}, "rr(1, 9)", 0.05),
        ({"test_alpha_slider": "0.31"}, "rr(1, 5)", 0.31),
        ({}, "rr(1, 5)", 0.05),
    ],
)
def test_a_held_slider_stands_for_its_field(held: dict[str, str], text: str, alpha: float) -> None:
    st.session_state.update({"noise_rr_epsilon": "1", "noise_rr_size": 5})
    assert mechanisms_panels.moved(view("rr(1, 5)"), held) == view(text, alpha)


def test_any_rate_can_be_typed() -> None:
    app = opened(test_alpha="1/3", expression="laplace(log(3))")
    assert not errors(app)
    assert 'parse("laplace(log(3))")).at_rate(0.3333333333333333)' in visits.listing(app, "noise").replace("\n", "")


def test_the_calibration_code_makes_the_number() -> None:
    app = opened(expression="gaussian(1)", goal_epsilon="1", goal_delta="1e-5")
    (code,) = [str(block.value) for block in app.code if "calibrate" in str(block.value)]
    space: dict[str, Any] = {}
    exec(code, space)  # noqa: S102  the lines the page shows
    assert f"the least sigma is **{outward(float(space['table']['value'].iloc[0]), 6)}**" in said(app)


def test_a_second_run_computes_nothing() -> None:
    app = opened(expression="geometric(1.25, 3)")
    before = set(work.cache().kept)
    hits = work.cache().hits
    ran(app)
    assert set(work.cache().kept) <= before
    assert work.cache().hits > hits


def test_no_other_page_uses_the_same_keys() -> None:
    """A key set by a callback outlives its page, and would be another page's value."""
    other = sources_without("3_Mechanisms.py", "mechanisms.py", "mechanisms_panels.py")
    assert not [key for key in mechanisms.DEFAULTS if f'key="{key}"' in other]
    assert not set(mechanisms.DEFAULTS) & {"eps", "t", *composition.DEFAULTS}


def test_another_mechanism_keeps_the_epsilon_that_was_typed() -> None:
    app = opened(expression="laplace(log(3))")
    app.selectbox(key="kind_of_noise").set_value("staircase")
    ran(app)
    assert app.text_input(key="expression").value.startswith("staircase(log(3)")
    app.selectbox(key="kind_of_noise").set_value("laplace")
    ran(app)
    assert app.text_input(key="expression").value == "laplace(log(3))"


@pytest.mark.parametrize("rate", ["0.05", "1/3"])
def test_the_handle_has_a_place_for_every_place_of_the_slider(rate: str) -> None:
    app = opened(test_alpha=rate)
    (handle,) = mechanisms_panels.handles(view("laplace(1)", float(Fraction(rate))))
    assert len(handle.path) == len(app.select_slider(key=handle.slider).options)
    assert [alpha for alpha, _ in handle.path] == sorted({*mechanisms.RATES, float(Fraction(rate))})
    assert np.array_equal(
        [beta for _, beta in handle.path], parse("laplace(1)").beta([alpha for alpha, _ in handle.path])
    )
