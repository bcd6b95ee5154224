"""Paths and links in a document: paths stay in its own folder, and links lead only to pages."""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from dpcore.core.errors import DomainError

SCHEMES: Final = ("http", "https", "mailto")
_LONGEST_QUOTE: Final = 80
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_INVISIBLE: Final = re.compile(r"[\x00-\x20\x7f\\]")  # browsers drop some of them, and read a backslash as a slash


def inside(folder: str | Path, name: str | Path) -> Path:
    """Return the path that a document names, if it is inside a folder.

    Symbolic links are followed first, so that the file that is opened is the one that was checked.

    Parameters
    ----------
    folder : str or Path
        The folder of the document or of its output; chosen by the caller and therefore not checked.
    name : str or Path
        The path in the document, relative to `folder`.

    Returns
    -------
    Path
        Absolute, without symbolic links; the file need not exist.

    Raises
    ------
    DomainError
        If it leads out of the folder or is not a path. The message names it and reveals nothing about the file.
    """
    try:
        home = Path(folder).resolve()
        path = (home / name).resolve()
        path.lstat()
    except FileNotFoundError:
        pass  # a file that does not exist yet
    except (OSError, ValueError, RuntimeError):  # too long, a zero byte, a file used as a folder, circular links
        msg = f"{_cut(name)} is not the path of a file."
        raise DomainError(msg) from None
    if not path.is_relative_to(home):
        msg = (
            f"{_cut(name)} leads out of the folder of its document; a document names files inside its own folder only."
        )
        raise DomainError(msg)
    return path


def existing(folder: str | Path, name: str) -> Path:
    """Return the path of a file that a document names, if it is in the folder and is there.

    Raises
    ------
    DomainError
        If it leads out of the folder, or if there is no such file; the message then suggests a similar name.
    """
    path = inside(folder, name)
    if not path.is_file():
        home = path.parent
        others = [other.name for other in home.iterdir() if other.is_file()] if home.is_dir() else []
        match = get_close_matches(path.name, others, n=1)
        hint = f"; did you mean {match[0]}?" if match else "."
        msg = f"There is no file {_cut(name)} in the folder of the document{hint}"
        raise DomainError(msg)
    return path


def link(target: str, schemes: tuple[str, ...] = SCHEMES, *, relative: bool = True) -> str:
    """Return a link in a document, if a page may contain it.

    Parameters
    ----------
    target : str
        The address.
    schemes : tuple of str, default SCHEMES
        The allowed schemes; by default http, https and mailto.
    relative : bool, default True
        Whether an address without a scheme, relative to the page, is allowed too.

    Returns
    -------
    str
        The address, unchanged.

    Raises
    ------
    DomainError
        If it has another scheme, names a host without one, or contains spaces, control characters or backslashes.
    """
    scheme = _SCHEME.match(target)
    allowed = scheme[1].lower() in schemes if scheme else relative and not target.startswith("//")
    if not allowed or _INVISIBLE.search(target):
        kinds = [f"{name}:" for name in schemes] + ["an address without a scheme"] * relative
        msg = f"The link {_cut(target)} is not allowed; a link starts with {', '.join(kinds[:-1])} or {kinds[-1]}."
        raise DomainError(msg.replace("starts with an address", "is an address"))
    return target


def _cut(text: str | Path) -> str:
    return repr(str(text)[:_LONGEST_QUOTE] + "..." * (len(str(text)) > _LONGEST_QUOTE))
