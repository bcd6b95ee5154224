"""What a sweep can measure: each measure evaluates one region, or one text, at all its arguments together."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from dpcore.core.domains import ALPHA, DELTA, LOSS, SHARE
from dpcore.core.errors import DomainError
from dpcore.core.kinds import kind
from dpcore.language.build import build
from dpcore.language.grammar import parse_syntax
from dpcore.language.syntax import CallNode, NumberNode
from dpcore.regions.powers import power_epsilons

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dpcore.core.parameter import Parameter
    from dpcore.curves.base import Bounds
    from dpcore.curves.families import CurveFamily
    from dpcore.regions.tradeoff import TradeOff

    Values = Mapping[str, Any]


_LEAST_DELTA: Final = 1e-290
"""Deltas below this one are computed one by one: sums near the smallest doubles lose digits."""


class Answer(NamedTuple):
    """One cell: the published value, its two sides, and its kind."""

    value: float
    lower: float
    upper: float
    kind: str
    theorem: str
    neighbours: str


@dataclass(frozen=True)
class SweepMeasure:
    """A measure.

    Parameters
    ----------
    title : str
        Description, for axes and help.
    arguments : dict of str to Parameter or None
        The arguments, each with its domain; None stands for a text.
    needed : tuple of str
        Those that have no default.
    many : callable
        The answers of one expression at several sets of arguments.
    powers : callable, optional
        The answers of several powers of one expression, each at its arguments; None for those it cannot give.
    family : callable, optional
        The answers (lower, upper) of many curves of one closed form, each at its arguments.
    """

    title: str
    arguments: dict[str, Parameter | None]
    many: Callable[[str, Sequence[Values]], list[Answer]]
    needed: tuple[str, ...] = ()
    powers: Callable[[str, Sequence[int], Sequence[Values]], list[Answer | None]] | None = None
    family: Callable[[CurveFamily, Sequence[Values]], Bounds] | None = None
    texts: tuple[str, ...] = field(default=())

    def check(self, arguments: Values) -> None:
        """Reject a question that lacks an argument or has a number outside its domain."""
        for name in self.needed:
            if name not in arguments:
                msg = f"This measure needs {name}: a number, or a hole of the grid such as {{{name}}}."
                raise DomainError(msg)
        for name, value in arguments.items():
            parameter = self.arguments[name]
            if parameter is not None and not isinstance(value, str):
                parameter.check(value)


def region_of(expression: str) -> TradeOff:
    """Return the region of a text; its parts must share one neighbouring relation."""
    region = build(parse_syntax(expression), expression)
    _ = region.neighbours  # raises if the parts have different relations
    return region


def family_answers(
    measure: SweepMeasure, regions: Sequence[TradeOff | None], asked: Sequence[Values]
) -> list[Answer | None]:
    """Return the answers of the regions with a closed form; None for the rest and for invalid arguments."""
    answers: list[Answer | None] = [None] * len(regions)
    if measure.family is None:
        return answers
    groups: dict[type[CurveFamily], list[tuple[int, float, TradeOff]]] = {}
    for place, region in enumerate(regions):
        if region is None or (known := region.curve.family) is None:
            continue
        with suppress(DomainError):
            measure.check(asked[place])
            groups.setdefault(known[0], []).append((place, known[1], region))
    for family, members in groups.items():
        curves = family(np.array([parameter for _, parameter, _ in members]))
        lower, upper = measure.family(curves, [asked[place] for place, *_ in members])
        for (place, _, region), low, high in zip(members, lower.tolist(), upper.tolist(), strict=True):
            (answers[place],) = _upper(region, [low], [high])
    return answers


def _upper(region: TradeOff, lower: Sequence[float], upper: Sequence[float]) -> list[Answer]:
    facts = region.theorem, region.neighbours
    pairs = zip(lower, upper, strict=True)
    return [Answer(float(u), float(v), float(u), kind(float(v), float(u), "upper"), *facts) for v, u in pairs]


def _epsilon(expression: str, asked: Sequence[Values]) -> list[Answer]:
    region = region_of(expression)
    lower, upper = region.epsilon_bounds(np.array([DELTA.check(one["delta"]) for one in asked]))
    return _upper(region, lower.tolist(), upper.tolist())


def _power_epsilons(base: str, copies: Sequence[int], asked: Sequence[Values]) -> list[Answer | None]:
    """Return the epsilons of many powers of one region; None where they must be computed one by one."""
    region = region_of(base)
    delta = np.array([DELTA.check(one["delta"]) for one in asked])
    count = np.array(copies, dtype=np.int64)
    usable = np.flatnonzero((count >= 2) & (delta >= _LEAST_DELTA) & (delta < 1))
    answers: list[Answer | None] = [None] * len(copies)
    bounds = power_epsilons(region, count[usable], delta[usable]) if usable.size else None
    if bounds is None:
        return answers
    known = np.flatnonzero(np.isfinite(bounds[1]))
    named = _upper(region**2, bounds[0][known].tolist(), bounds[1][known].tolist())
    for place, answer in zip(usable[known].tolist(), named, strict=True):
        answers[place] = answer
    return answers


def _family_epsilons(curves: CurveFamily, asked: Sequence[Values]) -> Bounds:
    delta = np.array([DELTA.check(one["delta"]) for one in asked])
    inner = np.clip(delta, np.finfo(np.float64).tiny, 1 - 2.0**-53)
    value = np.where(delta <= 0, curves.largest_losses, curves.epsilons(inner))
    value = np.where(delta >= 1, 0.0, value)
    return value, value


def _family_deltas(curves: CurveFamily, asked: Sequence[Values]) -> Bounds:
    return curves.delta_bounds(np.array([LOSS.check(one["epsilon"]) for one in asked]))


def _delta(expression: str, asked: Sequence[Values]) -> list[Answer]:
    region = region_of(expression)
    lower, upper = region.delta_bounds(np.array([LOSS.check(one["epsilon"]) for one in asked]))
    return _upper(region, lower.tolist(), upper.tolist())


def _advantage(expression: str, asked: Sequence[Values]) -> list[Answer]:
    region = region_of(expression)
    lower, upper = region.delta_bounds(np.zeros(1))
    return _upper(region, lower.tolist(), upper.tolist()) * len(asked)


def _beta(expression: str, asked: Sequence[Values]) -> list[Answer]:
    region = region_of(expression)
    lower, upper = region.beta_bounds(np.array([ALPHA.check(one["alpha"]) for one in asked]))
    facts = region.theorem, region.neighbours
    pairs = zip(lower.tolist(), upper.tolist(), strict=True)
    return [Answer(low, low, high, kind(low, high, "lower"), *facts) for low, high in pairs]


def _mu(expression: str, asked: Sequence[Values]) -> list[Answer]:
    from dpcore.theorems.conversion import gaussian_fit  # noqa: PLC0415  # for this measure only

    region = region_of(expression)
    answers = []
    for one in asked:
        alpha = one.get("alpha", 1e-12)
        fit = gaussian_fit(region, alpha)
        if fit is None:
            msg = f"No finite mu holds from alpha = {alpha} on."
            raise DomainError(msg)
        answers += _upper(region, [fit.mu[0]], [fit.mu[1]])
    return answers


def _calibrated(expression: str, asked: Sequence[Values]) -> list[Answer]:
    from dpcore.calibration import calibrate  # noqa: PLC0415  # for this measure only

    answers = []
    for one in asked:
        row = calibrate(expression, **one).iloc[0]
        value = float(row["value"])
        # the other side of a solved value is not computed: a value that bounds the true one has only one side
        sides = {"exact": (value, value), "upper": (0.0, value), "lower": (value, float("inf"))}[row["kind"]]
        answers.append(Answer(value, *sides, row["kind"], row["theorem"], row["neighbours"]))
    return answers


def _utility(expression: str, asked: Sequence[Values]) -> list[Answer]:
    from dpcore.utility import pair  # noqa: PLC0415  # for this measure only
    from dpcore.utility.dataset import EXAMPLE_RECORDS  # noqa: PLC0415  # as above

    call = parse_syntax(expression)
    if not isinstance(call, CallNode) or not all(
        argument.name and isinstance(argument.value, NumberNode) for argument in call.arguments
    ):
        msg = "For a utility the expression is a pair with named numbers, such as count_laplace(epsilon={epsilon})."
        raise DomainError(msg)
    values = {str(argument.name): argument.value.value for argument in call.arguments}  # type: ignore[union-attr]  # checked above
    query = pair(call.name, **values)
    answers = []
    for one in asked:
        measure = query.measure_of(one.get("error", query.measure))
        data = query.example(int(one.get("records", EXAMPLE_RECORDS)))
        facts = [fact for fact in query.closed_forms(data) if fact.measure == measure.name and fact.about == "release"]
        best = min(facts, key=lambda fact: ("exact", "upper", "lower", "approximate").index(fact.kind), default=None)
        if best is None:
            msg = f"No formula is known for {measure.label} of {query.title}."
            raise DomainError(msg)
        lower = best.value if best.kind in {"exact", "lower"} else 0.0
        upper = best.value if best.kind in {"exact", "upper"} else float("inf")
        answers.append(Answer(best.value, lower, upper, best.kind, best.theorem, query.region.neighbours))
    return answers


MEASURES: Final[dict[str, SweepMeasure]] = {
    "epsilon": SweepMeasure("ε", {"delta": DELTA}, _epsilon, ("delta",), _power_epsilons, _family_epsilons),
    "delta": SweepMeasure("δ", {"epsilon": LOSS}, _delta, ("epsilon",), family=_family_deltas),
    "beta": SweepMeasure("false negatives β", {"alpha": ALPHA}, _beta, ("alpha",)),
    "advantage": SweepMeasure("advantage", {}, _advantage),
    "mu": SweepMeasure("μ", {"alpha": SHARE.but(name="alpha", high=0.5)}, _mu),
    "calibrate": SweepMeasure(
        "calibrated value",
        {"epsilon": LOSS, "delta": DELTA, "advantage": SHARE, "tpr": SHARE, "fpr": SHARE},
        _calibrated,
    ),
    "utility": SweepMeasure("error", {"error": None, "records": None}, _utility, texts=("error",)),
}
"""The measures by name."""
