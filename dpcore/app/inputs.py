"""Fields for numbers that a link carries: typed exactly, checked by the library's rules, with a slider beside them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from dpcore.app import page
from dpcore.app.figure import plain
from dpcore.core.domains import COUNT, PROBABILITY
from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest, numeral
from dpcore.language.numbers import quotient, read_value
from dpcore.words import grouped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamlit.delta_generator import DeltaGenerator

    from dpcore.core.parameter import Parameter

_STEPS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)  # steps within a decade, about equally far apart on a log scale
LOSSES = [numeral(step / 20) for step in (*range(1, 40), *range(40, 100, 2), *range(100, 200, 5), *range(200, 401, 20))]
"""Values of a slider for ε: even steps, wider ones above 2, where privacy is weak."""

DELTAS = [f"{digit}e-{power}" for power in range(12, 1, -1) for digit in (1, 2, 5)]
"""Values of a slider for a small δ."""

FIELD_WIDTH = 122
"""Width in px of the exact field beside a slider: seven digits, and room for the slider on a phone too."""

NOWHERE = "–"  # position of a slider while its field holds no number
_FORMER = "_former"  # content of each field when the page was last shown


def round_values(low: int, high: int) -> list[str]:
    """Return round numbers from 10^low to 10^high for a slider, ten in each decade; integers where `low` is 0 or more."""
    values = [nearest(step * 10.0**power, 10) for power in range(low, high) for step in _STEPS]
    return [value for value in values if low < 0 or "." not in value] + [nearest(10.0**high, 10)]


def delta_help(what: str) -> str:
    """Return the help text of a field for δ: what it allows for some answers, such as ``all answers together``."""
    return f"One person changes the probability of any result of {what} by a factor of at most e^ε, plus this δ."


def number_field(  # noqa: PLR0913  # a field is described by keywords
    label: str,
    key: str,
    default: str,
    allowed: Parameter = PROBABILITY,
    *,
    trouble: DeltaGenerator,
    optional: bool = False,
    disabled: bool = False,
    round_up: bool = False,
    help_text: str = "",
    width: int | Literal["stretch"] = "stretch",
) -> float | None:
    """Show a field for a number that the link carries.

    Parameters
    ----------
    label, key, default : str
        Name shown, name in the link, initial text.
    allowed : Parameter, default PROBABILITY
        The numbers it takes; a message calls them by the label.
    trouble : DeltaGenerator
        Where a wrong number is explained; the field then returns None.
    optional : bool, default False
        The field may be empty, which is returned as nan; the help text should say so.
    disabled : bool, default False
        The field is shown but neither used nor checked.
    round_up : bool, default False
        A fraction such as 60*60000/256 counts as the next integer, and `trouble` says so.
    help_text : str, default ""
        What the number is.
    width : int or "stretch", default "stretch"
        Width of the field in px.
    """
    empty = "may be empty" if optional else None
    text = text_field(label, key, default, help_text, disabled=disabled, placeholder=empty, width=width)
    if disabled or (optional and not text.strip()):
        return math.nan if optional else None
    exact = quotient(text) if round_up else None
    if exact is not None and exact > 0 and exact.denominator > 1:
        whole, value = math.ceil(exact), nearest(float(exact), 10)
        equal = "" if text.strip() == value else f" = {value}"
        trouble.caption(plain(f"{label}: {text.strip()}{equal}, counted as {grouped(whole)}."))
        text = str(whole)
    try:
        return float(read_value(allowed, text.strip(), label))
    except DomainError as error:
        trouble.error(plain(str(error)))
        return None


def text_field(label: str, key: str, default: str, help_text: str, **options: Any) -> str:
    """Show a text field that the link carries; Undo restores its former content."""
    shared: dict[str, Any] = {"help": help_text or None, "on_change": keep_former, "args": (key,)}
    text: str = st.text_input(label, default, key=key, bind="query-params", **shared, **options)
    note_former(key, text)
    return text


def note_former(key: str, text: str) -> None:
    """Remember the content of a field while the page is shown, for `keep_former` when it is overwritten."""
    st.session_state.setdefault(_FORMER, {})[key] = text


def keep_former(key: str) -> None:
    """Let Undo restore the former content of a field that was overwritten."""
    page.keep({key: st.session_state.get(_FORMER, {}).get(key)})


def integer_field(
    label: str, key: str, default: str, *, low: int, high: int, trouble: DeltaGenerator, help_text: str = ""
) -> int | None:
    """Show a field for an integer that the link carries; for a wrong one, explain it in `trouble` and return None."""
    text = text_field(label, key, default, help_text)
    try:
        return int(read_value(COUNT.but(low=low, high=high), text.strip(), label))
    except DomainError as error:
        trouble.error(plain(str(error)))
        return None


def slider_field(
    label: str,
    key: str,
    default: str,
    values: Sequence[str],
    allowed: Parameter = PROBABILITY,
    *,
    name: str = "",
    help_text: str = "",
    **options: bool,
) -> float | None:
    """Show a field for a number that the link carries and its slider side by side, with any error below them.

    Parameters
    ----------
    label, key, default : str
        Name shown, name in the link, initial text.
    values : sequence of str
        The round values of the slider, from small to large; the one in the field is added.
    allowed : Parameter, default PROBABILITY
        The numbers it takes.
    name : str, default ""
        Label of the slider; that of the field by default.
    help_text : str, default ""
        What the number is.
    options : bool
        ``optional``, ``disabled`` and ``round_up`` as in `number_field`.

    Returns
    -------
    float or None
        The number; nan if the field is empty and may be, None if it is wrong or disabled.
    """
    pair = st.container(horizontal=True, vertical_alignment="bottom")
    below = st.container()
    slider = pair.container()
    with pair:
        value = number_field(
            label, key, default, allowed, trouble=below, help_text=help_text, width=FIELD_WIDTH, **options
        )
    with slider:
        known = None if value is None or math.isnan(value) else value
        log_slider(name or label, key, values, known, movable=value is not None)
    return value


def even_values(low: float, high: float, steps: int) -> list[str]:
    """Return evenly spaced numbers for a slider, rounded to three digits."""
    return list(dict.fromkeys(nearest(low + (high - low) * step / steps, 3) for step in range(steps + 1)))


def log_slider(label: str, key: str, options: Sequence[str], value: float | None, *, movable: bool = False) -> None:
    """Show a slider over round values and the one in the field `key`; it writes into that field.

    Parameters
    ----------
    label, key : str
        Name shown, name of the field.
    options : sequence of str
        The round values, from small to large.
    value : float or None
        The number in the field; None while there is none.
    movable : bool, default False
        Whether the slider moves while there is no number: from an empty field that may be empty, but not from a wrong one.
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
    idle = value is None and not movable
    st.select_slider(label, ordered, key=handle, on_change=_follow, args=(key, handle), disabled=idle)


def _follow(key: str, handle: str) -> None:
    text = st.session_state[handle]
    page.change(key, "" if text == NOWHERE else text)


def choice(label: str, key: str, options: dict[str, str], default: str) -> str:
    """Show a menu that follows a text in the link and updates it; a wrong text is explained."""
    typed = str(st.session_state.get(key, "")).strip()
    if typed and typed not in options:
        st.error(plain(f"{label}: choose one of {', '.join(options)}; got {typed[:40]!r}."), icon=":material/error:")
    choice = typed if typed in options else default
    st.session_state[f"{key}_menu"] = choice
    st.selectbox(
        label,
        list(options),
        key=f"{key}_menu",
        format_func=lambda name: options.get(name, name),
        on_change=_take_choice,
        args=(key,),
    )
    return choice


def _take_choice(key: str) -> None:
    page.change(key, st.session_state[f"{key}_menu"])
