"""Docstrings as Markdown: paragraphs, formulas, code and the sections of numpydoc."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import Any, Final

SECTIONS: Final = (
    "Parameters",
    "Returns",
    "Yields",
    "Raises",
    "Attributes",
    "Examples",
    "Notes",
    "References",
    "See Also",
)
LONGEST: Final = 36  # characters of a default in a signature
_DIRECTIVE: Final = re.compile(r"^\.\. (math|code-block):: *(.*)$")
_INLINE: Final = re.compile(r":math:`([^`]*)`|``(.+?)``|`([^`]+)`")


@dataclass(frozen=True)
class DocSection:
    """A section of a docstring."""

    title: str
    lines: tuple[str, ...]


def sections_of(doc: str) -> list[DocSection]:
    """Split a docstring into its sections; the first has no title."""
    lines = inspect.cleandoc(doc).splitlines()
    sections: list[DocSection] = []
    title, body = "", list[str]()
    index = 0
    while index < len(lines):  # takes one line per pass
        below = lines[index + 1] if index + 1 < len(lines) else ""
        if lines[index] in SECTIONS and below and set(below) == {"-"}:
            sections.append(DocSection(title, tuple(body)))
            title, body = lines[index], []
            index += 2
            continue
        body.append(lines[index])
        index += 1
    return [*sections, DocSection(title, tuple(body))]


def as_markdown(doc: str) -> str:
    """Return a docstring as Markdown, with the names of its sections in bold."""
    out = []
    for part in sections_of(doc):
        if part.title:
            out += ["", f"**{part.title}**", ""]
        if part.title in ("Parameters", "Attributes", "Raises"):
            out += _fields(part.lines)
        elif part.title == "Returns":
            out += _returns(part.lines)
        else:
            out += _prose(part.lines)
    return "\n".join(out).strip() + "\n"


def first_line(doc: str | None) -> str:
    """Return the first paragraph of a docstring on one line of Markdown."""
    lines = inspect.cleandoc(doc or "").split("\n\n")[0].split("\n.. ")[0]
    return inline(" ".join(lines.split()))


def inline(text: str) -> str:
    """Return a line with code and formulas in Markdown and everything else escaped."""
    out, at = [], 0
    for match in _INLINE.finditer(text):
        out.append(_escaped(text[at : match.start()]))
        math, code, name = match.groups()
        out.append(f"${math}$" if math is not None else f"`{code if code is not None else name}`")
        at = match.end()
    return "".join([*out, _escaped(text[at:])])


def _escaped(text: str) -> str:
    marked = re.sub(r"([\\*$<>]|(?<!\w)_|_(?!\w))", r"\\\1", text)
    return marked.replace("[", "&#91;").replace(
        "]", "&#93;"
    )  # an escaped bracket would look like the start of a formula


def _prose(lines: tuple[str, ...]) -> list[str]:
    """Return paragraphs; formulas, code and examples become blocks."""
    out: list[str] = []
    index = 0
    while index < len(lines):  # takes one line per pass, at least
        line = lines[index]
        directive = _DIRECTIVE.match(line)
        if directive:
            index, body = _indented(lines, index + 1)
            out += _block(directive[1], directive[2], body)
        elif line.startswith((">>> ", "===")):
            start = index
            while index < len(lines) and lines[index].strip():  # takes one line per pass
                index += 1
            kind = "python" if line.startswith(">") else "text"
            out += ["", f"```{kind}", *lines[start:index], "```", ""]
        elif line.endswith("::"):
            index, body = _indented(lines, index + 1)
            out += [inline(line[:-1]), *(_block("code-block", "text", body) if body else [])]
        else:
            out.append(inline(line))
            index += 1
    return out


def _block(kind: str, first: str, body: list[str]) -> list[str]:
    if kind == "math":
        return ["", "$$" + " ".join(filter(None, [first, *(line.strip() for line in body)])) + "$$", ""]
    return ["", f"```{first}", *body, "```", ""]


def _indented(lines: tuple[str, ...], index: int) -> tuple[int, list[str]]:
    """Return where an indented block ends, and its lines without the indent."""
    start = index
    while index < len(lines) and (not lines[index].strip() or lines[index].startswith(" ")):  # takes one line per pass
        index += 1
    return index, inspect.cleandoc("\n".join(lines[start:index])).splitlines()


def _fields(lines: tuple[str, ...]) -> list[str]:
    """Return entries ``name : type`` with an indented text below as a list."""
    out: list[str] = []
    for line in lines:
        if not line.strip():
            continue
        name, colon, kind = line.partition(" : ")
        if line.startswith(" "):
            out.append("  " + inline(line.strip()))
        else:
            out.append(f"- `{name.strip()}`" + (f" (`{kind.strip()}`):" if colon else ":"))
    return out


def _returns(lines: tuple[str, ...]) -> list[str]:
    """Return the types with their descriptions as a list, or plain text."""
    filled = [line for line in lines if line.strip()]
    if len(filled) > 1 and not filled[0].startswith(" ") and filled[1].startswith(" "):
        return _fields(tuple(filled))
    return [inline(line.strip()) for line in filled]


def signature(name: str, thing: Any) -> str:
    """Return the name of a function with its arguments, without quotes around the types."""
    try:
        own = inspect.signature(thing)
    except (TypeError, ValueError):
        return name
    parts, starred = [], False
    for one in own.parameters.values():
        if one.name in ("self", "cls"):
            continue
        if one.kind is one.VAR_POSITIONAL:
            starred = True
        if one.kind is one.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        parts.append(_parameter(one))
    back = "" if own.return_annotation is own.empty or inspect.isclass(thing) else f" -> {_type(own.return_annotation)}"
    return f"{name}({', '.join(parts)}){back}"


def _parameter(one: inspect.Parameter) -> str:
    star = "*" if one.kind is one.VAR_POSITIONAL else "**" if one.kind is one.VAR_KEYWORD else ""
    typed = "" if one.annotation is one.empty else f": {_type(one.annotation)}"
    if one.default is one.empty:
        return f"{star}{one.name}{typed}"
    default = repr(one.default)
    default = default if len(default) <= LONGEST and not default.startswith("<") else "..."
    return f"{star}{one.name}{typed}{' = ' if typed else '='}{default}"


def _type(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
