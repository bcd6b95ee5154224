"""Maps of sweeps: cells, contour lines, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcore import DomainError
from dpcore.charts.contours import contour, levels
from dpcore.charts.map import map_figure
from dpcore.sweeps import sweep


def test_a_contour_lies_where_the_function_has_its_value() -> None:
    x, y = np.linspace(0, 2, 21), np.linspace(0, 1, 11)
    z = x[None, :] + 2 * y[:, None]
    lines = contour(x, y, z, 1.03)
    assert len(lines) == 1
    points = np.array(lines[0])
    assert np.allclose(points[:, 0] + 2 * points[:, 1], 1.03)
    assert np.all(np.diff(points[:, 0]) * np.diff(points[:, 0])[0] >= 0), "the points are in order"


def test_a_closed_contour_is_one_line() -> None:
    x = y = np.linspace(-1, 1, 41)
    lines = contour(x, y, np.hypot(x[None, :], y[:, None]), 0.5)
    assert len(lines) == 1
    assert lines[0][0] == lines[0][-1]
    assert np.abs(np.hypot(*np.array(lines[0]).T) - 0.5).max() < 0.01


def test_no_contour_goes_through_a_missing_value() -> None:
    z = np.array([[0.0, 1.0, 2.0], [0.0, np.nan, 2.0], [0.0, 1.0, 2.0]])
    assert contour(np.arange(3.0), np.arange(3.0), z, 0.5) == []


def test_levels_are_round() -> None:
    assert levels(0.3, 8) == [0.5, 1.0, 2.0, 5.0]
    assert (
        levels(1e-30, 1) == [10.0**-k for k in (30, 27, 24, 21, 18, 15, 12, 9, 6, 3)][1:] or len(levels(1e-30, 1)) <= 10
    )
    assert levels(3.0, 4.0) == []


def test_the_map_draws_every_cell_and_says_both_ends() -> None:
    table = sweep("gaussian({sigma})^{k}", "epsilon", {"sigma": [1, 2, 4, 8], "k": [1, 10, 100]}, delta=1e-5, cores=1)
    figure = map_figure(table, "sigma", "k", measure="ε")
    cells = figure.chart.layer[0].data
    assert len(cells) == 12
    assert cells["shade"].min() == 0
    assert cells["shade"].max() == 1
    assert figure.table is table
    least, most = table["value"].min(), table["value"].max()
    assert f"{least:.2g}"[:3] in figure.takeaway
    assert f"{most:.3g}"[:2] in figure.takeaway
    assert "σ" not in figure.takeaway
    assert figure.chart.to_dict()


def test_cells_without_a_value_are_counted() -> None:
    table = sweep("gaussian({sigma})^{k}", "epsilon", {"sigma": [0, 1, 2], "k": [1, 10]}, delta=1e-5, cores=1)
    figure = map_figure(table, "sigma", "k")
    assert figure.notes == ("2 cells have no finite value; the table says why.",)
    assert len(figure.chart.layer[0].data) == 4


def test_a_map_needs_two_axes_of_numbers() -> None:
    table = sweep("gaussian({sigma})^{k}", "delta", {"sigma": [1, 2], "k": [1]}, epsilon=1, cores=1)
    with pytest.raises(DomainError, match="at least two numbers for 'k'"):
        map_figure(table, "sigma", "k")
    table = sweep("{m}^{k}", "delta", {"m": ["gdp(1)", "dp(1)"], "k": [1, 2]}, epsilon=1, cores=1)
    with pytest.raises(DomainError, match="at least two numbers for 'm'"):
        map_figure(table, "m", "k")
    table = sweep("dp({e})^{k}", "delta", {"e": [1, math.inf], "k": [1, 2]}, epsilon=0.1, cores=1)
    with pytest.raises(DomainError, match="finite numbers for 'e', got inf"):
        map_figure(table, "e", "k")
    table = sweep("gaussian({s})", "delta", {"s": [1, 2], "e": [1, 2]}, epsilon="{e}", cores=1)
    assert map_figure(table, "e", "s").takeaway
    with pytest.raises(DomainError, match="two different parameters"):
        map_figure(table, "s", "s")
    table = sweep("gaussian({s})", "delta", {"s": [0, -1], "e": [1, 2]}, epsilon="{e}", cores=1)
    with pytest.raises(DomainError, match="No cell of this map has a finite value"):
        map_figure(table, "e", "s")
