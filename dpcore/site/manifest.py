"""The manifest of a site: the pieces of the last build, digests of their sources, and their files."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from dpcore.core.errors import DomainError, DpcoreError
from dpcore.files.documents import json_of, text_of
from dpcore.files.fingerprint import digest, fingerprint
from dpcore.files.paths import inside
from dpcore.site.compose import FIGURES
from dpcore.site.figures import RenderedFigure
from dpcore.site.pages import FIGURE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from dpcore.site.pages import Job

MANIFEST: Final = "manifest.json"
__all__ = ["MANIFEST", "Manifest", "Work", "digest", "fingerprint"]

MOST_MANIFEST: Final = 20_000_000  # bytes; that of our own site has 200 000


@dataclass
class Manifest:
    """The pieces of the last build: for each its key, and its files with their digests."""

    pieces: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Return the manifest of a folder; a folder with other contents is refused, so that nothing is lost."""
        file = folder / MANIFEST
        if file.is_file():
            try:
                return cls(_pieces(json_of(text_of(file, MOST_MANIFEST))))
            except ValueError:  # an unreadable manifest counts as none: everything is written again
                return cls()
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            msg = f"{folder} exists and is not a site of dpcore; name a new folder, or empty this one."
            raise DpcoreError(msg)
        return cls()


def _pieces(document: Any) -> dict[str, dict[str, Any]]:
    """Return the pieces of a manifest if they have the form that `Work` writes."""
    pieces = document.get("pieces") if isinstance(document, dict) else None
    whole = isinstance(pieces, dict) and all(
        isinstance(piece, dict) and isinstance(piece.get("key"), str) and isinstance(piece.get("files"), dict)
        for piece in pieces.values()
    )
    if not isinstance(pieces, dict) or not whole:
        msg = "The manifest has no pieces."
        raise ValueError(msg)
    return pieces


class Work:
    """Writes the pieces that changed and records all of them."""

    def __init__(self, folder: Path, before: Manifest) -> None:
        self.folder, self.before = folder, before
        self.after: dict[str, dict[str, Any]] = {}
        self.written: list[str] = []
        for (
            piece
        ) in before.pieces.values():  # checked before anything is drawn, so that a forged manifest costs nothing
            for name in piece["files"]:
                self.path(name)

    def has(self, piece: str, key: str) -> bool:
        """Whether a piece with this key exists, with all files as they were written."""
        entry = self.before.pieces.get(piece)
        return entry is not None and entry["key"] == key and all(map(self._same, entry["files"].items()))

    def path(self, name: str) -> Path:
        """Return the path of a file of the site; paths outside its folder are refused."""
        try:
            return inside(self.folder, name)
        except DomainError:
            msg = f"{name[:80]!r} would be outside the folder of the site, {self.folder}; look into its {MANIFEST}."
            raise DpcoreError(msg) from None

    def _same(self, file: tuple[str, str]) -> bool:
        path = self.path(file[0])
        return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == file[1]

    def load(self, job: Job) -> Any:
        """Return the result of a job from its files."""

        def text(suffix: str) -> str:
            return self.path(f"{FIGURES}/{job.name}{suffix}").read_text(encoding="utf-8")

        return RenderedFigure.read(text) if job.kind == FIGURE else json.loads(text(".json"))

    def open(self) -> None:
        """Write an empty manifest into a new folder first, so that an interrupted build can be resumed."""
        if not (self.folder / MANIFEST).exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / MANIFEST).write_text('{"pieces": {}}\n', encoding="utf-8")

    def keep(self, piece: str, key: str, make: Any) -> None:
        """Record a piece, and write it unless it is up to date."""
        if self.has(piece, key):
            self.after[piece] = self.before.pieces[piece]
            return
        files: Mapping[str, bytes] = make()
        for name, data in files.items():
            path = self.path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            if not (path.is_file() and path.read_bytes() == data):  # other sources can give the same bytes
                path.write_bytes(data)
                self.written.append(name)
        digests = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
        self.after[piece] = {"key": key, "files": digests}

    def texts(self, names: Iterable[str]) -> dict[str, str]:
        """Return the contents of files of the site by name."""
        return {name: self.path(name).read_text(encoding="utf-8") for name in names}

    @property
    def names(self) -> set[str]:
        """The files of all pieces recorded so far."""
        return {name for piece in self.after.values() for name in piece["files"]}

    def finish(self) -> tuple[str, ...]:
        """Write the manifest and remove the files that are no longer part of the site."""
        old = {name for piece in self.before.pieces.values() for name in piece["files"]}
        gone = sorted(old - self.names)
        paths = [self.path(name) for name in gone]  # all are checked before the first is removed
        for path in paths:
            if path.is_file():
                path.unlink()
        home = self.folder.resolve()
        for folder in sorted({path.parent for path in paths}):
            if folder != home and folder.is_relative_to(home) and folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
        if self.written or gone or self.after != self.before.pieces:
            text = json.dumps({"pieces": self.after}, separators=(",", ":"), sort_keys=True) + "\n"
            (self.folder / MANIFEST).write_text(text, encoding="utf-8")
        return tuple(gone)
