"""What the buttons and fields of the list of regions do: each returns a new list text, and Undo takes it back.

The list lives in the session under ``regions`` (and in the link), the label of the selected region under
``selected``, the labels chosen for combining under ``pick``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore.app import catalogue, forms, listing, page, work, written
from dpcore.core.domains import COUNT, DELTA, EPSILON, SLACK
from dpcore.core.errors import DomainError, DpcoreError
from dpcore.core.numerals import numeral
from dpcore.language.numbers import meant, read_value
from dpcore.regions.tradeoff import Atom

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dpcore.app.listing import Item
    from dpcore.app.written import Repeated

LIST, SELECTED, PICK = "regions", "selected", "pick"
FIELDS = "edit"
COPIES = COUNT.but(name="k", label="k", meaning="How many times it is composed with itself; 1 is the region alone")
KOV = (EPSILON, DELTA, COPIES, SLACK)  # parameters of the simplified optimal theorem


def items() -> list[Item]:
    """Return the list in the session."""
    return listing.read_leniently(str(st.session_state.get(LIST) or ""))[0]


def store(new: Sequence[Item], origin: Sequence[int | None], select: int) -> None:
    """Write a new list; `origin` says which old item each new one was, so that selections follow."""
    if len(new) > listing.MOST_ITEMS:
        st.session_state["_refused"] = f"A list holds at most {listing.MOST_ITEMS} regions."
        return
    before, after = listing.labels(items()), listing.labels(new)
    picked = set(st.session_state.get(PICK) or ())
    pick = [label for label, old in zip(after, origin, strict=True) if old is not None and before[old] in picked]
    state: dict[str, Any] = {LIST: listing.write(new), PICK: pick}
    if after:
        state[SELECTED] = after[min(max(select, 0), len(after) - 1)]
    page.apply(state)


def _same(new: Sequence[Item], select: int) -> None:
    store(new, range(len(new)), select)


def add_kind() -> None:
    """Add the kind chosen in the menu and clear the menu."""
    kind = st.session_state.get("add")
    st.session_state["add"] = None
    if kind is not None:
        old = items()
        store([*old, kind.item], [*range(len(old)), None], len(old))


def add_typed() -> None:
    """Add what was typed if all of it is valid; otherwise it stays in the field, with an error."""
    old = items()
    fresh, error = typed_items(str(st.session_state.get("typed") or ""), old)
    if fresh and not error:
        st.session_state["typed"] = ""
        store([*old, *fresh], [*range(len(old)), *[None] * len(fresh)], len(old))


def typed_items(text: str, old: Sequence[Item]) -> tuple[list[Item], str]:
    """Return the items in a typed text and the first error in it."""
    region, complaints = listing.read_leniently(text)
    resolved = listing.resolve([*old, *region], read)[len(old) :]
    wrong = [*complaints, *(one.error for one in resolved if one.error)]
    return region, wrong[0] if wrong else ""


def read(text: str) -> Any:
    """Return the region of an expression, parsed once."""
    return work.region(text)[0]


def duplicate(index: int) -> None:
    """Insert a copy after the region, without its name."""
    old = items()
    copy = replace(old[index], name="")
    origin = [*range(index + 1), None, *range(index + 1, len(old))]
    store([*old[: index + 1], copy, *old[index + 1 :]], origin, index + 1)


def delete(index: int) -> None:
    """Remove a region; others that refer to it keep its expression."""
    old = items()
    store(listing.without(old, index), [at for at in range(len(old)) if at != index], index)


def clear() -> None:
    """Empty the list."""
    page.apply({LIST: "", PICK: []})


def toggle(index: int) -> None:
    """Hide a region or show it again."""
    new = [replace(item, hidden=not item.hidden) if at == index else item for at, item in enumerate(items())]
    page.apply({LIST: listing.write(new)})


def typed_over() -> None:
    """Let Undo restore the list as it was before it was overwritten by typing."""
    page.keep({LIST: st.session_state.get("_list")})


def show_only() -> None:
    """Hide every region that is not switched on."""
    shown = set(st.session_state.get("shown") or ())
    old = items()
    new = [replace(item, hidden=at not in shown) for at, item in enumerate(old)]
    page.apply({LIST: listing.write(new)})


def combine(sign: str) -> None:
    """Add the intersection or composition of the chosen regions; it follows its parents."""
    old = items()
    picked = [at for at, label in enumerate(listing.labels(old)) if label in (st.session_state.get(PICK) or ())]
    new = listing.joined(old, picked, sign)
    store(new, [*range(len(old)), None], len(old))


def rename(index: int) -> None:
    """Give a region the name in its field; an invalid name stays in the field, with an error."""
    old = items()
    try:
        _same(listing.renamed(old, index, str(st.session_state.get("edit_name") or "")), index)
    except DomainError:
        return


def rewrite(index: int) -> None:
    """Take over the expression in its field; an invalid one stays there, with an error."""
    old = items()
    text = str(st.session_state.get("edit_text") or "").strip()
    if not expression_error(text, old):
        _same([replace(item, expression=text) if at == index else item for at, item in enumerate(old)], index)


def expression_error(text: str, old: Sequence[Item]) -> str:
    """Return what is wrong with an expression for the list, or an empty text."""
    if not text.strip():
        return "The expression is empty; Delete removes the region."
    region = listing.read_leniently(text)[0]
    if len(region) != 1 or region[0].expression != text.strip():
        return "One expression is edited here, without a name or a semicolon; add other regions below."
    try:
        read(listing.expand(text, old))
    except DpcoreError as error:
        return str(error)
    return ""


def shape(expression: str) -> Repeated | None:
    """Return an expression in the form that fields can edit; None if it can only be edited as text."""
    if "@" in expression:
        return None
    try:
        return written.copies(expression, read(expression))
    except DpcoreError:
        return None


def same_as(expression: str) -> str:
    """Say which region with another name an expression is equal to, if there is one."""
    region = shape(expression)
    if region is None:
        return ""
    node = read(expression)
    if region.wrapper:  # the fields are those of the region inside, not those of the operation
        node = getattr(node, "region", node)
    if region.k > 1:
        node = getattr(node, "base", node)
    if not isinstance(node, Atom) or node.entry is region.written.entry:
        return ""
    return f"With these numbers {region.written.entry.name} is the same region as {node}; its other numbers change nothing."


def fields_key(region: Repeated) -> str:
    """Return the session key for the fields of a region."""
    return f"{FIELDS}_{region.written.entry.name}"


def sync(item: Item, region: Repeated | None) -> None:
    """Write the item into the fields unless they were last filled with it."""
    mark = (str(item), st.session_state.get(SELECTED))
    if st.session_state.get("_fields") == mark and "edit_text" in st.session_state:
        return
    st.session_state["_fields"] = mark
    st.session_state["edit_name"] = item.name
    st.session_state["edit_text"] = item.expression
    for parameter, value in zip(KOV, catalogue.simplified_parameters(item) or (), strict=False):
        st.session_state[f"kov_{parameter.name}"] = numeral(value)
    if region is not None:
        st.session_state["edit_k"] = region.k if region.k <= written.LARGEST_FIELD else str(region.k)
        forms.fill(region.written, fields_key(region))


def take_fields(index: int) -> None:
    """Write the atom's fields and k into the list, if they make a region."""
    old = items()
    region = shape(old[index].expression)
    if region is None:
        return
    text = _attempt(lambda: region.expression(forms.typed(region.written.entry, fields_key(region)), copies()))
    if text and not expression_error(text, old):
        _same([replace(item, expression=text) if at == index else item for at, item in enumerate(old)], index)


