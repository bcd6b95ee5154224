"""The parts of the page of mechanisms: each shows widgets and hands back what they say."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore.app import figure, forms, hand_figure, page, work
from dpcore.app.figure import plain
from dpcore.app.mechanisms import (
    DEFAULTS,
    PICK,
    RATES,
    MechanismView,
    goal_code,
    goal_words,
    kept,
    read,
    statement_table,
)
from dpcore.app.written import copies, expression, of
from dpcore.calibration import calibrate
from dpcore.core import registry
from dpcore.core.errors import DpcoreError
from dpcore.core.kinds import HEADINGS
from dpcore.core.numerals import nearest
from dpcore.core.registry import COUNT, DELTA, EPSILON
from dpcore.language import parse
from dpcore.language.numbers import read_value
from dpcore.theorems.conversion.claims import calibration_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dpcore.charts.figure import Figure
    from dpcore.core.registry import Entry, Parameter
    from dpcore.mechanisms.base import Mechanism

MOST_COPIES = 10**6
CHART = "mechanism_regions"
SLIDERS = "_mechanism_sliders"  # keys of the sliders that the mechanism has


def ask() -> MechanismView | None:
    """Show the fields and return what they say; None with the error shown."""
    st.session_state[SLIDERS] = []
    place, tests, texts = st.container(), st.container(), st.container()
    with texts, st.expander("The mechanism as text", icon=":material/edit_note:"):
        text = st.text_input(
            "Expression",
            DEFAULTS["expression"],
            key="expression",
            bind="query-params",
            help="Name and parameters, as the link carries them: laplace(1), gaussian(2), rr(1, 5).",
        )
    chosen: Mechanism | None = None
    with place:
        try:
            chosen, notices = read(text.strip())
            for warning in notices:
                st.warning(plain(warning))
        except DpcoreError as error:
            st.error(plain(str(error)), icon=":material/error:")
        _pick(chosen)
        if chosen is not None:
            _fields(chosen, text.strip())
    with tests:
        alpha = st.select_slider(
            "False positives α of the test",
            RATES,
            DEFAULTS["test_alpha"],
            key="test_alpha",
            bind="query-params",
            format_func=nearest,
            help="How many of those outside the data the attacker accuses. A click on the region's border chooses it too.",
        )
        delta = _number(
            "δ of the statements",
            "stated_delta",
            DELTA,
            "At this δ the smallest ε is stated; typed as 1e-6.",
        )
    with texts:
        _about(chosen)
    return None if chosen is None or delta is None else MechanismView(chosen, float(alpha), delta)


def moved(view: MechanismView, held: Mapping[str, str]) -> MechanismView:
    """Return the view with the value of a slider that is held."""
    if "test_alpha" in held:
        return replace(view, alpha=float(held["test_alpha"]))
    if held:
        entry = view.mechanism.entry
        mechanism, _ = read(forms.typed(entry, f"noise_{entry.name}", held))
        return replace(view, mechanism=mechanism)
    return view


def _number(label: str, key: str, parameter: Parameter, words: str) -> Any:
    """Show a field for a number that the link carries; a wrong one is explained under it and None returned."""
    text = st.text_input(label, DEFAULTS[key], key=key, bind="query-params", help=words).strip()
    try:
        return read_value(parameter, text)
    except DpcoreError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return None


def _pick(mechanism: Mechanism | None) -> None:
    names = forms.entry_names(("mechanism",))
    st.session_state["kind_of_noise"] = mechanism.entry.name if mechanism is not None else None
    st.selectbox(
        "Mechanism",
        names,
        index=None,
        key="kind_of_noise",
        format_func=lambda name: names[name][:1].upper() + names[name][1:],
        on_change=_take_kind,
        placeholder="Choose a mechanism",
    )
    if mechanism is not None:
        st.markdown(plain(mechanism.entry.meaning))


def _take_kind() -> None:
    """Take the mechanism chosen; a parameter that the former one has too, such as ε, keeps what was typed."""
    name = st.session_state.get("kind_of_noise")
    if name is not None:
        page.change("expression", _with_typed(registry.lookup(name), str(st.session_state.get("expression") or "")))


def _with_typed(entry: Entry, former: str) -> str:
    """Return the example of a mechanism with the numbers of the former text that it takes."""
    example = forms.example(entry)
    try:
        old, _ = read(former.strip())
        found, own = copies(former.strip(), old), copies(example, parse(example))
        if found is None or own is None:
            return example
        numbers = {p.name for p in entry.parameters if p.kind == "number"}
        kept = {name: text for name, text in found.written.shown.items() if name in numbers}
        values = {**own.written.shown, **kept}
        arguments = [(p, values[p.name], p.check(forms.meant(p, values[p.name]))) for p in entry.parameters]
        text = expression(entry, arguments)
        read(text)
    except DpcoreError:
        return example  # a former number is outside of the new domain
    return text


def _fields(mechanism: Mechanism, text: str) -> None:
    """Show the parameters as they were typed; they follow the text, and write it when they change."""
    found = copies(text, mechanism)
    written = of(mechanism) if found is None else found.written
    key = f"noise_{written.entry.name}"
    if st.session_state.get("_noise_text") != text:
        forms.fill(written, key)
        st.session_state["_noise_text"] = text
    st.session_state[SLIDERS] = forms.rows(written, key, _take_fields, (written.entry.name,))


def _about(mechanism: Mechanism | None) -> None:
    """Show formula, assumptions and source."""
    if mechanism is None:
        return
    with st.expander("Formula and source", icon=":material/function:"):
        entry = mechanism.entry
        st.latex(entry.formula)
        st.markdown(plain(entry.assumptions or "No further assumption."))
        st.caption(plain(f"Neighbouring datasets: {mechanism.neighbours}. {entry.reference}."))


def _take_fields(name: str) -> None:
    """Write what the fields say into the text; a value outside its domain stays in its field, explained there."""
    try:
        text = forms.typed(registry.lookup(name), f"noise_{name}")
    except DpcoreError:
        return
    page.change("expression", text)


def take_click() -> None:
    """Choose the test whose point was clicked."""
    event = st.session_state.get(CHART)
    chosen = (event or {}).get("selection", {}).get(PICK) or []
    rate = chosen[0].get("rate") if chosen and isinstance(chosen[0], dict) else None
    if rate in RATES:
        page.change("test_alpha", rate)


def show(
    made: Figure | DpcoreError | None,
    code: Callable[[MechanismView], str],
    view: MechanismView,
    *,
    key: str,
    **options: Any,
) -> None:
    """Show a figure with the code that makes it, or the error that it ended with."""
    if isinstance(made, DpcoreError):
        st.error(plain(str(made)), icon=":material/error:")
    elif made is not None:
        hand_figure.show(made, key=key, code=code(view), **options)


def attempt(make: Callable[..., Figure | None], view: MechanismView, *, dark: bool) -> Figure | DpcoreError | None:
    """Return a figure, or the error that it ended with: one that fails does not keep the others away."""
    try:
        return make(view, dark=dark)
    except DpcoreError as error:
        return error


def show_best(view: MechanismView) -> None:
    """Say how the test drawn compares with the best one."""
    try:
        with work.progress("Testing"):
            st.markdown(plain(view.best_words()))
    except DpcoreError as error:
        figure.trouble(error, "mechanism_testing")


def show_statements(view: MechanismView) -> None:
    """List the smallest statement of each kind."""
    try:
        with work.progress("Stating"):
            table = statement_table(view)
    except DpcoreError as error:
        figure.trouble(error, "mechanism_stating")
        return
    cells = zip(*(table[name].tolist() for name in ("statement", HEADINGS["kind"], "value")), strict=True)
    st.markdown("\n".join(f"- **{plain(notion)}** ({kind}): {plain(value)}" for notion, kind, value in cells))
    with st.expander("As expressions", icon=":material/table_rows:"):
        st.dataframe(table, hide_index=True, width="stretch", key="statements")


def show_claim(view: MechanismView) -> None:
    """Say whether the usual claim is true."""
    try:
        with work.progress("Checking the claim"):
            found = view.claim
    except DpcoreError as error:
        figure.trouble(error, "mechanism_checking_the_claim")
        return
    if found is None:
        st.markdown("Nothing is usually claimed about this mechanism beyond its region.")
    elif found.holds is False:
        st.warning(f"**Claimed: `{found.region}`.** {plain(found.words)}", icon=":material/warning:")
    else:
        st.success(f"**Claimed: `{found.region}`.** {plain(found.words)}", icon=":material/check_circle:")


def show_goal(view: MechanismView) -> None:
    """Ask for (epsilon, delta, k) and say the noise that meets it."""
    columns = st.columns(3)
    with columns[0]:
        epsilon = _number(
            "Goal ε", "goal_epsilon", EPSILON.but(infinite=False), "Bound on the privacy loss of all answers together."
        )
    with columns[1]:
        delta = _number("Goal δ", "goal_delta", DELTA, "What may exceed that bound, of all answers together.")
    with columns[2]:
        k = _number("Answers k", "goal_k", COUNT.but(high=MOST_COPIES), "How many answers together.")
    if epsilon is None or delta is None or k is None:
        return
    text = calibration_text(view.mechanism, k)
    try:
        with work.progress("Calibrating"):
            row = kept(("goal", text, epsilon, delta), lambda: calibrate(text, epsilon=epsilon, delta=delta)).iloc[0]
    except DpcoreError as error:
        figure.trouble(error, "mechanism_calibrating")
        return
    st.markdown(goal_words(row, epsilon, delta, k))
    one = str(row["expression"]).rsplit("^", maxsplit=1)[0] if k > 1 else str(row["expression"])
    st.button("Look at this noise", icon=":material/visibility:", on_click=page.change, args=("expression", one))
    with st.expander("Python that calibrates", icon=":material/code:"):
        st.code(hand_figure.at_tolerance(goal_code(text, epsilon, delta)), language="python", wrap_lines=True)
