"""The public names with their types, for type checkers and editors; written by `make stub`."""

from collections.abc import Iterable
from typing import Literal, overload

from dpcore.core.errors import (
    BudgetError,
    DomainError,
    DomainWarning,
    DpcoreError,
    InternalError,
    ParseError,
    RelationError,
)
from dpcore.language import parse
from dpcore.regions.tradeoff import Real, TradeOff, Whole
from dpcore.sweeps.run import sweep

__version__: str

__all__ = [
    "BudgetError",
    "DomainError",
    "DomainWarning",
    "DpcoreError",
    "InternalError",
    "ParseError",
    "RelationError",
    "TradeOff",
    "__version__",
    "assume",
    "basic",
    "bounded_laplace",
    "dp",
    "dptv",
    "erase",
    "exponential",
    "gaussian",
    "gaussian_analytic",
    "gaussian_classic",
    "gdp",
    "geometric",
    "group",
    "histogram",
    "laplace",
    "laplace_sum",
    "laplace_vector",
    "normal_laplace",
    "parse",
    "pmf",
    "points",
    "poisson",
    "poisson_gaussian",
    "rdp",
    "rr",
    "simplified",
    "staircase",
    "subsample",
    "sweep",
    "symmetric",
    "tv",
    "uniform",
    "union",
    "zcdp",
]

def assume(region: TradeOff, relation: Literal["any", "substitution", "add/remove"]) -> TradeOff:
    r"""Relation stated by hand.

    The user states under which neighbouring relation the region holds.

    Parameters
    ----------
    region : a region
        Any region of the language.
    relation : one of any, substitution, add/remove
        Which datasets are neighbours.

    Returns
    -------
    TradeOff
        The region, exact where its parts are.

    Notes
    -----
    .. math:: f \text{ under the stated relation}

    Assumptions: None beyond the definition.

    References
    ----------
    language contract of dpcore.

    Examples
    --------
    >>> from dpcore import assume, rr
    >>> region = assume(rr(1), "add/remove")
    >>> print(f"{region.delta(0):.6g}")
    0.462117
    """

def basic(region: TradeOff) -> TradeOff:
    r"""Basic composition.

    The plain sum of the statements of a product of dp atoms: safe, larger than the exact region.

    Parameters
    ----------
    region : a region
        Any region of the language.

    Returns
    -------
    TradeOff
        The region, an upper bound that contains the true one.

    Notes
    -----
    .. math:: \left(\sum_i\varepsilon_i,\ \sum_i\delta_i\right)

    Assumptions: None beyond the definition.

    References
    ----------
    Dwork, Kenthapadi, McSherry, Mironov, Naor 2006.

    Examples
    --------
    >>> from dpcore import basic, dp
    >>> region = basic(dp(0.6, 0.1) ** 2)
    >>> print(f"{region.delta(1.2):.6g}")
    0.2
    """

def bounded_laplace(scale: Real, lower: Real, upper: Real, sensitivity: Real) -> TradeOff:
    r"""Laplace noise cut to an interval.

    Laplace noise conditioned on the answer staying between its bounds; the region covers the worst
    pair.

    Parameters
    ----------
    scale : a number in [1e-50, 1e50] or inf
        Scale of the noise (b).
    lower : a number in [-1e50, 1e50]
        Smallest possible answer.
    upper : a number in [-1e50, 1e50]
        Largest possible answer.
    sensitivity : a number in [1e-50, 1e50]
        How far the answer moves between neighbours (Δ).

    Returns
    -------
    TradeOff
        The region, an upper bound that contains the true one, for any neighbours.

    Notes
    -----
    .. math:: p(x\mid m)=\frac{e^{-|x-m|/b}}{b\,C(m)},\quad C(m)=2-e^{-(m-\ell)/b}-e^{-(u-m)/b},\ x\in[\ell,u]

    Assumptions: The true answer lies in [lower, upper] and moves by at most the sensitivity.

    References
    ----------
    Holohan, Antonatos, Braghin, Mac Aonghusa 2020.

    Examples
    --------
    >>> from dpcore import bounded_laplace
    >>> region = bounded_laplace(1, 0, 1, 1)
    >>> print(f"{region.epsilon(0):.5g}")
    1
    """