def moved(old: Sequence[Item], index: int | None, held: Mapping[str, str]) -> list[Item]:
    """Return the list with the selected region as changed by a held slider."""
    if index is None or not held:
        return list(old)
    if catalogue.simplified_parameters(old[index]):
        text = kov_item(held).expression
    elif (region := shape(old[index].expression)) is not None:
        text = region.expression(forms.typed(region.written.entry, fields_key(region), held), copies(held))
    else:
        return list(old)
    return [replace(item, expression=text) if at == index else item for at, item in enumerate(old)]


def copies(held: Mapping[str, str] | None = None) -> int:
    """Return k from its field or its held slider."""
    return int(read_value(COPIES, _field_text("edit_k", held, "1")))


def kov_item(held: Mapping[str, str] | None = None) -> Item:
    """Return the item of the four fields of the simplified theorem, one of them replaced by its held slider."""
    texts = (_field_text(f"kov_{parameter.name}", held) for parameter in KOV)
    return catalogue.simplified(*(meant(parameter, text) for parameter, text in zip(KOV, texts, strict=True)))


def _field_text(key: str, held: Mapping[str, str] | None, default: str = "") -> str:
    return (held or {}).get(forms.slider_key(key), str(st.session_state.get(key, default)))


def take_kov(index: int) -> None:
    """Write the four fields of the simplified theorem into the list, if they are in its domain."""
    item_of_theorem = _attempt(kov_item)
    if item_of_theorem is not None:
        old = items()
        new = [
            replace(item, expression=item_of_theorem.expression) if at == index else item for at, item in enumerate(old)
        ]
        _same(new, index)


def _attempt(make: Callable[[], Any]) -> Any:
    """Return a result, or None if the library rejects the input; the page shows the reason beside the fields."""
    try:
        return make()
    except DpcoreError:
        return None
