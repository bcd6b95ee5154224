r"""The accountants as data: how each one derives the epsilon it reports from a mechanism, k and delta."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Final

from dpcore.core.errors import DomainError
from dpcore.core.registry import value_text
from dpcore.theorems import THEOREMS, Theorem, theorem
from dpcore.theorems.record import Account

THEOREM, LIMIT, NOTHING = "theorem", "limit", "nothing"
COMPOSED: Final = "dpcore"
"""The name of the composition itself, computed by dpcore."""

# orders of Rényi divergences that accountants try: moments up to 32, and the grid in common use
MOMENT_ORDERS: Final = tuple(float(order) for order in range(2, 34))
USUAL_ORDERS: Final = (*(1 + step / 10 for step in range(1, 100)), *(float(order) for order in range(12, 64)))


@dataclass(frozen=True, slots=True)
class AccountingMethod:
    """One method to compute the epsilon of k uses at delta.

    Attributes
    ----------
    name, title : str
        In tables, and as people read it.
    formula : str
        LaTeX.
    rests_on : str
        ``theorem`` (never below the truth), ``limit`` (an approximation) or ``nothing`` (a formula used beyond
        its theorem).
    meaning : str
        In plain words.
    reference : str
        Where it is from.
    theorem : Theorem, optional
        The theorem whose number it is; None for accountants with a formula of their own.
    """

    name: str
    title: str
    formula: str
    rests_on: str
    meaning: str
    reference: str
    theorem: Theorem | None = None


def _of(record: Theorem) -> AccountingMethod:
    """Return the accountant that reports the number of a theorem."""
    own = record.account or Account()
    return AccountingMethod(
        record.name,
        own.title or record.short,
        own.formula or record.formula,
        THEOREM,
        own.meaning or record.meaning,
        own.reference or record.reference,
        record,
    )


_PLACED: Final = (
    AccountingMethod(
        COMPOSED,
        "dpcore",
        r"\min\{\varepsilon:\ \delta_k(\varepsilon)\le\delta\}",
        THEOREM,
        "The composition of the mechanism itself, with the numerical error bounded on both sides.",
        "dpcore",
    ),
    _of(theorem("basic")),
    _of(theorem("advanced_drv")),
    AccountingMethod(
        "advanced_naive",
        "Advanced, first term only",
        r"\varepsilon_0\sqrt{2k\log(1/\tilde\delta)}",
        NOTHING,
        "The theorem without its second term, kε(e^ε − 1), which is not small unless ε√k is.",
        "a shortcut, in no paper",
    ),
    _of(theorem("kov_simplified")),
    _of(theorem("kov_optimal")),
    AccountingMethod(
        "classic",
        "Classical Gaussian",
        r"\sqrt{2\log(1.25/\delta)}\,\sqrt k\,\Delta/\sigma",
        NOTHING,
        "The textbook noise formula read backwards; proved for ε below 1 only. k answers are one answer of k numbers.",
        "Dwork, Roth 2014, Theorem 3.22",
    ),
    AccountingMethod(
        "moments",
        "Moments accountant",
        r"\min_{a\in\{2,\dots,33\}}\ kD_a+\frac{\log(1/\delta)}{a-1}",
        THEOREM,
        "Rényi divergences of whole orders up to 33, with the first conversion.",
        "Abadi et al. 2016, Theorem 2",
    ),
    _of(theorem("rdp_mironov")),
    _of(theorem("rdp_tight")),
    AccountingMethod(
        "rdp_optimal",
        "Rényi, optimal conversion",
        r"\min_a\ \min\{\varepsilon:\ \delta_{\mathrm{RDP}(a,kD_a)}(\varepsilon)\le\delta\}",
        THEOREM,
        "The same divergences; the least ε that one order allows, from the exact region of Rényi privacy.",
        "Asoodeh, Liao, Calmon, Kosut, Sankar 2021; region: dpcore",
    ),
    _of(theorem("zcdp_bun_steinke")),
    _of(theorem("zcdp_tight")),
    AccountingMethod(
        "gdp_clt",
        "GDP, central limit",
        r"\delta_\mu^{-1}(\delta),\quad\mu=q\sqrt{k(e^{1/\sigma^2}-1)}\ \text{or}\ 2\sqrt k\,m/\sqrt v",
        LIMIT,
        "Many small losses are nearly Gaussian: an approximation that is below the truth more often than not.",
        "Bu, Dong, Long, Su 2020; Dong, Roth, Su 2022, Theorem 3.4",
    ),
)
ACCOUNTANTS: Final = (
    *_PLACED,
    *(
        _of(record)
        for record in THEOREMS
        if record.account is not None and record.reports and record.name not in {one.name for one in _PLACED}
    ),
)
"""The records of all accounting methods."""


def accountant(name: str) -> AccountingMethod:
    """Return an accountant by its name.

    Parameters
    ----------
    name : str
        As in tables, e.g. ``rdp_tight``.

    Returns
    -------
    AccountingMethod
        Raises `DomainError` with the nearest name if there is none.
    """
    records = {one.name: one for one in ACCOUNTANTS}
    if name in records:
        return records[name]
    near = difflib.get_close_matches(str(name), list(records), 1)
    hint = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(records)}."
    msg = f"There is no accountant {value_text(name)}; {hint}"
    raise DomainError(msg)