def dp(epsilon: Real, delta: Real = 0.0) -> TradeOff:
    r"""(ε, δ)-differential privacy.

    The probability of any set of answers grows by a factor of at most e^ε, and by at most δ beyond
    that.

    Parameters
    ----------
    epsilon : 0 or a number in [1e-300, 1000000] or inf
        Bound on the privacy loss; 0 is perfect privacy (ε, nats).
    delta : a number in [0, 1], default 0
        By how much probabilities may exceed the factor e^ε; 0 is never, 1 no promise (δ).

    Returns
    -------
    TradeOff
        The region, exact, for any neighbours.

    Notes
    -----
    .. math:: f(\alpha)=\max\{0,\,1-\delta-e^{\varepsilon}\alpha,\,e^{-\varepsilon}(1-\delta-\alpha)\}

    Assumptions: None beyond the definition.

    References
    ----------
    Dwork, McSherry, Nissim, Smith 2006; Kairouz, Oh, Viswanath 2015.

    Examples
    --------
    >>> from dpcore import dp
    >>> region = dp(0.6, 0.05)
    >>> print(f"{region.delta(0):.6g}")
    0.326747
    """

def dptv(epsilon: Real, delta: Real, eta: Real) -> TradeOff:
    r"""(ε, δ)-DP and η total variation.

    Both statements hold: the total variation cuts the corner of the DP region.

    Parameters
    ----------
    epsilon : 0 or a number in [1e-300, 1000000] or inf
        Bound on the privacy loss; 0 is perfect privacy (ε, nats).
    delta : a number in [0, 1]
        By how much probabilities may exceed the factor e^ε; 0 is never, 1 no promise (δ).
    eta : a number in [0, 1]
        Total variation, the attacker's best advantage; 0 is blind, 1 certain (η).

    Returns
    -------
    TradeOff
        The region, exact, for any neighbours.

    Notes
    -----
    .. math:: f(\alpha)=\max\{f_{\varepsilon,\delta}(\alpha),\,1-\eta-\alpha\}

    Assumptions: Δ ≤ η ≤ δ + (1-δ) tanh(ε/2); a larger η changes nothing.

    References
    ----------
    Ghazi, Issa 2023, Section III.

    Examples
    --------
    >>> from dpcore import dptv
    >>> region = dptv(0.6, 0.05, 0.15)
    >>> print(f"{region.delta(0):.6g}")
    0.15
    """

def erase(region: TradeOff, p: Real) -> TradeOff:
    r"""Erasure.

    With probability p the output is replaced by a visible mark.

    Parameters
    ----------
    region : a region
        Any region of the language.
    p : a number in [0, 1]
        Probability that the output is erased.

    Returns
    -------
    TradeOff
        The region, exact where its parts are.

    Notes
    -----
    .. math:: \delta'(\varepsilon) = (1-p)\,\delta(\varepsilon),\quad \varepsilon\ge 0

    Assumptions: None beyond the definition.

    References
    ----------
    Ghazi, Issa 2023, Section VI.

    Examples
    --------
    >>> from dpcore import dp, erase
    >>> region = erase(dp(1), 0.25)
    >>> print(f"{region.delta(0):.6g}")
    0.346588
    """

def exponential(epsilon: Real) -> TradeOff:
    r"""Exponential mechanism, worst case.

    Any choice with probability proportional to exp(ε score / 2Δ), whatever the scores.

    Parameters
    ----------
    epsilon : 0 or a number in [1e-300, 1000000] or inf
        Bound on the privacy loss; 0 is perfect privacy (ε, nats).

    Returns
    -------
    TradeOff
        The region, exact, for any neighbours.

    Notes
    -----
    .. math:: f(\alpha)=\frac{1-\alpha}{1+(e^{\varepsilon}-1)\alpha}

    Assumptions: Scores move by at most Δ; the loss of one choice has range at most ε.

    References
    ----------
    McSherry, Talwar 2007; bounded range: Dong, Durfee, Rogers 2020.

    Examples
    --------
    >>> from dpcore import exponential
    >>> region = exponential(1)
    >>> print(f"{region.delta(0):.6g}")
    0.244919
    """

