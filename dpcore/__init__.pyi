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
    "above_threshold",
    "assume",
    "banded_gaussian",
    "basic",
    "best_of",
    "bounded_laplace",
    "discrete_gaussian",
    "discrete_gaussian_sum",
    "discrete_laplace",
    "dp",
    "dptv",
    "erase",
    "exponential",
    "exponential_scores",
    "fixed_size",
    "gaussian",
    "gaussian_analytic",
    "gaussian_classic",
    "gaussian_mixture",
    "gdp",
    "geometric",
    "group",
    "histogram",
    "integer_vector",
    "laplace",
    "laplace_sum",
    "laplace_vector",
    "leakage",
    "noisy_max_gumbel",
    "noisy_max_laplace",
    "normal_laplace",
    "parse",
    "partition_selection",
    "permute_and_flip",
    "pmf",
    "points",
    "poisson",
    "poisson_gaussian",
    "random_allocation",
    "rdp",
    "rounded_gaussian",
    "rr",
    "shuffle",
    "shuffled_batches",
    "simplified",
    "skellam",
    "staircase",
    "subsample",
    "sweep",
    "symmetric",
    "thresholded_laplace",
    "top_k",
    "tradeoff",
    "tree_aggregation",
    "truncated_discrete_gaussian",
    "truncated_poisson",
    "tv",
    "uniform",
    "union",
    "user_gaussian",
    "zcdp",
]

def above_threshold(epsilon: Real, share: Real = 0.5) -> TradeOff:
    r"""Above threshold (sparse vector).

    The first of many queries above a threshold: noise of scale Δ/(sε) on the threshold, 2Δ/((1-s)ε) on
    each answer.

    Parameters
    ----------
    epsilon : 0 or a number in [1e-300, 1000000] or inf
        Bound on the privacy loss; 0 is perfect privacy (ε, nats).
    share : a number in (0, 1), default 0.5
        Share of ε for the threshold (s).

    Returns
    -------
    TradeOff
        The region, an upper bound that contains the true one, for any neighbours.

    Notes
    -----
    .. math:: \delta(\varepsilon')\le\delta_{L_{s\varepsilon}}(\varepsilon'-(1-s)\varepsilon)

    Assumptions: Every query moves by at most Δ; there may be any number of them, chosen on the way.

    References
    ----------
    Dwork, Naor, Reingold, Rothblum, Vadhan 2009; Lyu, Su, Li 2017.

    Examples
    --------
    >>> from dpcore import above_threshold
    >>> region = above_threshold(1)
    >>> print(f"{region.delta(0):.6g}")
    0.393469
    """

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

