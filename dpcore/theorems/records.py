r"""The theorems as data: what each says, under which assumptions, who proved it, and a number to check it by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpcore.theorems.basic import basic, parallel, parallel_union
from dpcore.theorems.bounds import advanced_course, advanced_drv, kov_simplified
from dpcore.theorems.gaussian import gdp
from dpcore.theorems.group import group, group_exact
from dpcore.theorems.optimal import dptv, kov_heterogeneous, kov_optimal
from dpcore.theorems.renyi import rdp_delta, rdp_to_dp, zcdp_delta, zcdp_to_dp

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from dpcore.theorems.table import Kind

ADAPTIVE = (
    "The mechanisms use fresh randomness. Which mechanism comes next may depend on earlier answers; the list of strengths may "
    "not: it is fixed beforehand."
)
DISJOINT = "The mechanisms read disjoint parts of the data, and a change of one record touches one part only."
SINGLE = "One mechanism that satisfies the statement; nothing else is assumed."


@dataclass(frozen=True, slots=True)
class Oracle:
    """A checked value: among the rows of `function` (the theorem's own unless given) one has this epsilon and delta."""

    arguments: tuple[object, ...]
    epsilon: float
    delta: float
    tolerance: float = 1e-12
    function: Callable[..., pd.DataFrame] | None = None


@dataclass(frozen=True, slots=True)
class Theorem:
    """One named theorem; `kind` is the best its rows can be, each row states its own."""

    name: str
    title: str
    function: Callable[..., pd.DataFrame]
    formula: str
    meaning: str
    assumptions: str
    neighbours: str
    reference: str
    kind: Kind
    oracles: tuple[Oracle, ...]

    def rows(self, oracle: Oracle) -> pd.DataFrame:
        """Return the theorem's own rows for the arguments of an oracle."""
        frame = (oracle.function or self.function)(*oracle.arguments)
        return frame[frame["theorem"] == self.name]


THEOREMS: tuple[Theorem, ...] = (
    Theorem(
        name="basic",
        title="Basic composition",
        function=basic,
        formula=r"\Bigl(\sum_l\varepsilon_l,\ \sum_l\delta_l\Bigr)",
        meaning="Every ε adds up, and so does every δ.",
        assumptions=ADAPTIVE,
        neighbours="any",
        reference="Dwork, Kenthapadi, McSherry, Mironov, Naor 2006; Dwork, Roth 2014, Theorem 3.16",
        kind="upper",
        oracles=(
            Oracle(([(0.5, 0.25), (0.25, 0.125)],), 0.75, 0.375, 0.0),
            Oracle(([(0.05, 0.0, 20)],), 1.0, 0.0, 1e-15),
        ),
    ),
    Theorem(
        name="kov_optimal",
        title="Optimal composition of equal statements",
        function=kov_optimal,
        formula=r"\Bigl((k-2i)\varepsilon,\ 1-(1-\delta)^k\bigl(1-\sum_{l<i}\tbinom{k}{l}"
        r"\tfrac{e^{(k-l)\varepsilon}-e^{(k-2i+l)\varepsilon}}{(1+e^\varepsilon)^k}\bigr)\Bigr),"
        r"\ i=0,\dots,\lfloor k/2\rfloor",
        meaning="The exact region of k unknown mechanisms: some mechanism attains every corner at once.",
        assumptions=ADAPTIVE,
        neighbours="any",
        reference="Kairouz, Oh, Viswanath 2015, Theorem 3.3",
        kind="exact",
        oracles=(
            # k = 2 by hand: delta_1 = (e^(2 eps) - 1)/(1 + e^eps)^2 = tanh(eps/2); eps = 2 log 2 gives 3/5.
            Oracle((1.3862943611198906, 0.0, 2), 0.0, 0.6, 1e-15),
            Oracle((1.3862943611198906, 0.5, 2), 0.0, 0.9, 1e-15),
            Oracle((0.1, 1e-3, 1), 0.1, 1e-3, 1e-15),
        ),
    ),
    Theorem(
        name="kov_heterogeneous",
        title="Optimal composition of different statements",
        function=kov_heterogeneous,
        formula=r"1-\prod_l(1-\delta_l)\bigl(1-E[(1-e^{\varepsilon-L})^+]\bigr),\quad L=\sum_l\pm\varepsilon_l",
        meaning="The exact region of a short list of unknown mechanisms with different parameters.",
        assumptions=ADAPTIVE,
        neighbours="any",
        reference="Kairouz, Oh, Viswanath 2015, section 5; Murtagh, Vadhan 2016, Theorem 1.5",
        kind="exact",
        oracles=(
            # log 2 and log 3: top mass (2/3)(3/4) = 1/2, next loss log(3/2) of mass 1/4; at log(3/2): (1/2)(1 - 1/4).
            Oracle(([(0.6931471805599453, 0.0), (1.0986122886681098, 0.0)],), 0.4054651081081644, 0.375, 1e-14),
        ),
    ),
    Theorem(
        name="kov_simplified",
        title="Optimal composition, closed form",
        function=kov_simplified,
        formula=r"\min\bigl\{\sum\varepsilon_l,\ A+\sqrt{2B\log(1/\tilde\delta)},\ "
        r"A+\sqrt{2B\log(e+\sqrt B/\tilde\delta)}\bigr\},\ "
        r"1-(1-\tilde\delta)\prod(1-\delta_l);\ "
        r"A=\sum\varepsilon_l\tanh\tfrac{\varepsilon_l}{2},\ B=\sum\varepsilon_l^2",
        meaning="The mean of the loss plus a few standard deviations, for a chosen extra δ.",
        assumptions=ADAPTIVE,
        neighbours="any",
        reference="Kairouz, Oh, Viswanath 2015, Theorems 3.4 and 3.5",
        kind="upper",
        oracles=(Oracle(([(0.05, 0.0)] * 20, 1e-3), 0.7613352285668463, 1e-3, 1e-14),),
    ),
    Theorem(
        name="dptv",
        title="Composition with a bound on the total variation",
        function=dptv,
        formula=r"\bigl(j\varepsilon,\ 1-(1-\delta)^k(1-\delta_j)\bigr),\ j=0,\dots,k;\quad"
        r"\alpha=1-\tfrac{(\eta-\delta)(1+e^\varepsilon)}{(1-\delta)(e^\varepsilon-1)}",
        meaning="A mechanism of small total variation reveals something only now and then: their exact region.",
        assumptions=ADAPTIVE,
        neighbours="any",
        reference="Ghazi, Issa 2023, Theorem 2",
        kind="exact",
        oracles=(
            Oracle((0.6, 0.05, 0.2, 5), 0.0, 0.51005783, 1e-8),
            Oracle((0.6, 0.05, 0.2, 5), 1.2, 0.2845929, 3e-8),
            Oracle((1.0, 0.0, 0.3234820006999, 5), 4.0, 0.02218457, 3e-7),
            Oracle((0.6, 0.15, 0.25, 3), 0.6, 0.42717598, 1e-8),
        ),
    ),
    Theorem(
        name="gdp",
        title="Composition of Gaussian privacy",
        function=gdp,
        formula=r"\mu=\sqrt{\sum\mu_i^2},"
        r"\quad\delta(\varepsilon)=\Phi(\tfrac\mu2-\tfrac\varepsilon\mu)"
        r"-e^\varepsilon\Phi(-\tfrac\mu2-\tfrac\varepsilon\mu)",
        meaning="Gaussian mechanisms compose like independent errors, by squares.",
        assumptions=ADAPTIVE,
        neighbours="any",
        reference="Dong, Roth, Su 2022, Corollary 3.3 and Corollary 2.13",
        kind="exact",
        oracles=(
            # mu = 1: delta(0) = 2 Phi(1/2) - 1.
            Oracle(([0.6, 0.8], 0.0), 0.0, 0.3829249225480262, 1e-14),
        ),
    ),
    Theorem(
        name="advanced_course",
        title="Advanced composition of pure privacy",
        function=advanced_course,
        formula=r"\bigl(4\varepsilon\sqrt{2k\log(1/\delta)},\ \delta\bigr),\quad\log(1/\delta)\ge\varepsilon^2k",
        meaning="For a small δ the bound ε grows like the root of k.",
        assumptions=ADAPTIVE + " Each is epsilon-DP with delta = 0, and log(1/delta) >= epsilon^2 k.",
        neighbours="any",
        reference="Mironov 2017, Corollary 1",
        kind="upper",
        # 4 * 0.1 * sqrt(2 * 50 * 4) = 8, with delta = e^-4.
        oracles=(Oracle((0.1, 50, 0.018315638888734179), 8.0, 0.018315638888734179, 1e-14),),
    ),
    Theorem(
        name="advanced_drv",
        title="Advanced composition",
        function=advanced_drv,
        formula=r"\bigl(\varepsilon\sqrt{2k\log(1/\tilde\delta)}"
        r"+k\varepsilon(e^\varepsilon-1),\ k\delta+\tilde\delta\bigr)",
        meaning="The mean of the loss plus a few standard deviations, with generous constants.",
        assumptions=ADAPTIVE,
        neighbours="any",
        reference="Dwork, Rothblum, Vadhan 2010, Theorem III.3; Dwork, Roth 2014, Theorem 3.20",
        kind="upper",
        # eps = log 2, k = 2, slack e^-1: log 2 * (2 + 2 * 1), delta 2 * 2^-10 + e^-1.
        oracles=(
            Oracle(
                (0.6931471805599453, 2.0**-10, 2, 0.36787944117144233), 2.7725887222397811, 0.36983256617144233, 1e-14
            ),
        ),
    ),
    Theorem(
        name="parallel",
        title="Parallel composition",
        function=parallel,
        formula=r"(\max_l\varepsilon_l,\ \max_l\delta_l)",
        meaning="On disjoint parts of the data only the worst part counts.",
        assumptions=DISJOINT,
        neighbours="add/remove",
        reference="McSherry 2009, Theorem 4",
        kind="upper",
        oracles=(Oracle(([(1.0, 1e-6), (0.5, 1e-3)],), 1.0, 1e-3, 0.0),),
    ),
    Theorem(
        name="parallel_union",
        title="Parallel composition, exact",
        function=parallel_union,
        formula=r"\Bigl(\log\bigl((1-\delta^*)\max_l\tfrac{1+e^{\varepsilon_l}}{1-\delta_l}-1\bigr),\ \delta^*\Bigr),"
        r"\ \delta^*=\max_l\delta_l",
        meaning="The convex envelope of the parts' regions is again the region of one statement.",
        assumptions=DISJOINT,
        neighbours="add/remove",
        reference="Convex envelope of trade-off functions: Dong, Roth, Su 2022, Proposition 2.4",
        kind="exact",
        # (log 3, 0) and (0, 1/4): (3/4) * 4 - 1 = 2.
        oracles=(Oracle(([(1.0986122886681098, 0.0), (0.0, 0.25)],), 0.6931471805599453, 0.25, 1e-15),),
    ),
    Theorem(
        name="group",
        title="Group privacy",
        function=group,
        formula=r"\Bigl(k\varepsilon,\ \delta\tfrac{e^{k\varepsilon}-1}{e^\varepsilon-1}\Bigr)",
        meaning="What the promise to one person says about k people at once.",
        assumptions=SINGLE,
        neighbours="any",
        reference="Vadhan 2017, Lemma 2.2",
        kind="upper",
        oracles=(
            Oracle((2.0, 0.01, 2), 4.0, 0.08389056098930651, 1e-14),
            Oracle((0.5, 0.01, 3), 1.5, 0.053670030991591735, 1e-14),
        ),
    ),
    Theorem(
        name="group_exact",
        title="Group privacy, exact",
        function=group_exact,
        formula=r"1-(1-f)^{\circ k}:\ \bigl((m-n)\varepsilon,\ 1-e^{-n\varepsilon}(1-\delta(S_m+S_n))\bigr),\ m+n=k,\ "
        r"S_m=\tfrac{e^{m\varepsilon}-1}{e^\varepsilon-1}",
        meaning="The best an attacker can do against a chain of k neighbours.",
        assumptions=SINGLE,
        neighbours="any",
        reference="Dong, Roth, Su 2022, Theorem 2.14",
        kind="exact",
        oracles=(
            Oracle((2.0, 0.01, 2), 4.0, 0.08389056098930651, 1e-14),
            # delta = 0, k = 2: total variation 1 - e^-eps.
            Oracle((0.6931471805599453, 0.0, 2), 0.0, 0.5, 1e-15),
        ),
    ),
    Theorem(
        name="rdp_mironov",
        title="From Renyi privacy, plain",
        function=rdp_to_dp,
        formula=r"\varepsilon+\tfrac{\log(1/\delta)}{a-1},\quad\delta=e^{(a-1)(\varepsilon-t)}",
        meaning="A moment of the likelihood ratio limits its tail.",
        assumptions=SINGLE,
        neighbours="any",
        reference="Mironov 2017, Proposition 3",
        kind="upper",
        oracles=(
            Oracle((10.0, 0.5, 1.0), 1.0, 0.011108996538242306, 1e-12, rdp_delta),
            Oracle((10.0, 0.5, 0.011108996538242306), 1.0, 0.011108996538242306, 1e-12),
        ),
    ),
    Theorem(
        name="rdp_tight",
        title="From Renyi privacy, tighter",
        function=rdp_to_dp,
        formula=r"\varepsilon+\log\tfrac{a-1}{a}-\tfrac{\log\delta+\log a}{a-1},"
        r"\quad\delta=\tfrac{e^{(a-1)(\varepsilon-t)}}{a-1}(1-\tfrac1a)^a",
        meaning="Only the part of the tail above e^epsilon counts; always the smaller of the two.",
        assumptions=SINGLE,
        neighbours="any",
        reference="Balle, Barthe, Gaboardi, Hsu, Sato 2020, Theorem 21; Canonne, Kamath, Steinke 2020, Proposition 12",
        kind="upper",
        oracles=(
            Oracle((10.0, 0.5, 1.0), 1.0, 4.303853e-4, 2e-7, rdp_delta),
            Oracle((10.0, 0.5, 4.303853e-4), 1.0, 4.303853e-4, 2e-7),
        ),
    ),
    Theorem(
        name="zcdp_bun_steinke",
        title="From concentrated privacy, plain",
        function=zcdp_to_dp,
        formula=r"\xi+\rho+2\sqrt{\rho\log(1/\delta)},\quad\delta=e^{-(t-\xi-\rho)^2/(4\rho)}",
        meaning="All moments at once give a Gaussian tail.",
        assumptions=SINGLE,
        neighbours="any",
        reference="Bun, Steinke 2016, Lemma 3.5",
        kind="upper",
        oracles=(
            Oracle((0.1, 0.0, 1.0), 1.0, 0.13199384, 1e-7, zcdp_delta),
            Oracle((0.1, 0.0, 2.0), 2.0, 1.2036e-4, 1e-4, zcdp_delta),
        ),
    ),
    Theorem(
        name="zcdp_tight",
        title="From concentrated privacy, best order",
        function=zcdp_to_dp,
        formula=r"\min_{a>1}\ \xi+\rho a+\log\tfrac{a-1}{a}-\tfrac{\log\delta+\log a}{a-1}",
        meaning="Take the moment that says most at the delta asked.",
        assumptions=SINGLE,
        neighbours="any",
        reference="Canonne, Kamath, Steinke 2020, Proposition 12",
        kind="upper",
        oracles=(),
    ),
)


def theorem(name: str) -> Theorem:
    """Return the record of a theorem by its name."""
    found = next((record for record in THEOREMS if record.name == name), None)
    if found is None:
        from dpcore.errors import DomainError  # noqa: PLC0415  needed on the failing path only

        msg = f"There is no theorem {name!r}; the names are {', '.join(record.name for record in THEOREMS)}."
        raise DomainError(msg)
    return found
