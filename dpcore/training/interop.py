r"""Accounts of other libraries: Opacus's histories and accountant interface, and dp-accounting's events, as ledgers.

Nothing is imported from these libraries but the base class of `opacus_accountant`. Events are read by the names of their
classes and fields, from objects or from JSON, and mean:

==================================  ===================================================================================
GaussianDpEvent(z)                  ``gaussian(z)``
LaplaceDpEvent(z)                   ``laplace(scale=z)``
DiscreteLaplaceDpEvent(a, s)        ``geometric(a s, s)``
RandomizedResponseDpEvent(p, k)     ``rr(log(1 + k (1 - p) / p), k)``
ZCDpEvent(rho, xi)                  ``zcdp(rho, xi)``
PoissonSampledDpEvent(q, event)     ``poisson(event, q)``; of a Gaussian ``poisson_gaussian(z, q)``
SelfComposed, Composed              counts and rows
NoOp, NonPrivate                    nothing, and ``dp(inf)``
==================================  ===================================================================================

Any other event is refused by its name: to leave it out would make every number too small.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from dpcore.core.domains import COUNT, POSITIVE, SHARE
from dpcore.core.errors import DomainError
from dpcore.core.registry import shown
from dpcore.files.documents import json_of
from dpcore.ledger import Ledger, Release
from dpcore.training.step_accountant import MECHANISM, NOISE, Accountant

if TYPE_CHECKING:
    from collections.abc import Callable

REASONS: Final = {
    "SampledWithoutReplacementDpEvent": "a sample of fixed size is about replaced records, for which the event does not state how far a sum moves",
    "SampledWithReplacementDpEvent": "samples with replacement have no region here",
    "RepeatAndSelectDpEvent": "selecting the best of several runs has no region here",
    "SingleEpochTreeAggregationDpEvent": "a tree needs neighbours in which a record is blanked out, not removed",
    "MixtureOfGaussiansDpEvent": "mixtures of several shifts have no region here",
    "TruncatedSubsampledGaussianDpEvent": "truncated samples have no region here",
    "UnsupportedDpEvent": "the library itself marks it as not supported",
}
"""Events of dp-accounting without a region, each with the reason."""
_DEEPEST = 100  # events inside events
_RATE = SHARE.but(name="sampling_probability")
_SHIFT = POSITIVE.but(name="noise_parameter")
_TIMES = COUNT.but(name="count", high=10**15)

Parts = list[tuple[str, int]]
"""Expressions and how often each occurs, in order."""


# ---- Opacus --------------------------------------------------------------------------------------------------


def ledger_from_opacus(source: Any) -> Ledger:
    """Return a ledger of an Opacus accountant, its state or its history.

    Parameters
    ----------
    source : object
        An accountant, what its ``state_dict()`` returns, or a list of (noise multiplier, sample rate, number of steps).

    Returns
    -------
    Ledger
        One row for each run of equal steps, for one record added or removed.

    Examples
    --------
    >>> str(ledger_from_opacus([(1.1, 0.01, 100), (1.3, 0.01, 50)]).region)
    'poisson_gaussian(1.1, 0.01)^100 * poisson_gaussian(1.3, 0.01)^50'
    """
    history = source.get("history") if isinstance(source, Mapping) else getattr(source, "history", source)
    if not isinstance(history, (list, tuple)):
        msg = f"An Opacus history is a list of (noise multiplier, sample rate, number of steps), got {shown(history)}."
        raise DomainError(msg)
    return Accountant(history).ledger()


def opacus_accountant() -> type:
    """Return an accountant class for Opacus: register it under a name, and a privacy engine takes it.

    ``opacus.accountants.register_accountant("dpcore", opacus_accountant())``, then ``PrivacyEngine(accountant="dpcore")``.

    Returns
    -------
    type
        A class with Opacus's interface whose epsilon is certified.
    """
    return _adapter(import_module("opacus.accountants").IAccountant)  # only who uses Opacus has it


def _adapter(base: type) -> type:
    """Return the class over Opacus's base class, which holds a list `history` and writes and reads its state."""

    class OpacusAccountant(base):  # type: ignore[misc]  # a class that is known only where Opacus is
        """Opacus's interface; `history` stays a plain list, as Opacus and its checkpoints expect it."""

        def __init__(self) -> None:
            self.history: list[tuple[float, float, int]] = []

        def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
            """Count one step."""
            account = Accountant(self.history[-1:])
            account.step(noise_multiplier=noise_multiplier, sample_rate=sample_rate)
            self.history[-1:] = account.history

        def get_epsilon(self, delta: float, **_: Any) -> float:
            """Return epsilon at delta, never below the truth."""
            return Accountant(self.history).epsilon(delta)

        def __len__(self) -> int:
            """Return the number of steps."""
            return len(Accountant(self.history))

        @classmethod
        def mechanism(cls) -> str:
            """Return the name under which it is registered."""
            return MECHANISM

    return OpacusAccountant


