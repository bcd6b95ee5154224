"""The composition page: its fields, results, specs and sentences."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa  # type: ignore[import-untyped]  # it has no types
import streamlit as st

from dpcore.app import certificate, inputs, page, work
from dpcore.app.badge import marked
from dpcore.app.export import csv_of
from dpcore.app.figure import plain, sentence
from dpcore.charts.sampling import corner_count
from dpcore.core.domains import COUNT, LOSS, PROBABILITY, SLACK
from dpcore.core.errors import DpcoreError
from dpcore.core.kinds import WORDS
from dpcore.core.numerals import nearest
from dpcore.core.results import result
from dpcore.language.numbers import read_value
from dpcore.regions.guarantees import DP
from dpcore.regions.tradeoff import literal
from dpcore.theorems.composition import (
    DEFAULT_THEOREMS,
    TITLES,
    best,
    gaps,
    headline,
    ladder,
    theorem_regions,
)
from dpcore.theorems.conversion.gaussian import bounded_fit, fit_words
from dpcore.words import grouped, outward

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from dpcore.core.parameter import Parameter
    from dpcore.regions.tradeoff import TradeOff
    from dpcore.theorems.composition import TheoremRegion

REGIONS, LOGLOG, PROFILE, RATIO = "regions", "log-log", "profile", "ratio"
AXES = {"f-DP": "fdp", "thesis": "thesis"}
FILLED, LINES = "filled", "lines"
DEFAULTS: dict[str, Any] = {
    "epsilon": "0.1",
    "delta": "0",
    "eta": "0.03",
    "mechanism": "",
    "k": "100",
    "at_delta": "1e-6",
    "slack": "1e-7",
    "view": REGIONS,
    "comp_axes": "f-DP",
    "comp_draw": "filled",
    "show": [TITLES[name] for name in DEFAULT_THEOREMS],
}
LARGEST_K = 10**6
LARGEST_DELTA = 0.99  # the largest total δ that the page suggests instead of one that is too small
OF_REGIONS = "For regions only; a profile has its own axes and lines."
HEIGHT = 432  # chart and legend
KS = inputs.round_values(0, 6)
EPSILONS = inputs.round_values(-3, 1)
DELTAS = ["0", *inputs.round_values(-12, 0)[:-1]]


@dataclass(frozen=True, slots=True)
class CompositionQuery:
    """The page's question: the mechanism as an expression, k, the total delta and the slack."""

    mechanism: str
    k: int
    delta: float
    slack: float


# ---- the fields ----------------------------------------------------------------------------------------------


def ask() -> CompositionQuery | None:
    """Show the fields and return the query, or None after showing the error under its field."""
    text = _mechanism()
    k, delta, slack = _counts()
    if text is None or k is None or delta is None or slack is None:
        return None
    return CompositionQuery(text, k, delta, slack)


def _mechanism() -> str | None:
    """Show the fields for an expression and for ε, δ, η; return the expression of one mechanism."""
    text: str = st.text_input(
        "Mechanism, if you know it",
        DEFAULTS["mechanism"],
        key="mechanism",
        bind="query-params",
        placeholder="for example laplace(0.1), or empty",
        help="Any expression: laplace(0.1), gaussian(2), poisson_gaussian(1, 0.01), rr(1, 5), dp(0.5) * laplace(0.2). "
        "It replaces the statement ε, δ, η.",
    )
    known = bool(text.strip())
    loss = LOSS.but(high=100.0)
    epsilon = _number("ε", "epsilon", EPSILONS, loss, "Bound on the privacy loss of one mechanism.", disabled=known)
    words = inputs.delta_help("one mechanism")
    delta = _number("δ", "delta", DELTAS, PROBABILITY, words, disabled=known)
    largest = 1.0 if epsilon is None or delta is None else float(DP(epsilon, delta).total_variation)
    etas = inputs.even_values(0.0, largest, 50)
    words = "Total variation of one mechanism; leave it empty if you do not know it."
    eta = _number("η", "eta", etas, PROBABILITY, words, name="Total variation η", optional=True, disabled=known)
    if known:
        return text
    if epsilon is None or delta is None or eta is None:
        return None
    return _statement(epsilon, delta, eta)


def _number(
    label: str,
    key: str,
    values: Sequence[str],
    allowed: Parameter,
    words: str,
    *,
    name: str = "",
    optional: bool = False,
    disabled: bool = False,
) -> float | None:
    default = DEFAULTS[key]
    return inputs.slider_field(
        label, key, default, values, allowed, name=name, help_text=words, optional=optional, disabled=disabled
    )


