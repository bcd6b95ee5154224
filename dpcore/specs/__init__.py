"""Figure specs: a small TOML table says what to draw, and becomes a figure with its table, sentence and Python code.

.. code-block:: toml

    [[figure]]
    name = "five_answers"
    draw = "regions"
    title = "Five answers"
    caption = "One answer and five of them."
    regions = ["dp(0.6, 0.05)", "dp(0.6, 0.05)^5"]
    labels = ["one", "five"]

`draw` returns the figure, `code` the Python lines that produce it and `sheet` its table with columns that describe it; `read` returns the specs of a file and
`figures_in` those of a Markdown text; `drawers` lists what can be drawn.
"""

from dpcore.specs.base import (
    DRAWERS,
    Drawer,
    Spec,
    SpecError,
    as_spec,
    code,
    draw,
    drawers,
    expressions,
    intermediate,
    table,
)
from dpcore.specs.reading import block, figures_in, load, read
from dpcore.specs.sheet import file_name, sheet

__all__ = [
    "DRAWERS",
    "Drawer",
    "Spec",
    "SpecError",
    "as_spec",
    "block",
    "code",
    "draw",
    "drawers",
    "expressions",
    "figures_in",
    "file_name",
    "intermediate",
    "load",
    "read",
    "sheet",
    "table",
]
