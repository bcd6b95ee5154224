"""The outline of a figure, put together layer by layer, is the chart that Altair would have written."""

from __future__ import annotations

import pytest
import vl_convert

from dpcore import specs
from dpcore.charts.export import renumbered
from tests.specs.test_specs import CASES


@pytest.mark.parametrize("name", CASES)
def test_the_outline_draws_what_altair_draws(name: str) -> None:
    figure = specs.draw(CASES[name])
    own, altair = ({**spec, "width": 500} for spec in (figure.spec, figure.chart.to_dict()))
    first, second = (renumbered(vl_convert.vegalite_to_svg(spec)) for spec in (own, altair))
    assert first == second
