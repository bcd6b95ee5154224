"""A report as a document of Pandoc: the same tokens that become HTML, as blocks and inlines of its JSON format.

Pandoc does not read the Markdown again: what was checked is what is written, and no raw HTML or TeX can pass.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from dpcore.core.errors import DpcoreError
from dpcore.files.paths import link
from dpcore.site.dialect import reader
from dpcore.site.images import image_of
from dpcore.site.labels import TABLES
from dpcore.site.latex import check as check_latex
from dpcore.site.report.numbers import COLUMNS
from dpcore.site.report.pandoc_nodes import Node, anchor, attr, header, para, plain_text, strong, table_node, words
from dpcore.site.report.tex import cited, inside_formula, rows_with_tags
from dpcore.site.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from markdown_it.token import Token

    from dpcore.site.figures import RenderedFigure
    from dpcore.site.report.citations import Citations
    from dpcore.site.report.document import Document
    from dpcore.site.tables import Table
    from dpcore.specs import Spec

VERSION: Final = [1, 23, 1]
MOST_ROWS: Final = 60
_SPANS: Final = {"em": "Emph", "strong": "Strong", "s": "Strikeout"}
KERNEL: Final = {"display_name": "Python 3", "language": "python", "name": "python3"}
_CASES: Final = re.compile(r"\\begin\{cases\}.*?\\end\{cases\}", re.DOTALL)
_COLUMN: Final = re.compile(r"(?<!\\)&")  # Typst aligns cases here and leaves no space


class AstWriter:
    """Writes one report as a document of Pandoc.

    Parameters
    ----------
    document : Document
        The report.
    figures : mapping of str to RenderedFigure
        Its figures, drawn.
    citations : Citations
        Its citations, written.
    picture : callable
        Returns the address of a picture from its name, kind and bytes or SVG.
    target : str
        ``typst``, ``docx``, ``latex``, ``gfm`` or ``ipynb``.
    """

    def __init__(
        self,
        document: Document,
        figures: Mapping[str, RenderedFigure],
        citations: Citations,
        picture: Callable[[str, str, bytes], str],
        target: str,
    ) -> None:
        self.document, self.figures, self.citations = document, figures, citations
        self.picture, self.target = picture, target
        self.labels = document.text.labels
        self.specs: dict[str, Spec] = {spec.name: spec for spec in document.text.figures}
        self.place = Writer(document.text.file, values=document.values)  # names the lines of mistakes
        self.place.labels = self.labels
        self.tokens: Sequence[Token] = ()
        self.at = 0
        self.notes: dict[int, list[Node]] = {}

    # ---- the whole ----

    def write(self) -> Node:
        """Return the document."""
        document = self.document
        meta: Node = {"title": {"t": "MetaInlines", "c": words(document.title)}}
        if document.front.authors:
            meta["author"] = {"t": "MetaList", "c": [{"t": "MetaInlines", "c": name} for name in self._authors()]}
        if document.date:
            meta["date"] = {"t": "MetaInlines", "c": words(document.date)}
        if self.target == "typst":  # for our template
            meta["language"] = {"t": "MetaInlines", "c": words(document.front.language.partition("-")[0].lower())}
            meta["compact"] = {"t": "MetaBool", "c": document.front.compact}
        meta["lang"] = {"t": "MetaInlines", "c": words(document.front.language)}
        blocks = self.blocks(document.text.tokens)
        if document.summary:
            self.place.line = document.text.line
            blocks = [para([{"t": "Emph", "c": self.markdown_inlines(document.summary)}]), *blocks]
        if document.logo is not None:
            image = self._image(document.logo.name, document.logo.kind, document.logo.data, "", width="30%")
            blocks = [para([image]), *blocks]
        if self.target == "ipynb":  # a notebook has no place for a title but its first cell
            signed = " · ".join(filter(None, (", ".join(map(plain_text, self._authors())), document.date)))
            blocks = [header(1, words(document.title)), *([para(words(signed))] if signed else []), *blocks]
            kernel = {key: {"t": "MetaString", "c": text} for key, text in KERNEL.items()}
            meta["jupyter"] = {"t": "MetaMap", "c": {"kernelspec": {"t": "MetaMap", "c": kernel}}}
        blocks += self._references() + self._numbers()
        blocks += [para([{"t": "Emph", "c": words(document.stamp.words)}])]
        return {"pandoc-api-version": VERSION, "meta": meta, "blocks": blocks}

    def _authors(self) -> list[list[Node]]:
        """Return the authors, each with an affiliation."""
        authors = self.document.front.authors
        return [words(f"{one.name}{f' ({one.affiliation})' if one.affiliation else ''}") for one in authors]

    def _level(self, level: int) -> int:
        """Return the level of a heading: the title has none, but in a notebook the first."""
        return level if self.target == "ipynb" else max(1, level - 1)

    def _references(self) -> list[Node]:
        entries = [block for block in self.citations.bibliography if block["t"] == "Div"]
        if not entries:
            return []
        if self.in_markdown:
            entries = [block for entry in entries for block in (anchor(entry["c"][0][0]), *entry["c"][1])]
        listed = {"t": "Div", "c": [attr("refs", "references", "csl-bib-body"), entries]}  # what LaTeX has a list for
        return [header(self._level(2), words("References"), "references"), *(entries if self.in_markdown else [listed])]

    def _numbers(self) -> list[Node]:
        rows = self.document.values.rows() if self.document.front.numbers else []
        if not rows:
            return []
        chosen = [COLUMNS.index(name) for name in ("line", "expression", "value", "kind", "theorem")]
        cells = [[self._cell(row[place]) for place in chosen] for row in rows]
        names = [words(COLUMNS[place]) for place in chosen]
        sides = ["Right", "Left", "Right", "Left", "Left"]
        numbers = table_node(names, cells, sides, [], sized=self.target in ("docx", "latex"))
        return [header(self._level(2), words("Numbers in the text"), "numbers-in-the-text"), numbers]

    def _cell(self, text: str) -> list[Node]:
        """Return a cell whose long words may break."""
        return words(text.replace("(", "( ").replace(",", ", ") if len(text) > 30 else text)

    @property
    def in_markdown(self) -> bool:
        """Whether Markdown is written, where only HTML has names."""
        return self.target in ("gfm", "ipynb")

    # ---- blocks ----

    def blocks(self, tokens: Sequence[Token]) -> list[Node]:
        """Return tokens as blocks."""
        outside = self.tokens, self.at
        self.tokens, self.at = tokens, 0
        self._collect_notes()
        blocks = self._until("")
        self.tokens, self.at = outside
        return blocks

    def _collect_notes(self) -> None:
        """Read the footnotes, which are at the end, before the text that names them."""
        place = next((i for i, token in enumerate(self.tokens) if token.type == "footnote_block_open"), None)
        if place is None:
            return
        tail, self.tokens = self.tokens[place + 1 : -1], self.tokens[:place]
        start = 0
        for index, token in enumerate(tail):
            if token.type == "footnote_close":
                inner = [one for one in tail[start + 1 : index] if one.type != "footnote_anchor"]
                self.notes[tail[start].meta["id"]] = AstWriter.blocks(self, inner)
                start = index + 1

    def _until(self, end: str) -> list[Node]:
        blocks: list[Node] = []
        while self.at < len(self.tokens):  # takes one token per pass
            token = self.tokens[self.at]
            self.at += 1
            if token.type == end:
                return blocks
            self.place.line = token.meta.get("line", self.place.line)
            blocks += self._block(token)
        return blocks

    def _block(self, token: Token) -> list[Node]:  # noqa: PLR0911  # one for each kind of token
        kind = token.type
        if kind == "paragraph_open":
            inner = self._inline_of("paragraph_close")
            return [para(inner, "Plain" if token.hidden else "Para")]
        if kind == "heading_open":
            label = self.labels.get(token.meta.get("label", ""))
            level, text = self._level(int(token.tag[1])), self._inline_of("heading_close")
            if label and self.in_markdown:  # whose headings have no names of their own
                return [header(level, [{"t": "Span", "c": [attr(label.id), text]}])]
            return [header(level, text, label.id if label else "")]
        if kind in ("bullet_list_open", "ordered_list_open"):
            return [self._list(kind, int(token.attrGet("start") or 1))]
        if kind == "blockquote_open":
            return [{"t": "BlockQuote", "c": self._until("blockquote_close")}]
        if kind in ("fence", "code_block"):
            return self._fence(token)
        if kind == "hr":
            return [{"t": "HorizontalRule"}]
        if kind == "table_open":
            return self._table(token)
        if kind.startswith("math_block"):
            return self._equation(token)
        if kind == "figure_image_open":
            self._until("figure_image_close")
            return [self._figure_image(token)]
        return []

    def _inline_of(self, end: str) -> list[Node]:
        inner = self.tokens[self.at]
        self.at += 1
        inlines = self.inlines(inner.children or [])
        self._until(end)
        return inlines

    def _list(self, kind: str, start: int) -> Node:
        end = kind.replace("_open", "_close")
        items: list[list[Node]] = []
        while self.tokens[self.at].type != end:  # takes one token per pass, at least
            self.at += 1
            items.append(self._until("list_item_close"))
        self.at += 1
        if kind == "bullet_list_open":
            return {"t": "BulletList", "c": items}
        return {"t": "OrderedList", "c": [[start, {"t": "Decimal"}, {"t": "Period"}], items]}

    def _fence(self, token: Token) -> list[Node]:
        if "figure" in token.meta:
            return self._figure(self.specs[token.meta["figure"]])
        if "claim" in token.meta:
            claim = token.meta["claim"]
            checked = words(f"Checked when this report was built: {claim.words}")
            return [{"t": "BlockQuote", "c": [*self.markdown(claim.text), para([{"t": "Emph", "c": checked}])]}]
        language = token.info.strip().split(" ")[0]
        return [{"t": "CodeBlock", "c": [attr("", *([language] if language else [])), token.content.rstrip("\n")]}]

    def _equation(self, token: Token) -> list[Node]:
        latex = self.place.latex(token.content).strip()
        label = self.labels.get(token.info) if token.type == "math_block_label" else None
        self._check_math(latex)
        if self.target == "latex" and (rows := rows_with_tags(latex)):
            block = {"t": "RawBlock", "c": ["latex", rows]}
            return [{"t": "Div", "c": [attr(label.id if label else ""), [block]]}]
        if label is None:
            return [para([self._math(latex, display=True)])]
        number = f"({label.number})"
        if self.target == "docx":
            return [para([self._math(rf"{latex}\qquad {number}", display=True)])]
        if self.target == "typst":
            blocks = [
                {"t": "RawBlock", "c": ["typst", f"#numbered({label.number})["]},
                para([self._math(latex, display=True)]),
                {"t": "RawBlock", "c": ["typst", "]"]},
            ]
        else:
            blocks = [para([self._math(rf"{latex} \tag{{{label.number}}}", display=True)])]
        return [anchor(label.id), *blocks] if self.in_markdown else [{"t": "Div", "c": [attr(label.id), blocks]}]

    def _math(self, latex: str, *, display: bool) -> Node:
        if self.target == "typst":
            latex = _CASES.sub(lambda match: _COLUMN.sub(r"&\\quad ", match[0]), latex)
        elif self.target != "docx":
            latex = inside_formula(latex)
        return {"t": "Math", "c": [{"t": "DisplayMath" if display else "InlineMath"}, latex.strip()]}

    def _check_math(self, latex: str) -> None:
        try:
            check_latex(latex)
        except DpcoreError as error:
            self.place.fail(str(error))

    def _table(self, token: Token) -> list[Node]:
        caption: list[Node] = []
        label = self.labels.get(token.meta.get("key", ""))
        rows: list[list[list[Node]]] = []
        sides: list[str] = []
        while self.tokens[self.at].type != "table_close":  # takes one token per pass
            one = self.tokens[self.at]
            self.at += 1
            if one.type == "table_caption_open":
                caption = self._inline_of("table_caption_close")
            elif one.type == "tr_open":
                rows.append([])
            elif one.type in ("th_open", "td_open"):
                side = str(one.attrGet("style") or "").removeprefix("text-align:").capitalize() or "Left"
                if len(rows) == 1:
                    sides.append(side)
                rows[-1].append(self._inline_of(one.type.replace("_open", "_close")))
        self.at += 1
        numbered = [strong(f"Table {label.number}."), {"t": "Space"}, *caption] if label else caption
        return self._named_table(rows[0], rows[1:], sides, numbered, label.id if label else "")

    # ---- figures ----

    def _figure(self, spec: Spec) -> list[Node]:
        rendered = self.figures[spec.name]
        label = next(one for one in self.labels.values() if one.id == spec.name)
        title = str(rendered.facts["title"])
        caption: list[Node] = [strong(f"{label.words()}. {title.rstrip('.')}.")]
        for key in ("caption",):
            if key in spec:
                self.place.line = spec.line_of(key)
                caption += [{"t": "Space"}, *self.markdown_inlines(str(spec[key]))]
        caption += [{"t": "Space"}, *words(str(rendered.facts["takeaway"]))]
        if spec.get("draw") in TABLES:
            blocks = self.frame(rendered.table, caption, spec.name)
        else:
            image = self._image(
                spec.name,
                "image/svg+xml",
                rendered.svg.encode(),
                str(rendered.facts["takeaway"]),
                width="50%" if self.document.front.compact else "90%",
            )
            inner = [None, [para(caption, "Plain")]]
            blocks = [{"t": "Figure", "c": [attr(spec.name), inner, [para([image], "Plain")]]}]
        if self.target == "ipynb":
            code = {"t": "CodeBlock", "c": [attr(), f"{str(rendered.facts['code']).rstrip()}\nfigure.chart"]}
            blocks.append({"t": "Div", "c": [attr("", "cell", "code"), [code]]})
        return blocks

    def frame(self, table: Table, caption: list[Node], name: str) -> list[Node]:
        """Return the rows of a table, with its name."""
        sides = ["Right" if numeric else "Left" for numeric in table.numeric]
        rows = [[words(cell) for cell in row] for row in table.rows[:MOST_ROWS]]
        columns = [words(column) for column in table.columns]
        return self._named_table(columns, rows, sides, caption, name)

    def _named_table(
        self,
        columns: Sequence[list[Node]],
        rows: Sequence[Sequence[list[Node]]],
        sides: Sequence[str],
        caption: list[Node],
        name: str,
    ) -> list[Node]:
        """Return a table with a name that references lead to."""
        if name and self.in_markdown:
            return [anchor(name), table_node(columns, rows, sides, caption)]
        return [table_node(columns, rows, sides, caption, name, sized=self.target == "docx")]

    def _figure_image(self, token: Token) -> Node:
        image = token.meta["image"]
        label = self.labels[token.meta["key"]]
        caption = [strong(f"{label.words()}."), {"t": "Space"}, *self.inlines(image.children or [])]
        return {
            "t": "Figure",
            "c": [attr(label.id), [None, [para(caption, "Plain")]], [para([self._own_image(image)], "Plain")]],
        }

    def _own_image(self, token: Token) -> Node:
        try:
            image = image_of(self.document.folder, str(token.attrGet("src") or ""))
            return self._image(image.name, image.kind, image.data, token.content)
        except DpcoreError as error:
            self.place.fail(str(error))

    def _image(self, name: str, kind: str, data: bytes, alt: str, **size: str) -> Node:
        return {"t": "Image", "c": [attr("", **size), words(alt), [self.picture(name, kind, data), ""]]}

    # ---- inlines ----

    def markdown(self, text: str) -> list[Node]:
        """Return a short Markdown text as blocks."""
        outside = dict(self.notes)
        blocks = self.blocks(reader().parse(text))
        self.notes = outside
        return blocks

    def markdown_inlines(self, text: str) -> list[Node]:
        """Return one line of Markdown as inlines."""
        tokens = reader().parseInline(text.strip())
        return [inline for token in tokens for inline in self.inlines(token.children or [])]

    def inlines(self, tokens: Sequence[Token]) -> list[Node]:
        """Return tokens of a line as inlines."""
        stack: list[tuple[str, Any, list[Node]]] = [("", None, [])]
        for token in tokens:
            self.place.line = token.meta.get("line", self.place.line)
            if token.nesting == 1:
                stack.append((token.type.removesuffix("_open"), token, []))
            elif token.nesting == -1 and len(stack) > 1:
                kind, opening, inner = stack.pop()
                stack[-1][2].append(self._span(kind, opening, inner))
            else:
                stack[-1][2].extend(self._inline(token))
        return stack[0][2]

    def _span(self, kind: str, opening: Token, inner: list[Node]) -> Node:
        if kind == "link":
            try:
                target = link(str(opening.attrGet("href") or ""))
            except DpcoreError as error:
                self.place.fail(str(error))
            return {"t": "Link", "c": [attr(), inner, [target, ""]]}
        return {"t": _SPANS.get(kind, "Emph"), "c": inner}

    def _inline(self, token: Token) -> list[Node]:  # noqa: PLR0911  # one for each kind of token
        kind = token.type
        if kind in ("text", "text_special"):
            return words(token.content)
        if kind == "softbreak":
            return [{"t": "SoftBreak"}]
        if kind == "hardbreak":
            return [{"t": "LineBreak"}]
        if kind == "code_inline":
            return [{"t": "Code", "c": [attr(), token.content]}]
        if kind.startswith("math_inline"):
            latex = self.place.latex(token.content)
            self._check_math(latex)
            return [self._math(latex, display=kind.endswith("double"))]
        if kind == "value":
            return words(self.place.value(token.content))
        if kind == "reference":
            return words(token.content)
        if kind == "crossref":
            label = self.place.label(token.content)
            return [{"t": "Link", "c": [attr(), words(label.words()), [f"#{label.id}", ""]]}]
        if kind == "citation":
            if token.content not in self.citations.inlines:
                self.place.uncited(token.content)
            inlines = self.citations.inlines[token.content]
            return cited(inlines) if self.target == "latex" else inlines
        if kind == "footnote_ref":
            return [{"t": "Note", "c": self.notes.get(token.meta["id"], [])}]
        if kind == "image":
            return [self._own_image(token)]
        return []
