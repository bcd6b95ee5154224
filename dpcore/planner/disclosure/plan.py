"""What is done to a table before it is shared: coarser columns, no small classes, randomised answers and numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from dpcore.core.domains import COUNT, POSITIVE, REAL
from dpcore.core.errors import DomainError
from dpcore.core.notices import notice
from dpcore.core.numerals import nearest
from dpcore.core.parameter import one_of
from dpcore.core.registry import value_text
from dpcore.core.rounding import up
from dpcore.files.matrices import NamedMatrix
from dpcore.files.sheet import number_in
from dpcore.mechanisms.uniform import Uniform
from dpcore.planner.disclosure import noise as uniform_noise
from dpcore.planner.disclosure import post_randomisation as prams
from dpcore.planner.disclosure.classes import equivalence_classes, summary
from dpcore.planner.disclosure.generalisation import Cuts, IntervalRule, generalised, rules_of
from dpcore.regions.guarantees import TV
from dpcore.utility.reading import declared
from dpcore.words import grouped

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.random import Generator

    from dpcore.curves.base import FloatArray
    from dpcore.files.columns import CodedColumn
    from dpcore.files.microdata import Microdata
    from dpcore.local.channels import Channel
    from dpcore.planner.disclosure.classes import EquivalenceClasses
    from dpcore.planner.disclosure.generalisation import Rule
    from dpcore.regions.tradeoff import TradeOff

METHODS: Final = ("k-noise", "k-PRAM")
SHIFT = POSITIVE.but(
    name="shift", label="Δ", high=1e9, meaning="distance between two values that must not be told apart"
)
_START = REAL.but(name="start", low=-1e12, high=1e12)
_DIGITS = 3  # of a released number beyond the first digit of its noise: more would reveal how it was rounded
_LOG_ERROR = 2e-15  # of the difference of two logarithms of probabilities


@dataclass(frozen=True)
class ColumnNoise:
    """Noise on a column of numbers.

    Attributes
    ----------
    column : str
        The column.
    method : str
        ``k-noise`` (uniform noise in [-size, size]) or ``k-PRAM`` (a new value in the record's bin of width `size`).
    size : float
        Half-width of the noise, or width of the bins.
    start : float, default 0
        Where one of the bins begins.
    """

    column: str
    method: str
    size: float
    start: float = 0.0

    def __post_init__(self) -> None:
        """Check the fields."""
        one_of("method", METHODS).check(self.method)
        (uniform_noise.HALFWIDTH if self.method == METHODS[0] else uniform_noise.WIDTH).check(self.size)
        _START.check(self.start)

    def errors(self, data: FloatArray) -> uniform_noise.ReleaseErrors:
        """Return bias and mean squared error of one release of these values."""
        if self.method == METHODS[0]:
            return uniform_noise.k_noise_moments(len(data), self.size)
        return uniform_noise.k_pram_moments(data, self.size, self.start)

    def group(self, data: FloatArray) -> int:
        """Return k: records in the emptiest bin of k-PRAM; for k-noise those within 2a of the loneliest point."""
        if self.method == METHODS[0]:
            return uniform_noise.smallest_group(data, 2.0 * self.size)
        return uniform_noise.smallest_bin(data, self.size, self.start)

    def release(self, data: FloatArray, rng: Generator | None) -> FloatArray:
        """Return one release, rounded to three digits beyond the first of the noise."""
        draw = (
            uniform_noise.k_noise(data, rng, self.size)
            if self.method == METHODS[0]
            else uniform_noise.k_pram(data, rng, self.size, self.start)
        )
        return np.round(draw, _DIGITS - math.floor(math.log10(self.size)))

    def regions(self, shift: float) -> dict[str, TradeOff]:
        """Return what a release tells about two values that differ by `shift`, by name."""
        move = SHIFT.check(shift)
        if self.method == METHODS[0]:
            return {f"k-noise on {self.column}, values {nearest(move)} apart": Uniform(self.size, move)}
        inside = {f"k-PRAM on {self.column}, same bin": TV(0.0)} if move < self.size else {}
        return {**inside, f"k-PRAM on {self.column}, different bins": TV(1.0)}


def noise_of(text: str, data: Microdata) -> ColumnNoise:
    """Read noise such as ``k-noise age:2.5``, or ``k-PRAM age:5@19`` for bins of which one begins at 19."""
    method, _, rest = text.strip().partition(" ")
    known = next((name for name in METHODS if name.lower() == method.lower()), None)
    name, _, how = rest.strip().rpartition(":")
    size, at, start = how.partition("@")
    numbers = [number_in(size), number_in(start) if at else 0.0]
    if known is None or not name or numbers[0] is None or numbers[1] is None:
        msg = f"Noise is written as k-noise age:2.5 or k-PRAM age:5 (method, column and size), got {value_text(text)}."
        raise DomainError(msg)
    return ColumnNoise(data.column(name).name, known, numbers[0], numbers[1])


@dataclass(frozen=True)
class Protection:
    """What is done to a table, in this order; empty fields do nothing.

    Attributes
    ----------
    quasi : tuple of str
        The quasi-identifiers, whose small classes may be left out.
    rules : tuple of Rule, default ()
        Coarser columns.
    suppress : int, default 1
        Classes of fewer records are left out.
    pram : tuple of (str, Channel), optional
        A column whose answers are changed at random, with the transition matrix of its (coarser) answers.
    noises : tuple of ColumnNoise, default ()
        Columns of numbers with noise.
    """

    quasi: tuple[str, ...]
    rules: tuple[Rule, ...] = ()
    suppress: int = 1
    pram: tuple[str, Channel] | None = None
    noises: tuple[ColumnNoise, ...] = ()

    def __post_init__(self) -> None:
        """Check that every column is treated once."""
        COUNT.but(name="suppress").check(self.suppress)
        coarse = {rule.column for rule in self.rules}
        treated = [one.column for one in self.noises]
        for column in treated:
            if column in coarse or treated.count(column) > 1 or (self.pram is not None and self.pram[0] == column):
                msg = f"Column {column!r} gets noise and something else; a column can be protected in one way only."
                raise DomainError(msg)

    @property
    def numeric(self) -> tuple[str, ...]:
        """The columns read as numbers: those that become intervals and those that get noise."""
        intervals = [rule.column for rule in self.rules if isinstance(rule, IntervalRule | Cuts)]
        return (*intervals, *(one.column for one in self.noises))

    def coarse(self, data: Microdata) -> Microdata:
        """Return the table with coarser columns and without small classes: its classes are those of the release."""
        table = generalised(data, self.rules)
        if self.suppress <= 1:
            return table
        classes = equivalence_classes(table, self.quasi)
        large = classes.sizes[classes.members] >= self.suppress
        if not large.any():
            msg = f"Every class has fewer than {self.suppress} records, so no row would be left; make the columns coarser."
            raise DomainError(msg)
        return table.kept(large)

    def randomised(self, data: Microdata) -> prams.Pram:
        """Return PRAM of the table as it would be shared."""
        if self.pram is None:
            msg = "There is no PRAM here: name its column, and a matrix or the probability of keeping an answer."
            raise DomainError(msg)
        return prams.Pram.of(self.coarse(data), *self.pram)

    def release(self, data: Microdata, rng: Generator | None = None) -> pd.DataFrame:
        """Return the protected table.

        Parameters
        ----------
        data : Microdata
            The table as read.
        rng : Generator, optional
            For tests; by default randomness comes from the operating system, and no two releases are the same.
        """
        table = self.coarse(data)
        drawn: list[CodedColumn] = []
        if self.pram is not None:
            drawn.append(prams.Pram.of(table, *self.pram).release(rng))
        frame = table.with_columns(drawn).frame()
        for one in self.noises:
            frame[one.column] = one.release(table.numbers(one.column), rng)
        return frame

    def regions(self, shift: float = 1.0) -> dict[str, TradeOff]:
        """Return what one released value tells about the true one, for each method that has a region."""
        shapes: dict[str, TradeOff] = {}
        if self.pram is not None:
            shapes[f"PRAM on {self.pram[0]}"] = prams.region(self.pram[1])
        for one in self.noises:
            shapes |= one.regions(shift)
        return shapes

    def statements(self, shift: float = 1.0) -> pd.DataFrame:
        """Return the privacy statement of each method: ``method, column, epsilon, delta, kind, theorem, neighbours``."""
        rows = []
        if self.pram is not None:
            name, channel = self.pram
            epsilon = channel.epsilon
            safe = up(epsilon, _LOG_ERROR) if 0.0 < epsilon < math.inf else epsilon
            rows.append(("PRAM", name, safe, 0.0, "exact", "largest log ratio in a column", "one answer (local)"))
        for one in self.noises:
            for words, region in one.regions(shift).items():
                delta = float(np.ravel(region.delta_bounds(0.0)[1])[0])
                apart = words.partition(", ")[2]
                rows.append(
                    (one.method, one.column, 0.0, delta, "exact", "uniform noise", f"one value (local): {apart}")
                )
        names = ["method", "column", "epsilon", "delta", "kind", "theorem", "neighbours"]
        return pd.DataFrame(rows, columns=names)


def protection(
    data: Microdata,
    quasi: Iterable[str] = (),
    *,
    generalise: str = "",
    suppress: int = 1,
    pram: str = "",
    matrix: float | NamedMatrix | None = None,
    categories: str | Sequence[str] = (),
    noise: str | Sequence[str] = (),
) -> Protection:
    """Return what is done to a table, from texts as typed by a person.

    Parameters
    ----------
    data : Microdata
        The table.
    quasi : iterable of str, default ()
        The quasi-identifiers.
    generalise : str, default ""
        Rules such as ``age:10, zip:2*``; see `rules_of`.
    suppress : int, default 1
        Classes of fewer records are left out.
    pram : str, default ""
        A column whose answers are changed at random.
    matrix : float or NamedMatrix, optional
        Its transition matrix, or the probability that an answer stays as it is; otherwise it becomes any other.
    categories : str or sequence of str, default ()
        The declared answers of that column; without them and without a named matrix they are read off the data, which a
        notice says.
    noise : str or sequence of str, default ()
        Noise such as ``k-noise age:2.5`` (uniform in [-2.5, 2.5]) or ``k-PRAM age:5@19`` (new values within bins of 5).

    Returns
    -------
    Protection
        What is done, checked against the table.
    """
    rules = rules_of(generalise, data)
    texts = ([noise] if noise else []) if isinstance(noise, str) else noise
    noises = tuple(noise_of(text, data) for text in texts)
    channel = None
    if pram:
        channel = pram, _channel(generalised(data, rules), pram, matrix, categories)
    elif matrix is not None or categories:
        msg = "A matrix, a probability of keeping an answer and categories belong to PRAM: name its column."
        raise DomainError(msg)
    columns = data.some(quasi, "The quasi-identifiers")
    return Protection(tuple(one.name for one in columns), rules, suppress, channel, noises)


def _channel(
    data: Microdata, name: str, matrix: float | NamedMatrix | None, categories: str | Sequence[str]
) -> Channel:
    if matrix is None:
        msg = "PRAM needs either a matrix or the probability of keeping an answer."
        raise DomainError(msg)
    column = data.column(name)
    names = declared(categories, prams.MOST_CATEGORIES) if categories else ()
    if isinstance(matrix, NamedMatrix):
        return prams.transition(matrix, names)
    if not names:
        notice(prams.READ_OFF)
        names = tuple(sorted(column.texts))
    return prams.pram(matrix, names)


def check(data: Microdata, plan: Protection, sensitive: Iterable[str] = (), small: int = 5) -> pd.DataFrame:
    """Return the measures of a table as read and, if the plan changes its classes, as it would be shared.

    Parameters
    ----------
    data : Microdata
        The table.
    plan : Protection
        What is done to it; its quasi-identifiers are what an attacker knows.
    sensitive : iterable of str, default ()
        What the attacker wants to learn.
    small : int, default 5
        Classes of fewer rows count as small.

    Returns
    -------
    DataFrame
        Columns ``table, measure, column, value, meaning``.
    """
    before, after = both_classes(data, plan, sensitive)
    parts = [summary(before, small)] + ([summary(after, small, "generalised")] if after is not before else [])
    return pd.concat(parts, ignore_index=True)


def both_classes(
    data: Microdata, plan: Protection, sensitive: Iterable[str] = ()
) -> tuple[EquivalenceClasses, EquivalenceClasses]:
    """Return the classes of a table as read and as it would be shared; the same object if nothing changes them."""
    names = tuple(sensitive)
    before = equivalence_classes(data, plan.quasi, names)
    changed = bool(plan.rules) or plan.suppress > 1
    return before, equivalence_classes(plan.coarse(data), plan.quasi, names) if changed else before


def pram_frame(data: Microdata, plan: Protection) -> pd.DataFrame:
    """Return the counts of PRAM: ``category, count, expected, bias, sd_released``, and ``sd_corrected`` if they can be corrected."""
    return plan.randomised(data).frame()


def noise_frame(data: Microdata, noises: Sequence[ColumnNoise]) -> pd.DataFrame:
    """Return the errors of k-noise and k-PRAM on a table: ``method, column, size, bias, mse, rmse, bias_error, k``.

    `bias` is the mean of true minus released value, `bias_error` its standard error in one release, and `k` the number of
    records that share the emptiest bin (k-PRAM) or stand within 2a of the loneliest point (k-noise).
    """
    rows = []
    for one in noises:
        values = data.numbers(one.column)
        errors = one.errors(values)
        rows.append(
            (
                one.method,
                one.column,
                one.size,
                errors.bias,
                errors.mse,
                errors.rmse,
                errors.bias_error,
                one.group(values),
            )
        )
    return pd.DataFrame(rows, columns=["method", "column", "size", "bias", "mse", "rmse", "bias_error", "k"])


def missing_notes(data: Microdata, columns: Iterable[str]) -> tuple[str, ...]:
    """Return sentences about missing values in some columns."""
    sentences = []
    for name in columns:
        column = data.column(name)
        count = int(column.counts[column.missing].sum())
        if count:
            verb = "have" if count > 1 else "has"
            sentences.append(
                f"{grouped(count)} row{'s' * (count > 1)} {verb} no value in {name!r}: "
                "as a quasi-identifier this counts as a value of its own, as a sensitive value it does not count."
            )
    return tuple(sentences)
