"""A planned release: the shares of its budget and the errors of its answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from dpcore.core.errors import DomainError
from dpcore.planner import read_plan
from dpcore.specs import fields
from dpcore.specs.base import Drawer, enter
from dpcore.specs.recipes import File, Variable, call, draws


@enter
@dataclass(frozen=True, kw_only=True)
class PlanDrawer(Drawer):
    """The answers of a plan, by public numbers alone or on a table."""

    kind: ClassVar[str] = "plan"
    meaning: ClassVar[str] = (
        "a planned release: the share of the budget and the error of each answer, from public numbers alone or, for the "
        "planner's eyes only, on a table"
    )
    uses_files: ClassVar[bool] = True

    plan: str = fields.read_by(read_plan, "a plan as TOML or JSON, such as dpcore plan --save writes")
    view: str = fields.choice("budget", "errors")
    sample: str | None = fields.text(default=None, words="a sample dataset such as staff")
    file: str | None = fields.text(default=None, words="a CSV file")
    delimiter: str | None = fields.text(default=None, words="what separates the fields of the file")
    folder: Path = field(default_factory=Path)

    def __post_init__(self) -> None:
        """Check that at most one source is given for the table."""
        if self.file is not None and self.sample is not None:
            msg = "Name one table: a sample dataset with sample, or a CSV file with file."
            raise DomainError(msg)

    @property
    def release_plan(self) -> Variable:
        """The plan."""
        return Variable("plan", call("dpcore.planner:read_plan", self.plan))

    @property
    def table_data(self) -> Variable | None:
        """The columns of the table that the plan uses; None without a table."""
        if self.sample is not None:
            sheet = call("dpcore.utility.samples:sample_sheet", self.sample)
        elif self.file is not None:
            sheet = call("dpcore.files.sheet:open_csv", File(self.file, self.folder), **self.options("delimiter"))
        else:
            return None
        return Variable("data", call("dpcore.planner:read_table", sheet, self.release_plan))

    def recipe(self) -> Any:
        """Return the shares of the budget, or the intervals of the errors."""
        data = () if self.table_data is None else (self.table_data,)
        frame = Variable("frame", call("dpcore.planner:planned_frame", self.release_plan, *data))
        words = call("dpcore.planner:plan_words", self.release_plan, frame)
        name = "plan_figure" if self.view == "budget" else "plan_errors_figure"
        return draws(f"dpcore.charts.plan:{name}", frame, words)
