"""The page of the 2020 Census: its expressions against the published shares, its numbers against the library."""

from __future__ import annotations

import math
import re
from collections import Counter
from fractions import Fraction
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest

from dpcore import gdp, parse, zcdp
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

PERSONS = {
    "United States": (5.85205736, {1: 1, 2: 9}),
    "State": (1.581929993, {1: 1, 2: 9}),
    "County": (2.839809171, {1: 2, 2: 8}),
    "Place or other unit": (2.286946769, {1: 1, 2: 9}),
    "Tract subset group": (2.286946769, {1: 1, 2: 9}),
    "Tract subset": (1.697110583, {1: 2, 2: 8}),
    "Block group": (4.822428222, {1: 10}),
    "Block": (30.15113446, {1: 10}),
}
"""Persons of the DHC file: the smallest sigma of each level, and how many queries have which multiple of it."""


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


def convolved(sigma: float, queries: dict[int, int], epsilon: float) -> float:
    """Return delta of one level by direct convolution in 40 digits: in units of 1/(4 sigma^2) all losses are whole numbers."""
    with mp.workdps(40):
        law = [mp.mpf(1)]
        first = 0  # the loss of the first entry, in eighths of 1/sigma^2
        for multiple, count in queries.items():
            width, step = multiple * mp.mpf(sigma), 4 // multiple**2
            reach = math.ceil(14 * float(width)) + 2
            weight = [mp.exp(-(mp.mpf(x) ** 2) / (2 * width**2)) for x in range(-reach, reach + 1)]
            total = mp.fsum(weight)
            for _ in range(2 * count):
                more = [mp.mpf(0)] * (len(law) + step * (len(weight) - 1))
                for i, one in enumerate(weight):
                    for j, mass in enumerate(law):
                        more[j + step * i] += mass * one / total
                keep = [place for place, mass in enumerate(more) if mass > mp.mpf(10) ** -36]
                law = more[keep[0] : keep[-1] + 1]
                first += step * (1 - 2 * reach) + 2 * keep[0]
        unit = 1 / (8 * mp.mpf(sigma) ** 2)
        gains = (
            mass * -mp.expm1(epsilon - (first + 2 * j) * unit)
            for j, mass in enumerate(law)
            if (first + 2 * j) * unit > epsilon
        )
        return float(mp.fsum(gains))


def test_the_persons_of_the_second_file_by_level() -> None:
    whole = widths(SPECS["census_dhc"].table["regions"][0])
    rows = {row[1]: row for row in stated() if row[0] == "DHC, persons"}
    total: Counter[float] = Counter()
    for level, (sigma, queries) in PERSONS.items():
        text = " * ".join(f"discrete_gaussian({multiple * sigma!r})^{2 * count}" for multiple, count in queries.items())
        total.update(widths(text))
        _, _, count, rho, stated_epsilon, simple = rows[level]
        assert count == sum(queries.values())
        assert sum(c / (multiple * sigma) ** 2 for multiple, c in queries.items()) == pytest.approx(rho, abs=5e-5)
        assert 0 <= float(stated_epsilon) - parse(text).epsilon(1e-10) < 0.01
        assert 0 <= float(simple) - zcdp(rho).epsilon(1e-10) < 0.012
    assert sorted(total.values()) == sorted(whole.values())
    np.testing.assert_allclose(sorted(total), sorted(whole), rtol=1e-8)


@pytest.mark.long
@pytest.mark.parametrize("level", ["State", "Tract subset"])
def test_a_level_by_direct_convolution(level: str) -> None:
    sigma, queries = PERSONS[level]
    text = " * ".join(f"discrete_gaussian({multiple * sigma!r})^{2 * count}" for multiple, count in queries.items())
    low, high = (float(side[0]) for side in parse(text).epsilon_bounds([1e-10]))
    assert convolved(sigma, queries, high * (1 + 1e-12)) <= 1e-10
    assert convolved(sigma, queries, low * (1 - 1e-12)) >= 1e-10
    assert high <= low * (1 + 1e-6)


def test_every_level_is_near_that_of_normal_noise() -> None:
    """Wide discrete Gaussians of total budget rho are nearly normal: mu^2 = 2 rho, in closed form."""
    for _, _, _, rho, exact, _ in stated():
        normal = gdp(math.sqrt(2 * rho)).epsilon(1e-10)
        assert abs(float(exact) - normal) < 0.011 + 2e-3 * normal


def test_the_page_says_what_was_published() -> None:
    """17.14 for the persons of the redistricting file, from the budget alone, rounded."""
    assert round(zcdp(float(BUDGET)).epsilon(1e-10), 2) == 17.14


@pytest.mark.long
@pytest.mark.parametrize("name", SPECS)
def test_a_figure_is_drawn(name: str) -> None:
    assert draw(SPECS[name]).takeaway