def _statement(epsilon: float, delta: float, eta: float) -> str:
    """Return the expression of a statement; η is nan if the total variation is unknown."""
    if math.isnan(eta):
        return f"dp({literal(epsilon)}, {literal(delta)})"
    return f"dptv({literal(epsilon)}, {literal(delta)}, {literal(eta)})"


SLIDERS = tuple(f"{key}_slider" for key in ("epsilon", "delta", "eta", "k", "at_delta"))


def with_slider(query: CompositionQuery, held: Mapping[str, str]) -> CompositionQuery:
    """Return the query with the value of the held slider instead of its field's value."""
    if not held:
        return query
    ((slider, text),) = held.items()
    key = slider.removesuffix("_slider")
    if key == "k":
        return replace(query, k=int(read_value(COUNT.but(high=LARGEST_K), text, "k")))
    if key == "at_delta":
        return replace(query, delta=read_value(PROBABILITY, text, "Total δ"))
    texts = {name: str(st.session_state[name]).strip() for name in ("epsilon", "delta", "eta")} | {key: text}
    epsilon = read_value(LOSS.but(high=100.0), texts["epsilon"], "ε")
    delta = read_value(PROBABILITY, texts["delta"], "δ")
    eta = read_value(PROBABILITY, texts["eta"], "η") if texts["eta"] else math.nan
    return replace(query, mechanism=_statement(epsilon, delta, eta))


def _counts() -> tuple[int | None, float | None, float | None]:
    """Show k, the total δ and the slack."""
    k = _number("k", "k", KS, COUNT.but(high=LARGEST_K), "The number of mechanisms released together.")
    words = "The δ of all mechanisms together. The theorems are compared at this δ."
    delta = _number("Total δ", "at_delta", DELTAS, PROBABILITY, words)
    with st.expander("Slack of the simplified theorems", icon=":material/tune:"):
        words = (
            "Extra δ that KOV simplified and the advanced theorems spend in the chart. "
            "In the comparison they use the best value."
        )
        slack = inputs.slider_field("Slack δ~", "slack", DEFAULTS["slack"], inputs.DELTAS, SLACK, help_text=words)
    return None if k is None else int(k), delta, slack


def options() -> dict[str, Any]:
    """Show the drawing options and return them."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        picture = st.segmented_control(
            "Picture",
            (REGIONS, LOGLOG, PROFILE, RATIO),
            default=DEFAULTS["view"],
            required=True,
            key="view",
            bind="query-params",
        )
        axes = st.segmented_control(
            "Axes",
            list(AXES),
            default=DEFAULTS["comp_axes"],
            required=True,
            key="comp_axes",
            bind="query-params",
            help=OF_REGIONS,
        )
        draw = st.segmented_control(
            "Draw",
            (FILLED, LINES),
            default=DEFAULTS["comp_draw"],
            required=True,
            key="comp_draw",
            bind="query-params",
            help=OF_REGIONS,
        )
    return {"picture": picture, "axes": axes, "draw": draw}


def theorems() -> list[str]:
    """Show the menu of theorems and return the titles of those to draw."""
    titles = st.pills(
        "Theorems drawn",
        list(TITLES.values()),
        selection_mode="multi",
        default=DEFAULTS["show"],
        key="show",
        bind="query-params",
    )
    return [title for title in TITLES.values() if title in (titles or DEFAULTS["show"])]


# ---- results -------------------------------------------------------------------------------------------------


def results(query: CompositionQuery) -> tuple[TheoremRegion, ...]:
    """Return the region of each theorem for the composition."""
    return result(theorem_regions, query.mechanism, query.k, slack=query.slack, delta=query.delta)


def rows(query: CompositionQuery) -> pd.DataFrame:
    """Return the epsilon of every theorem at the query's k."""
    return result(ladder, query.mechanism, query.delta, ks=[query.k])


def spec(query: CompositionQuery, view: Mapping[str, str], titles: Sequence[str]) -> dict[str, Any]:
    """Return the spec of the theorems' chart: their regions or their profiles."""
    shared = {
        "mechanism": query.mechanism,
        "k": query.k,
        "theorems": _names(titles),
        "slack": query.slack,
        "delta": query.delta,
    }
    if view["picture"] == PROFILE:
        return {"draw": "theorems", **shared}
    if view["picture"] == RATIO:
        return {"draw": "theorem_ratio", **shared}
    return {
        "draw": "composition",
        **shared,
        "axes": AXES.get(view["axes"], "fdp"),
        "log": view["picture"] == LOGLOG,
        "fill": view["draw"] != LINES,
    }


def ladder_spec(query: CompositionQuery, titles: Sequence[str]) -> dict[str, Any]:
    """Return the spec of the theorems' ladder, with the query's k marked."""
    return {
        "draw": "ladder",
        "mechanism": query.mechanism,
        "delta": query.delta,
        "theorems": _names(titles),
        "mark": query.k,
    }