def banded_gaussian(sigma: Real, q: Real, bands: Whole, steps: Whole, norm: Real = 1.0) -> TradeOff:
    r"""Banded matrix noise on samples.

    The steps are released as Cx plus normal noise σ, C lower triangular with b bands; group i mod b is
    sampled at step i.

    Parameters
    ----------
    sigma : a number in [1e-50, 1e50] or inf
        Standard deviation of the noise (σ).
    q : 0 or a number in [1e-300, 1]
        Size of a batch over that of the dataset (p).
    bands : an integer in [1, 1000000000]
        Bands of the matrix C (b).
    steps : an integer in [1, 1000000000]
        Steps of the training (T).
    norm : a number in [1e-50, 1e50], default 1
        Largest norm of a column of C (κ).

    Returns
    -------
    TradeOff
        The region, exact, for add/remove neighbours.

    Notes
    -----
    .. math:: \left(G_{\kappa/\sigma}^{bq}\right)^{\otimes\lceil T/b\rceil},\quad \kappa=\max_i\lVert C_{\cdot i}\rVert_2

    Assumptions: The records form b fixed groups of equal size; a batch is a q-th of all records; each
    record moves its step by at most 1.

    References
    ----------
    Choquette-Choo et al. 2023 (BandMF), Theorem 4.

    Examples
    --------
    >>> from dpcore import banded_gaussian
    >>> region = banded_gaussian(1, 0.1, 1, 1)
    >>> print(f"{region.delta(0.05):.5g}")
    0.026144
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

def best_of(region: TradeOff, mean: Real, shape: Real = 1.0) -> TradeOff:
    r"""Best of several runs.

    The mechanism runs K times, K random and kept secret, and the output with the best score is
    published.

    Parameters
    ----------
    region : a region
        Any region of the language.
    mean : a number in [1e-6, 1000000]
        Expected number of runs (m).
    shape : a number in [0, 1000] or inf, default 1
        Law of the number of runs: 0 is logarithmic, 1 geometric, inf Poisson (s).

    Returns
    -------
    TradeOff
        The region, an upper bound that contains the true one.

    Notes
    -----
    .. math:: \delta'(\varepsilon)\le1-F\bigl(1-\delta(\varepsilon-c)\bigr),\quad F(x)=E[x^K],\quad c=\sup_u\log\frac{F'(1-u)}{F'(f(u))}

    Assumptions: Runs are independent, the score is a function of the output, and the number of runs is
    drawn beforehand, without the data.

    References
    ----------
    Papernot, Steinke 2022; Koskela, Redberg, Wang 2024.

    Examples
    --------
    >>> from dpcore import best_of, dp
    >>> region = best_of(dp(1), 5, 1)
    >>> print(f"{region.epsilon(0):.5g}")
    2.2737
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

def discrete_gaussian(sigma: Real, sensitivity: Whole = 1) -> TradeOff:
    r"""Discrete Gaussian mechanism.

    An integer answer plus discrete Gaussian noise, as statistical offices add it to counts.

    Parameters
    ----------
    sigma : a number in [1e-50, 1e50]
        Width of the noise, nearly its standard deviation (σ).
    sensitivity : an integer in [1, 1000000], default 1
        How far the integer answer moves (Δ).

    Returns
    -------
    TradeOff
        The region, exact, for any neighbours.

    Notes
    -----
    .. math:: P(N=n)\propto e^{-n^2/(2\sigma^2)},\quad n\in\mathbb{Z}

    Assumptions: The query is an integer and moves by at most the sensitivity.

    References
    ----------
    Canonne, Kamath, Steinke 2020.

    Examples
    --------
    >>> from dpcore import discrete_gaussian
    >>> region = discrete_gaussian(1)
    >>> print(f"{region.delta(0):.6g}")
    0.398942
    """

def discrete_gaussian_sum(sigma: Real, parties: Whole = 10, sensitivity: Whole = 1) -> TradeOff:
    r"""Sum of discrete Gaussian noises.

    An integer answer plus the discrete Gaussian noises of n parties, of which nobody sees a single one.

    Parameters
    ----------
    sigma : a number in [1e-50, 1e47]
        Width of the noise of each party (σ).
    parties : an integer in [1, 1000000], default 10
        How many parties add noise of their own (n).
    sensitivity : an integer in [1, 1000000], default 1
        How far the integer answer moves (Δ).

    Returns
    -------
    TradeOff
        The region, exact, for any neighbours.

    Notes
    -----
    .. math:: N=N_1+\dots+N_n,\quad P(N_i=j)\propto e^{-j^2/(2\sigma^2)}

    Assumptions: The query is an integer and moves by at most the sensitivity; all parties add their
    noise.

    References
    ----------
    Kairouz, Liu, Steinke 2021.

    Examples
    --------
    >>> from dpcore import discrete_gaussian_sum
    >>> region = discrete_gaussian_sum(0.5, 4)
    >>> print(f"{region.delta(0):.6g}")
    0.46774
    """

def discrete_laplace(scale: Real, sensitivity: Whole = 1) -> TradeOff:
    r"""Discrete Laplace mechanism.

    An integer answer plus discrete Laplace noise of scale b: geometric noise of ε = Δ/b.

    Parameters
    ----------
    scale : a number in [1e-50, 1e50] or inf
        Scale of the noise: each integer further out is e^(1/b) times as rare (b).
    sensitivity : an integer in [1, 1000000], default 1
        How far the integer answer moves (Δ).

    Returns
    -------
    TradeOff
        The region, exact, for any neighbours.

    Notes
    -----
    .. math:: P(N=n)\propto e^{-|n|/b},\quad n\in\mathbb{Z}

    Assumptions: The query is an integer and moves by at most the sensitivity.

    References
    ----------
    Ghosh, Roughgarden, Sundararajan 2012; the name: Inusah, Kozubowski 2006.

    Examples
    --------
    >>> from dpcore import discrete_laplace
    >>> region = discrete_laplace(1)
    >>> print(f"{region.delta(0):.6g}")
    0.462117
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

def exponential_scores(
    epsilon: Real, scores: Iterable[Real], neighbour_scores: Iterable[Real], sensitivity: Real = 1.0
) -> TradeOff:
    r"""Exponential mechanism with given scores.

    One candidate is chosen with probability proportional to exp(ε score / 2Δ), by its scores on two
    neighbouring datasets.

    Parameters
    ----------
    epsilon : 0 or a number in [1e-300, 1000]
        Bound on the privacy loss; 0 is perfect privacy (ε, nats).
    scores : a list of 1 to 10000 numbers
        One score per candidate, from 0; only differences matter.
    neighbour_scores : a list of 1 to 10000 numbers
        One score per candidate, from 0; only differences matter (scores of the neighbour).
    sensitivity : a number in [1e-50, 1e50], default 1
        How far the answer moves between neighbours (Δ).

    Returns
    -------
    TradeOff
        The region, exact, for any neighbours.

    Notes
    -----
    .. math:: P_s(c)=\frac{e^{\varepsilon s(c)/2\Delta}}{\sum_{c'}e^{\varepsilon s(c')/2\Delta}},\qquad f=T(P_s,P_{s'})

    Assumptions: Exactly these two datasets; no score moves by more than Δ. For the worst case over all
    scores see exponential.

    References
    ----------
    McSherry, Talwar 2007.

    Examples
    --------
    >>> from dpcore import exponential_scores
    >>> region = exponential_scores(2, [1, 0], [0, 1])
    >>> print(f"{region.delta(0):.6g}")
    0.462117
    """

def fixed_size(region: TradeOff, p: Real) -> TradeOff:
    r"""Fixed-size subsampling, one record more.

    A random fraction p = m/n of the records is used, always m of them; the neighbour has one record
    less.

    Parameters
    ----------
    region : a region
        Any region of the language.
    p : a number in [1e-300, 1]
        Fraction m/n of the records that is used.

    Returns
    -------
    TradeOff
        The region, exact where its parts are, for add/remove neighbours.

    Notes
    -----
    .. math:: f_p = p f + (1-p)(1-\alpha),\quad P_0\ \text{against}\ (1-p)P_0+pP_1

    Assumptions: The sample has a fixed size m of n records, n those of the larger dataset; the part
    holds for a substituted record.

    References
    ----------
    Balle, Barthe, Gaboardi 2018; pair and proof in the guide.

    Examples
    --------
    >>> from dpcore import fixed_size, gaussian
    >>> region = fixed_size(gaussian(1), 0.1)
    >>> print(f"{region.delta(0.05):.5g}")
    0.026144
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

def gaussian_mixture(sigma: Real, sensitivities: Iterable[Real], probabilities: Iterable[Real]) -> TradeOff:
    r"""Gaussian noise, random sensitivity.

    A person moves the sum by c_j with probability p_j; the sum gets normal noise σ.

    Parameters
    ----------
    sigma : a number in [1e-50, 1e50] or inf
        Standard deviation of the noise (σ).
    sensitivities : a list of numbers
        Moves of the sum.
    probabilities : a list of numbers
        Probability of each move.

    Returns
    -------
    TradeOff
        The region, exact, for add/remove neighbours.

    Notes
    -----
    .. math:: N(0,\sigma^2)\ \text{against}\ \sum_j p_j N(c_j,\sigma^2)

    Assumptions: The moves and their probabilities do not depend on the other records; the probabilities
    add up to 1.

    References
    ----------
    Kahane 1985 (convexity inequality); Choquette-Choo, Ganesh, Steinke, Thakurta 2024.

    Examples
    --------
    >>> from dpcore import gaussian_mixture
    >>> region = gaussian_mixture(1, [0, 1], [0.9, 0.1])
    >>> print(f"{region.delta(0.05):.5g}")
    0.026144
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

def integer_vector(region: TradeOff, l1: Whole, l2: Real) -> TradeOff:
    r"""Integer noise on a vector.

    Every coordinate of a vector of integers gets its own noise; one person moves it by at most l1 and
    l2.

    Parameters
    ----------
    region : a region
        The noise of one cell, as one that moves by 1 (noise).
    l1 : an integer in [1, 1000000]
        Largest sum of all moves, without signs (Δ₁).
    l2 : a number in [1, 1000000] or inf
        Largest Euclidean length of the move (Δ₂).

    Returns
    -------
    TradeOff
        The region, exact, for any neighbours.

    Notes
    -----
    .. math:: \delta(\varepsilon)=\max_v\ \delta_{\bigotimes_i f_{v_i}}(\varepsilon),\quad v\in\mathbb{Z}^d,\ \|v\|_1\le\Delta_1,\ \|v\|_2\le\Delta_2

    Assumptions: The noise of one coordinate takes integers, is symmetric and log-concave, and is
    written with sensitivity 1.

    References
    ----------
    derived here: the order of moves of log-concave noise, and Dong, Roth, Su 2022 for products.

    Examples
    --------
    >>> from dpcore import discrete_gaussian, integer_vector
    >>> region = integer_vector(discrete_gaussian(2), 2, 1.5)
    >>> print(f"{region.delta(0):.6g}")
    0.273549
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

def leakage(leakage: Real) -> TradeOff:
    r"""Maximal leakage.

    Seeing the answer multiplies the chance to guess any function of the dataset by at most e^ℓ.

    Parameters
    ----------
    leakage : 0 or a number in [1e-300, 1000000] or inf
        Log of the factor by which a guess can improve; log 2 and more promise nothing (ℓ, nats).

    Returns
    -------
    TradeOff
        The region, exact, for any neighbours.

    Notes
    -----
    .. math:: \mathcal L=\log\sum_y\max\{P_0(y),P_1(y)\}=\log(1+\eta),\qquad f(\alpha)=\max\{0,\,2-e^{\mathcal L}-\alpha\}

    Assumptions: Between two neighbouring datasets; with two inputs it is the total variation in other
    units.

    References
    ----------
    Issa, Wagner, Kamath 2020; Ghazi, Issa 2023, equations (79) to (81).

    Examples
    --------
    >>> from dpcore import leakage
    >>> region = leakage(0.1823215567939546)
    >>> print(f"{region.delta(0):.6g}")
    0.2
    """

def noisy_max_gumbel(epsilon: Real) -> TradeOff:
    r"""Report noisy max with Gumbel noise, worst case.

    The best of several candidates by scores with Gumbel noise of scale 2Δ/ε: the exponential mechanism.

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
    .. math:: \mathrm{argmax}_c\,(q_c+N_c),\quad P(N_c\le x)=e^{-e^{-\varepsilon x/2\Delta}}

    Assumptions: Every score moves by at most Δ.

    References
    ----------
    Durfee, Rogers 2019; region: Dong, Durfee, Rogers 2020.

    Examples
    --------
    >>> from dpcore import noisy_max_gumbel
    >>> region = noisy_max_gumbel(1)
    >>> print(f"{region.delta(0):.6g}")
    0.244919
    """

def noisy_max_laplace(epsilon: Real) -> TradeOff:
    r"""Report noisy max with Laplace noise, worst case.

    The best of several candidates by scores with Laplace noise of scale 2Δ/ε; only its name is
    published.

    Parameters
    ----------
    epsilon : 0 or a number in [1e-300, 1000000] or inf
        Bound on the privacy loss; 0 is perfect privacy (ε, nats).

    Returns
    -------
    TradeOff
        The region, an upper bound that contains the true one, for any neighbours.

    Notes
    -----
    .. math:: \mathrm{argmax}_c\,(q_c+N_c),\quad N_c\sim\mathrm{Lap}(2\Delta/\varepsilon)

    Assumptions: Every score moves by at most Δ. If all scores move in the same direction, ε/2 is
    enough.

    References
    ----------
    Dwork, Roth 2014, Claim 3.9; the region: the hazard of the largest noisy score, as for
    permute_and_flip.

    Examples
    --------
    >>> from dpcore import noisy_max_laplace
    >>> region = noisy_max_laplace(1)
    >>> print(f"{region.delta(0.5):.6g}")
    0.221199
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

def partition_selection(epsilon: Real, delta: Real) -> TradeOff:
    r"""Partition selection, optimal.

    Whether a group is published, by the rule that keeps most groups at this ε and δ: a truncated
    geometric threshold.

    Parameters
    ----------
    epsilon : 0 or a number in [1e-300, 700]
        Bound on the privacy loss; 0 is perfect privacy (ε, nats).
    delta : a number in [1e-300, 1)
        Chance to publish a group of one person (δ).

    Returns
    -------
    TradeOff
        The region, exact, for add/remove neighbours.

    Notes
    -----
    .. math:: p_n=\min\{e^{\varepsilon}p_{n-1}+\delta,\ 1-e^{-\varepsilon}(1-p_{n-1}-\delta),\ 1\},\quad p_0=0

    Assumptions: Every person is in at most one group; otherwise compose as many as a person can be in.

    References
    ----------
    Desfontaines, Voss, Gipson, Mandayam 2022.

    Examples
    --------
    >>> from dpcore import partition_selection
    >>> region = partition_selection(1, 1e-5)
    >>> print(f"{region.delta(1):.6g}")
    1e-05
    """

def permute_and_flip(epsilon: Real) -> TradeOff:
    r"""Permute-and-flip, worst case.

    The best of several candidates by noisy scores with exponential noise of scale 2Δ/ε, whatever the
    scores.

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
    .. math:: f=L_\varepsilon,\quad P(\text{accept }c)=e^{\varepsilon(q_c-q_{\max})/2\Delta}

    Assumptions: Every score moves by at most Δ. If all scores move in the same direction, ε/2 is
    enough.

    References
    ----------
    McKenna, Sheldon 2020; as noisy max: Ding, Kifer, Saghaian N. E., Steinke, Wang, Xiao, Zhang 2021.

    Examples
    --------
    >>> from dpcore import permute_and_flip
    >>> region = permute_and_flip(1)
    >>> print(f"{region.delta(0):.6g}")
    0.393469
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

def random_allocation(sigma: Real, steps: Whole) -> TradeOff:
    r"""Random allocation to steps.

    One epoch of T steps (balls in bins): each record is in one step, chosen at random; each sum gets
    normal noise σ.

    Parameters
    ----------
    sigma : a number in [1e-50, 1e50] or inf
        Standard deviation of the noise (σ).
    steps : an integer in [1, 10000000]
        Steps of an epoch (T).

    Returns
    -------
    TradeOff
        The region, an upper bound that contains the true one, for add/remove neighbours.

    Notes
    -----
    .. math:: N(0,\sigma^2I_T)\ \text{against}\ \tfrac1T\sum_{t=1}^{T}N(e_t,\sigma^2I_T)

    Assumptions: Each record moves the sum of its step by at most 1 and is allocated independently of
    all others.

    References
    ----------
    Chua et al. 2025 (balls and bins); Feldman, Shenfeld 2025 (random allocation).

    Examples
    --------
    >>> from dpcore import random_allocation
    >>> region = random_allocation(2, 1)
    >>> print(f"{region.delta(1):.4g}")
    0.00683
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

def rounded_gaussian(sigma: Real, sensitivity: Whole = 1) -> TradeOff:
    r"""Rounded Gaussian mechanism.

    An integer answer plus normal noise, rounded to the nearest integer before it is published.

    Parameters
    ----------
    sigma : a number in [1e-50, 10000]
        Standard deviation of the noise (σ).
    sensitivity : an integer in [1, 1000000], default 1
        How far the integer answer moves (Δ).

    Returns
    -------
    TradeOff
        The region, exact, for any neighbours.

    Notes
    -----
    .. math:: P(N=n)=\Phi\!\left(\tfrac{n+1/2}{\sigma}\right)-\Phi\!\left(\tfrac{n-1/2}{\sigma}\right)

    Assumptions: The query is an integer and moves by at most the sensitivity; the rounding hides the
    fraction.

    References
    ----------
    Rounding is post-processing: never more informative than gaussian(σ).

    Examples
    --------
    >>> from dpcore import rounded_gaussian
    >>> region = rounded_gaussian(1)
    >>> print(f"{region.delta(0):.6g}")
    0.382925
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

def shuffle(region: TradeOff, n: Whole) -> TradeOff:
    r"""Shuffled local answers.

    One answer among those of n people, all through the same channel, in random order.

    Parameters
    ----------
    region : a region
        Any region of the language.
    n : an integer in [1, 100000000]
        Number of people.

    Returns
    -------
    TradeOff
        The region, an upper bound that contains the true one, for substitution neighbours.

    Notes
    -----
    .. math:: \delta(\varepsilon)\le E_C\,\delta\big(\mathrm{Bin}(C,\tfrac12)+B\big),\quad C\sim\mathrm{Bin}\big(n-1,\tfrac{2}{e^{\varepsilon_0}+1}\big)

    Assumptions: The region holds for each answer alone, with a largest loss ε0; the shuffler is honest,
    and all n people answer.

    References
    ----------
    Cheu, Smith, Ullman, Zeber, Zhilyaev 2019; Balle, Bell, Gascon, Nissim 2019; Feldman, McMillan,
    Talwar 2021 and 2023.

    Examples
    --------
    >>> from dpcore import dp, shuffle
    >>> region = shuffle(dp(1), 1)
    >>> print(f"{region.delta(0):.6g}")
    0.462117
    """

def shuffled_batches(sigma: Real, steps: Whole) -> TradeOff:
    r"""Shuffled batches.

    One epoch of T batches of a shuffled dataset; each sum gets normal noise σ. The lower side is proved
    by an attack.

    Parameters
    ----------
    sigma : a number in [1e-50, 1e50] or inf
        Standard deviation of the noise (σ).
    steps : an integer in [1, 1000000000]
        Batches of an epoch (T).

    Returns
    -------
    TradeOff
        The region, an upper bound that contains the true one, for add/remove neighbours.

    Notes
    -----
    .. math:: \max_{t<T}x_t\ \text{with one of}\ T\ \text{answers moved by}\ 2/\sigma\ \text{is attained},\quad G_{\sqrt5/\sigma}\ \text{is safe}

    Assumptions: Batches of equal size but for the last; each record moves a sum by at most 1; shuffled
    anew for every epoch.

    References
    ----------
    Chua et al. 2024 (shuffling is not Poisson sampling); pair and proof in the guide.

    Examples
    --------
    >>> from dpcore import shuffled_batches
    >>> region = shuffled_batches(2, 1)
    >>> print(f"{region.delta(1):.4g}")
    0.00683
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

def skellam(mu: Real, sensitivity: Whole = 1) -> TradeOff:
    r"""Skellam mechanism.

    An integer answer plus the difference of two Poisson numbers; sums of such noises are such noises.

    Parameters
    ----------
    mu : a number in [1e-50, 100000000]
        Variance of the noise, the mean of both Poisson numbers together (μ).
    sensitivity : an integer in [1, 1000000], default 1
        How far the integer answer moves (Δ).

    Returns
    -------
    TradeOff
        The region, exact, for any neighbours.

    Notes
    -----
    .. math:: N=A-B,\ A,B\sim\mathrm{Poisson}(\mu/2),\quad P(N=n)=e^{-\mu}I_{|n|}(\mu)

    Assumptions: The query is an integer and moves by at most the sensitivity.

    References
    ----------
    Skellam 1946; as a mechanism: Agarwal, Kairouz, Liu 2021.

    Examples
    --------
    >>> from dpcore import skellam
    >>> region = skellam(1)
    >>> print(f"{region.delta(0):.6g}")
    0.46576
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

def thresholded_laplace(epsilon: Real, threshold: Real) -> TradeOff:
    r"""Noisy counts above a threshold.

    Counts of groups with Laplace noise of scale 1/ε, published only from a threshold on; empty groups
    never are.

    Parameters
    ----------
    epsilon : 0 or a number in [1e-300, 1000000]
        Bound on the privacy loss; 0 is perfect privacy (ε, nats).
    threshold : a number in [1, 1000000]
        Noisy counts below it are not published (τ).

    Returns
    -------
    TradeOff
        The region, exact, for add/remove neighbours.

    Notes
    -----
    .. math:: \delta(\varepsilon')=\max\{\delta_{L_\varepsilon}(\varepsilon'),\ \tfrac12e^{-\varepsilon(\tau-1)}\}

    Assumptions: Every person is in at most one group; otherwise compose as many as a person can be in.

    References
    ----------
    Korolova, Kenthapadi, Mishra, Ntoulas 2009.

    Examples
    --------
    >>> from dpcore import thresholded_laplace
    >>> region = thresholded_laplace(1, 20)
    >>> print(f"{region.delta(1):.6g}")
    2.8014e-09
    """

def top_k(epsilon: Real, k: Whole = 5) -> TradeOff:
    r"""Top k, worst case.

    The k best candidates, in order, by scores with Gumbel noise drawn once; ε is for each of them.

    Parameters
    ----------
    epsilon : 0 or a number in [1e-300, 1000000] or inf
        Bound on the privacy loss; 0 is perfect privacy (ε, nats).
    k : an integer in [1, 1000000], default 5
        How many candidates are published.

    Returns
    -------
    TradeOff
        The region, exact, for any neighbours.

    Notes
    -----
    .. math:: \text{the }k\text{ largest }q_c+N_c,\quad N_c\ \text{Gumbel of scale}\ 2\Delta/\varepsilon

    Assumptions: Every score moves by at most Δ; no noisy score is published.

    References
    ----------
    Durfee, Rogers 2019: one draw of noise equals k choices without replacement; adaptive: Dong, Durfee,
    Rogers 2020.

    Examples
    --------
    >>> from dpcore import top_k
    >>> region = top_k(1, 1)
    >>> print(f"{region.delta(0):.6g}")
    0.244919
    """

def tradeoff(formula: str, close: Literal["no", "convex"] = "no") -> TradeOff:
    r"""A formula of one's own.

    Every test with false positives a has at least the false negatives that the formula gives.

    Parameters
    ----------
    formula : a text
        False negatives as a formula of the false positives a.
    close : one of no, convex, default no
        Convex: take the convex envelope of the formula.

    Returns
    -------
    TradeOff
        The region, an upper bound that contains the true one, for any neighbours.

    Notes
    -----
    .. math:: f(\alpha)=\text{the formula, with } a \text{ for } \alpha

    Assumptions: The formula is convex, does not increase, and lies between 0 and 1 - a: checked at more
    than 2000 points. With "convex" it is replaced by its convex envelope, which is a weaker statement.

    References
    ----------
    Dong, Roth, Su 2022, Proposition 1.

    Examples
    --------
    >>> from dpcore import tradeoff
    >>> region = tradeoff("0.8-0.8*a")
    >>> print(f"{region.delta(0):.6g}")
    0.2
    """

def tree_aggregation(sigma: Real, steps: Whole) -> TradeOff:
    r"""Tree aggregation.

    Running sums of T steps are released by the nodes of a binary tree, each with normal noise σ; a
    record is in one step.

    Parameters
    ----------
    sigma : a number in [1e-50, 1e50] or inf
        Standard deviation of the noise (σ).
    steps : an integer in [1, 1000000000000000]
        Steps, the leaves of the tree (T).

    Returns
    -------
    TradeOff
        The region, exact, for any neighbours.

    Notes
    -----
    .. math:: G_{\sqrt{h}/\sigma},\quad h=\lfloor\log_2 T\rfloor+1

    Assumptions: A record takes part in one step and moves its sum by at most 1; only complete subtrees
    are released.

    References
    ----------
    Dwork, Naor, Pitassi, Rothblum 2010; Chan, Shi, Song 2011; Kairouz et al. 2021.

    Examples
    --------
    >>> from dpcore import tree_aggregation
    >>> region = tree_aggregation(2, 1)
    >>> print(f"{region.delta(1):.4g}")
    0.00683
    """

def truncated_discrete_gaussian(sigma: Real, bound: Whole, sensitivity: Whole = 1) -> TradeOff:
    r"""Truncated discrete Gaussian mechanism.

    An integer answer plus discrete Gaussian noise that never exceeds the bound, as accountants model
    it.

    Parameters
    ----------
    sigma : a number in [1e-50, 1e50]
        Width of the noise before it is cut (σ).
    bound : an integer in [1, 400000]
        Noise lies in [-B, B] (B).
    sensitivity : an integer in [1, 1000000], default 1
        How far the integer answer moves (Δ).

    Returns
    -------
    TradeOff
        The region, exact, for any neighbours.

    Notes
    -----
    .. math:: P(N=n)\propto e^{-n^2/(2\sigma^2)},\quad |n|\le B

    Assumptions: The query is an integer and moves by at most the sensitivity. An answer beyond the
    bound reveals the move: δ never reaches 0.

    References
    ----------
    Canonne, Kamath, Steinke 2020, cut.

    Examples
    --------
    >>> from dpcore import truncated_discrete_gaussian
    >>> region = truncated_discrete_gaussian(2, 10)
    >>> print(f"{region.delta(0):.6g}")
    0.199471
    """

def truncated_poisson(sigma: Real, q: Real, batch: Whole, examples: Whole) -> TradeOff:
    r"""Gaussian noise on samples cut to a largest batch.

    Each record is used with probability q; of more than B records a random B are kept; the sum gets
    normal noise σ.

    Parameters
    ----------
    sigma : a number in [1e-50, 1e50] or inf
        Standard deviation of the noise (σ).
    q : 0 or a number in [1e-300, 1]
        Probability that a record is sampled (p).
    batch : an integer in [1, 1000000000]
        Most records of a batch (B).
    examples : an integer in [1, 1000000000]
        Records of the dataset (N).

    Returns
    -------
    TradeOff
        The region, an upper bound that contains the true one, for add/remove neighbours.

    Notes
    -----
    .. math:: \delta = (1-\tau)\,\delta_{G_{1/\sigma}^{q}} + \tau\,\delta_{G_{2/\sigma}^{p}},\quad \tau=P(\mathrm{Bin}(N-1,q)\ge B),\ p=\tfrac{B}{N\tau}P(\mathrm{Bin}(N,q)>B)

    Assumptions: Each record moves the sum by at most 1; the larger of the two datasets has N records.

    References
    ----------
    Ganesh et al. 2025 (arXiv 2508.15089); dominating pair proved in the guide.

    Examples
    --------
    >>> from dpcore import truncated_poisson
    >>> region = truncated_poisson(1, 0.1, 100, 100)
    >>> print(f"{region.delta(0.05):.5g}")
    0.026144
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

def user_gaussian(sigma: Real, q: Real, records: Whole) -> TradeOff:
    r"""Gaussian noise on samples, several records per person.

    Each record is used with probability q, a person has up to m of them; the sum gets normal noise σ.

    Parameters
    ----------
    sigma : a number in [1e-50, 1e50] or inf
        Standard deviation of the noise (σ).
    q : 0 or a number in [1e-300, 1]
        Probability that a record is used (p).
    records : an integer in [1, 1000]
        Most records of one person (m).

    Returns
    -------
    TradeOff
        The region, exact, for add/remove neighbours.

    Notes
    -----
    .. math:: N(0,\sigma^2)\ \text{against}\ \sum_{j=0}^{m}\tbinom mj q^j(1-q)^{m-j}N(j,\sigma^2)

    Assumptions: Each record moves the sum by at most 1; all records of the person are in under one
    hypothesis and out under the other.

    References
    ----------
    Kahane 1985 (convexity inequality); Choquette-Choo, Ganesh, Steinke, Thakurta 2024.

    Examples
    --------
    >>> from dpcore import user_gaussian
    >>> region = user_gaussian(1, 0.1, 1)
    >>> print(f"{region.delta(0.05):.5g}")
    0.026144
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
