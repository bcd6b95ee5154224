"""Long pages in parts: a browser lays out and paints only the parts that are near the screen."""

from __future__ import annotations

import re
from typing import Final

LONG: Final = 50_000  # characters of a body; a shorter page is laid out at once
_TAG: Final = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)\b[^>]*?(/?)>")
_EMPTY: Final = frozenset(["br", "hr", "img", "input", "link", "meta", "source", "wbr"])  # have no end tag


def in_parts(body: str) -> str:
    """Return the body of a long page with a frame around each second-level heading and what follows it.

    A heading inside of something else, such as a quotation, starts no part.
    """
    if len(body) < LONG:
        return body
    cuts, depth = [], 0
    for tag in _TAG.finditer(body):
        ends, name, empty = tag.groups()
        if name in _EMPTY or empty:
            continue
        if name == "h2" and not ends and not depth:
            cuts.append(tag.start())
        depth += -1 if ends else 1
    if not cuts or depth:
        return body
    pieces = [body[start:end] for start, end in zip(cuts, [*cuts[1:], len(body)], strict=True)]
    return body[: cuts[0]] + "".join(f'<div class="part">\n{piece.rstrip()}\n</div>\n' for piece in pieces)
