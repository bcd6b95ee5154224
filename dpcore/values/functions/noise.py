"""Numbers about noise: a parameter for a target, a training run, and what an attack measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dpcore.audit import audit as audited
from dpcore.audit import bounds_table, read_audit, sentence, verdict
from dpcore.calibration import calibrate as solved
from dpcore.core.domains import CONFIDENCE, DELTA
from dpcore.core.kinds import kind
from dpcore.core.numerals import nearest
from dpcore.training import training_run, training_summary
from dpcore.values.evaluation import region_of
from dpcore.values.functions.regions import gaussian_quantity
from dpcore.values.quantity import NumberValue, RecordValue, RegionValue, TextValue, given

if TYPE_CHECKING:
    from dpcore.values.evaluation import Scope

FUNCTIONS: Final = ("audit", "calibrate", "training")


def calibrate(
    _: Scope,
    expression: str,
    epsilon: float | None = None,
    delta: float | None = None,
    advantage: float | None = None,
    tpr: float | None = None,
    fpr: float | None = None,
) -> NumberValue:
    """Return the parameter that ``?`` stands for, so that the target is met."""
    row = solved(expression, epsilon=epsilon, delta=delta, advantage=advantage, tpr=tpr, fpr=fpr).iloc[0]
    value = float(row["value"])
    return NumberValue(value, value, str(row["kind"]), str(row["theorem"]), str(row["neighbours"]))


def training(
    _: Scope,
    sampler: str,
    sigma: float,
    examples: int | None = None,
    batch: float | None = None,
    epochs: float | None = None,
    rate: float | None = None,
    steps: int | None = None,
    delta: float = 1e-5,
) -> RecordValue:
    """Return the certified ε of a training run, its μ and its statement."""
    numbers: dict[str, Any] = {"examples": examples, "batch": batch, "epochs": epochs, "rate": rate, "steps": steps}
    run = training_run(sampler, sigma=float(sigma), **numbers)
    summary = training_summary(run, float(delta))
    low, high = summary.epsilon
    return RecordValue(
        summary.answer(),
        {
            "epsilon": NumberValue(low, high, kind(low, high, "upper"), run.region.theorem, run.region.neighbours),
            "delta": given(summary.delta),
            "steps": given(run.steps),
            "rate": given(run.rate),
            "sigma": given(run.sigma),
            "mu": lambda: gaussian_quantity(run.region),
            "statement": lambda: TextValue(summary.statement()),
            "conditions": lambda: TextValue(summary.conditions()),
            "region": RegionValue(run.region),
            "words": lambda: TextValue(summary.answer()),
        },
    )


def audit(scope: Scope, file: str, claim: str = "", delta: float = 1e-5, confidence: float = 0.95) -> RecordValue:
    """Return what a measured attack proves, with a stated confidence: lower bounds only."""
    findings = audited(read_audit(scope.content(file)).measurement, CONFIDENCE.check(float(confidence)))
    rows = bounds_table(findings, [DELTA.check(float(delta))])
    facts = (f"Clopper-Pearson limits of a measurement, {nearest(confidence)} confidence", "as measured")

    def least(measure: str) -> NumberValue:
        low = float(rows[rows["measure"] == measure]["lower"].iloc[0])
        return NumberValue(low, float("inf") if measure != "advantage" else 1.0, "lower", *facts)

    parts: dict[str, Any] = {name: (lambda n=name: least(n)) for name in ("epsilon", "mu", "advantage")}
    words = sentence(findings, float(delta))
    if claim:
        judged = verdict(findings, region_of(claim))
        parts["verdict"] = TextValue(judged.words)
    return RecordValue(words, {**parts, "confidence": given(float(confidence)), "words": TextValue(words)})
