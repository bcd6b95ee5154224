"""How many records reach a threshold, and the sum of a bounded column: one number with noise."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest
from dpcore.core.registry import Parameter, value_text
from dpcore.files.sheet import LONGEST_NAME
from dpcore.mechanisms.geometric import Geometric
from dpcore.mechanisms.laplace import Laplace
from dpcore.regions.guarantees import DP
from dpcore.utility.additive import (
    GAUSSIAN_FLOOR,
    NEIGHBOURS,
    PURE_FLOOR,
    SUBSTITUTION,
    AdditivePair,
    Calibrated,
    gaussian_floor,
    pure_floor,
    stated,
)
from dpcore.utility.base import MAIN_EPSILON, MISS, Fact, enter
from dpcore.utility.noise import CentredNoise, GeometricNoise, LaplaceNoise, NormalNoise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcore.regions.tradeoff import TradeOff
    from dpcore.utility.dataset import Dataset

AT_LEAST = Parameter("at_least", label="at least", meaning="numbers of this size or more are counted", example=65.0)
EQUALS = Parameter(
    "equals", "text", label="equals", meaning="the answer that is counted, in a column of text", example="Sales"
)
_SETTING = re.compile(r"\s\w+=")  # would be another parameter where a pair is written as one text
LARGEST_MOVE = 10**6


@dataclass(frozen=True)
class Single(AdditivePair):
    """One number with noise; a neighbour moves it by `moves(data)`."""

    measure = "quantile"

    epsilon: float = MAIN_EPSILON.field(0.5)
    probability: float = MISS.field(0.05)

    @property
    def miss(self) -> float:
        """How often the error may exceed the quantile."""
        return self.probability

    def moves(self, data: Dataset) -> float:  # noqa: ARG002  a count moves by 1 whatever the data
        """Return how far the answer moves between neighbours."""
        return 1.0

    def coordinates(self, data: Dataset) -> int:  # noqa: ARG002  one number
        """Return 1."""
        return 1

    def labels(self, data: Dataset) -> tuple[str, ...]:  # noqa: ARG002  one number
        """Return the name of the answer."""
        return (self.query,)

    def floor(self, data: Dataset, n: int | None = None) -> Fact | None:  # noqa: ARG002  n does not matter
        """Return the bound for unbiased mechanisms."""
        value = self.moves(data) ** 2 * pure_floor(self.epsilon)
        return Fact("mse", value, "lower", PURE_FLOOR, r"\Delta^2/(4\sinh^2(\varepsilon/2))", "any")


@dataclass(frozen=True)
class Counting(Single):
    """How many numbers are at least `at_least`, or how many answers of a text column equal `equals`."""

    query = "count"
    assumptions = (
        "One person moves the count by at most 1, whether replaced, added or removed. A count needs no bounds: numbers "
        "outside them are compared as they are."
    )

    at_least: float = AT_LEAST.field(65.0)
    equals: str = EQUALS.field("")

    def __post_init__(self) -> None:
        """Check the fields; the answer counted is one that can be written into a link."""
        super().__post_init__()
        object.__setattr__(self, "equals", " ".join(self.equals.split()))
        if len(self.equals) > LONGEST_NAME or _SETTING.search(self.equals):
            msg = f"equals must be an answer of at most {LONGEST_NAME} characters without ' name=', got {value_text(self.equals)}."
            raise DomainError(msg)

    @property
    def units(self) -> str:
        """Records."""
        return "records"

    @property
    def noun(self) -> str:
        """A count."""
        return "a count"

    def answer(self, data: Dataset) -> NDArray[np.float64]:
        """Return the count."""
        if not data.categories:
            if self.equals:
                msg = f"equals counts answers of a text column; these are numbers, counted by at_least. Got {self.equals!r}."
                raise DomainError(msg)
            return np.array(float(np.count_nonzero(data.raw_column >= self.at_least)))
        if self.equals not in data.categories:
            msg = f"equals must be one of the answers {', '.join(data.categories)[:200]}, got {self.equals!r}."
            raise DomainError(msg)
        return np.array(float(np.count_nonzero(data.column == data.categories.index(self.equals))))

    def centre(self, data: Dataset) -> NDArray[np.float64]:
        """Return the count: bounds do not matter to it."""
        return self.answer(data)

    def named(self) -> tuple[str, ...]:
        """Return the answer that is counted."""
        return (self.equals,) if self.equals else ()

    def labels(self, data: Dataset) -> tuple[str, ...]:
        """Return what is counted."""
        return (f"equal to {self.equals}" if data.categories else f"at least {nearest(self.at_least)}",)

    def sentence(self, data: Dataset) -> str:
        """Say what is counted, and how far one release is off."""
        self.answer(data)  # what cannot be counted is said
        what = f" Counted: answers equal to {self.equals}." if data.categories else ""
        return f"{super().sentence(data)}{what}"


@dataclass(frozen=True)
class Summing(Single):
    """The sum of a column whose bounds are public."""

    query = "sum"
    clips = True
    wide_costs = True
    assumptions = "Every value lies within the public bounds, which were not computed from the data."

    neighbours: str = NEIGHBOURS.field(SUBSTITUTION)

    @property
    def noun(self) -> str:
        """A sum."""
        return "a sum"

    def answer(self, data: Dataset) -> NDArray[np.float64]:
        """Return the sum of the records as they came."""
        return np.array(float(data.raw_column.sum()))

    def moves(self, data: Dataset) -> float:
        """Return upper - lower (a record is replaced) or max(|lower|, |upper|) (a record comes or goes)."""
        return data.high - data.low if self.neighbours == SUBSTITUTION else max(abs(data.low), abs(data.high))


class WithLaplace(Single):
    """Laplace noise of scale moves / epsilon."""

    mechanism = "Laplace"
    reference = "Dwork, McSherry, Nissim, Smith 2006; lower bound: Hammersley, Chapman, Robbins"

    def noise(self, data: Dataset, n: int | None = None) -> CentredNoise:  # noqa: ARG002  n does not matter
        """Return the noise."""
        return LaplaceNoise(self.moves(data) / self.epsilon)


class WithGeometric(Single):
    """Integer noise with ratio e^(-epsilon / moves)."""

    mechanism = "geometric"
    reference = "Ghosh, Roughgarden, Sundararajan 2012"

    def noise(self, data: Dataset, n: int | None = None) -> CentredNoise:  # noqa: ARG002  n does not matter
        """Return the noise."""
        return GeometricNoise(self.epsilon / self.moves(data))


@dataclass(frozen=True)
class WithGaussian(Calibrated, Single):
    """Normal noise calibrated to (epsilon, delta)."""

    def noise(self, data: Dataset, n: int | None = None) -> CentredNoise:  # noqa: ARG002  n does not matter
        """Return the noise."""
        return NormalNoise(self.moves(data) * self.unit_sigma)

    def floor(self, data: Dataset, n: int | None = None) -> Fact | None:  # noqa: ARG002  n does not matter
        """Return the bound for unbiased mechanisms of the same Gaussian region."""
        value = self.moves(data) ** 2 * gaussian_floor(1.0 / self.unit_sigma)
        return Fact("mse", value, "lower", GAUSSIAN_FLOOR, r"\Delta^2/(e^{\mu^2}-1)", "any")


@enter
@dataclass(frozen=True)
class CountLaplace(WithLaplace, Counting):
    """Count with Laplace noise."""

    name = "count_laplace"
    title = "count with Laplace noise"
    formula = r"\#\{x_i\ge c\}+\mathrm{Lap}(1/\varepsilon)"

    @property
    def region(self) -> TradeOff:
        """The Laplace region."""
        return Laplace(self.epsilon)


@enter
@dataclass(frozen=True)
class CountGeometric(WithGeometric, Counting):
    """Count with geometric noise."""

    name = "count_geometric"
    title = "count with geometric noise"
    formula = r"\#\{x_i\ge c\}+N,\quad P(N=j)\propto e^{-\varepsilon|j|}"

    @property
    def region(self) -> TradeOff:
        """Exactly the (epsilon, 0) region."""
        return Geometric(self.epsilon)


@enter
@dataclass(frozen=True)
class CountGaussian(WithGaussian, Counting):
    """Count with normal noise."""

    name = "count_gaussian"
    title = "count with Gaussian noise"
    formula = r"\#\{x_i\ge c\}+\mathcal N(0,\sigma^2)"


@enter
@dataclass(frozen=True)
class SumLaplace(WithLaplace, Summing):
    """Bounded sum with Laplace noise."""

    name = "sum_laplace"
    title = "bounded sum with Laplace noise"
    formula = r"\sum_i x_i+\mathrm{Lap}(\Delta/\varepsilon)"

    @property
    def region(self) -> TradeOff:
        """The Laplace region."""
        return stated(Laplace(self.epsilon), self.neighbours)


@enter
@dataclass(frozen=True)
class SumGeometric(WithGeometric, Summing):
    """Bounded sum of integers with geometric noise."""

    name = "sum_geometric"
    title = "bounded sum of integers with geometric noise"
    formula = r"\sum_i x_i+N,\quad P(N=j)\propto e^{-\varepsilon|j|/\Delta}"
    assumptions = "Values and bounds are integers; the bounds are public and were not computed from the data."

    @property
    def region(self) -> TradeOff:
        """The (epsilon, 0) region, which holds for all bounds; `region_at` knows the bounds and is exact."""
        return stated(DP(self.epsilon), self.neighbours)

    def region_at(self, data: Dataset) -> TradeOff:
        """Return the exact region for the bounds of the data."""
        return stated(Geometric(self.epsilon, int(self.moves(data))), self.neighbours)

    def moves(self, data: Dataset) -> float:
        """Return the integer by which the sum moves; other data are refused."""
        moved = super().moves(data)
        if data.low != int(data.low) or data.high != int(data.high):
            msg = f"Geometric noise needs integer bounds, got {nearest(data.low)} and {nearest(data.high)}."
            raise DomainError(msg)
        if not 1 <= moved <= LARGEST_MOVE:
            msg = f"The sum must move by an integer in [1, {LARGEST_MOVE}] between neighbours, got {nearest(moved)}."
            raise DomainError(msg)
        return moved

    def answer(self, data: Dataset) -> NDArray[np.float64]:
        """Return the sum; values within the bounds must be integers."""
        fractions = int(np.count_nonzero(data.column != np.floor(data.column)))
        if fractions:
            msg = f"Geometric noise needs integers; {fractions} of {data.n} values are not."
            raise DomainError(msg)
        return super().answer(data)


@enter
@dataclass(frozen=True)
class SumGaussian(WithGaussian, Summing):
    """Bounded sum with normal noise."""

    name = "sum_gaussian"
    title = "bounded sum with Gaussian noise"
    formula = r"\sum_i x_i+\mathcal N(0,\Delta^2\sigma^2)"

    @property
    def region(self) -> TradeOff:
        """The true region of the noise."""
        return stated(super().region, self.neighbours)
