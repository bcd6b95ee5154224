"""The pages of the language: its grammar, and its names from their entries in the registry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dpcore.core.registry import Entry, entries
from dpcore.language import examples
from dpcore.regions.tradeoff import literal
from dpcore.site.pages import Page
from dpcore.site.places import SitePlace
from dpcore.site.reference.origin import source_words
from dpcore.specs.presets import query

if TYPE_CHECKING:
    from dpcore.core.registry import Parameter
    from dpcore.site.compose import Composer

GROUPS: Final = {
    "guarantee": ("guarantees", "Guarantees", "Promises about a mechanism, each as a region."),
    "mechanism": ("mechanisms", "Mechanisms", "Noise with its exact region: what an attacker can do against it."),
    "operation": ("operations", "Operations", "Operations on regions: sampling, groups, closure and others."),
}
CHAPTER: Final = "The language"
KINDS: Final = {
    "exact": "exact: a closed form or a finite sum",
    "upper": "a bound: the true region is inside it",
    "approximate": "an approximation, no promise",
}

LANGUAGE: Final = """
An expression is a short text that names one region. Links, the command line, reports and ledgers use it, and
`str(region)` prints it.

```text
expression := product ('&' product)*     both hold
product    := power ('*' power)*         both are released; the second may depend on the first
power      := atom ('^' INTEGER)?        released this many times
atom       := NAME '(' arguments ')'  |  '(' expression ')'
argument   := [NAME '='] (NUMBER | list | expression)
list       := '[' item (',' item)* ']'
NUMBER     := 0.6, 1e-6, log(3), sqrt(2), 1/3, inf
```

Spaces and line breaks are ignored. `inf` is allowed for epsilon and mu (no privacy) and for sigma and scale (perfect
privacy). An error shows the place, what was expected, and the nearest known name.

In Python the same names build the same regions: `dp(0.6, 0.05) ** 5 & gdp(1.2)`, where `^` is written `**`.

```python
from dpcore import dp, gdp, parse

print(parse("dp( log(3), 1/4 ) ^ 2 & gdp(mu = 1)"))
print((dp(1) ** 2 & gdp(1)) == parse("dp(1)^2 & gdp(1)"))
```

```text
dp(1.0986122886681098, 0.25)^2 & gdp(1)
True
```
"""


def language_page(section: str) -> Page:
    """Return the page of the grammar with the list of all names."""
    rows = [(e.name, e.group, signature(e), e.title) for e in entries()]
    return Page(
        f"{section}/language.html",
        section,
        "The language",
        "One text names one region: its grammar and all its names.",
        repr(rows),
        (),
        lambda composer: (
            composer.md(LANGUAGE) + composer.html("names.html", groups=GROUPS, entries=entries, signature=signature)
        ),
        CHAPTER,
    )


def name_pages(section: str) -> list[Page]:
    """Return a page for each group of names."""
    return [_page(section, group) for group in GROUPS]


def _page(section: str, group: str) -> Page:
    stem, title, summary = GROUPS[group]
    return Page(
        f"{section}/{stem}.html",
        section,
        title,
        summary,
        repr([(entry.name, entry.title, entry.formula) for entry in entries(group)]),
        (),
        lambda composer: "".join(_entry(composer, entry) for entry in entries(group)),
        CHAPTER,
        tuple(
            SitePlace("name", one.name, f"{section}/{stem}.html", one.name, f"`{one.name}`") for one in entries(group)
        ),
    )


def _entry(composer: Composer, entry: Entry) -> str:
    text = example(entry)
    body = composer.html(
        "entry.html",
        entry=entry,
        signature=signature(entry),
        kind=KINDS[entry.kind],
        parameters=[_facts(p) for p in entry.parameters],
        example=text,
        app=f"{composer.site.config.app}/Privacy_regions?{query({'regions': text})}",
        guide=composer.place("section", entry.name),
        source=source_words(composer, entry.factory),
    )
    return composer.heading(f"`{entry.name}`: {entry.title}", name=entry.name) + body


def _facts(parameter: Parameter) -> dict[str, str]:
    default = "required" if parameter.required else literal(parameter.default)
    return {
        "name": parameter.name,
        "label": parameter.label,
        "domain": parameter.domain_words,
        "default": default,
        "meaning": parameter.meaning,
    }


def signature(entry: Entry) -> str:
    """Return a name with its arguments and their defaults."""
    if entry.variadic:
        return f"{entry.name}(a, b, ...)"
    parts = [p.name if p.required else f"{p.name}={literal(p.default)}" for p in entry.parameters]
    own = f"{entry.name}({', '.join(parts)})"
    also = ", ".join(f"{p.name}=" for p in entry.also_accepts)
    return f"{own} or {entry.name}({also})" if also else own


def example(entry: Entry) -> str:
    """Return an example of an entry: the expression of its first oracle."""
    return str(examples.example(entry))
