"""The parts of the page Mechanisms: each shows widgets and returns their input."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore.app import figure, forms, inputs, page, work
from dpcore.app.badge import marked
from dpcore.app.figure import plain, sentence
from dpcore.app.live import Handle
from dpcore.app.mechanisms import (
    DEFAULTS,
    RATES,
    MechanismView,
    border,
    goal_words,
    noise_spec,
    read,
    region_spec,
    statement_table,
)
from dpcore.app.written import Written, copies, expression, of
from dpcore.charts.theme import PLAIN
from dpcore.core import registry
from dpcore.core.domains import ALPHA, COUNT, DELTA, EPSILON
from dpcore.core.errors import DpcoreError
from dpcore.core.kinds import HEADINGS
from dpcore.core.numerals import numeral
from dpcore.core.results import result
from dpcore.language import parse
from dpcore.language.numbers import read_value
from dpcore.specs import recipes
from dpcore.theorems.conversion.claims import calibration_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dpcore.core.registry import Entry, Parameter
    from dpcore.mechanisms.base import Mechanism

MOST_COPIES = 10**6
CHART, FRAME = "mechanism_regions", "mechanism_regions_frame"
SLIDERS = "_mechanism_sliders"  # keys of the sliders of the mechanism's parameters
ALPHAS = [numeral(rate) for rate in RATES]
NOISE_HEIGHT, REGION_HEIGHT = 330, 460  # the noise and its sliders fit on one screen
DELTAS = ["0", *inputs.round_values(-12, 0)]


def ask() -> MechanismView | None:
    """Show the fields and return their values; None, with the error shown, if one is wrong."""
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
        words = "The share of people outside the data whom the attacker accuses; the point on the region can be dragged too."
        name = "False positives α of the test"
        alpha = inputs.slider_field(
            "α", "test_alpha", DEFAULTS["test_alpha"], ALPHAS, ALPHA, name=name, help_text=words
        )
        words = "The smallest ε is stated at this δ; for example 1e-6."
        name = "δ of the statements"
        delta = inputs.slider_field(
            "δ", "stated_delta", DEFAULTS["stated_delta"], DELTAS, DELTA, name=name, help_text=words
        )
    return None if chosen is None or alpha is None or delta is None else MechanismView(text.strip(), alpha, delta)


def moved(view: MechanismView, held: Mapping[str, str]) -> MechanismView:
    """Return the view with the value of a slider that is held."""
    if "test_alpha_slider" in held:
        return replace(view, alpha=float(read_value(ALPHA, held["test_alpha_slider"])))
    if "stated_delta_slider" in held:
        return replace(view, delta=float(read_value(DELTA, held["stated_delta_slider"])))
    if held:
        entry = _written(view.text, view.mechanism).entry
        return replace(view, text=forms.typed(entry, f"noise_{entry.name}", held))
    return view


def _number(label: str, key: str, parameter: Parameter, words: str) -> Any:
    """Show a field for a number that the link carries; for a wrong one, explain it below and return None."""
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
    """Switch to the chosen mechanism; a parameter shared with the former one, such as ε, keeps its typed value."""
    name = st.session_state.get("kind_of_noise")
    if name is not None:
        page.change("expression", _with_typed(registry.lookup(name), str(st.session_state.get("expression") or "")))


def _with_typed(entry: Entry, former: str) -> str:
    """Return the example of a mechanism with the numbers of the former text that it accepts."""
    example = forms.example(entry)
    try:
        old, _ = read(former.strip())
        found, own = copies(former.strip(), old), copies(example, parse(example))
        if found is None or own is None:
            return example
        numbers = {p.name for p in entry.parameters if p.kind == "number"}
        numerals = {name: text for name, text in found.written.shown.items() if name in numbers}
        values = {**own.written.shown, **numerals}
        arguments = [(p, values[p.name], p.check(forms.meant(p, values[p.name]))) for p in entry.parameters]
        text = expression(entry, arguments)
        read(text)
    except DpcoreError:
        return example  # a former number is outside the new domain
    return text


def _fields(mechanism: Mechanism, text: str) -> None:
    """Show the parameters as typed; they follow the text and update it when they change."""
    written = _written(text, mechanism)
    key = f"noise_{written.entry.name}"
    if st.session_state.get("_noise_text") != text:
        forms.fill(written, key)
        st.session_state["_noise_text"] = text
    st.session_state[SLIDERS] = forms.rows(written, key, _take_fields, (written.entry.name,))


def _written(text: str, mechanism: Mechanism) -> Written:
    """Return the mechanism as written, or as it would be written if fields cannot show the text."""
    repeated = copies(text, mechanism)
    return of(mechanism) if repeated is None else repeated.written


def show_source(mechanism: Mechanism) -> None:
    """Show the formula, assumptions and source; a formula needs the full width."""
    with st.expander("Formula and source", icon=":material/function:"):
        entry = mechanism.entry
        st.latex(entry.formula)
        st.markdown(plain(entry.assumptions or "No further assumption."))
        st.caption(plain(f"Neighbouring datasets: {mechanism.neighbours}. {entry.reference}."))


def _take_fields(name: str) -> None:
    """Write the fields into the text; a value outside its domain stays in its field, with an explanation."""
    try:
        text = forms.typed(registry.lookup(name), f"noise_{name}")
    except DpcoreError:
        return
    page.change("expression", text)


def sliders() -> list[str]:
    """Return the keys of the sliders that the pictures follow."""
    return ["test_alpha_slider", "stated_delta_slider", *st.session_state[SLIDERS]]


def show_noise(view: MechanismView) -> None:
    """Draw the noise with the test."""
    try:
        with work.progress("Drawing"):
            if view.no_noise:
                st.info(plain(view.no_noise), icon=":material/info:")
            else:
                figure.draw(figure.figure_of(noise_spec(view), height=NOISE_HEIGHT), "noise")
    except DpcoreError as error:
        figure.trouble(error, "noise")


def say_noise(view: MechanismView) -> None:
    """Describe the noise and compare the test with the best one; an error appears in place of the picture."""
    with suppress(DpcoreError), work.progress("Drawing"):
        if not view.no_noise:
            figure.words(figure.figure_of(noise_spec(view), height=NOISE_HEIGHT))
        st.markdown(sentence(view.best_words()))


def show_region(view: MechanismView) -> None:
    """Draw the region with the test."""
    try:
        with work.progress("Drawing"), st.container(key=FRAME):
            region = figure.figure_of(region_spec(view), height=REGION_HEIGHT)
            figure.draw(region, CHART)
    except DpcoreError as error:
        figure.trouble(error, CHART)
        return
    for note in region.notes:
        st.caption(plain(note))


def handles(view: MechanismView) -> list[Handle]:
    """Return what can be dragged: the best test on the border of the region."""
    rates = sorted({*RATES, view.alpha})  # the positions of the slider
    with work.progress("Drawing"):
        path = [(rate, low) for rate, (low, _) in zip(rates, result(border, view.mechanism, rates), strict=True)]
    return [Handle(FRAME, "test_alpha_slider", tuple(path))]


def offer(
    title: str, spec: Callable[[MechanismView], Mapping[str, Any]], view: MechanismView, *, key: str, link: bool = True
) -> None:
    """Offer a picture's table, files, code and link under its title; an error appears in place of the picture."""
    try:
        with work.progress("Describing"):
            source = spec(view)
    except DpcoreError:
        return
    st.caption(title)
    figure.offer(source, key=key, link=link)