def gaussian(sigma: Real, sensitivity: Real = 1.0) -> TradeOff:
    r"""Gaussian mechanism.

    The answer plus normal noise of standard deviation σ.

    Parameters
    ----------
    sigma : a number in [1e-50, 1e50] or inf
        Standard deviation of the noise (σ).
    sensitivity : a number in [1e-50, 1e50], default 1
        How far the answer moves between neighbours (Δ).

    Returns
    -------
    TradeOff
        The region, exact, for any neighbours.

    Notes
    -----
    .. math:: G_\mu,\quad \mu=\Delta/\sigma

    Assumptions: The query moves by at most the sensitivity in l2 norm.

    References
    ----------
    Dong, Roth, Su 2022, Theorem 2.7.

    Examples
    --------
    >>> from dpcore import gaussian
    >>> region = gaussian(1)
    >>> print(f"{region.beta(1e-6):.5g}")
    0.99991
    """

def gaussian_analytic(epsilon: Real, delta: Real) -> TradeOff:
    r"""Gaussian mechanism, exact calibration.

    The region of the least normal noise that is (ε, δ)-private.

    Parameters
    ----------
    epsilon : 0 or a number in [1e-300, 1000000]
        Bound on the privacy loss; 0 is perfect privacy (ε, nats).
    delta : a number in (0, 1)
        By how much probabilities may exceed the factor e^ε; 0 is never, 1 no promise (δ).

    Returns
    -------
    TradeOff
        The region, exact, for any neighbours.

    Notes
    -----
    .. math:: \sigma_a=\min\{\sigma:\ \delta_{1/\sigma}(\varepsilon)\le\delta\}

    Assumptions: Sensitivity 1.

    References
    ----------
    Balle, Wang 2018.

    Examples
    --------
    >>> from dpcore import gaussian_analytic
    >>> region = gaussian_analytic(1, 1e-5)
    >>> print(f"{region.delta(1):.6g}")
    1e-05
    """

def gaussian_classic(epsilon: Real, delta: Real) -> TradeOff:
    r"""Gaussian mechanism, classical calibration.

    The region of the textbook noise for (ε, δ), whatever was claimed; above ε = 1 the claim can be
    false.

    Parameters
    ----------
    epsilon : a number in [1e-300, 1000000]
        Bound on the privacy loss; 0 is perfect privacy (ε, nats).
    delta : a number in (0, 1)
        By how much probabilities may exceed the factor e^ε; 0 is never, 1 no promise (δ).

    Returns
    -------
    TradeOff
        The region, exact, for any neighbours.

    Notes
    -----
    .. math:: \sigma_c=\frac{\sqrt{2\log(1.25/\delta)}}{\varepsilon}

    Assumptions: Sensitivity 1; the (ε, δ) claim is proved for ε < 1 only, the region shown is the true
    one.

    References
    ----------
    Dwork, Roth 2014, Theorem 3.22.

    Examples
    --------
    >>> from dpcore import gaussian_classic
    >>> region = gaussian_classic(10, 1e-5)
    >>> print(f"{region.delta(10):.2g}")
    2.3e-05
    """

def gdp(mu: Real) -> TradeOff:
    r"""Gaussian differential privacy.

    At most as informative as one draw from N(0, 1) or N(μ, 1).

    Parameters
    ----------
    mu : 0 or a number in [1e-100, 1000000] or inf
        Shift of a unit Gaussian; 0 is perfect (μ).

    Returns
    -------
    TradeOff
        The region, exact, for any neighbours.

    Notes
    -----
    .. math:: G_\mu(\alpha)=\Phi(\Phi^{-1}(1-\alpha)-\mu)

    Assumptions: None beyond the definition.

    References
    ----------
    Dong, Roth, Su 2022.

    Examples
    --------
    >>> from dpcore import gdp
    >>> region = gdp(1)
    >>> print(f"{region.delta(1):.6g}")
    0.126937
    """

def geometric(epsilon: Real, sensitivity: Whole = 1) -> TradeOff:
    r"""Geometric mechanism.

    An integer answer plus two-sided geometric noise.

    Parameters
    ----------
    epsilon : 0 or a number in [1e-300, 1000000] or inf
        Bound on the privacy loss; 0 is perfect privacy (ε, nats).
    sensitivity : an integer in [1, 1000000], default 1
        How far the integer answer moves (Δ).

    Returns
    -------
    TradeOff
        The region, exact, for any neighbours.

    Notes
    -----
    .. math:: P(N=n)\propto r^{|n|},\quad r=e^{-\varepsilon/\Delta}

    Assumptions: The query is an integer and moves by at most the sensitivity.

    References
    ----------
    Ghosh, Roughgarden, Sundararajan 2012.

    Examples
    --------
    >>> from dpcore import geometric
    >>> region = geometric(1)
    >>> print(f"{region.delta(0):.6g}")
    0.462117
    """

