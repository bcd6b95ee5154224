"""The parts of the page Privacy regions: each shows widgets and returns their input."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore.app import catalogue, comparison_sentence, editing, forms, listing, page, privacy_regions, work
from dpcore.app.figure import numbers, plain, sentence, trouble
from dpcore.app.live import Handle
from dpcore.charts import pixels
from dpcore.core.errors import DpcoreError
from dpcore.core.kinds import FACTS, WORDS
from dpcore.regions.tradeoff import Atom
from dpcore.words import kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dpcore.app.listing import Item
    from dpcore.app.privacy_regions import RegionLine
    from dpcore.app.written import Repeated

FRAME = "privacy_regions_frame"  # the container of the chart, by which the browser finds it
SLIDERS = "_region_sliders"  # keys of the sliders that the selected region has


def list_text(default: str) -> tuple[list[Item], list[str]]:
    """Show the list as one text, which the link carries, and return its items and what could not be parsed."""
    with st.expander("The list as text", icon=":material/edit_note:"):
        text = st.text_area(
            "Regions, separated by ;",
            default,
            key=editing.LIST,
            bind="query-params",
            on_change=editing.typed_over,
            help="Expressions separated by ; and optionally named: name := expression. "
            "@name stands for another region of the list, ! hides one.",
        )
    st.session_state["_list"] = text
    return listing.read_leniently(text)


def view_options() -> dict[str, Any]:
    """Show the options for the picture and return them; all of them are in the link."""
    bound: dict[str, Any] = {"bind": "query-params"}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = st.segmented_control(
            "Picture",
            [privacy_regions.REGION, privacy_regions.PROFILE, privacy_regions.RATIO],
            default=privacy_regions.REGION,
            required=True,
            key="picture",
            **bound,
        )
        with st.popover("Axes and style", icon=":material/tune:"):
            axes = st.radio(
                "Axes",
                ["f-DP", "thesis"],
                key="axes",
                captions=["across: false positives", "across: false negatives"],
                **bound,
            )
            scale = st.radio(
                "Scale",
                ["linear", "log-log"],
                key="scale",
                captions=["all rates", "rates down to 1e-12"],
                **bound,
            )
            draw = st.radio("Regions", ["filled", "lines"], key="draw", **bound)
            legend = st.toggle("Legend", value=True, key="legend", **bound)
            front = st.toggle("Selected region in front", key="front", **bound)
    kind = kind or privacy_regions.REGION  # an empty value in a link clears the choice
    return {"picture": kind, "axes": axes, "scale": scale, "draw": draw, "legend": legend, "front": front}


def add(items: Sequence[Item], complaints: Sequence[str]) -> None:
    """Offer to add a region from the menu or by typing, and to switch listed regions on and off."""
    st.selectbox(
        "Add a region",
        catalogue.kinds(),
        index=None,
        key="add",
        on_change=editing.add_kind,
        placeholder="Choose a guarantee, mechanism or operation",
    )
    st.text_input(
        "Or type an expression",
        key="typed",
        on_change=editing.add_typed,
        placeholder="dp(0.6, 0.05)^5 & gdp(1.2)",
        help="& both hold, * composed, ^k composed k times, @name another region of the list.",
    )
    typed = str(st.session_state.get("typed") or "")
    problem = editing.typed_items(typed, items)[1] if typed.strip() else ""
    refused = str(st.session_state.pop("_refused", ""))
    for text in [*complaints, problem, refused]:
        if text:
            st.error(plain(text), icon=":material/error:")
    if items:
        _switches(items)


def _switches(items: Sequence[Item]) -> None:
    """Show every region of the list as a switch, and Clear all."""
    names = listing.labels(items)
    st.session_state["shown"] = [at for at, item in enumerate(items) if not item.hidden]
    st.pills(
        "On the chart",
        range(len(items)),
        selection_mode="multi",
        format_func=lambda at: plain(names[at]),
        key="shown",
        on_change=editing.show_only,
        help="Switch a region off to hide it; it stays in the list.",
    )
    st.button("Clear all", icon=":material/delete_sweep:", on_click=editing.clear)


def selection(items: Sequence[Item]) -> int | None:
    """Let the visitor select a region and edit it; return its index in the list, or None if there is none."""
    st.session_state[SLIDERS] = []
    names = listing.labels(items)
    if not names:
        st.caption("The list is empty.")
        return None
    if st.session_state.get(editing.SELECTED, names[0]) not in names:
        st.session_state[editing.SELECTED] = names[0]  # the selected region is gone, from the link too
    page.linked({editing.SELECTED: names[0]})
    label = st.selectbox("Selected region", names, key=editing.SELECTED, bind="query-params")
    index = names.index(label) if label in names else 0
    item = items[index]
    shape = editing.shape(item.expression)
    editing.sync(item, shape)
    if catalogue.simplified_parameters(item):
        _kov_fields(index)
    elif shape is not None:
        _atom_fields(index, shape)
    _text_fields(index, items)
    _meaning(item, items)
    with st.container(horizontal=True):
        _act("Duplicate", "content_copy", editing.duplicate, index)
        _act("Show" if item.hidden else "Hide", "visibility", editing.toggle, index)
        _act("Delete", "delete", editing.delete, index)
    return index


def handles(expression: str, *, log: bool) -> list[Handle]:
    """Return the handles of one (ε, δ) region: its corner moves ε, the left end of its border δ."""
    shape = editing.shape(expression)
    if shape is None or shape.k != 1 or shape.wrapper or shape.written.entry.name != "dp":
        return []
    key, (epsilon, delta) = editing.fields_key(shape), shape.written.entry.parameters
    values = {one.name: float(forms.meant(one, shape.written.shown[one.name])) for one in (epsilon, delta)}
    if not math.isfinite(values["epsilon"]):
        return []
    corners = [
        (1.0 - values["delta"]) / (1.0 + math.exp(place)) for place in forms.slider_values(epsilon, values["epsilon"])
    ]
    ends = [1.0 - place for place in forms.slider_values(delta, values["delta"])]
    window = (pixels.FLOOR, 1.0) if log else (0.0, 1.0)
    paths = {
        "epsilon": tuple((max(corner, window[0]), max(corner, window[0])) for corner in corners),
        "delta": tuple((window[0], max(end, window[0])) for end in ends),
    }
    return [
        Handle(FRAME, forms.slider_key(f"{key}_{name}"), path, x=window, y=window, log=log)
        for name, path in paths.items()
    ]


def _act(label: str, icon: str, action: Any, index: int) -> None:
    st.button(label, icon=f":material/{icon}:", on_click=action, args=(index,), key=f"act_{label}")


def _atom_fields(index: int, found: Repeated) -> None:
    """Show the parameters of a region, each with a slider, and k."""
    key = editing.fields_key(found)
    sliders = forms.rows(found.written, key, editing.take_fields, (index,))
    sliders += forms.row(editing.COPIES, st.session_state["edit_k"], "edit_k", editing.take_fields, (index,))
    st.session_state[SLIDERS] = sliders
    _check(editing.copies)


def _meaning(item: Item, items: Sequence[Item]) -> None:
    """Explain beside the fields numbers that change nothing; what was typed stays."""
    try:
        _, warnings = work.region(listing.expand(item.expression, items))
    except DpcoreError:
        return  # reported beside the chart
    for text in (*warnings, editing.same_as(item.expression)):
        if text:
            st.info(plain(text), icon=":material/info:")


def _kov_fields(index: int) -> None:
    """Show the four parameters of the simplified theorem."""
    sliders = st.session_state[SLIDERS] = []
    for parameter in editing.KOV:
        key = f"kov_{parameter.name}"
        sliders += forms.row(parameter, st.session_state[key], key, editing.take_kov, (index,))
    _check(editing.kov_item)


def _check(make: Callable[[], object]) -> None:
    """Show what is wrong with the fields, in the library's words."""
    try:
        make()
    except DpcoreError as error:
        st.error(plain(str(error)), icon=":material/error:")


