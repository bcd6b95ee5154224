"""Form fields made from the registry: one widget per parameter, with its domain, meaning and example."""

from __future__ import annotations

import json
import math
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from dpcore.app import work
from dpcore.app.inputs import FIELD_WIDTH
from dpcore.app.written import LARGEST_FIELD, Written, expression, of
from dpcore.core import registry
from dpcore.core.errors import DpcoreError
from dpcore.core.numerals import numeral
from dpcore.language import examples, numbers, parse
from dpcore.regions.tradeoff import Atom

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dpcore.core.registry import Entry, Parameter

_RATES = [round(0.01 * step, 2) for step in range(101)]
_EXCESSES = sorted({0.0, *(float(f"{step}e{power}") for power in range(-9, -2) for step in (1, 2, 5)), *_RATES})
_EVEN = ("epsilon", "mu")
_NAMES = {"eta": "total variation"}  # labels of parameters whose own name says little
_SMALL = ("delta", "slack")  # rates whose powers of ten matter
_LOSSES = [round(0.05 * step, 2) for step in range(101)] + [5.5, 6.0, 7.0, 8.0, 9.0, 10.0]  # larger ones protect nobody
_SIZES = [float(f"{step}e{power}") for power in range(-3, 2) for step in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)] + [
    100.0
]
_COUNTS = [step * 10**power for power in range(4) for step in (1, 2, 3, 4, 5, 6, 7, 8, 9)] + [10_000]


def example(entry: Entry) -> str:
    """Return the expression of an entry with its example values."""
    return str(examples.example(entry))


def rows(written: Written, key: str, on_change: Callable[..., None], args: tuple[Any, ...]) -> list[str]:
    """Show every parameter of a region as a slider with its exact field beside it, or as a field alone.

    Parameters
    ----------
    written : Written
        The name and the initial texts of the fields.
    key : str
        The fields are kept under ``{key}_{parameter}``.
    on_change, args : callable or tuple of object
        Called before the next run when a field or its slider changes; `typed` then reads the fields.

    Returns
    -------
    list of str
        The keys of the sliders.
    """
    sliders = []
    for parameter in written.entry.parameters:
        place = f"{key}_{parameter.name}"
        sliders += row(parameter, written.shown[parameter.name], place, on_change, args)
    try:
        typed(written.entry, key)
    except DpcoreError as error:
        st.error(str(error))
    return sliders


def row(
    parameter: Parameter,
    shown: Any,
    place: str,
    on_change: Callable[..., None],
    args: tuple[Any, ...],
    values: Sequence[float] = (),
) -> list[str]:
    """Show one parameter as a slider with its exact field beside it; without a finite number, only the field.

    Parameters
    ----------
    parameter : Parameter
        The parameter of the field.
    shown : object
        The initial value of the field.
    place : str
        Key of the field.
    on_change, args : callable or tuple of object
        As in `rows`.
    values : sequence of float, default ()
        The values of the slider; a useful range of the parameter by default.

    Returns
    -------
    list of str
        The key of the slider, if there is one.
    """
    value = numbers.number(str(shown)) if parameter.kind in {"number", "integer"} else None
    if value is None or not math.isfinite(value):
        _field(parameter, shown, place, on_change, args)
        return []
    number = int(value) if parameter.kind == "integer" else float(value)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _slider(parameter, number, values, place, on_change, args)
        _field(parameter, shown, place, on_change, args, width=FIELD_WIDTH)
    return [slider_key(place)]


def _slider(
    parameter: Parameter,
    value: float,
    values: Sequence[float],
    place: str,
    on_change: Callable[..., None],
    args: tuple[Any, ...],
) -> None:
    """Show a slider over some values and the current one; it writes into the field."""
    handle = slider_key(place)

    def move() -> None:
        new = st.session_state[handle]
        st.session_state[place] = new if isinstance(st.session_state.get(place), int) else numeral(new)
        on_change(*args)

    st.session_state[handle] = value
    symbol = parameter.label or parameter.name
    st.select_slider(
        f"{_NAMES[parameter.name]} {symbol}" if parameter.name in _NAMES else symbol,
        slider_values(parameter, value, values),
        key=handle,
        format_func=numeral,
        on_change=move,
    )


