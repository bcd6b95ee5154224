"""The way around: the pages in groups, by the question that brings somebody, as the sidebar and the start page show them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import streamlit as st
from streamlit.errors import StreamlitPageNotFoundError

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Door:
    """A page, or a view of one, that a visitor can go to.

    Parameters
    ----------
    file : str
        Path of the page's script, from the folder of the app.
    label : str
        What it is called.
    purpose : str
        What one can do there, in one sentence.
    icon : str
        Name of a Material icon.
    state : mapping of str to str, optional
        The view to open; the page's own start by default.
    """

    file: str
    label: str
    purpose: str
    icon: str
    state: Mapping[str, str] = field(default_factory=dict)

    def link(self, *, bold: bool = False) -> None:
        """Show a link to the page."""
        label = f"**{self.label}**" if bold else self.label
        st.page_link(self.file, label=label, icon=f":material/{self.icon}:", query_params=dict(self.state) or None)


@dataclass(frozen=True, slots=True)
class PageGroup:
    """Pages that answer the same kind of question."""

    title: str
    question: str
    doors: tuple[Door, ...]


START: Final = Door("streamlit_app.py", "Start", "What one published number gives away, in one picture.", "home")
GROUPS: Final = (
    PageGroup(
        "Learn",
        "What does it mean?",
        (
            START,
            Door("pages/14_Guide.py", "Guide", "What it all means, with every formula, proof and picture.", "menu_book"),
            Door("pages/14_Guide.py", "Glossary", "Every word in a sentence.", "dictionary", {"guide_text": "Glossary"}),
        ),
    ),
    PageGroup(
        "Release",
        "May I release this?",
        (
            Door("pages/9_Ledger.py", "Ledger", "Add up your releases, and see what still fits into the budget.", "receipt_long"),
            Door("pages/11_Choose_your_noise.py", "Choose your noise", "Find the noise that keeps a promise.", "tune"),
        ),
    ),
    PageGroup(
        "Train",
        "What is the ε of my training run?",
        (Door("pages/7_Subsampling.py", "Subsampling", "Steps on random samples, and the ε they add up to.", "model_training"),),
    ),
    PageGroup(
        "Explore",
        "What does it look like?",
        (
            Door("pages/1_Privacy_regions.py", "Privacy regions", "Draw, combine and compare any number of regions.", "area_chart"),
            Door("pages/2_Composition.py", "Composition", "What many answers together give away, by every theorem.", "stacks"),
            Door("pages/3_Mechanisms.py", "Mechanisms", "Noise, loss, region and claim of one mechanism.", "blur_on"),
            Door("pages/4_Privacy_and_utility.py", "Privacy and utility", "How far off private answers are, on your own data too.", "balance"),
        ),
    ),
    PageGroup(
        "Check",
        "Is this claim true?",
        (
            Door("pages/10_Claimed_and_true.py", "Claimed and true", "Compare a claimed (ε, δ) with the certified one.", "fact_check"),
            Door("pages/12_Audit.py", "Audit", "What a measured attack proves about a mechanism.", "policy"),
        ),
    ),
    PageGroup(
        "Research",
        "Can I check the mathematics?",
        (
            Door("pages/5_Several_constraints.py", "Several constraints", "Several (ε, δ) statements about one mechanism.", "join_inner"),
            Door("pages/6_Limits.py", "Limits", "The Gaussian limit of composition, and how far off it is.", "show_chart"),
            Door("pages/8_Local_privacy.py", "Local privacy", "The best channel for a question and a promise.", "person_pin"),
            Door("pages/13_Statistics_lab.py", "Statistics lab", "What a thesis printed, beside what is true.", "science"),
            Door("pages/15_Errata.py", "Errata", "Where the sources are wrong, with the computation.", "rule"),
        ),
    ),
)  # fmt: skip

FOUR: Final = (
    Door("pages/14_Guide.py", "Understand", "What does ε mean? The guide starts from nothing.", "school"),
    Door("pages/9_Ledger.py", "Release numbers", "Which noise, what has been spent, what still fits?", "publish"),
    Door("pages/7_Subsampling.py", "Train a model", "The ε of a training run, certified.", "model_training"),
    Door(
        "pages/1_Privacy_regions.py",
        "Write a paper",
        "The exact curve, its table, a vector figure and a link.",
        "article",
    ),
)
"""The doors of the start page: one for each kind of visitor."""


def show() -> None:
    """Draw the sidebar: the pages in groups, the one that is open marked."""
    with st.sidebar.container(gap="xxsmall"):
        try:
            for group in GROUPS:
                st.markdown(f"**{group.title}**")
                for door in group.doors:
                    door.link()
        except StreamlitPageNotFoundError:
            return  # a page that is run by itself, without the app around it, has nowhere to go
