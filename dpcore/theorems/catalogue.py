"""The list of all theorems: every file of this folder with a `THEOREM`.

Views of the list differ only in their order, which is defined here; a theorem that an order does not name comes last.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import TYPE_CHECKING

from dpcore.core.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dpcore.theorems.record import Promise, Theorem
    from dpcore.theorems.releases import Releases

REFERENCE = (
    "basic", "kov_optimal", "kov_heterogeneous", "kov_simplified", "dptv", "gdp", "advanced_course", "advanced_drv", "rdp",
    "zcdp", "clt", "parallel", "parallel_union", "group", "group_exact", "rdp_mironov", "rdp_tight", "zcdp_bun_steinke", "zcdp_tight",
)  # fmt: skip
TABLES = (
    "dptv", "kov_optimal", "gdp", "rdp", "zcdp", "kov_simplified", "advanced_drv", "advanced_course", "basic", "clt",
)  # fmt: skip
PICTURES = ("dptv", "kov_optimal", "kov_simplified", "advanced_drv", "advanced_course", "basic", "gdp", "clt")
LISTS = (
    "gdp",
    "dptv",
    "basic",
    "kov_optimal",
    "kov_heterogeneous",
    "advanced_course",
    "advanced_drv",
    "kov_simplified",
)


@cache
def every_theorem() -> tuple[Theorem, ...]:
    """Return all theorems, in the order of the reference."""
    folder = importlib.import_module("dpcore.theorems")
    names = sorted(module.name for module in pkgutil.iter_modules(folder.__path__) if not module.ispkg)
    modules = [importlib.import_module(f"dpcore.theorems.{name}") for name in names]
    return _sorted([module.THEOREM for module in modules if hasattr(module, "THEOREM")], REFERENCE)


@cache
def composing() -> tuple[Theorem, ...]:
    """Return the theorems with a number for a list of releases at a delta, in the order of tables."""
    return _sorted([theorem for theorem in every_theorem() if theorem.composes], TABLES)


@cache
def drawing() -> tuple[Theorem, ...]:
    """Return the theorems with a region for a list of releases, in the order of legends."""
    return _sorted([theorem for theorem in composing() if theorem.draws], PICTURES)


@cache
def listing() -> tuple[Theorem, ...]:
    """Return the theorems with statements of their own, without a delta."""
    return _sorted([theorem for theorem in every_theorem() if theorem.lists], LISTS)


@cache
def routes(source: str, target: str) -> tuple[Theorem, ...]:
    """Return the theorems that lead from one notion to another."""
    paths = ((theorem, theorem.route) for theorem in every_theorem())
    return tuple(theorem for theorem, route in paths if route and (route.source, route.target) == (source, target))


def theorem(name: str) -> Theorem:
    """Return the record of a theorem.

    Parameters
    ----------
    name : str
        As in tables, e.g. ``kov_optimal``.

    Returns
    -------
    Theorem
        Raises `DomainError` with all names if there is none.
    """
    records = {record.name: record for record in every_theorem()}
    if name not in records:
        msg = f"There is no theorem {name!r}; the names are {', '.join(records)}."
        raise DomainError(msg)
    return records[name]


def promises(theorems: Iterable[Theorem], releases: Releases, delta: float) -> dict[str, Promise]:
    """Return what every theorem promises about the releases at delta: the numbers that all tables and pages show.

    A theorem is never above one that follows from it, not even by the tolerance of its own computation.
    """
    cache: dict[str, Promise] = {}

    def settled(record: Theorem) -> Promise:
        if record.name not in cache:
            promise = record.promise(releases, delta)
            for weaker in record.never_above if promise.kind != "none" else ():
                other = settled(theorem(weaker))
                promise = (
                    promise if other.kind == "none" else promise._replace(epsilon=min(promise.epsilon, other.epsilon))
                )
            cache[record.name] = promise
        return cache[record.name]

    return {record.name: settled(record) for record in theorems}


def _sorted(records: Iterable[Theorem], order: tuple[str, ...]) -> tuple[Theorem, ...]:
    place = {name: index for index, name in enumerate(order)}
    return tuple(sorted(records, key=lambda record: place.get(record.name, len(order))))
