"""The page Your data: its tools, one section each, and the contents of its link."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import streamlit as st

from dpcore.app import (
    your_data_disclosure,
    your_data_intervals,
    your_data_sensitivity,
    your_data_series,
    your_data_table,
)

if TYPE_CHECKING:
    from types import ModuleType

SECTIONS: Final[dict[str, ModuleType]] = {
    "Intervals": your_data_intervals,
    "Sensitivity": your_data_sensitivity,
    "Disclosure": your_data_disclosure,
    "Series": your_data_series,
}
"""Name of a tool in the menu and in the link -> its module, with `DEFAULTS` and `section()`."""

DEFAULTS: Final[dict[str, Any]] = {
    "data_tool": next(iter(SECTIONS)),
    **your_data_table.DEFAULTS,
    **{key: value for module in SECTIONS.values() for key, value in module.DEFAULTS.items()},
}


def opening(tool: str) -> dict[str, Any]:
    """Return the state for a link that opens a tool with a table it can use."""
    return {"data_tool": tool, **getattr(SECTIONS[tool], "OPENING", {})}


def choose() -> ModuleType:
    """Show the menu of tools and return the module of the chosen one; input for the others is kept."""
    tool = st.segmented_control(
        "Tool",
        list(SECTIONS),
        default=DEFAULTS["data_tool"],
        required=True,
        key="data_tool",
        bind="query-params",
        label_visibility="collapsed",
    )
    chosen = SECTIONS[str(tool)]
    for key in {*DEFAULTS} - {"data_tool", *your_data_table.DEFAULTS, *chosen.DEFAULTS}:
        if key in st.session_state:  # Streamlit forgets the value of a widget that is not shown
            st.session_state[key] = st.session_state[key]
    return chosen
