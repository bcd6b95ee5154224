r"""Measurements of OpenDP as a ledger: their constructors are walked, and what each part reveals is taken from its own map.

OpenDP keeps with every measurement the constructor it was made by and its arguments. Compositions become rows, chains with a
transformation move the distance of the neighbours by the map of the transformation, conversions between notions of privacy are
left out (the part before says more). What is left is

- scalar Laplace noise on floats, of the loss e that its map states: ``laplace(e)``; on integers ``geometric(e, d)``;
- Gaussian noise on floats of the rate rho that its map states: ``gdp(sqrt(2 rho))``;
- anything else: what its map states, as ``dp(e)``, ``dp(e, d)``, ``zcdp(rho)``, or (epsilon, delta) statements of its profile.

A part without any of these is refused by the name of its constructor.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

from dpcore.core.domains import COUNT
from dpcore.core.errors import DomainError
from dpcore.core.registry import value_text
from dpcore.core.rounding import up
from dpcore.ledger import Ledger, Release

MODULES: Final = ("combinators", "core", "domains", "measurements", "measures", "metrics", "transformations")
"""Modules of OpenDP whose constructors a file may name."""
_COMPOSITIONS: Final = ("make_composition", "make_basic_composition")
_CONVERSIONS: Final = (
    "make_approximate",
    "make_fix_delta",
    "make_fixed_approxDP_to_approxDP",
    "make_pureDP_to_zCDP",
    "make_zCDP_to_approxDP",
)
_INTERACTIVE: Final = ("make_adaptive_composition", "make_sequential_composition")
_PROFILE = (0.0, 0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0)  # epsilons at which a profile is stated
_DEEPEST = 100
_DISTANCE = COUNT.but(name="distance", high=2, meaning="1 for a record added or removed, 2 for one replaced")

Parts = list[tuple[str, int]]


def ledger_from_opendp(measurement: Any, distance: int = 1) -> Ledger:
    """Return a ledger of a measurement of OpenDP.

    Parameters
    ----------
    measurement : object
        A measurement, such as a composition of chains of transformations and noise.
    distance : int, default 1
        How far neighbouring datasets are apart in its input metric: 1, or 2 for a record replaced under the symmetric distance.

    Returns
    -------
    Ledger
        One row for each part; raises `DomainError` that names a part whose loss is not known.

    Examples
    --------
    With OpenDP installed:

    .. code-block:: python

        import opendp.prelude as dp

        dp.enable_features("contrib")
        space = dp.atom_domain(T=int), dp.absolute_distance(T=int)
        ledger_from_opendp(space >> dp.m.then_laplace(scale=10.0)).rows
    """
    apart = _DISTANCE.check(distance)
    metric = str(_attribute(measurement, "input_metric"))
    parts = _parts(measurement, apart, 0)
    rows = tuple(Release(f"{place}", text, count) for place, (text, count) in enumerate(_joined(parts), 1))
    return Ledger(rows, _relation(metric, apart))


def _relation(metric: str, distance: int) -> str:
    """Return the neighbouring relation of a metric; empty if it is not one of datasets."""
    if metric.startswith(("SymmetricDistance", "InsertDeleteDistance")):
        return "add/remove" if distance == 1 else "substitution"
    if metric.startswith(("ChangeOneDistance", "HammingDistance", "DiscreteDistance")) and distance == 1:
        return "substitution"
    return ""


def _joined(parts: Parts) -> Parts:
    joined: dict[str, int] = {}
    for text, count in parts:
        joined[text] = joined.get(text, 0) + count
    return list(joined.items())


def _attribute(measurement: Any, name: str) -> Any:
    value = getattr(measurement, name, None)
    if value is None:
        msg = f"A measurement of OpenDP has {name}, got {value_text(measurement)}."
        raise DomainError(msg)
    return value


def _parts(measurement: Any, distance: Any, depth: int) -> Parts:
    if depth > _DEEPEST:
        msg = f"Measurements may be nested {_DEEPEST} deep at most."
        raise DomainError(msg)
    record = getattr(measurement, "__opendp_dict__", {})
    name, arguments = str(record.get("__function__", "")), record.get("__kwargs__", {})
    if name in _COMPOSITIONS:
        return [part for one in arguments["measurements"] for part in _parts(one, distance, depth + 1)]
    if name in _INTERACTIVE:
        measure = str(_attribute(measurement, "output_measure"))
        return [(_stated(measure, loss, name), 1) for loss in arguments["d_mids"]]
    if name == "make_chain_mt":
        return _parts(arguments["measurement1"], arguments["transformation0"].map(distance), depth + 1)
    if name == "make_chain_pm":
        return _parts(arguments["measurement0"], distance, depth + 1)
    if name in _CONVERSIONS:
        return _parts(arguments["measurement"], distance, depth + 1)
    return [(_noise(measurement, name, arguments, distance), 1)]


def _noise(measurement: Any, name: str, arguments: Mapping[str, Any], distance: Any) -> str:
    """Return the expression of a single part at a distance."""
    measure, loss = str(_attribute(measurement, "output_measure")), measurement.map(distance)
    scalar = str(measurement.input_metric).startswith("AbsoluteDistance")
    whole = isinstance(distance, int)
    fine = arguments.get("k") is None  # the grid of the noise is as fine as its floats
    if name in {"make_laplace", "make_geometric"} and measure == "MaxDivergence" and scalar and 0.0 < loss < math.inf:
        if whole:
            return f"geometric({loss!r}, {distance})" if arguments.get("bounds") is None else f"dp({loss!r})"
        if fine:
            return f"laplace({loss!r})"
    flat = scalar or str(measurement.input_metric).startswith("L2Distance")
    if name == "make_gaussian" and measure == "ZeroConcentratedDivergence" and flat and fine and not whole:
        return f"gdp({up(math.sqrt(2.0 * loss))!r})"
    return _stated(measure, loss, name)


def _stated(measure: str, loss: Any, name: str) -> str:
    """Return the expression of what a map states."""
    if measure == "MaxDivergence":
        return f"dp({_number(loss)})"
    if measure == "ZeroConcentratedDivergence":
        return f"zcdp({_number(loss)})" if loss < math.inf else "dp(inf)"
    if measure == "Approximate(MaxDivergence)":
        return f"dp({_number(loss[0])}, {_number(loss[1])})"
    if measure == "Approximate(ZeroConcentratedDivergence)":
        return f"zcdp({_number(loss[0])}) * dp(0, {_number(loss[1])})"
    if measure == "SmoothedMaxDivergence":
        return " & ".join(f"dp({epsilon!r}, {_number(min(1.0, loss.delta(epsilon)))})" for epsilon in _PROFILE)
    msg = f"{name or 'A part of the measurement'} is not read: its loss is stated as {measure}. Leaving it out would make every number too small."
    raise DomainError(msg)


def _number(value: Any) -> str:
    return "inf" if math.isinf(value) else repr(float(value))


# ---- files ---------------------------------------------------------------------------------------------------


def restored(text: str, data: Any) -> Any:
    """Return the measurement that OpenDP wrote as JSON.

    Parameters
    ----------
    text : str
        What OpenDP's ``serialize`` returned.
    data : object
        The same, parsed.

    Returns
    -------
    object
        A measurement; raises `DomainError` if OpenDP is not installed or the file names anything but constructors.
    """
    _only_constructors(data)
    try:
        library = import_module("opendp.mod")
    except ImportError:
        msg = "A measurement of OpenDP is read by OpenDP itself, which is not installed here: pip install opendp."
        raise DomainError(msg) from None
    library.enable_features("contrib", "honest-but-curious")
    try:
        return library.deserialize(text)
    except (AttributeError, TypeError, ValueError, library.OpenDPException) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        msg = f"OpenDP cannot read the file: {first}"
        raise DomainError(msg) from None


def _only_constructors(data: Any) -> None:
    """Refuse a file that names functions other than OpenDP's constructors: reading it calls them."""
    stack = [data]
    while stack:  # every part of the file is taken once
        part = stack.pop()
        if isinstance(part, Mapping):
            module, name = part.get("__module__", "core"), part.get("__function__", "make_")
            known = str(name).startswith(("make_", "transformation_", "measurement_")) or str(name).endswith(
                ("_domain", "_distance", "_divergence", "approximate")
            )
            if {"__expr__", "__lazyframe__"} & set(part):
                msg = "The file holds a polars expression, which may carry code; it is not read."
                raise DomainError(msg)
            if module not in MODULES or not known or str(name).startswith("make_user"):
                msg = f"The file names {value_text(f'{module}.{name}')}, which is not a constructor of a measurement."
                raise DomainError(msg)
            stack += list(part.values())
        elif isinstance(part, list):
            stack += part
