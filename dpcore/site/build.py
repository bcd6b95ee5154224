"""Builds a site: plans its pages, draws what changed in two processes, writes, and removes what is no longer part."""

from __future__ import annotations

import hashlib
import json
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dpcore.errors import DpcoreError
from dpcore.site.compose import FIGURES, Composer, Site
from dpcore.site.config import Config, read_config
from dpcore.site.figures import Drawn, compact, drawn
from dpcore.site.pages import EVIDENCE, FIGURE, Job, Page, check, gallery_pages, home_page, text_pages
from dpcore.site.progress import Progress
from dpcore.site.shared import shared

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dpcore.site.reference.commands import Command

MANIFEST: Final = "manifest.json"
LIBRARIES: Final = (
    "altair",
    "jinja2",
    "latex2mathml",
    "markdown-it-py",
    "mdit-py-plugins",
    "numpy",
    "pandas",
    "scipy",
    "vl-convert-python",
)
SOURCES: Final = (".py", ".html", ".css", ".js", ".woff2", ".svg")
ABOVE: Final = ("site/", "app/", "cli/")  # no number depends on what is in these folders, except on ...
DRAWING: Final = ("site/figures.py", "site/tables.py", "site/errata.py")


@dataclass(frozen=True)
class Built:
    """What a build did."""

    folder: Path
    pages: int
    written: tuple[str, ...]
    drawn: tuple[str, ...]
    removed: tuple[str, ...]

    @property
    def words(self) -> str:
        """The same in a sentence."""
        if not (self.written or self.removed):
            return f"{self.folder}: {self.pages} pages, nothing changed"
        return (
            f"{self.folder}: {self.pages} pages; drew {len(self.drawn)} figures, wrote {len(self.written)} files, "
            f"removed {len(self.removed)}"
        )


def plan(config: Config, commands: Sequence[Command] = ()) -> list[Page]:
    """Return all pages in reading order, nothing drawn yet."""
    pages = [home_page(config)]
    for section in config.sections:
        if section.kind == "texts":
            pages += text_pages(section)
        elif section.kind == "gallery":
            pages += gallery_pages(section)
        elif section.kind == "errata":
            from dpcore.site.errata import errata_pages  # noqa: PLC0415  # needs all the evidence's imports

            pages += errata_pages(section)
        else:
            from dpcore.site.reference import reference_pages  # noqa: PLC0415  # needs most of the package

            pages += reference_pages(section, commands)
    return pages


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
    spec : the file; `dpcore.site.config` says what it holds.
    folder : where the site goes. A folder that holds other things is refused, so that nothing of them is lost.
    processes : how many draw at the same time; 1 draws in this one.
    progress : told of every step.
    commands : the command line, for its page of the reference.

    Returns
    -------
    Built
        What was written; a second build of the same sources writes nothing.
    """
    target, told = Path(folder), progress or Progress(quiet=True)
    config = read_config(Path(spec))
    before = _Manifest.read(target)
    pages = plan(config, commands)
    jobs = check(pages)
    keys = {name: digest(fingerprint(drawing=True), job.kind, job.source) for name, job in jobs.items()}
    work = _Work(target, before)
    fresh = [job for name, job in jobs.items() if not work.has(f"{job.kind}:{name}", keys[name])]
    results = {name: work.load(job) for name, job in jobs.items() if job not in fresh}
    results |= _draw(fresh, processes, told)
    for name, job in jobs.items():
        work.keep(f"{job.kind}:{name}", keys[name], lambda r=results[name]: files_of(r))
    site = Site(
        config,
        pages,
        {name: found for name, found in results.items() if isinstance(found, Drawn)},
        {name: found for name, found in results.items() if not isinstance(found, Drawn)},
    )
    around = digest(repr([(p.path, p.section, p.chapter, p.title, p.summary) for p in pages]), config.app, config.title)
    for page in pages:
        key = digest(fingerprint(), around, page.source, *(keys[job.name] for job in page.jobs))
        work.keep(page.path, key, lambda p=page: {p.path: Composer(site, p).written().encode()})
    work.keep("assets", fingerprint(), shared)
    removed = work.finish()
    told.done()
    return Built(target, len(pages), tuple(work.written), tuple(job.name for job in fresh), removed)


def files_of(result: Any) -> dict[str, bytes]:
    """Return the files of a figure or of evidence."""
    if isinstance(result, Drawn):
        return {f"{FIGURES}/{result.name}{suffix}": data for suffix, data in result.files.items()}
    return {f"{FIGURES}/{result['name']}.json": (compact(result) + "\n").encode()}


# ---- drawing -------------------------------------------------------------------------------------------------


def work_on(job: Job) -> Any:
    """Do one job."""
    if job.kind == FIGURE and job.spec is not None:
        return drawn(job.spec, job.name)
    from dpcore.site.errata import evidence  # noqa: PLC0415  # as in `plan`

    return evidence(job)


def _draw(jobs: list[Job], processes: int, progress: Progress) -> dict[str, Any]:
    """Do all jobs, in other processes if there are enough to be worth their start."""
    found: dict[str, Any] = {}
    progress.start(len(jobs))
    if processes <= 1 or len(jobs) < 4:
        for job in jobs:
            progress.step(job.name)
            found[job.name] = work_on(job)
        return found
    # a fresh interpreter each: the same on every system, and no state that a fork would carry over
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(work_on, job): job for job in jobs}
        try:
            for done in as_completed(waiting):
                found[waiting[done].name] = done.result()
                progress.step(waiting[done].name)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return found


# ---- what is already there -----------------------------------------------------------------------------------


@cache
def fingerprint(*, drawing: bool = False) -> str:
    """Return a digest of the package's own files and of the libraries; with `drawing` of those that figures come from."""
    package = Path(__file__).resolve().parents[1]
    hashed = hashlib.sha256(sys.version.encode())
    for name in LIBRARIES:
        hashed.update(f"{name} {metadata.version(name)}\n".encode())
    for path in sorted(package.rglob("*")):
        place = path.relative_to(package).as_posix()
        if drawing and place.startswith(ABOVE) and place not in DRAWING:
            continue
        if path.is_file() and path.suffix in SOURCES and not place.startswith("_bundle/"):
            hashed.update(place.encode() + b"\0" + path.read_bytes())
    return hashed.hexdigest()


