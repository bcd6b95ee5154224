"""Generated sections of the guide: a mechanism without a written one is described from its own file."""

from __future__ import annotations

import re
from inspect import cleandoc
from typing import TYPE_CHECKING, Final

from dpcore.core.errors import DomainError
from dpcore.language.examples import example
from dpcore.mechanisms.base import kinds

if TYPE_CHECKING:
    from pathlib import Path

    from dpcore.mechanisms.base import Mechanism

TEXT: Final = "mechanisms"
"""The text of the guide with a section for each mechanism."""


def with_sections(file: Path, text: str) -> str:
    """Return a text of the guide; the one about mechanisms gets a section for each mechanism that it lacks."""
    return text.rstrip("\n") + "\n\n" + missing(text) if file.stem == TEXT and missing(text) else text


def missing(text: str) -> str:
    """Return sections for the mechanisms that no heading of a text names; empty if there are none."""
    headings = " ".join(re.findall(r"^### .+$", text, re.MULTILINE))
    return "\n".join(section(kind) for kind in kinds() if f"`{kind.entry.name}`" not in headings)


def section(kind: type[Mechanism]) -> str:
    """Return a section from the file of a mechanism: meaning, formula, assumptions, reason, example and picture."""
    entry = kind.entry
    region = example(entry)
    text, title = region.text, entry.title[:1].upper() + entry.title[1:]
    try:
        kind.answers(region)  # type: ignore[arg-type]  # built by its own entry
        picture = f'draw = "noise"\nmechanism = "{text}"\nrate = 0.1'
    except DomainError:
        picture = f'draw = "regions"\nregions = ["{text}"]'
    return f"""### {title}: `{entry.name}`

{entry.meaning}

$${entry.formula}$$

**Assumes** that: {entry.assumptions}

*The exact region.* {_sentence(cleandoc(kind.__doc__ or entry.title))} Computed by: {region.curve.method}. ∎

```python
region = parse("{text}")
print(f"advantage {{region.total_variation:.6f}}, delta {{region.delta(0.5):.6f}} at epsilon 0.5")
```

```text
advantage {region.total_variation:.6f}, delta {region.delta(0.5):.6f} at epsilon 0.5
```

```figure
name = "mechanism_{entry.name}"
title = "{title}"
caption = "{_sentence(entry.meaning)}"
{picture}
```
"""


def _sentence(text: str) -> str:
    """Return the first paragraph as a sentence in one line, without quotation marks."""
    first = " ".join(text.split("\n\n", maxsplit=1)[0].split()).replace('"', "'").replace("\\", "")
    return first if first.endswith(".") else f"{first}."
