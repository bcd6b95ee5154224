r"""Accountants that round the privacy loss to a grid and compose by one fast Fourier transform, computed as they do it.

Both are published methods with parameters that libraries fix: their epsilon is larger than the truth by what the grid and the
stated error add. No number here is certified; they say what a library prints, beside the certified number.

- *Privacy random variables* (Gopi, Lee, Wutschitz 2021): the loss of one step is rounded to a grid of step
  :math:`\varepsilon_e/\sqrt{T\log(12/\delta_e)/2}` and shifted so that its mean is right. The number printed is epsilon at
  :math:`\delta-\delta_e`, plus :math:`\varepsilon_e`.
- *Connect the dots* (Doroshenko et al. 2022): the profile of one step, in :math:`e^\varepsilon`, is replaced by its chords between
  the points of a grid, which is a law on that grid. Both directions; the larger epsilon counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.special import ndtr

from dpcore.core.effort import checkpoint
from dpcore.core.errors import BudgetError, DomainError
from dpcore.core.numerals import nearest
from dpcore.curves.gaussian import GaussianCurve
from dpcore.curves.subsampled import subsampled
from dpcore.words import grouped

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcore.curves.base import Curve, FloatArray
    from dpcore.training.gradients import Training

EPSILON_ERROR: Final = 0.01
"""The error of epsilon that Opacus's accountant allows, and adds."""
DELTA_SHARE: Final = 1e-3
"""The error of delta that it allows, as a share of delta."""
GRID: Final = 1e-4
"""The grid of dp-accounting's accountant."""
LARGEST_GRID: Final = 2**23  # points, 200 MB with the transforms
LEAST_DELTA: Final = 1e-11  # below, the rounding of a transform of total mass 1 shows in the digits
_BEYOND = 3.0  # what the first method adds to the range of its grid
_LOWEST = -37.0  # the sum is below with probability e^-37, under either method
_TAIL = 9.9  # standard deviations; dp-accounting leaves out e^-50 of the noise
_NODES = np.linspace(-12.0, 12.0, 24_001)  # standard deviations: the trapezoidal sum of a mean, exact to rounding


@dataclass(frozen=True, slots=True)
class GridLaw:
    """A law of the loss under H1: masses at `first + i step`, and `infinite` beyond every loss."""

    first: float
    step: float
    masses: FloatArray
    infinite: float = 0.0

    def epsilon(self, delta: float) -> float:
        """Return the epsilon at which delta is reached; 0 if it is reached below, inf if nowhere."""
        loss = self.first + self.step * np.arange(self.masses.size)
        above = np.cumsum(self.masses[::-1])[::-1]
        below = np.cumsum((self.masses * np.exp(-loss))[::-1])[::-1]
        # between two points, delta(e) = infinite + above - e^e below
        at = int(np.searchsorted(np.exp(loss) * below - above - self.infinite, -delta))
        if at >= loss.size or not self.infinite + above[at] > delta:
            return math.inf if self.infinite >= delta else 0.0
        return max(0.0, math.log((self.infinite + above[at] - delta) / below[at]))


def _check_delta(delta: float) -> None:
    if delta < LEAST_DELTA:
        msg = f"not computed: below δ = {nearest(LEAST_DELTA)} the rounding of the transform shows in the digits"
        raise DomainError(msg)


def _points(count: float) -> int:
    """Return a number of grid points that a transform takes quickly, 2^k or 3 2^k; refuse too many."""
    if count > LARGEST_GRID:
        msg = f"not computed: its grid would have {grouped(math.ceil(count))} points"
        raise BudgetError(msg)
    checkpoint()
    power = 1 << max(2, math.ceil(count) - 1).bit_length()
    return 3 * power // 4 if 3 * power // 4 >= count else power


def _folded(masses: FloatArray, place: int, size: int, copies: int) -> FloatArray:
    """Return the law of a sum of copies on a circle of `size` points; the first mass is at `place`."""
    line = np.zeros(size)
    np.add.at(line, (place + np.arange(masses.size)) % size, masses)
    return np.asarray(np.fft.irfft(np.fft.rfft(line) ** copies, size), dtype=np.float64)


