"""A walk through the language: regions and questions, drawn at random from the registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpcore import DpcoreError, TradeOff
from dpcore.core import registry
from dpcore.core.parameter import Choice

if TYPE_CHECKING:
    from dpcore.core.registry import Entry, Parameter

FORMULAS = ("max(1-2*a-0.1, 0)", "0.8-0.8*a", "(1-a)^2", "(1-a)/(1+1.7*a)", "1-sqrt(a)", "1-a")


def texts(parameter: Parameter) -> tuple[str, ...]:
    """Return values of a parameter that is a text: its choices, otherwise formulas."""
    return parameter.choices if isinstance(parameter, Choice) else FORMULAS


class Walker:
    """Draws regions and questions from a generator."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.plain = [e for e in registry.entries() if all(p.kind not in ("region", "regions") for p in e.parameters)]
        self.operations = [e for e in registry.entries() if e not in self.plain]

    def number(self, parameter: Parameter) -> float:
        low, high = max(parameter.low, 0.0), min(parameter.high, 1e12)
        kind = self.rng.random()
        if kind < 0.03 and not parameter.low_open:
            return low
        if kind < 0.05 and parameter.infinite:
            return float("inf")
        least, most = (1e-2, min(8.0, 0.99 * (high - low))) if kind < 0.8 else (parameter.least or 1e-10, high - low)
        return float(min(low + np.exp(self.rng.uniform(np.log(min(least, most)), np.log(most))), high))

    def argument(self, parameter: Parameter, depth: int) -> object:  # noqa: PLR0911  one for each kind
        rng = self.rng
        if parameter.kind == "number":
            return self.number(parameter)
        if parameter.kind == "integer":
            low, high = int(parameter.low), int(min(parameter.high, 1000))
            return int(rng.integers(low, min(high, low + 8) + 1) if rng.random() < 0.9 else rng.integers(low, high + 1))
        if parameter.kind == "numbers":
            if parameter.high == 1.0:
                weight = rng.random(3) * (rng.random(3) < 0.9) + 1e-12 * (rng.random(3) < 0.1)
                return (weight / weight.sum()).tolist() if weight.sum() > 0 else [1.0, 0.0, 0.0]
            return [self.number(parameter.but(kind="number")) for _ in range(rng.integers(1, 4))]
        if parameter.kind == "points":
            return rng.random((rng.integers(1, 5), 2)).tolist()
        if parameter.kind == "text":
            return str(rng.choice(texts(parameter)))
        if parameter.kind == "regions":
            return [self.region(depth - 1) for _ in range(rng.integers(1, 4))]
        return self.region(depth - 1)

    def named(self, entry: Entry, depth: int) -> TradeOff:
        arguments = [self.argument(parameter, depth) for parameter in entry.parameters]
        flat = arguments[0] if entry.parameters[0].kind == "regions" else arguments
        return entry.build(*flat)  # type: ignore[misc]  # a list of regions is spread

    def region(self, depth: int) -> TradeOff:
        while True:
            try:
                region = self._region(depth)
                region.neighbours  # noqa: B018  parts that speak of different neighbours are drawn anew
            except DpcoreError:
                continue
            return region

    def _region(self, depth: int) -> TradeOff:
        rng = self.rng
        kind = rng.random()
        if depth <= 0 or kind < 0.3:
            return self.named(self.plain[rng.integers(len(self.plain))], 0)
        if kind < 0.65:
            return self.named(self.operations[rng.integers(len(self.operations))], depth)
        first = self.region(depth - 1)
        if kind < 0.85:
            return first ** int(rng.choice([1, 2, 3, 4, 5, 10, 30, 100]))
        second = self.region(depth - 1)
        return first * second if kind < 0.93 else first & second

    def questions(self) -> tuple[list[float], list[float]]:
        rng = self.rng
        shares = rng.uniform(0, 1.1, rng.integers(1, 4)).tolist()
        alphas = [float(a) for a in np.where(rng.random(3) < 0.7, rng.random(3), 10.0 ** -rng.uniform(0, 30, 3))]
        return shares, alphas
