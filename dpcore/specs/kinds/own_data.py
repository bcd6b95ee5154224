"""Figures about a table of one's own: what their kinds share, a sheet of cells and a column of numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from dpcore.core.errors import DomainError
from dpcore.specs import fields
from dpcore.specs.base import Drawer
from dpcore.specs.recipes import File, Method, Variable, call
from dpcore.utility.reading import OUTSIDE


@dataclass(frozen=True, kw_only=True)
class TableDrawer(Drawer):
    """A figure about a table: a sample dataset or a CSV file."""

    uses_files: ClassVar[bool] = True

    sample: str | None = fields.text(default=None, words="a sample dataset such as ages")
    file: str | None = fields.text(default=None, words="a CSV file")
    delimiter: str | None = fields.text(default=None, words="what separates the fields of the file")
    folder: Path = field(default_factory=Path)

    def __post_init__(self) -> None:
        """Check that exactly one source is given for the table."""
        if (self.file is None) == (self.sample is None):
            msg = "Name the table: either a sample dataset with sample, or a CSV file with file."
            raise DomainError(msg)

    @property
    def sheet(self) -> Variable:
        """The cells of the table."""
        if self.sample is not None:
            return Variable("sheet", call("dpcore.utility.samples:sample_sheet", self.sample))
        file = File(str(self.file), self.folder)
        return Variable("sheet", call("dpcore.files.sheet:open_csv", file, **self.options("delimiter")))


@dataclass(frozen=True, kw_only=True)
class ColumnDrawer(TableDrawer):
    """A figure about one column of a table, as numbers between two public bounds."""

    column: str | None = fields.text(default=None, words="a column of the table; its first by default")
    lower: float | None = fields.number(None)
    upper: float | None = fields.number(None)
    outside: str = fields.choice(*OUTSIDE)

    @property
    def reading(self) -> Any:
        """The column, and what became of each of its rows."""
        column = () if self.column is None else (self.column,)
        options = self.options("lower", "upper", "outside")
        return call("dpcore.utility.reading:read_column", self.sheet, *column, **options)

    @property
    def data(self) -> Variable:
        """The numbers of the column."""
        return Variable("data", Method(self.reading, "dataset"))
