r"""Which theorems apply to a list of statements without a delta, and what each of them says."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.domains import COPIES, LOSS, PROBABILITY, SLACK
from dpcore.core.errors import BudgetError, DomainError
from dpcore.theorems.catalogue import listing
from dpcore.theorems.table import stack

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

    from dpcore.theorems.domain import Statement

SLACKS = (1e-9, 1e-6, 1e-3)
LONGEST = 1000  # rows of one theorem
_ROUNDING = 1e-12  # relative, the contract for numbers of kind ``exact``
_ARITY = {"dp": 2, "tv": 1, "dptv": 3, "gdp": 1}

Part = tuple[str, tuple[float, ...], int]
"""Kind of guarantee, its parameters and how many mechanisms satisfy it."""


@dataclass(frozen=True, slots=True)
class Listing:
    """A list of guarantees as the theorems see it, equal ones counted together."""

    parts: tuple[Part, ...]

    @property
    def kinds(self) -> set[str]:
        """Which guarantees occur: ``dp``, ``dptv`` or ``gdp``."""
        return {kind for kind, _, _ in self.parts}

    @property
    def triples(self) -> list[Statement]:
        """The statements as (epsilon, delta, count) without total variations; empty if one part has only a mu."""
        return [] if "gdp" in self.kinds else [(values[0], values[1], count) for _, values, count in self.parts]

    @property
    def equal(self) -> bool:
        """Whether all make the same statement."""
        return len({(epsilon, delta) for epsilon, delta, _ in self.triples}) == 1


def applicable(
    parts: Iterable[tuple[str, Sequence[float], int]], slacks: Sequence[float] = SLACKS, longest: int = LONGEST
) -> pd.DataFrame:
    """Return what every theorem that applies to the whole list says about the composition.

    Parameters
    ----------
    parts : iterable of tuple of (str, sequence of float, int)
        Records (kind, parameters, count) with kind ``dp`` (epsilon, delta), ``tv`` (eta), ``dptv``
        (epsilon, delta, eta) or ``gdp`` (mu); count mechanisms each.
    slacks : sequence of float, default SLACKS
        What the closed-form bounds, stated at each, add to delta.
    longest : int, default LONGEST
        Exact theorems with more corners are thinned evenly to about this many rows; each kept row stays exact.

    Returns
    -------
    pandas.DataFrame
        Columns ``theorem, epsilon, delta, kind, note``; no rows when no single theorem covers the mixture (then
        compose the regions themselves). ``attrs["left_out"]`` gives, by name, why a theorem that applies is missing.
    """
    guarantees = Listing(_merged(parts))
    extras = tuple(SLACK.array(slacks).tolist())
    most = COPIES.but(name="longest", low=2).check(longest)
    frames: list[pd.DataFrame] = []
    left_out: dict[str, str] = {}
    for theorem in listing():
        try:
            frame = theorem.listing_rows(guarantees, extras)
        except BudgetError as error:
            left_out[theorem.name] = str(error)
            continue
        if frame is not None:
            aside = "dptv" in guarantees.kinds and not theorem.uses_tv
            frames.append(_thinned(_without_tv(frame) if aside else frame, most))
    result = stack(frames)
    result.attrs["left_out"] = left_out
    return result


def _without_tv(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows as upper bounds, because bounds on total variation are not used."""
    frame["note"] = frame["note"] + "; bound on total variation not used"
    # Exact deltas are right to rounding; as upper bounds they must not be below the truth at all.
    rounded = np.minimum(frame["delta"] * (1 + _ROUNDING), 1.0)
    frame["delta"] = frame["delta"].where(frame["kind"] == "upper", rounded)
    frame["kind"] = "upper"
    return frame


def _merged(parts: Iterable[tuple[str, Sequence[float], int]]) -> tuple[Part, ...]:
    """Return the checked parts, equal ones counted together."""
    counts: dict[tuple[str, tuple[float, ...]], int] = {}
    try:
        records = list(parts)
    except TypeError:
        records = []
    if not records:
        msg = f"parts must be a list of at least one record (kind, parameters, count), got {parts!r}."
        raise DomainError(msg)
    for record in records:
        kind, values, count = _checked(record)
        counts[kind, values] = counts.get((kind, values), 0) + count
    return tuple((kind, values, count) for (kind, values), count in counts.items())


def _checked(record: object) -> Part:
    if not isinstance(record, (tuple, list)) or len(record) != 3 or record[0] not in _ARITY:
        msg = f"A part must be (kind, parameters, count) with kind one of {', '.join(_ARITY)}, got {record!r}."
        raise DomainError(msg)
    kind, values, count = record
    checked = tuple(LOSS.but(name=f"parameters of {kind}").array(values).tolist())
    if len(checked) != _ARITY[kind]:
        msg = f"{kind} takes {_ARITY[kind]} parameters, got {len(checked)} in {record!r}."
        raise DomainError(msg)
    copies = COPIES.but(name="count").check(count)
    for value in checked if kind == "tv" else checked[1:]:
        PROBABILITY.but(name=f"probability of {kind}").check(value)
    if kind == "tv":
        return "dp", (0.0, checked[0]), copies
    if kind == "dptv":
        epsilon, delta, eta = checked
        if eta <= delta or epsilon == 0:
            return "dp", (0.0, min(delta, eta)), copies
        if eta >= delta + (1 - delta) * math.tanh(epsilon / 2):  # the bound on total variation adds nothing
            return "dp", (epsilon, delta), copies
    return kind, checked, copies


def _thinned(frame: pd.DataFrame, longest: int) -> pd.DataFrame:
    """Return evenly spread rows, both ends among them, when there are more than `longest`."""
    if len(frame) <= longest:
        return frame
    places = np.unique(np.linspace(0, len(frame) - 1, longest).round().astype(np.int64))
    thinned = frame.iloc[places].copy()
    thinned["note"] = thinned["note"] + f" ({places.size} of {len(frame)} rows)"
    return thinned
