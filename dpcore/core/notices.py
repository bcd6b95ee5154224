"""Notices beside an answer, such as that a value changes nothing.

At a prompt or in a script a notice is an ordinary Python warning. To get it as a value, collect it:

>>> from dpcore import dptv
>>> with collected() as notices:
...     region = dptv(0.6, 0.1, 0.9)
>>> notices
['eta 0.9 is above the total variation of dp(0.6, 0.1), about 0.362181: it changes nothing.']

Collecting is local to a task or thread. A filter of Python's warnings applies to the whole process, where one visitor of
the app would see the notices of another.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from dpcore.core.errors import DomainWarning

if TYPE_CHECKING:
    from collections.abc import Iterator

_collector: ContextVar[list[str] | None] = ContextVar("notices", default=None)


def notice(text: str, stacklevel: int = 1) -> None:
    """Add a notice to the current collection; without one, warn with a `DomainWarning`.

    Parameters
    ----------
    text : str
        A complete sentence.
    stacklevel : int, default 1
        Which caller a warning points at, counted as in `warnings.warn` from the caller of this function.
    """
    notices = _collector.get()
    if notices is None:
        warnings.warn(text, DomainWarning, stacklevel=stacklevel + 1)
    else:
        notices.append(text)


@contextmanager
def collected() -> Iterator[list[str]]:
    """Collect the notices of everything inside the ``with`` block, in order."""
    notices: list[str] = []
    token = _collector.set(notices)
    try:
        yield notices
    finally:
        _collector.reset(token)
