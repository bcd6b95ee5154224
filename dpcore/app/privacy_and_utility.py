"""Privacy against utility as its page shows it: the state in the link, the pictures, and the Python that makes them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from dpcore.app import privacy_and_utility_data
from dpcore.app.settings import Kind, label_of, values_of, written
from dpcore.charts import Figure, Look, region_figure
from dpcore.charts.bounds import bound_figure
from dpcore.charts.pairs import pair_figure
from dpcore.charts.releases import release_figure
from dpcore.core.numerals import nearest
from dpcore.core.registry import Choice
from dpcore.regions.guarantees import DP
from dpcore.utility import PAIRS, UtilityPair, pair
from dpcore.utility.bounds import SIDES
from dpcore.utility.neighbourhood import DataRegion
from dpcore.utility.reading import OTHERS, OUTSIDE
from dpcore.words import attack_sentence, outward

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from dpcore.app.privacy_and_utility_data import DataSource
    from dpcore.core.registry import Parameter
    from dpcore.regions.tradeoff import TradeOff

_T = TypeVar("_T")
HEIGHT = 400  # of both figures, so that they stand side by side
RECORDS = "n"  # moves the number of records
COLUMNS = "d"  # the number of columns is that of the data and cannot move
RELEASES = ("0", "1000", "10000", "100000")
HERE, AT_HAND, STATED = "exact region here", "these data, worst neighbour", "-DP as stated"
_SAME = 1e-9
_RATES = np.linspace(0.0, 1.0, 41)


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
    """Return name -> label of what can move: the main parameter first, and the number of records where it matters."""
    known = {name: p for name, p in numbers_of(chosen).items() if name != COLUMNS}
    names = [chosen.main, *(name for name in known if name != chosen.main)]
    found = {name: label_of(known[name]) for name in names if name in known}
    return {**found, RECORDS: "number of records (n)"} if chosen.depends_on_n() and RECORDS not in found else found


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

    @property
    def key(self) -> tuple[Hashable, ...]:
        """What the pictures depend on, without the data's own content."""
        return (written(self.pair), self.source.key, self.moves, self.measure, self.releases)

    def kept(self, what: tuple[Hashable, ...], make: Callable[[], _T]) -> _T:
        """Return a result from the cache: the shared one for public data, the visitor's own for an upload."""
        return self.source.cache.get(("utility", *what), lambda: (make(),))[0]

    @property
    def region(self) -> TradeOff:
        """The region over all datasets."""
        return self.pair.region

    @property
    def regions(self) -> dict[str, TradeOff]:
        """The regions to draw: of the mechanism, of these data where that is another, and as usually stated."""
        return self.kept(("regions", written(self.pair), self.source.key), self._regions)

    def _regions(self) -> dict[str, TradeOff]:
        found = {"exact region" if self.region.kind == "exact" else "bound for all data": self.region}
        here = self.pair.region_at(self.source.data)
        if isinstance(here, DataRegion):
            found[AT_HAND] = here
        elif not _alike(here, self.region):
            found[HERE] = here
        values = values_of(self.pair)
        if "epsilon" in values:
            stated = DP(values["epsilon"], values.get("delta", 0.0))
            if not any(_alike(stated, region) for region in found.values()):
                found[f"({nearest(stated.epsilon_)}, {nearest(stated.delta_)}){STATED}"] = stated
        return found


def _alike(first: TradeOff, second: TradeOff) -> bool:
    return bool(np.max(np.abs(first.beta(_RATES) - second.beta(_RATES))) <= _SAME)


# ---- pictures ------------------------------------------------------------------------------------------------


def utility_picture(view: UtilityView, *, dark: bool) -> Figure:
    """Return the utility against the parameter that moves."""
    options = _figure_options(view)
    return view.kept(
        ("figure", *view.key, view.seed, dark),
        lambda: pair_figure(view.pair, view.source.data, **options, look=Look(dark=dark, height=HEIGHT)),
    )


def _figure_options(view: UtilityView) -> dict[str, Any]:
    return {"parameter": view.moves, "measure": view.measure, "releases": view.releases, "seed": view.seed}


def region_picture(view: UtilityView, *, dark: bool) -> Figure:
    """Return the region at the present parameters."""

    def make() -> Figure:
        regions = view.regions
        drawn = region_figure(regions, selected=next(iter(regions)), look=Look(dark=dark, height=HEIGHT))
        if AT_HAND in regions:
            note = "The region of these data depends on them: it is for their owner and must not be published."
            return replace(drawn, notes=(*drawn.notes, note))
        return drawn

    return view.kept(("region", written(view.pair), view.source.key, dark), make)


def release_picture(view: UtilityView, *, dark: bool) -> Figure:
    """Return one release beside the true answer."""
    asked = ("release", written(view.pair), view.source.key, view.seed, dark)
    return view.kept(asked, lambda: release_figure(view.pair, view.source.data, seed=view.seed, look=Look(dark=dark)))


