"""What a lab offers: a story, rows of printed beside true numbers, and pictures, at parameters a reader can change.

A *lab* looks at one claim of the statistical-foundations thesis: what was printed, what is true, why it matters. The file
``NAME_lab.py`` of this package describes one:

.. code-block:: python

    @enter
    @dataclass(frozen=True)
    class MixedNoise(Lab):
        name = "mixed_noise"  # ClassVar[str]; how the command line, links and tests call it
        ...  # the other class attributes of `Lab`
        epsilon: float = EPSILON.field(1.0)  # every field has a Parameter of its own name, and a default

so that the page, the command line and the tests are generated from `LABS`. Fields are checked by `Lab.__post_init__`.

A printed statement is judged at the source's own parameters, whatever a reader chooses: the defaults of the fields, which
are the source's numbers where it names any and an example inside the statement's range where it names none. A reader's
parameters give pictures and numbers, never a verdict.
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
import pandas as pd

from dpcore.core.domains import REAL
from dpcore.core.effort import checkpoint, current, effort
from dpcore.core.errors import DomainError
from dpcore.core.numerals import nearest
from dpcore.core.parameter import one_of
from dpcore.core.registry import DELTA, EPSILON, Parameter, check_names, unknown
from dpcore.regions.tradeoff import parameters_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.random import Generator

    from dpcore.curves.base import FloatArray
    from dpcore.regions.tradeoff import TradeOff

KINDS: Final = ("exact", "upper", "lower", "approximate", "simulation", "printed")
VERDICTS: Final = ("holds", "false", "misprint", "reading", "loose")
EFFORT: Final = ("replications",)  # how much is simulated: no parameter of a statement, so a reader's choice is kept
UNJUDGED: Final = "At the parameters chosen; the statement is judged at the source's own."
MARKS: Final = ("line", "point", "bar")
COLUMNS: Final = ("series", "x", "y", "low", "high", "kind", "mark")
AT_ONCE: Final = 200_000  # numbers a simulation draws at once: 1.6 MB, and milliseconds between two checks of the clock
BARS: Final = "Bars reach two standard errors to both sides."
LAB_EPSILON: Final = EPSILON.but(low=0.01, high=10.0, infinite=False)
LAB_DELTA: Final = DELTA.but(low=1e-12, high=0.5)
REPLICATIONS: Final = Parameter(
    "replications", "integer", low=20, high=20_000, label="repetitions", meaning="simulated data sets"
)


@dataclass(frozen=True, slots=True)
class Story:
    """What a lab opens on: three sentences in plain words.

    Parameters
    ----------
    claimed : str
        What the source states.
    true : str
        What is true instead.
    matters : str
        Why the difference matters.
    """

    claimed: str
    true: str
    matters: str


@dataclass(frozen=True, slots=True)
class LabCheck:
    """One printed number or statement beside the true one.

    Parameters
    ----------
    place : str
        Where it is in the source, e.g. "Theorem 5.3.2".
    quantity : str
        What the number is, in plain words, with its parameters.
    printed : float or str
        The printed number, or in words what the source states; "" where it prints nothing.
    value : float
        The true one, finite.
    verdict : str
        Of the printed one: holds, false, misprint, reading (it may come from the conversion of the source) or loose.
    why : str
        One sentence: by which argument, or what went wrong.
    kind : str, default "exact"
        What `value` is: exact, upper, lower, approximate or simulation.
    error : float, default 0
        Standard error of a simulated value, 0 otherwise.
    row : str, default ""
        Name of the row of the errata about this place, which has the same verdict; every statement that does not hold
        has one.
    fixed : bool, default False
        Whether the printed value belongs to the source's own parameters, so that it says nothing about others.
    """

    place: str
    quantity: str
    printed: float | str
    value: float
    verdict: str
    why: str
    _: KW_ONLY
    kind: str = "exact"
    error: float = 0.0
    row: str = ""
    fixed: bool = False

    def __post_init__(self) -> None:
        """Refuse unknown kinds and verdicts, and values that are not finite."""
        one_of("kind", KINDS).check(self.kind)
        one_of("verdict", VERDICTS).check(self.verdict)
        for what, number in (("value", self.value), ("printed value", self.printed), ("error", self.error)):
            if not isinstance(number, str):
                REAL.but(name=f"The {what} of {self.quantity!r}").check(number)


@dataclass(frozen=True)
class Plot:
    """Series over a common axis, as numbers: what a chart draws and a table lists.

    Parameters
    ----------
    title, takeaway : str
        Heading, and what the picture shows in one or two plain sentences with numbers.
    frame : DataFrame
        Columns ``series, x, y, low, high, kind, mark``: one row per point; low and high are the ends of an error
        bar (equal to y for none). `x` is a number, or a text for bars. `mark` is line, point or bar.
    x_label, y_label : str
        Titles of the axes.
    log_x, log_y : bool, default False
        Logarithmic axes.
    reference : mapping of str to float, optional
        Name -> height of a horizontal dotted line, e.g. the level claimed.
    notes : tuple of str, default ()
        Small print.
    """

    title: str
    takeaway: str
    frame: pd.DataFrame
    x_label: str
    y_label: str
    log_x: bool = False
    log_y: bool = False
    reference: Mapping[str, float] = dataclasses.field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Regions:
    """Privacy regions to draw together; each is a TradeOff, which says whether it is exact.

    Parameters
    ----------
    title, takeaway : str
        As in `Plot`.
    regions : mapping of str to TradeOff
        Name -> region.
    log : bool, default False
        Logarithmic axes.
    notes : tuple of str, default ()
        Small print.
    """

    title: str
    takeaway: str
    regions: Mapping[str, TradeOff]
    log: bool = False
    notes: tuple[str, ...] = ()


Picture = Plot | Regions
"""What a lab draws."""
Makers = Mapping[str, Callable[[], Picture]]


def series(
    name: str,
    x: Any,
    y: Any,
    *,
    kind: str = "exact",
    mark: str = "line",
    low: Any = None,
    high: Any = None,
) -> pd.DataFrame:
    """Return the rows of one series of a `Plot`; values that are not finite are refused, never dropped.

    Parameters
    ----------
    name : str
        Of the series.
    x, y : array_like
        Places (numbers, or texts for bars) and heights.
    kind : str, default "exact"
        What the heights are; see `KINDS`.
    mark : str, default "line"
        Line, point or bar.
    low, high : array_like, optional
        Ends of error bars; the heights themselves for none.

    Returns
    -------
    DataFrame
        Columns ``series, x, y, low, high, kind, mark``.
    """
    one_of("kind", KINDS).check(kind)
    one_of("mark", MARKS).check(mark)
    across = list(x) if np.ndim(x) else [x]
    heights = np.atleast_1d(np.asarray(y, dtype=np.float64))
    bottom = heights if low is None else np.atleast_1d(np.asarray(low, dtype=np.float64))
    top = heights if high is None else np.atleast_1d(np.asarray(high, dtype=np.float64))
    if not all(np.isfinite(part).all() for part in (heights, bottom, top)):
        msg = f"The series {name!r} must be finite everywhere."
        raise DomainError(msg)
    rows = {"series": name, "x": across, "y": heights, "low": bottom, "high": top, "kind": kind, "mark": mark}
    return pd.DataFrame(rows, columns=list(COLUMNS))


def simulated(name: str, x: Any, y: Any, error: Any, *, least: Any = -np.inf, mark: str = "point") -> pd.DataFrame:
    """Return the rows of a simulated series, with bars of two standard errors to both sides.

    Parameters
    ----------
    name : str
        Of the series.
    x, y, error : array_like
        Places, simulated values and their standard errors.
    least : array_like, optional
        How far down the bars may reach, for a logarithmic axis, which has no 0.
    mark : str, default "point"
        Point or bar.
    """
    value, reach = np.asarray(y, dtype=np.float64), 2 * np.asarray(error, dtype=np.float64)
    return series(
        name, x, value, kind="simulation", mark=mark, low=np.maximum(value - reach, least), high=value + reach
    )


def together(*parts: pd.DataFrame) -> pd.DataFrame:
    """Return several series as one frame for a `Plot`.

    Parameters
    ----------
    *parts : DataFrame
        What `series` returned.

    Returns
    -------
    DataFrame
        All rows, in order.
    """
    return pd.concat(parts, ignore_index=True)


@dataclass(frozen=True)
class Lab(ABC):
    """One claim of the source, examined; a frozen dataclass whose fields are the parameters."""

    name: ClassVar[str]  # "mixed_noise"
    title: ClassVar[str]  # "The mixed noise mechanism"
    place: ClassVar[str]  # "Section 5.3"
    story: ClassVar[Story]
    formula: ClassVar[str]  # LaTeX of the corrected statement, without dollar signs
    assumptions: ClassVar[str] = ""  # what the corrected statement takes for granted, in sentences
    reference: ClassVar[str]  # where the corrected mathematics is from
    views: ClassVar[tuple[str, ...]]  # names of the pictures in their order (`enter` reads them off `pictures`)
    tool: ClassVar[str] = ""  # section of the page Your data that does this with the reader's own table
    simulates: ClassVar[bool] = False  # True: pictures or checks depend on the seed and on `replications`

    def __post_init__(self) -> None:
        """Check every field against its parameter."""
        for name, parameter in parameters_of(type(self)):
            object.__setattr__(self, name, parameter.check(getattr(self, name)))

    @abstractmethod
    def checks(self, rng: Generator) -> tuple[LabCheck, ...]:
        """Return what was printed beside what is true, the most important first; `table` judges the lab at the source's parameters."""

    def numbers(self, rng: Generator) -> tuple[LabCheck, ...]:
        """Return the rows that depend on the parameters, computed at a reader's own; their verdicts are not shown."""
        return self.checks(rng)

    @abstractmethod
    def pictures(self, rng: Generator) -> Makers:
        """Return the functions that draw the pictures, by name; the first picture belongs to the story.

        Work above 0.2 s calls `dpcore.core.effort.checkpoint`, so that it shows progress and can be stopped.
        """

    @classmethod
    def parameters(cls) -> tuple[Parameter, ...]:
        """Return the parameters in the order of the fields."""
        return tuple(parameter for _, parameter in parameters_of(cls))

    def but(self, **changes: Any) -> Lab:
        """Return this lab with some parameters changed; a wrong name is answered with the nearest."""
        check_names(self.parameters(), changes, self.name)
        return dataclasses.replace(self, **changes)

    def source(self) -> Lab:
        """Return this lab at the source's own parameters, simulated with the same number of repetitions."""
        return type(self)(**{name: getattr(self, name) for name in EFFORT if hasattr(self, name)})

    def changes(self) -> dict[str, Any]:
        """Return the parameters that are not the source's, by name."""
        source = self.source()
        names = (name for name, _ in parameters_of(type(self)))
        return {name: getattr(self, name) for name in names if getattr(self, name) != getattr(source, name)}

    def table(self, seed: int = 0) -> pd.DataFrame:
        """Return the checks as a frame ``place, quantity, printed, value, error, kind, verdict, why, row``.

        The statements are judged at the source's own parameters. Where these parameters differ, rows without a verdict
        follow: what the printed formulas and the true ones give here. `printed` is a text, the number or the words; `row`
        names the row of the errata about the same place.
        """
        source, changes = self.source(), self.changes()
        with _rising():
            judged = source.checks(np.random.default_rng(seed))
            own = self.numbers(np.random.default_rng(seed)) if changes else ()
        rows = [_cells(check) for check in judged]
        fingerprints = {_fingerprint(check) for check in judged}
        here = ", ".join(
            f"{name} = {nearest(value)}" if isinstance(value, float) else f"{name} = {value}"
            for name, value in changes.items()
        )
        rows += [
            _cells(check)
            | {"quantity": f"{check.quantity} ({here})", "verdict": "", "why": UNJUDGED, "row": ""}
            | ({"printed": ""} if check.fixed else {})
            for check in own
            if _fingerprint(check) not in fingerprints
        ]
        return pd.DataFrame(rows)

    def view(self, name: str, seed: int = 0) -> Picture:
        """Return a picture by name with a seed of its own, so that it is the same whatever was drawn before."""
        if name not in self.views:
            raise DomainError(unknown("picture", name, list(self.views), self.name))
        with _rising():
            return self.pictures(np.random.default_rng([seed, self.views.index(name)]))[name]()


