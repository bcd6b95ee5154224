"""Figure specs and reports as a page, from what every drawer declares."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from dpcore.site.pages import Page
from dpcore.specs import drawers
from dpcore.specs.fields import required

if TYPE_CHECKING:
    from dpcore.site.compose import Composer

LEAD = """
A figure is a small TOML table. In a file of figures it starts with `[[figure]]`; in a Markdown text (a report, a page of
the guide) it stands in a block that is fenced as `figure`:

````markdown
# Our release of March

Ten counts were published, each with Laplace noise.

```figure
draw = "composition"
title = "Ten counts"
caption = "What every theorem says about ten counts with ε = 0.1 each."
mechanism = "laplace(0.1)"
k = 10
```
````

`dpcore site --spec report.md -o report.html` makes one page of it that holds everything itself, `-o report.pdf` a PDF
(with Chromium). A report may also be TOML: `title`, `text` (Markdown), then tables `[[figure]]`, each with a `text` of
its own if wanted.

Every figure has `draw` (what is drawn, see below), `title` and `caption`; in a file of figures also `name`. It may have
`source` and `place` (where a figure like it was printed), `differs` (what is not as in print, and why), `preset` or
`link = { page = "Privacy_regions", state = { regions = "dp(1)" } }` (the page of the app that shows it), `height` in
points, and `tolerance` (relative width of certified brackets). An unknown key, a wrong value and a wrong expression are
answered with file, line and expression.

Under every figure of a site are its files: CSV with all numbers; JSON with its title, the figure as it was written
(`figure`, from which `dpcore.specs.draw` draws it again), all its parameters, sentence, notes, the Python that makes it, and
the same numbers by column, so that `pandas.DataFrame(facts["columns"])` is the table (a column that holds the same everywhere
is that value; JSON has no infinity, it is the text `inf`); and SVG, which turns dark with the reader's screen.
"""


def kinds_page(section: str) -> Page:
    """Return the page of figure specs."""
    found = [(name, drawer.meaning, _keys(drawer)) for name, drawer in drawers().items()]
    return Page(
        f"{section}/figures.html",
        section,
        "Figures and reports",
        "How to write a figure or a report of your own, and everything that can be drawn.",
        repr(found),
        (),
        lambda composer: _compose(composer, found),
        "Tools",
    )


def _keys(drawer: Any) -> list[tuple[str, str, str]]:
    rows = []
    for one in dataclasses.fields(drawer):
        if "check" in one.metadata:
            default = "needed" if required(one) else _default(one.default)
            rows.append((one.name, one.metadata["words"], default))
    return rows


def _default(value: Any) -> str:
    if value is dataclasses.MISSING or value is None or value in ((), ""):
        return ""
    return (
        str(value).lower()
        if isinstance(value, bool)
        else ", ".join(map(str, value))
        if isinstance(value, tuple)
        else str(value)
    )


def _compose(composer: Composer, found: list[tuple[str, str, list[tuple[str, str, str]]]]) -> str:
    parts = [composer.md(LEAD)]
    for name, meaning, keys in found:
        parts += [composer.heading(f"`{name}`"), composer.html("kind.html", name=name, meaning=meaning, keys=keys)]
    return "".join(parts)
