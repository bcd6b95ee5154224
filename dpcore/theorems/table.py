"""The one table every theorem returns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.lazy import LateModule

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    from numpy.typing import ArrayLike
else:
    pd = LateModule("pandas")

COLUMNS = ("theorem", "epsilon", "delta", "kind", "note")
LARGEST_TABLE = 10**7


def table(
    theorem: str, epsilon: ArrayLike, delta: ArrayLike, kind: str, note: str | Iterable[str] = ""
) -> pd.DataFrame:
    """Return the statements of one theorem, a row per (epsilon, delta).

    The columns are ``theorem`` (name), ``epsilon``, ``delta``, ``kind`` (``exact``: the rows describe the tight
    region of the worst case under the theorem's hypotheses; ``upper``: a valid statement, not tight) and ``note``
    (plain words).
    """
    epsilons = np.atleast_1d(np.asarray(epsilon, dtype=np.float64))
    deltas = np.atleast_1d(np.asarray(delta, dtype=np.float64))
    notes: object = note if isinstance(note, str) else list(note)
    columns = {"theorem": theorem, "epsilon": epsilons, "delta": deltas, "kind": kind, "note": notes}
    return pd.DataFrame(columns, columns=list(COLUMNS))


def stack(frames: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return the tables below one another, with a fresh index; without tables an empty one."""
    tables = list(frames)
    if not tables:
        return table("", [], [], "exact")
    return pd.concat(tables, ignore_index=True)