def _names(titles: Sequence[str]) -> list[str]:
    return [name for name, title in TITLES.items() if title in titles]


# ---- sentences -----------------------------------------------------------------------------------------------


def say(query: CompositionQuery) -> None:
    """Show which theorem is best."""
    frame = rows(query)
    if best(frame) is None:
        st.warning(marked(headline(frame, query.delta)), icon=":material/block:")
        _offer_delta(query)
    else:
        st.success(marked(headline(frame, query.delta)), icon=":material/check_circle:")


def say_gaps(query: CompositionQuery, titles: Sequence[str]) -> None:
    """Show how much more the other theorems need."""
    st.markdown(sentence(gaps(rows(query), titles)))


def _offer_delta(query: CompositionQuery) -> None:
    """Show the smallest total δ at which a theorem promises an ε, with a button to use it."""
    try:
        with work.progress("Looking for a δ"):
            least = least_delta(query)
    except DpcoreError as error:
        st.markdown(plain(str(error)))
        return
    if least >= LARGEST_DELTA:
        st.markdown("No δ below 1 helps: the loss of one of the mechanisms has no bound at all.")
    elif least <= query.delta:
        st.markdown(f"Any δ above {outward(query.delta, 6)} works.")
    else:
        text = outward(least, 2)
        words = f"Together the mechanisms exceed every ε with probability {outward(least, 6)} (rounded up)"
        st.markdown(f"{words}, so no ε holds at a smaller δ.")
        args = ("at_delta", text)
        st.button(f"Use δ = {text}", icon=":material/tune:", on_click=page.change, args=args, key="use_delta")


def least_delta(query: CompositionQuery) -> float:
    """Return the δ below which no theorem promises an ε: the δ at an infinite ε."""
    every = results(query)
    regions = [way.region for way in every if way.region is not None and way.kind in {"exact", "upper"}]
    return result(_least_delta, regions)


def _least_delta(regions: Sequence[TradeOff]) -> float:
    return min((float(region.delta(math.inf)) for region in regions), default=1.0)


def summary(query: CompositionQuery) -> dict[str, list[str]]:
    """Return the columns of a table with one row per theorem: its ε at the query's δ, the kind of the number, and a note."""
    frame = rows(query)
    titles, values, kinds, notes, relations = (
        frame[name].tolist() for name in ("title", "epsilon", "kind", "note", "neighbours")
    )
    return {
        "Theorem": titles,
        f"ε at δ = {outward(query.delta, 6)}": [_epsilon_text(*pair) for pair in zip(values, kinds, strict=True)],
        "What it is": [WORDS[kind] for kind in kinds],
        "Note": notes,
        "Neighbours": relations,
    }


def _epsilon_text(value: float, kind: str) -> str:
    if kind == "none":
        return "–"
    if value == float("inf"):
        return "inf"
    return f"about {grouped(nearest(value))}" if kind == "approximate" else grouped(outward(float(value), 6))


def show_summary(query: CompositionQuery) -> None:
    """Show the comparison and its download button."""
    st.dataframe(pa.table(summary(query)), hide_index=True, width="stretch", key="summary")
    st.download_button(
        "Comparison as CSV",
        data=lambda: csv_of(rows(query)),
        file_name="comparison.csv",
        mime="text/csv",
        on_click="ignore",
        key="comparison_csv",
        icon=":material/download:",
    )
    certificate.offer(f"({query.mechanism})^{query.k}", "composition", delta=query.delta)


def _mu_words(mechanism: str, k: int) -> str:
    region = work.region(mechanism)[0]
    return fit_words(bounded_fit(region if k == 1 else region**k))


def say_mu(query: CompositionQuery) -> None:
    """Show the mu of all mechanisms together, and its regret, on request: the fit takes longer than the picture."""
    box = page.drawer("As one Gaussian: μ", "show_chart", "composition_mu")
    if box is not None:
        with box, suppress(DpcoreError), work.progress("Fitting"):  # the table above says what cannot be composed
            st.markdown(plain(result(_mu_words, query.mechanism, query.k)))


def command(query: CompositionQuery, table: pd.DataFrame) -> str:
    """Return the command that prints all corners of a composition if the table shows only some."""
    for way in results(query):
        if way.region is None or way.single:
            continue
        if "alpha" in table.columns:  # a border
            points = int((table["label"] == way.title).sum())
            if 0 < points < (corner_count(way.region) or 0):
                return f'dpcore vertices "{way.region}"'
        elif "note" in table.columns:  # statements; ratios are never thinned
            own = table[table["theorem"] == way.name]
            if bool(own["note"].str.contains(" corners").any()):
                return f'dpcore constraints "{way.region}"'
    return ""
