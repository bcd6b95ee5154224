r"""The accountants as data: how each gets from a mechanism, k and delta to the epsilon that it reports."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Final

from dpcore.composition.ways import TITLES
from dpcore.errors import DomainError
from dpcore.registry import shown

THEOREM, LIMIT, NOTHING = "theorem", "limit", "nothing"
CERTIFIED: Final = "certified"

# orders of Rényi divergences that accountants try: moments up to 32, and the grid in common use
MOMENT_ORDERS: Final = tuple(float(order) for order in range(2, 34))
USUAL_ORDERS: Final = (*(1 + step / 10 for step in range(1, 100)), *(float(order) for order in range(12, 64)))


@dataclass(frozen=True, slots=True)
class Accountant:
    """One way to arrive at the epsilon of k uses at delta.

    Attributes
    ----------
    name, title : in tables, and as people read it.
    formula : LaTeX.
    rests_on : ``theorem`` (never below the truth), ``limit`` (an approximation) or ``nothing`` (a formula used where
        no theorem holds).
    meaning : in plain words.
    reference : where it is from.
    """

    name: str
    title: str
    formula: str
    rests_on: str
    meaning: str
    reference: str


ACCOUNTANTS: Final = (
    Accountant(
        CERTIFIED,
        "Certified",
        r"\min\{\varepsilon:\ \delta_k(\varepsilon)\le\delta\}",
        THEOREM,
        "The composition of the mechanism itself, with the numerical error bounded on both sides.",
        "dpcore",
    ),
    Accountant(
        "basic",
        TITLES["basic"],
        r"k\varepsilon_0",
        THEOREM,
        "Every ε adds up, and so does every δ.",
        "Dwork, Kenthapadi, McSherry, Mironov, Naor 2006",
    ),
    Accountant(
        "advanced_drv",
        TITLES["advanced_drv"],
        r"\varepsilon_0\sqrt{2k\log(1/\tilde\delta)}+k\varepsilon_0(e^{\varepsilon_0}-1)",
        THEOREM,
        "The mean of the loss plus a few standard deviations, both bounded generously.",
        "Dwork, Rothblum, Vadhan 2010",
    ),
    Accountant(
        "advanced_naive",
        "Advanced, first term only",
        r"\varepsilon_0\sqrt{2k\log(1/\tilde\delta)}",
        NOTHING,
        "The theorem without its second term, kε(e^ε − 1), which is not small unless ε√k is.",
        "a shortcut, in no paper",
    ),
    Accountant(
        "kov_simplified",
        TITLES["kov_simplified"],
        r"\min\{k\varepsilon_0,\ k\varepsilon_0\tanh\tfrac{\varepsilon_0}2+\varepsilon_0\sqrt{2k\log(1/\tilde\delta)},\dots\}",
        THEOREM,
        "A closed form above the optimal composition of (ε, δ) statements.",
        "Kairouz, Oh, Viswanath 2015, Theorem 3.5",
    ),
    Accountant(
        "kov_optimal",
        TITLES["kov_optimal"],
        r"\min\{\varepsilon:\ \delta_{(\varepsilon_0,\delta_0)^{\otimes k}}(\varepsilon)\le\delta\}",
        THEOREM,
        "The best that can be said when one (ε, δ) statement per use is all that is known.",
        "Kairouz, Oh, Viswanath 2015, Theorem 3.3",
    ),
    Accountant(
        "classic",
        "Classical Gaussian",
        r"\sqrt{2\log(1.25/\delta)}\,\sqrt k\,\Delta/\sigma",
        NOTHING,
        "The textbook noise formula read backwards; proved for ε below 1 only. k answers are one answer of k numbers.",
        "Dwork, Roth 2014, Theorem 3.22",
    ),
    Accountant(
        "moments",
        "Moments accountant",
        r"\min_{a\in\{2,\dots,33\}}\ kD_a+\frac{\log(1/\delta)}{a-1}",
        THEOREM,
        "Rényi divergences of whole orders up to 33, with the first conversion.",
        "Abadi et al. 2016, Theorem 2",
    ),
    Accountant(
        "rdp_mironov",
        "Rényi, first conversion",
        r"\min_a\ kD_a+\frac{\log(1/\delta)}{a-1}",
        THEOREM,
        "Rényi divergences of the usual 151 orders, turned into ε by Markov's inequality.",
        "Mironov 2017, Proposition 3",
    ),
    Accountant(
        "rdp_tight",
        "Rényi, better conversion",
        r"\min_a\ kD_a+\log\frac{a-1}a-\frac{\log\delta+\log a}{a-1}",
        THEOREM,
        "The same divergences; only the part of the tail above e^ε counts. What most libraries do today.",
        "Balle, Barthe, Gaboardi, Hsu, Sato 2020; Canonne, Kamath, Steinke 2020",
    ),
    Accountant(
        "rdp_optimal",
        "Rényi, optimal conversion",
        r"\min_a\ \min\{\varepsilon:\ \delta_{\mathrm{RDP}(a,kD_a)}(\varepsilon)\le\delta\}",
        THEOREM,
        "The same divergences; the least ε that one order allows, from the exact region of Rényi privacy.",
        "Asoodeh, Liao, Calmon, Kosut, Sankar 2021; region: dpcore",
    ),
    Accountant(
        "zcdp_bun_steinke",
        "zCDP, first conversion",
        r"k\rho+2\sqrt{k\rho\log(1/\delta)}",
        THEOREM,
        "One number ρ bounds the divergences of all orders.",
        "Bun, Steinke 2016, Lemma 3.5",
    ),
    Accountant(
        "zcdp_tight",
        "zCDP, better conversion",
        r"\min_{a>1}\ k\rho a+\log\frac{a-1}a-\frac{\log\delta+\log a}{a-1}",
        THEOREM,
        "The same ρ with the better conversion at the best order.",
        "Canonne, Kamath, Steinke 2020, Proposition 12",
    ),
    Accountant(
        "gdp_clt",
        "GDP, central limit",
        r"\delta_\mu^{-1}(\delta),\quad\mu=q\sqrt{k(e^{1/\sigma^2}-1)}\ \text{or}\ 2\sqrt k\,m/\sqrt v",
        LIMIT,
        "Many small losses are nearly Gaussian: an approximation that is below the truth more often than not.",
        "Bu, Dong, Long, Su 2020; Dong, Roth, Su 2022, Theorem 3.4",
    ),
)


def accountant(name: str) -> Accountant:
    """Return an accountant by name; a wrong name is answered with the nearest."""
    known = {one.name: one for one in ACCOUNTANTS}
    if name in known:
        return known[name]
    near = difflib.get_close_matches(str(name), list(known), 1)
    hint = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(known)}."
    msg = f"There is no accountant {shown(name)}; {hint}"
    raise DomainError(msg)
