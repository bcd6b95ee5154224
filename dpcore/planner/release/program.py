"""Programs for a planned release: with OpenDP, or with numpy to try it out.

A program is text: it reads the table, computes the cells as the plan says, adds the noise of the plan and, with OpenDP,
asks that library for the privacy of every step. Names and conditions are written as Python literals, never as code.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from dpcore.core.parameter import one_of
from dpcore.files.sheet import MISSING
from dpcore.planner.release.choices import ChoiceKind
from dpcore.planner.release.kinds import CellKind
from dpcore.planner.release.noise import CellNoise
from dpcore.planner.release.plan import SUBSTITUTION
from dpcore.planner.release.program_texts import HELPERS, NUMPY, NUMPY_TOTAL, OPENDP, OPENDP_TOTAL
from dpcore.planner.release.solve import budget_words, solve
from dpcore.planner.release.tables import bin_names

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.planner.release.conditions import ColumnComparison, Condition
    from dpcore.planner.release.plan import PlanAnswer, ReleasePlan
    from dpcore.planner.release.release import PlannedRelease

PROGRAMS: Final = ("opendp", "numpy")
PORTABLE: Final = ("laplace", "gaussian", "geometric")
"""The kinds of noise that both libraries have."""
CANDIDATES: Final = 1001  # values among which a program chooses a quantile


def program(release: PlannedRelease, library: str, file: str = "table.csv") -> str:
    """Return a Python program that makes a release.

    Parameters
    ----------
    release : PlannedRelease
        The plan with its noise.
    library : str
        ``opendp``, or ``numpy`` for a program that is marked as not for release.
    file : str, default "table.csv"
        The file that the program reads unless another one is named at run time.

    Returns
    -------
    str
        The text of the program. If a noise of the plan is not in the library, the plan is solved again with those that
        are, and the first lines say so.
    """
    one_of("library", PROGRAMS).check(library)
    noises = [release.solution.noise(place) for place in range(len(release.plan.answers))]
    missing = sorted({one.name for one in noises if isinstance(one, CellNoise)} - set(PORTABLE))
    if missing:
        allowed = tuple(name for name in PORTABLE if not release.plan.noises or name in release.plan.noises) or PORTABLE
        again = replace(release.plan, noise=", ".join(allowed))
        release = replace(release, solution=solve(again))
    blocks = [_answer(release, place) for place in range(len(release.plan.answers))]
    head = _head(release, library, file, missing)
    body, end = (OPENDP, OPENDP_TOTAL) if library == "opendp" else (NUMPY, NUMPY_TOTAL)
    return "\n".join(
        [
            head,
            body,
            HELPERS.replace("MISSING_TEXTS", repr(sorted(MISSING))).replace(
                "COMMA_ALLOWED", repr(release.table.layout[0] != ",")
            ),
            _reading(release, file),
            *blocks,
            end.format(**_facts(release)),
        ]
    )


def _facts(release: PlannedRelease) -> dict[str, Any]:
    budget = release.budget_frame().iloc[0]
    return {"delta": release.plan.delta, "epsilon": float(budget["epsilon"])}


def _head(release: PlannedRelease, library: str, file: str, missing: list[str]) -> str:
    plan = release.plan
    who = "one record" if plan.records == 1 else f"one person with up to {plan.records} records"
    lines = [
        f"A release of {len(plan.answers)} answers about {file!r}, planned with dpcore.",
        "",
        f"Protects {who} ({plan.relation} neighbours) with {budget_words(plan)}.",
        f"The composed release spends epsilon = {_facts(release)['epsilon']!r} at delta = {plan.delta!r}.",
    ]
    if missing:
        lines.append(
            f"The plan prefers {', '.join(missing)} noise, which {library} does not have: its answers get other noise here."
        )
    if library == "numpy":
        lines += [
            "",
            "NOT FOR RELEASE: noise of floating-point generators can be attacked. Use it to try the plan out.",
        ]
    inner = "\n".join(lines).replace("\\", "/").replace('"', "'")  # nothing in it may end the docstring
    return f'"""{inner}\n"""\n'


def _reading(release: PlannedRelease, file: str) -> str:
    delimiter, encoding, names = release.table.layout
    layout = f"delimiter={delimiter!r}, encoding={encoding!r}, names={list(names) or None!r}"
    lines = ["", f"table = read(sys.argv[1] if len(sys.argv) > 1 else {file!r}, {layout})"]
    if release.plan.person_column:
        lines.append(f"table = first_records(table, {release.plan.person_column!r}, {release.plan.records})")
    return "\n".join([*lines, "answers, spent = {}, {}", ""])


# ---- conditions ----------------------------------------------------------------------------------------------


def _condition(condition: Condition) -> str:
    """Return a condition as a Python expression about `row`."""
    return " and ".join(_comparison(one) for one in condition.comparisons) or "True"


def _comparison(one: ColumnComparison) -> str:
    read = "text" if one.is_text else "number"
    values = [value if isinstance(value, str) else float(value) for value in one.values]
    cell = f"{read}(row, {one.column!r})"
    if one.operator == "in":
        return f"{cell} in {values!r}"
    if one.operator == "=":
        return f"{cell} == {values[0]!r}"
    if one.operator == "!=":
        return f"{cell} not in (None, {values[0]!r})"
    return f"holds({cell}, {one.operator!r}, {values[0]!r})"


# ---- answers -------------------------------------------------------------------------------------------------


def _answer(release: PlannedRelease, place: int) -> str:
    """Return the lines of one answer."""
    plan, answer, noise = release.plan, release.plan.answers[place], release.solution.noise(place)
    number, charge, _ = release.solution.charge(place)
    records = f"records = [row for row in table if {_condition(answer.records)}]"
    lines = [f"# {place + 1}. {answer.name}".replace("\n", " "), records]
    if isinstance(answer.type, ChoiceKind):
        lines += _CHOICES[answer.kind](plan, answer)
        mono = answer.kind == "top choice" and plan.relation != SUBSTITUTION
        move = plan.records * (answer.type.move(plan, answer) if answer.kind == "quantile" else 1.0)
        width = move if mono else 2.0 * move
        options = f"scale={width / noise.value!r}, move={move!r}, one_way={mono}, times={charge.copies}"
        lines.append(f"chosen = choose({number}, scores, {options})")
        lines.append(f"answers[{answer.name!r}] = candidates[chosen]")
        return "\n".join([*lines, ""])
    if not isinstance(answer.type, CellKind) or not isinstance(noise, CellNoise):
        raise TypeError(answer.kind)
    cells, result = _CELLS[answer.kind](plan, answer)
    inner = answer.type.touched(plan, answer)
    times = charge.copies // inner if charge.parallel else 1
    integer = noise.law.integer
    parameter = _scale(noise)
    lines += cells
    lines.append(
        f"noisy = add_noise({number}, cells, {noise.name!r}, scale={parameter!r}, move={noise.sensitivity!r}, "
        f"cells_moved={inner}, times={times}, integers={integer})"
    )
    lines.append(f"answers[{answer.name!r}] = {result}")
    return "\n".join([*lines, ""])


def _scale(noise: CellNoise) -> float:
    """Return the scale of the noise as both libraries take it: b of Laplace and geometric noise, sigma of Gaussian noise."""
    return noise.value if noise.name == "gaussian" else noise.sensitivity / noise.value


def _values(plan: ReleasePlan, answer: PlanAnswer) -> str:
    low, high = plan.column(answer.column).bounds
    return f"values = clipped(records, {answer.column!r}, {low!r}, {high!r})"


def _sum(plan: ReleasePlan, answer: PlanAnswer) -> tuple[list[str], str]:
    return [_values(plan, answer), "cells = [math.fsum(values)]"], "noisy[0]"


def _mean(plan: ReleasePlan, answer: PlanAnswer) -> tuple[list[str], str]:
    low, high = plan.column(answer.column).bounds
    n = plan.known_rows(answer)
    if n:
        empty = f"({n} - len(values)) * {(low + high) / 2!r}"
        return [
            _values(plan, answer),
            f"cells = [(math.fsum(values) + {empty}) / {n}]",
        ], f"inside(noisy[0], {low!r}, {high!r})"
    cells = f"cells = [math.fsum(x - {low!r} for x in values), math.fsum({high!r} - x for x in values)]"
    return [_values(plan, answer), cells], f"{low!r} + {high - low!r} * share(noisy)"


def _proportion(plan: ReleasePlan, answer: PlanAnswer) -> tuple[list[str], str]:
    inside = f"chosen = sum(1 for row in records if {_condition(answer.condition)})"
    n = plan.known_rows(answer)
    if n:
        return [inside, "cells = [chosen]"], f"inside(noisy[0] / {n}, 0.0, 1.0)"
    return [inside, "cells = [chosen, len(records) - chosen]"], "share(noisy)"


def _variance(plan: ReleasePlan, answer: PlanAnswer) -> tuple[list[str], str]:
    low, high = plan.column(answer.column).bounds
    n, square = plan.known_rows(answer), (high - low) ** 2
    if n:
        full = f"values += [{(low + high) / 2!r}] * ({n} - len(values))"
        return [_values(plan, answer), full, "cells = [variance(values)]"], f"inside(noisy[0], 0.0, {square / 4!r})"
    cells = (
        f"cells = [math.fsum((x - {low!r}) ** 2 for x in values), "
        f"math.fsum(2 * (x - {low!r}) * ({high!r} - x) for x in values), math.fsum(({high!r} - x) ** 2 for x in values)]"
    )
    return [_values(plan, answer), cells], f"{square!r} * variance_of_shares(noisy)"


def _bins(plan: ReleasePlan, name: str, bins: int) -> str:
    column = plan.column(name)
    if column.categories:
        return f"category(row, {name!r}, {list(column.names)!r})"
    low, high = column.bounds
    return f"bin_of(row, {name!r}, {low!r}, {high!r}, {bins})"


def _histogram(plan: ReleasePlan, answer: PlanAnswer) -> tuple[list[str], str]:
    place = _bins(plan, answer.column, answer.bins)
    if answer.by:
        width = len(bin_names(plan.column(answer.by), answer.bins))
        place = f"pair({place}, {_bins(plan, answer.by, answer.bins)}, {width})"
    labels = answer.type.labels(plan, answer)
    return [f"cells = counts([{place} for row in records], {len(labels)})"], f"dict(zip({list(labels)!r}, noisy))"


def _count(plan: ReleasePlan, answer: PlanAnswer) -> tuple[list[str], str]:  # noqa: ARG001  as the others
    return ["cells = [len(records)]"], "noisy[0]"


def _quantile(plan: ReleasePlan, answer: PlanAnswer) -> list[str]:
    low, high = plan.column(answer.column).bounds
    return [
        f"values = sorted(clipped(records, {answer.column!r}, {low!r}, {high!r}))",
        f"candidates = [{low!r} + {high - low!r} * i / {CANDIDATES - 1} for i in range({CANDIDATES})]",
        f"scores = [-abs(bisect.bisect_left(values, c) - {answer.level!r} * len(values)) for c in candidates]",
    ]


def _top(plan: ReleasePlan, answer: PlanAnswer) -> list[str]:
    names = list(plan.column(answer.column).names)
    place = _bins(plan, answer.column, answer.bins)
    return [f"candidates = {names!r}", f"scores = counts([{place} for row in records], {len(names)})"]


_CELLS: Final[dict[str, Callable[[ReleasePlan, PlanAnswer], tuple[list[str], str]]]] = {
    "count": _count,
    "sum": _sum,
    "mean": _mean,
    "proportion": _proportion,
    "variance": _variance,
    "histogram": _histogram,
    "contingency": _histogram,
}
_CHOICES: Final[dict[str, Callable[[ReleasePlan, PlanAnswer], list[str]]]] = {"quantile": _quantile, "top choice": _top}