def _cells(check: LabCheck) -> dict[str, Any]:
    """Return a check as a row of the table."""
    return {
        "place": check.place,
        "quantity": check.quantity,
        "printed": check.printed if isinstance(check.printed, str) else repr(float(check.printed)),
        "value": check.value,
        "error": check.error,
        "kind": check.kind,
        "verdict": check.verdict,
        "why": check.why,
        "row": check.row,
    }


def _fingerprint(check: LabCheck) -> tuple[str, str, float | str, float]:
    """Return what two checks of the same number at the same parameters have in common."""
    return check.place, check.quantity, check.printed, check.value


def chunks(replications: int, width: int, part: tuple[float, float] = (0.0, 1.0)) -> Iterator[slice]:
    """Go through the repetitions of a simulation in slices, and report progress before each.

    Parameters
    ----------
    replications : int
        How many there are.
    width : int
        How many numbers one of them draws; a slice draws about `AT_ONCE` in all.
    part : tuple of (float, float), optional
        Which part of the whole work this is.

    Yields
    ------
    slice
        The next repetitions.
    """
    size = max(1, AT_ONCE // width)
    for start in range(0, replications, size):
        checkpoint(part[0] + (part[1] - part[0]) * start / replications)
        yield slice(start, min(start + size, replications))


def standard_error(values: FloatArray) -> float:
    """Return the standard error of a mean; 0 for a single value."""
    return float(values.std(ddof=1)) / math.sqrt(values.size) if values.size > 1 else 0.0


@contextmanager
def _rising() -> Iterator[None]:
    """Keep the progress of a lab from going backwards: what follows a simulation reports fractions of its own."""
    tell = current().progress
    if tell is None:
        yield
        return
    most = 0.0

    def report(fraction: float) -> None:
        nonlocal most
        most = max(most, fraction)
        tell(most)

    with effort(progress=report):
        yield
