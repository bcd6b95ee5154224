"""References in texts: ``[[name]]`` or ``[[kind:name|words]]`` names something that dpcore has, wherever that is shown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

PATTERN: Final = re.compile(r"\[\[([^\[\]|\n]{1,120})(?:\|([^\[\]\n]{1,200}))?\]\]")
_CODE: Final = re.compile(r"(^```.*?^```[ \t]*$|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
KINDS: Final = (
    "name",
    "theorem",
    "text",
    "command",
    "figure",
    "erratum",
    "kind",
    "lab",
    "pair",
    "function",
    "page",
    "source",
)
"""Kinds of things that a text can refer to; without a kind, the first that has the name is meant."""


@dataclass(frozen=True)
class Reference:
    """A reference as it was written.

    Attributes
    ----------
    kind : str
        One of `KINDS`, or empty.
    name : str
        The name of the thing.
    words : str
        The words to show; empty for those of the thing itself.
    """

    kind: str
    name: str
    words: str = ""


def reference(target: str, words: str = "") -> Reference:
    """Return the reference that the text between the brackets stands for.

    Parameters
    ----------
    target : str
        ``dptv``, or with its kind ``theorem:basic``.
    words : str, default ""
        The words after the bar.

    Returns
    -------
    Reference
        The reference.

    Examples
    --------
    >>> reference("theorem:basic", "adding up")
    Reference(kind='theorem', name='basic', words='adding up')
    """
    kind, colon, name = target.strip().partition(":")
    if colon and kind in KINDS:
        return Reference(kind, name.strip(), words.strip())
    return Reference("", target.strip(), words.strip())


def replaced(text: str, new: Callable[[Reference], str]) -> str:
    """Return a Markdown text with each reference outside of code replaced.

    Parameters
    ----------
    text : str
        The Markdown.
    new : callable
        Returns the Markdown that stands for a reference.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> replaced("see [[dp]], not `[[dp]]`", lambda one: one.name.upper())
    'see DP, not `[[dp]]`'
    """
    parts = _CODE.split(text)
    parts[::2] = [PATTERN.sub(lambda m: new(reference(m[1], m[2] or "")), part) for part in parts[::2]]
    return "".join(parts)
