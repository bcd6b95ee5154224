"""A list of regions as a single text, as carried by a link.

Items are joined by ``;``. An item is an expression, optionally named and hidden: ``!name := expression``. Inside an
expression ``@name`` stands for another item of the list, so an intersection or product follows its parents.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dpcore.charts import theme
from dpcore.core.errors import DomainError, DpcoreError
from dpcore.language import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from dpcore.regions.tradeoff import TradeOff

MOST_ITEMS = 24
LONGEST_LINK = 8000
LONGEST_TEXT = 65536
LONGEST_EXPANDED = 16384
_NAME = re.compile(r"[\w .,'+-]{1,60}", re.UNICODE)
_REFERENCE = re.compile(r"@([A-Za-z_]\w*)")
_LETTER = re.compile(r"[A-Z]\d?")
MOST_LETTERS = 60


@dataclass(frozen=True, slots=True)
class Item:
    """One item of the list: an expression, its name ('' for none) and whether it is hidden."""

    expression: str
    name: str = ""
    hidden: bool = False

    def __str__(self) -> str:
        """Return the item as the list writes it."""
        mark = "!" if self.hidden else ""
        return f"{mark}{self.name} := {self.expression}" if self.name else f"{mark}{self.expression}"


@dataclass(frozen=True, slots=True)
class Resolved:
    """An item with its region, or with a sentence that says why it has none."""

    item: Item
    label: str
    region: TradeOff | None
    error: str = ""


def read(text: str) -> list[Item]:
    """Return the items in a list text; empty parts are left out, and an unreadable one is an error."""
    items, complaints = read_leniently(text)
    if complaints:
        raise DomainError(complaints[0])
    return items


def read_leniently(text: str) -> tuple[list[Item], list[str]]:
    """Return the readable items and sentences about the others, so that a page can show both."""
    if len(text) > LONGEST_TEXT:
        return [], [f"The list has {len(text)} characters; at most {LONGEST_TEXT} are read."]
    items, complaints = [], []
    for part in _split(text):
        body = part.strip()
        hidden = body.startswith("!")
        body = body[1:].strip() if hidden else body
        name, match, rest = body.partition(":=")
        expression = rest.strip() if match else body
        try:
            name = checked_name(name) if match else ""
        except DomainError as error:
            complaints.append(str(error))
            name = ""
        if expression:
            items.append(Item(expression, name, hidden))
    if len(items) > MOST_ITEMS:
        complaints.append(f"A list holds at most {MOST_ITEMS} regions, got {len(items)}; the others are left out.")
    return items[:MOST_ITEMS], complaints


def _split(text: str) -> list[str]:
    """Split at semicolons outside double quotes."""
    parts, start, quoted = [], 0, False
    for match in re.finditer('[;"]', text):
        if match[0] == '"':
            quoted = not quoted
        elif not quoted:
            parts.append(text[start : match.start()])
            start = match.end()
    return [*parts, text[start:]]


def write(items: Iterable[Item]) -> str:
    """Return the list as one text."""
    return "; ".join(str(item) for item in items)


def checked_name(name: str) -> str:
    """Return a valid name for the list, or say what a name may contain."""
    name = name.strip()
    if name and not _NAME.fullmatch(name):
        msg = f"A name has up to 60 letters, digits, spaces or . , ' + -, got {name[:40]!r}."
        raise DomainError(msg)
    return name


def labels(items: Sequence[Item]) -> list[str]:
    """Return one distinct label per item: its name, its expression, or both where the name is only a letter."""
    out: list[str] = []
    for item in items:
        base = label = _label(item)
        count = 1
        while label in out:  # one of this many labels is free
            count += 1
            label = f"{base} ({count})"
        out.append(label)
    return out


def _label(item: Item) -> str:
    expression = theme.short(item.expression, MOST_LETTERS)
    return f"{item.name}: {expression}" if _LETTER.fullmatch(item.name) else item.name or expression


def expand(expression: str, items: Sequence[Item]) -> str:
    """Return the expression with every @name replaced by that item's expression in brackets.

    Its length is computed before anything is inserted: definitions that blow up are rejected at once.
    """
    by_name = {item.name: item.expression for item in items if item.name}
    length = _length(expression, by_name, {}, ())
    if length > LONGEST_EXPANDED:
        msg = f"The expression has {length} characters with its parts put in; at most {LONGEST_EXPANDED} are read."
        raise DomainError(msg)
    return _with_parts(expression, by_name)


def _with_parts(expression: str, by_name: Mapping[str, str]) -> str:
    return _REFERENCE.sub(lambda match: f"({_with_parts(by_name[match[1]], by_name)})", expression)


def _length(expression: str, by_name: Mapping[str, str], known: dict[str, int], above: tuple[str, ...]) -> int:
    """Return the length of an expression with its parts inserted; each name is visited once."""
    total = len(expression)
    for match in _REFERENCE.finditer(expression):
        name = match[1]
        if name not in by_name:
            msg = f"The list has no region named {name!r}."
            raise DomainError(msg)
        if name in above:
            msg = "The items of the list refer to each other in a circle."
            raise DomainError(msg)
        if name not in known:
            known[name] = _length(by_name[name], by_name, known, (*above, name))
        total += known[name] + 2 - len(match[0])
    return total


def resolve(items: Sequence[Item], reader: Callable[[str], TradeOff] = parse) -> list[Resolved]:
    """Return every item with its region or its error; one bad item never hides the others."""
    out = []
    for item, label in zip(items, labels(items), strict=True):
        try:
            out.append(Resolved(item, label, reader(expand(item.expression, items))))
        except DpcoreError as error:
            out.append(Resolved(item, label, None, str(error)))
    return out


def named(items: Sequence[Item], places: Iterable[int]) -> tuple[list[Item], list[str]]:
    """Give every chosen item a name that works with @ (letters and digits) and return the list and those names."""
    out = list(items)
    names = []
    for index in places:
        if not _REFERENCE.fullmatch("@" + out[index].name):
            taken = {item.name for item in out}
            letter = next(c for c in map(_letter, range(200)) if c not in taken)
            out[index] = replace(out[index], name=letter)
        names.append(out[index].name)
    return out, names


def _letter(index: int) -> str:
    letter = chr(ord("A") + index % 26)
    return letter if index < 26 else f"{letter}{index // 26}"


def joined(items: Sequence[Item], places: Sequence[int], sign: str) -> list[Item]:
    """Return the list with a new item that joins the chosen ones by & or * and follows its parents."""
    if len(places) < 2:
        msg = f"Choose at least two regions to join with {sign}."
        raise DomainError(msg)
    out, names = named(items, places)
    word = {"&": " and ", "*": " composed with "}[sign]
    name = word.join(names)
    name = name if len(name) <= MOST_LETTERS else f"{len(names)} regions{word.rstrip()}"
    return [*out, Item(f" {sign} ".join(f"@{name}" for name in names), name)]


def renamed(items: Sequence[Item], index: int, name: str) -> list[Item]:
    """Return the list with one item renamed; references to it follow, with a name that works with @."""
    old, new = items[index].name, checked_name(name)
    if any(item.name == new for item in items if new and item is not items[index]):
        msg = f"The list already has a region named {new!r}."
        raise DomainError(msg)
    if old and old in {name for item in items for name in _REFERENCE.findall(item.expression)}:
        new = re.sub(r"\W+", "_", new).strip("_")
        if not _REFERENCE.fullmatch(f"@{new}"):
            msg = f"Others of the list refer to {old!r}, so its new name must start with a letter, got {name[:40]!r}."
            raise DomainError(msg)
        items = [replace(item, expression=_put(item.expression, old, f"@{new}")) for item in items]
    return [replace(item, name=new) if at == index else item for at, item in enumerate(items)]


def without(items: Sequence[Item], index: int) -> list[Item]:
    """Return the list without one item; where others refer to it, its expression takes its place."""
    gone = items[index]
    rest = [item for at, item in enumerate(items) if at != index]
    return [replace(item, expression=_put(item.expression, gone.name, f"({gone.expression})")) for item in rest]


def _put(expression: str, name: str, instead: str) -> str:
    """Return the expression with one reference replaced."""
    return _REFERENCE.sub(lambda match: instead if match[1] == name else match[0], expression)
