"""The page about figure specs and reports, from the fields that the drawers declare."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from dpcore.core.numerals import numeral
from dpcore.site.pages import Page
from dpcore.site.places import SitePlace
from dpcore.specs import drawers
from dpcore.specs.fields import required

if TYPE_CHECKING:
    from dpcore.site.compose import Composer

LEAD = """
A figure is a small TOML table. In a file of figures it starts with `[[figure]]`; in a Markdown text (a report, a page of
the guide) it is a block fenced as `figure`:

````markdown
# Our release of March

Ten counts were published, each with Laplace noise.

```figure
draw = "composition"
title = "Ten counts"
caption = "What each theorem says about ten counts with ε = 0.1 each."
mechanism = "laplace(0.1)"
k = 10
```
````

`dpcore site --spec report.md -o report.html` turns it into one self-contained page, `-o report.pdf` into a PDF (with
`pip install "dpcore[documents]"`). A report may also be TOML: `title`, `text` (Markdown), then tables `[[figure]]`, each with an optional `text`
of its own.

Each figure has `draw` (its kind, see below), `title` and `caption`, and in a file of figures also `name`. It may have
`source` and `place` (where a figure like it was printed), `differs` (how it differs from print, and why), `preset` or
`link = { page = "Privacy_regions", state = { regions = "dp(1)" } }` (the page of the app that shows it), `height` in
points, and `tolerance` (relative width of brackets). The error for an unknown key, a wrong value or a wrong
expression names file, line and expression.

Below each figure of a site are its files: CSV with all numbers (`pandas.read_csv` reads them in full precision); JSON with
its title, its spec (`figure`, from which `dpcore.specs.draw` draws it again), all its parameters, sentence, notes, Python code, and the
name and the columns of the CSV; and SVG, which follows the reader's dark mode.
"""


def kinds_page(section: str) -> Page:
    """Return the page of figure specs."""
    kinds = [(name, drawer.meaning, _keys(drawer)) for name, drawer in drawers().items()]
    return Page(
        f"{section}/figures.html",
        section,
        "Figures and reports",
        "How to write a figure or a report of your own, and all kinds of figures.",
        repr(kinds),
        (),
        lambda composer: _compose(composer, kinds),
        "Tools",
        tuple(
            SitePlace("kind", name, f"{section}/figures.html", f"kind-{name}", f"figures of kind `{name}`")
            for name, *_ in kinds
        ),
    )


def _keys(drawer: Any) -> list[tuple[str, str, str]]:
    rows = []
    for one in dataclasses.fields(drawer):
        if "check" in one.metadata:
            default = "required" if required(one) else _default(one.default)
            rows.append((one.name, one.metadata["words"], default))
    return rows


def _default(value: Any) -> str:
    if value is dataclasses.MISSING or value is None or value in ((), ""):
        return ""
    return (
        str(value).lower()
        if isinstance(value, bool)
        else numeral(value)
        if isinstance(value, float)
        else ", ".join(map(str, value))
        if isinstance(value, tuple)
        else str(value)
    )


def _compose(composer: Composer, kinds: list[tuple[str, str, list[tuple[str, str, str]]]]) -> str:
    parts = [composer.md(LEAD)]
    for name, meaning, keys in kinds:
        parts += [
            composer.heading(f"`{name}`", name=f"kind-{name}"),
            composer.html("kind.html", name=name, meaning=meaning, keys=keys),
        ]
    return "".join(parts)
