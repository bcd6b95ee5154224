"""Texts as HTML: formulas, figures, values, references, citations and images in their places, with unique ids."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NoReturn

from markdown_it.common.utils import escapeHtml

from dpcore.core.errors import DpcoreError
from dpcore.files.documents import DocumentError
from dpcore.files.paths import link
from dpcore.site.dialect import reader, values_in
from dpcore.site.images import image_of
from dpcore.site.labels import unknown_label
from dpcore.site.maths import formula
from dpcore.specs import SpecError

if TYPE_CHECKING:
    from pathlib import Path

    from markdown_it.token import Token

    from dpcore.site.labels import Label
    from dpcore.site.markdown import Text

Link = Callable[[str], str]
Named = Callable[[str, str], tuple[str, str]]
Values = Callable[[str, int, str], str]
"""Returns a value as text from its expression, its line and a form: words, math or exact."""

CLAIM: Final = "claim"
CERTIFICATE: Final = "certificate"
_MARK: Final = re.compile(r"[$`*_\\{}\[\]]")
_WORD: Final = re.compile(r"[^\w]+")
_THOUSANDS: Final = re.compile(r"(?<=\d) (?=\d{3}(?!\d))")
RULES: Final = (
    "text",
    "math_inline",
    "math_inline_double",
    "math_block",
    "fence",
    "link_open",
    "image",
    "heading_open",
    "table_open",
    "table_close",
    "th_open",
    "th_close",
    "td_open",
    "math_block_label",
    "value",
    "crossref",
    "reference",
    "code_inline",
    "heading_close",
    "citation",
    "figure_image_open",
    "figure_image_close",
    "table_caption_open",
    "table_caption_close",
)


@dataclass(frozen=True)
class Heading:
    """A line of the table of contents."""

    level: int
    id: str
    html: str


class Writer:
    """Renders the Markdown of one page, with unique ids, links through `link` and figures by name."""

    def __init__(
        self,
        file: str,
        link: Link = str,
        figures: Mapping[str, str] | None = None,
        *,
        values: Values | None = None,
        folder: Path | None = None,
    ) -> None:
        self.file, self.link, self.figures = file, link, dict(figures or {})
        self.values, self.folder = values, folder
        self.labels: Mapping[str, Label] = {}
        self.citations: Mapping[str, str] = {}
        self.numbered = False
        self.anchors: list[tuple[str, int]] = []
        self.quiet = False  # inside a heading, whose text is also a link of the table of contents
        self.named: Named | None = None  # the address and the words of a reference; raises if there is no such thing
        self.coded: Link | None = None  # the address of what a piece of code names; empty if it names nothing
        self.headings: list[Heading] = []
        self.ids: set[str] = set()
        self.counts: dict[str, int] = {}
        self.line = 0
        self.reader = reader()
        rules: Any = self.reader.renderer.rules  # type: ignore[attr-defined]  # of the HTML renderer
        rules |= {name: getattr(self, f"_{name}") for name in RULES}

    def text(self, text: Text) -> str:
        """Return a text as HTML."""
        return self.render(text.tokens)

    def render(self, tokens: Sequence[Token]) -> str:
        """Return tokens as HTML."""
        return str(self.reader.renderer.render(tokens, self.reader.options, {}))

    def markdown(self, text: str) -> str:
        """Return a short Markdown text as HTML."""
        try:
            return str(self.reader.render(text))
        except DocumentError as error:
            raise self._problem(str(error)) from None

    def inline(self, text: str) -> str:
        """Return one line of Markdown as HTML, without a paragraph around it."""
        try:
            return str(self.reader.renderInline(text.strip()))
        except DocumentError as error:
            raise self._problem(str(error)) from None

    def identifier(self, text: str) -> str:
        """Return a unique id for a heading."""
        base = slug(text)
        count = self.counts.get(base, 0) + 1
        name = base if count == 1 else f"{base}-{count}"
        while name in self.ids:  # the text of another heading gives this id
            count += 1
            name = f"{base}-{count}"
        self.counts[base] = count
        self.ids.add(name)
        return name

    def heading(self, text: str, level: int = 2, name: str = "") -> str:
        """Return a heading of a generated page, and record it for the table of contents."""
        self.quiet = True
        heading = Heading(level, self.identifier(name or plain_heading(text)), self.inline(text))
        self.quiet = False
        self.headings.append(heading)
        return f'<h{level} id="{heading.id}">{heading.html}</h{level}>\n'

    def math(self, latex: str, *, display: bool, number: str = "") -> str:
        """Return a formula as MathML, a displayed one in its frame and with its number; errors name the file."""
        try:
            markup, tag = formula(self.latex(latex), display=display)
        except SpecError:
            raise
        except DpcoreError as error:
            raise self._problem(str(error)) from error
        shown = number or tag
        return f'{markup}<span class="number">({html.escape(shown)})</span>' if shown else markup

    def latex(self, latex: str) -> str:
        """Return a formula with its computed values."""
        parts, at = [], 0
        for match in values_in(latex):
            parts += [latex[at : match.start()], self.value(match[1], "math")]
            at = match.end()
        return "".join(parts) + latex[at:]

    def value(self, expression: str, form: str = "words") -> str:
        """Return a computed value as text."""
        if self.values is None:
            message = f"the value {{{{ {expression[:60].strip()} }}}} is not computed: values work in reports only."
            raise self._problem(message)
        return self.values(expression, self.line, form)

    def _problem(self, message: str) -> SpecError:
        place = f"{self.file}, line {self.line}" if self.line else self.file
        return SpecError(f"{place}: {message}")

    def fail(self, message: str) -> NoReturn:
        """Raise an error with the place of the mistake."""
        raise self._problem(message)

    def formula(self, token: Token, *, display: bool) -> str:
        """Return a formula of a text; errors name its line."""
        self.line = token.meta.get("line", self.line)
        return self.math(token.content, display=display)

    # rules of the renderer have the arguments (tokens, index, options, environment)

    def _math_inline(self, tokens: Any, index: int, *_: Any) -> str:
        return self.formula(tokens[index], display=False)

    def _math_inline_double(self, tokens: Any, index: int, *_: Any) -> str:
        return f'<span class="formula">{self.formula(tokens[index], display=True)}</span>'

    def _math_block(self, tokens: Any, index: int, *_: Any) -> str:
        return f'<div class="formula">{self.formula(tokens[index], display=True)}</div>\n'

    def _math_block_label(self, tokens: Any, index: int, *_: Any) -> str:
        token = tokens[index]
        self.line = token.meta.get("line", self.line)
        label = self.labels.get(token.info)
        number = str(label.number) if label else ""
        inner = self.math(token.content, display=True, number=number)
        return f'<div class="formula" id="{html.escape(label.id if label else slug(token.info))}">{inner}</div>\n'

    def _text(self, tokens: Any, index: int, *_: Any) -> str:
        return unbroken(escapeHtml(tokens[index].content))

    def _value(self, tokens: Any, index: int, *_: Any) -> str:
        self.line = tokens[index].meta.get("line", self.line)
        return f'<span class="value">{unbroken(html.escape(self.value(tokens[index].content)))}</span>'

    def _crossref(self, tokens: Any, index: int, *_: Any) -> str:
        self.line = tokens[index].meta.get("line", self.line)
        label = self.label(tokens[index].content)
        return f'<a href="#{html.escape(label.id)}">{html.escape(label.words(numbered=self.numbered))}</a>'

    def label(self, name: str) -> Label:
        """Return what a reference names."""
        if name not in self.labels:
            self.fail(unknown_label(name, self.labels))
        return self.labels[name]

    def _citation(self, tokens: Any, index: int, *_: Any) -> str:
        self.line = tokens[index].meta.get("line", self.line)
        text = tokens[index].content
        if text not in self.citations:
            self.uncited(text)
        return self.citations[text]

    def uncited(self, text: str) -> NoReturn:
        """Fail because a report with a citation names no bibliography."""
        shown = f"[{text[:60]}]" if "@" in text else f"@{text[:60]}"
        sign = "" if "@" in text else r", or write \@ for the sign itself"
        hint = 'name a file of references at the top: bibliography = "references.bib"'
        self.fail(f"the citation {shown} needs a bibliography; {hint}{sign}.")

    def _figure_image_open(self, tokens: Any, index: int, *_: Any) -> str:
        token = tokens[index]
        self.line = token.meta.get("line", self.line)
        image = token.meta["image"]
        label = self.labels.get(token.meta["label"] or token.meta.get("key", ""))
        caption = self.render(image.children or [])
        number = f"<strong>Figure {label.number}.</strong> " if label and self.numbered else ""
        name = f' id="{html.escape(label.id)}"' if label else ""
        return f'<figure class="image"{name}>{self.image(image)}<figcaption><p>{number}{caption}</p></figcaption></figure>\n'

    def _figure_image_close(self, *_: Any) -> str:
        return ""

    def image(self, token: Token) -> str:
        """Return an image of the document's folder, embedded in the page."""
        try:
            data = image_of(self.folder, str(token.attrGet("src") or ""))
        except DpcoreError as error:
            raise self._problem(str(error)) from None
        return f'<img src="{data.uri}" alt="{html.escape(token.content)}"{data.size}>'

    def _fence(self, tokens: Any, index: int, *_: Any) -> str:
        token = tokens[index]
        self.line = token.meta.get("line", self.line)
        if "figure" in token.meta:
            return self.figures[token.meta["figure"]]
        if "claim" in token.meta:
            claim = token.meta["claim"]
            checked = f'<p class="note">Checked when this report was built: {html.escape(claim.words)}</p>'
            return f'<div class="claim">{self.markdown(claim.text)}{checked}</div>\n'
        if token.info.strip() == CLAIM:
            self.fail("a claim works in a report only, where it is computed.")
        kind = token.info.strip().split(" ")[0]
        label = f' class="language-{html.escape(kind)}"' if kind else ""
        return f'<pre tabindex="0"><code{label}>{html.escape(token.content)}</code></pre>\n'

    def _code_inline(self, tokens: Any, index: int, *_: Any) -> str:
        text = str(tokens[index].content)
        markup = f"<code>{html.escape(text)}</code>"
        before = [token.type for token in tokens[:index]]
        inside = self.quiet or before.count("link_open") > before.count("link_close")
        target = self.coded(text) if self.coded is not None and not inside else ""
        return f'<a href="{html.escape(target)}">{markup}</a>' if target else markup

    def _reference(self, tokens: Any, index: int, *_: Any) -> str:
        """Return a link to what a reference names; in a report, which has no other pages, the brackets stay."""
        token = tokens[index]
        if self.named is None or self.quiet:
            return html.escape(token.content)
        self.line = token.meta.get("line", self.line)
        try:
            target, words = self.named(token.meta["target"], token.meta["words"])
        except DpcoreError as error:
            raise self._problem(str(error)) from None
        return f'<a href="{html.escape(target)}">{words}</a>'

    def _link_open(self, tokens: Any, index: int, *_: Any) -> str:
        self.line = tokens[index].meta.get("line", self.line)
        try:
            target = link(str(tokens[index].attrGet("href") or ""))
        except DpcoreError as error:
            raise self._problem(str(error)) from None
        if target.startswith("#"):
            self.anchors.append((target[1:], self.line))
        elif ":" not in target.partition("/")[0]:
            try:
                target = self.link(target)
            except DpcoreError as error:
                raise self._problem(str(error)) from None
        return f'<a href="{html.escape(target)}">'

    def _image(self, tokens: Any, index: int, *_: Any) -> str:
        self.line = tokens[index].meta.get("line", self.line)
        return self.image(tokens[index])

    def _heading_open(self, tokens: Any, index: int, *_: Any) -> str:
        token, inner = tokens[index], tokens[index + 1]
        self.line = token.meta.get("line", self.line)
        level = int(token.tag[1])
        label = self.labels.get(token.meta.get("label", ""))
        name = html.escape(label.id) if label else self.identifier(plain_heading(inner.content))
        self.quiet = True
        self.headings.append(Heading(level, name, self.render([inner])))
        return f'<{token.tag} id="{name}">'

    def _heading_close(self, tokens: Any, index: int, *_: Any) -> str:
        self.quiet = False
        return f"</{tokens[index].tag}>\n"

    def _table_open(self, tokens: Any, index: int, *_: Any) -> str:
        label = self.labels.get(tokens[index].meta.get("label", "") or tokens[index].meta.get("key", ""))
        name = f' id="{html.escape(label.id)}"' if label else ""
        return f'<div class="scroll" tabindex="0" role="group" aria-label="Table"{name}><table>\n'

    def _table_caption_open(self, tokens: Any, index: int, *_: Any) -> str:
        meta = tokens[index - 1].meta
        label = self.labels.get(meta.get("label", "") or meta.get("key", ""))
        return f"<caption><strong>Table {label.number}.</strong> " if label and self.numbered else "<caption>"

    def _table_caption_close(self, *_: Any) -> str:
        return "</caption>\n"

    def _table_close(self, *_: Any) -> str:
        return "</table></div>\n"

    def _th_open(self, tokens: Any, index: int, *_: Any) -> str:
        # a screen reader would announce an empty header
        return f'<th scope="col"{_aligned(tokens[index])}>' if tokens[index + 1].content else "<td>"

    def _th_close(self, tokens: Any, index: int, *_: Any) -> str:
        return "</th>\n" if tokens[index - 1].content else "</td>\n"

    def _td_open(self, tokens: Any, index: int, *_: Any) -> str:
        return f"<td{_aligned(tokens[index])}>"


def unbroken(text: str) -> str:
    """Return a text whose numbers, such as 1 000, and percentages stay on one line."""
    return _THOUSANDS.sub("\N{NO-BREAK SPACE}", text).replace(" %", "\N{NO-BREAK SPACE}%")


def slug(text: str) -> str:
    """Return a heading in the form of an id."""
    name = _WORD.sub("-", text.lower()).strip("-")
    return name if name[:1].isalpha() else f"part-{name}".rstrip("-")


def _aligned(token: Token) -> str:
    """Return the alignment of a cell as a class: the policy of the page forbids style attributes."""
    style = str(token.attrGet("style") or "")
    side = style.removeprefix("text-align:")
    return f' class="{side}"' if side in ("right", "center") else ""


def plain_heading(text: str) -> str:
    """Return a heading without marks and without text in brackets, for its id."""
    parts, at = [], 0
    while (start := text.find("(", at)) >= 0 and (end := text.find(")", start)) >= 0:  # takes one bracket per pass
        parts.append(text[at:start])
        at = end + 1
    return _MARK.sub("", "".join(parts) + text[at:])
