"""Grids from TOML files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dpcore.core.errors import DomainError, ParseError
from dpcore.core.registry import value_text
from dpcore.files.documents import text_of, toml_of
from dpcore.sweeps.grid import Grid

_FIELDS = ("expression", "measure", "grid")


def read_grid(source: str | Path) -> Grid:
    """Return the grid that a TOML file describes.

    Parameters
    ----------
    source : str or Path
        The path of the file. It holds ``expression`` with ``{holes}``, ``measure`` with its arguments, and a table
        ``[grid]`` with a list, or a text such as ``0.5:2:0.5`` or ``1e-3..1/7``, for every hole.

    Returns
    -------
    Grid
        The questions.
    """
    return grid_of(toml_of(text_of(Path(source))))


def grid_of(document: dict[str, Any]) -> Grid:
    """Return the grid in a document read from TOML."""
    for name in ("expression", "measure"):
        if not isinstance(document.get(name), str):
            msg = f'A sweep needs {name} = "...", got {value_text(document.get(name))}.'
            raise ParseError(msg)
    axes = document.get("grid")
    if not isinstance(axes, dict) or not axes:
        msg = 'A sweep needs a table [grid] with the values of every hole, such as sigma = "0.5:2:0.5".'
        raise ParseError(msg)
    arguments = {name: value for name, value in document.items() if name not in _FIELDS}
    for name, value in arguments.items():
        if not isinstance(value, int | float | str) or isinstance(value, bool):
            msg = f"{name} must be a number or a hole such as {{{name}}}; several values go into [grid]."
            raise DomainError(msg)
    return Grid.of(document["expression"], document["measure"], axes, **arguments)
