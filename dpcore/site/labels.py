"""What a text can refer to: figures, tables, formulas and headings, numbered in their order."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dpcore.language.problems import nearest
from dpcore.specs import SpecError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from markdown_it.token import Token

    from dpcore.specs import Spec

TABLES: Final = ("table", "convert", "calibrate", "interval")
"""Kinds of figures that are tables: they have a number among the tables."""

_WORDS: Final = {"fig": "Figure", "tbl": "Table", "eq": "Equation", "sec": "Section"}


@dataclass(frozen=True)
class Label:
    """Something with a name.

    Attributes
    ----------
    kind : str
        ``fig``, ``tbl``, ``eq`` or ``sec``.
    number : int
        Its place among those of its kind; 0 for a heading.
    id : str
        Its id on the page.
    title : str, default ""
        The text of a heading, or the title of a figure.
    """

    kind: str
    number: int
    id: str
    title: str = ""

    def words(self, *, numbered: bool = True) -> str:
        """Return the text of a reference."""
        if self.kind == "sec":
            return f"“{self.title}”"
        if not numbered and self.title:
            return f"“{self.title}”"
        number = f"({self.number})" if self.kind == "eq" else str(self.number)
        return f"{_WORDS[self.kind]} {number}"


def labels_of(tokens: Sequence[Token], figures: Sequence[Spec], prefix: str, file: str) -> Mapping[str, Label]:
    """Return everything in a text that has a number, by name; what has no name gets one that nobody can write.

    Parameters
    ----------
    tokens : sequence of Token
        The text.
    figures : sequence of Spec
        Its figure blocks, in order.
    prefix : str
        Prefix of the names of the figures.
    file : str
        For messages.

    Returns
    -------
    mapping of str to Label
        By ``fig:name`` and the like.
    """
    counts = dict.fromkeys(_WORDS, 0)
    labels: dict[str, Label] = {}
    specs = {spec.name: spec for spec in figures}
    taken = {*specs}  # ids: a heading or a formula may have the name of a figure

    def add(name: str, kind: str, token: Token, own: str, title: str = "") -> None:
        counts[kind] += kind != "sec"
        key = name or f" {kind}{counts[kind]}"
        token.meta = {**token.meta, "key": key}
        if key in labels:
            msg = f"{file}, line {token.meta.get('line', 1)}: the name {key} is taken already."
            raise SpecError(msg)
        free = own if "figure" in token.meta else _free(own or f"{kind}-{counts[kind]}", taken)
        labels[key] = Label(kind, counts[kind], free, title)

    for place, token in enumerate(tokens):
        if "figure" in token.meta:
            spec = specs[token.meta["figure"]]
            kind = "tbl" if spec.get("draw") in TABLES else "fig"
            add(f"{kind}:{spec.name.removeprefix(prefix)}", kind, token, spec.name, str(spec.get("title", "")))
        elif token.type == "figure_image_open":
            add(token.meta["label"], "fig", token, token.meta["label"].replace(":", "-"))
        elif token.type == "table_open" and token.meta.get("captioned"):
            add(token.meta["label"], "tbl", token, token.meta["label"].replace(":", "-"))
        elif token.type == "math_block_label":
            add(token.info, "eq", token, token.info.replace(":", "-"))
        elif token.type == "heading_open" and token.meta.get("label"):
            label = token.meta["label"]
            add(label, "sec", token, label.partition(":")[2], tokens[place + 1].content)
    return labels


def unknown_label(name: str, labels: Mapping[str, Label]) -> str:
    """Say that nothing has this name, and which one may be meant: the same name of another kind first."""
    own = name.partition(":")[2]
    alike = next((other for other in labels if other.partition(":")[2] == own), None)
    hint = f"did you mean {alike}?" if alike else nearest(name, labels)
    known = f"there are {', '.join(sorted(labels))}." if labels else "nothing here has a name."
    return f"there is no {name!r} to refer to; {hint or known}"


def check_references(tokens: Iterable[Token], labels: Mapping[str, Label], file: str) -> None:
    """Refuse references that lead nowhere before anything is drawn."""
    for token in tokens:
        for child in token.children or []:
            if child.type == "crossref" and child.content not in labels:
                line = child.meta.get("line", token.meta.get("line", 1))
                msg = f"{file}, line {line}: {unknown_label(child.content, labels)}"
                raise SpecError(msg)


def _free(name: str, taken: set[str]) -> str:
    """Return a name that no other id has, and take it."""
    # one of that many names is free
    numbered = (name if count == 1 else f"{name}-{count}" for count in itertools.count(1))
    free = next(one for one in numbered if one not in taken)
    taken.add(free)
    return free