def _text_fields(index: int, items: Sequence[Item]) -> None:
    """Show the expression and the name of a region, with what is wrong with them."""
    left, right = st.columns([3, 2])
    left.text_input("Expression", key="edit_text", on_change=editing.rewrite, args=(index,))
    wrong = editing.expression_error(str(st.session_state["edit_text"]), items)
    if wrong:
        st.error(plain(wrong), icon=":material/error:")
    name = right.text_input("Name", key="edit_name", on_change=editing.rename, args=(index,), placeholder="none")
    if name.strip() != items[index].name:
        _check(lambda: listing.renamed(items, index, name))


def combine(items: Sequence[Item]) -> tuple[int, int] | None:
    """Let the visitor choose regions to intersect, compose or compare; return the indices of the two to compare."""
    if len(items) < 2:
        return None
    names = listing.labels(items)
    picked = st.multiselect(
        "Combine or compare",
        names,
        key=editing.PICK,
        bind="query-params",
        placeholder="Choose two or more regions",
        help="Two regions are compared below the chart. Intersect and Compose add a region that changes with the regions it is made of.",
    )
    with st.container(horizontal=True):
        few = len(picked) < 2
        for label, icon, sign in (("Intersect", "join_inner", "&"), ("Compose", "join", "*")):
            st.button(label, icon=f":material/{icon}:", on_click=editing.combine, args=(sign,), disabled=few)
    return (names.index(picked[0]), names.index(picked[1])) if len(picked) == 2 else None