def group(region: TradeOff, k: Whole) -> TradeOff:
    r"""Group privacy.

    Protection of k records at once.

    Parameters
    ----------
    region : a region
        Any region of the language.
    k : an integer in [1, 10000]
        Size of the group.

    Returns
    -------
    TradeOff
        The region, exact where its parts are.

    Notes
    -----
    .. math:: f_k = 1-(1-f)^{\circ k}

    Assumptions: None beyond the definition.

    References
    ----------
    Dong, Roth, Su 2022, Theorem 2.14.

    Examples
    --------
    >>> from dpcore import dp, group
    >>> region = group(dp(2, 0.01), 2)
    >>> print(f"{region.beta(0):.6g}")
    0.916109
    """

def histogram(epsilon: Real) -> TradeOff:
    r"""Histogram with Laplace noise.

    Counts of a histogram with noise of scale 2/ε: a replaced record moves two cells by one.

    Parameters
    ----------
    epsilon : 0 or a number in [1e-300, 1000000] or inf
        Bound on the privacy loss; 0 is perfect privacy (ε, nats).

    Returns
    -------
    TradeOff
        The region, exact, for substitution neighbours.

    Notes
    -----
    .. math:: L_{\varepsilon/2}\otimes L_{\varepsilon/2}

    Assumptions: None beyond the definition.

    References
    ----------
    Dwork, McSherry, Nissim, Smith 2006; exact region: two Laplace coordinates.

    Examples
    --------
    >>> from dpcore import histogram
    >>> region = histogram(1)
    >>> print(f"{region.delta(0):.6g}")
    0.241837
    """

@overload
def laplace(epsilon: Real) -> TradeOff:
    r"""Laplace mechanism.

    The answer plus Laplace noise of scale sensitivity / ε.

    Parameters
    ----------
    epsilon : 0 or a number in [1e-300, 1000000] or inf
        Bound on the privacy loss; 0 is perfect privacy (ε, nats).
    scale : a number in [1e-50, 1e50] or inf
        Scale of the noise (b; by name, in the place of epsilon).
    sensitivity : a number in [1e-50, 1e50], default 1
        How far the answer moves between neighbours (Δ; by name, beside scale).

    Returns
    -------
    TradeOff
        The region, exact, for any neighbours.

    Notes
    -----
    .. math:: L(\alpha)=\begin{cases}1-e^{\varepsilon}\alpha & \alpha<e^{-\varepsilon}/2\\e^{-\varepsilon}/(4\alpha) & e^{-\varepsilon}/2\le\alpha\le 1/2\\ e^{-\varepsilon}(1-\alpha) & \alpha>1/2\end{cases}

    Assumptions: The query moves by at most the sensitivity in l1 norm.

    References
    ----------
    Dwork, McSherry, Nissim, Smith 2006; trade-off: Dong, Roth, Su 2022.

    Examples
    --------
    >>> from dpcore import laplace
    >>> region = laplace(1)
    >>> print(f"{region.delta(0):.6g}")
    0.393469
    """

@overload
def laplace(*, scale: Real, sensitivity: Real = 1.0) -> TradeOff:
    r"""Laplace mechanism.

    The answer plus Laplace noise of scale sensitivity / ε.

    Parameters
    ----------
    epsilon : 0 or a number in [1e-300, 1000000] or inf
        Bound on the privacy loss; 0 is perfect privacy (ε, nats).
    scale : a number in [1e-50, 1e50] or inf
        Scale of the noise (b; by name, in the place of epsilon).
    sensitivity : a number in [1e-50, 1e50], default 1
        How far the answer moves between neighbours (Δ; by name, beside scale).

    Returns
    -------
    TradeOff
        The region, exact, for any neighbours.

    Notes
    -----
    .. math:: L(\alpha)=\begin{cases}1-e^{\varepsilon}\alpha & \alpha<e^{-\varepsilon}/2\\e^{-\varepsilon}/(4\alpha) & e^{-\varepsilon}/2\le\alpha\le 1/2\\ e^{-\varepsilon}(1-\alpha) & \alpha>1/2\end{cases}

    Assumptions: The query moves by at most the sensitivity in l1 norm.

    References
    ----------
    Dwork, McSherry, Nissim, Smith 2006; trade-off: Dong, Roth, Su 2022.

    Examples
    --------
    >>> from dpcore import laplace
    >>> region = laplace(1)
    >>> print(f"{region.delta(0):.6g}")
    0.393469
    """

