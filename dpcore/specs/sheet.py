"""The table of a figure as a file that describes itself: what was asked is in its columns, and its name says it too.

Curves that a figure compares are on one grid. There is one header row and no comment: any program reads it.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any, Final

import dpcore
from dpcore.charts.theme import PLAIN
from dpcore.core.effort import effort
from dpcore.core.kinds import FACTS
from dpcore.core.numerals import nearest
from dpcore.language import parse
from dpcore.regions.algebra import factors
from dpcore.specs import recipes
from dpcore.specs.base import as_spec, draw, drawer_of, mistakes, table, tolerance_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from dpcore.charts.figure import Figure

FIRST: Final = ("label", "title", "region")
LAST: Final = ("figure", "expression", "k", "target", "target_value", "version")
"""Columns added to every table: the kind of figure, what is repeated k times, the delta or epsilon asked for, and dpcore."""
_LONGEST: Final = 80  # characters of a file name


def sheet(spec: Mapping[str, Any], figure: Figure | None = None) -> pd.DataFrame:
    """Return the table of a figure with columns that say what it is a table of.

    Parameters
    ----------
    spec : mapping of str to object
        As in `draw`.
    figure : Figure, optional
        The figure, if it has been drawn.

    Returns
    -------
    DataFrame
        Names first (`label`, `title`, `region`), then the numbers, then `kind, theorem, neighbours`, then `figure,
        expression, k, target, target_value, version`; columns that the table has under one of these names stay as they
        are. Regions and theorems that are compared have the same epsilons, or the same false-positive rates.

    Examples
    --------
    >>> rows = sheet({"draw": "profile", "regions": ["dp(1)^3", "gdp(1)"]})
    >>> rows[["expression", "k", "target", "target_value"]].drop_duplicates().values.tolist()
    [['dp(1)', 3, 'delta', 1e-06], ['gdp(1)', 1, 'delta', 1e-06]]
    """
    source = as_spec(spec)
    drawer = drawer_of(source)
    recipe = drawer.grid()
    with mistakes(source), effort(tolerance=tolerance_of(source)):
        rows = recipes.run(recipe, PLAIN, source.files) if recipe is not None else table(source)
    if rows is None:
        rows = (figure or draw(source)).table
    target, value = drawer.target() or ("", None)
    known = {"figure": drawer.kind, "target": target, "target_value": value, "version": dpcore.__version__}
    known |= _copies(rows, drawer.about())
    added = {name: known[name] for name in LAST if name in known and name not in rows.columns}
    return _ordered(rows).assign(**added)


def file_name(spec: Mapping[str, Any], suffix: str = ".csv") -> str:
    """Return the name of a figure's file: the kind of figure, its expressions, k and target.

    Parameters
    ----------
    spec : mapping of str to object
        As in `draw`.
    suffix : str, default ".csv"
        How the name ends.

    Returns
    -------
    str
        Lower-case letters, digits and signs that every system takes; a name that would be too long ends with a digest.

    Examples
    --------
    >>> file_name({"draw": "composition", "mechanism": "dp(0.1)", "k": 100})
    'composition_dp-0.1_k-100_delta-1e-6.csv'
    """
    source = as_spec(spec)
    drawer = drawer_of(source)
    about, target = drawer.about(), drawer.target()
    texts = [drawer.kind]
    for key in ("view", "measure", "mechanism", "region", "regions", "statements", "utility", "families", "file"):
        value = about.get(key, ())
        texts += [value] if isinstance(value, str) else map(str, value)
    texts += [f"k-{about['k']}"] if isinstance(about.get("k"), int) else []
    texts += [f"{target[0]}-{nearest(target[1])}"] if target else []
    name = "_".join(filter(None, (re.sub(r"[^a-z0-9.+]+", "-", text.lower()).strip("-.") for text in texts)))
    if len(name) > _LONGEST:
        plain = json.dumps(about, sort_keys=True, default=str)
        name = f"{name[:_LONGEST]}_{hashlib.sha256(plain.encode()).hexdigest()[:8]}"
    return name + suffix


def _copies(rows: pd.DataFrame, about: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is repeated and how often: as the spec says, or as the expression of each row does."""
    if isinstance(about.get("mechanism"), str):
        return {"expression": about["mechanism"], "k": about.get("k", 1)}
    if "region" not in rows.columns:
        whole = about.get("region", "")
        return dict(zip(("expression", "k"), _split(str(whole)), strict=True)) if whole else {}
    parts = {text: _split(text) for text in rows["region"].unique()}
    pairs = [parts[text] for text in rows["region"]]
    return {"expression": [text for text, _ in pairs], "k": [count for _, count in pairs]}


def _split(text: str) -> tuple[str, int]:
    """Return a mechanism and the number of its copies; what is not a power of one mechanism is one of itself."""
    if not text or text.startswith("<"):  # a region made from a Python function has no expression
        return text, 1
    parts = factors(parse(text))
    return (str(parts[0][0]), parts[0][1]) if len(parts) == 1 else (text, 1)


def _ordered(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the table with names first and what its numbers are last, in the same order for every figure."""
    starts, ends = ([name for name in part if name in rows.columns] for part in (FIRST, FACTS))
    return rows[[*starts, *(name for name in rows.columns if name not in (*starts, *ends)), *ends]]
