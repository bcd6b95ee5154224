"""Audits: what a measured or simulated attack proves, beside what is claimed."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from dpcore.audit.simulate import MOST
from dpcore.core.domains import CONFIDENCE
from dpcore.core.errors import DomainError
from dpcore.specs import fields
from dpcore.specs.base import Drawer, enter
from dpcore.specs.recipes import File, Method, Variable, call, draws


@enter
@dataclass(frozen=True, kw_only=True)
class AuditDrawer(Drawer):
    """An attack beside a claim."""

    kind: ClassVar[str] = "audit"
    meaning: ClassVar[str] = (
        "what an attack proves against a claim: simulated on a mechanism, measured in a CSV file, or of the example file"
    )
    uses_files: ClassVar[bool] = True

    mechanism: str | None = fields.expression(None, "the mechanism of a simulated attack")
    trials: int = fields.integer(1000, low=1, high=MOST)
    seed: int = fields.integer(0)
    file: str = fields.text("", words="a CSV file with score and label, or with tp, fp, tn, fn, one test per row")
    delimiter: str = fields.text("", words="what separates the fields of the file")
    score: str = fields.text("", words="the column of the scores")
    label: str = fields.text("", words="the column of the labels")
    reverse: bool = fields.flag()
    claim: str | None = fields.expression(None, "the region that is claimed")
    others: tuple[str, ...] = fields.expressions((), "more regions to draw")
    smallest: bool = fields.flag()
    confidence: float = fields.number(0.95, low=CONFIDENCE.low, high=CONFIDENCE.high)
    delta: float = fields.rate(1e-5)
    log: bool = fields.flag()
    folder: Path = field(default_factory=Path)

    def __post_init__(self) -> None:
        """Check that at most one source is given for the attack."""
        if self.mechanism and self.file:
            msg = "The attack is either simulated on a mechanism or read from a file; give one of them."
            raise DomainError(msg)

    def target(self) -> tuple[str, float]:
        """Return the delta."""
        return "delta", self.delta

    def recipe(self) -> Any:
        """Return the attack over the claimed region."""
        claim = call("dpcore.language:parse", self.claim) if self.claim else None
        others = [call("dpcore.language:parse", text) for text in self.others]
        options = self.options("delta", "smallest", "log")
        return draws("dpcore.charts.audit:audit_figure", self.audit, claim=claim, others=others or None, **options)

    @property
    def audit(self) -> Variable:
        """The measurement with its confidence limits."""
        measurement = Variable("measurement", self._measurement())
        return Variable("findings", call("dpcore.audit:audit", measurement, **self.options("confidence")))

    @property
    def reading(self) -> Any:
        """The file, read."""
        if not self.file:
            return call("dpcore.audit:read_audit", call("dpcore.audit.examples:example"))
        sheet = call("dpcore.files.sheet:open_csv", File(self.file, self.folder), **self.options("delimiter"))
        return call("dpcore.audit:read_audit", sheet, **self.options("score", "label", "reverse"))

    def _measurement(self) -> Any:
        if not self.mechanism:
            return Method(self.reading, "measurement")
        region = call("dpcore.language:parse", self.mechanism)
        return call("dpcore.audit:simulate", region, self.seed, self.trials, self.trials)
