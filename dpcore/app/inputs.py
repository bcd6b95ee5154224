"""Fields for numbers that a link carries: typed exactly, checked by the library's rules, with a slider beside it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore.app import page
from dpcore.app.figure import plain
from dpcore.core.domains import COUNT, PROBABILITY
from dpcore.core.errors import DomainError
from dpcore.language.numbers import quotient, read_value
from dpcore.words import grouped, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamlit.delta_generator import DeltaGenerator

    from dpcore.core.parameter import Parameter

_STEPS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)  # of a decade, about equally far apart on a log scale
NOWHERE = "–"  # where a slider stands while its field holds no number
_FORMER = "_former"  # what stood in each field when the page was last shown


def round_values(low: int, high: int) -> list[str]:
    """Return round numbers from 10^low to 10^high for a slider, ten in each decade; integers where `low` is 0 or more."""
    values = [f"{step * 10.0**power:.10g}" for power in range(low, high) for step in _STEPS]
    return [value for value in values if low < 0 or "." not in value] + [f"{10.0**high:.10g}"]


def number_field(
    label: str,
    key: str,
    default: str,
    allowed: Parameter = PROBABILITY,
    *,
    trouble: DeltaGenerator,
    optional: bool = False,
    disabled: bool = False,
    help_text: str = "",
) -> float | None:
    """Show a field for a number that the link carries.

    Parameters
    ----------
    label, key, default : str
        Name shown, name in the link, text at first.
    allowed : Parameter, default PROBABILITY
        The numbers it takes; a message calls them by the label.
    trouble : DeltaGenerator
        Where a wrong number is explained; None is returned then.
    optional : bool, default False
        The field may be empty, which is returned as nan.
    disabled : bool, default False
        The field is shown but not used, nor checked.
    """
    text = _typed(label, key, default, help_text, disabled=disabled, placeholder="may be empty" if optional else None)
    if disabled or (optional and not text.strip()):
        return math.nan if optional else None
    try:
        return float(read_value(allowed, text.strip(), label))
    except DomainError as error:
        trouble.error(plain(str(error)))
        return None


def _typed(label: str, key: str, default: str, help_text: str, **options: Any) -> str:
    """Show a text that the link carries; what stood there before can be brought back by Undo."""
    shared: dict[str, Any] = {"help": help_text or None, "on_change": keep_former, "args": (key,)}
    text: str = st.text_input(label, default, key=key, bind="query-params", **shared, **options)
    note_former(key, text)
    return text


def note_former(key: str, text: str) -> None:
    """Note what a field holds while the page is shown, for `keep_former` when it is typed over."""
    st.session_state.setdefault(_FORMER, {})[key] = text


def keep_former(key: str) -> None:
    """Let Undo bring back what stood in a field that was typed over."""
    page.keep({key: st.session_state.get(_FORMER, {}).get(key)})


def integer_field(
    label: str,
    key: str,
    default: str,
    *,
    low: int,
    high: int,
    trouble: DeltaGenerator,
    help_text: str = "",
    round_up: bool = False,
) -> int | None:
    """Show a field for an integer that the link carries; a wrong one is explained in `trouble` and None returned.

    With `round_up` a quotient such as 60*60000/256 counts as the next integer, and `trouble` says so.
    """
    text = _typed(label, key, default, help_text)
    exact = quotient(text) if round_up else None
    if exact is not None and exact > 0 and exact.denominator > 1:
        whole, value = math.ceil(exact), nearest(float(exact), 10)
        equal = "" if text.strip() == value else f" = {value}"
        trouble.caption(plain(f"{label}: {text.strip()}{equal}, counted as {grouped(whole)}."))
        text = str(whole)
    try:
        return int(read_value(COUNT.but(low=low, high=high), text.strip(), label))
    except DomainError as error:
        trouble.error(plain(str(error)))
        return None


def log_slider(label: str, key: str, options: Sequence[str], value: float | None) -> None:
    """Show a slider over round values, and the one in the field `key`; it writes into that field.

    Parameters
    ----------
    label, key : str
        Name shown, name of the field.
    options : sequence of str
        The round values, from small to large.
    value : float or None
        What the field says; None while it holds no number, which leaves nothing to move.
    """
    places = {option: float(option) for option in options}
    if value is None:
        here = NOWHERE
        places = {here: -math.inf, **places}
    else:
        typed = str(st.session_state.get(key, "")).strip()
        here = next((option for option in options if places[option] == value), typed)
        places[here] = value
    handle = f"{key}_slider"
    st.session_state[handle] = here
    ordered = sorted(places, key=places.__getitem__)
    st.select_slider(label, ordered, key=handle, on_change=_follow, args=(key, handle), disabled=value is None)


def _follow(key: str, handle: str) -> None:
    page.change(key, st.session_state[handle])


def choice(label: str, key: str, options: dict[str, str], default: str) -> str:
    """Show a menu that follows a text which the link carries, and writes it; a wrong text is explained."""
    typed = str(st.session_state.get(key, "")).strip()
    if typed and typed not in options:
        st.error(plain(f"{label}: choose one of {', '.join(options)}; got {typed[:40]!r}."), icon=":material/error:")
    found = typed if typed in options else default
    st.session_state[f"{key}_menu"] = found
    st.selectbox(
        label,
        list(options),
        key=f"{key}_menu",
        format_func=lambda name: options.get(name, name),
        on_change=_take_choice,
        args=(key,),
    )
    return found


def _take_choice(key: str) -> None:
    page.change(key, st.session_state[f"{key}_menu"])
