"""The guide page: which text is open, its table of contents, and links to its neighbours."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpcore.app import guide_texts, page

FIRST = "what_does_1_1e5_mean"
KEY = "guide_text"
DEFAULTS: dict[str, Any] = {KEY: guide_texts.titles()[FIRST]}


def choose() -> str:
    """Show the menu of titles and return the name of the text; an unknown title in the link gives the first text."""
    by_title = {title: name for name, title in guide_texts.titles().items()}
    title = st.selectbox(
        "Text",
        list(by_title),
        key=KEY,
        bind="query-params",
        on_change=page.remember,
        args=(KEY,),
        help="All texts in order. The page's address keeps your choice.",
    )
    return by_title.get(title or "", FIRST)


def contents(name: str) -> None:
    """Show the sections of this text and all texts by chapter."""
    inside = guide_texts.contents(name)
    if inside:
        st.markdown(f"**In this text**\n\n{inside}")
    for chapter in guide_texts.chapters():
        st.markdown(f"**{chapter.title}**")
        with st.container(gap="xxsmall"):
            for one in chapter.texts:
                _door(one, here=one == name)


def _door(name: str, *, here: bool) -> None:
    title = guide_texts.titles()[name]
    st.button(
        title,
        key=f"guide_door_{name}",
        type="tertiary",
        disabled=here,
        on_click=page.change,
        args=(KEY, title),
        icon=":material/arrow_right:" if here else None,
    )


def onward(name: str) -> None:
    """Show links to the previous and the next text."""
    names = list(guide_texts.titles())
    at = names.index(name)
    with st.container(horizontal=True):
        for step, icon in ((-1, ":material/arrow_back:"), (1, ":material/arrow_forward:")):
            if 0 <= at + step < len(names):
                title = guide_texts.titles()[names[at + step]]
                st.button(title, key=f"guide_step_{step}", icon=icon, on_click=page.change, args=(KEY, title))
