"""Builds a site: plans its pages, draws what changed, writes it, and removes files that are no longer part of it."""

from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpcore.files.manifest import inputs_of, nothing_changed
from dpcore.site.changes import change_pages
from dpcore.site.compose import FIGURES, Composer, Site
from dpcore.site.config import Config, read_config
from dpcore.site.figures import RenderedFigure, compact, render
from dpcore.site.finding import check_links, directory_of, found_files, missing_page, related_places
from dpcore.site.images import image_of
from dpcore.site.manifest import Manifest, Work, digest, fingerprint
from dpcore.site.pages import (
    EXAMPLE,
    EXAMPLES,
    FIGURE,
    Job,
    Page,
    check,
    gallery_pages,
    home_page,
    run_examples,
    text_pages,
)
from dpcore.site.progress import Progress
from dpcore.site.shared import shared
from dpcore.specs.presets import app_link

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dpcore.site.places import Directory
    from dpcore.site.reference.commands import Command


@dataclass(frozen=True)
class Built:
    """The result of a build.

    Attributes
    ----------
    folder : Path
        The folder of the site.
    pages : int
        The number of its pages.
    written, drawn, removed : tuple of str
        The files written, the figures drawn and the files removed.
    """

    folder: Path
    pages: int
    written: tuple[str, ...]
    drawn: tuple[str, ...]
    removed: tuple[str, ...]

    @property
    def words(self) -> str:
        """The result in a sentence."""
        if not (self.written or self.removed):
            return nothing_changed(self.folder, self.pages)
        return (
            f"{self.folder}: {self.pages} pages; drew {len(self.drawn)} figures, wrote {len(self.written)} files, "
            f"removed {len(self.removed)}"
        )


def plan(config: Config, commands: Sequence[Command] = ()) -> list[Page]:
    """Return all pages in reading order, before anything is drawn."""
    pages = [home_page(config)]
    for section in config.sections:
        if section.kind == "texts":
            pages += text_pages(section)
        elif section.kind == "gallery":
            pages += gallery_pages(section)
        elif section.kind == "errata":
            from dpcore.site.errata import errata_pages  # noqa: PLC0415  # imports all evidence

            pages += errata_pages(section)
        elif section.kind == "sources":
            from dpcore.site.sources import source_pages  # noqa: PLC0415  # as the errata

            drawn = [job.spec for page in pages for job in page.jobs if job.spec is not None]
            pages += source_pages(section, drawn)
        elif section.kind == "changes":
            pages += change_pages(section)
        else:
            from dpcore.site.reference import reference_pages  # noqa: PLC0415  # imports most of the package

            pages += reference_pages(section, commands)
    return [*pages, missing_page(config, pages)]