def comparison(first: RegionLine, second: RegionLine) -> None:
    """Say how two regions compare."""
    if first.region is None or second.region is None:
        return
    try:
        with work.progress("Comparing"):
            a, b = (line.item.name or line.label for line in (first, second))
            words, table = comparison_sentence.compared(a, first.region, b, second.region)
    except DpcoreError as error:
        trouble(error, "panels_comparing")
        return
    st.info(sentence(words), icon=":material/compare:")
    if table["crossing_alpha"].notna().any():
        places = {"crossing_alpha": float, "crossing_beta": float}
        numbers(table[[*places, *FACTS]].astype(places), "comparison_table")


def troubles(lines: Sequence[RegionLine], selected: int | None) -> None:
    """Say which listed regions cannot be drawn and which numbers change nothing, except for the selected region."""
    for at, line in enumerate(lines):
        if line.error and not line.item.hidden:
            st.error(plain(f"{line.label}: {line.error}"), icon=":material/error:")
        for text in line.warnings if at != selected else ():
            st.info(plain(text), icon=":material/info:")
    if any(line.error == work.STOPPED for line in lines):
        st.button("Try again", icon=":material/replay:", on_click=work.try_again)


def preset_note(name: str, defaults: dict[str, Any]) -> None:
    """Say what the example on the page shows and where it comes from."""
    state = {key: st.session_state.get(key, value) for key, value in defaults.items()}
    preset = page.matching(name, defaults, state)
    if preset is not None:
        source = f" Source: {preset.source}." if preset.source else ""
        st.markdown(f"**{plain(preset.title)}.** {plain(preset.meaning + source)}")


def details(line: RegionLine) -> None:
    """Show the corners and the statements of a region, and what it is."""
    region = line.region
    if region is None or line.error:
        return
    box = page.drawer("Statements and corners of the selected region", "info", "region_details")
    if box is None:
        return
    with box:
        try:
            with work.progress("Tabulating"):
                rows, words = privacy_regions.statements(region)
                corners = privacy_regions.vertices(region)
        except DpcoreError as error:
            trouble(error, "panels_tabulating")
            return
        st.markdown(sentence(f"{region} ({kind_of(region)}). {region.theorem}; neighbours: {region.neighbours}."))
        if isinstance(region, Atom):
            st.markdown(f"${region.entry.formula}$")  # inline: it wraps on a phone
            st.markdown(plain(f"{region.entry.meaning} Reference: {region.entry.reference}."))
        left, right = st.columns(2)
        with left:
            st.markdown(sentence(words))
            numbers(rows.drop(columns="region"), "statements_table")
        with right:
            if corners is None:
                st.markdown("The border is a smooth curve, or has more than 10 000 corners.")
            else:
                st.markdown(sentence(f"Corners of the border ({WORDS[corners['kind'].max()]})."))
                numbers(corners.drop(columns="region"), "vertices_table")
