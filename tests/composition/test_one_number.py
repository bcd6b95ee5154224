"""A theorem's number is the same to the last digit wherever it is asked, and no theorem is above a weaker one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dpcore import parse
from dpcore.accountants import reports
from dpcore.algebra import factors
from dpcore.composition import best, ladder, theorem_table, ways
from dpcore.ledger import Ledger, theorems
from dpcore.theorems.sharing import share

if TYPE_CHECKING:
    import pandas as pd

# T31: 200 Gaussian releases were 50.358 on Composition and 49.052 in the ledger by the basic theorem
CASES = [
    ("gaussian(20)", 200, 1e-6),
    ("gaussian(1)", 1, 1e-6),
    ("laplace(0.1)", 100, 1e-6),
    ("dp(0.1, 1e-9)", 50, 1e-6),
    ("dp(0.6, 0.05)", 5, 0.3),
    ("dptv(0.3, 0, 0.02)", 30, 1e-6),
    ("rr(0.5, 4)", 7, 1e-5),
    ("geometric(0.2)", 40, 1e-9),
    ("poisson_gaussian(1, 0.01)", 100, 1e-6),
    ("dp(0.1, 1e-9) * laplace(0.2)", 10, 1e-6),
    ("gaussian(5) * laplace(0.2)", 3, 1e-6),
    ("gdp(0.2) * tv(0.001)", 4, 0.02),
]
# accountants' names of the same numbers
NAMES = {"certified": "exact", "basic": "basic", "advanced_drv": "advanced_drv", "kov_simplified": "kov_simplified"}
NAMES |= {"kov_optimal": "kov_optimal", "zcdp_tight": "zcdp"}
STRONGER = [("dptv", "kov_optimal"), ("kov_optimal", "kov_simplified"), ("kov_simplified", "basic"), ("rdp", "zcdp")]
STRONGER += [("kov_simplified", "advanced_drv"), ("kov_simplified", "advanced_course")]


def columns(frame: pd.DataFrame) -> dict[str, tuple[float, str]]:
    return {str(row["theorem"]): (float(row["epsilon"]), str(row["kind"])) for _, row in frame.iterrows()}


@pytest.mark.parametrize(("text", "k", "delta"), CASES, ids=[text for text, *_ in CASES])
def test_every_face_gives_the_same_digits(text: str, k: int, delta: float) -> None:
    ledger = columns(theorems(Ledger.of(("a", text, k)), delta))
    command = columns(theorem_table(parse(text) ** k, delta))
    page = columns(ladder(text, delta, [k]))
    rows = reports(text, k, delta).drop(columns="theorem").rename(columns={"accountant": "theorem"})
    accountants = columns(rows)
    assert ledger == command
    compared = 0
    for name, found in page.items():
        if name == "exact" and found[1] == "none":  # Composition leaves it out where it is another row's number
            continue
        assert found == ledger[name], name
        compared += found[1] != "none"
    assert compared >= 5
    one = len(factors(parse(text))) == 1
    for theirs, ours in NAMES.items():
        if one or ours not in ("zcdp",):
            assert accountants[theirs][0] == ledger[ours][0] or accountants[theirs][1] == "none", theirs


@pytest.mark.parametrize(("text", "k", "delta"), CASES, ids=[text for text, *_ in CASES])
def test_a_stronger_theorem_is_never_above_a_weaker_one(text: str, k: int, delta: float) -> None:
    found = columns(theorem_table(parse(text) ** k, delta))
    for strong, weak in STRONGER:
        if "none" not in (found[strong][1], found[weak][1]):
            assert found[strong][0] <= found[weak][0], (strong, weak)


def test_the_default_ledger_has_no_optimal_theorem_above_the_basic_one() -> None:
    rows = (
        ("a", "laplace(0.1)", 1),
        ("b", "gaussian(20)", 2),
        ("c", "geometric(0.1)", 1),
        ("d", "poisson_gaussian(1, 0.01)", 10),
    )
    found = columns(theorems(Ledger.of(*rows), 1e-6))
    assert found["kov_optimal"][0] <= found["kov_simplified"][0] <= found["basic"][0]


def test_the_regions_drawn_are_those_of_the_numbers() -> None:
    for text, k, delta in CASES:
        page, drawn = columns(ladder(text, delta, [k])), {way.name: way for way in ways(text, k, delta=delta)}
        for name in ("kov_optimal", "basic", "dptv"):
            region = drawn[name].region
            assert (region is None) == (page[name][1] == "none"), (text, name)
            if region is not None and page[name][0] < float("inf"):
                assert float(region.epsilon(delta)) == pytest.approx(page[name][0], rel=3e-4), (text, name)


def test_half_of_what_is_free_is_shared() -> None:
    assert share(1e-6, 2e-7, 100) == pytest.approx(0.5 * 8e-7 / 100, rel=1e-11)
    assert share(1e-6, 2e-6, 100) < 0
    assert share(1e-6, 0.0, 0) == 0


def test_the_best_of_a_table_is_the_certified_composition() -> None:
    rows = theorem_table("laplace(0.1)^100", 1e-6)
    top = best(rows)
    assert top is not None
    assert top["theorem"] == "exact"
    assert float(top["epsilon"]) == pytest.approx(4.693, abs=5e-4)
