"""The manifest of a site: the pieces of the last build, digests of their sources and of all inputs, and their files."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dpcore.core.errors import DomainError, DpcoreError
from dpcore.files.data import data_folder
from dpcore.files.documents import json_of, text_of
from dpcore.files.fingerprint import digest, fingerprint, short_digest
from dpcore.files.paths import inside

if TYPE_CHECKING:
    from collections.abc import Iterator

MANIFEST: Final = "manifest.json"
MOST_MANIFEST: Final = 20_000_000  # bytes; that of our own site has 200 000
MOST_INPUTS: Final = 5_000  # files beside a spec; if there are more, every build plans its pages
MOST_INPUT_BYTES: Final = 100_000_000  # total bytes of these files: reading more takes longer than planning


@dataclass
class Manifest:
    """The pieces of the last build, each with its key and its files with their digests.

    Attributes
    ----------
    pieces : dict
        By name: ``key`` and ``files``.
    inputs : str
        The digest of all inputs of that build; empty if there were too many.
    """

    pieces: dict[str, dict[str, Any]] = field(default_factory=dict)
    inputs: str = ""

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Return the manifest of a folder; a folder with other contents is rejected, so that nothing is lost."""
        file = folder / MANIFEST
        if file.is_file():
            try:
                document = json_of(text_of(file, MOST_MANIFEST))
                return cls(_pieces(document), str(document.get("inputs", "")))
            except ValueError:  # an unreadable manifest counts as missing: everything is written again
                return cls()
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            msg = f"{folder} exists and is not a site of dpcore; name a new folder, or empty this one."
            raise DpcoreError(msg)
        return cls()

    @property
    def files(self) -> Iterator[tuple[str, str]]:
        """The files of all pieces with their digests."""
        return (file for piece in self.pieces.values() for file in piece["files"].items())


def _pieces(document: Any) -> dict[str, dict[str, Any]]:
    """Return the pieces of a manifest if they have the form that a build writes."""
    pieces = document.get("pieces") if isinstance(document, dict) else None
    whole = isinstance(pieces, dict) and all(
        isinstance(piece, dict) and isinstance(piece.get("key"), str) and isinstance(piece.get("files"), dict)
        for piece in pieces.values()
    )
    if not isinstance(pieces, dict) or not whole:
        msg = "The manifest has no pieces."
        raise ValueError(msg)
    return pieces


def path_in(folder: Path, name: str) -> Path:
    """Return the path of a file of a site; paths outside its folder are rejected."""
    try:
        return inside(folder, name)
    except DomainError:
        msg = f"{name[:80]!r} would be outside the folder of the site, {folder}; look into its {MANIFEST}."
        raise DpcoreError(msg) from None


def is_written(folder: Path, name: str, value: str) -> bool:
    """Return whether a file of a site exists and has this digest."""
    path = path_in(folder, name)
    return path.is_file() and short_digest(path.read_bytes()) == value


def unchanged_pages(spec: Path, folder: Path) -> int:
    """Return the number of pages of a site if a rebuild, with all commands, would write nothing; 0 if it might.

    This plans nothing and loads no library for pages or charts.
    """
    if not (spec.is_file() and (folder / MANIFEST).is_file()):
        return 0
    before = Manifest.read(folder)
    try:
        same = before.inputs and before.inputs == inputs_of(spec, folder, commands=True)
    except ImportError:  # a library is missing: the build reports which
        return 0
    if not same or not all(is_written(folder, name, value) for name, value in before.files):
        return 0
    return sum(name.endswith(".html") for name, _ in before.files) - 1  # without the page for unknown addresses


def nothing_changed(folder: Path, pages: int) -> str:
    """Return a sentence about a build that wrote nothing."""
    return f"{folder}: {pages} pages, nothing changed"


def inputs_of(spec: Path, folder: Path, *, commands: bool) -> str:
    """Return a digest of everything a site may depend on, or an empty text if that is too much to read.

    A document names only files in its own folder, so these are the files beside the spec and below it, the data of the
    package with the names of the pages of the app, the package itself and its libraries.

    Parameters
    ----------
    spec, folder : Path
        The spec of the site, and its output folder, which is not an input.
    commands : bool
        Whether the reference lists the commands.
    """
    home, data = spec.resolve().parent, data_folder().resolve()
    hashed = hashlib.sha256(digest(fingerprint(), spec.name, str(home == data), str(commands)).encode())
    names = sorted(path.name for path in (data.parent / "pages").glob("*.py"))
    hashed.update(digest(*names).encode())
    paths = [path for root in dict.fromkeys((home, data)) for path in _below(root, folder.resolve())]
    paths += [path for path in (data.parent / "CHANGELOG.md",) if path.is_file()]
    try:
        if len(paths) > MOST_INPUTS or sum(path.lstat().st_size for path in paths) > MOST_INPUT_BYTES:
            return ""
        for path in paths:
            root = home if path.is_relative_to(home) else data.parent
            hashed.update(digest(path.relative_to(root).as_posix(), _content(path)).encode())
    except OSError:  # unreadable, or deleted since it was listed: the build reports it if it needs the file
        return ""
    return hashed.hexdigest()


def _content(path: Path) -> str:
    """Return the digest of a file, the target of a link, or nothing for anything else, such as a pipe."""
    if path.is_symlink():
        return str(path.readlink())
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def _below(root: Path, output: Path) -> list[Path]:
    """Return the files and links below a folder, at most one over the limit; links to folders are not followed."""
    paths: list[Path] = []
    for place, folders, names in os.walk(root):
        here = Path(place)
        links = [name for name in folders if (here / name).is_symlink()]
        folders[:] = sorted(name for name in folders if here / name != output and name not in links)
        paths += [here / name for name in sorted([*names, *links])]
        if len(paths) > MOST_INPUTS:
            return paths[: MOST_INPUTS + 1]
    return paths
