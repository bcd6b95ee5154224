"""The page of the 2020 Census: its expressions against the published shares, its numbers against the library."""

from __future__ import annotations

import math
import re
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dpcore import parse, zcdp
from dpcore.regions.algebra import factors
from dpcore.specs import draw, read

FILE = Path(__file__).resolve().parents[2] / "data" / "gallery" / "census.toml"
SPECS = {spec.name: spec for spec in read(FILE)}
BUDGET = Fraction(542, 339) ** 2
SHARES = {"United States": 104, "State": 1440, "County": 447, "Tract": 687, "Block group": 1256, "Block": 165}
"""Shares of the levels, of 4099, and below those of the queries of each level, with how many have each."""
QUERIES = {
    "United States": {"26/4097": 5, "52/4097": 1, "130/4097": 2, "26/241": 1, "189/241": 1},
    "State": {"3773/4097": 1, "6/4097": 6, "12/4097": 2, "2/241": 1, "230/4097": 1},
    "County": {"3126/4097": 1, "10/4097": 6, "28/4097": 2, "101/4097": 1, "754/4097": 1},
    "Tract": {"1567/4102": 1, "8/4102": 1, "5/4102": 5, "1933/4102": 1, "20/4102": 1, "67/4102": 1, "482/4102": 1},
    "Block group": {"1705/4099": 1, "3/4099": 6, "1055/4099": 1, "9/4099": 1, "24/4099": 1, "1288/4099": 1},
    "Block": {"5/4097": 6, "9/4097": 1, "21/4097": 2, "71/4097": 1, "3945/4097": 1},
}


def widths(text: str) -> dict[float, int]:
    """Return 1 / sigma^2 of every discrete Gaussian of an expression, rounded, with its number of copies."""
    return Counter({round(float(node.sigma) ** -2, 12): count for node, count in factors(parse(text))})  # type: ignore[attr-defined]  # discrete Gaussians


def stated() -> list[tuple[str, str, int, float, str, str]]:
    """Return the rows of the page's table."""
    rows = re.findall(
        r"^\| (.+?) \| (.+?) \| (\d+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", FILE.read_text("utf-8"), re.MULTILINE
    )
    return [(file, level, int(count), float(rho), exact, simple) for file, level, count, rho, exact, simple in rows]


def test_the_levels_are_the_published_shares() -> None:
    spec = SPECS["census_levels"]
    total: Counter[float] = Counter()
    for level, text in zip(SHARES, spec.table["regions"], strict=True):
        shares = {Fraction(share): count for share, count in QUERIES[level].items()}
        assert sum(share * count for share, count in shares.items()) == 1
        rho = {BUDGET * Fraction(SHARES[level], 4099) * share: 2 * count for share, count in shares.items()}
        own = widths(text)
        assert sorted(own.values()) == sorted(rho.values())
        np.testing.assert_allclose(sorted(own), sorted(float(one) for one in rho), rtol=1e-8)
        total.update(own)
    assert sum(SHARES.values()) == 4099
    whole = widths(SPECS["census_total"].table["regions"][0])
    assert sum(whole.values()) == sum(total.values()) == 130
    assert math.fsum(r * k for r, k in whole.items()) == pytest.approx(2 * float(BUDGET), rel=1e-8)


def test_the_numbers_of_the_table() -> None:
    rows = stated()
    assert len(rows) == 7 + 9 + 9
    first = {
        level: (rho, exact, simple) for file, level, _, rho, exact, simple in rows if file == "Redistricting, persons"
    }
    for level, text in zip(SHARES, SPECS["census_levels"].table["regions"], strict=True):
        rho, exact, simple = first[level]
        assert 0 <= float(exact) - parse(text).epsilon(1e-10) < 0.01
        assert 0 <= float(simple) - zcdp(rho).epsilon(1e-10) < 0.012
    for name, place, label in (
        ("census_total", 0, "Redistricting, persons"),
        ("census_dhc", 0, "DHC, persons"),
        ("census_dhc", 2, "DHC, housing"),
    ):
        _, _, _, rho, exact, simple = next(row for row in rows if row[0] == label and row[1] == "all levels")
        regions = SPECS[name].table["regions"]
        assert 0 <= float(exact) - parse(regions[place]).epsilon(1e-10) < 0.01
        assert 0 <= float(simple) - parse(regions[place + 1]).epsilon(1e-10) < 0.01
        assert exact in SPECS[name].table["caption"]
        assert simple in SPECS[name].table["caption"]
        levels = [row for row in rows if row[0] == label and row[1] != "all levels"]
        assert sum(row[3] for row in levels) == pytest.approx(rho, abs=5e-4)
        assert float(exact) < float(simple)


def test_the_page_says_what_was_published() -> None:
    """17.14 for the persons of the redistricting file, from the budget alone, rounded."""
    assert round(zcdp(float(BUDGET)).epsilon(1e-10), 2) == 17.14


@pytest.mark.long
@pytest.mark.parametrize("name", SPECS)
def test_a_figure_is_drawn(name: str) -> None:
    assert draw(SPECS[name]).takeaway
