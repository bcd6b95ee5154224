"""A theorem's number is the same to the last digit on every face, and no theorem is above a weaker one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from dpcore import parse
from dpcore.core.numerals import numeral
from dpcore.ledger import Ledger
from dpcore.ledger import theorems as ledger_theorems
from dpcore.regions.algebra import factors
from dpcore.regions.guarantees import DP, RDP
from dpcore.theorems import THEOREMS, rdp_to_dp, zcdp_to_dp
from dpcore.theorems.catalogue import composing, drawing, promises, routes
from dpcore.theorems.composition import best, ladder, theorem_regions, theorem_table
from dpcore.theorems.composition.products import theorems as product_theorems
from dpcore.theorems.conversion import convert
from dpcore.theorems.releases import Releases
from dpcore.theorems.sharing import share, statement_epsilon
from dpcore.training import reports
from dpcore.training.accountants import accountant

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
STRONGER = [("dptv", "kov_optimal"), ("kov_optimal", "kov_simplified"), ("kov_simplified", "basic"), ("rdp", "zcdp")]
STRONGER += [("kov_simplified", "advanced_drv"), ("kov_simplified", "advanced_course")]


def columns(frame: pd.DataFrame) -> dict[str, tuple[float, str]]:
    return {str(row["theorem"]): (float(row["epsilon"]), str(row["kind"])) for _, row in frame.iterrows()}


@pytest.mark.parametrize(("text", "k", "delta"), CASES, ids=[text for text, *_ in CASES])
def test_every_face_gives_the_same_digits(text: str, k: int, delta: float) -> None:
    """Every theorem, asked itself, in the ledger, by the command, along the ladder and by the accountants: bit for bit."""
    region = parse(text)
    releases = Releases([(node, count * k) for node, count in factors(region)])
    own = {name: (found.epsilon + 0.0, found.kind) for name, found in promises(composing(), releases, delta).items()}
    assert set(own) == {record.name for record in THEOREMS if record.composes}
    table = columns(theorem_table(region**k, delta))
    assert columns(ledger_theorems(Ledger.of(("a", text, k)), delta)) == table
    assert {name: found for name, found in table.items() if name != "exact"} == own
    command = product_theorems(region**k, delta)
    for name, epsilon, kind in zip(
        command["theorem"].iloc[1:], command["epsilon"].iloc[1:], command["kind"].iloc[1:], strict=True
    ):
        assert (math.inf if epsilon is None else epsilon, kind) == own[name], name
    # along a ladder the statements of all k are looked up together
    climbed = ladder(text, delta, [k, 3 * k])
    page = columns(climbed[climbed["k"] == k])
    assert set(page) == {"exact", *(record.name for record in drawing())}
    compared = 0
    for name, found in page.items():
        if name == "exact" and found[1] == "none":  # Composition leaves it out where it is another row's number
            continue
        assert found == table[name], name
        compared += found[1] != "none"
    assert compared >= 5
    for _, row in reports(text, k, delta).iterrows():
        record = accountant(row["accountant"]).theorem
        if record is not None and record.composes:
            assert (row["epsilon"] + 0.0, row["kind"]) == own[record.name], record.name
        elif row["accountant"] == "zcdp_tight" and len(factors(region)) == 1 and row["kind"] != "none":
            assert row["epsilon"] == own["zcdp"][0]


@pytest.mark.parametrize(("text", "k", "delta"), CASES, ids=[text for text, *_ in CASES])
def test_a_drawn_statement_is_that_of_the_command_with_a_slack(text: str, k: int, delta: float) -> None:
    slack = delta / 8
    rows = product_theorems(parse(text) ** k, delta, slack).set_index("theorem")
    drawn = {way.name: way for way in theorem_regions(text, k, slack=slack, delta=delta)}
    for record in drawing():
        if record.statement is None or not record.takes_slack:
            continue
        way, epsilon = drawn[record.name], rows["epsilon"][record.name]
        if way.region is None or epsilon is None:
            assert epsilon is None or "too large" in way.note, record.name
            continue
        atom = way.region
        assert isinstance(atom, DP)
        assert statement_epsilon(atom.epsilon_, atom.delta_, delta) == epsilon, record.name


@pytest.mark.parametrize("text", ["rdp(10, 0.5)", "zcdp(0.1, 0.05)"])
def test_conversions_are_the_numbers_of_the_theorems(text: str) -> None:
    region = parse(text)
    values = (region.order, region.epsilon_) if isinstance(region, RDP) else (region.rho, region.xi)
    source = text.split("(", maxsplit=1)[0]
    shown = convert(region, "dp", delta=(1e-9, 1e-3), epsilon=(0.5, 3.0))
    for record in routes(source, "dp"):
        rows = [record.conversion_rows(*values, at) for at in (1e-9, 1e-3)]
        rows += [record.conversion_rows(*values, at, at_epsilon=True) for at in (0.5, 3.0)]
        own = [f"epsilon={numeral(row['epsilon'].iloc[0])}, delta={numeral(row['delta'].iloc[0])}" for row in rows]
        own = [line.replace("np.float64(", "").replace(")", "") for line in own]
        mine = shown[shown["theorem"].str.endswith(f"; {record.reference}")]
        assert set(own) <= set(mine["parameters"]), record.name
        table = {"rdp": rdp_to_dp, "zcdp": zcdp_to_dp}[source](*values, 1e-9)
        assert table.loc[table["theorem"] == record.name, "epsilon"].tolist() == rows[0]["epsilon"].tolist()


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
    found = columns(ledger_theorems(Ledger.of(*rows), 1e-6))
    assert found["kov_optimal"][0] <= found["kov_simplified"][0] <= found["basic"][0]


def test_the_regions_drawn_are_those_of_the_numbers() -> None:
    for text, k, delta in CASES:
        page, drawn = (
            columns(ladder(text, delta, [k])),
            {way.name: way for way in theorem_regions(text, k, delta=delta)},
        )
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
