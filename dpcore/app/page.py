"""The frame of every page: title, theme, link, presets, undo and reset."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import streamlit as st

from dpcore.app import navigation, work
from dpcore.app.listing import LONGEST_LINK
from dpcore.charts import Look
from dpcore.files.data import data_folder
from dpcore.specs.presets import Preset, parameters, presets, query

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streamlit.delta_generator import DeltaGenerator

__all__ = ["MOST_KEPT", "Preset", "data_folder", "presets"]

MOST_KEPT = 50
_LOCAL: Final = ("localhost", "127.0.0.1", "::1", "0.0.0.0")  # addresses that only reach this machine
LENGTH: Final = "link_length"
"""Query parameter with the length of a link that was too long to read."""


_STYLE: Final = """<style>
.stMainBlockContainer { padding-top: 2.5rem; padding-bottom: 3rem; }
@media (min-width: 864px) { .stMainBlockContainer { padding-top: 1rem; } }
[data-testid="stSidebarHeader"] { height: 2rem; }
[data-testid="stSidebarUserContent"] { padding-top: 0; }
.stMarkdownBadge { border: 1px solid currentColor; }
[data-testid="stButtonGroup"] [role="radiogroup"] { flex-wrap: wrap; }
[class*="st-key-other_view"] a:not(:hover) { background: none; }
[class*="st-key-guide_door"] button { justify-content: start; text-align: start; }
[class*="st-key-other_view"] p { font-weight: normal; }
@media (max-width: 640px) {
[data-testid="stHorizontalBlock"] { gap: 1rem; }
[data-testid="stColumn"]:has([class*="st-key-under_controls"]),
[data-testid="stColumn"] [data-testid="stVerticalBlock"]:has([class*="st-key-under_controls"]),
[data-testid="stColumn"] [data-testid="stLayoutWrapper"]:has([data-testid="stVerticalBlock"] [class*="st-key-under_controls"])
{ display: contents; }
[data-testid="stLayoutWrapper"]:has(> [class*="st-key-under_controls"]) { order: 1; }
}
</style>"""
"""Streamlit leaves six empty lines above a page, but the chart and its controls should fit on one screen. On a narrow
screen the button that opens the sidebar needs some of that room. A badge needs a frame inside a box of its own colour.
Choices that do not fit in one row wrap; Streamlit would hide the last ones. Titles of the guide are left-aligned, even
on two lines. Of two links to one page, the one to another view is not marked. On a phone the columns are stacked as
closely as rows, and `under_controls` comes last."""


def setup(title: str, lead: str) -> None:
    """Set up the page and show its title and purpose."""
    st.set_page_config(page_title=f"{title} · dpcore", page_icon="🔒", layout="wide")
    if st.session_state.get("_page") == title:
        _address()
    st.session_state["_page"] = title
    work.begin()
    navigation.show()
    st.html(_STYLE)
    st.title(title)
    st.markdown(lead)
    _say_long_link(title)


def under_controls(name: str) -> DeltaGenerator:
    """Return a container under a chart; where columns are stacked, it comes after the chart's controls."""
    return st.container(key=f"under_controls_{name}")


def _say_long_link(title: str) -> None:
    """Say on the target page that the link was too long to read (``serve.py`` passes its length)."""
    length = st.query_params.get(LENGTH)
    if length is not None:
        del st.query_params[LENGTH]
        st.session_state["_long_link"] = (title, int(length)) if re.fullmatch(r"[0-9]{1,12}", length) else None
    page, characters = st.session_state.get("_long_link") or ("", 0)
    if page == title:
        st.error(
            f"The link has {characters} characters; links work up to {LONGEST_LINK}. The page starts from its defaults."
        )


def look() -> Look:
    """Return the chart style for the visitor's theme."""
    theme = getattr(st.context, "theme", None)
    return Look(dark=getattr(theme, "type", "light") == "dark")


def _trail() -> list[dict[str, Any]]:
    """Return the undo history of this page, oldest first; each entry holds the old values of one change."""
    trails: dict[str, list[dict[str, Any]]] = st.session_state.setdefault("_trails", {})
    return trails.setdefault(st.session_state.get("_page", ""), [])


def keep(old: dict[str, Any]) -> None:
    """Store old values of widgets so that one Undo restores them."""
    trail = _trail()
    if old and (not trail or trail[-1] != old):
        trail.append(old)
        del trail[:-MOST_KEPT]


def remember(key: str) -> None:
    """Store the current value of a widget so that Undo can restore it."""
    keep({key: st.session_state.get(key)})


def change(key: str, value: Any) -> None:
    """Set the value of a widget from a callback; Undo restores the old one."""
    apply({key: value})


def undo() -> None:
    """Undo the last change."""
    trail = _trail()
    for key, value in (trail.pop() if trail else {}).items():
        if value is not None:
            st.session_state[key] = value


def can_undo() -> bool:
    """Whether there is anything to undo on this page."""
    return bool(_trail())


