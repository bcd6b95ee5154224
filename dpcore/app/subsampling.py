"""The page Subsampling: what is asked, computed once, as specs of figures and as sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from dpcore.app import inputs, work
from dpcore.central_limit.convergence import ABOVE, BELOW, verdict
from dpcore.core.domains import COUNT, SHARE, SIGMA
from dpcore.core.kinds import FACTS, WORDS, readable
from dpcore.core.numerals import nearest
from dpcore.core.results import result
from dpcore.language.numbers import read_value
from dpcore.training import FIXED, POISSON, forms, gradients, rates, renyi_epsilon
from dpcore.training.gradients import ACCOUNTANT, CERTIFIED, RENYI
from dpcore.training.gradients import STEPS as LADDER
from dpcore.words import grouped, of_100, outward

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpcore.training import Form

LINEAR, LOGLOG = "linear", "log-log"
STEPS = COUNT.but(high=10**5)
NOISE = SIGMA.but(low=0.1, high=100.0, low_open=False, infinite=False)
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
PS, QS = inputs.round_values(-4, 0), inputs.round_values(-3, 0)
TS = inputs.round_values(0, 5)
SIGMAS = [nearest(step / 20) for step in (*range(6, 81), *range(90, 201, 10))]
QUICK = 0.05
"""From this q √T on, a certificate takes a fraction of a second; others wait until the slider is released."""
CONDITIONS = (
    "Holds if each step draws every record with probability q by itself (Poisson sampling), gradients are clipped to the norm "
    "that σ is a multiple of, and datasets differ in one record added or removed. Shuffled batches are not covered: they may "
    "reveal more."
)
SLIDERS = ("sub_sigma_slider", "sub_q_slider", "sub_steps_slider")
HEIGHT = 420


@dataclass(frozen=True, slots=True)
class Once:
    """One use of a sample: the mechanism, how and how much is sampled, and the delta of its statement."""

    base: str
    p: float
    scheme: str
    delta: float

    def moved(self, held: Mapping[str, str]) -> Once:
        """Return the query with the value of a slider that is held in place of that of its field."""
        return replace(self, p=float(read_value(SHARE, held["sub_p_slider"], "Share p"))) if held else self


@dataclass(frozen=True, slots=True)
class TrainingSteps:
    """Many steps of noisy gradients, and the delta at which epsilon is asked."""

    sigma: float
    q: float
    steps: int
    delta: float
    held: bool = False

    def moved(self, held: Mapping[str, str]) -> TrainingSteps:
        """Return the query with the value of a slider that is held in place of that of its field."""
        changes: dict[str, Any] = {}
        if "sub_sigma_slider" in held:
            changes = {"sigma": float(read_value(NOISE, held["sub_sigma_slider"], "Noise σ"))}
        if "sub_q_slider" in held:
            changes = {"q": float(read_value(SHARE, held["sub_q_slider"], "Sampling rate q"))}
        if "sub_steps_slider" in held:
            changes = {"steps": int(read_value(STEPS, held["sub_steps_slider"], "Steps T"))}
        return replace(self, **changes, held=True) if changes else self

    def quick(self, steps: int) -> bool:
        """Whether a number of steps is certified quickly enough for what is shown."""
        return not self.held or steps == 1 or self.q * math.sqrt(steps) >= QUICK


# ---- many steps ----------------------------------------------------------------------------------------------


def numbers(query: TrainingSteps) -> pd.DataFrame:
    """Return epsilon by every method."""
    return result(gradients, query.sigma, query.q, query.steps, query.delta)


def steps_spec(query: TrainingSteps) -> dict[str, Any]:
    """Return the spec of epsilon as the number of steps grows."""
    numbers_ = {"sigma": query.sigma, "q": query.q, "delta": query.delta}
    steps = [count for count in LADDER if query.quick(count)] if query.held else None
    return {"draw": "steps", **numbers_, "steps": steps, "mark": query.steps}


def rates_spec(query: TrainingSteps) -> dict[str, Any]:
    """Return the spec of true positives at low false-positive rates."""
    return {"draw": "rates", "sigma": query.sigma, "q": query.q, "steps": query.steps}


def summary(query: TrainingSteps) -> pd.DataFrame:
    """Return the methods as text: numbers rounded to the safe side, and what each is."""
    frame = numbers(query)
    cells = zip(frame["epsilon"], frame["kind"], strict=True)
    shown = [f"about {nearest(value)}" if kind == "approximate" else outward(float(value), 6) for value, kind in cells]
    columns = {"Method": frame["title"], f"ε at δ = {outward(query.delta, 6)}": shown, "Note": frame["note"]}
    return readable(pd.DataFrame({**columns, **frame[list(FACTS)]}))


def answer(query: TrainingSteps) -> str:
    """Say what epsilon is after all steps."""
    many = "1 step" if query.steps == 1 else f"{grouped(query.steps)} steps"
    at = f"ε at δ = {outward(query.delta, 6)}"
    if not query.quick(query.steps):
        bound, _ = result(renyi_epsilon, query.sigma, query.q, query.steps, query.delta)
        return f"After {many} {at} is at most {outward(bound, 6)} (Rényi bound)."
    row = _row(query, CERTIFIED)
    low, high = float(row["epsilon_lower"]), float(row["epsilon"])
    return f"After {many} {at} lies between {outward(low, 6, up=False)} and {outward(high, 6)} (certified)."


def comparison(query: TrainingSteps) -> tuple[bool, str]:
    """Return whether the number of GDP accountants is below the truth, and what it and the Rényi bound are beside the truth."""
    if not query.quick(query.steps):
        return False, ""
    row = _row(query, CERTIFIED)
    low, high = float(row["epsilon_lower"]), float(row["epsilon"])
    bound, approximate = (float(_row(query, name)["epsilon"]) for name in (RENYI, ACCOUNTANT))
    more = f", {nearest(100 * (bound / high - 1), 3)} % more" if high > 0 else ""
    side = verdict(approximate, low, high)
    place = {
        BELOW: f"is below the truth by at least {outward(low - approximate, 3, up=False)}: it promises nothing",
        ABOVE: "is above the truth here, but no theorem says that it must be",
    }.get(side, "lies inside the bracket")
    return side == BELOW, (
        f"The Rényi bound is {outward(bound, 4)}{more}. The CLT number of GDP accountants, about {nearest(approximate, 4)}, "
        f"{place}."
    )


def _row(query: TrainingSteps, name: str) -> pd.Series:
    frame = numbers(query)
    return frame[frame["theorem"] == name].iloc[0]


def rate_table(query: TrainingSteps) -> pd.DataFrame:
    """Return what an attacker finds at powers of ten of the false-positive rate, as text."""
    rows = result(rates, query.sigma, query.q, query.steps)
    rows = rows[rows["fpr"].isin(DECADES)]
    columns = {
        "Wrongly accused": [of_100(float(rate)) for rate in rows["fpr"]],
        "Found, at most": [of_100(float(rate)) for rate in rows["tpr"]],
        "By Rényi (bound)": [of_100(float(rate)) for rate in rows["renyi"]],
        "By CLT (approximation)": [f"about {nearest(float(rate), 4)}" for rate in rows["clt"]],
        "The CLT is": rows["verdict"],
    }
    return readable(pd.DataFrame({**columns, **rows[list(FACTS)]}))


# ---- one use -------------------------------------------------------------------------------------------------


def forms_of(query: Once) -> tuple[tuple[Form, ...], tuple[str, ...]]:
    """Return the forms and what the library warned about while reading the mechanism."""
    region, notices = work.region(query.base)
    return result(forms, region, query.p, scheme=query.scheme, delta=query.delta), notices


def once_spec(query: Once, view: str) -> dict[str, Any]:
    """Return the spec of the region before and after sampling, each form of it."""
    shared = {"region": query.base, "p": query.p, "scheme": query.scheme, "delta": query.delta}
    return {"draw": "sampling", **shared, "log": view == LOGLOG}


def form_lines(query: Once) -> list[str]:
    """Return one line per form: its numbers and what they are."""
    every, _ = forms_of(query)
    return [f"**{form.title}** ({WORDS[form.kind]}): {form.words}" for form in every]
