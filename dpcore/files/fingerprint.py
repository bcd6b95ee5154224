"""What a built file depends on: digests of the package, its libraries and its inputs, and records of the last build."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dpcore.core.errors import DpcoreError
from dpcore.files.data import data_folder
from dpcore.files.documents import bytes_of, json_of, text_of
from dpcore.files.paths import inside

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
OPTIONAL: Final = ("pypandoc_binary", "typst")
SOURCES: Final = (".py", ".html", ".css", ".js", ".woff2", ".svg", ".typ")
ABOVE: Final = ("site/", "app/", "cli/")  # folders whose files change no number, except those in DRAWING
SAMPLES: Final = ("audits", "datasets")  # folders of data that the package itself reads
DRAWING: Final = tuple(f"site/{name}.py" for name in ("colours", "errata", "examples", "figures", "svg", "tables"))
MOST_BUILT: Final = 200_000_000  # bytes of a built file


@cache
def fingerprint(*, drawing: bool = False) -> str:
    """Return a digest of the package, its data and the libraries; with `drawing` only of what figures need."""
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
    for path in sorted(path for name in SAMPLES for path in (data_folder() / name).glob("*") if path.is_file()):
        hashed.update(path.name.encode() + b"\0" + path.read_bytes())
    return hashed.hexdigest()


def digest(*parts: str) -> str:
    """Return a digest of some texts."""
    return short_digest(json.dumps(parts).encode())


def short_digest(data: bytes) -> str:
    """Return a digest of 128 bits: long enough to tell any two files apart, and a site's manifest lists many."""
    return hashlib.sha256(data).hexdigest()[:32]


def cache_folder(target: Path) -> Path:
    """Return the folder of the user's own cache for what is built beside a target.

    It is not beside the report: a folder from somebody else could contain fake figures, or links to
    places where nothing should be written.
    """
    named = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME", "")
    home = Path(named) if Path(named).is_absolute() else Path.home() / ".cache"
    return home / "dpcore" / "reports" / digest(str(target.resolve().parent))


class BuildRecord:
    """The record of one built file: it is rebuilt only if something it depends on has changed.

    Parameters
    ----------
    cache : Path
        The folder of records.
    source, target : Path
        What is built into what.
    options : mapping of str to str
        Build options; other options are another build.
    """

    def __init__(self, cache: Path, source: Path, target: Path, options: Mapping[str, str]) -> None:
        self.source, self.target = source, target
        key = digest(str(source.resolve()), str(target.resolve()), json.dumps(sorted(options.items())))
        self.file = cache / "builds" / f"{key}.json"

    def is_current(self) -> bool:
        """Return whether the target is what a build would produce now."""
        try:
            facts = json_of(text_of(self.file))
            inputs = {str(name): str(value) for name, value in facts["inputs"].items()}
            return (
                facts["code"] == self._code()
                and self.target.is_file()
                and _digest(self.target) == facts["target"]
                and all(_digest(inside(self.source.parent, name)) == value for name, value in inputs.items())
            )
        except (DpcoreError, OSError, ValueError, KeyError, TypeError, AttributeError):
            return False  # no record, or one that somebody changed: build again

    def write(self, inputs: Sequence[tuple[str, str]]) -> None:
        """Record a build and the digests of its inputs."""
        facts: dict[str, Any] = {"code": self._code(), "target": _digest(self.target), "inputs": dict(inputs)}
        with suppress(OSError):  # no place for a cache: the next build is a full one
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self.file.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")

    @staticmethod
    def _code() -> str:
        versions = [fingerprint()]
        for name in OPTIONAL:
            try:
                versions.append(metadata.version(name))
            except metadata.PackageNotFoundError:
                versions.append("")
        return digest(*versions)


def _digest(path: Path) -> str:
    return hashlib.sha256(bytes_of(path, MOST_BUILT)).hexdigest() if path.is_file() else "missing"