def laplace_sum(scale: Real, sensitivity: Real = 1.0) -> TradeOff:
    r"""Sum of two Laplace noises.

    The answer plus two independent Laplace noises of scale b: never more informative than one of them.

    Parameters
    ----------
    scale : a number in [1e-50, 1e50] or inf
        Scale of the noise (b).
    sensitivity : a number in [1e-50, 1e50], default 1
        How far the answer moves between neighbours (Δ).

    Returns
    -------
    TradeOff
        The region, exact, for any neighbours.

    Notes
    -----
    .. math:: p(x)=\frac{1+|x|/b}{4b}\,e^{-|x|/b},\quad f(\alpha)=F(F^{-1}(1-\alpha)-\Delta)

    Assumptions: The query moves by at most the sensitivity.

    References
    ----------
    log-concave noise: Dong, Roth, Su 2022, Proposition A.3.

    Examples
    --------
    >>> from dpcore import laplace_sum
    >>> region = laplace_sum(1)
    >>> print(f"{region.delta(0):.6g}")
    0.241837
    """

def laplace_vector(scale: Real, shifts: Iterable[Real]) -> TradeOff:
    r"""Laplace noise on a vector.

    Every coordinate gets Laplace noise of scale b; coordinate i moves by the given shift.

    Parameters
    ----------
    scale : a number in [1e-50, 1e50] or inf
        Scale of the noise (b).
    shifts : a list of numbers
        How far each coordinate moves.

    Returns
    -------
    TradeOff
        The region, exact, for any neighbours.

    Notes
    -----
    .. math:: \bigotimes_i L_{s_i/b}

    Assumptions: Exactly the given shifts; each coordinate has its own independent noise.

    References
    ----------
    tensor product of Laplace trade-offs, Dong, Roth, Su 2022.

    Examples
    --------
    >>> from dpcore import laplace_vector
    >>> region = laplace_vector(2, [1, 1])
    >>> print(f"{region.delta(0):.6g}")
    0.241837
    """

def normal_laplace(sigma: Real, scale: Real, sensitivity: Real = 1.0) -> TradeOff:
    r"""Sum of normal and Laplace noise.

    The answer plus normal noise of standard deviation σ plus Laplace noise of scale b.

    Parameters
    ----------
    sigma : a number in [1e-50, 1e50] or inf
        Standard deviation of the noise (σ).
    scale : a number in [1e-50, 1e50] or inf
        Scale of the noise (b).
    sensitivity : a number in [1e-50, 1e50], default 1
        How far the answer moves between neighbours (Δ).

    Returns
    -------
    TradeOff
        The region, exact, for any neighbours.

    Notes
    -----
    .. math:: p(x)=\tfrac{1}{2b}e^{\sigma^2/2b^2}\bigl[e^{-x/b}\Phi(\tfrac{x}{\sigma}-\tfrac{\sigma}{b})+e^{x/b}\Phi(-\tfrac{x}{\sigma}-\tfrac{\sigma}{b})\bigr],\quad f(\alpha)=F(F^{-1}(1-\alpha)-\Delta)

    Assumptions: The query moves by at most the sensitivity.

    References
    ----------
    log-concave noise: Dong, Roth, Su 2022, Proposition A.3; density: Reed, Jorgensen 2004.

    Examples
    --------
    >>> from dpcore import normal_laplace
    >>> region = normal_laplace(1, 0.5)
    >>> print(f"{region.delta(0):.6g}")
    0.326049
    """

def pmf(p: Iterable[Real], q: Iterable[Real]) -> TradeOff:
    r"""Two finite distributions.

    The attacker sees one draw from the first or the second distribution.

    Parameters
    ----------
    p : a list of numbers
        Probabilities that add up to 1.
    q : a list of numbers
        Probabilities that add up to 1.

    Returns
    -------
    TradeOff
        The region, exact, for any neighbours.

    Notes
    -----
    .. math:: L_x=\log\frac{q_x}{p_x},\qquad \delta(\varepsilon)=\sum_x (q_x-e^{\varepsilon}p_x)_+

    Assumptions: One concrete pair: products keep its direction, the published region takes the worse
    one.

    References
    ----------
    Neyman, Pearson 1933.

    Examples
    --------
    >>> from dpcore import pmf
    >>> region = pmf([0.5, 0.5], [0.6, 0.4])
    >>> print(f"{region.delta(0):.6g}")
    0.1
    """

