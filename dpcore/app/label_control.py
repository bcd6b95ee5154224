"""The label of a release as a download: one control for every page that knows what was or will be released."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from dpcore.ledger import to_csv
from dpcore.planner.label import label_report

if TYPE_CHECKING:
    from dpcore.ledger import Ledger
    from dpcore.planner.release.plan import ReleasePlan

_ROWS = "releases.csv"


def label_page(ledger: Ledger, delta: float, epsilon: float | None = None, plan: ReleasePlan | None = None) -> bytes:
    """Return the label of some releases as a page that needs no server and no network."""
    from dpcore.site import build_report  # noqa: PLC0415  # slow to import

    text = label_report(ledger, ledger_file=_ROWS, delta=delta, epsilon=epsilon, plan=plan)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "label.md"
        source.write_text(text, encoding="utf-8")
        (source.parent / _ROWS).write_text(to_csv(ledger), encoding="utf-8")
        return build_report(source, source.with_suffix(".html")).read_bytes()


def offer_label(
    ledger: Ledger, *, key: str, delta: float, epsilon: float | None = None, plan: ReleasePlan | None = None
) -> None:
    """Show a button that downloads the label, which is computed on request.

    Parameters
    ----------
    ledger : Ledger
        What is released.
    key : str
        Key of the button.
    delta : float
        The delta at which epsilon is stated.
    epsilon : float, optional
        The budget.
    plan : ReleasePlan, optional
        The plan, which answers some questions of the label.
    """
    st.download_button(
        "Label as HTML",
        data=partial(label_page, ledger, delta, epsilon, plan),
        file_name="label.html",
        mime="text/html",
        on_click="ignore",
        key=key,
        icon=":material/label:",
        help="One page that a release can carry: who is protected, by how much, and a list of questions, open ones marked.",
    )
