"""Citations of a report, from a file of references: Pandoc reads it and writes them, author and year."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from dpcore.core.errors import DpcoreError
from dpcore.files.documents import bytes_of
from dpcore.files.paths import existing, link
from dpcore.language.problems import nearest, quoted
from dpcore.site.dialect import reader
from dpcore.site.latex import check as check_latex
from dpcore.site.report.tools import pandoc
from dpcore.specs import SpecError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from markdown_it.token import Token

    from dpcore.site.report.document import Document

MOST_BYTES: Final = 2_000_000
_KEY: Final = re.compile(r"@([A-Za-z0-9_][\w:.#%&+?<>~/-]*)")
_DOTLESS: Final = re.compile("ı(?=[\u0300-\u036f])")  # of \'\i in a file of references: no font joins the two
_ENTRY: Final = re.compile(r"\s*@\w+\s*\{\s*([^\s,{}]*)")
_OPENING: Final = re.compile(r"(?<!\\)\{")
_CLOSING: Final = re.compile(r"(?<!\\)\}")
_CLEAN: Final = ("Para", "Plain", "Emph", "Strong", "Superscript", "Subscript", "SmallCaps", "Strikeout", "Underline")
_INLINE: Final = {
    "Emph": "em",
    "Strong": "strong",
    "Superscript": "sup",
    "Subscript": "sub",
    "SmallCaps": "span",
    "Span": "span",
}


@dataclass(frozen=True)
class Citations:
    """The citations of a report as they are written.

    Attributes
    ----------
    inlines : mapping of str to list
        The text between the brackets, or the key of a citation within a sentence, to what Pandoc wrote for it.
    bibliography : list
        The blocks of the list of references.
    """

    inlines: Mapping[str, list[Any]] = field(default_factory=dict)
    bibliography: tuple[Any, ...] = ()

    @property
    def html(self) -> dict[str, str]:
        """Each citation as HTML."""
        return {text: inline_html(inlines) for text, inlines in self.inlines.items()}

    @property
    def bibliography_html(self) -> str:
        """The list of references as HTML, with its heading."""
        entries = [block for block in self.bibliography if block["t"] == "Div"]
        if not entries:
            return ""
        items = []
        for entry in entries:
            name = html.escape(str(entry["c"][0][0]))
            words = " ".join(inline_html(block["c"]) for block in entry["c"][1] if block["t"] in ("Para", "Plain"))
            items.append(f'<li id="{name}">{words}</li>')
        return f'<h2 id="references">References</h2>\n<ul class="references">\n{"".join(items)}\n</ul>\n'


def citations_of(document: Document) -> Citations:
    """Return the citations of a report; an unknown key is an error with file and line.

    Parameters
    ----------
    document : Document
        The report; without a bibliography its text must hold no citation, which the writer checks.

    Returns
    -------
    Citations
        Empty if the report names no bibliography.
    """
    front, file = document.front, document.source.name
    place = f"{file}, line {front.lines.get('bibliography', 1)}"
    if not front.bibliography:
        return Citations()
    if not front.bibliography.endswith(".bib"):
        msg = f"{place}: bibliography is a file that ends in .bib, got {quoted(front.bibliography, 60)}."
        raise SpecError(msg)
    references = b""
    try:
        references = bytes_of(existing(document.folder, front.bibliography), MOST_BYTES)
        entries = json.loads(pandoc(["-f", "biblatex", "-t", "csljson"], references))
    except DpcoreError as error:
        msg = f"{place}: bibliography: {_broken_entry(references, front.bibliography) or error}"
        raise SpecError(msg) from None
    keys = {str(entry["id"]) for entry in entries}
    clusters: dict[str, int] = {}
    for token, line in _citations(document):
        clusters.setdefault(token.content, line)
        sign = "" if "@" in token.content else r" A sign that cites nothing is written \@."
        for key in _KEY.findall(token.content) if "@" in token.content else (token.content,):
            plain = key.rstrip(".:,")
            if plain not in keys:
                msg = f"{file}, line {line}: {front.bibliography} has no reference {quoted(plain)}; {nearest(plain, keys) or _listed(keys)}{sign}"
                raise SpecError(msg)
    return _written(list(clusters), references)


def _broken_entry(references: bytes, name: str) -> str:
    """Say where the braces of a file of references do not match; empty if they do."""
    depth = start = 0
    key = ""
    for number, line in enumerate(references.decode("utf-8", "replace").splitlines(), 1):
        entry = _ENTRY.match(line)
        if entry and depth:
            break
        if entry:
            start, key = number, entry[1]
        depth = max(0, depth + len(_OPENING.findall(line)) - len(_CLOSING.findall(line)))
    return f"{name}, line {start}: the entry {key[:60]} has a {{ without its }}." if depth else ""


def _listed(keys: set[str]) -> str:
    return f"it has {', '.join(sorted(keys)[:20])}." if keys else "no reference was found in it."


def _citations(document: Document) -> Iterator[tuple[Token, int]]:
    """Yield the citations of the summary, the text, the captions and the claims, in their order, each with its line."""
    captions = {spec.name: spec for spec in document.text.figures}
    yield from _of_words(document.front.summary, document.front.lines.get("summary", 1))
    for token in document.text.tokens:
        line = token.meta.get("line", 1)
        for child in token.children or []:
            if child.type == "citation":
                yield child, child.meta.get("line", line)
        if (spec := captions.get(token.meta.get("figure", ""))) is not None:
            yield from _of_words(str(spec.get("caption", "")), spec.line_of("caption"))
        if (claim := token.meta.get("claim")) is not None:
            yield from _of_words(claim.text, line)


def _of_words(text: str, line: int) -> Iterator[tuple[Token, int]]:
    """Yield the citations of a text of its own."""
    for token in reader().parse(text) if "@" in text else []:
        yield from ((child, line) for child in token.children or [] if child.type == "citation")


def _written(clusters: list[str], references: bytes) -> Citations:
    """Let Pandoc write all citations, each a paragraph of its own, and the list of references after them."""
    text = "\n\n".join(f"[{' '.join(one.split())}]" if "@" in one else f"@{one}" for one in clusters)
    options = ["-f", "markdown-raw_html-raw_tex-tex_math_dollars-smart", "-t", "json", "--citeproc"]
    options += ["--bibliography=references.bib", "--metadata=link-citations:true"]
    blocks = harmless(json.loads(pandoc(options, text.encode(), {"references.bib": references}))["blocks"])
    paragraphs = [block["c"] for block in blocks if block["t"] == "Para"][: len(clusters)]
    lists = [block["c"][1] for block in blocks if block["t"] == "Div" and block["c"][0][0] == "refs"]
    return Citations(dict(zip(clusters, map(_unwrapped, paragraphs), strict=True)), tuple(lists[0]) if lists else ())


def harmless(nodes: list[Any]) -> list[Any]:
    """Return what Pandoc made of a file of references as words only: no TeX that runs, no picture, only links to pages.

    The reader of references hands the commands of TeX that it does not know, and those for pictures, on to the document.
    """
    return [clean for node in nodes for clean in _harmless(node)]


def _harmless(node: Any) -> list[Any]:  # noqa: PLR0911  # one for each kind of element
    kind, content = node["t"], node.get("c")
    if kind == "Str":
        return [{"t": kind, "c": unicodedata.normalize("NFC", _DOTLESS.sub("i", content))}]
    if kind in ("Space", "SoftBreak", "LineBreak"):
        return [node]
    if kind in _CLEAN:
        return [{"t": kind, "c": harmless(content)}]
    if kind in ("Span", "Div"):
        return [{"t": kind, "c": [[content[0][0], content[0][1], []], harmless(content[1])]}]
    if kind in ("Quoted", "Cite"):
        return [{"t": kind, "c": [content[0] if kind == "Quoted" else [], harmless(content[1])]}]
    try:
        if kind == "Link":
            return [{"t": kind, "c": [["", [], []], harmless(content[1]), [link(str(content[2][0])), ""]]}]
        if kind == "Math":
            check_latex(content[1])
            return [node]
    except DpcoreError:
        return harmless(content[1]) if kind == "Link" else [{"t": "Str", "c": str(content[1])}]
    if kind == "Image":
        return harmless(content[1])
    return [{"t": "Str", "c": str(content[-1])}] if kind in ("RawInline", "Code") else []


def _unwrapped(inlines: list[Any]) -> list[Any]:
    """Return what was written for a citation, without the record of the citation itself."""
    return [inner for one in inlines for inner in (one["c"][1] if one["t"] == "Cite" else [one])]


def inline_html(inlines: list[Any]) -> str:
    """Return what Pandoc wrote within a line as HTML; anything unknown is written as its text."""
    return "".join(_html(one) for one in inlines)


def _html(one: Any) -> str:  # noqa: PLR0911  # one for each kind of element
    kind, content = one["t"], one.get("c")
    if kind == "Str":
        return html.escape(content)
    if kind in ("Space", "SoftBreak", "LineBreak"):
        return " "
    if kind == "Quoted":
        marks = ("“", "”") if content[0]["t"] == "DoubleQuote" else ("‘", "’")
        return f"{marks[0]}{inline_html(content[1])}{marks[1]}"
    if kind == "Link":
        try:
            target = link(str(content[2][0]))
        except DpcoreError:
            return inline_html(content[1])
        return f'<a href="{html.escape(target)}">{inline_html(content[1])}</a>'
    if kind in _INLINE:
        inner = content[1] if kind == "Span" else content
        return f"<{_INLINE[kind]}>{inline_html(inner)}</{_INLINE[kind]}>"
    if kind == "Cite":
        return inline_html(content[1])
    return html.escape(str(content)) if isinstance(content, str) else ""
