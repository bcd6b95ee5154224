"""How to cite a figure: one line of text and a BibTeX entry, with the version that drew it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpcore.site.config import Config
    from dpcore.site.figures import RenderedFigure
    from dpcore.site.pages import Page


def version() -> str:
    """Return the version of dpcore."""
    from dpcore import __version__  # noqa: PLC0415  # the package itself is imported last

    return __version__


def citation(config: Config, page: Page, figure: RenderedFigure) -> str:
    """Return the citation of a figure: its title, its place on the site, and the version that drew it.

    Parameters
    ----------
    config : Config
        The site, whose address is used if it has one.
    page : Page
        The page of the figure.
    figure : RenderedFigure
        The figure.

    Returns
    -------
    str
        A line of text, then a BibTeX entry; no date, so that the same sources give the same bytes.
    """
    where = f"{page.path}#{figure.name}"
    place = f"{config.address}/{where}" if config.address else where
    title = str(figure.facts["title"])
    line = f"{config.title}, “{title}”. Drawn by dpcore {version()}, {place}."
    how = f"url = {{{place}}}" if config.address else f"howpublished = {{{where}}}"
    entry = f"@misc{{dpcore-{figure.name},\n  title = {{{title}}},\n  author = {{{{The dpcore authors}}}},\n  note = {{dpcore {version()}}},\n  {how},\n}}"
    return f"{line}\n\n{entry}"
