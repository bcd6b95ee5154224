"""The page Subsampling: its question, computed once, as specs of figures and as sentences."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dpcore.app import inputs, work
from dpcore.app.private_training import RATE
from dpcore.core.domains import PROBABILITY, SHARE
from dpcore.core.kinds import WORDS
from dpcore.core.results import result
from dpcore.language.numbers import read_value
from dpcore.training import FIXED, POISSON, forms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpcore.training import Form

LINEAR, LOGLOG = "linear", "log-log"
DEFAULTS: dict[str, Any] = {
    "sub_scheme": POISSON,
    "sub_base": "gaussian(1)",
    "sub_p": "0.1",
    "sub_stated": "1e-5",
    "sub_view": LINEAR,
}
MOVED = {"sub_sigma": "train_sigma", "sub_q": "train_rate", "sub_steps": "train_steps", "sub_delta": "train_delta"}
"""Fields that moved to Private training, and their names there."""
OLD_RUN = {"train_sigma": "1.5"}
"""Former default values of these fields, where they differ."""
SCHEMES = (POISSON, FIXED)
PS = inputs.round_values(-4, 0)
SLIDERS = ("sub_p_slider", "sub_stated_slider")
HEIGHT = 420


@dataclass(frozen=True, slots=True)
class Once:
    """A single use of a sample: the mechanism, the sampling method and rate, and the delta of its statement."""

    base: str
    p: float
    scheme: str
    delta: float

    def moved(self, held: Mapping[str, str]) -> Once:
        """Return the query with the value of a slider that is held in place of that of its field."""
        if "sub_p_slider" in held:
            return replace(self, p=float(read_value(SHARE, held["sub_p_slider"], "Share p")))
        if "sub_stated_slider" in held:
            return replace(self, delta=float(read_value(PROBABILITY, held["sub_stated_slider"], "Stated δ")))
        return self


def training_link(query: Mapping[str, str]) -> dict[str, str]:
    """Return the Private training link for an old link to this page, which once included training; empty for others."""
    moved = {new: query[old] for old, new in MOVED.items() if old in query}
    return {"train_by": RATE, **OLD_RUN, **moved} if moved else {}


def forms_of(query: Once) -> tuple[tuple[Form, ...], tuple[str, ...]]:
    """Return the forms and the library's warnings from reading the mechanism."""
    region, notices = work.region(query.base)
    return result(forms, region, query.p, scheme=query.scheme, delta=query.delta), notices


def once_spec(query: Once, view: str) -> dict[str, Any]:
    """Return the spec of the region before and after sampling, each form of it."""
    shared = {"region": query.base, "p": query.p, "scheme": query.scheme, "delta": query.delta}
    return {"draw": "sampling", **shared, "log": view == LOGLOG}


def form_lines(query: Once) -> list[str]:
    """Return one line per form: its numbers and their kinds."""
    every, _ = forms_of(query)
    return [f"**{form.title}** ({WORDS[form.kind]}): {form.words}" for form in every]
