"""The measurement of the page: a simulated attack, the example file, or the visitor's own file (`uploads`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from dpcore.app import forms, page, uploads, work
from dpcore.app.figure import plain
from dpcore.app.inputs import integer_field
from dpcore.audit import Counts, Scores, read_audit, simulate
from dpcore.audit.columns import find
from dpcore.audit.examples import NAME, example
from dpcore.audit.simulate import attack_on
from dpcore.core import registry
from dpcore.core.errors import DomainError, DpcoreError
from dpcore.mechanisms.base import Mechanism

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from streamlit.runtime.uploaded_file_manager import UploadedFile

    from dpcore.audit import AuditReading
    from dpcore.files.sheet import Sheet
    from dpcore.regions.tradeoff import TradeOff

SIMULATED, EXAMPLE, UPLOAD = "simulated attack", "example file", "your CSV"
SOURCES = (SIMULATED, EXAMPLE, UPLOAD)
LONGEST = 2000
MOST_TRIALS = 100_000
MOST_SEED = 10**9
BY_NAME = "found by its name"


@dataclass(frozen=True)
class AuditSource:
    """A measurement: how it is made, where results may be kept, the Python that makes it, and the truth if it is known."""

    make: Callable[[], Scores | Counts]
    key: Hashable
    cache: work.ResultCache
    imports: tuple[str, ...]
    code: tuple[str, ...]
    truth: TradeOff | None = None


def choose() -> str:
    """Show the menu of the data and return what it says."""
    name = st.selectbox(
        "Measurement",
        SOURCES,
        key="audit_data",
        bind="query-params",
        help="A simulated attack on a mechanism that is known, an example file, or results of your own attack.",
    )
    if name != UPLOAD:
        uploads.forget("audit")
    return str(name)


def ask(name: str, defaults: dict[str, Any]) -> AuditSource | None:
    """Show what the data need and return them; None where something is to be corrected or chosen, which is said."""
    try:
        if name == SIMULATED:
            return _simulated(defaults)
        return _example() if name == EXAMPLE else _upload()
    except DpcoreError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return None


# ---- a simulated attack --------------------------------------------------------------------------------------


def _simulated(defaults: dict[str, Any]) -> AuditSource | None:
    place = st.container()
    text = st.text_input(
        "As expression",
        defaults["audit_mechanism"],
        key="audit_mechanism",
        bind="query-params",
        help="Any expression, such as laplace(2), rr(1, 5) or gaussian(3)^10: the truth, which the audit does not see.",
    ).strip()
    region, columns, trouble = _read(text), st.columns(2), st.container()
    with place:
        _pick(region)
    with columns[0]:
        trials = integer_field(
            "Trials on each side",
            "audit_trials",
            defaults["audit_trials"],
            low=1,
            high=MOST_TRIALS,
            trouble=trouble,
            help_text="How many runs with the person in the data, and as many without.",
        )
    with columns[1]:
        seed = integer_field(
            "Draw", "audit_seed", defaults["audit_seed"], low=0, high=MOST_SEED, trouble=trouble, help_text="Seed."
        )
    if region is None or trials is None or seed is None:
        return None
    st.caption(plain(attack_on(region).words))
    name = str(region)
    return AuditSource(
        partial(_drawn, region, seed, trials),
        (SIMULATED, name, trials, seed),
        work.cache(),
        ("import numpy as np", "from dpcore.audit import simulate"),
        (f"measured = simulate(parse({name!r}), np.random.default_rng({seed}), {trials}, {trials})",),
        region,
    )


def _drawn(region: TradeOff, seed: int, trials: int) -> Scores:
    return simulate(region, np.random.default_rng(seed), trials, trials)


def _read(text: str) -> TradeOff | None:
    """Return the region of a text; what is wrong with it is shown."""
    try:
        if len(text) > LONGEST:
            msg = f"A mechanism is written in at most {LONGEST} characters, got {len(text)}."
            raise DomainError(msg)
        region, notices = work.region(text)
        attack_on(region)
    except DpcoreError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return None
    for warning in notices:
        st.warning(plain(warning))
    return region


def _pick(region: TradeOff | None) -> None:
    """Show the menu of mechanisms; it follows the text, and writes it."""
    names = forms.entry_names(("mechanism",))
    st.session_state["audit_kind"] = region.entry.name if isinstance(region, Mechanism) else None
    st.selectbox(
        "Attacked mechanism",
        names,
        index=None,
        key="audit_kind",
        format_func=lambda name: names[name][:1].upper() + names[name][1:],
        on_change=_take_kind,
        placeholder="Choose a mechanism",
    )


def _take_kind() -> None:
    name = st.session_state.get("audit_kind")
    if name is not None:
        page.change("audit_mechanism", forms.example(registry.lookup(name)))


# ---- files ---------------------------------------------------------------------------------------------------


def _example() -> AuditSource:
    st.caption(
        "400 trials with a person in the data and 400 without, of a count with Gaussian noise. Invented: drawn by "
        "data/audits/make_audits.py with its seed."
    )
    st.download_button("Download the example", example, NAME, "text/csv", on_click="ignore", icon=":material/download:")
    return AuditSource(
        lambda: read_audit(example()).measurement,
        (EXAMPLE,),
        work.cache(),
        ("from dpcore.audit import read_audit", "from dpcore.audit.examples import example"),
        ("measured = read_audit(example()).measurement",),
    )


def _upload() -> AuditSource | None:
    """Show the uploader; say what was read and what was not."""
    file = uploads.choose(
        "audit",
        "Choose a file with one trial per row, score and label (1 inside the data, 0 outside), or with one test per row, "
        "tp, fp, tn, fn, or fpr, fnr, n0, n1. Every trial must be independent of the others; of tests, all that were "
        "tried must be in the file.",
    )
    if file is None:
        return None
    with st.expander("How the file is read", icon=":material/table_view:"):
        how = _layout(file)
    return _own(file, *how)


def _layout(file: UploadedFile) -> tuple[Sheet, str | None, str | None, bool]:
    """Let the delimiter and the columns be chosen."""
    sheet = uploads.sheet_of("audit", file)
    columns = st.columns(2)
    chosen = []
    for column, what in zip(columns, ("score", "label"), strict=True):
        with column:
            options = [BY_NAME, *sheet.columns]
            chosen.append(st.selectbox(f"Column of the {what}s", options, key=f"audit_{what}_{file.file_id}"))
    reverse = st.toggle(
        "A low score means a member", key="audit_reverse", help="Decide this before looking at the result."
    )
    for words in sheet.notes:
        st.caption(plain(words))
    score, label = (None if name == BY_NAME else name for name in chosen)
    return sheet, score, label, reverse


def _own(file: UploadedFile, sheet: Sheet, score: str | None, label: str | None, reverse: bool) -> AuditSource:
    """Read the file once per choice, into the session."""
    asked = (file.file_id, sheet.delimiter, score, label, reverse)
    find(sheet, score, label)
    reading, cache = uploads.read_once(
        "audit", asked, lambda: read_audit(sheet, score=score, label=label, reverse=reverse)
    )
    _told(reading, sheet)
    options = "".join(
        f", {name}={value!r}" for name, value in (("score", score), ("label", label), ("reverse", reverse)) if value
    )
    code = (uploads.sheet_code(sheet), f"measured = read_audit(sheet{options}).measurement")
    imports = (*uploads.IMPORTS, "from dpcore.audit import read_audit")
    return AuditSource(lambda: reading.measurement, asked, cache, imports, code)


def _told(reading: AuditReading, sheet: Sheet) -> None:
    """Say what became of every row; what is to be said of the layout stands beside its fields."""
    words = " ".join(plain(text) for text in reading.messages if text not in sheet.notes)
    if not reading.problems:
        st.success(words, icon=":material/check:")
        return
    st.warning(words, icon=":material/rule:")
    with st.expander("Rows that were not read as they are", icon=":material/rule:"):
        st.dataframe(reading.table(), hide_index=True, width="stretch", key="audit_problems")