def points(points: Iterable[Iterable[Real]]) -> TradeOff:
    r"""Given points.

    The region of measured or given error rates, closed under randomising between them.

    Parameters
    ----------
    points : a list of [alpha, beta] pairs
        Pairs of rates in [0, 1].

    Returns
    -------
    TradeOff
        The region, exact, for any neighbours.

    Notes
    -----
    .. math:: f = \text{convex lower envelope of } (\alpha_i,\beta_i),\ (0,1),\ (1,0)

    Assumptions: None beyond the definition.

    References
    ----------
    Neyman, Pearson 1933.

    Examples
    --------
    >>> from dpcore import points
    >>> region = points([[0.1, 0.6]])
    >>> print(f"{region.delta(0):.6g}")
    0.3
    """

def poisson(region: TradeOff, q: Real) -> TradeOff:
    r"""Poisson subsampling.

    Each record is used independently with probability q.

    Parameters
    ----------
    region : a region
        Any region of the language.
    q : a number in [1e-300, 1]
        Probability that a record is used (p).

    Returns
    -------
    TradeOff
        The region, exact where its parts are, for add/remove neighbours.

    Notes
    -----
    .. math:: f_q = q f + (1-q)(1-\alpha),\quad P_0\ \text{against}\ (1-q)P_0+qP_1

    Assumptions: The part holds for a record added or removed; the record is in under one hypothesis and
    out under the other.

    References
    ----------
    Zhu, Dong, Wang 2022; Balle, Barthe, Gaboardi 2018, Theorem 8.

    Examples
    --------
    >>> from dpcore import gaussian, poisson
    >>> region = poisson(gaussian(1), 0.1)
    >>> print(f"{region.delta(0.05):.5g}")
    0.026144
    """

def poisson_gaussian(sigma: Real, q: Real) -> TradeOff:
    r"""Poisson-subsampled Gaussian.

    Each record is used with probability q; the sum gets normal noise σ.

    Parameters
    ----------
    sigma : a number in [1e-50, 1e50] or inf
        Standard deviation of the noise (σ).
    q : 0 or a number in [1e-300, 1]
        Probability that a record is used (p).

    Returns
    -------
    TradeOff
        The region, exact, for add/remove neighbours.

    Notes
    -----
    .. math:: N(0,\sigma^2)\ \text{against}\ (1-q)N(0,\sigma^2)+qN(1,\sigma^2)

    Assumptions: Sensitivity 1; the record is in under one hypothesis and out under the other.

    References
    ----------
    Abadi et al. 2016; exact pair: Zhu, Dong, Wang 2022.

    Examples
    --------
    >>> from dpcore import poisson_gaussian
    >>> region = poisson_gaussian(1, 0.1)
    >>> print(f"{region.delta(0):.5g}")
    0.038292
    """

def rdp(order: Real, epsilon: Real) -> TradeOff:
    r"""Rényi differential privacy.

    The Rényi divergence of order a is at most ε, both ways.

    Parameters
    ----------
    order : a number in (1, 1000000000]
        Rényi order, above 1 (a).
    epsilon : 0 or a number in [1e-100, 100000]
        Rényi divergence of that order, in nats (ε, nats).

    Returns
    -------
    TradeOff
        The region, exact, for any neighbours.

    Notes
    -----
    .. math:: D_a(P_1\|P_0)\le\varepsilon,\quad D_a(P_0\|P_1)\le\varepsilon

    Assumptions: The region is exact point by point; products add the ε at the smallest order first.

    References
    ----------
    Mironov 2017; region: Balle, Barthe, Gaboardi, Hsu, Sato 2020.

    Examples
    --------
    >>> from dpcore import rdp
    >>> region = rdp(2, 0.5)
    >>> print(f"{region.beta(0.1):.6g}")
    0.65837
    """

