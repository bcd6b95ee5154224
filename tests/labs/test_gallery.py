"""The gallery of the statistical-foundations thesis: every figure names a lab, a picture and a link that exist."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpcore.app.statistics_lab import KIND
from dpcore.labs import LABS, lab
from dpcore.specs import Spec, code, draw, read

FILE = Path(__file__).resolve().parents[2] / "data" / "gallery" / "foundations.toml"
SPECS = read(FILE)
FIGURES = {f"Figure 5.{i}" for i in (*range(1, 5), *range(6, 14), 15)} | {f"Figure 6.{i}" for i in range(1, 6)}


def test_all_figures_are_there() -> None:
    places = {spec["place"] for spec in SPECS}
    assert FIGURES | {"Figure 4.1", "Table 3.4", "Table 5.1", "Table 5.2"} <= places
    assert sum(place.startswith("Figure 5.14") for place in places) == 4


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_a_figure_opens_its_own_lab(spec: Spec) -> None:
    chosen = lab(spec["lab"], **dict(spec.get("parameters", {})))
    state = spec["link"]["state"]
    assert spec["view"] in LABS[spec["lab"]].views
    assert (KIND.read(state["lab"]), state["lab_view"]) == (chosen, spec["view"])
    assert spec["lab"] in code(spec)
    assert spec["differs"]


def test_one_figure_drawn() -> None:
    found = next(spec for spec in SPECS if spec["place"] == "Figure 4.1")
    figure = draw(found)
    assert "0.174809" in figure.takeaway
    assert figure.title == found["title"]
