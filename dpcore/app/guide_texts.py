"""The guide's texts: their order, their parts (headings, Markdown, code, pictures) and how to show them."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

import streamlit as st

from dpcore.app import figure, page, work
from dpcore.specs import Spec, figures_in
from dpcore.specs.references import Reference, replaced
from dpcore.specs.sections import with_sections

if TYPE_CHECKING:
    from collections.abc import Iterator

_FENCED: Final = re.compile(r"^(?P<fence>`{3,})[^\n]*\n.*?^(?P=fence)[ \t]*$|^### [^\n]+$", re.MULTILINE | re.DOTALL)
_FIGURE: Final = re.compile(r"^```[ \t]*figure[ \t]*\n.*?^```[ \t]*$", re.MULTILINE | re.DOTALL)
_HEADING: Final = "### "


@dataclass(frozen=True)
class Chapter:
    """Texts that belong together."""

    title: str
    texts: tuple[str, ...]


@dataclass(frozen=True)
class GuidePart:
    """A piece of a text: a heading, a passage of Markdown, code (or its output) or a picture."""

    heading: str = ""
    markdown: str = ""
    code: str = ""
    spec: Spec | None = None

    @property
    def anchor(self) -> str:
        """The anchor of the heading."""
        return anchor(self.heading)


def anchor(heading: str) -> str:
    """Return the anchor of a heading: lower-case words joined by hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-") or "part"


@lru_cache(maxsize=1)
def _order() -> dict[str, Any]:
    return tomllib.loads((page.data_folder() / "guide" / "order.toml").read_text(encoding="utf-8"))


def chapters() -> tuple[Chapter, ...]:
    """Return the chapters in order, from data/guide/order.toml."""
    return tuple(Chapter(one["title"], tuple(one["texts"])) for one in _order()["chapter"])


def titles() -> dict[str, str]:
    """Return the title of every text by its name, in the order of the chapters."""
    named = _order()["title"]
    return {name: named[name] for chapter in chapters() for name in chapter.texts}


def _in_app(one: Reference) -> str:
    """Return the Markdown for a reference: a link to a text of the guide or a page, otherwise the words or the name."""
    if one.kind in ("", "text") and one.name in titles():
        title = titles()[one.name]
        return f"[{one.words or title}](Guide?{urlencode({'guide_text': title})})"
    if one.kind == "page":
        return f"[{one.words or one.name.replace('_', ' ')}]({one.name})"
    return one.words or f"`{one.name}`"


@lru_cache(maxsize=64)
def _read(name: str) -> tuple[str, tuple[Spec, ...]]:
    """Return a text and its pictures."""
    folder = page.data_folder() / "guide"
    file = folder / f"{name}.md"
    text = replaced(with_sections(file, file.read_text(encoding="utf-8")), _in_app)
    return text, figures_in(text, file=f"{name}.md", folder=folder)


def _pieces(text: str) -> Iterator[str]:
    """Yield headings, blocks and what stands between them; a block ends at a fence as long as its first."""
    end = 0
    for match in _FENCED.finditer(text):
        yield text[end : match.start()]
        yield match[0]
        end = match.end()
    yield text[end:]


@lru_cache(maxsize=64)
def parts(name: str) -> tuple[GuidePart, ...]:
    """Return the pieces of a text in order."""
    text, specs = _read(name)
    remaining = iter(specs)
    pieces = []
    for piece in _pieces(text):
        if piece.startswith(_HEADING):
            pieces.append(GuidePart(heading=piece.removeprefix(_HEADING).strip()))
        elif piece.startswith("```") and piece.split("\n", maxsplit=1)[0].strip("` \t") == "figure":
            pieces.append(GuidePart(spec=next(remaining)))
        elif piece.startswith("```"):
            pieces.append(GuidePart(code=piece.split("\n", maxsplit=1)[1].rpartition("\n")[0].rstrip()))
        elif piece.strip():
            pieces.append(GuidePart(markdown=piece.strip()))
    return tuple(pieces)


def headings(name: str) -> list[str]:
    """Return the headings of a text."""
    return [part.heading for part in parts(name) if part.heading]


def show_text(name: str) -> None:
    """Show a text with linkable headings, code to copy, and its pictures with their table, files and code."""
    for part in parts(name):
        if part.heading:
            st.subheader(part.heading, anchor=part.anchor)
        elif part.spec is not None:
            _show_picture(part.spec, name)
        elif part.code:
            st.code(part.code, language=None, wrap_lines=True)  # syntax colours are too pale to read
        else:
            st.markdown(figure.unbroken(part.markdown))


def show_inside(name: str) -> None:
    """Show a text inside an expander: plain Markdown, and pictures without their row."""
    show_pieces(*_read(name), name)


def show_pieces(text: str, specs: tuple[Spec, ...], name: str, *, store: work.ResultCache | None = None) -> None:
    """Show Markdown with its pictures, without their row.

    Parameters
    ----------
    text : str
        Markdown with figure blocks.
    specs : tuple of Spec
        The figures, in order.
    name : str
        Name of the text in keys.
    store : ResultCache, optional
        Where results are kept: the visitor's own cache for uploaded data.
    """
    for index, piece in enumerate(_FIGURE.split(text)):
        if piece.strip():
            st.markdown(figure.unbroken(piece))
        if index < len(specs):
            _show_picture(specs[index], name, row=False, store=store)


def _show_picture(spec: Spec, name: str, *, row: bool = True, store: work.ResultCache | None = None) -> None:
    st.markdown(f"**{figure.plain(str(spec['title']))}**")
    # a text has several pictures, each with its own Stop
    key, words = f"guide_{name}_{spec.name}", f"Drawing: {spec['title']}"
    if figure.picture_of(spec, key=key, words=words, store=store) and row:
        figure.offer(spec, key=key, link=False)
    if spec.get("caption"):
        st.caption(figure.plain(str(spec["caption"])))


def contents(name: str) -> str:
    """Return the table of contents of a text as Markdown links; empty if it has at most one heading."""
    pieces = headings(name)
    lines = [f"- [{figure.plain(one.replace('`', ''))}](#{anchor(one)})" for one in pieces]
    return "\n".join(lines) if len(pieces) > 1 else ""
