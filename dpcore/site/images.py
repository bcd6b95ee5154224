"""Images of a document: files of its own folder, small and of known kinds, embedded so that a page needs no other file."""

from __future__ import annotations

import base64
import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dpcore.core.errors import DomainError
from dpcore.files.documents import bytes_of
from dpcore.files.paths import existing, inside
from dpcore.language.problems import quoted

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES: Final = 5_000_000
KINDS: Final = {
    ".png": ("image/png", b"\x89PNG"),
    ".jpg": ("image/jpeg", b"\xff\xd8"),
    ".jpeg": ("image/jpeg", b"\xff\xd8"),
    ".gif": ("image/gif", b"GIF8"),
    ".svg": ("image/svg+xml", b""),
}
_ACTIVE: Final = re.compile(rb"<script|\son[a-z]+\s*=|<foreignObject|javascript:|<!ENTITY", re.IGNORECASE)
_OUTSIDE: Final = re.compile(rb"(?:href|src)\s*=\s*[\"'](?!#|data:image/)", re.IGNORECASE)


@dataclass(frozen=True)
class Image:
    """The content of an image file.

    Attributes
    ----------
    name, kind : str
        Its file name and media type.
    data : bytes
        Its content.
    """

    name: str
    kind: str
    data: bytes

    @property
    def uri(self) -> str:
        """The image as an address that holds it."""
        return f"data:{self.kind};base64,{base64.b64encode(self.data).decode()}"

    @property
    def size(self) -> str:
        """Width and height as attributes, if the file says them in its first bytes."""
        if self.kind != "image/png" or len(self.data) < 24:
            return ""
        width, height = struct.unpack(">II", self.data[16:24])
        return f' width="{width}" height="{height}"'


def image_of(folder: Path | None, name: str) -> Image:
    """Return an image that a document names.

    Raises
    ------
    DomainError
        If the file is not in the folder, is no image of a known kind, too large, or an SVG that runs or loads something.
    """
    if folder is None or re.match(r"[A-Za-z][A-Za-z0-9+.-]*:|//", name):
        msg = f"The image {quoted(name, 60)} is not a file of the document's folder."
        raise DomainError(msg)
    path = inside(folder, name)
    if path.suffix.lower() not in KINDS:
        msg = f"The image {quoted(name, 60)} must end in {', '.join(KINDS)}."
        raise DomainError(msg)
    existing(folder, name)
    kind, start = KINDS[path.suffix.lower()]
    data = bytes_of(path, MOST_BYTES)
    if not data.startswith(start) or (kind == "image/svg+xml" and not _is_svg(data)):
        msg = f"The image {quoted(name, 60)} is not the kind of file that its name says."
        raise DomainError(msg)
    if kind == "image/svg+xml" and (_ACTIVE.search(data) or _OUTSIDE.search(data)):
        msg = f"The image {quoted(name, 60)} runs a script or loads another file, which an image in a document must not do."
        raise DomainError(msg)
    return Image(path.name, kind, data)


def _is_svg(data: bytes) -> bool:
    """Return whether a file starts like an SVG in UTF-8; in other encodings nobody would see what it runs or loads."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"<svg" in data[:2000]