def apply(state: dict[str, Any]) -> None:
    """Set several widgets at once, as a preset does; one Undo reverts all of them."""
    keep({key: st.session_state.get(key) for key, value in state.items() if st.session_state.get(key) != value})
    for key, value in state.items():
        st.session_state[key] = value


def preset_row(page: str, keys: dict[str, Any]) -> None:
    """Show the menu of the page's presets, if it has any, with Undo and Reset (to the given defaults) next to it."""
    linked(keys)
    own = [preset for preset in presets() if preset.page == page]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if own:
            _examples(own, keys)
        st.button("Undo", on_click=undo, disabled=not can_undo(), icon=":material/undo:")
        st.button("Reset", on_click=apply, args=(keys,), icon=":material/restart_alt:")


def _examples(own: list[Preset], keys: dict[str, Any]) -> None:
    """Show the menu of a page's presets."""
    # drawn even while it is closed: if the server had to know, closing the menu right after a choice would undo the choice
    with st.popover("Examples", icon=":material/auto_stories:"):
        for preset in own:
            st.button(
                preset.title,
                key=f"preset_{preset.name}",
                help=preset.meaning,
                on_click=apply,
                args=({**keys, **preset.state},),
                width="stretch",
            )


def matching(page: str, defaults: dict[str, Any], state: dict[str, Any]) -> Preset | None:
    """Return the preset that matches the current state of the page, if any."""
    for preset in presets():
        if preset.page == page and all(state[key] == value for key, value in {**defaults, **preset.state}.items()):
            return preset
    return None


def guide(name: str) -> None:
    """Show the guide's text about this page (``data/guide/NAME.md``) with its pictures, in an expander."""
    from dpcore.app.guide_texts import show_inside  # noqa: PLC0415  it needs this module

    box = drawer("The mathematics behind this page", "menu_book", f"guide_{name}")
    if box is not None:
        with box:
            show_inside(name)


def drawer(label: str, icon: str, key: str) -> DeltaGenerator | None:
    """Show a closed expander and return it once it is open: its content costs nothing until then."""
    box = st.expander(label, icon=f":material/{icon}:", on_change="rerun", key=key)
    return box if box.open else None


def linked(defaults: Mapping[str, Any], *, needed: bool = True) -> None:
    """Declare what the page's link contains: the keys of widgets bound to the address, each with its default.

    A key that starts with _ is private to the session. Keys that are not `needed` are left out.
    """
    for key, value in defaults.items():
        if needed and not key.startswith("_"):
            _linked()[key] = value
        else:
            _linked().pop(key, None)


def _linked() -> dict[str, Any]:
    """Return the keys that the link of this page contains, with their defaults."""
    pages: dict[str, dict[str, Any]] = st.session_state.setdefault("_linked", {})
    return pages.setdefault(st.session_state.get("_page", ""), {})


def _address() -> None:
    """Add missing values to the browser's address.

    Streamlit's script in the browser writes a bound value into the address. When a widget appears or disappears, the
    widgets below it move; the script mounts each one at its new place and then unmounts the old one, which drops
    the binding (seen in 1.67). The server writes values assigned in Python into the address, so every value that is
    missing from the address is assigned to itself before its widget is shown.
    """
    for key, default in _linked().items():
        if key in st.session_state:
            value = st.session_state[key]
            if st.query_params.get_all(key) != ([] if value == default else _texts(value)):
                st.session_state[key] = value


def _texts(value: Any) -> list[str]:
    """Return a value as texts for a link; an empty text clears a choice."""
    return [""] if value is None or value == [] else parameters(value)


def link() -> str:
    """Return the link that restores the current state of the page.

    It is built from the values themselves, including those of hidden widgets, and not from the browser's address,
    which may be out of date. It includes defaults, which may change between versions, unless it would get too long.
    """
    base = str(getattr(st.context, "url", "") or "").split("?", maxsplit=1)[0]
    state: dict[str, Any] = {}
    for key in _linked():
        if key in st.session_state:
            state[key] = _texts(st.session_state[key])
        else:  # its widget comes later, or has been hidden since the page opened
            state[key] = st.query_params.get_all(key)
    whole = f"{base}?{query(state)}"
    if len(whole) <= LONGEST_LINK:
        return whole.rstrip("?")
    changed = {key: texts for key, texts in state.items() if texts != _texts(_linked()[key])}
    return f"{base}?{query(changed)}".rstrip("?")


def link_box() -> None:
    """Show the link for copying, or say that it is too long."""
    address = link()
    if len(address) > LONGEST_LINK:
        st.info(
            f"The link would have {len(address)} characters; links work up to {LONGEST_LINK}. Use the JSON download."
        )
    else:
        st.caption("Link that restores this view")
        st.code(address, language=None, wrap_lines=True)
        if urlsplit(address).hostname in _LOCAL:
            st.caption(
                "This address works on this computer only. To share the view, send the lines under Code, or run the app "
                "on a machine that others can reach and replace the part before the last slash."
            )
