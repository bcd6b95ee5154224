"""The pieces of a site: those that changed are written, and the manifest records all of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from dpcore.files.fingerprint import digest, fingerprint, short_digest
from dpcore.files.manifest import MANIFEST, Manifest, is_written, path_in
from dpcore.site.compose import FIGURES
from dpcore.site.figures import RenderedFigure
from dpcore.site.pages import FIGURE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from dpcore.site.pages import Job

__all__ = ["MANIFEST", "Manifest", "Work", "digest", "fingerprint"]


class Work:
    """Writes the pieces that changed and records all of them."""

    def __init__(self, folder: Path, before: Manifest) -> None:
        self.folder, self.before = folder, before
        self.after: dict[str, dict[str, Any]] = {}
        self.written: list[str] = []
        self._same: dict[str, bool] = {}  # pieces whose files were compared: a build asks twice for each
        for name, _ in before.files:  # checked before anything is drawn, so that a forged manifest costs nothing
            self.path(name)

    def has(self, piece: str, key: str) -> bool:
        """Whether a piece with this key existed when the build began, with all files as they were written."""
        entry = self.before.pieces.get(piece)
        if entry is None or entry["key"] != key:
            return False
        if piece not in self._same:
            self._same[piece] = all(is_written(self.folder, name, value) for name, value in entry["files"].items())
        return self._same[piece]

    def path(self, name: str) -> Path:
        """Return the path of a file of the site; paths outside its folder are refused."""
        return path_in(self.folder, name)

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
        digests = {name: short_digest(data) for name, data in files.items()}
        self.after[piece] = {"key": key, "files": digests}

    def texts(self, names: Iterable[str]) -> dict[str, str]:
        """Return the contents of files of the site by name."""
        return {name: self.path(name).read_text(encoding="utf-8") for name in names}

    @property
    def names(self) -> set[str]:
        """The files of all pieces recorded so far."""
        return {name for piece in self.after.values() for name in piece["files"]}

    def finish(self, inputs: str = "") -> tuple[str, ...]:
        """Write the manifest, with the digest of all inputs, and remove the files that are no longer part of the site."""
        gone = sorted({name for name, _ in self.before.files} - self.names)
        paths = [self.path(name) for name in gone]  # all are checked before the first is removed
        for path in paths:
            if path.is_file():
                path.unlink()
        home = self.folder.resolve()
        for folder in sorted({path.parent for path in paths}):
            if folder != home and folder.is_relative_to(home) and folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
        if self.written or gone or (self.after, inputs) != (self.before.pieces, self.before.inputs):
            text = json.dumps({"inputs": inputs, "pieces": self.after}, separators=(",", ":"), sort_keys=True) + "\n"
            (self.folder / MANIFEST).write_text(text, encoding="utf-8")
        return tuple(gone)
