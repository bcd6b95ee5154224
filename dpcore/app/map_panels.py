"""The parts of the page Map: its fields."""

from __future__ import annotations

import streamlit as st

from dpcore.app import inputs
from dpcore.app import map as model
from dpcore.app.figure import plain
from dpcore.core.errors import DpcoreError

_EXPRESSION_HELP = (
    "Any expression; {name} is a number that varies. Two of them are drawn, a third one has a single value."
)
_VALUES_HELP = "A list 1,2,5, a range 0.5:4:0.25, or 1e-4..0.1/12 for twelve values on a log scale."


def ask() -> model.MapQuery | None:
    """Show the fields; return the query, or None with the reason shown under the field."""
    expression = inputs.text_field(
        "Expression with {holes}", "map_expression", model.DEFAULTS["map_expression"], _EXPRESSION_HELP
    )
    below = st.container()
    words = st.segmented_control(
        "Measure", tuple(model.WORDS), default="ε", required=True, key="map_measure", bind="query-params"
    )
    measure = model.WORDS[words or "ε"]
    name = model.argument_of(measure)
    value = 0.0
    if name is not None:
        label, parameter, values = model.ARGUMENTS[name]
        number = inputs.slider_field(label, f"map_{name}", model.DEFAULTS[f"map_{name}"], values, parameter)
        if number is None:
            return None
        value = number
    try:
        holes = model.holes_of(expression)
        texts = tuple(
            (hole, inputs.text_field(f"Values of {hole}", key, model.DEFAULTS[key], _VALUES_HELP))
            for hole, key in zip(holes, model.FIELDS, strict=False)
        )
        query = model.MapQuery(expression, measure, () if name is None else ((name, value),), texts)
        query.declare()
    except DpcoreError as error:
        below.error(plain(str(error)), icon=":material/error:")
        return None
    return query
