"""A report as it is read: its top, its text, its figures, its values, and everything that goes into it."""

from __future__ import annotations

import csv
import datetime as dt
import hashlib
import io
import os
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import dpcore
from dpcore.core.errors import DomainError, DpcoreError
from dpcore.core.lazy import Lazy
from dpcore.core.registry import value_text
from dpcore.files.documents import bytes_of
from dpcore.files.paths import inside
from dpcore.files.sheet import decoded
from dpcore.site import markdown
from dpcore.site.dialect import values_in
from dpcore.site.images import Image, image_of
from dpcore.site.labels import check_references, labels_of
from dpcore.site.report.front import NEWEST, TODAY, Front, front_of, read_front, split
from dpcore.site.report.numbers import CheckedClaim, TextValues
from dpcore.site.report.typed import check_braces, unchecked
from dpcore.site.writer import CERTIFICATE, CLAIM
from dpcore.specs import Spec, SpecError, load
from dpcore.specs.reading import lines_above, read, source_text, unique

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from markdown_it.token import Token

MARKDOWN: Final = (".md", ".markdown")
FILE_KEYS: Final = ("file",)
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class Stamp:
    """What a report was built from.

    Attributes
    ----------
    version : str
        Of dpcore.
    inputs : tuple of (str, str)
        Names and digests of all files, the report first.
    date : str
        As given, from the newest input, or empty.
    settings : tuple of (str, str)
        Parameters that the command line set.
    """

    version: str
    inputs: tuple[tuple[str, str], ...]
    date: str
    settings: tuple[tuple[str, str], ...] = ()

    @property
    def words(self) -> str:
        """The stamp as one line."""
        files = ", ".join(f"{name} (sha256 {digest[:16]})" for name, digest in self.inputs)
        set_ = f", with {', '.join(f'{name} = {text}' for name, text in self.settings)}" if self.settings else ""
        return f"Built by dpcore {self.version} from {files}{set_}."


