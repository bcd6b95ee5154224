"""The frame of every page: title, theme, link, presets, undo and reset."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import streamlit as st

from dpcore.app import navigation, work
from dpcore.app.listing import LONGEST_LINK
from dpcore.charts import Look
from dpcore.files.data import data_folder
from dpcore.specs.presets import Preset, parameters, presets, query

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MOST_KEPT", "Preset", "data_folder", "presets"]

MOST_KEPT = 50
LENGTH: Final = "link_length"
"""The parameter that tells a page how long a link was that could not be read."""


_STYLE: Final = """<style>
.stMainBlockContainer { padding-top: 2.5rem; padding-bottom: 3rem; }
[data-testid="stSidebarHeader"] { height: 2rem; }
[data-testid="stSidebarUserContent"] { padding-top: 0; }
</style>"""
"""Streamlit leaves six empty lines above a page; a picture and its controls are to fit one screen."""


def setup(title: str, lead: str) -> None:
    """Set the page up and say what it is for."""
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


def _say_long_link(title: str) -> None:
    """Say that the link was too long to be read, on the page it led to (``serve.py`` tells it)."""
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
    """Return the look of charts in the theme the visitor sees."""
    theme = getattr(st.context, "theme", None)
    return Look(dark=getattr(theme, "type", "light") == "dark")


def _trail() -> list[dict[str, Any]]:
    """Return what Undo can bring back on this page, oldest first: each entry the old values of one change."""
    trails: dict[str, list[dict[str, Any]]] = st.session_state.setdefault("_trails", {})
    return trails.setdefault(st.session_state.get("_page", ""), [])


def keep(old: dict[str, Any]) -> None:
    """Keep old values of widgets, so that one Undo brings them back."""
    trail = _trail()
    if old and (not trail or trail[-1] != old):
        trail.append(old)
        del trail[:-MOST_KEPT]


def remember(key: str) -> None:
    """Keep the value a widget had, so that Undo can bring it back."""
    keep({key: st.session_state.get(key)})


def change(key: str, value: Any) -> None:
    """Set a widget's value from a callback, with the old one kept for Undo."""
    apply({key: value})


def undo() -> None:
    """Bring back what the last change replaced."""
    trail = _trail()
    for key, value in (trail.pop() if trail else {}).items():
        if value is not None:
            st.session_state[key] = value


def can_undo() -> bool:
    """Whether Undo has something to bring back on this page."""
    return bool(_trail())


def apply(state: dict[str, Any]) -> None:
    """Set several widgets at once, as a preset does; one Undo takes all of it back."""
    keep({key: st.session_state.get(key) for key, value in state.items() if st.session_state.get(key) != value})
    for key, value in state.items():
        st.session_state[key] = value


def preset_row(page: str, keys: dict[str, Any]) -> None:
    """Offer the presets of a page in a menu, with Undo and Reset (to the given defaults) beside it."""
    linked(keys)
    own = [preset for preset in presets() if preset.page == page]
    with st.container(horizontal=True, vertical_alignment="bottom"):
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
        st.button("Undo", on_click=undo, disabled=not can_undo(), icon=":material/undo:")
        st.button("Reset", on_click=apply, args=(keys,), icon=":material/restart_alt:")


def matching(page: str, defaults: dict[str, Any], state: dict[str, Any]) -> Preset | None:
    """Return the preset that the page shows now, if it shows one."""
    for preset in presets():
        if preset.page == page and all(state[key] == value for key, value in {**defaults, **preset.state}.items()):
            return preset
    return None


def guide(name: str) -> None:
    """Offer the guide's text about this page (``data/guide/NAME.md``) to those who want the proof, its pictures drawn."""
    from dpcore.app.guide_texts import show_inside  # noqa: PLC0415  it needs this module

    box = st.expander(
        "The mathematics behind this page", icon=":material/menu_book:", on_change="rerun", key=f"guide_{name}"
    )
    if box.open:  # its pictures are drawn for those who ask
        with box:
            show_inside(name)


def linked(defaults: Mapping[str, Any]) -> None:
    """Declare what the page's link carries: the keys of widgets bound to the address, each with its default.

    A key that starts with _ is the session's own.
    """
    _linked().update({key: value for key, value in defaults.items() if not key.startswith("_")})


def _linked() -> dict[str, Any]:
    """Return the keys that the link of this page carries, with their defaults."""
    pages: dict[str, dict[str, Any]] = st.session_state.setdefault("_linked", {})
    return pages.setdefault(st.session_state.get("_page", ""), {})


def _address() -> None:
    """Write into the browser's address what it lacks.

    Streamlit's own script in the browser writes a bound value into the address. When a widget appears or disappears,
    those below it move; the script mounts each at its new place, then ends the old one, and with it forgets the
    binding (seen in 1.67). A value assigned in Python is written into the address by the server, so every value that
    the address does not tell is assigned to itself, before its widget is shown.
    """
    for key, default in _linked().items():
        if key in st.session_state:
            value = st.session_state[key]
            if st.query_params.get_all(key) != ([] if value == default else _texts(value)):
                st.session_state[key] = value


def _texts(value: Any) -> list[str]:
    """Return what a link says of a value; an empty text clears a choice."""
    return [""] if value is None or value == [] else parameters(value)


def link() -> str:
    """Return the address that restores the page as it is.

    It is made from the values themselves, those of widgets that are hidden at the moment included, and not from the
    browser's address, which may be behind.
    """
    base = str(getattr(st.context, "url", "") or "").split("?", maxsplit=1)[0]
    state: dict[str, Any] = {}
    for key, default in _linked().items():
        if key not in st.session_state:  # its widget is still to come, or hidden since the page was opened
            state[key] = st.query_params.get_all(key)
        elif st.session_state[key] != default:
            state[key] = _texts(st.session_state[key])
    text = query(state)
    return f"{base}?{text}" if text else base


def link_box() -> None:
    """Show the link to copy, or say that it has become too long."""
    address = link()
    if len(address) > LONGEST_LINK:
        st.info(
            f"The link would have {len(address)} characters; links work up to {LONGEST_LINK}. Use the JSON download."
        )
    else:
        st.caption("Link that restores this view")
        st.code(address, language=None, wrap_lines=True)
