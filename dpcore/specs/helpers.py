"""Small functions that recipes call; the code under a figure calls them too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.core.errors import DomainError
from dpcore.language.problems import nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from dpcore.theorems.composition import TheoremRegion


def only(ways: Sequence[TheoremRegion], names: Sequence[str]) -> tuple[TheoremRegion, ...]:
    """Return the theorems of these names, in this order."""
    by_name = {way.name: way for way in ways}
    for name in names:
        if name not in by_name:
            msg = f"There is no theorem {name!r}; {nearest(name, by_name) or 'the theorems are ' + ', '.join(by_name) + '.'}"
            raise DomainError(msg)
    return tuple(by_name[name] for name in names)


def only_rows(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return the rows of a ladder of the theorems of these names, and of the composition itself."""
    return frame[frame["theorem"].isin([*names, "exact", "kov_optimal"])]
