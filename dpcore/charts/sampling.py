"""At most 400 points per curve that look like the curve, in the linear and in the log-log view.

In both views the drawn line deviates by less than half a pixel at 1600 px. Polygons are drawn by their corners or,
if they have too many, by fewer edges on the safe side (`dpcore.charts.thinning`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from dpcore import frames
from dpcore.charts import pixels
from dpcore.charts.smooth import smooth_path
from dpcore.charts.thinning import Path, polygon_path
from dpcore.core.errors import DomainError
from dpcore.core.kinds import EXACT, FACTS, facts, kinds
from dpcore.core.numerals import nearest
from dpcore.core.results import result
from dpcore.curves.base import Curve
from dpcore.curves.bound import floors, published
from dpcore.curves.polygon import Polygon
from dpcore.regions import gate
from dpcore.regions.tradeoff import TradeOff
from dpcore.words import grouped

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcore.curves.base import FloatArray

Regions: TypeAlias = "TradeOff | Mapping[str, TradeOff] | Iterable[TradeOff]"
COLUMNS = ("region", "label", "alpha", "beta", "power", "epsilon", "epsilon_label", "corner", "step", *FACTS)
BORDER = ("label", "region", "alpha", "beta", *FACTS)
MOST_ROWS = 10_000


def named(regions: Regions) -> dict[str, TradeOff]:
    """Return the regions by their names in a legend: those of a mapping, or their own; repeated names are numbered."""
    if isinstance(regions, TradeOff):
        pairs = [(regions.legend, regions)]
    elif isinstance(regions, Mapping):
        pairs = [(str(name), region) for name, region in regions.items()]
    else:
        pairs = [(getattr(region, "legend", ""), region) for region in regions]
    if not pairs:
        msg = "A chart needs at least one region, got none."
        raise DomainError(msg)
    by_label: dict[str, TradeOff] = {}
    entries: list[tuple[str, object]] = list(pairs)
    for name, region in entries:
        if not isinstance(region, TradeOff):
            msg = f"A chart is made of regions such as dp(1), got a value of type {type(region).__name__}."
            raise DomainError(msg)
        label, count = name, 1
        while label in by_label:  # one of that many labels is free
            count += 1
            label = f"{name} ({count})"
        by_label[label] = region
    return by_label


def label_of(selected: str | None, items: Mapping[str, TradeOff]) -> str | None:
    """Return the label of the region that a label or an expression names; None if it names none."""
    if selected is None or selected in items:
        return selected
    return next((label for label, region in items.items() if str(region) == selected), None)


def sample(region: TradeOff, label: str | None = None, *, kind: str | None = None) -> pd.DataFrame:
    """Return the points to draw for one region.

    Parameters
    ----------
    region : TradeOff
        The region.
    label : str, optional
        Its name in the legend, by default its own (`TradeOff.legend`).
    kind : str, optional
        What its rates are, if they are less than the region itself says.

    Returns
    -------
    DataFrame
        `region, label, alpha, beta, power, epsilon, epsilon_label, corner, step, kind, theorem, neighbours`: `power` is
        the attacker's true-positive rate, `epsilon` the loss of the segment that starts at the point (minus infinity
        where the curve has reached 0); `corner` marks exact corners; `step` counts the points from alpha = 0; `kind`
        is ``exact`` or, where beta is on the safe side, ``lower``.
    """
    columns = dict(result(_columns, region))
    if label is not None:
        columns["label"] = label
    if kind is not None:
        columns["kind"] = kind
    return pd.DataFrame(columns)


def _columns(region: TradeOff) -> dict[str, Any]:
    """Return the columns of `sample`; a text that is the same in all rows is given once."""
    curve = published(region.curve)
    with gate.naming(region):
        path = polygon_path(curve) if isinstance(curve, Polygon) else smooth_path(curve)
    power = _power(curve, path)
    gate.border(region, path.alpha, path.beta, power)
    columns = {
        "region": str(region),
        "label": region.legend,
        "alpha": path.alpha + 0.0,
        "beta": path.beta + 0.0,
        "power": power,
        "epsilon": path.loss + 0.0,
        "epsilon_label": _loss_labels(path),
        "corner": path.corner,
        "step": np.arange(path.alpha.size),
        "kind": np.where(path.safe, "lower", _kinds(region, path.alpha)),
        **facts(region),
    }
    return {name: columns[name] for name in COLUMNS}


def corner_count(region: TradeOff) -> int | None:
    """Return the number of corners of the published border, None if it is smooth."""
    curve = published(region.curve)
    return curve.corner_count if isinstance(curve, Polygon) else None


def border_table(regions: Regions) -> pd.DataFrame:
    """Return the border of each region: the exact corners of a polygon with at most 10 000, otherwise the points drawn.

    Parameters
    ----------
    regions : Regions
        One region, several, or a mapping from names to regions.

    Returns
    -------
    DataFrame
        `label, region, alpha, beta, kind, theorem, neighbours`.
    """
    parts = []
    for label, region in named(regions).items():
        corners = corner_count(region)
        rows = frames.vertices(region) if corners is not None and corners <= MOST_ROWS else sample(region)
        parts.append(rows.assign(label=label)[list(BORDER)])
    return pd.concat(parts, ignore_index=True)


def _kinds(region: TradeOff, alpha: FloatArray) -> NDArray[np.str_]:
    """Return the kind of each beta drawn; numeric brackets are bounds throughout and not computed again."""
    curve = region.curve
    own = isinstance(curve, Polygon) or type(curve).beta_bounds is not Curve.beta_bounds
    if curve.exact and own:
        return np.full(alpha.size, EXACT)
    if any(part.certified for part in (curve, published(curve), *floors(curve))):
        return np.full(alpha.size, "lower")
    return kinds(region.beta_bounds(alpha), "lower")


def note(region: TradeOff, points: pd.DataFrame) -> str:
    """Return a note for the chart if a polygon was thinned, otherwise an empty text."""
    curve = published(region.curve)
    if not isinstance(curve, Polygon) or not _is_thinned(region, curve, points):
        return ""
    return (
        f"{points['label'].iloc[0]} has {grouped(curve.corner_count)} corners and is drawn with {len(points)} points on the "
        "safe side: the drawn region contains the true one and differs from it by less than half a pixel."
    )


def _is_thinned(region: TradeOff, curve: Polygon, points: pd.DataFrame) -> bool:
    """Whether a polygon is drawn with fewer corners than it has; an exact one then has points off its curve."""
    return bool((points["kind"] != EXACT).any()) if region.curve.exact else curve.corner_count > pixels.MOST_POINTS


def area(alpha: FloatArray, beta: FloatArray) -> float:
    """Return the area between the drawn curve and blind guessing."""
    return 0.5 - float(np.sum(np.diff(alpha) * (beta[1:] + beta[:-1])) / 2)


def _power(curve: Curve, path: Path) -> FloatArray:
    """Return the attacker's power; the curve's own if it has more digits than 1 - beta."""
    power = 1.0 - path.beta
    if path.power is not None:
        power = path.power
    elif type(curve).power_bounds is not Curve.power_bounds:
        power = np.where(path.safe, np.maximum(power, 0.0), curve.power_bounds(path.alpha)[1])
    return np.asarray(np.clip(power, 0.0, 1.0) + 0.0, dtype=np.float64)


def _loss_labels(path: Path) -> list[str]:
    """Return the losses as text, since JSON has no infinity: ``1.2``, ``-inf``, ``at least 3.4``."""
    texts = [nearest(loss + 0.0, 4) for loss in path.loss.tolist()]
    return [f"at least {text}" if low else text for text, low in zip(texts, path.open_loss.tolist(), strict=True)]