def digest(*parts: str) -> str:
    """Return a digest of some texts."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@dataclass
class _Manifest:
    """What an earlier build left: for every piece its key, and its files with their digests."""

    pieces: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> _Manifest:
        file = folder / MANIFEST
        if file.is_file():
            try:
                return cls(json.loads(file.read_text(encoding="utf-8"))["pieces"])
            except (ValueError, KeyError, TypeError):
                return cls()
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            msg = f"{folder} exists and is no site of dpcore; name a new folder, or empty it."
            raise DpcoreError(msg)
        return cls()


class _Work:
    """Writes pieces that changed and keeps account of all."""

    def __init__(self, folder: Path, before: _Manifest) -> None:
        self.folder, self.before = folder, before
        self.after: dict[str, dict[str, Any]] = {}
        self.written: list[str] = []

    def has(self, piece: str, key: str) -> bool:
        """Whether a piece with this key is there, every file as it was written."""
        known = self.before.pieces.get(piece)
        return known is not None and known["key"] == key and all(map(self._same, known["files"].items()))

    def _same(self, file: tuple[str, str]) -> bool:
        path = self.folder / file[0]
        return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == file[1]

    def load(self, job: Job) -> Any:
        """Return the result of a job from its files."""

        def text(suffix: str) -> str:
            return (self.folder / f"{FIGURES}/{job.name}{suffix}").read_text(encoding="utf-8")

        return json.loads(text(".json")) if job.kind == EVIDENCE else Drawn.read(text)

    def keep(self, piece: str, key: str, make: Any) -> None:
        """Account for a piece, and write it unless it is there."""
        if self.has(piece, key):
            self.after[piece] = self.before.pieces[piece]
            return
        files: Mapping[str, bytes] = make()
        for name, data in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            self.written.append(name)
        digests = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
        self.after[piece] = {"key": key, "files": digests}

    def finish(self) -> tuple[str, ...]:
        """Write the manifest and remove the files of an earlier build that are no longer part of the site."""
        old = {name for piece in self.before.pieces.values() for name in piece["files"]}
        new = {name for piece in self.after.values() for name in piece["files"]}
        gone = sorted(old - new)
        for name in gone:
            (self.folder / name).unlink(missing_ok=True)
        if self.written or gone or self.after != self.before.pieces:
            text = json.dumps({"pieces": self.after}, indent=1, sort_keys=True) + "\n"
            (self.folder / MANIFEST).write_text(text, encoding="utf-8")
        return tuple(gone)