def random_variable_epsilon(training: Training, delta: float, bound: Callable[[int, float], float]) -> float:
    """Return the epsilon of the method of privacy random variables, with the errors that Opacus allows.

    Parameters
    ----------
    training : Training
        The steps.
    delta : float
        In [1e-11, 1).
    bound : callable
        Epsilon of a number of steps at a delta by Rényi divergences, which sets the range of the grid.

    Returns
    -------
    float
        Epsilon at ``delta - delta / 1000``, plus 0.01.
    """
    _check_delta(delta)
    sigma, q, steps = training.sigma, training.q, training.steps
    error = delta * DELTA_SHARE
    reach = max(bound(steps, error / 4), bound(1, error / (8 * steps)), EPSILON_ERROR) + _BEYOND
    step = EPSILON_ERROR / math.sqrt(steps * math.log(12 / error) / 2)
    half = math.ceil(reach / step)
    size = _points(2 * half + 2)
    loss = step * np.arange(-half, half + 2, dtype=np.float64)
    cumulative = _loss_cdf(np.append(loss - step / 2, loss[-1] + step / 2), sigma, q)
    ends = _loss_cdf(loss[[0, -1]], sigma, q)
    masses = np.diff(np.clip(cumulative, *ends)) / (ends[1] - ends[0])
    shift = _mean_loss(sigma, q) - float(loss @ masses)
    composed = np.roll(_folded(masses, -half, size, steps), half)
    law = GridLaw(float(loss[0]) + steps * shift, step, composed)
    return law.epsilon(delta - error) + EPSILON_ERROR


def _loss_cdf(loss: FloatArray, sigma: float, q: float) -> FloatArray:
    """Return the distribution of the loss log(1 - q + q e^((2x - 1) / 2 sigma^2)) of a step when the record is in the data."""
    ratio = np.exp(loss) - (1.0 - q)
    inside = ratio > 0.0
    x = 0.5 + sigma**2 * np.log(np.where(inside, ratio, 1.0) / q)
    value = (1.0 - q) * ndtr(x / sigma) + q * ndtr((x - 1.0) / sigma)
    return np.asarray(np.where(inside, value, 0.0), dtype=np.float64)


def _mean_loss(sigma: float, q: float) -> float:
    """Return the mean of that loss."""
    weight = np.exp(-(_NODES**2) / 2)
    weight /= weight.sum()
    total = 0.0
    for share, centre in ((1.0 - q, 0.0), (q, 1.0)):
        if share > 0.0:
            exponent = (2.0 * (centre + sigma * _NODES) - 1.0) / (2.0 * sigma**2)
            rest = math.log1p(-q) if q < 1 else -math.inf
            total += share * float(weight @ np.logaddexp(rest, math.log(q) + exponent))
    return total


def dots_epsilon(training: Training, delta: float, bound: Callable[[int, float], float]) -> float:
    """Return the epsilon of the method that connects the dots, on the grid of dp-accounting.

    Parameters
    ----------
    training : Training
        The steps.
    delta : float
        In [1e-11, 1).
    bound : callable
        Epsilon of a number of steps at a delta by Rényi divergences, which sets the range of the grid.

    Returns
    -------
    float
        The larger epsilon of both directions.
    """
    _check_delta(delta)
    reach = bound(training.steps, 1e-16) + 1.0
    if training.q == 1.0:  # Gaussian steps are joined before they are rounded
        one: tuple[Curve, ...] = (GaussianCurve(math.sqrt(training.steps) / training.sigma),)
        copies, mu = 1, math.sqrt(training.steps) / training.sigma
    else:
        forward = subsampled(GaussianCurve(1.0 / training.sigma), training.q)
        one, copies, mu = (forward, forward.inverse()), training.steps, 1.0 / training.sigma
    return max(_connected(curve, copies, mu, training.q, reach).epsilon(delta) for curve in one)


def _connected(curve: Curve, copies: int, mu: float, q: float, reach: float) -> GridLaw:
    """Return the law of all steps in one direction."""
    ends = [float(np.logaddexp(math.log1p(-q) if q < 1 else -math.inf, math.log(q) + loss)) for loss in _far(mu)]
    low, high = (-ends[1], -ends[0]) if getattr(curve, "flipped", False) else (ends[0], ends[1])
    first, last = math.floor(low / GRID), math.ceil(high / GRID)
    _points(last - first + 1)
    profile = curve.delta_bounds(GRID * np.arange(first, last + 1, dtype=np.float64))[1]
    delta = np.minimum.accumulate(np.minimum(profile, 1.0))
    # slopes between neighbours in e^epsilon; a mass is where the slope changes
    fall, growth = -np.diff(delta), math.expm1(GRID)
    masses = np.empty(delta.size)
    masses[1:-1] = (math.exp(GRID) * fall[:-1] - fall[1:]) / growth
    masses[0] = (1.0 - delta[0]) - fall[0] / growth
    masses[-1] = math.exp(GRID) * fall[-1] / growth
    lowest = math.floor(_LOWEST / GRID)
    size = _points(reach / GRID - lowest)
    composed = np.roll(_folded(np.maximum(masses, 0.0), first, size, copies), -lowest)
    infinite = -math.expm1(copies * math.log1p(-float(delta[-1]))) if delta[-1] < 1 else 1.0
    return GridLaw(GRID * lowest, GRID, composed, infinite)


def _far(mu: float) -> tuple[float, float]:
    """Return the losses of a Gaussian pair at the ends of its noise."""
    return -mu * mu / 2 - mu * _TAIL, mu * mu / 2 + mu * _TAIL