def has_bounds(view: UtilityView) -> bool:
    """Return whether bounds are a choice between bias and noise here: for some queries, and one column of numbers."""
    data = view.source.data
    return view.pair.clips and view.pair.wide_costs and not data.categories and data.d == 1


def bound_picture(view: UtilityView, side: str, *, dark: bool) -> Figure:
    """Return the error against a public bound: bias, noise and their total."""
    asked = ("bound", written(view.pair), view.source.key, view.measure, side, dark)
    look = Look(dark=dark, height=HEIGHT)
    return view.kept(
        asked, lambda: bound_figure(view.pair, view.source.data, side=side, measure=view.measure, look=look)
    )


# ---- words ---------------------------------------------------------------------------------------------------


def words(view: UtilityView) -> str:
    """Say how far a release is off, and what an attacker can do."""

    def make() -> str:
        return f"{view.pair.sentence(view.source.data)} {attack_sentence(view.region)}"

    return view.kept(("words", written(view.pair), view.source.key), make)


def known_facts(view: UtilityView) -> list[tuple[str, str, str, str]]:
    """Return what is known without simulation: label, value rounded to the safe side with its kind, theorem, formula."""
    units = {m.name: m for m in view.pair.measures}
    kinds = {"exact": "exact", "upper": "upper bound", "lower": "lower bound", "approximate": "approximation"}
    rows = []
    for fact in view.pair.closed_forms(view.source.data):
        measure = units[fact.measure]
        shown = outward(fact.value, 4, up=fact.kind != "lower")
        kind = "lower bound on any mechanism" if fact.about == "any" else kinds[fact.kind]
        unit = f" {measure.unit}" if measure.unit else ""
        rows.append((measure.label, f"{shown}{unit} ({kind})", fact.theorem, fact.formula))
    return rows


# ---- code ----------------------------------------------------------------------------------------------------


def _query_lines(view: UtilityView) -> list[str]:
    values = "".join(f", {name}={value!r}" for name, value in values_of(view.pair).items())
    return [f"query = pair({view.pair.name!r}{values})", *view.source.code]


def utility_code(view: UtilityView) -> str:
    """Return the Python lines that draw the utility."""
    options = "".join(f", {name}={value!r}" for name, value in _figure_options(view).items())
    return "\n".join(
        [
            "from dpcore.charts import save",
            "from dpcore.charts.pairs import pair_figure",
            "from dpcore.utility import pair",
            *view.source.imports,
            "",
            *_query_lines(view),
            "print(query.sentence(data))",
            f"figure = pair_figure(query, data{options})",
            'save(figure, "utility.svg")',
        ]
    )


def region_code(view: UtilityView) -> str:
    """Return the Python lines that draw the region."""
    rows = ["regions = {"]
    for name, region in view.regions.items():
        made = "query.region_at(data)" if name in (HERE, AT_HAND) else "query.region"
        if isinstance(region, DP) and name.endswith(STATED):
            made = f"dp({region.epsilon_!r}, {region.delta_!r})"
        rows.append(f"    {name!r}: {made},")
    return "\n".join(
        [
            "from dpcore import dp",
            "from dpcore.charts import region_figure, save",
            "from dpcore.utility import pair",
            *view.source.imports,
            "",
            *_query_lines(view),
            *rows,
            "}",
            f"figure = region_figure(regions, selected={next(iter(view.regions))!r})",
            'save(figure, "region.svg")',
        ]
    )


def release_code(view: UtilityView) -> str:
    """Return the Python lines that draw one release."""
    return "\n".join(
        [
            "from dpcore.charts import save",
            "from dpcore.charts.releases import release_figure",
            "from dpcore.utility import pair",
            *view.source.imports,
            "",
            *_query_lines(view),
            f"figure = release_figure(query, data, seed={view.seed!r})",
            'save(figure, "release.svg")',
        ]
    )


def bound_code(view: UtilityView, side: str) -> str:
    """Return the Python lines that draw the trade-off over a bound."""
    return "\n".join(
        [
            "from dpcore.charts import save",
            "from dpcore.charts.bounds import bound_figure",
            "from dpcore.utility import pair",
            *view.source.imports,
            "",
            *_query_lines(view),
            f"figure = bound_figure(query, data, side={side!r}, measure={view.measure!r})",
            'save(figure, "bound.svg")',
        ]
    )


def needed_code(view: UtilityView, measure: str, target: float, of: str) -> str:
    """Return the Python lines that answer the inverse question."""
    return "\n".join(
        [
            "from dpcore.utility import pair",
            *view.source.imports,
            "",
            *_query_lines(view),
            f"print(query.requirement({measure!r}, {target!r}, data, {of!r}).words)",
        ]
    )