def rr(epsilon: Real, size: Whole = 2) -> TradeOff:
    r"""Randomized response.

    The true one of m answers is e^ε times as likely as each other one.

    Parameters
    ----------
    epsilon : 0 or a number in [1e-300, 1000000] or inf
        Bound on the privacy loss; 0 is perfect privacy (ε, nats).
    size : an integer in [2, 1000000000], default 2
        Number of possible answers (m).

    Returns
    -------
    TradeOff
        The region, exact, for substitution neighbours.

    Notes
    -----
    .. math:: f_{\varepsilon,0,\eta},\quad \eta=\frac{e^{\varepsilon}-1}{e^{\varepsilon}+m-1}

    Assumptions: None beyond the definition.

    References
    ----------
    Warner 1965; region: Ghazi, Issa 2023.

    Examples
    --------
    >>> from dpcore import rr
    >>> region = rr(0.4054651081081644)
    >>> print(f"{region.beta(0.25):.6g}")
    0.625
    """

def simplified(region: TradeOff, slack: Real) -> TradeOff:
    r"""Simplified optimal composition.

    One (ε, δ) for a product of dp atoms, in closed form: A = Σ ε tanh(ε/2) is the mean of the loss, B =
    Σ ε² bounds its spread, and the slack is an extra delta.

    Parameters
    ----------
    region : a region
        Any region of the language.
    slack : a number in (0, 1]
        Extra delta the theorem may spend, in (0, 1].

    Returns
    -------
    TradeOff
        The region, an upper bound that contains the true one.

    Notes
    -----
    .. math:: \tilde\varepsilon=\min\Bigl\{\sum\varepsilon_i,\ A+\sqrt{2B\log\tfrac1{\tilde\delta}},\ A+\sqrt{2B\log\bigl(e+\tfrac{\sqrt B}{\tilde\delta}\bigr)}\Bigr\},\quad \delta=1-(1-\tilde\delta)\prod_i(1-\delta_i)

    Assumptions: A product of dp or tv atoms; the slack is in (0, 1].

    References
    ----------
    Kairouz, Oh, Viswanath 2015, Theorems 3.4 and 3.5.

    Examples
    --------
    >>> from dpcore import dp, simplified
    >>> region = simplified(dp(0.05) ** 20, 1e-6)
    >>> print(f"{region.delta(1):.6g}")
    1e-06
    """

def staircase(epsilon: Real, gamma: Real) -> TradeOff:
    r"""Staircase mechanism.

    Noise whose density falls by e^-ε at every step of the sensitivity.

    Parameters
    ----------
    epsilon : a number in [1e-300, 1000000]
        Bound on the privacy loss; 0 is perfect privacy (ε, nats).
    gamma : a number in [0, 1]
        Width of the first step (γ).

    Returns
    -------
    TradeOff
        The region, exact, for any neighbours.

    Notes
    -----
    .. math:: f_{\varepsilon,0,\eta},\ \eta=\begin{cases}\frac{(1-e^{-\varepsilon})(2\gamma(1-e^{-\varepsilon})+e^{-\varepsilon})}{2(\gamma+e^{-\varepsilon}(1-\gamma))} & \gamma<\frac12\\\frac{1-e^{-\varepsilon}}{2(\gamma+e^{-\varepsilon}(1-\gamma))} & \gamma\ge\frac12\end{cases}

    Assumptions: The query moves by at most the sensitivity (1).

    References
    ----------
    Geng, Viswanath 2014; total variation: Ghazi, Issa 2023 (corrected).

    Examples
    --------
    >>> from dpcore import staircase
    >>> region = staircase(1, 1)
    >>> print(f"{region.delta(0):.6g}")
    0.31606
    """

def subsample(region: TradeOff, p: Real) -> TradeOff:
    r"""Fixed-size subsampling.

    Only a random fraction p = m/n of the records is used.

    Parameters
    ----------
    region : a region
        Any region of the language.
    p : a number in [1e-300, 1]
        Fraction m/n of the records that is used.

    Returns
    -------
    TradeOff
        The region, exact where its parts are, for substitution neighbours.

    Notes
    -----
    .. math:: C_p(f) = \min(f_p, f_p^{-1})^{**},\quad f_p = p f + (1-p)(1-\alpha)

    Assumptions: The sample has a fixed size m of n records and is drawn without replacement.

    References
    ----------
    Dong, Roth, Su 2022, Theorem 4.2.

    Examples
    --------
    >>> from dpcore import dp, subsample
    >>> region = subsample(dp(1), 0.3)
    >>> print(f"{region.delta(0):.6g}")
    0.138635
    """

