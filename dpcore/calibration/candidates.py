"""The noises to choose from: how each is written, how large its error is, and how much noise an error bound allows.

Every mechanism that is offered (`Mechanism.offered`) is a candidate. The mechanism itself defines its name, how its noise scales
with the sensitivity and which shape has the least error.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpcore.calibration.unknown import Place
from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest
from dpcore.mechanisms.base import Mechanism, kinds
from dpcore.mechanisms.law import least
from dpcore.regions.tradeoff import argument_texts, parameters_of

if TYPE_CHECKING:
    from dpcore.core.registry import Entry, Parameter
    from dpcore.mechanisms.base import Offer
    from dpcore.mechanisms.law import Law

_LOSSES: Final = (1e-6, *np.geomspace(1e-4, 500.0, 100).tolist())
"""First trial values of a parameter that decreases the noise; the shape may change from one to the next."""
_WIDTHS: Final = (
    *np.geomspace(1e-18, 1e-7, 12).tolist(),
    *np.geomspace(1e-6, 1e6, 121).tolist(),
    *np.geomspace(1e7, 1e18, 12).tolist(),
)
"""First trial values of a parameter that increases the noise, in units of the error. Those at either end serve probabilities next to 0 and 1."""


def offered() -> tuple[type[Mechanism], ...]:
    """Return the mechanisms that are offered, by rank."""
    mechanisms = [kind for kind in kinds() if kind.offered]
    return tuple(sorted(mechanisms, key=lambda kind: (kind.offer().rank, kind.entry.name)))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A kind of noise for an answer that moves by `sensitivity`.

    `q` is the sampling rate of noise on samples; `rest` holds names and values of the other parameters that were chosen.
    """

    kind: type[Mechanism]
    sensitivity: float = 1.0
    q: float = 1.0
    rest: tuple[tuple[str, Any], ...] = ()

    @property
    def entry(self) -> Entry:
        """Its description."""
        return self.kind.entry

    @property
    def name(self) -> str:
        """Its name in the language."""
        return self.entry.name

    @property
    def _offer(self) -> Offer:
        return self.kind.offer()

    @property
    def title(self) -> str:
        """Its name as people read it."""
        return self._offer.title

    @property
    def short(self) -> str:
        """Its name where there is little room, as in a legend."""
        return self._offer.short

    @property
    def parameter(self) -> str:
        """What is solved for."""
        return self.entry.parameters[0].name

    @property
    def symbol(self) -> str:
        """What is solved for, as people write it."""
        return self._offer.symbol

    @property
    def sampled(self) -> bool:
        """Whether it works on a sample of the records."""
        return any(parameter.name == "q" for parameter in self.entry.parameters)

    @property
    def is_noise(self) -> bool:
        """Whether a larger value of the parameter means more noise; if its name does not say so, two values decide."""
        falling = Place(self.entry.parameters[0], self.name, 1).falling
        if falling is not None:
            return falling
        example = self.entry.parameters[0].example
        return (self.deviation(2 * example) or 0.0) > (self.deviation(example) or 0.0)

    @property
    def integer(self) -> bool:
        """Whether the noise takes integers only."""
        law = self._law(self.entry.parameters[0].example)
        return law is not None and law.integer

    @property
    def why_not(self) -> str:
        """Why it cannot answer this question at all; empty if it can."""
        return self.kind.why_not(self.sensitivity)

    def _values(self) -> list[tuple[Parameter, Any]]:
        """Return all parameters but the one that is solved for, with their values."""
        values = {"sensitivity": self.sensitivity, "q": self.q, **dict(self.rest)}
        pairs = []
        for parameter in self.entry.parameters[1:]:
            own = parameter.example if parameter.required else parameter.default
            value = values.get(parameter.name, own)
            pairs.append((parameter, int(value) if parameter.kind == "integer" and value == int(value) else value))
        return pairs

    def written(self, value: str) -> str:
        """Return the expression of one use with the parameter written as `value` (a number, or ?)."""
        return f"{self.name}({', '.join([value, *argument_texts(self._values())])})"

    def mechanism(self, value: float) -> Mechanism:
        """Return the mechanism with this value of its parameter."""
        first = int(value) if self.entry.parameters[0].kind == "integer" else value
        mechanism = self.entry.build(first, *(own for _, own in self._values()))
        if not isinstance(mechanism, Mechanism):  # every kind offered is one
            raise TypeError(self.name)
        return mechanism

    # ---- how far it is off ---------------------------------------------------------------------------------

    def _law(self, value: float) -> Law | None:
        """Return the law of the noise in units of the answer; None if there is no noise on the answer itself."""
        try:
            return self.mechanism(value).law_at(self.sensitivity)
        except DomainError:
            return None

    def deviation(self, value: float) -> float | None:
        """Return the standard deviation of the noise; None if there is no noise on the answer itself."""
        law = self._law(value)
        return None if law is None else law.deviation

    def error(self, value: float, probability: float) -> float | None:
        """Return the bound that the error exceeds with at most this probability, rounded up; None as for `deviation`."""
        law = self._law(value)
        return None if law is None else law.reach(probability)

    def for_error(self, error: float, probability: float) -> tuple[Candidate, float]:
        """Return the most private parameter that keeps the error within a bound, up to a probability.

        The candidate returned with it has its other parameters chosen for the least error.
        """
        example = self.entry.parameters[0].example
        self.mechanism(example).law_at(self.sensitivity)  # raises with the reason if the noise alone does not decide
        value = self._searched(error, probability)
        return self.shaped(value), value

    def _searched(self, error: float, probability: float) -> float:
        """Return the most private value, up to rounding, whose noise exceeds `error` with at most this probability.

        The shape may change with the value, and the tail at a fixed place need not be monotone: the search starts at the
        first value of a grid, private ones first, after which all values meet the bound.
        """
        parameter, sign = self.entry.parameters[0], -1.0 if self.is_noise else 1.0

        def met(signed: float) -> bool:
            value = sign * signed
            law = self.shaped(value).mechanism(value).law_at(self.sensitivity)
            beyond = law.above(np.array([error]))[0] + law.below(np.array([_inner(law, error)]))[0]
            return bool(beyond <= probability)

        unit = math.floor(error) + 1.0 if self.integer else error
        if sign < 0:
            values = [width * unit for width in _WIDTHS]
        else:
            far = (width * self.sensitivity / unit for width in _WIDTHS)
            values = [*_LOSSES, *(value for value in far if not _LOSSES[0] <= value <= _LOSSES[-1])]
        if parameter.kind == "integer":
            values = sorted({float(round(value)) for value in values})
        grid = sorted(sign * value for value in values if _allowed(parameter, value))
        missed = [place for place, signed in enumerate(grid) if not met(signed)]
        if not missed:
            return float(sign * grid[0])
        if missed[-1] == len(grid) - 1:
            short = self.title[:1].lower() + self.title[1:]
            msg = (
                f"No {short} keeps the error within {nearest(error / self.sensitivity)} times the sensitivity so often."
            )
            raise DomainError(msg)
        low, high = grid[missed[-1]], grid[missed[-1] + 1]
        if parameter.kind == "integer":
            whole = range(int(low), int(high) + 1)
            return float(sign * whole[bisect_left(whole, 1, key=lambda signed: int(met(signed)))])
        return sign * least(met, low, high)

    def shaped(self, value: float) -> Candidate:
        """Return the candidate with its other parameters chosen for the least error at this value."""
        mechanism = self.mechanism(value)
        best = mechanism.shaped()
        if best is mechanism:
            return self
        moved = [(p.name, getattr(best, field)) for field, p in parameters_of(self.kind)[1:] if p.name != "sensitivity"]
        return replace(self, rest=tuple(moved))


def _inner(law: Law, error: float) -> float:
    """Return the largest value below -error."""
    return math.ceil(-error) - 1.0 if law.integer else -error


def _allowed(parameter: Parameter, value: float) -> bool:
    try:
        parameter.check(int(value) if parameter.kind == "integer" else value)
    except DomainError:
        return False
    return True


def candidates(sensitivity: float, q: float) -> tuple[Candidate, ...]:
    """Return all candidates; those that work on samples only if the sampling rate is below 1."""
    every = (Candidate(kind, sensitivity, q) for kind in offered())
    return tuple(one for one in every if q < 1 or not one.sampled)
