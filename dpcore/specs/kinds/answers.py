"""The answers of commands as figures: risk, compare, convert, calibrate, training, interval and plain tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from dpcore.core.errors import DomainError
from dpcore.specs import fields
from dpcore.specs.base import Drawer, enter
from dpcore.specs.kinds.intervals import IntervalDrawer
from dpcore.specs.recipes import File, Method, Variable, call, draws


def _parse(text: str) -> Any:
    return call("dpcore.language:parse", text)


@enter
@dataclass(frozen=True, kw_only=True)
class RiskDrawer(Drawer):
    """What an attacker can do."""

    kind: ClassVar[str] = "risk"
    meaning: ClassVar[str] = "what an attacker can do: advantage, members found, right guesses and beliefs, as bars"

    uses_files: ClassVar[bool] = True

    regions: tuple[str, ...] = fields.expressions(())
    file: str = fields.text("", words="a ledger, all of whose releases are one more region")
    relation: str | None = fields.choice("substitution", "add/remove", default="")
    labels: tuple[str, ...] = fields.texts((), "names of the regions, in their order; that of the ledger comes last")
    fpr: tuple[float, ...] = fields.numbers((0.001, 0.01, 0.1))
    prior: tuple[float, ...] = fields.numbers((0.5,))
    folder: Path = field(default_factory=Path)

    def __post_init__(self) -> None:
        """Give every region one name."""
        count = len(self.regions) + bool(self.file)
        if not count:
            msg = "Give regions, or the file of a ledger."
            raise DomainError(msg)
        if self.relation and not self.file:
            msg = "relation belongs to the file of a ledger."
            raise DomainError(msg)
        if self.labels and len(self.labels) != count:
            msg = f"labels must be as many as regions: {count}, got {len(self.labels)}."
            raise DomainError(msg)

    def recipe(self) -> Any:
        """Return the bars."""
        names = self.labels or (*self.regions, *(["all releases"] if self.file else []))
        regions = {name: _parse(text) for name, text in zip(names, self.regions, strict=False)}
        if self.file:
            ledger = call("dpcore.ledger:open_ledger", File(self.file, self.folder), **self.options("relation"))
            regions[names[-1]] = Method(Variable("ledger", ledger), "named_region")
        rows = call("dpcore.risk:risk", list(regions.values()), list(self.fpr), list(self.prior))
        return draws("dpcore.charts.answers:risk_figure", regions, rows)


@enter
@dataclass(frozen=True, kw_only=True)
class CompareDrawer(Drawer):
    """Two regions, and which one promises more."""

    kind: ClassVar[str] = "compare"
    meaning: ClassVar[str] = "two regions in one picture, and which of them promises more, or where they cross"

    a: str = fields.expression()
    b: str = fields.expression()

    def recipe(self) -> Any:
        """Return the regions."""
        return draws("dpcore.charts.answers:compare_figure", _parse(self.a), _parse(self.b))


@enter
@dataclass(frozen=True, kw_only=True)
class ConvertDrawer(Drawer):
    """From one notion to another."""

    kind: ClassVar[str] = "convert"
    meaning: ClassVar[str] = "what a region says in terms of another notion of privacy, as a table"

    region: str = fields.expression()
    to: str = fields.choice("dp", "tv", "gdp", "zcdp", "rdp", "group")
    delta: tuple[float, ...] = fields.numbers(())
    epsilon: tuple[float, ...] = fields.numbers(())
    order: tuple[float, ...] = fields.numbers(())
    k: int = fields.integer(2, low=1, high=10_000)

    def recipe(self) -> Any:
        """Return the table."""
        lists = {name: list(value) for name in ("delta", "epsilon", "order") if (value := getattr(self, name))}
        frame = call("dpcore.theorems.conversion:convert", _parse(self.region), self.to, **lists, **self.options("k"))
        rows = Variable("frame", frame)
        words = call("dpcore.charts.answers:convert_words", rows)
        columns = ["to", "parameters", "kind", "theorem", "neighbours"]
        return draws("dpcore.charts.answers:table_figure", rows, words, f"{self.region} as {self.to}", columns)


@enter
@dataclass(frozen=True, kw_only=True)
class CalibrateDrawer(Drawer):
    """The parameter that meets a target."""

    kind: ClassVar[str] = "calibrate"
    meaning: ClassVar[str] = "the parameter ? of an expression that meets a target, as a table"

    expression: str = fields.pattern()
    epsilon: float | None = fields.number(None, low=0.0)
    delta: float | None = fields.rate()
    advantage: float | None = fields.rate()
    tpr: float | None = fields.rate()
    fpr: float | None = fields.rate()

    def recipe(self) -> Any:
        """Return the table."""
        options = self.options("epsilon", "delta", "advantage", "tpr", "fpr")
        frame = Variable("frame", call("dpcore.calibration:calibrate", self.expression[0], **options))
        words = call("dpcore.charts.answers:calibrate_words", frame)
        columns = ["expression", "parameter", "value", "epsilon", "delta", "kind", "theorem", "neighbours"]
        return draws(
            "dpcore.charts.answers:table_figure", frame, words, f"Calibration of {self.expression[0]}", columns
        )


@enter
@dataclass(frozen=True, kw_only=True)
class TrainingRunDrawer(Drawer):
    """A training run beside what libraries print."""

    kind: ClassVar[str] = "training"
    meaning: ClassVar[str] = "the ε of a private training run beside what libraries print, and a claim"

    sampler: str = fields.text(words="poisson or full")
    sigma: float = fields.above_zero(fields.REQUIRED)
    examples: int | None = fields.integer(None, low=1)
    batch: float | None = fields.above_zero()
    epochs: float | None = fields.above_zero()
    rate: float | None = fields.above_zero()
    steps: int | None = fields.integer(None, low=1)
    delta: float = fields.above_zero(1e-5)
    claimed: float | None = fields.number(None, low=0.0)

    def target(self) -> tuple[str, float]:
        """Return the delta."""
        return "delta", self.delta

    def recipe(self) -> Any:
        """Return the bars."""
        numbers = self.options("examples", "batch", "epochs", "rate", "steps")
        run = call("dpcore.training:training_run", self.sampler, sigma=self.sigma, **numbers)
        summary = Variable("summary", call("dpcore.training:training_summary", run, self.delta))
        return draws("dpcore.charts.answers:training_figure", summary, **self.options("claimed"))


@enter
@dataclass(frozen=True, kw_only=True)
class IntervalTableDrawer(IntervalDrawer):
    """A private interval as a table."""

    kind: ClassVar[str] = "interval"
    meaning: ClassVar[str] = (
        "a private interval for a column: its half-width, its parts and its simulated coverage, as a table"
    )

    releases: int = fields.integer(2000, low=1, high=10**6)
    seed: int = fields.integer(0)

    def recipe(self) -> Any:
        """Return the table."""
        options = self.options("releases", "seed")
        frame = Variable("frame", call("dpcore.planner.interval:interval_table", self.plan, self.data, **options))
        words = call("dpcore.charts.answers:interval_words", frame)
        return draws("dpcore.charts.answers:table_figure", frame, words, f"A private interval for the {self.statistic}")


@enter
@dataclass(frozen=True, kw_only=True)
class PlainTableDrawer(Drawer):
    """A table of one's own."""

    kind: ClassVar[str] = "table"
    meaning: ClassVar[str] = "rows of a CSV file, or of a text, as a table"
    uses_files: ClassVar[bool] = True

    file: str = fields.text("", words="a CSV file")
    rows: str = fields.text("", words="the same as text, instead of a file")
    columns: tuple[str, ...] = fields.texts((), "the columns to show, in order")
    words: str = fields.text("", words="a sentence about the table")
    folder: Path = field(default_factory=Path)

    def __post_init__(self) -> None:
        """Check that exactly one source is given for the rows."""
        if bool(self.file) == bool(self.rows):
            msg = "Give the table either as a file or as rows."
            raise DomainError(msg)

    def about(self) -> dict[str, Any]:
        """Return what the table is made of; rows are its parameters here, not its look."""
        return {**super().about(), **({"rows": self.rows.strip().splitlines()} if self.rows else {})}

    def recipe(self) -> Any:
        """Return the table."""
        source = File(self.file, self.folder) if self.file else self.rows
        frame = Variable("frame", call("dpcore.specs.helpers:plain_table", source))
        words = self.words or call("dpcore.specs.helpers:table_words", frame)
        return draws("dpcore.charts.answers:table_figure", frame, words, "Table", list(self.columns))