def symmetric(region: TradeOff) -> TradeOff:
    r"""Symmetric closure.

    Whichever of the two neighbours is the truth.

    Parameters
    ----------
    region : a region
        Any region of the language.

    Returns
    -------
    TradeOff
        The region, exact where its parts are.

    Notes
    -----
    .. math:: \mathrm{C}(f) = \min(f, f^{-1})^{**}

    Assumptions: None beyond the definition.

    References
    ----------
    Dong, Roth, Su 2022, Proposition 2.4.

    Examples
    --------
    >>> from dpcore import pmf, symmetric
    >>> region = symmetric(pmf([0.5, 0.5], [0.6, 0.4]))
    >>> print(f"{region.delta(0.09531017980432493):.6g}")
    0.06
    """

def tv(eta: Real) -> TradeOff:
    r"""Total variation.

    No attacker gains more than η over blind guessing.

    Parameters
    ----------
    eta : a number in [0, 1]
        Total variation, the attacker's best advantage; 0 is blind, 1 certain (η).

    Returns
    -------
    TradeOff
        The region, exact, for any neighbours.

    Notes
    -----
    .. math:: f(\alpha)=\max\{0,\,1-\eta-\alpha\}

    Assumptions: None beyond the definition.

    References
    ----------
    Ghazi, Issa 2023.

    Examples
    --------
    >>> from dpcore import tv
    >>> region = tv(0.2)
    >>> print(f"{region.beta(0.3):.6g}")
    0.5
    """

def uniform(halfwidth: Real, sensitivity: Real = 1.0) -> TradeOff:
    r"""Uniform noise.

    The answer plus noise uniform on [-a, a].

    Parameters
    ----------
    halfwidth : a number in [1e-50, 1e50]
        Noise lies in [-a, a] (a).
    sensitivity : a number in [1e-50, 1e50], default 1
        How far the answer moves between neighbours (Δ).

    Returns
    -------
    TradeOff
        The region, exact, for any neighbours.

    Notes
    -----
    .. math:: f_{0,\eta},\quad \eta=\min\{1,\ \Delta/(2a)\}

    Assumptions: The query moves by at most the sensitivity.

    References
    ----------
    Geng and Viswanath, IEEE Trans. Inf. Theory 62 (2016), 952-969.

    Examples
    --------
    >>> from dpcore import uniform
    >>> region = uniform(5)
    >>> print(f"{region.delta(3):.6g}")
    0.1
    """

def union(*parts: TradeOff) -> TradeOff:
    r"""Union of regions.

    Either part may be the truth: the convex envelope of the smaller curve.

    Parameters
    ----------
    *parts : regions
        Regions, any of which may hold.

    Returns
    -------
    TradeOff
        The region, exact where its parts are.

    Notes
    -----
    .. math:: f = \left(\min_i f_i\right)^{**},\qquad \delta(\varepsilon)=\max_i \delta_i(\varepsilon)

    Assumptions: None beyond the definition.

    References
    ----------
    Dong, Roth, Su 2022, on symmetrisation.

    Examples
    --------
    >>> from dpcore import dp, tv, union
    >>> region = union(dp(1), tv(0.5))
    >>> print(f"{region.delta(0):.6g}")
    0.5
    """

def zcdp(rho: Real, xi: Real = 0.0) -> TradeOff:
    r"""Concentrated differential privacy.

    Every Rényi divergence is at most that of Gaussian noise with μ² = 2ρ.

    Parameters
    ----------
    rho : 0 or a number in [1e-12, 100000]
        Rate of concentrated privacy; 0 is perfect (ρ).
    xi : 0 or a number in [1e-12, 100000], default 0
        Offset of concentrated privacy (ξ).

    Returns
    -------
    TradeOff
        The region, exact, for any neighbours.

    Notes
    -----
    .. math:: D_a \le \xi+\rho a \quad\text{for every order } a>1

    Assumptions: Never tensor-composed: ρ and ξ add.

    References
    ----------
    Bun, Steinke 2016.

    Examples
    --------
    >>> from dpcore import zcdp
    >>> region = zcdp(0.5)
    >>> print(f"{region.beta(0.1):.5g}")
    0.51627
    """
