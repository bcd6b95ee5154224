"""Markdown with formulas and figures: read when the site is planned, rendered when its figures are drawn."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from dpcore.files.documents import DocumentError
from dpcore.site.dialect import reader, values_in
from dpcore.site.labels import Label, labels_of
from dpcore.site.writer import Heading, Values, Writer, plain_heading, slug
from dpcore.specs import Spec, SpecError, block
from dpcore.specs.reading import FENCE, unique

if TYPE_CHECKING:
    from pathlib import Path

    from markdown_it.token import Token


__all__ = [
    "Heading",
    "Text",
    "Values",
    "Writer",
    "computed",
    "first_sentence",
    "plain_heading",
    "read",
    "reader",
    "slug",
]

READ_LATER: Final = ("caption", "text", "source", "place", "differs")
"""Keys of a figure that readers see as sentences; the title, a name, is written when the figure is read."""


@dataclass(frozen=True)
class Text:
    """A parsed Markdown text.

    Attributes
    ----------
    file, folder : str or Path
        Its file, for messages, and the folder for the files of its figures.
    title : str
        Its first heading, if it has level 1.
    summary : str
        Its first paragraph in Markdown.
    tokens : tuple of Token
        The rest, with headings shifted so that the highest has level 2.
    figures : tuple of Spec
        The specs of its figure blocks.
    labels : mapping of str to Label
        What can be referred to, by name: ``fig:budget``, ``eq:main``.
    line : int, default 1
        The line of the summary.
    """

    file: str
    folder: Path
    title: str
    summary: str
    tokens: tuple[Token, ...]
    figures: tuple[Spec, ...]
    labels: Mapping[str, Label] = field(default_factory=dict)
    line: int = 1

    @property
    def images(self) -> tuple[str, ...]:
        """The names of the image files that it shows."""
        tokens = [token.meta["image"] for token in self.tokens if "image" in token.meta]
        tokens += [child for token in self.tokens for child in token.children or [] if child.type == "image"]
        return tuple(dict.fromkeys(str(token.attrGet("src") or "") for token in tokens))

    def line_of(self, link: str) -> int:
        """Return the line of the first link that is written as this one on the page; 0 if there is none."""
        links = (child for token in self.tokens for child in token.children or [] if child.type == "link_open")
        lines = (child.meta.get("line", 0) for child in links if page_link(str(child.attrGet("href") or "")) == link)
        return int(next(lines, 0))


def page_link(target: str) -> str:
    """Return a link of a text as it is written on its page: .md and .toml files are pages there, other links stay."""
    name, mark, anchor = target.partition("#")
    if name.endswith((".md", ".toml")):
        name = name.rsplit(".", 1)[0] + ".html"
    return f"{name}{mark}{anchor}"


def read(
    text: str,
    *,
    file: str,
    folder: Path,
    prefix: str = "",
    lead: bool = True,
    above: int = 0,
    values: Values | None = None,
) -> Text:
    """Read a Markdown text.

    Parameters
    ----------
    text : str
        The Markdown.
    file, folder : str or Path
        Its file, for messages, and the folder for the files of its figures.
    above : int, default 0
        The number of lines of the file before the text.
    prefix : str, default ""
        Prefix of the names of its figures, so that they are unique on a site.
    lead : bool, default True
        Whether the first paragraph is the summary, which is shown apart.
    values : Values, optional
        Computes values of figure blocks; without it a text has none.

    Returns
    -------
    Text
        The parsed text.
    """
    try:
        tokens = reader().parse(text)
    except DocumentError as error:
        msg = f"{file}, line {above + error.line}: {error}"
        raise SpecError(msg) from None
    _number(tokens, above)
    _at_the_margin(tokens, file)
    if values is not None:
        _alone(tokens, file)
    title, tokens = _title(tokens, file)
    line = tokens[0].meta.get("line", 1) if tokens else 1
    summary, tokens = _lead(tokens, file, values) if lead else ("", tokens)
    figures = tuple(_figures(tokens, file, folder, prefix, values))
    named = unique(figures)
    shifted = tuple(_shifted(tokens))
    return Text(file, folder, title, summary, shifted, named, labels_of(shifted, named, prefix, file), line)


def _number(tokens: list[Token], above: int) -> None:
    """Record the line of each token in the file, for messages."""
    for token in tokens:
        if token.map is None:
            continue
        line = above + token.map[0] + 1
        token.meta = {**token.meta, "line": line}
        for child in token.children or []:
            child.meta = {**child.meta, "line": line}
            line += child.type in ("softbreak", "hardbreak")


def _at_the_margin(tokens: list[Token], file: str) -> None:
    """Refuse indented lines, which would be shown as code; docstrings, which have them, are read by others."""
    for token in tokens:
        if token.type == "code_block":
            words = "an indented line would be shown as code; begin it at the margin, or write code between lines ```."
            msg = f"{file}, line {token.meta['line']}: {words}"
            raise SpecError(msg)


def _alone(tokens: list[Token], file: str) -> None:
    """Refuse references to pages of a site in a report, which has one page."""
    for child in (child for token in tokens for child in token.children or []):
        if child.type == "reference":
            msg = f"{file}, line {child.meta['line']}: {child.content[:60]!r} names a page of a site, and a report has none; write [words](address)."
            raise SpecError(msg)


def _title(tokens: list[Token], file: str) -> tuple[str, list[Token]]:
    """Return the title and the rest; a second title would move all headings a level down."""
    if len(tokens) > 2 and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
        for token in tokens[3:]:
            if token.type == "heading_open" and token.tag == "h1":
                msg = (
                    f"{file}, line {token.meta.get('line', 1)}: the text has a title already; a section starts with ##."
                )
                raise SpecError(msg)
        return tokens[1].content, tokens[3:]
    return "", tokens


def _lead(tokens: list[Token], file: str, values: Values | None) -> tuple[str, list[Token]]:
    """Return the first paragraph, if the text starts with one, and the rest; rendering it here reports errors in this file.

    A paragraph with references, citations or footnotes stays in the text, which knows them.
    """
    if len(tokens) <= 2 or tokens[0].type != "paragraph_open":
        return "", tokens
    if any(child.type in ("crossref", "citation", "footnote_ref") for child in tokens[1].children or []):
        return "", tokens
    Writer(file, values=values).render([tokens[1]])
    return tokens[1].content, tokens[3:]


def _figures(tokens: list[Token], file: str, folder: Path, prefix: str, values: Values | None) -> list[Spec]:
    specs: list[Spec] = []
    for token in tokens:
        if token.type == "fence" and token.info.strip() == FENCE:
            line = token.meta["line"] + 1
            spec = block(token.content, file=file, line=line, folder=folder, name=f"figure-{len(specs) + 1}")
            table = {key: computed(value, key, spec, values) for key, value in spec.table.items()}
            named = replace(spec, table={**table, "name": f"{prefix}{spec.name}"})
            token.meta = {**token.meta, "figure": named.name}
            specs.append(named)
    return specs


def computed(value: Any, key: str, spec: Spec, values: Values | None) -> Any:
    """Return a value of a figure block with its computed values in full; texts for readers keep theirs for later."""
    if isinstance(value, Mapping):
        return {name: computed(inner, key, spec, values) for name, inner in value.items()}
    if isinstance(value, list):
        return [computed(item, key, spec, values) for item in value]
    if not isinstance(value, str) or key in READ_LATER or "{{" not in value:
        return value
    if values is None:
        spec.fail("computed values work in reports only.", key)
    parts, at = [], 0
    for match in values_in(value):
        parts += [
            value[at : match.start()],
            values(match[1], spec.line_of(key), "words" if key == "title" else "exact"),
        ]
        at = match.end()
    return "".join(parts) + value[at:]


def _shifted(tokens: list[Token]) -> list[Token]:
    """Return the tokens with headings shifted so that the highest has level 2."""
    levels = [int(token.tag[1]) for token in tokens if token.type == "heading_open"]
    move = 2 - min(levels, default=2)
    moved = []
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            moved.append(token.copy(tag=f"h{min(6, int(token.tag[1]) + move)}"))
        else:
            moved.append(token)
    return moved


def first_sentence(text: Text) -> str:
    """Return the first sentence of the first paragraph, for lists of pages."""
    for token, inner in zip(text.tokens, text.tokens[1:], strict=False):
        if token.type == "paragraph_open" and token.level == 0:
            return re.split(r"(?<=[.!?])\s", inner.content, maxsplit=1)[0].replace("\n", " ")
    return ""