def build_site(
    spec: str | Path,
    folder: str | Path,
    *,
    processes: int = 2,
    progress: Progress | None = None,
    commands: Sequence[Command] = (),
) -> Built:
    """Build the site that a TOML file describes.

    Parameters
    ----------
    spec : str or Path
        The file; `dpcore.site.config` describes its contents.
    folder : str or Path
        The folder of the site. One with other contents is refused, so that nothing is lost.
    processes : int, default 2
        The number of processes that draw; 1 draws in this process.
    progress : Progress, optional
        Shows each step; none by default.
    commands : sequence of Command, default ()
        The commands, for their page of the reference.

    Returns
    -------
    Built
        The result; a second build of the same sources writes nothing.
    """
    target, bar = Path(folder), progress or Progress(quiet=True)
    config = read_config(Path(spec))
    before = Manifest.read(target)
    inputs = inputs_of(config.file, target, commands=bool(commands))  # first: what changes after this is seen next time
    pages = plan(config, commands)
    directory = directory_of(config, pages)
    jobs = check(pages)
    keys = {name: digest(fingerprint(drawing=True), job.kind, job.source) for name, job in jobs.items()}
    frames = page_keys(config, pages, keys, directory)
    work = Work(target, before)
    fresh = [job for name, job in jobs.items() if not work.has(f"{job.kind}:{name}", keys[name])]
    fresh.sort(key=lambda job: job.kind != EXAMPLES)  # first, because they are quick and the likeliest to fail
    stale = [page for page in pages if not work.has(page.path, frames[page.path])]
    bar.start(len(fresh) + len(stale))
    results: dict[str, Any] = {}
    if fresh or stale:  # otherwise no file of a figure is read
        results = {name: work.load(job) for name, job in jobs.items() if job not in fresh}
        results |= _draw(fresh, processes, bar)
    work.open()
    for name, job in jobs.items():
        work.keep(f"{job.kind}:{name}", keys[name], lambda n=name: files_of(results[n]))
    site = Site(
        config,
        pages,
        {name: result for name, result in results.items() if isinstance(result, RenderedFigure)},
        {name: result for name, result in results.items() if not isinstance(result, RenderedFigure)},
        directory,
        related_places(pages),
    )
    for page in pages:
        work.keep(page.path, frames[page.path], lambda p=page: {p.path: Composer(site, p).page_html().encode()})
        if page in stale:
            bar.step(page.path)
    live = any(job.kind == FIGURE for job in jobs.values())
    work.keep("assets", digest(fingerprint(), str(live)), lambda: shared(live=live))
    if config.logo:
        logo = image_of(config.file.parent, config.logo)
        work.keep("logo", digest(logo.uri), lambda: {config.logo_file: logo.data})
    work.keep("finding", digest(fingerprint(), *frames.values()), lambda: found_files(config, work.texts(frames)))
    if work.written:  # a page that stayed may link to one that changed
        check_links(work.texts(frames), work.names, {page.path: page.origin for page in pages})
    removed = work.finish(inputs)
    bar.end()
    return Built(target, len(pages) - 1, tuple(work.written), tuple(job.name for job in fresh), removed)


def page_keys(config: Config, pages: Sequence[Page], keys: Mapping[str, str], directory: Directory) -> dict[str, str]:
    """Return a digest of the sources of each page, by path.

    A page shows its text, its figures with their links into the app, and the titles of all others; the home page also
    shows their summaries.
    """
    titles = [[page.path, page.section, page.chapter, page.title] for page in pages]
    sections = [[one.name, one.title] for one in config.sections]
    places = sorted((place.kind, place.name, place.address, place.words) for place in directory.places.values())
    about = [
        config.app,
        config.title,
        config.brand,
        config.address,
        config.code,
        config.logo,
        config.language,
        config.footer,
    ]
    around = digest(json.dumps([titles, sections, about, places, related_places(pages)]))
    summaries = digest(*(page.summary for page in pages), *(one.summary for one in config.sections))
    digests = {}
    for page in pages:
        links = [app_link(job.spec) for job in page.jobs if job.spec is not None]
        own = [page.summary if page.section else summaries, page.source, *links]
        digests[page.path] = digest(fingerprint(), around, *own, *(keys[job.name] for job in page.jobs))
    return digests


def files_of(result: Any) -> dict[str, bytes]:
    """Return the files of a figure, a piece of evidence or examples."""
    if isinstance(result, RenderedFigure):
        return {f"{FIGURES}/{result.name}{suffix}": data for suffix, data in result.files.items()}
    return {f"{FIGURES}/{result['name']}.json": (compact(result) + "\n").encode()}


# ---- drawing -------------------------------------------------------------------------------------------------


def work_on(job: Job) -> Any:
    """Do one job."""
    if job.kind == FIGURE and job.spec is not None:
        return render(job.spec, job.name)
    if job.kind == EXAMPLES:
        return run_examples(job)
    if job.kind == EXAMPLE:
        from dpcore.site.reference.examples import run_room  # noqa: PLC0415  # as in `plan`

        return run_room(job)
    from dpcore.site.errata import evidence  # noqa: PLC0415  # as in `plan`

    return evidence(job)


def _draw(jobs: list[Job], processes: int, progress: Progress) -> dict[str, Any]:
    """Do all jobs, in other processes if there are enough jobs to make starting them worthwhile."""
    results: dict[str, Any] = {}
    if processes <= 1 or len(jobs) < 4:
        for job in jobs:
            progress.step(job.name)
            results[job.name] = work_on(job)
        return results
    # a fresh interpreter each: the same on every system, without the state that a fork would inherit
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(work_on, job): job for job in jobs}
        try:
            for future in as_completed(waiting):
                results[waiting[future].name] = future.result()
                progress.step(waiting[future].name)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return results
