"""Deployments on one axis."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from dpcore.specs import fields
from dpcore.specs.base import Drawer, enter
from dpcore.specs.recipes import File, Variable, call, draws


@enter
@dataclass(frozen=True, kw_only=True)
class DeploymentsDrawer(Drawer):
    """Records of deployments, by one number."""

    kind: ClassVar[str] = "deployments"
    meaning: ClassVar[str] = (
        "published deployments on one axis: μ, advantage or true positives at 1 %, computed from their records"
    )
    uses_files: ClassVar[bool] = True

    measure: str = fields.choice("mu", "advantage", "true_positive_rate")
    file: str = fields.text("", words="a YAML file of records; by default those that come with dpcore")
    folder: Path = field(default_factory=Path)

    def recipe(self) -> Any:
        """Return the bars."""
        source = () if not self.file else (File(self.file, self.folder),)
        records = call("dpcore.specs.helpers:deployments", *source)
        frame = Variable("frame", call("dpcore.deployments:comparison", records, self.measure))
        return draws("dpcore.charts.answers:deployments_figure", frame, self.measure)