@dataclass(frozen=True)
class Document:
    """A report, read and checked, before anything is drawn.

    Attributes
    ----------
    source : Path
        Its file.
    front : Front
        What its top says.
    text : markdown.Text
        Its text; TOML reports have their figures at the end of it.
    values : TextValues
        Its computed values.
    settings : mapping of str to str
        Parameters of the command line.
    """

    source: Path
    front: Front
    text: markdown.Text
    values: TextValues
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The title, with its computed values."""
        return _with_values(self.text.title or self.front.title, self.values, 1)

    @property
    def summary(self) -> str:
        """The first paragraph or the summary of its top, in Markdown."""
        return self.text.summary or self.front.summary

    @property
    def live(self) -> bool:
        """Whether charts move: if that is asked for, or a figure has sliders."""
        return self.front.live or any(spec.get("draw") == "live" for spec in self.text.figures)

    @property
    def folder(self) -> Path:
        """Where its files are."""
        return self.source.parent

    @Lazy
    def logo(self) -> Image | None:
        """The image before the title."""
        return self._image(self.front.logo, "logo") if self.front.logo else None

    def _image(self, name: str, key: str) -> Image:
        try:
            return image_of(self.folder, name)
        except DpcoreError as error:
            msg = f"{self.source.name}, line {self.front.lines.get(key, 1)}: {key}: {error}"
            raise SpecError(msg) from None

    @Lazy
    def inputs(self) -> tuple[str, ...]:
        """The names of all files that it reads besides itself."""
        names = set(self.values.scope.read)
        names |= {str(spec[key]) for spec in self.text.figures for key in FILE_KEYS if key in spec}
        names |= set(self.text.images)
        names |= {name for name in (self.front.logo, self.front.bibliography) if name}
        return tuple(sorted(names))

    @Lazy
    def digests(self) -> tuple[tuple[str, str], ...]:
        """The names of all files with their digests, its own first."""
        own = (self.source.name, hashlib.sha256(bytes_of(self.source)).hexdigest())
        return (own, *((name, self._digest(name)) for name in self.inputs))

    def _digest(self, name: str) -> str:
        try:
            path = inside(self.folder, name)
            return hashlib.sha256(bytes_of(path)).hexdigest() if path.is_file() else "missing"
        except DomainError as error:
            msg = f"{self.source.name}: {error}"
            raise SpecError(msg) from None

    @Lazy
    def stamp(self) -> Stamp:
        """What it is built from."""
        return Stamp(dpcore.__version__, self.digests, self.date, tuple(sorted(self.settings.items())))

    @property
    def date(self) -> str:
        """The date as given, the newest that the inputs state, or today if asked for; otherwise no clock is read."""
        if self.front.date == TODAY:
            epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
            zone = dt.UTC
            now = dt.datetime.fromtimestamp(int(epoch), zone) if epoch.isdigit() else dt.datetime.now(zone)
            return now.date().isoformat()
        if self.front.date and self.front.date != NEWEST:
            return self.front.date
        dates = [date for name in self.inputs if name.endswith(".csv") for date in self._dates(name)]
        if dates or self.front.date != NEWEST:
            return max(dates, default="")
        msg = f'{self.source.name}: date = "{NEWEST}" takes the newest date of a column date in the CSV files; there is none.'
        raise SpecError(msg)

    def _dates(self, name: str) -> list[str]:
        path = inside(self.folder, name)
        text = decoded(bytes_of(path))[0] if path.is_file() else ""
        rows = csv.DictReader(io.StringIO(text))
        return [row["date"] for row in rows if _DATE.fullmatch(row.get("date") or "")]


def load_document(source: Path, settings: Mapping[str, str] | None = None) -> Document:
    """Read a report, compute its values and check its conditions.

    Parameters
    ----------
    source : Path
        A Markdown or TOML file.
    settings : mapping of str to str, optional
        Values for its parameters.

    Returns
    -------
    Document
        Every mistake is a `SpecError` with file and line.
    """
    own = dict(settings or {})
    whole = source_text(source)
    if source.suffix.lower() in MARKDOWN:
        toml, body, above = split(whole, source.name)
        front = read_front(toml, source.name, own, above=above)
        values = TextValues.of(front, source.name, source.parent)
        text = markdown.read(body, file=source.name, folder=source.parent, above=above, values=values)
        if not text.title and not front.title:
            msg = f"{source.name}, line {above + 1}: a report starts with its title, a line such as # Our release of March."
            raise SpecError(msg)
    else:
        front, text, values = _toml(source, whole, own)
    check_references(text.tokens, text.labels, source.name)
    check_braces(text, values)
    checked = replace(text, tokens=tuple(_proofs(_claims(text.tokens, values), values)))
    return Document(source, front, checked, values, own)


def _toml(source: Path, whole: str, settings: Mapping[str, str]) -> tuple[Front, markdown.Text, TextValues]:
    """Read a report in TOML: its text, then each of its figures under a heading of its own."""
    facts = load(whole, source.name)
    if "text" in facts and not isinstance(facts["text"], str):
        msg = f"{source.name}, line {lines_above(whole, 'text') + 1}: text must be a text, got {value_text(facts['text'])}."
        raise SpecError(msg)
    front = front_of(facts, whole, source.name, settings, more=("text", "figure"))
    if not front.title:
        msg = f"{source.name}: title is missing: a text."
        raise SpecError(msg)
    values = TextValues.of(front, source.name, source.parent)
    own: dict[str, Any] = {"file": source.name, "folder": source.parent, "values": values}
    text = markdown.read(facts.get("text", ""), prefix="text-", lead=False, above=lines_above(whole, "text"), **own)
    figures = tuple(_named(spec, index, values) for index, spec in enumerate(read(source, strict=False), 1))
    every = unique((*text.figures, *figures))
    tokens: list[Token] = [*text.tokens]
    for spec in figures:
        tokens += _section(spec, own)
    return (
        front,
        replace(text, tokens=tuple(tokens), figures=every, labels=labels_of(tokens, every, "", source.name)),
        values,
    )


def _named(spec: Spec, index: int, values: TextValues) -> Spec:
    table = {key: markdown.computed(value, key, spec, values) for key, value in spec.table.items()}
    return replace(spec, table={"name": f"figure-{index}", **table})


def _section(spec: Spec, own: Mapping[str, Any]) -> list[Token]:
    """Return a figure of a TOML report as tokens: its title as a heading, its text, and itself."""
    parts = [f"## {spec['title']}"] if "title" in spec else []
    words = "\n\n".join([*parts, str(spec.get("text", ""))])
    text = markdown.read(f"{words}\n\n```toml\n```\n", lead=False, above=spec.line - 1, **own)
    block = text.tokens[-1]
    block.info, block.meta = "figure", {**block.meta, "figure": spec.name, "untitled": True}
    return list(text.tokens)


def _claims(tokens: tuple[Token, ...], values: TextValues) -> Iterator[Token]:
    """Check the claims of a text; each keeps its words for those who write it."""
    for token in tokens:
        if token.type == "fence" and token.info.strip() == CLAIM:
            line = token.meta["line"] + 1
            facts = load(token.content, values.file, line)
            for key in facts:
                if key not in ("require", "text"):
                    message = f"a claim has require and text, got {key[:60]!r}."
                    raise values.problem(message, line)
            conditions = facts.get("require", [])
            conditions = [conditions] if isinstance(conditions, str) else conditions
            text = facts.get("text", "")
            if (
                not conditions
                or not all(isinstance(one, str) for one in conditions)
                or not isinstance(text, str)
                or not text
            ):
                message = 'a claim has require = "budget.epsilon <= 5" and text = "What follows."'
                raise values.problem(message, line)
            lines = token.content.split("\n")
            if number := unchecked(text, conditions):
                at = next((n for n, row in enumerate(lines) if number in row and "require" not in row), 0)
                message = f"the claim says {number}, which its condition does not check; compute it, as in {{{{ budget.epsilon }}}}, or require it."
                raise values.problem(message, line + at)
            places = [next((n for n, row in enumerate(lines) if one in row), 0) for one in conditions]
            words = [values.check(one, line + place) for one, place in zip(conditions, places, strict=True)]
            token.meta = {**token.meta, "claim": CheckedClaim(text, " ".join(words))}
        yield token


def _proofs(tokens: Iterable[Token], values: TextValues) -> Iterator[Token]:
    """Put the files of certificates where the text embeds them, as code that every format shows."""
    for token in tokens:
        if token.type == "fence" and token.info.strip() == CERTIFICATE:
            line = token.meta["line"] + 1
            facts = load(token.content, values.file, line)
            if set(facts) != {"value"} or not isinstance(facts["value"], str):
                message = f'a {CERTIFICATE} block has value = "proof", where proof = \'certificate("laplace(0.1)^10", delta=1e-6)\' is a value.'
                raise values.problem(message, line)
            proof = values.computed(f"{facts['value']}.file", line)
            token.info, token.content = "json", proof.text
        yield token


def _with_values(text: str, values: TextValues, line: int) -> str:
    parts, at = [], 0
    for match in values_in(text):
        parts += [text[at : match.start()], values(match[1], line, "words")]
        at = match.end()
    return "".join(parts) + text[at:]
