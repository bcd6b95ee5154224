"""What changed: the changelog and the version as pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dpcore.files.data import data_folder
from dpcore.site import markdown
from dpcore.site.citation import version
from dpcore.site.pages import Page
from dpcore.specs.reading import source_text

if TYPE_CHECKING:
    from dpcore.site.config import Section

CHANGELOG: Final = "CHANGELOG.md"


def change_pages(section: Section) -> list[Page]:
    """Return the page of the version and, where the changelog is available, that of the changes."""
    pages = [_version(section.name)]
    file = data_folder().parent / CHANGELOG
    if file.is_file():
        source = source_text(file)
        text = markdown.read(source, file=file.name, folder=file.parent, lead=False)
        summary = "What was added, changed, fixed and removed in each version, the newest first."
        path = f"{section.name}/changelog.html"
        pages.append(Page(path, section.name, "Changelog", summary, source, (), lambda composer: composer.text(text)))
    return pages


def _version(section: str) -> Page:
    text = TEXT.format(version=version())
    title, summary = f"Version {version()}", "Which version made these pages, how to cite it, and what stays stable."
    return Page(f"{section}/version.html", section, title, summary, text, (), lambda composer: str(composer.md(text)))


TEXT: Final = """
These pages were made by dpcore {version}. `dpcore --version` and `dpcore.__version__` say which version you have.

## How to cite

```text
@software{{dpcore,
  title = {{dpcore: differential privacy as regions}},
  author = {{{{The dpcore authors}}}},
  version = {{{version}}},
  license = {{MIT}},
}}
```

Each figure has a citation of its own below it, under "How to cite".

## What stays stable

Names of the expression language, commands with their options and columns, names in the `__all__` of the package and its
subpackages, keys of specs and ledgers, links to the app and addresses of these pages are public. Before 1.0 a minor version may
change them; the changelog then says **Breaking** and what to write instead. A name that is replaced keeps working for at
least one minor version, with a warning. A number that was wrong is corrected at once.
"""
