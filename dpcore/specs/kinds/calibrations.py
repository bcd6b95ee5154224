"""Inverse questions: every noise that meets a requirement, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import fields as fields_of
from typing import Any, ClassVar

from dpcore.calibration.answers import COUNT, LARGEST_K, NOISE, PRIVACY, RECORDS, UNKNOWNS, Question
from dpcore.calibration.requirements import Advantage, AttackRates, EpsilonDelta, Posterior
from dpcore.core.errors import DomainError
from dpcore.specs import fields
from dpcore.specs.base import Drawer, enter
from dpcore.specs.recipes import Variable, call, draws
from dpcore.words import of_100, outward

REQUIREMENTS = (EpsilonDelta, Advantage, AttackRates, Posterior)
_NAMES = {one: {part.name for part in fields_of(one)} for one in REQUIREMENTS}


@enter
@dataclass(frozen=True, kw_only=True)
class CalibrationDrawer(Drawer):
    """Every noise that meets a requirement."""

    kind: ClassVar[str] = "calibration"
    meaning: ClassVar[str] = (
        "every noise that meets a requirement: the regions of all answers, or the unknown as the requirement moves"
    )

    unknown: str = fields.choice(*UNKNOWNS)
    requirement: dict[str, Any] = fields.mapping(
        "epsilon and delta, or advantage, or tpr and fpr, or prior, posterior and fpr"
    )
    error: float | None = fields.above_zero()
    probability: float = fields.number(0.05, low=0.0, high=1.0, low_open=True, high_open=True)
    k: int = fields.integer(1, low=1, high=LARGEST_K)
    width: float = fields.above_zero(1.0)
    delta: float = fields.rate(1e-5)
    fpr: float = fields.rate(0.01)
    q: float = fields.number(1.0, low=0.0, high=1.0, low_open=True)
    view: str = fields.choice("regions", "ladder")
    log: bool = fields.flag()

    def __post_init__(self) -> None:
        """Refuse a question that has no answer."""
        _ = self.asked

    @property
    def asked(self) -> Question:
        """The question."""
        numbers = (self.error, self.probability, self.k, self.width, self.delta, self.fpr, self.q)
        kind = self._requirement
        return Question(self.unknown, None if kind is None else kind(**self.requirement), *numbers)

    @property
    def _requirement(self) -> type[EpsilonDelta | Advantage | AttackRates | Posterior] | None:
        if not self.requirement:
            return None
        for kind, names in _NAMES.items():
            if set(self.requirement) <= names and len(self.requirement) >= len(names) - (kind is Posterior):
                return kind
        every = " or ".join(", ".join(sorted(names)) for names in _NAMES.values())
        msg = f"A requirement has {every}; got {', '.join(map(str, self.requirement))}."
        raise DomainError(msg)

    @property
    def question(self) -> Variable:
        """The question, as it is asked in code."""
        kind = self._requirement
        path = None if kind is None else f"dpcore.calibration.requirements:{kind.__name__}"
        requirement = None if path is None else call(path, **self.requirement)
        options = self.options("error", "probability", "k", "width", "delta", "fpr", "q")
        question = call("dpcore.calibration.answers:Question", self.unknown, requirement=requirement, **options)
        return Variable("question", question)

    @property
    def answers(self) -> Variable:
        """What every noise answers."""
        return Variable("results", call("dpcore.calibration.answers:answers", self.question))

    def target(self) -> tuple[str, float]:
        """Return the delta at which epsilons are compared."""
        return "delta", self.delta

    def recipe(self) -> Any:
        """Return the regions, or the ladder."""
        if self.view == "regions":
            regions = call("dpcore.calibration.answers:regions", self.question, self.answers)
            return draws("dpcore.charts:region_figure", regions, filled=False, **self.options("log"))
        question = self.asked
        rows = call("dpcore.calibration.answers:ladder", self.question)
        across = "error allowed" if question.requirement is None else question.requirement.axis
        options = {"current": question.place, "parameter": across, "value": _unknown_title(question)}
        return draws("dpcore.charts:utility_figure", rows, **options)

    def table(self) -> Any:
        """Return the answers side by side; a ladder has its own numbers."""
        return call("dpcore.calibration.answers:table", self.question, self.answers) if self.view == "regions" else None


def _unknown_title(asked: Question) -> str:
    """Return the title of the axis of the unknown."""
    if asked.unknown == NOISE and asked.requirement is not None:
        return f"error, exceeded in {of_100(asked.probability)} answers"
    if asked.unknown in (NOISE, PRIVACY):
        return f"ε at δ = {outward(asked.delta, 6)}"
    return {COUNT: "answers k", RECORDS: "records n"}[asked.unknown]
