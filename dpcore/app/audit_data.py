"""The measurement of the page: a simulated attack, the example file, or the visitor's own file (`uploads`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore.app import forms, page, uploads, work
from dpcore.app.figure import plain
from dpcore.app.inputs import integer_field, round_values, slider_field
from dpcore.app.uploads import FILE, UPLOAD
from dpcore.audit.columns import find
from dpcore.audit.examples import NAME, example
from dpcore.audit.reading import read_audit
from dpcore.audit.simulate import attack_on
from dpcore.core import registry
from dpcore.core.domains import COUNT
from dpcore.core.errors import DomainError, DpcoreError
from dpcore.files.sheet import DELIMITERS
from dpcore.mechanisms.base import Mechanism
from dpcore.specs import Spec, intermediate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streamlit.delta_generator import DeltaGenerator
    from streamlit.runtime.uploaded_file_manager import UploadedFile

    from dpcore.audit import AuditReading
    from dpcore.files.sheet import Sheet
    from dpcore.regions.tradeoff import TradeOff

SIMULATED, EXAMPLE = "simulated attack", "example file"
SOURCES = (SIMULATED, EXAMPLE, UPLOAD)
uploads.hold(read_audit)
LONGEST = 2000
MOST_TRIALS = 100_000
MOST_SEED = 10**9
TRIALS = round_values(1, 5)
BY_NAME = "by its usual name"


@dataclass(frozen=True)
class AuditSource:
    """A measurement: the fields of its spec, their files, where results are kept, and the truth if it is known."""

    fields: dict[str, Any]
    store: work.ResultCache
    files: Mapping[str, bytes] = field(default_factory=dict)
    truth: TradeOff | None = None


def choose() -> str:
    """Show the data menu and return the choice."""
    name = st.selectbox(
        "Measurement",
        SOURCES,
        key="audit_data",
        bind="query-params",
        help="A simulated attack on a known mechanism, an example file, or the results of your own attack.",
    )
    if name != UPLOAD:
        uploads.forget("audit")
    return str(name)


def ask(name: str, defaults: dict[str, Any], kinds: DeltaGenerator) -> AuditSource | None:
    """Show the fields for the data and the menu of mechanisms; return None if something must be corrected or chosen."""
    try:
        if name == SIMULATED:
            return _simulated(defaults, kinds)
        return _example() if name == EXAMPLE else _upload()
    except DpcoreError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return None


# ---- a simulated attack --------------------------------------------------------------------------------------


def _simulated(defaults: dict[str, Any], kinds: DeltaGenerator) -> AuditSource | None:
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    trouble = st.container()
    with left:
        text = st.text_input(
            "Mechanism",
            defaults["audit_mechanism"],
            key="audit_mechanism",
            bind="query-params",
            help="Any expression, such as laplace(2), rr(1, 5) or gaussian(3)^10: the truth, which the audit does not see.",
        ).strip()
    with right:
        seed = integer_field("Seed", "audit_seed", defaults["audit_seed"], low=0, high=MOST_SEED, trouble=trouble)
    with trouble:
        region = _read(text)
    with kinds:
        _pick(region)
    trials = slider_field(
        "Trials per side", "audit_trials", defaults["audit_trials"], TRIALS, COUNT.but(high=MOST_TRIALS),
        help_text="How many runs with the person in the data, and as many without.",
    )  # fmt: skip
    if region is None or trials is None or seed is None:
        return None
    return AuditSource({"mechanism": text, "trials": int(trials), "seed": seed}, work.cache(), truth=region)


def _read(text: str) -> TradeOff | None:
    """Return the region of a text, or show what is wrong with it."""
    try:
        if len(text) > LONGEST:
            msg = f"A mechanism may have at most {LONGEST} characters, got {len(text)}."
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
    """Show the menu of mechanisms; it follows the text and updates it."""
    names = forms.entry_names(("mechanism",))
    st.session_state["audit_kind"] = region.entry.name if isinstance(region, Mechanism) else None
    st.selectbox(
        "Kind of mechanism",
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
    return AuditSource({}, work.cache())


def _upload() -> AuditSource | None:
    """Show the uploader; say what was read and what was not."""
    file = uploads.choose(
        "audit",
        "Choose a file with one trial per row (score and label: 1 inside the data, 0 outside) or one test per row "
        "(tp, fp, tn, fn, or fpr, fnr, n0, n1). The trials must be independent of each other. If you tried several "
        "tests, the file must list all of them.",
    )
    if file is None:
        return None
    with st.expander("How the file is read", icon=":material/table_view:"):
        how = _layout(file)
    return _own(file, *how)


def _layout(file: UploadedFile) -> tuple[Sheet, str | None, str | None, bool]:
    """Let the visitor choose the delimiter and the columns."""
    sheet, _ = uploads.sheet_of("audit", file)
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
    """Read the file according to its spec; the result stays in the session."""
    find(sheet, score, label)
    store = uploads.store_of("audit", file)
    choices = {"delimiter": sheet.delimiter if sheet.delimiter in DELIMITERS else "", "score": score, "label": label}
    fields = {"file": FILE, **{name: value for name, value in choices.items() if value}, "reverse": reverse}
    spec = Spec({"draw": "audit", **fields}, files={FILE: file.getvalue()})
    with work.progress("Reading", store=store):
        _say(intermediate(spec, "reading"), sheet)
    return AuditSource(fields, store, spec.files)


def _say(reading: AuditReading, sheet: Sheet) -> None:
    """Say what became of every row; notes about the layout appear beside its fields."""
    words = " ".join(plain(text) for text in reading.messages if text not in sheet.notes)
    if not reading.problems:
        st.success(words, icon=":material/check:")
        return
    st.warning(words, icon=":material/rule:")
    with st.expander("Rows that were skipped or changed", icon=":material/rule:"):
        st.dataframe(reading.table(), hide_index=True, width="stretch", key="audit_problems")
