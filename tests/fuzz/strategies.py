"""Regions of the language, drawn from the registry: a new name is drawn as soon as it is described.

Numbers are ordinary most of the time and anywhere in their domain otherwise. What the language refuses in words (a
relation that does not fit, lists of unequal length) is drawn anew.
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

from hypothesis import assume
from hypothesis import strategies as st

import dpcore
from dpcore import DomainWarning, DpcoreError
from dpcore.core import registry
from tests.fuzz.walk import texts

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

    from dpcore import TradeOff
    from dpcore.core.registry import Entry, Parameter

ORDINARY = (1e-2, 8.0)
_KEEPS = 10  # decades beyond which a positive number without a stated least size is not drawn


def _logarithmic(low: float, high: float) -> SearchStrategy[float]:
    """Return positive numbers whose logarithm is even, with the two ends."""
    inside = st.floats(math.log(low), math.log(high)).map(lambda u: min(max(math.exp(u), low), high))
    return st.one_of(inside, st.sampled_from([low, high])) if low < high else st.just(low)


def numbers(parameter: Parameter, *, extreme: bool = True) -> SearchStrategy[float]:
    """Return values of a parameter: ordinary ones, and a share from anywhere in its domain."""
    low, high = max(parameter.low, 0.0), parameter.high
    origin = max(0.0, low)
    least = parameter.least or 10.0**-_KEEPS
    top = min(high, 1e12) - origin
    ordinary = _logarithmic(min(ORDINARY[0], top), min(ORDINARY[1], 0.99 * top))
    some = [ordinary] * 4
    if extreme:
        some.append(_logarithmic(least, top))
        if not parameter.low_open:
            some.append(st.just(0.0))
        if parameter.infinite:
            some.append(st.just(math.inf))
    value = st.one_of(*some).map(lambda x: x if math.isinf(x) else min(origin + x, high))
    return value.filter(lambda x: not (parameter.high_open and x >= high) and not (parameter.low_open and x <= low))


def _simplex() -> SearchStrategy[list[float]]:
    """Return three probabilities, with zeros and very small ones among them."""
    weight = st.one_of(st.floats(0.01, 1.0), st.floats(0.01, 1.0), st.sampled_from([0.0, 1e-12, 1e-200]))
    return (
        st.lists(weight, min_size=3, max_size=3).filter(lambda w: sum(w) > 0.01).map(lambda w: [x / sum(w) for x in w])
    )


def values(parameter: Parameter, depth: int, *, extreme: bool = True) -> SearchStrategy[Any]:
    """Return values of a parameter of any kind; regions inside are at most `depth` operations deep."""
    if parameter.kind == "number":
        return numbers(parameter, extreme=extreme)
    if parameter.kind == "integer":
        low, high = int(parameter.low), int(min(parameter.high, 10**6))
        some = [st.integers(low, min(high, low + 7))] * 4 + ([st.integers(low, min(high, 1000))] if extreme else [])
        return st.one_of(*some)
    if parameter.kind == "numbers":
        one = numbers(parameter.but(kind="number"), extreme=extreme)
        return _simplex() if parameter.high == 1.0 else st.lists(one, min_size=1, max_size=3)
    if parameter.kind == "points":
        return st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=4)
    if parameter.kind == "text":
        return st.sampled_from(texts(parameter))
    inner = regions(depth - 1, extreme=extreme)
    return st.lists(inner, min_size=1, max_size=3) if parameter.kind == "regions" else inner


def takes_regions(entry: Entry) -> bool:
    """Whether a name of the language is an operation on regions."""
    return any(parameter.kind in ("region", "regions") for parameter in entry.parameters)


@st.composite
def entry_regions(draw: DrawFn, entry: Entry, depth: int = 1, *, extreme: bool = True) -> TradeOff:
    """Return one region of a name, its parameters drawn."""
    arguments = [draw(values(parameter, depth, extreme=extreme)) for parameter in entry.parameters]
    flat = arguments[0] if entry.parameters[0].kind == "regions" else arguments
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DomainWarning)
            region = entry.build(*flat)
            region.neighbours  # noqa: B018  parts that speak of different neighbours are drawn anew
    except DpcoreError:
        assume(condition=False)
    return region


def atoms(*, extreme: bool = True) -> SearchStrategy[TradeOff]:
    """Return regions without regions inside."""
    plain = [entry for entry in registry.entries() if not takes_regions(entry)]
    return st.sampled_from(plain).flatmap(lambda entry: entry_regions(entry, extreme=extreme))


@st.composite
def _joined(draw: DrawFn, depth: int, *, extreme: bool) -> TradeOff:
    """Return a power, product or intersection."""
    first = draw(regions(depth - 1, extreme=extreme))
    sign = draw(st.sampled_from("^^*&"))
    if sign == "^":
        return first ** draw(st.one_of(st.integers(1, 5), st.sampled_from([10, 30, 100])))
    second = draw(regions(depth - 1, extreme=extreme))
    region = first * second if sign == "*" else first & second
    try:
        region.neighbours  # noqa: B018  parts that speak of different neighbours are drawn anew
    except DpcoreError:
        assume(condition=False)
    return region


def regions(depth: int = 2, *, extreme: bool = True) -> SearchStrategy[TradeOff]:
    """Return regions of the language with at most `depth` operations inside each other."""
    if depth <= 0:
        return atoms(extreme=extreme)
    operations = [entry for entry in registry.entries() if takes_regions(entry)]
    operated = st.sampled_from(operations).flatmap(lambda entry: entry_regions(entry, depth, extreme=extreme))
    return st.one_of(atoms(extreme=extreme), operated, _joined(depth, extreme=extreme))


def parsed(*texts: str) -> list[TradeOff]:
    """Return regions written as expressions, for explicit examples."""
    return [dpcore.parse(text) for text in texts]
