"""The parts of the page Privacy and utility: each shows widgets and returns their input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore.app import page, privacy_and_utility_data
from dpcore.app.figure import plain
from dpcore.app.inputs import choice
from dpcore.app.privacy_and_utility import DEFAULTS, KIND, RELEASES, UtilityView, movable, numbers_of, read
from dpcore.app.settings import values_of
from dpcore.charts.pairs import pair_grid
from dpcore.core.domains import SEED
from dpcore.core.errors import DpcoreError
from dpcore.language.numbers import read_value
from dpcore.utility import PAIRS, Dataset, pair

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from dpcore.utility import UtilityPair

USUAL = ("count", "sum", "mean", "histogram", "median", "quantile", "k queries", "survey", "survey with k answers")
MOST_SEED = 10**9
STEPS = 61  # of a slider
SLIDERS = "_utility_sliders"  # keys of the sliders of the pair's parameters
CHOICES = {"utility_measure": "Utility", "utility_moves": "Against", "utility_of": "Solve for"}  # bound texts of menus


# ---- query and mechanism -------------------------------------------------------------------------------------


def ask(draws: DeltaGenerator) -> UtilityView | None:
    """Show query, mechanism, data, drawing options and, in `draws`, the draw; None, with the error shown, if wrong."""
    st.session_state[SLIDERS] = []
    menus, axis, rows, data, texts = (st.container() for _ in range(5))
    with texts:
        chosen = _read_text()
    with menus:
        _pick(chosen, *st.columns(2))
    if chosen is None:
        return None
    with data:
        source = privacy_and_utility_data.ask(chosen, privacy_and_utility_data.choose())
        releases = _releases()
    idle = chosen.of_numbers if source is not None and source.is_categorical else ()
    with rows:
        st.session_state[SLIDERS] = KIND.rows(chosen, _places(chosen), idle)
    if source is None:
        return None
    with draws:
        seed = _ask_seed()
    with axis:
        left, right = st.columns([9, 5])
        with left:
            measures = {measure.name: measure.label for measure in chosen.measures}
            measure = choice("Utility", "utility_measure", measures, chosen.measure)
        with right:
            moves = choice("Against", "utility_moves", movable(chosen), chosen.main)
    return UtilityView(chosen, source, moves, measure, releases, seed)


def _releases() -> int:
    """Ask how much to simulate."""
    releases = st.selectbox(
        "Simulated releases",
        RELEASES,
        index=RELEASES.index(DEFAULTS["utility_releases"]),
        key="utility_releases",
        bind="query-params",
        help="How many at each point of the chart; 0 for none.",
    )
    return int(releases)


def sliders() -> list[str]:
    """Return the keys of the sliders that the pictures follow."""
    return [*st.session_state[SLIDERS], privacy_and_utility_data.SIZE]


def _places(chosen: UtilityPair) -> dict[str, list[float]]:
    """Return the slider values of each number."""
    one, places = Dataset.example(1), dict[str, list[float]]()
    for name, parameter in numbers_of(chosen).items():
        values = pair_grid(chosen, one, name, STEPS)
        places[name] = [int(x) if parameter.kind == "integer" else x for x in values]
    return places


def _read_text() -> UtilityPair | None:
    """Show the texts that the link carries, and parse the setting."""
    with st.expander("The setting as text", icon=":material/edit_note:"):
        text = st.text_input(
            "Setting",
            DEFAULTS["utility"],
            key="utility",
            bind="query-params",
            help="Name and parameters, as the link carries them: count_laplace epsilon=0.5 at_least=65.",
        )
        for column, (key, label) in zip(st.columns(len(CHOICES)), CHOICES.items(), strict=True):
            with column:
                st.text_input(label, "", key=key, bind="query-params", help="Leave it empty for the query's default.")
    try:
        chosen = read(text.strip())
    except DpcoreError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return None
    return chosen


def _queries() -> dict[str, list[str]]:
    """Return query -> names of its pairs: the usual queries first, then the others by name."""
    found: dict[str, list[str]] = {}
    for name, cls in PAIRS.items():
        found.setdefault(cls.query, []).append(name)
    return {query: found[query] for query in sorted(found, key=lambda q: (USUAL.index(q) if q in USUAL else 99, q))}


def _pick(chosen: UtilityPair | None, left: DeltaGenerator, right: DeltaGenerator) -> None:
    """Show the two menus, which follow the text."""
    queries = _queries()
    query = chosen.query if chosen is not None else None
    st.session_state["utility_query"] = query
    st.session_state["utility_mechanism"] = chosen.name if chosen is not None else None
    start = None if chosen is None else 0  # a menu without a choice can be cleared, one with a choice cannot
    left.selectbox(
        "Query",
        list(queries),
        index=start,
        key="utility_query",
        format_func=lambda name: name[:1].upper() + name[1:],
        on_change=_take_query,
        placeholder="Choose a query",
    )
    names = queries.get(query or "", [])
    right.selectbox(
        "Mechanism",
        names,
        index=start,
        key="utility_mechanism",
        format_func=lambda name: _mechanism(name, names),
        on_change=_take_mechanism,
        placeholder="Choose a mechanism",
    )


def _mechanism(name: str, names: list[str]) -> str:
    """Return the menu name of a mechanism, or the title of the pair if two would share a name."""
    words = PAIRS[name].mechanism
    twice = [PAIRS[other].mechanism for other in names].count(words) > 1
    words = PAIRS[name].title if twice else words
    return words[:1].upper() + words[1:]


def _take_query() -> None:
    query = st.session_state.get("utility_query")
    if query is not None:
        take(pair(_queries()[query][0]))


def _take_mechanism() -> None:
    """Change the mechanism; parameters with the same name keep their values if the new one allows them."""
    name = st.session_state.get("utility_mechanism")
    if name is None:
        return
    new = pair(name)
    try:
        old = values_of(read(st.session_state["utility"]))
    except DpcoreError:
        old = {}
    for key in values_of(new):
        try:
            new = new.but(**{key: old[key]}) if key in old else new
        except DpcoreError:
            continue
    take(new)


def take(new: UtilityPair) -> None:
    """Set the page to another pair with suitable data, axis and measure; one Undo reverts it."""
    measures = {m.name for m in new.measures}
    state: dict[str, Any] = {"utility": KIND.text(new)}
    data = st.session_state.get("utility_data", DEFAULTS["utility_data"])
    fits = privacy_and_utility_data.fitting(new, data)
    if fits != data:
        state |= {"utility_data": fits, "utility_n": "", "utility_low": "", "utility_high": ""}
    other = _query_of(st.session_state["utility"]) != new.query
    for key, known in (("utility_moves", movable(new)), ("utility_of", movable(new)), ("utility_measure", measures)):
        if other or st.session_state.get(key) not in known:
            state[key] = ""
    page.apply({**state, "utility_target": ""})


def _query_of(text: str) -> str:
    cls = PAIRS.get((text.split() or [""])[0])
    return "" if cls is None else cls.query


def _again(seed: int) -> None:
    page.change("utility_seed", str((seed + 1) % MOST_SEED))


def _ask_seed() -> int:
    """Show the number of the draw with its button; a wrong number is explained, and the first draw is used."""
    st.header("One release")
    button = st.container()
    text = st.text_input(
        "Draw number",
        DEFAULTS["utility_seed"],
        key="utility_seed",
        bind="query-params",
        help="The same number draws the same noise, so that the link shows the same release.",
    )
    try:
        seed = int(read_value(SEED.but(high=MOST_SEED), text.strip(), "Draw number"))
    except DpcoreError as error:
        st.error(plain(str(error)), icon=":material/error:")
        seed = int(DEFAULTS["utility_seed"])
    button.button("Release again", icon=":material/casino:", on_click=_again, args=(seed,))
    st.caption(
        "Both answers are shown because this is an experiment: in practice only the release is published, and each further "
        "release of the same data costs privacy again."
    )
    return seed
