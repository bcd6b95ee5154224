"""The badge that says what a number is: in every sentence of a figure, once per run of equal kinds, always in words."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import pytest

from dpcore import specs
from dpcore.app import badge, figure
from dpcore.core.kinds import WORDS
from tests.app.visits import Page
from tests.specs.test_specs import CASES
from tests.test_tables import ROOT

WITHOUT = {"errata", "table"}
"""Figures without a number of a region: how many rows are of which kind."""


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("ε ≤ 3.611 (exact).", "ε ≤ 3.611 :green-badge[exact]."),
        ("3 (upper bound), 4 (exact)", "3 :blue-badge[upper bound], 4 :green-badge[exact]"),
        ("3 (exact), 4 (exact); 5 (upper bounds)", "3, 4 :green-badge[exact]; 5 :blue-badge[upper bound]"),
        ("- 3 (exact)\n- 4 (exact)", "- 3 :green-badge[exact]\n- 4 :green-badge[exact]"),
        ("0.3 (0.3033, exact)", "0.3 (0.3033) :green-badge[exact]"),
        ("4 (an approximation, no promise)", "4 :orange-badge[approximation] (no promise)"),
        ("138 (exact\\: 137 is too few)", "138 :green-badge[exact] (137 is too few)"),
        ("5 (lower bounds, rounded down)", "5 :violet-badge[lower bound] (rounded down)"),
        ("14 (two answers; best channel; exact)", "14 (two answers; best channel) :green-badge[exact]"),
        ("7 (simulation ± 2 standard errors)", "7 :gray-badge[simulation] (± 2 standard errors)"),
        ("4 (exactly one), 5 (the exact one), 6 (15 % more)", "4 (exactly one), 5 (the exact one), 6 (15 % more)"),
    ],
)
def test_a_kind_in_parentheses_becomes_a_badge(text: str, page: str) -> None:
    assert badge.marked(text) == page


def test_every_kind_of_the_library_has_a_badge_with_its_word() -> None:
    words = {word for kind, word in WORDS.items() if kind != "none"}
    assert words <= set(badge.COLOURS)
    for word in words:
        assert f"[{word}]" in badge.badge(word)


@pytest.mark.parametrize("name", CASES)
def test_every_figure_has_a_badge(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    case: dict[str, Any] = CASES[name]
    made = specs.draw(case)
    text = figure.answer(made)
    assert badge.is_marked(text) == (name not in WITHOUT), text
    left = [
        inside
        for inside in re.findall(r"\(([^()]*)\)", text)
        if re.search(r"\b(exact|upper bound|lower bound)$", inside)
    ]
    assert not left, left


def test_a_table_of_several_kinds_has_no_badge_of_its_own() -> None:
    assert badge.of_table(pd.DataFrame({"kind": ["exact", "none"]})) == ":green-badge[exact]"
    assert badge.of_table(pd.DataFrame({"kind": ["exact", "upper"]})) == ""
    assert badge.of_table(pd.DataFrame({"kind": ["false"]})) == ""
    assert badge.of_table(pd.DataFrame({"label": ["a"]})) == ""


def test_captions_keep_the_words() -> None:
    """A caption is pale: a badge in it would be hard to read."""
    app = Page("pages/12_Audit.py", "Audit").opened()
    assert not [text for text in app.caption if badge.is_marked(str(text.value))]
    assert any("(exact, rounded up)" in str(text.value) for text in app.caption)
