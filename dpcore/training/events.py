r"""Events of dp-accounting as a ledger, read by the names of their classes and fields, from objects or from JSON.

========================================  =============================================================================
GaussianDpEvent(z)                        ``gaussian(z)``
LaplaceDpEvent(z)                         ``laplace(scale=z)``
DiscreteLaplaceDpEvent(a, s)              ``geometric(a s, s)``
RandomizedResponseDpEvent(p, k)           ``rr(log(1 + k (1 - p) / p), k)``
MixtureOfGaussiansDpEvent(s, c, p)        ``gaussian_mixture(s, c, p)``
TruncatedSubsampledGaussianDpEvent        ``truncated_poisson(z, q, B, N)``
SingleEpochTreeAggregationDpEvent(z, T)   ``tree_aggregation(z, T)``, T the largest tree: a record is in one of them
ZCDpEvent(rho, xi)                        ``zcdp(rho, xi)``
EpsilonDeltaDpEvent(e, d)                 ``dp(e, d)``
PoissonSampledDpEvent(q, event)           ``poisson(event, q)``; of a Gaussian ``poisson_gaussian(z, q)``
SampledWithoutReplacementDpEvent(N, n)    ``subsample(event, n/N)``, about a record that is replaced
RepeatAndSelectDpEvent(event, m, s)       ``best_of(event, m, s)``
SelfComposed, Composed                    counts and rows
NoOp, NonPrivate                          nothing, and ``dp(inf)``
========================================  =============================================================================

Any other event is refused by its name: leaving it out would make every number too small.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from dpcore.core.domains import COUNT, DELTA, LOSS_OR_INF, POSITIVE, SHARE
from dpcore.core.errors import DomainError
from dpcore.core.registry import value_text
from dpcore.language.problems import quoted
from dpcore.ledger import Ledger, Release
from dpcore.regions.selection import MEAN, SHAPE
from dpcore.training.step_accountant import NOISE

if TYPE_CHECKING:
    from collections.abc import Callable

REASONS: Final = {
    "SampledWithReplacementDpEvent": "a record may be drawn several times, and the event does not state how far a sum then moves",
    "UnsupportedDpEvent": "the library itself marks it as not supported",
}
"""Events of dp-accounting without a region, each with the reason."""
_DEEPEST = 100  # events inside events
_NAMED, _LONGEST = 8, 60  # unknown events that a message names, and letters of a name
_NAMELESS = "an event without class_name"
_RATE = SHARE.but(name="sampling_probability")
_SHIFT = POSITIVE.but(name="noise_parameter")
_TIMES = COUNT.but(name="count", high=10**15)
_SIZE = COUNT.but(high=10**9)
_REPLACED = ("rr(", "subsample(")  # expressions about a record that is replaced

Parts = list[tuple[str, int]]
"""Expressions and how often each occurs, in order."""


def ledger_from_event(event: Any) -> Ledger:
    """Return a ledger of an event of dp-accounting, a tree of compositions.

    Parameters
    ----------
    event : object
        A ``DpEvent``, its named tuple, or a mapping with ``class_name`` and its fields.

    Returns
    -------
    Ledger
        One row for each mechanism; raises `DomainError` that names every event without a region.

    Examples
    --------
    >>> step = {"class_name": "GaussianDpEvent", "noise_multiplier": 2.0}
    >>> sampled = {"class_name": "PoissonSampledDpEvent", "sampling_probability": 0.01, "event": step}
    >>> str(ledger_from_event({"class_name": "SelfComposedDpEvent", "event": sampled, "count": 100}).region)
    'poisson_gaussian(2, 0.01)^100'
    """
    unknown: dict[str, str] = {}
    parts = _parts(event, unknown, 0)
    if unknown:
        listed = "; ".join(f"{name} ({why})" for name, why in islice(unknown.items(), _NAMED))
        listed += f"; and {len(unknown) - _NAMED} more" if len(unknown) > _NAMED else ""
        msg = f"These events are not read: {listed}. Leaving them out would make every number too small."
        raise DomainError(msg)
    rows = tuple(Release(f"{number}", text, count) for number, (text, count) in enumerate(_joined(parts), 1))
    replaced = [_is_replaced(row.expression) for row in rows]
    if any(replaced) and not all(replaced):
        msg = (
            "RandomizedResponseDpEvent and SampledWithoutReplacementDpEvent are about a record that is replaced, the other events about one "
            "that is added or removed: they cannot be added up."
        )
        raise DomainError(msg)
    return Ledger(rows, "substitution" if any(replaced) else "add/remove")


def _is_replaced(text: str) -> bool:
    return any(name in text for name in _REPLACED)


def _joined(parts: Parts) -> Parts:
    """Return equal neighbours as one."""
    joined: Parts = []
    for text, count in parts:
        if joined and joined[-1][0] == text:
            joined[-1] = (text, joined[-1][1] + count)
        else:
            joined.append((text, count))
    return joined


def _parts(event: Any, unknown: dict[str, str], depth: int) -> Parts:
    """Return the expressions of an event and their counts; names of events without a region go into `unknown`."""
    if depth > _DEEPEST:
        msg = f"Events may be nested {_DEEPEST} deep at most."
        raise DomainError(msg)
    name = _name(event)
    if name == "ComposedDpEvent":
        return [part for one in _list(event, "events") for part in _parts(one, unknown, depth + 1)]
    if name == "SelfComposedDpEvent":
        times = _TIMES.check(_field(event, "count"))
        return [(text, times * count) for text, count in _parts(_field(event, "event"), unknown, depth + 1)]
    if name not in _READERS:
        unknown[name] = REASONS.get(name, "it is not known")
        return []
    return _READERS[name](event, unknown, depth)


# ---- mechanisms ----------------------------------------------------------------------------------------------


def _gaussian(event: Any, *_: Any) -> Parts:
    noise = NOISE.check(_field(event, "noise_multiplier"))
    return [(f"gaussian({noise!r})" if noise > 0 else "dp(inf)", 1)]


def _laplace(event: Any, *_: Any) -> Parts:
    noise = NOISE.check(_field(event, "noise_multiplier"))
    return [(f"laplace(scale={noise!r})" if noise > 0 else "dp(inf)", 1)]


def _discrete_laplace(event: Any, *_: Any) -> Parts:
    size = COUNT.but(name="sensitivity").check(_field(event, "sensitivity"))
    noise = _SHIFT.check(_field(event, "noise_parameter"))
    return [(f"geometric({noise * size!r}, {size})", 1)]


def _randomized_response(event: Any, *_: Any) -> Parts:
    share = SHARE.but(name="noise_parameter", low_open=False).check(_field(event, "noise_parameter"))
    size = COUNT.but(name="num_buckets").check(_field(event, "num_buckets"))
    if size == 1 or share == 1.0:
        return []
    return [(f"rr({math.log1p(size * (1 - share) / share)!r}, {size})" if share > 0 else "dp(inf)", 1)]


def _mixture(event: Any, *_: Any) -> Parts:
    noise = NOISE.but(name="standard_deviation").check(_field(event, "standard_deviation"))
    moves = [POSITIVE.but(name="sensitivities", low_open=False).check(one) for one in _list(event, "sensitivities")]
    shares = [SHARE.but(name="sampling_probs", low_open=False).check(one) for one in _list(event, "sampling_probs")]
    if noise == 0.0:
        return [("dp(inf)", 1)]
    lists = (", ".join(repr(float(one)) for one in part) for part in (moves, shares))
    return [(f"gaussian_mixture({noise!r}, {', '.join(f'[{part}]' for part in lists)})", 1)]


def _truncated(event: Any, *_: Any) -> Parts:
    noise = NOISE.check(_field(event, "noise_multiplier"))
    rate = _RATE.check(_field(event, "sampling_probability"))
    batch = _SIZE.but(name="truncated_batch_size").check(_field(event, "truncated_batch_size"))
    size = _SIZE.but(name="dataset_size").check(_field(event, "dataset_size"))
    return [(f"truncated_poisson({noise!r}, {rate!r}, {batch}, {size})" if noise > 0 else "dp(inf)", 1)]


def _tree(event: Any, *_: Any) -> Parts:
    noise = NOISE.check(_field(event, "noise_multiplier"))
    counts = _field(event, "step_counts")
    steps = [
        COUNT.but(name="step_counts", high=10**15).check(one)
        for one in (counts if isinstance(counts, (list, tuple)) else [counts])
    ]
    if not steps:
        return []
    return [(f"tree_aggregation({noise!r}, {max(steps)})" if noise > 0 else "dp(inf)", 1)]


def _concentrated(event: Any, *_: Any) -> Parts:
    rho, xi = (POSITIVE.but(name=name, low_open=False).check(_field(event, name, 0.0)) for name in ("rho", "xi"))
    return [(f"zcdp({rho!r}, {xi!r})", 1)]


def _statement(event: Any, *_: Any) -> Parts:
    epsilon = LOSS_OR_INF.check(_field(event, "epsilon"))
    delta = DELTA.check(_field(event, "delta", 0.0))
    return [(f"dp({epsilon!r}, {delta!r})", 1)]


# ---- operations ----------------------------------------------------------------------------------------------


def _poisson(event: Any, unknown: dict[str, str], depth: int) -> Parts:
    rate = _RATE.check(_field(event, "sampling_probability"))
    inside = _joined(_parts(_field(event, "event"), unknown, depth + 1))
    if not inside or unknown:
        return []
    if rate == 1.0:
        return inside
    if any(_is_replaced(text) for text, _ in inside):
        unknown["PoissonSampledDpEvent of an event about a record that is replaced"] = "it is about a record added"
        return []
    (text, count), *more = inside
    if count == 1 and not more and text.startswith("gaussian("):
        return [(f"poisson_{text.removesuffix(')')}, {rate!r})", 1)]
    return [(f"poisson({_product(inside)}, {rate!r})", 1)]


def _fixed_size(event: Any, unknown: dict[str, str], depth: int) -> Parts:
    size = _SIZE.but(name="source_dataset_size").check(_field(event, "source_dataset_size"))
    sample = _SIZE.but(name="sample_size", high=size).check(_field(event, "sample_size"))
    inside = _joined(_parts(_field(event, "event"), unknown, depth + 1))
    if not inside or unknown:
        return []
    return [(f"subsample({_product(inside)}, {sample}/{size})", 1)]


def _best(event: Any, unknown: dict[str, str], depth: int) -> Parts:
    mean, shape = MEAN.check(_field(event, "mean")), SHAPE.check(_field(event, "shape"))
    inside = _joined(_parts(_field(event, "event"), unknown, depth + 1))
    if not inside or unknown:
        return []
    return [(f"best_of({_product(inside)}, {mean!r}, {'inf' if math.isinf(shape) else repr(shape)})", 1)]


def _product(parts: Parts) -> str:
    return " * ".join(text if count == 1 else f"{text}^{count}" for text, count in parts)


_READERS: Final[dict[str, Callable[..., Parts]]] = {
    "NoOpDpEvent": lambda *_: [],
    "NonPrivateDpEvent": lambda *_: [("dp(inf)", 1)],
    "GaussianDpEvent": _gaussian,
    "LaplaceDpEvent": _laplace,
    "DiscreteLaplaceDpEvent": _discrete_laplace,
    "RandomizedResponseDpEvent": _randomized_response,
    "MixtureOfGaussiansDpEvent": _mixture,
    "TruncatedSubsampledGaussianDpEvent": _truncated,
    "SingleEpochTreeAggregationDpEvent": _tree,
    "ZCDpEvent": _concentrated,
    "EpsilonDeltaDpEvent": _statement,
    "PoissonSampledDpEvent": _poisson,
    "SampledWithoutReplacementDpEvent": _fixed_size,
    "RepeatAndSelectDpEvent": _best,
}
READ: Final = (*_READERS, "ComposedDpEvent", "SelfComposedDpEvent")
"""The names of all events that are read."""


# ---- fields of objects and mappings --------------------------------------------------------------------------


def _name(event: Any) -> str:
    if isinstance(event, Mapping):
        name = str(event.get("class_name", _NAMELESS))
    else:
        name = str(getattr(event, "class_name", type(event).__name__))
    return name if name == _NAMELESS or (name.isidentifier() and len(name) <= _LONGEST) else quoted(name)


def _field(event: Any, name: str, default: Any = None) -> Any:
    value = event.get(name, default) if isinstance(event, Mapping) else getattr(event, name, default)
    if value is None:
        msg = f"{_name(event)} has no field {name}."
        raise DomainError(msg)
    return value


def _list(event: Any, name: str) -> Sequence[Any]:
    value = _field(event, name)
    if not isinstance(value, (list, tuple)):
        msg = f"{name} of {_name(event)} must be a list, got {value_text(value)}."
        raise DomainError(msg)
    return value
