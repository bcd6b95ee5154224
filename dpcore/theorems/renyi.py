r"""From Rényi and concentrated privacy to (epsilon, delta) statements, by every theorem that leads there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpcore.core.domains import LOSS, OPEN_ORDER, SHARE
from dpcore.theorems.catalogue import routes
from dpcore.theorems.table import stack

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd


def rdp_to_dp(order: float, epsilon: float, delta: float | Sequence[float]) -> pd.DataFrame:
    r"""Convert (order, epsilon)-RDP, order a > 1, into (epsilon', delta)-DP at the given delta in (0, 1].

    ``rdp_mironov``: :math:`\varepsilon' = \varepsilon + \log(1/\delta)/(a-1)`; ``rdp_tight``:

    .. math:: \varepsilon' = \varepsilon + \log\frac{a-1}{a} - \frac{\log\delta+\log a}{a-1},

    not below 0. In words: a moment of the likelihood ratio limits its tail; the second form counts only the part of
    the tail that exceeds e^epsilon', and is always the smaller one.
    Reference: Mironov (2017), Proposition 3; Balle, Barthe, Gaboardi, Hsu, Sato (2020), Theorem 21; Canonne, Kamath,
    Steinke (2020), Proposition 12.

    Parameters
    ----------
    order : float
        Above 1.
    epsilon : float
        The divergence of that order, at least 0.
    delta : float or sequence of float
        In (0, 1].

    Returns
    -------
    DataFrame
        `theorem, epsilon, delta, kind, note`: one row per theorem and delta.
    """
    values = _order(order), LOSS.check(epsilon)
    return _rows("rdp", values, SHARE.but(name="delta").array(delta).tolist(), at_epsilon=False)


def rdp_delta(order: float, epsilon: float, at: float | Sequence[float]) -> pd.DataFrame:
    r"""Convert (order, epsilon)-RDP, order a > 1, into (t, delta)-DP at the given t = `at` >= 0.

    ``rdp_mironov``: :math:`\delta=e^{(a-1)(\varepsilon-t)}`; ``rdp_tight``:
    :math:`\delta=\frac{e^{(a-1)(\varepsilon-t)}}{a-1}\bigl(1-\tfrac1a\bigr)^a`; neither above 1. In words:
    `rdp_to_dp` solved for delta.
    Reference: as for `rdp_to_dp`.

    Parameters
    ----------
    order : float
        Above 1.
    epsilon : float
        The divergence of that order, at least 0.
    at : float or sequence of float
        The epsilon of the statement, at least 0.

    Returns
    -------
    DataFrame
        `theorem, epsilon, delta, kind, note`: one row per theorem and epsilon.
    """
    values = _order(order), LOSS.check(epsilon)
    return _rows("rdp", values, LOSS.array(at).tolist(), at_epsilon=True)


def zcdp_to_dp(rho: float, xi: float, delta: float | Sequence[float]) -> pd.DataFrame:
    r"""Convert (xi, rho)-zCDP into (epsilon, delta)-DP at the given delta in (0, 1].

    ``zcdp_bun_steinke``: :math:`\varepsilon=\xi+\rho+2\sqrt{\rho\log(1/\delta)}`; ``zcdp_tight``: the smallest
    `rdp_tight` over all orders a > 1, each with :math:`\xi+\rho a`. In words: zCDP bounds every moment at once; take
    the one that says most.
    Reference: Bun, Steinke (2016), Lemma 3.5; Canonne, Kamath, Steinke (2020), Proposition 12.

    Parameters
    ----------
    rho, xi : float
        The rate and the offset, at least 0.
    delta : float or sequence of float
        In (0, 1].

    Returns
    -------
    DataFrame
        `theorem, epsilon, delta, kind, note`: one row per theorem and delta.
    """
    values = LOSS.but(name="rho").check(rho), LOSS.but(name="xi").check(xi)
    return _rows("zcdp", values, SHARE.but(name="delta").array(delta).tolist(), at_epsilon=False)


def zcdp_delta(rho: float, xi: float, at: float | Sequence[float]) -> pd.DataFrame:
    r"""Convert (xi, rho)-zCDP into (t, delta)-DP at the given t = `at` >= 0.

    ``zcdp_bun_steinke``: :math:`\delta=e^{-(t-\xi-\rho)^2/(4\rho)}` for t above xi + rho, else 1; ``zcdp_tight``: the
    smallest `rdp_tight` delta over all orders. In words: `zcdp_to_dp` solved for delta.
    Reference: as for `zcdp_to_dp`.

    Parameters
    ----------
    rho, xi : float
        The rate and the offset, at least 0.
    at : float or sequence of float
        The epsilon of the statement, at least 0.

    Returns
    -------
    DataFrame
        `theorem, epsilon, delta, kind, note`: one row per theorem and epsilon.
    """
    values = LOSS.but(name="rho").check(rho), LOSS.but(name="xi").check(xi)
    return _rows("zcdp", values, LOSS.array(at).tolist(), at_epsilon=True)


def _rows(source: str, values: tuple[float, float], at: Sequence[float], *, at_epsilon: bool) -> pd.DataFrame:
    theorems = routes(source, "dp")
    return stack(theorem.conversion_rows(*values, point, at_epsilon=at_epsilon) for point in at for theorem in theorems)


def _order(value: object) -> float:
    return float(OPEN_ORDER.check(value))
