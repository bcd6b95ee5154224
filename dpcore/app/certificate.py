"""The certificate under a badge: a button that proves a certified number and hands out the file."""

from __future__ import annotations

import streamlit as st

from dpcore.app import work
from dpcore.app.figure import plain
from dpcore.core.errors import DpcoreError
from dpcore.core.results import result
from dpcore_verify import objection

_HELP = "Prove this number and download the proof. dpcore-verify checks it without dpcore."


def offer(expression: str, key: str, *, delta: float) -> None:
    """Show the button if the checker has a method, otherwise say why not; once pressed, show the claim and the file.

    Parameters
    ----------
    expression : str
        The region.
    key : str
        Unique on the page.
    delta : float
        The delta at which epsilon is certified.
    """
    if reason := objection(expression):
        st.caption(plain(f"No certificate: {reason}"))
        return
    if not st.button("Certificate", key=f"{key}_certify", icon=":material/verified:", type="tertiary", help=_HELP):
        return
    try:
        with work.progress("Proving"):
            claim, text = result(_certified, expression, delta)
    except DpcoreError as error:
        st.info(plain(str(error)), icon=":material/info:")
        return
    st.markdown(f"Proved: {plain(claim)}")
    st.download_button(
        "proof.json",
        data=text,
        file_name="proof.json",
        mime="application/json",
        on_click="ignore",
        key=f"{key}_proof",
        icon=":material/download:",
        help="Check it with: dpcore-verify proof.json",
    )


def _certified(expression: str, delta: float) -> tuple[str, str]:
    """Return the claim and the file."""
    from dpcore.certificates import certify  # noqa: PLC0415  python-flint is an extra

    certificate = certify(expression, delta=delta)
    return certificate.claim, certificate.text()
