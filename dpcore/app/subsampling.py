"""The page of subsampling: what is asked, computed once, as figures, words and Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from dpcore.app import work
from dpcore.central_limit.convergence import ABOVE, BELOW, verdict
from dpcore.charts import Look
from dpcore.charts.amplified import forms_figure, rate_figure, steps_figure
from dpcore.core.kinds import FACTS, WORDS, readable
from dpcore.core.numerals import nearest
from dpcore.training import FIXED, POISSON, forms, gradient_ladder, gradients, rates
from dpcore.training.gradients import ACCOUNTANT, CERTIFIED, FINE_FPR, RENYI, STEPS
from dpcore.words import grouped, outward

if TYPE_CHECKING:
    from dpcore.charts.figure import Figure
    from dpcore.training import Form

LINEAR, LOGLOG = "linear", "log-log"
LARGEST_T = 10**5
DEFAULTS: dict[str, Any] = {
    "sub_scheme": POISSON,
    "sub_base": "gaussian(1)",
    "sub_p": "0.1",
    "sub_stated": "1e-5",
    "sub_view": LINEAR,
    "sub_sigma": "1.5",
    "sub_q": "0.04",
    "sub_steps": "2250",
    "sub_delta": "1e-5",
}
SCHEMES = (POISSON, FIXED)
DECADES = tuple(10.0**-power for power in range(1, 7))
PS = [nearest(step * 10.0**power) for power in range(-4, 0) for step in (1, 2, 5)] + ["1"]
TS = [str(step * 10**power) for power in range(5) for step in (1, 2, 5)] + [str(LARGEST_T)]


@dataclass(frozen=True, slots=True)
class Once:
    """One use of a sample: the mechanism, how and how much is sampled, and the delta of its statement."""

    base: str
    p: float
    scheme: str
    delta: float


@dataclass(frozen=True, slots=True)
class TrainingSteps:
    """Many steps of noisy gradients, and the delta at which epsilon is asked."""

    sigma: float
    q: float
    steps: int
    delta: float


# ---- one use -------------------------------------------------------------------------------------------------


def found(query: Once) -> tuple[tuple[Form, ...], tuple[str, ...]]:
    """Return the forms and what the library warned about while reading the mechanism."""
    region, notices = work.region(query.base)

    def make() -> tuple[Form, ...]:
        return forms(region, query.p, scheme=query.scheme, delta=query.delta)

    return work.cache().get(("forms", str(region), query), make), notices


def picture(query: Once, view: str, *, dark: bool) -> Figure:
    """Return the region before and after, each form of it."""
    every, _ = found(query)
    look = Look(dark=dark, height=540)
    key = ("forms chart", query, view, dark)
    return work.cache().get(key, lambda: forms_figure(every, log=view == LOGLOG, look=look))


def form_lines(query: Once) -> list[str]:
    """Return one line per form: its numbers and what they are."""
    every, _ = found(query)
    return [f"**{form.title}** ({WORDS[form.kind]}): {form.words}" for form in every]


# ---- many steps ----------------------------------------------------------------------------------------------


def numbers(query: TrainingSteps) -> pd.DataFrame:
    """Return epsilon by every way."""
    return work.cache().get(("gradients", query), lambda: gradients(query.sigma, query.q, query.steps, query.delta))


def rate_rows(query: TrainingSteps) -> pd.DataFrame:
    """Return true-positive rates at low false-positive rates."""
    key = ("gradient rates", query.sigma, query.q, query.steps)
    return work.cache().get(key, lambda: rates(query.sigma, query.q, query.steps, FINE_FPR))


def ladder_rows(query: TrainingSteps) -> pd.DataFrame:
    """Return epsilon by every way for T from 1 to 10^5."""
    key = ("gradient ladder", query.sigma, query.q, query.delta)
    return work.cache().get(key, lambda: gradient_ladder(query.sigma, query.q, query.delta, STEPS))


def summary(query: TrainingSteps) -> pd.DataFrame:
    """Return the ways as text: numbers rounded to the safe side, and what each is."""
    frame = numbers(query)
    cells = zip(frame["epsilon"], frame["kind"], strict=True)
    shown = [f"about {nearest(value)}" if kind == "approximate" else outward(float(value), 6) for value, kind in cells]
    columns = {"Way": frame["title"], f"ε at δ = {outward(query.delta, 6)}": shown, "Note": frame["note"]}
    return readable(pd.DataFrame({**columns, **frame[list(FACTS)]}))


def steps_words(query: TrainingSteps) -> tuple[bool, str]:
    """Return whether the accountants' number is below the truth, and the sentence about all numbers."""
    rows = {str(row["theorem"]): row for row in numbers(query).to_dict("records")}
    low, high = float(rows[CERTIFIED]["epsilon_lower"]), float(rows[CERTIFIED]["epsilon"])
    bound, said = float(rows[RENYI]["epsilon"]), float(rows[ACCOUNTANT]["epsilon"])
    words = (
        f"After {grouped(query.steps)} steps ε at δ = {outward(query.delta, 6)} lies between {outward(low, 6, up=False)} and "
        f"{outward(high, 6)} (certified)"
    )
    if high > 0:
        words += f"; the Rényi bound {outward(bound, 4)} is {nearest(100 * (bound / high - 1), 3)} % more"
    side = verdict(said, low, high)
    if side == BELOW:
        tail = f"The CLT number of GDP accountants, about {nearest(said, 4)}, is below the truth by {outward(low - said, 3, up=False)} or more: no promise."
    else:
        where = (
            "is above the truth here, without a theorem that says so" if side == ABOVE else "lies inside the bracket"
        )
        tail = f"The CLT number of GDP accountants, about {nearest(said, 4)}, {where}."
    return side == BELOW, f"{words}. {tail}"


