"""Privacy against utility for its page: the state in the link, the specs of its pictures, and the statements."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dpcore.app import forms, privacy_and_utility_data, work
from dpcore.app.settings import Kind, label_of, meant, values_of, written
from dpcore.core.domains import COUNT
from dpcore.core.lazy import Lazy
from dpcore.core.registry import Choice
from dpcore.core.results import kept_by
from dpcore.language.numbers import read_value
from dpcore.specs import Spec, intermediate
from dpcore.utility import PAIRS, UtilityPair, pair
from dpcore.utility.bounds import SIDES
from dpcore.utility.reading import OTHERS, OUTSIDE
from dpcore.words import outward

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpcore.app.privacy_and_utility_data import DataSource
    from dpcore.core.registry import Parameter
    from dpcore.utility import Dataset

HEIGHT = 400
RECORDS = "n"  # moves the number of records
COLUMNS = "d"  # the number of columns is that of the data and cannot move
RELEASES = ("0", "1000", "10000", "100000")
MOST_HELD = 1000
"""Releases simulated at each point while a slider is held: more could not keep up with it."""

KIND = Kind("utility", PAIRS, pair, "a query with its mechanism, such as count_laplace")
read = KIND.read
FIRST = pair("histogram_laplace")
# session keys outlive a page, so no other page may use the same ones
DEFAULTS: dict[str, Any] = {
    "utility": written(FIRST),
    "utility_data": privacy_and_utility_data.FIRST,
    "utility_n": "",
    "utility_low": "",
    "utility_high": "",
    "utility_kind": privacy_and_utility_data.KINDS[0],
    "utility_outside": OUTSIDE[0],
    "utility_categories": "",
    "utility_others": OTHERS[0],
    "utility_side": SIDES[0],
    "utility_moves": "",
    "utility_measure": "",
    "utility_releases": RELEASES[1],
    "utility_seed": "1",
    "utility_target": "",
    "utility_of": "",
}


def numbers_of(chosen: UtilityPair) -> dict[str, Parameter]:
    """Return the parameters that can move along an axis."""
    return {p.name: p for p in chosen.parameters() if p.kind in ("number", "integer") and not isinstance(p, Choice)}


def movable(chosen: UtilityPair) -> dict[str, str]:
    """Return name -> label of what can move: the main parameter first, and the number of records if it matters."""
    known = {name: p for name, p in numbers_of(chosen).items() if name != COLUMNS}
    names = [chosen.main, *(name for name in known if name != chosen.main)]
    labels = {name: label_of(known[name]) for name in names if name in known}
    return {**labels, RECORDS: "number of records (n)"} if chosen.depends_on_n() and RECORDS not in labels else labels


# ---- what is looked at ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class UtilityView:
    """A pair on some data, the parameter that moves, and how much is simulated."""

    pair: UtilityPair
    source: DataSource
    moves: str
    measure: str
    releases: int
    seed: int

    @Lazy
    def data(self) -> Dataset:
        """The data, made as in the figures' recipe; what is read from a visitor's file is only kept for them."""
        with kept_by(work.keeper(self.source.store)):
            data: Dataset = intermediate(self.region_spec(), "data")
        return data

    def _spec(self, draw: str, **own: Any) -> Spec:
        usual = values_of(pair(self.pair.name))
        parameters = {name: value for name, value in values_of(self.pair).items() if value != usual[name]}
        query = {"utility": self.pair.name, "parameters": parameters}
        known = {name: value for name, value in self.source.fields.items() if value is not None}
        return Spec({"draw": draw, **query, **known, **own}, files=self.source.files)

    def utility_spec(self) -> Spec:
        """Return the spec of the error against the parameter that moves."""
        own = {"moves": self.moves, "measure": self.measure, "releases": self.releases, "seed": self.seed}
        return self._spec("utility", **own)

    def region_spec(self) -> Spec:
        """Return the spec of the region at the current parameters."""
        return self._spec("utility_region")

    def release_spec(self) -> Spec:
        """Return the spec of one release beside the true answer."""
        return self._spec("release", seed=self.seed)

    def bound_spec(self, side: str) -> Spec:
        """Return the spec of the error against a public bound: bias, noise and their total."""
        return self._spec("bounds", side=side, measure=self.measure)

    @property
    def has_bounds(self) -> bool:
        """Whether bounds trade bias for noise here: for some queries on one column of numbers."""
        return self.pair.clips and self.pair.wide_costs and not self.data.categories and self.data.d == 1

    def moved(self, held: Mapping[str, str]) -> UtilityView:
        """Return the view with the value of a held slider and fewer simulated releases."""
        if not held:
            return self
        ((slider, text),) = held.items()
        view = replace(self, releases=min(self.releases, MOST_HELD))
        if slider == privacy_and_utility_data.SIZE:
            n = read_value(COUNT.but(name="n", high=self.source.most), text)
            return replace(view, source=replace(self.source, fields={**self.source.fields, "n": n}))
        for name, parameter in numbers_of(self.pair).items():
            if slider == slider_of(self.pair, name):
                return replace(view, pair=self.pair.but(**{name: meant(parameter, text)}))
        return self


def slider_of(chosen: UtilityPair, name: str) -> str:
    """Return the key of the slider of a parameter."""
    return forms.slider_key(f"{KIND.key}_{chosen.name}_{name}")


# ---- words ---------------------------------------------------------------------------------------------------


def known_facts(view: UtilityView) -> list[tuple[str, str, str, str]]:
    """Return what is known without simulation: label, value rounded to the safe side with its kind, theorem, formula."""
    units = {m.name: m for m in view.pair.measures}
    kinds = {"exact": "exact", "upper": "upper bound", "lower": "lower bound", "approximate": "approximation"}
    rows = []
    for fact in view.pair.closed_forms(view.data):
        measure = units[fact.measure]
        shown = outward(fact.value, 4, up=fact.kind != "lower")
        kind = "lower bound on any mechanism" if fact.about == "any" else kinds[fact.kind]
        unit = f" {measure.unit}" if measure.unit else ""
        rows.append((measure.label, f"{shown}{unit} ({kind})", fact.theorem, fact.formula))
    return rows
