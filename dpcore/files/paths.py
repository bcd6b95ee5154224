"""Paths and links that a document names: a document reaches the files of its own folder, and links lead to pages only."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from dpcore.core.errors import DomainError

SCHEMES: Final = ("http", "https", "mailto")
_SHOWN: Final = 80
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_UNSEEN: Final = re.compile(r"[\x00-\x20\x7f\\]")  # browsers drop some of them, and read a backslash as a slash


def inside(folder: str | Path, name: str | Path) -> Path:
    """Return the path that a document names, if it lies in a folder.

    Symbolic links are followed first, so that what is opened is what was checked.

    Parameters
    ----------
    folder : str or Path
        Where the document is, or where its output goes; the caller's own choice, hence not checked.
    name : str or Path
        What the document says, relative to `folder`.

    Returns
    -------
    Path
        Absolute, without symbolic links; the file need not exist.

    Raises
    ------
    DomainError
        If it leads out of the folder or is no path at all. The message names it and says nothing of the file.
    """
    try:
        home = Path(folder).resolve()
        found = (home / name).resolve()
        found.lstat()
    except FileNotFoundError:
        pass  # a file that is yet to be written
    except (OSError, ValueError, RuntimeError):  # too long, a zero byte, a file taken for a folder, links in a circle
        msg = f"{_cut(name)} is no path of a file."
        raise DomainError(msg) from None
    if not found.is_relative_to(home):
        msg = (
            f"{_cut(name)} leads out of the folder of its document; a document names files inside its own folder only."
        )
        raise DomainError(msg)
    return found


def link(target: str, schemes: tuple[str, ...] = SCHEMES, *, relative: bool = True) -> str:
    """Return a link that a document names, if a page may carry it.

    Parameters
    ----------
    target : str
        The address.
    schemes : tuple of str, default http, https and mailto
        What it may start with.
    relative : bool, default True
        Whether it may also be an address without a scheme, from the page's own place.

    Raises
    ------
    DomainError
        If it has another scheme, names a host without one, or holds spaces, control characters or backslashes.
    """
    scheme = _SCHEME.match(target)
    allowed = scheme[1].lower() in schemes if scheme else relative and not target.startswith("//")
    if not allowed or _UNSEEN.search(target):
        kinds = [f"{name}:" for name in schemes] + ["an address without a scheme"] * relative
        msg = f"The link {_cut(target)} is not allowed; a link starts with {', '.join(kinds[:-1])} or {kinds[-1]}."
        raise DomainError(msg.replace("starts with an address", "is an address"))
    return target


def _cut(text: str | Path) -> str:
    return repr(str(text)[:_SHOWN] + "..." * (len(str(text)) > _SHOWN))
