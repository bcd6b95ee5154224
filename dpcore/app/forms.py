"""Form fields made from the registry: one widget per parameter, with its domain, meaning and example."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore import registry
from dpcore.errors import DpcoreError
from dpcore.language import parse
from dpcore.tradeoff import Atom, literal, parameters_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.registry import Entry, Parameter

MOST_COLUMNS = 4
MOST_DIGITS = 30
_RATES = [round(0.01 * step, 2) for step in range(101)]
_SIZES = [float(f"{10 ** (step / 20):.2g}") for step in range(-60, 41)]
LARGEST_FIELD = 2**53 - 1  # what a number field of a browser holds without rounding


def example(entry: Entry) -> str:
    """Return the expression of an entry with its example values."""
    oracle = entry.oracles[0].arguments
    region = entry.build(*(_argument(value) for value in oracle))
    return str(region)


def _argument(value: Any) -> Any:
    if isinstance(value, str):
        return value.strip('"') if value.startswith('"') else parse(value)
    return value


def atom_form(
    atom: Atom, key: str, on_change: Callable[..., None] | None = None, args: tuple[Any, ...] = ()
) -> str | None:
    """Show one field per parameter of an atom and return the expression they make, or None with the error shown.

    Parameters
    ----------
    atom : the region whose values the fields start with.
    key : the fields are kept under ``{key}_{parameter}``.
    on_change, args : called before the next run when a field changes; `typed` then reads the fields.
    """
    parameters = parameters_of(type(atom))
    columns = st.columns(max(1, min(MOST_COLUMNS, len(parameters))))
    for index, (name, parameter) in enumerate(parameters):
        with columns[index % len(columns)]:
            _field(parameter, getattr(atom, name), f"{key}_{parameter.name}", on_change, args)
    try:
        return typed(atom.entry, key)
    except DpcoreError as error:
        st.error(str(error))
        return None


def slider(atom: Atom, key: str, on_change: Callable[..., None], args: tuple[Any, ...]) -> None:
    """Show a slider for the first number of an atom; it writes into the exact field beside it before `on_change`."""
    found = [(name, p) for name, p in parameters_of(type(atom)) if p.kind == "number"]
    value = float(getattr(atom, found[0][0])) if found else math.inf
    if not math.isfinite(value):
        return
    parameter = found[0][1]
    place = f"{key}_{parameter.name}"
    rates = parameter.high <= 1
    grid = [x for x in (_RATES if rates else _SIZES) if _inside(parameter, x)]

    def move() -> None:
        st.session_state[place] = repr(float(st.session_state[f"{place}_slide"]))
        on_change(*args)

    st.session_state[f"{place}_slide"] = value
    st.select_slider(
        f"{parameter.label or parameter.name}, {'from 0 to 1' if rates else 'on a log scale'}",
        sorted({*grid, value}),
        key=f"{place}_slide",
        format_func=lambda x: f"{x:.6g}",
        on_change=move,
    )


def _inside(parameter: Parameter, value: float) -> bool:
    try:
        parameter.check(value)
    except DpcoreError:
        return False
    return True


def fill(atom: Atom, key: str) -> None:
    """Write the atom's values into its fields; to be called before `atom_form` shows them."""
    for name, parameter in parameters_of(type(atom)):
        st.session_state[f"{key}_{parameter.name}"] = _written(parameter, getattr(atom, name))


def typed(entry: Entry, key: str) -> str:
    """Return the expression that the fields make; a value outside its domain is named by the library."""
    values = {p.name: _meant(p, st.session_state[f"{key}_{p.name}"]) for p in entry.parameters}
    if entry.parameters[-1].kind == "regions":
        return str(entry.build(*values[entry.parameters[-1].name]))
    return str(entry.build(**values))


def _field(
    parameter: Parameter, value: Any, key: str, on_change: Callable[..., None] | None, args: tuple[Any, ...]
) -> None:
    """Show the widget of one parameter; what is in the session already is kept."""
    label = parameter.label or parameter.name
    label = label if label == parameter.name else f"{label} ({parameter.name})"
    joined = ", joined by ;" if parameter.kind == "regions" else ""
    st.session_state.setdefault(key, _written(parameter, value))
    shared: dict[str, Any] = {
        "key": key,
        "help": f"{parameter.meaning}: {parameter.domain_words}{joined}",
        "on_change": on_change,
        "args": args,
    }
    if parameter.kind == "integer" and isinstance(st.session_state[key], int):
        high = int(min(parameter.high, LARGEST_FIELD))
        st.number_input(label, int(max(parameter.low, -LARGEST_FIELD)), high, step=1, **shared)
    elif parameter.kind == "text":
        st.selectbox(label, registry.RELATIONS, **shared)
    else:
        st.text_input(label, **shared)


def _written(parameter: Parameter, value: Any) -> Any:
    """Return a value as its field shows it; an integer that a number field cannot hold is typed as text."""
    if parameter.kind == "integer":
        return int(value) if abs(value) <= LARGEST_FIELD else str(value)
    if parameter.kind == "regions":
        return "; ".join(str(item) for item in value)
    return value if parameter.kind == "text" else str(value) if parameter.kind == "region" else literal(value)


def _meant(parameter: Parameter, shown: Any) -> Any:
    """Return what a field says; what is no value of its kind is left to the parameter's own check."""
    if parameter.kind == "integer":
        return int(shown) if str(shown).isdecimal() and len(str(shown)) <= MOST_DIGITS else shown
    if parameter.kind == "number":
        return number(shown)
    if parameter.kind in {"numbers", "points"}:
        return numbers(shown)
    if parameter.kind == "region":
        return parse(shown)
    if parameter.kind == "regions":
        return [parse(part) for part in shown.split(";") if part.strip()]
    return shown


def number(text: str) -> Any:
    """Return a typed number: 0.6, 1e-6, log(3), 1/3, inf; what is none is left to the parameter's own check."""
    try:
        return float(text)
    except ValueError:
        try:
            # any number the language can write stands as the mu of a Gaussian guarantee
            return getattr(parse(f"gdp({text})"), "mu", text)
        except DpcoreError:
            return text


def numbers(text: str) -> Any:
    """Return a list of numbers or of pairs typed in square brackets; anything else is returned as it is."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def entry_names(groups: tuple[str, ...] = ("guarantee", "mechanism")) -> dict[str, str]:
    """Return name -> title of the entries of some groups, in the order of the registry."""
    return {entry.name: entry.title for group in groups for entry in registry.entries(group)}
