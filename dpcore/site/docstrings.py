"""Docstrings as Markdown: paragraphs, formulas, code and the sections of the numpy style."""

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
LONGEST: Final = 36
_DIRECTIVE: Final = re.compile(r"^\.\. (math|code-block):: *(.*)$")
_INLINE: Final = re.compile(r":math:`([^`]*)`|``(.+?)``|`([^`]+)`")


@dataclass(frozen=True)
class Part:
    """A section of a docstring."""

    title: str
    lines: tuple[str, ...]


def parts_of(doc: str) -> list[Part]:
    """Split a docstring into its sections; the first has no title."""
    lines = inspect.cleandoc(doc).splitlines()
    found: list[Part] = []
    title, held = "", list[str]()
    index = 0
    while index < len(lines):
        below = lines[index + 1] if index + 1 < len(lines) else ""
        if lines[index] in SECTIONS and below and set(below) == {"-"}:
            found.append(Part(title, tuple(held)))
            title, held = lines[index], []
            index += 2
            continue
        held.append(lines[index])
        index += 1
    return [*found, Part(title, tuple(held))]


def as_markdown(doc: str) -> str:
    """Return a docstring as Markdown, the names of its sections in bold."""
    out = []
    for part in parts_of(doc):
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
    """Return a line with its code and formulas as Markdown writes them, and everything else as it is."""
    out, at = [], 0
    for found in _INLINE.finditer(text):
        out.append(_escaped(text[at : found.start()]))
        math, code, name = found.groups()
        out.append(f"${math}$" if math is not None else f"`{code if code is not None else name}`")
        at = found.end()
    return "".join([*out, _escaped(text[at:])])


def _escaped(text: str) -> str:
    return re.sub(r"([\\*$<>\[\]]|(?<!\w)_|_(?!\w))", r"\\\1", text)


def _prose(lines: tuple[str, ...]) -> list[str]:
    """Return paragraphs; formulas, code and examples become blocks."""
    out: list[str] = []
    index = 0
    while index < len(lines):
        line = lines[index]
        directive = _DIRECTIVE.match(line)
        if directive:
            index, body = _indented(lines, index + 1)
            out += _block(directive[1], directive[2], body)
        elif line.startswith((">>> ", "===")):
            start = index
            while index < len(lines) and lines[index].strip():
                index += 1
            kind = "python" if line.startswith(">") else "text"
            out += ["", f"```{kind}", *lines[start:index], "```", ""]
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
    while index < len(lines) and (not lines[index].strip() or lines[index].startswith(" ")):
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
    """Return the type, then its words."""
    kept = [line for line in lines if line.strip()]
    if len(kept) > 1 and not kept[0].startswith(" ") and kept[1].startswith(" "):
        return _fields(tuple(kept))
    return [inline(line.strip()) for line in kept]


def signature(name: str, thing: Any) -> str:
    """Return a function's name with its arguments, without quotes around the types."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return name
    parts, starred = [], False
    for one in found.parameters.values():
        if one.name in ("self", "cls"):
            continue
        if one.kind is one.VAR_POSITIONAL:
            starred = True
        if one.kind is one.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        parts.append(_parameter(one))
    back = (
        ""
        if found.return_annotation is found.empty or inspect.isclass(thing)
        else f" -> {_type(found.return_annotation)}"
    )
    return f"{name}({', '.join(parts)}){back}"


def _parameter(one: inspect.Parameter) -> str:
    star = "*" if one.kind is one.VAR_POSITIONAL else "**" if one.kind is one.VAR_KEYWORD else ""
    typed = "" if one.annotation is one.empty else f": {_type(one.annotation)}"
    if one.default is one.empty:
        return f"{star}{one.name}{typed}"
    shown = repr(one.default)
    shown = shown if len(shown) <= LONGEST and not shown.startswith("<") else "..."
    return f"{star}{one.name}{typed}{' = ' if typed else '='}{shown}"


def _type(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
