"""Grids: holes, axes, arguments, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dpcore import DomainError, ParseError
from dpcore.sweeps import Grid, read_grid
from dpcore.sweeps.grid import filled

if TYPE_CHECKING:
    from pathlib import Path

TRAINING = "poisson_gaussian({sigma}, {q})^{steps}"


def test_cells_are_all_combinations_in_the_order_of_the_table() -> None:
    grid = Grid.of(TRAINING, "epsilon", {"steps": [100, 200], "sigma": "1:3:1", "q": 0.01}, delta=1e-6)
    rows = {grid.number(grid.places(place)) for place in range(grid.size)}
    assert grid.size == 6
    assert rows == set(range(6))
    assert grid.values((1, 2, 0)) == {"steps": 200.0, "sigma": 3.0, "q": 0.01}
    assert grid.number((1, 2, 0)) == 5


def test_powers_and_arguments_move_fastest_in_the_work() -> None:
    grid = Grid.of(TRAINING, "epsilon", {"steps": [1, 2], "d": [1e-5, 1e-6], "sigma": [1, 2], "q": 0.1}, delta="{d}")
    assert grid.power == "steps"
    assert grid.base == "poisson_gaussian({sigma}, {q})"
    assert [grid.names[place] for place in grid.order] == ["sigma", "q", "steps", "d"]
    assert grid.shared == 4


def test_a_power_that_is_used_twice_is_not_shared() -> None:
    assert Grid.of("laplace({k})^{k}", "delta", {"k": [1, 2]}, epsilon=1).power is None


def test_values_are_written_as_the_language_reads_them() -> None:
    assert filled("{m}^{k}", {"m": "dp(1) & gdp(1)", "k": 1000.0}) == "(dp(1) & gdp(1))^1000"


@pytest.mark.parametrize(
    ("words", "expression", "measure", "axes", "arguments"),
    [
        (r"no values for '\{x{29}\.\.\.'", f"dp({{{'x' * 10_000}}})", "epsilon", {"sigma": 1}, {"delta": 1e-5}),
        (r"no values for '\{q\}'", TRAINING, "epsilon", {"sigma": 1, "steps": 2}, {"delta": 1e-5}),
        ("stands neither", "gdp({mu})", "delta", {"mu": 1, "nu": 2}, {"epsilon": 1}),
        ("needs delta", "gdp({mu})", "epsilon", {"mu": 1}, {}),
        ("has no argument", "gdp({mu})", "advantage", {"mu": 1}, {"delta": 1e-5}),
        ("takes a number or a hole", "gdp({mu})", "epsilon", {"mu": 1}, {"delta": "small"}),
        ("got 2", "gdp({mu})", "epsilon", {"mu": 1}, {"delta": 2.0}),
        ("has no values", "gdp({mu})", "advantage", {"mu": []}, {}),
        ("number or a text", "gdp({mu})", "advantage", {"mu": [None]}, {}),
        ("name of a hole", "gdp({value})", "advantage", {"value": 1}, {}),
        ("name of a hole", "gdp({a b})", "advantage", {"a b": 1}, {}),
        ("measure", "gdp({mu})", "epsylon", {"mu": 1}, {"delta": 1e-5}),
        ("cells", "gdp({a})*gdp({b})", "advantage", {"a": "1e-3..1/100000", "b": "1e-3..1/100000"}, {}),
    ],
)
def test_a_wrong_grid_is_refused_with_its_reason(
    words: str, expression: str, measure: str, axes: dict[str, object], arguments: dict[str, object]
) -> None:
    with pytest.raises((DomainError, ParseError), match=words):
        Grid.of(expression, measure, axes, **arguments)


def test_a_file_describes_a_grid(tmp_path: Path) -> None:
    path = tmp_path / "grid.toml"
    lines = [f'expression = "{TRAINING}"', 'measure = "epsilon"', 'delta = "{d}"', "[grid]", 'sigma = "1:2:0.5"']
    path.write_text("\n".join([*lines, "q = [0.01, 0.02]", "steps = 1000", "d = [1e-5]"]), encoding="utf-8")
    grid = read_grid(path)
    assert grid.axes[0] == ("sigma", (1.0, 1.5, 2.0))
    assert grid.size == 6


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('measure = "epsilon"', "needs expression"),
        ('expression = "gdp({m})"\nmeasure = "epsilon"\ndelta = 1e-5', "table \\[grid\\]"),
        ('expression = "gdp({m})"\nmeasure = "epsilon"\ndelta = [1, 2]\n[grid]\nm = 1', "several values go into"),
    ],
)
def test_a_wrong_file_is_refused_with_its_reason(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "grid.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises((DomainError, ParseError), match=words):
        read_grid(path)