# ---- dp-accounting -------------------------------------------------------------------------------------------


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
    """
    unknown: dict[str, str] = {}
    parts = _parts(event, unknown, 0)
    if unknown:
        listed = "; ".join(f"{name} ({why})" for name, why in unknown.items())
        msg = f"These events are not read: {listed}. Leaving them out would make every number too small."
        raise DomainError(msg)
    rows = tuple(Release(f"{number}", text, count) for number, (text, count) in enumerate(_joined(parts), 1))
    replaced = ["rr(" in row.expression for row in rows]
    if any(replaced) and not all(replaced):
        msg = (
            "RandomizedResponseDpEvent is about a record that is replaced, the other events about one that is added or removed: they "
            "cannot be added up."
        )
        raise DomainError(msg)
    return Ledger(rows, "substitution" if any(replaced) else "add/remove")


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


def _concentrated(event: Any, *_: Any) -> Parts:
    rho, xi = (POSITIVE.but(name=name, low_open=False).check(_field(event, name, 0.0)) for name in ("rho", "xi"))
    return [(f"zcdp({rho!r}, {xi!r})", 1)]


def _poisson(event: Any, unknown: dict[str, str], depth: int) -> Parts:
    rate = _RATE.check(_field(event, "sampling_probability"))
    inside = _joined(_parts(_field(event, "event"), unknown, depth + 1))
    if not inside or unknown:
        return []
    if rate == 1.0:
        return inside
    if any("rr(" in text for text, _ in inside):
        unknown["PoissonSampledDpEvent of RandomizedResponseDpEvent"] = (
            "one is about a record added, the other about one replaced"
        )
        return []
    (text, count), *more = inside
    if count == 1 and not more and text.startswith("gaussian("):
        return [(f"poisson_{text.removesuffix(')')}, {rate!r})", 1)]
    product = " * ".join(text if count == 1 else f"{text}^{count}" for text, count in inside)
    return [(f"poisson({product}, {rate!r})", 1)]


_READERS: Final[dict[str, Callable[..., Parts]]] = {
    "NoOpDpEvent": lambda *_: [],
    "NonPrivateDpEvent": lambda *_: [("dp(inf)", 1)],
    "GaussianDpEvent": _gaussian,
    "LaplaceDpEvent": _laplace,
    "DiscreteLaplaceDpEvent": _discrete_laplace,
    "RandomizedResponseDpEvent": _randomized_response,
    "ZCDpEvent": _concentrated,
    "PoissonSampledDpEvent": _poisson,
}


def _name(event: Any) -> str:
    if isinstance(event, Mapping):
        return str(event.get("class_name", "an event without class_name"))
    return str(getattr(event, "class_name", type(event).__name__))


def _field(event: Any, name: str, default: Any = None) -> Any:
    value = event.get(name, default) if isinstance(event, Mapping) else getattr(event, name, default)
    if value is None:
        msg = f"{_name(event)} has no field {name}."
        raise DomainError(msg)
    return value


def _list(event: Any, name: str) -> Sequence[Any]:
    value = _field(event, name)
    if not isinstance(value, (list, tuple)):
        msg = f"{name} of {_name(event)} must be a list, got {shown(value)}."
        raise DomainError(msg)
    return value


# ---- files ---------------------------------------------------------------------------------------------------


def read_accounts(text: str) -> Ledger:
    """Return a ledger of a JSON text: a history or state of Opacus, or an event of dp-accounting.

    Parameters
    ----------
    text : str
        ``[[1.1, 0.01, 1000]]``, ``{"history": ...}``, or ``{"class_name": "GaussianDpEvent", "noise_multiplier": 2}``.

    Returns
    -------
    Ledger
        Raises `DomainError` if it is none of them.
    """
    try:
        data = json_of(text)
    except ValueError as error:
        msg = f"The file is not JSON: {error}."
        raise DomainError(msg) from None
    if isinstance(data, Mapping) and "class_name" in data:
        return ledger_from_event(data)
    if isinstance(data, list) or (isinstance(data, Mapping) and "history" in data):
        return ledger_from_opacus(data)
    msg = "The file is neither an Opacus history (a list, or an object with history) nor an event (an object with class_name)."
    raise DomainError(msg)