def show_statements(view: MechanismView) -> None:
    """List the smallest statement of each kind."""
    try:
        with work.progress("Stating"):
            table = statement_table(view)
    except DpcoreError as error:
        figure.trouble(error, "mechanism_stating")
        return
    cells = zip(*(table[name].tolist() for name in ("statement", HEADINGS["kind"], "value")), strict=True)
    st.markdown(marked("\n".join(f"- **{plain(notion)}** ({kind}): {plain(value)}" for notion, kind, value in cells)))
    box = page.drawer("As expressions", "table_rows", "statements_box")
    if box is not None:
        box.dataframe(table, hide_index=True, width="stretch", key="statements")


def show_claim(view: MechanismView) -> None:
    """Say whether the usual claim is true."""
    try:
        with work.progress("Checking the claim"):
            claim = view.claim
    except DpcoreError as error:
        figure.trouble(error, "mechanism_checking_the_claim")
        return
    if claim is None:
        st.markdown("There is no usual claim about this mechanism.")
    elif claim.holds is False:
        st.warning(f"**Claimed: `{claim.region}`.** {sentence(claim.words)}", icon=":material/warning:")
    else:
        st.success(f"**Claimed: `{claim.region}`.** {sentence(claim.words)}", icon=":material/check_circle:")


def show_goal(view: MechanismView) -> None:
    """Ask for (epsilon, delta, k) and say how much noise meets it."""
    columns = st.columns(3)
    with columns[0]:
        epsilon = _number(
            "Goal ε", "goal_epsilon", EPSILON.but(infinite=False), "Bound on the privacy loss of all answers together."
        )
    with columns[1]:
        delta = _number(
            "Goal δ",
            "goal_delta",
            DELTA,
            inputs.delta_help("all answers together"),
        )
    with columns[2]:
        k = _number("Answers k", "goal_k", COUNT.but(high=MOST_COPIES), "How many answers are released.")
    if epsilon is None or delta is None or k is None:
        return
    text = calibration_text(view.mechanism, k)
    recipe = recipes.call("dpcore.calibration:calibrate", text, epsilon=epsilon, delta=delta)
    try:
        with work.progress("Calibrating"):
            row = recipes.run(recipe, PLAIN).iloc[0]
    except DpcoreError as error:
        figure.trouble(error, "mechanism_calibrating")
        return
    st.markdown(marked(goal_words(row, epsilon, delta, k)))
    one = str(row["expression"]).rsplit("^", maxsplit=1)[0] if k > 1 else str(row["expression"])
    st.button("Look at this noise", icon=":material/visibility:", on_click=page.change, args=("expression", one))
    with st.expander("Python that calibrates", icon=":material/code:"):
        st.code(recipes.source(recipe, work.TOLERANCE, name="table"), language="python", wrap_lines=True)
