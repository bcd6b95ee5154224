r"""The mixed noise mechanism: normal noise of Laplace's variance for small sensitivities, Laplace noise for large ones.

Normal noise of variance :math:`2(\Delta/\varepsilon)^2` moves the answer by :math:`\mu=\varepsilon/\sqrt2` standard
deviations whatever the sensitivity is, so that its delta is one function of epsilon,

.. math:: \delta^*(\varepsilon)=\Phi\bigl(\tfrac{\varepsilon}{2\sqrt2}-\sqrt2\bigr)
          - e^{\varepsilon}\Phi\bigl(-\tfrac{\varepsilon}{2\sqrt2}-\sqrt2\bigr),

and no threshold on the sensitivity can repair it: the switch has to be on delta.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from dpcore.core.domains import COUNT
from dpcore.mechanisms.gaussian import Gaussian, largest_mu


def branch(epsilon: float, sensitivity: float = 1.0) -> Gaussian:
    """Return the normal noise of Laplace's variance, 2 (sensitivity/epsilon)^2, as a region."""
    return Gaussian(math.sqrt(2.0) * sensitivity / epsilon, sensitivity)


def branch_delta(epsilon: float) -> float:
    """Return delta*(epsilon), the smallest delta for which the normal branch is (epsilon, delta)-private."""
    return float(branch(epsilon).delta(epsilon))


def printed_threshold(epsilon: float, delta: float) -> float:
    r"""Return :math:`t_0=\sqrt\pi\,\delta\varepsilon/2`, below which the sensitivity is said to be small enough.

    A sensitivity has the unit of the answer and t0 has none, so that the branch depends on the unit of measurement.
    """
    return math.sqrt(math.pi) * delta * epsilon / 2


def printed_largest_sensitivity(epsilon: float, delta: float, sigma: float) -> float:
    r"""Return the bound (5.15), :math:`\sqrt{k+2\sigma^2\varepsilon}-\sqrt k` with :math:`k=2\sqrt2\sigma^3/(\sqrt\pi\delta)`.

    Sensitivities below it are said to make normal noise of standard deviation sigma (epsilon, delta)-private. It rests
    on a tail bound without its factor 1/t, and fails for small sigma.
    """
    k = 2 * math.sqrt(2.0) * sigma**3 / (math.sqrt(math.pi) * delta)
    # the difference of the roots as a quotient, without cancellation
    return 2 * sigma**2 * epsilon / (math.sqrt(k + 2 * sigma**2 * epsilon) + math.sqrt(k))


def printed_tail_bound(t: float, sigma: float) -> float:
    r"""Return :math:`\sigma e^{-t^2/2\sigma^2}/\sqrt{2\pi}`, printed as a bound of the normal tail P(Z > t).

    The correct bound is this over t (and only useful for t > 0); without the t it depends on the unit of measurement.
    """
    return sigma * math.exp(-(t**2) / (2 * sigma**2)) / math.sqrt(2 * math.pi)


def lemma_delta(epsilon: float, delta: float, sigma: float) -> float:
    """Return the true delta at the largest sensitivity that the printed lemma allows."""
    return float(Gaussian(sigma, printed_largest_sensitivity(epsilon, delta, sigma)).delta(epsilon))


def laplace_variance(epsilon: float, sensitivity: float = 1.0) -> float:
    """Return 2 (sensitivity/epsilon)^2."""
    return 2 * (sensitivity / epsilon) ** 2


def classical_variance(epsilon: float, delta: float, sensitivity: float = 1.0) -> float:
    """Return 2 log(1.25/delta) (sensitivity/epsilon)^2, proved for epsilon < 1: the boundary in Figure 5.4."""
    return 2 * math.log(1.25 / delta) * (sensitivity / epsilon) ** 2


def exact_variance(epsilon: float, delta: float, sensitivity: float = 1.0) -> float:
    """Return the least variance of normal noise that is (epsilon, delta)-private, rounded to the safe side."""
    return (sensitivity / largest_mu(epsilon, delta)) ** 2


class Switch(NamedTuple):
    """Which noise to use, and its variance."""

    noise: str
    variance: float


def corrected_switch(epsilon: float, delta: float, sensitivity: float = 1.0) -> Switch:
    """Return the noise of least variance that is (epsilon, delta)-private: normal exactly when delta > delta*(epsilon).

    Reference: the normal noise of Balle, Wang (2018) against Laplace noise, both exact.
    """
    laplace = laplace_variance(epsilon, sensitivity)
    normal = exact_variance(epsilon, delta, sensitivity)
    return Switch("normal", normal) if normal < laplace else Switch("Laplace", laplace)


def printed_branch(epsilon: float, delta: float, sensitivity: float) -> str:
    """Return the branch that the printed algorithm takes: normal up to the threshold, Laplace above it."""
    return "normal" if sensitivity <= printed_threshold(epsilon, delta) else "Laplace"


def expected_ratio(delta: float) -> float:
    """Return 1 / log(1.25/delta): the mean square of Laplace noise over that of classical normal noise, at any epsilon."""
    return 1.0 / math.log(1.25 / delta)


def chance_band(replications: int) -> tuple[float, float]:
    r"""Return where 95 of 100 ratios of two independent Laplace sums of squares fall, about :math:`e^{\pm1.96\sqrt{10/n}}`.

    The square of Laplace noise has relative variance 5 (fourth moment 24 b^4, second 2 b^2), and the logarithm of a
    ratio of two sums of n of them about 10/n. If both noises are equally good, ratios inside the band differ from 1
    by chance alone.
    """
    COUNT.but(name="replications").check(replications)
    spread = 1.959963984540054 * math.sqrt(10.0 / replications)
    return math.exp(-spread), math.exp(spread)


class NoiseErrors(NamedTuple):
    """Mean absolute error, median absolute error and fourth moment of a noise."""

    mean_absolute: float
    median_absolute: float
    fourth: float


def errors(variance: float) -> dict[str, NoiseErrors]:
    r"""Return the errors of Laplace and normal noise of one variance v.

    Laplace, b = sqrt(v/2): :math:`b,\ b\log2,\ 24b^4`; normal: :math:`\sqrt{2v/\pi},\ 0.6745\sqrt v,\ 3v^2`. The normal
    noise has the smaller fourth moment, the Laplace noise the smaller typical errors.
    """
    b = math.sqrt(variance / 2)
    return {
        "Laplace": NoiseErrors(b, b * math.log(2.0), 24 * b**4),
        "normal": NoiseErrors(
            math.sqrt(2 * variance / math.pi), 0.6744897501960817 * math.sqrt(variance), 3 * variance**2
        ),
    }
