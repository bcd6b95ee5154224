"""Markdown with formulas and figures: read when the site is planned, rendered when its figures are drawn."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from dpcore.core.errors import DpcoreError
from dpcore.files.documents import MOST_INLINE, DocumentError
from dpcore.files.paths import link
from dpcore.site.maths import mathml
from dpcore.specs import Spec, SpecError, block
from dpcore.specs.reading import FENCE, unique

if TYPE_CHECKING:
    from pathlib import Path

    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token

Link = Callable[[str], str]
_MARK: Final = re.compile(r"[$`*_\\{}\[\]]")
_WORD: Final = re.compile(r"[^\w]+")
RULES: Final = (
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
)


@dataclass(frozen=True)
class Heading:
    """A line of the table of contents."""

    level: int
    id: str
    html: str


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
    """

    file: str
    folder: Path
    title: str
    summary: str
    tokens: tuple[Token, ...]
    figures: tuple[Spec, ...]


def reader() -> MarkdownIt:
    """Return a parser for the dialect of all texts: CommonMark with tables and dollar formulas, without raw HTML."""
    parser = MarkdownIt("commonmark", {"html": False, "typographer": False}).enable("table")
    parser.core.ruler.before("inline", "bounded", _bounded)
    return parser.use(dollarmath_plugin, allow_space=True, allow_digits=True, double_inline=True, allow_labels=False)


def _bounded(state: StateCore) -> None:
    """Refuse a paragraph, heading or formula that is too long, before it is parsed."""
    for token in state.tokens:
        if token.type in ("inline", "math_block") and len(token.content) > MOST_INLINE:
            line = token.map[0] + 1 if token.map else 1
            kind = "formula" if token.type == "math_block" else "paragraph, heading or cell"
            msg = f"a {kind} has {len(token.content)} characters; at most {MOST_INLINE} are read."
            raise DocumentError(msg, line)


def read(text: str, *, file: str, folder: Path, prefix: str = "", lead: bool = True, above: int = 0) -> Text:
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
    title, tokens = _title(tokens)
    summary, tokens = _lead(tokens, file) if lead else ("", tokens)
    figures = tuple(_figures(tokens, file, folder, prefix))
    return Text(file, folder, title, summary, tuple(_shifted(tokens)), unique(figures))


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


def _title(tokens: list[Token]) -> tuple[str, list[Token]]:
    if len(tokens) > 2 and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
        return tokens[1].content, tokens[3:]
    return "", tokens


def _lead(tokens: list[Token], file: str) -> tuple[str, list[Token]]:
    """Return the first paragraph, if the text starts with one, and the rest; rendering it here reports errors in this file."""
    if len(tokens) <= 2 or tokens[0].type != "paragraph_open":
        return "", tokens
    Writer(file).render([tokens[1]])
    return tokens[1].content, tokens[3:]


def _figures(tokens: list[Token], file: str, folder: Path, prefix: str) -> list[Spec]:
    specs: list[Spec] = []
    for token in tokens:
        if token.type == "fence" and token.info.strip() == FENCE:
            line = token.meta["line"] + 1
            spec = block(token.content, file=file, line=line, folder=folder, name=f"figure-{len(specs) + 1}")
            named = replace(spec, table={**spec.table, "name": f"{prefix}{spec.name}"})
            token.meta = {**token.meta, "figure": named.name}
            specs.append(named)
    return specs


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
            return re.split(r"(?<=[.!?:])\s", inner.content, maxsplit=1)[0].replace("\n", " ")
    return ""


# ---- writing -------------------------------------------------------------------------------------------------


class Writer:
    """Renders the Markdown of one page, with unique ids, links through `link` and figures by name."""

    def __init__(self, file: str, link: Link = str, figures: Mapping[str, str] | None = None) -> None:
        self.file, self.link, self.figures = file, link, dict(figures or {})
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
        return str(self.reader.render(text))

    def inline(self, text: str) -> str:
        """Return one line of Markdown as HTML, without a paragraph around it."""
        return str(self.reader.renderInline(text.strip()))

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
        heading = Heading(level, self.identifier(name or _plain(text)), self.inline(text))
        self.headings.append(heading)
        return f'<h{level} id="{heading.id}">{heading.html}</h{level}>\n'

    def math(self, latex: str, *, display: bool) -> str:
        """Return a formula as MathML; errors name the file."""
        try:
            return mathml(latex, display=display)
        except DpcoreError as error:
            raise self._problem(str(error)) from error

    def _problem(self, message: str) -> SpecError:
        place = f"{self.file}, line {self.line}" if self.line else self.file
        return SpecError(f"{place}: {message}")

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

    def _fence(self, tokens: Any, index: int, *_: Any) -> str:
        token = tokens[index]
        if "figure" in token.meta:
            return self.figures[token.meta["figure"]]
        kind = token.info.strip().split(" ")[0]
        label = f' class="language-{html.escape(kind)}"' if kind else ""
        return f'<pre tabindex="0"><code{label}>{html.escape(token.content)}</code></pre>\n'

    def _link_open(self, tokens: Any, index: int, *_: Any) -> str:
        self.line = tokens[index].meta.get("line", self.line)
        try:
            target = link(str(tokens[index].attrGet("href") or ""))
        except DpcoreError as error:
            raise self._problem(str(error)) from None
        if not target.startswith("#") and ":" not in target.partition("/")[0]:
            target = self.link(target)
        return f'<a href="{html.escape(target)}">'

    def _image(self, tokens: Any, index: int, *_: Any) -> str:
        self.line = tokens[index].meta.get("line", self.line)
        message = f"pictures are figure blocks here, got the image {str(tokens[index].attrGet('src'))[:60]!r}."
        raise self._problem(message)

    def _heading_open(self, tokens: Any, index: int, *_: Any) -> str:
        token, inner = tokens[index], tokens[index + 1]
        self.line = token.meta.get("line", self.line)
        level = int(token.tag[1])
        name = self.identifier(_plain(inner.content))
        self.headings.append(Heading(level, name, self.render([inner])))
        return f'<{token.tag} id="{name}">'

    def _table_open(self, *_: Any) -> str:
        return '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>\n'

    def _table_close(self, *_: Any) -> str:
        return "</table></div>\n"

    def _th_open(self, tokens: Any, index: int, *_: Any) -> str:
        # a screen reader would announce an empty header
        return f'<th scope="col"{_aligned(tokens[index])}>' if tokens[index + 1].content else "<td>"

    def _th_close(self, tokens: Any, index: int, *_: Any) -> str:
        return "</th>\n" if tokens[index - 1].content else "</td>\n"

    def _td_open(self, tokens: Any, index: int, *_: Any) -> str:
        return f"<td{_aligned(tokens[index])}>"


def slug(text: str) -> str:
    """Return a heading in the form of an id."""
    return _WORD.sub("-", text.lower()).strip("-") or "part"


def _aligned(token: Token) -> str:
    """Return the alignment of a cell as a class: the policy of the page forbids style attributes."""
    style = str(token.attrGet("style") or "")
    side = style.removeprefix("text-align:")
    return f' class="{side}"' if side in ("right", "center") else ""


def _plain(text: str) -> str:
    """Return a heading without marks and without text in brackets, for its id."""
    parts, at = [], 0
    while (start := text.find("(", at)) >= 0 and (end := text.find(")", start)) >= 0:
        parts.append(text[at:start])
        at = end + 1
    return _MARK.sub("", "".join(parts) + text[at:])
