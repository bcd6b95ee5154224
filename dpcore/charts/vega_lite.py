"""Layers of a chart as Vega-Lite, written three times as fast as Altair does it.

Altair checks for every number and every text of a chart whether it is one of its objects, and matches every "name:Q"
against some forty patterns again. On a page that is redrawn while a slider moves, this takes longer than computing the
numbers. What is not an ordinary object of a chart is left to Altair, and a test compares the two for every kind of
figure.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import altair as alt
import pandas as pd
from altair.utils import parse_shorthand

if TYPE_CHECKING:
    from collections.abc import Callable

_HIDDEN: Final = frozenset({"shorthand", "_cached_hash"})  # what Altair keeps beside the properties of Vega-Lite
_LEAVES: Final = frozenset({str, int, float, bool, type(None)})


def layer_spec(layer: alt.TopLevelMixin, name_of: Callable[[pd.DataFrame], dict[str, str]]) -> dict[str, Any]:
    """Return one layer as Vega-Lite.

    Parameters
    ----------
    layer : altair.Chart
        A single layer without parameters.
    name_of : callable
        Takes the table of the layer and returns the data that stands for it in the specification.

    Returns
    -------
    dict
        What ``layer.to_dict(validate=False)`` returns inside a layered chart.
    """
    if not isinstance(layer, alt.Chart):
        raise TypeError(layer)
    parts = {name: part for name, part in vars(layer)["_kwds"].items() if name not in _HIDDEN}
    if isinstance(parts["data"], pd.DataFrame):
        parts["data"] = name_of(parts["data"])
    if isinstance(mark := parts["mark"], str):
        parts["mark"] = {"type": mark}
    spec: dict[str, Any] = _plain(parts)
    return spec


def _plain(value: Any) -> Any:
    """Return a part of a chart as JSON has it."""
    kind = type(value)
    if kind in _LEAVES:
        return value
    if kind is dict:
        return {name: _plain(part) for name, part in value.items() if part is not alt.Undefined}
    if kind is list or kind is tuple:
        return [_plain(part) for part in value]
    if isinstance(value, alt.SchemaBase):
        return _object(value)
    return alt.SchemaBase(value).to_dict(validate=False)


def _object(value: alt.SchemaBase) -> Any:
    values, parts = vars(value)["_args"], vars(value)["_kwds"]
    if values:
        return _plain(values[0])
    shorthand = parts.get("shorthand", alt.Undefined)
    explicit = {name: part for name, part in parts.items() if name not in _HIDDEN and part is not alt.Undefined}
    if shorthand is alt.Undefined:
        return _plain(explicit)
    if not isinstance(shorthand, str) or not (fields := dict(_fields(shorthand))).keys() >= {"field", "type"}:
        return value.to_dict(validate=False)
    if "type" not in parts:  # a second field, such as x2, has the type of the first
        del fields["type"]
    return _plain({**fields, **explicit})


@lru_cache(maxsize=1024)
def _fields(shorthand: str) -> tuple[tuple[str, str], ...]:
    """Return what "name:Q" stands for."""
    return tuple(parse_shorthand(shorthand).items())
