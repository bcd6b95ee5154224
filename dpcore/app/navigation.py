"""Navigation: the pages in groups, sorted by the visitor's question, for the sidebar and the start page."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import streamlit as st
from streamlit.errors import StreamlitPageNotFoundError
from streamlit.runtime.scriptrunner import get_script_run_ctx

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streamlit.navigation.page import Page


@dataclass(frozen=True, slots=True)
class Door:
    """A link to a page, or to one view of a page.

    Parameters
    ----------
    file : str
        Path of the page's script, relative to the app's folder.
    label : str
        Text of the link.
    purpose : str
        What you can do there, in one sentence.
    icon : str
        Name of a Material icon.
    state : mapping of str to str, optional
        Query parameters of the view to open; by default the page opens with its own defaults.
    """

    file: str
    label: str
    purpose: str
    icon: str
    state: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        """Whether the page's widgets or its address match the view."""
        return all(st.session_state.get(key, st.query_params.get(key)) == text for key, text in self.state.items())

    @property
    def _page(self) -> Page | str:
        """Streamlit's record of the page; from a path alone it would look for the file in every run."""
        context = get_script_run_ctx()
        return self.file if context is None else _page(context.main_script_path, self.file)

    def point(self, words: str, **state: str) -> None:
        """Show a link to the page inside another one, unless that page runs alone, without the app."""
        with suppress(StreamlitPageNotFoundError):
            st.page_link(self.file, label=words, icon=f":material/{self.icon}:", query_params=state or None)

    def link(self, *, bold: bool = False) -> None:
        """Show a link to the page."""
        label = f"**{self.label}**" if bold else self.label
        st.page_link(self._page, label=label, icon=f":material/{self.icon}:", query_params=dict(self.state) or None)


@cache
def _page(app: str, file: str) -> Page:
    """Return a page of an app, identified by its main script, which itself is the page at the root."""
    return st.Page(file, default=Path(app).name == file)


@dataclass(frozen=True, slots=True)
class PageGroup:
    """Pages that answer the same kind of question."""

    title: str
    question: str
    doors: tuple[Door, ...]


PLANNER: Final = Door(
    "pages/16_Plan_a_release.py",
    "Plan a release",
    "From a table to numbers you can publish, with their errors and what they cost.",
    "edit_calendar",
)
LEDGER: Final = Door(
    "pages/9_Ledger.py", "Ledger", "Add up your releases and see what still fits into the budget.", "receipt_long"
)
TRAINING: Final = "pages/18_Private_training.py"
START: Final = Door("streamlit_app.py", "Start", "What one published number reveals, in one picture.", "home")
GROUPS: Final = (
    PageGroup(
        "Learn",
        "What does it mean?",
        (
            START,
            Door("pages/14_Guide.py", "Guide", "What everything means, with formulas, proofs and pictures.", "menu_book"),
            Door("pages/14_Guide.py", "Glossary", "Every term in one sentence.", "dictionary", {"guide_text": "Glossary"}),
        ),
    ),
    PageGroup(
        "Release",
        "May I release this?",
        (
            PLANNER,
            Door("pages/17_Your_data.py", "Your data", "Open a table and see what you can publish about it privately.", "table_view"),
            LEDGER,
            Door("pages/11_Choose_your_noise.py", "Choose your noise", "Find the noise that keeps a promise.", "tune"),
        ),
    ),
    PageGroup(
        "Train",
        "What is the ε of my training run?",
        (
            Door(TRAINING, "Private training", "The ε of a training run (DP-SGD), beside what your library says.", "model_training"),
        ),
    ),
    PageGroup(
        "Explore",
        "What does it look like?",
        (
            Door("pages/1_Privacy_regions.py", "Privacy regions", "Draw, combine and compare any number of regions.", "area_chart"),
            Door("pages/2_Composition.py", "Composition", "What many answers reveal together, by every theorem.", "stacks"),
            Door("pages/3_Mechanisms.py", "Mechanisms", "The noise, loss, region and claim of one mechanism.", "blur_on"),
            Door("pages/4_Privacy_and_utility.py", "Privacy and utility", "How accurate private answers are, including on your own data.", "balance"),
            Door("pages/19_Map.py", "Map", "One number over two parameters, with contour lines.", "grid_on"),
        ),
    ),
    PageGroup(
        "Check",
        "Is this claim true?",
        (
            Door("pages/10_Claimed_and_true.py", "Claimed and true", "Compare a claimed (ε, δ) with the true one.", "fact_check"),
            Door("pages/12_Audit.py", "Audit", "What a measured attack proves about a mechanism.", "policy"),
        ),
    ),
    PageGroup(
        "Research",
        "Can I check the mathematics?",
        (
            Door("pages/5_Several_constraints.py", "Several constraints", "Several (ε, δ) statements about one mechanism.", "join_inner"),
            Door("pages/6_Limits.py", "Limits", "The Gaussian limit of composition, and how far off it is.", "show_chart"),
            Door("pages/7_Subsampling.py", "Subsampling", "What one use of a random sample hides.", "filter_alt"),
            Door("pages/8_Local_privacy.py", "Local privacy", "Which random answers tell an analyst the most.", "person_pin"),
            Door("pages/13_Statistics_lab.py", "Statistics lab", "What a thesis printed, and what is true.", "science"),
            Door("pages/15_Errata.py", "Errata", "Mistakes in the sources, each with a computation.", "rule"),
        ),
    ),
)  # fmt: skip

FOUR: Final = (
    Door("pages/14_Guide.py", "Understand", "What does ε mean? The guide starts from scratch.", "school"),
    Door(
        PLANNER.file,
        "Release numbers",
        "Open a table: which noise do I need, how far off are the answers, what do they cost?",
        "publish",
    ),
    Door(TRAINING, "Train a model", "The ε of a training run, beside what your library says.", "model_training"),
    Door(
        "pages/2_Composition.py",
        "Write a paper",
        "Exact curves beside the theorems, a figure in millimetres, CSV, code and a link.",
        "article",
    ),
)
"""The links on the start page, one for each kind of visitor."""


UNMARKED: Final = "other_view"
"""Key of the containers for links to other views of the current page, which Streamlit would mark too."""


def is_other_view(door: Door) -> bool:
    """Whether another link leads to the open view: only one of Guide and Glossary is current."""
    views = [one for group in GROUPS for one in group.doors if one.file == door.file and one.state]
    return not door.is_open if door.state else any(view.is_open for view in views)


def show() -> None:
    """Draw the sidebar: the pages in groups, with the current page or view marked."""
    with st.sidebar.container(gap="xxsmall"):
        try:
            for group in GROUPS:
                st.markdown(f"**{group.title}**")
                for door in group.doors:
                    with st.container(key=f"{UNMARKED}_{door.icon}") if is_other_view(door) else nullcontext():
                        door.link()
        except StreamlitPageNotFoundError:
            return  # a page that runs alone, without the app, has no other pages to link to