def slider_values(parameter: Parameter, value: float, values: Sequence[float] = ()) -> list[float]:
    """Return the values of a slider: those given, or a useful range of the parameter, and the current one."""
    return sorted({*(values or _grid(parameter)), value})


def slider_key(place: str) -> str:
    """Return the key of the slider of a field."""
    return f"{place}_slide"


@cache
def _grid(parameter: Parameter) -> tuple[float, ...]:
    """Return the values of a slider: even steps where people think in them (rates, ε, μ), otherwise a log scale."""
    grid: Sequence[float]
    if parameter.kind == "integer":
        grid = _COUNTS
    elif parameter.high <= 1:
        grid = _EXCESSES if parameter.name in _SMALL else _RATES
    elif parameter.name in _EVEN:
        grid = _LOSSES
    else:
        grid = _SIZES
    return tuple(value for value in grid if _inside(parameter, value))


def _inside(parameter: Parameter, value: float) -> bool:
    try:
        parameter.check(value)
    except DpcoreError:
        return False
    return True


def fill(written: Written, key: str) -> None:
    """Write a region's texts into its fields; call this before `rows` shows them."""
    for name, shown in written.shown.items():
        st.session_state[f"{key}_{name}"] = shown


def typed(entry: Entry, key: str, held: Mapping[str, str] | None = None) -> str:
    """Return the expression in the fields, as typed; the library names a value outside its domain.

    A held slider (its text by its key) replaces its field.

    The region may differ from what was typed, such as tv(0.1) for dptv(0.6, 0.15, 0.1), but it does not replace it.
    """
    shown = {p.name: st.session_state[f"{key}_{p.name}"] for p in entry.parameters}
    for name in shown:
        if held and (slider := slider_key(f"{key}_{name}")) in held:
            shown[name] = held[slider]
    values = {p.name: meant(p, shown[p.name]) for p in entry.parameters}
    if entry.parameters[-1].kind == "regions":
        return str(entry.build(*values[entry.parameters[-1].name]))
    checked = [(p, shown[p.name], p.check(values[p.name])) for p in entry.parameters]
    text = expression(entry, checked)
    region, _ = work.region(text)
    return str(region) if isinstance(region, Atom) and of(region) == Written(entry, shown) else text


def _field(
    parameter: Parameter,
    value: Any,
    key: str,
    on_change: Callable[..., None] | None,
    args: tuple[Any, ...],
    width: int | Literal["stretch"] = "stretch",
) -> None:
    """Show the widget of one parameter; a value already in the session is kept."""
    label = parameter.label or parameter.name
    label = label if label == parameter.name else f"{label} ({_NAMES.get(parameter.name, parameter.name)})"
    joined = ", joined by ;" if parameter.kind == "regions" else ""
    st.session_state.setdefault(key, value)
    shared: dict[str, Any] = {
        "key": key,
        "help": f"{parameter.meaning}: {parameter.domain_words}{joined}",
        "on_change": on_change,
        "args": args,
        "width": width,
    }
    if parameter.kind == "integer" and isinstance(st.session_state[key], int):
        high = int(min(parameter.high, LARGEST_FIELD))
        st.number_input(label, int(max(parameter.low, -LARGEST_FIELD)), high, step=1, **shared)
    elif isinstance(parameter, registry.Choice):
        st.selectbox(label, parameter.choices, **shared)
    else:
        st.text_input(label, **shared)


def meant(parameter: Parameter, shown: Any) -> Any:
    """Return the value of a field; a value of the wrong kind is left to the parameter's own check."""
    if parameter.kind in {"number", "integer"}:
        return numbers.meant(parameter, str(shown))
    if parameter.kind in {"numbers", "points"}:
        return lists(shown)
    if parameter.kind == "region":
        return parse(shown)
    if parameter.kind == "regions":
        return [parse(part) for part in shown.split(";") if part.strip()]
    return shown


def lists(text: str) -> Any:
    """Return a list of numbers or of pairs typed in square brackets; anything else is returned as it is."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def entry_names(groups: tuple[str, ...] = ("guarantee", "mechanism")) -> dict[str, str]:
    """Return name -> title of the entries of some groups, in the order of the registry."""
    return {entry.name: entry.title for group in groups for entry in registry.entries(group)}
