"""What a query with its mechanism offers: a region, releases, errors, closed forms and a sentence.

A *pair* is one query answered by one mechanism at given parameters, for example a histogram with Laplace noise at
epsilon = 0.5. A file of this package describes pairs:

.. code-block:: python

    @enter
    @dataclass(frozen=True)
    class CountLaplace(UtilityPair):
        name = "count_laplace"  # ClassVar[str]; how the command line, links and tests call it
        ...  # the other class attributes of `UtilityPair`
        epsilon: float = MAIN_EPSILON.field(0.5)  # every field has a Parameter of its own name, and a default
        probability: float = MISS.field(0.05)

so that forms, command line and tests are generated from `PAIRS`. Fields are checked by `UtilityPair.__post_init__`.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

import numpy as np

from dpcore.core.domains import REAL
from dpcore.core.errors import DomainError
from dpcore.core.parameter import one_of
from dpcore.core.registry import EPSILON, Parameter, check_names, unknown
from dpcore.regions.tradeoff import parameters_of
from dpcore.utility.dataset import EXAMPLE_RECORDS, Dataset

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from dpcore.regions.tradeoff import TradeOff
    from dpcore.utility.inverse import UtilityRequirement

KINDS: Final = ("exact", "upper", "lower", "approximate")
MEAN, RATE, QUANTILE = "mean", "rate", "quantile"


MAIN_EPSILON = EPSILON.but(low_open=True, infinite=False, high=1e3)
MISS = Parameter(
    "probability",
    low=0.0,
    high=1.0,
    low_open=True,
    high_open=True,
    label="risk",
    meaning="how often the error may exceed the stated bound",
    example=0.05,
)


@dataclass(frozen=True, slots=True)
class UtilityMeasure:
    """One way to say how good releases are.

    Parameters
    ----------
    name : str
        As in `UtilityPair.errors` and in facts: lower-case ASCII, e.g. ``mse``, ``l1``, ``quantile``.
    label : str
        For axes and tables, e.g. "mean squared error".
    unit : str, default ""
        e.g. "people", "people²", "" for a rate.
    meaning : str, default ""
        One sentence in plain words.
    statistic : str, default MEAN
        How releases become one number. ``mean``: the mean of the per-release numbers. ``rate``: the same, of 0s
        and 1s (a probability). ``quantile``: their quantile at `level`, the smallest t with P(error <= t) >= level.
    level : float, default 0.95
        Of a quantile.
    larger_is_better : bool, default False
        True for success probabilities; of errors, smaller ones are better.
    """

    name: str
    label: str
    unit: str = ""
    meaning: str = ""
    statistic: str = MEAN
    level: float = 0.95
    larger_is_better: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """A number known without simulation: `measure` is (exact), at most (upper) or at least (lower) `value`.

    Parameters
    ----------
    measure : str
        The name of one of the pair's measures.
    value : float
        Finite. Never optimistic: an ``upper`` fact holds for certain, an ``exact`` one has only rounding error.
    kind : str
        Exact, upper, lower or approximate. Several facts of one measure are allowed, e.g. exact and lower.
    theorem : str
        By which argument it holds, with its conditions; shown beside the number.
    formula : str, default ""
        LaTeX, without dollar signs; may be empty.
    about : str, default "release"
        What is bounded: ``release``, the errors that `UtilityPair.errors` measures, or ``any``, a lower bound on every
        mechanism of a class that `theorem` names.
    """

    measure: str
    value: float
    kind: str
    theorem: str
    formula: str = ""
    about: str = "release"

    def __post_init__(self) -> None:
        """Refuse an unknown kind and a value that is not finite."""
        one_of("kind", KINDS).check(self.kind)
        REAL.but(name=f"The fact about {self.measure}").check(self.value)


@dataclass(frozen=True)
class UtilityPair(ABC):
    """A query answered by a mechanism at given parameters; a frozen dataclass whose fields are the parameters."""

    name: ClassVar[str]  # "histogram_laplace"
    title: ClassVar[str]  # "histogram with Laplace noise"
    query: ClassVar[str]  # "histogram"; pairs of one query are listed together
    mechanism: ClassVar[str]  # "Laplace"
    main: ClassVar[str] = "epsilon"  # the parameter that tables and figures move
    span: ClassVar[tuple[float, float]] = (0.05, 5.0)  # where the main parameter is usually drawn, log scale
    formula: ClassVar[str]  # LaTeX of the mechanism
    assumptions: ClassVar[str]  # plain words
    reference: ClassVar[str]
    measure: ClassVar[str]  # name of the headline measure, one of `measures`
    uses_data: ClassVar[bool] = True  # False: everything follows from the parameters, `data` is ignored
    of_numbers: ClassVar[tuple[str, ...]] = ()  # parameters that change nothing about categories
    clips: ClassVar[bool] = False  # True: records outside the public bounds bias the answer, as noise spreads it
    wide_costs: ClassVar[bool] = (
        False  # True: wider bounds need more noise, so that they are a choice between two errors
    )

    def __post_init__(self) -> None:
        """Check every field against its parameter."""
        for name, parameter in parameters_of(type(self)):
            object.__setattr__(self, name, parameter.check(getattr(self, name)))

    # ---- what a pair must offer ------------------------------------------------------------------------------

    @property
    @abstractmethod
    def region(self) -> TradeOff:
        """Region of one release at these parameters, over all datasets; its `kind` says whether exact or a bound."""

    @property
    @abstractmethod
    def measures(self) -> tuple[UtilityMeasure, ...]:
        """The measures, the headline one first."""

    @abstractmethod
    def answer(self, data: Dataset) -> NDArray[np.float64]:
        """Return the true answer, of the records as they came: an array, of shape () for a number."""

    @abstractmethod
    def release(self, data: Dataset, rng: Generator, count: int) -> NDArray[np.float64]:
        """Return `count` independent releases, an array of shape (count, *answer shape), without a Python loop."""

    @abstractmethod
    def errors(self, data: Dataset, releases: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Return for every measure one number per release, an array of shape (count,)."""

    @abstractmethod
    def closed_forms(self, data: Dataset, n: int | None = None) -> tuple[Fact, ...]:
        """Return what is known of the measures without simulation.

        Parameters
        ----------
        data : Dataset
            The dataset.
        n : int, optional
            Answer as if the data had n records with the same shares (None: as they are). A pair whose facts do not
            depend on n ignores it; one that cannot answer raises a DomainError.
        """

    @abstractmethod
    def sentence(self, data: Dataset) -> str:
        """Say in plain words, rounded outward, how far a release is off."""

    # ---- what it may change ----------------------------------------------------------------------------------

    def centre(self, data: Dataset) -> NDArray[np.float64]:
        """Return what is answered without noise: the answer of the values within the bounds."""
        return self.answer(data.unclipped())

    def region_at(self, data: Dataset) -> TradeOff:  # noqa: ARG002  for those whose region depends on the data
        """Return the region for the dataset at hand, its bounds and its worst neighbour: what a page shows.

        By default that over all datasets.
        """
        return self.region

    def example(self, n: int = EXAMPLE_RECORDS) -> Dataset:
        """Return n made-up records that fit this pair and its parameters."""
        return Dataset.example(n)

    def named(self) -> tuple[str, ...]:
        """Return the answers of a text column that the query itself names: they are public with it."""
        return ()

    def labels(self, data: Dataset) -> tuple[str, ...]:
        """Return one name per coordinate of the answer (`answer(data).ravel()`), for tables and bars."""
        return tuple(str(i) for i in range(np.size(self.answer(data))))

    def width(self, data: Dataset) -> int:
        """Return how many numbers one release takes while it is drawn; chunks of releases are sized by it."""
        return max(1, int(np.size(self.answer(data))))

    def depends_on_n(self) -> bool:
        """Return whether `closed_forms` changes with n."""
        return False

    def monotone_facts(
        self,
        measure: str,  # noqa: ARG002  for those whose measures go up and down
        parameter: str,  # noqa: ARG002
        data: Dataset,
        n: int | None = None,
    ) -> tuple[Fact, ...]:
        """Return the facts the inverse question may rest on: those that only grow or only fall with `parameter`."""
        return self.closed_forms(data, n)

    # ---- what every pair has ---------------------------------------------------------------------------------

    @classmethod
    def parameters(cls) -> tuple[Parameter, ...]:
        """Return the parameters in the order of the fields."""
        return tuple(parameter for _, parameter in parameters_of(cls))

    def but(self, **changes: Any) -> UtilityPair:
        """Return this pair with some parameters changed; a wrong name is answered with the nearest."""
        check_names(self.parameters(), changes, self.name)
        return dataclasses.replace(self, **changes)

    def measure_of(self, name: str) -> UtilityMeasure:
        """Return one measure by name; a wrong name is answered with the nearest."""
        measures = {m.name: m for m in self.measures}
        if name not in measures:
            raise DomainError(unknown("measure", name, list(measures), self.name))
        return measures[name]

    def requirement(self, measure: str, target: float, data: Dataset, of: str | None = None) -> UtilityRequirement:
        """Answer the inverse question: which epsilon (or other parameter, or ``n``) meets `target`.

        See `dpcore.utility.inverse.requirement`.
        """
        from dpcore.utility.inverse import requirement  # noqa: PLC0415  it works on pairs

        return requirement(self, measure, target, data, of)


PAIRS: Final[dict[str, type[UtilityPair]]] = {}
"""The classes of all pairs of a query and a mechanism, by name."""
_P = TypeVar("_P", bound=type[UtilityPair])


def enter(cls: _P) -> _P:
    """Register a pair under its name.

    Parameters
    ----------
    cls : type
        A subclass of `UtilityPair`.

    Returns
    -------
    type
        The same class.
    """
    PAIRS[cls.name] = cls
    return cls


def pair(name: str, **values: Any) -> UtilityPair:
    """Return the pair of this name.

    Parameters
    ----------
    name : str
        One of `PAIRS`, such as ``count_laplace``.
    **values : object
        Its parameters; the others take their defaults.

    Returns
    -------
    UtilityPair
        Query, mechanism and parameters.

    Examples
    --------
    >>> from dpcore.utility import pair
    >>> pair("count_laplace", epsilon=0.5).title
    'count with Laplace noise'
    """
    if name not in PAIRS:
        raise DomainError(unknown("pair", name, sorted(PAIRS)))
    check_names(PAIRS[name].parameters(), values, name)
    return PAIRS[name](**values)