def ladder_picture(query: TrainingSteps, *, dark: bool) -> Figure:
    """Return epsilon against the number of steps."""
    frame = ladder_rows(query)
    look = Look(dark=dark)
    key = ("gradient ladder chart", query, dark)
    return work.cache().get(key, lambda: steps_figure(frame, delta=query.delta, steps=query.steps, look=look))


def rate_picture(query: TrainingSteps, *, dark: bool) -> Figure:
    """Return true-positive rates against false-positive rates."""
    rows = rate_rows(query)
    key = ("gradient rates chart", query.sigma, query.q, query.steps, dark)
    return work.cache().get(key, lambda: rate_figure(rows, look=Look(dark=dark)))


def _code(imports: list[str], lines: list[str], file: str) -> str:
    start = [*imports, "from dpcore.charts import save", "from dpcore.core.effort import effort", ""]
    return "\n".join([*start, f"with effort(tolerance={work.TOLERANCE}):", *lines, f'save(figure, "{file}")'])


def once_code(query: Once, view: str) -> str:
    """Return the Python lines that draw the forms."""
    given = ", log=True" if view == LOGLOG else ""
    imports = [
        "from dpcore import parse",
        "from dpcore.training import form_table, forms",
        "from dpcore.charts.amplified import forms_figure",
    ]
    lines = [
        f"    found = forms(parse({query.base!r}), {query.p!r}, scheme={query.scheme!r}, delta={query.delta!r})",
        "    table = form_table(found)",
        f"    figure = forms_figure(found{given})",
    ]
    return _code(imports, lines, "sampled.svg")


def ladder_code(query: TrainingSteps) -> str:
    """Return the Python lines that draw epsilon against the steps."""
    imports = ["from dpcore.training import gradient_ladder", "from dpcore.charts.amplified import steps_figure"]
    lines = [
        f"    table = gradient_ladder({query.sigma!r}, {query.q!r}, {query.delta!r})",
        f"    figure = steps_figure(table, delta={query.delta!r}, steps={query.steps})",
    ]
    return _code(imports, lines, "steps.svg")


def rate_code(query: TrainingSteps) -> str:
    """Return the Python lines that tabulate the rates and draw them."""
    imports = [
        "from dpcore.training import rates",
        "from dpcore.training.gradients import FINE_FPR",
        "from dpcore.charts.amplified import rate_figure",
    ]
    lines = [
        f"    table = rates({query.sigma!r}, {query.q!r}, {query.steps}, FINE_FPR)",
        "    figure = rate_figure(table)",
    ]
    return _code(imports, lines, "rates.svg")
