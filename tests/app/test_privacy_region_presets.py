"""The presets of the page of privacy regions: each opens by link and by menu, and shows the numbers of its figure."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dpcore import frames, parse
from dpcore.app import listing, page
from dpcore.theorems import dptv, kov_optimal
from tests.app.test_privacy_regions import chart, opened, python, said, text
from tests.app.visits import choose_example, page_of

PRESETS = {preset.name: preset for preset in page.presets() if preset.page == "Privacy_regions"}
FIGURES = (
    [f"thesis_2_{n}" for n in range(1, 6)] + [f"thesis_3_{n}" for n in range(3, 11)] + ["thesis_4_1", "tv_paper_3"]
)


def test_every_figure_has_a_preset() -> None:
    assert {*FIGURES, "classical_gaussian", "dp_dptv_laplace"} <= set(PRESETS)
    for preset in PRESETS.values():
        assert preset.meaning.endswith(".")
        assert preset.source


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_a_preset_by_link_and_by_menu_is_the_same_view(name: str) -> None:
    preset = PRESETS[name]
    linked = opened(**preset.state)
    assert not linked.error
    assert not linked.warning
    assert text(linked) == preset.state["regions"]
    assert preset.meaning in said(linked)
    assert ("An empty chart" in chart(linked).alt) == (name == "thesis_3_3")
    chosen = choose_example(page_of(preset).opened(), name)
    assert not chosen.warning
    assert text(chosen) == text(linked)
    assert chart(chosen).alt == chart(linked).alt
    assert python(chosen) == python(linked)


def regions_of(name: str) -> list[Any]:
    return [found.region for found in listing.resolve(listing.read(PRESETS[name].state["regions"]))]


def test_numbers_of_the_single_regions() -> None:
    e = math.exp(0.6)
    (dp,) = regions_of("thesis_2_1")
    tip = 0.95 / (1 + e)
    alpha, beta = dp.vertices()
    assert alpha == pytest.approx([0.0, tip, 0.95, 1.0], rel=1e-12)
    assert beta == pytest.approx([0.95, tip, 0.0, 0.0], rel=1e-12)
    for name in ("thesis_2_3", "thesis_3_4"):
        (region,) = regions_of(name)
        # where alpha + e^epsilon beta = 1 - delta meets alpha + beta = 1 - eta
        beta = 0.1 / (e - 1)
        assert region.beta(0.75 - beta) == pytest.approx(beta, rel=1e-12)
        assert region.total_variation == pytest.approx(0.25, rel=1e-12)
    (gaussian,) = regions_of("thesis_2_5")
    assert gaussian.beta(0.5) == pytest.approx(0.15865525393145705, rel=1e-12)  # Phi(-1)


@pytest.mark.parametrize(
    ("name", "index", "rows"),
    [
        ("thesis_2_2", 0, kov_optimal(0.6, 0.05, 5)),
        ("thesis_2_4", 0, dptv(0.6, 0.05, 0.2, 5)),
        ("thesis_3_9", 1, kov_optimal(0.6, 0.05, 5)),
        ("thesis_3_9", 2, dptv(0.6, 0.05, 0.15, 5)),
        ("thesis_3_10", 1, kov_optimal(0.5, 0.0, 4)),
        ("thesis_3_10", 3, kov_optimal(0.1, 0.0, 100)),
        ("thesis_4_1", 3, dptv(0.6, 0.05, 0.2, 2)),
    ],
)
def test_composed_regions_are_those_of_the_theorems(name: str, index: int, rows: Any) -> None:
    region = regions_of(name)[index]
    assert region.delta(rows["epsilon"].to_numpy()) == pytest.approx(rows["delta"].to_numpy(), rel=1e-10, abs=1e-15)


def test_basic_composition_of_figure_3_9() -> None:
    basic = regions_of("thesis_3_9")[0]
    assert basic.delta(3.0) == pytest.approx(0.25, rel=1e-12)


def test_figure_3_10_converges() -> None:
    *composed, limit = regions_of("thesis_3_10")
    alpha = np.linspace(0, 1, 201)
    apart = [float(np.max(np.abs(region.beta(alpha) - limit.beta(alpha)))) for region in composed]
    assert apart == sorted(apart, reverse=True)
    assert apart[-1] < 0.02


def test_figure_3_7_is_inside_both() -> None:
    a, b, both = regions_of("thesis_3_7")
    alpha = np.linspace(0, 1, 101)
    assert both.beta(alpha) == pytest.approx(np.maximum(a.beta(alpha), b.beta(alpha)), abs=1e-3)
    for parent in (a, b):
        assert set(frames.compare(both, parent)["relation"]) == {"a inside b"}


def test_figure_4_1_the_guess_is_larger_than_the_truth() -> None:
    _, _, guess, true = regions_of("thesis_4_1")
    assert set(frames.compare(true, guess)["relation"]) == {"a inside b"}
    assert guess.delta(0.0) == pytest.approx(min(0.36, float(parse("dp(0.6, 0.05)^2").delta(0.0))), rel=1e-10)


@pytest.mark.parametrize(
    ("name", "epsilon", "statement", "exact"),
    [("thesis_3_8", 0.6, 0, 1), ("tv_paper_3", 1.0, 1, 2), ("dp_dptv_laplace", 1.0, 1, 2)],
)
def test_laplace_lies_inside_what_is_said_of_it(name: str, epsilon: float, statement: int, exact: int) -> None:
    found = regions_of(name)
    tv = -math.expm1(-epsilon / 2)
    assert found[statement].total_variation == pytest.approx(tv, rel=1e-15)
    assert found[statement].total_variation >= tv
    assert found[exact].total_variation == pytest.approx(tv, rel=1e-12)
    assert set(frames.compare(found[exact], found[statement])["relation"]) == {"a inside b"}


def test_the_classical_gaussian_does_not_keep_its_claim() -> None:
    claimed, true = regions_of("classical_gaussian")
    assert claimed.delta(10.0) == pytest.approx(0.1, rel=1e-12)
    assert true.delta(10.0) == pytest.approx(0.4056, abs=5e-5)
