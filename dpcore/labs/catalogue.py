"""The list of labs: each under the name of its file, imported when it is asked for."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.core.registry import check_names, unknown
from dpcore.labs.base import Lab

if TYPE_CHECKING:
    from collections.abc import Iterator

_SUFFIX: Final = "_lab"  # of the file that holds a lab
_L = TypeVar("_L", bound=type[Lab])


def enter(cls: _L) -> _L:
    """Register a lab under its name, with the names of its pictures.

    Parameters
    ----------
    cls : type
        A subclass of `Lab`.

    Returns
    -------
    type
        The same class.
    """
    cls.views = tuple(cls().pictures(np.random.default_rng(0)))
    LABS.enter(cls)
    return cls


class Labs(Mapping[str, "type[Lab]"]):
    """Every lab by name: the names are those of the files, and a lab is imported when it is first used."""

    def __init__(self) -> None:
        self._labs: dict[str, type[Lab]] = {}

    def enter(self, cls: type[Lab]) -> None:
        """Register a lab under its name."""
        self._labs[cls.name] = cls

    def __getitem__(self, name: str) -> type[Lab]:
        """Return the lab of this name, imported if necessary."""
        if name not in self._labs:
            if name not in _names():
                raise KeyError(name)
            importlib.import_module(f"dpcore.labs.{name}{_SUFFIX}")
        return self._labs[name]

    def __contains__(self, name: object) -> bool:
        """Tell whether there is a lab of this name, without importing it."""
        return name in self._labs or name in _names()

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(_names())

    def __len__(self) -> int:
        """Count the labs."""
        return len(_names())


@cache
def _names() -> tuple[str, ...]:
    files = pkgutil.iter_modules([str(Path(__file__).parent)])
    return tuple(sorted(file.name.removesuffix(_SUFFIX) for file in files if file.name.endswith(_SUFFIX)))


LABS: Final = Labs()
"""The classes of all labs, by name."""


def lab(name: str, **values: Any) -> Lab:
    """Return the lab of this name.

    Parameters
    ----------
    name : str
        One of `LABS`, such as ``mixed_noise``.
    **values : object
        Its parameters; the others take their defaults, the source's own.

    Returns
    -------
    Lab
        The lab.

    Examples
    --------
    >>> from dpcore.labs import lab
    >>> lab("mixed_noise").place
    'Section 5.3'
    """
    if name not in LABS:
        raise DomainError(unknown("lab", name, sorted(LABS)))
    check_names(LABS[name].parameters(), values, name)
    return LABS[name](**values)
