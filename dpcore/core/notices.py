"""What the library has to say beside an answer, such as that a value changes nothing.

At a prompt or in a script a notice is an ordinary Python warning. Whoever wants it as a value collects it:

>>> from dpcore import dptv
>>> with collected() as notices:
...     region = dptv(0.6, 0.1, 0.9)
>>> notices  # doctest: +ELLIPSIS
['eta 0.9 is above 0.36218..., the total variation of dp(0.6, 0.1): it changes nothing.']

Collecting belongs to the task or thread that does it. A filter of Python's warnings belongs to the whole process, where
one visitor of the app would hear what was said to another.
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
    """Hand a notice to whoever collects here; without one it is a `DomainWarning`.

    Parameters
    ----------
    text : a complete sentence.
    stacklevel : which caller a warning points at, counted as in `warnings.warn` from the caller of this function.
    """
    notices = _collector.get()
    if notices is None:
        warnings.warn(text, DomainWarning, stacklevel=stacklevel + 1)
    else:
        notices.append(text)


@contextmanager
def collected() -> Iterator[list[str]]:
    """Collect the notices of everything done inside the ``with`` block, in the order they come."""
    notices: list[str] = []
    token = _collector.set(notices)
    try:
        yield notices
    finally:
        _collector.reset(token)
