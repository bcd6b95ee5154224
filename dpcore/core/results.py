"""Results that may be used again: a caller who keeps them says where, and everybody else computes.

The library itself keeps nothing. A server that draws the same curve for many visitors installs a keeper (`kept_by`);
slow, pure steps are asked for through `result`, and the keeper decides whether to compute them.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Keeper(Protocol):
    """Computes a result, or returns the stored one."""

    def __call__(self, function: Callable[..., Any], args: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
        """Return ``function(*args, **options)``."""


_KEEPER: ContextVar[Keeper | None] = ContextVar("keeper", default=None)


def result(function: Callable[_P, _T], *args: _P.args, **options: _P.kwargs) -> _T:
    """Return ``function(*args, **options)``, from the keeper if there is one.

    Parameters
    ----------
    function : callable
        A function of a module, whose result depends on its arguments alone.
    args, options : object
        Its arguments.

    Returns
    -------
    object
        What the function returns; it must not be changed.

    Examples
    --------
    >>> result(max, 1, 2)
    2
    """
    keeper = _KEEPER.get()
    return function(*args, **options) if keeper is None else cast("_T", keeper(function, args, options))


def install(keeper: Keeper) -> None:
    """Let a keeper answer every `result` of this thread from now on.

    Parameters
    ----------
    keeper : Keeper
        Called with the function, its arguments and its options.
    """
    _KEEPER.set(keeper)


@contextmanager
def kept_by(keeper: Keeper) -> Iterator[None]:
    """Let a keeper answer every `result` inside the block.

    Parameters
    ----------
    keeper : Keeper
        Called with the function, its arguments and its options.
    """
    token = _KEEPER.set(keeper)
    try:
        yield
    finally:
        _KEEPER.reset(token)
