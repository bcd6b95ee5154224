"""The numeric side of a region: the questions that every curve answers.

A curve is a pair of distributions (P0, P1) seen through their loss L = log dP1/dP0. It answers with brackets
``(lower, upper)``; for an exact curve both are the same number.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from decimal import ROUND_CEILING, Decimal, localcontext
from math import inf, isfinite, nextafter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpcore.core.errors import BudgetError
from dpcore.core.numerals import nearest, numeral

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dpcore.curves.families import CurveFamily
    from dpcore.engine.contour_local import Local
    from dpcore.engine.contour_outline import Outline
    from dpcore.engine.contour_product import Factor
    from dpcore.engine.few_jumps import FewJumps
    from dpcore.engine.trimmed_mixture import Trimmed

FloatArray = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]
Bounds = tuple[FloatArray, FloatArray]

_FORMULA, _BY_DUALITY = 0.2, 30.0
"""Work of one beta: by a formula, and as a number of deltas by duality. Estimates, which change no number."""


class Curve(ABC):
    """A trade-off function, one direction: H0 is P0, H1 is P1.

    Attributes
    ----------
    symmetric : bool, default True
        The curve equals its own inverse.
    exact : bool, default True
        Lower and upper bounds are one number, right to rounding.
    certified : bool, default False
        A numeric bracket whose width should be within the tolerance.
    q_inf, p_inf : float, default 0
        Mass under P1 at loss +inf and under P0 at loss -inf; delta(inf) = q_inf.
    untold : float, default 0
        The part of `q_inf` whose loss is finite but beyond the doubles; it counts as infinite, which is safe.
    min_loss, max_loss : float
        Ends of the finite losses; -inf and +inf where the loss is unbounded.
    proved : bool, default False
        Every single number is proved by its own bracket, betas and deltas from one constraint.
    one_sum : bool, default False
        Deltas and betas are sums over the same masses; a beta is expensive compared with a delta.
    method : str, default "closed form"
        The method of computation, in a few words.
    work : float, default 0.5
        Work of one delta, in points of a transform (half a microsecond or so), estimated in advance.
    leads : bool, default False
        At every epsilon >= 0 the delta of the inverse is at most that of the curve.
    tallest : float, default inf
        Imaginary part up to which the transform is known; where it has not faded by then, products use a lattice.
    is_product : bool, default False
        A product described by the losses of its factors.
    gaussian_mu : float, optional
        Mu if the curve is exactly that of mu-Gaussian privacy, otherwise None.
    laplace_epsilon : float, optional
        Epsilon if the curve is exactly that of one Laplace answer, otherwise None.
    integer_gaussian : tuple of (float, int), optional
        Sigma and move if the curve is exactly that of one discrete Gaussian answer, otherwise None.
    """

    symmetric: bool = True
    exact: bool = True
    certified: bool = False
    proved: bool = False
    one_sum: bool = False
    q_inf: float = 0.0
    p_inf: float = 0.0
    untold: float = 0.0
    min_loss: float = -np.inf
    max_loss: float = np.inf
    method: str = "closed form"
    work: float = 0.5
    leads: bool = False
    tallest: float = np.inf
    is_product: bool = False
    gaussian_mu: float | None = None
    laplace_epsilon: float | None = None
    integer_gaussian: tuple[float, int] | None = None

    @property
    def rate_work(self) -> float:
        """Work of one beta: next to nothing by a formula, about thirty deltas by duality."""
        return _FORMULA if type(self).beta_bounds is not Curve.beta_bounds else _BY_DUALITY * self.work

    @property
    def on_lattices(self) -> bool:
        """Whether deltas come from lattices, whose work grows fast as delta and the tolerance fall."""
        return False

    @abstractmethod
    def delta_bounds(self, epsilon: FloatArray) -> Bounds:
        """Return (lower, upper) of delta(epsilon) = sup_S P1(S) - e^epsilon P0(S), for every real epsilon."""

    def two_sided(self, epsilon: FloatArray) -> tuple[Bounds, Bounds]:
        """Return bounds of delta and of 1 - delta; override where a small 1 - delta can keep its digits."""
        lower, upper = self.delta_bounds(epsilon)
        return (lower, upper), (1.0 - upper, 1.0 - lower)

    def ceiling(self, epsilon: FloatArray) -> FloatArray:
        """Return a cheap upper bound of delta at epsilon >= 0; 1 where there is none."""
        return np.ones(np.shape(epsilon))

    def outline(self) -> Outline | None:
        """Return a rough sketch of the profile if one costs next to nothing: a starting point, never an answer."""
        return None

    def guess(self, delta: float) -> float | None:  # noqa: ARG002  overridden where a curve can
        """Return a guess of where delta(epsilon) = delta, to start a search; None if any place is as good."""
        return None

    def expanded(self, grid: FloatArray) -> Local | None:  # noqa: ARG002  overridden where a curve can
        """Return the profile around an even grid of epsilons >= 0, if that is cheaper than many single values."""
        return None

    @property
    def family(self) -> tuple[type[CurveFamily], float] | None:
        """The closed form that computes many such curves at once, and the parameter of this one."""
        return None

    @abstractmethod
    def inverse(self) -> Curve:
        """Return the curve with the roles of P0 and P1 exchanged."""

    def leading_closure(self, method: str) -> Curve:
        """Return the union with the inverse of a pair that `leads`."""
        from dpcore.curves.combined import LeadingClosure  # noqa: PLC0415  combinations are curves themselves

        return LeadingClosure(self, method)

    def group(self, size: int) -> Curve:
        """Return the curve of groups of `size` records of a symmetric curve."""
        from dpcore.curves.combined import Grouped  # noqa: PLC0415  combinations are curves themselves

        return Grouped(self, size)

    def for_copies(self, copies: int) -> Curve:  # noqa: ARG002  overridden where a bound can be coarser
        """Return a curve that contains this one and composes faster in that many copies; itself if there is none."""
        return self

    def beta_bounds(self, alpha: FloatArray) -> Bounds:
        """Return (lower, upper) of the smallest false-negative rate at false-positive rate alpha; lower is safe."""
        from dpcore.curves.duality import beta_bounds  # noqa: PLC0415  duality needs Curve itself

        return beta_bounds(self, alpha)

    def beta_safe(self, alpha: FloatArray) -> FloatArray:
        """Return the lower, safe side of beta alone; cheaper where betas come by duality."""
        if type(self).beta_bounds is not Curve.beta_bounds:
            return self.beta_bounds(alpha)[0]
        from dpcore.curves.duality import beta_safe  # noqa: PLC0415  duality needs Curve itself

        return beta_safe(self, alpha)

    def power_bounds(self, alpha: FloatArray) -> Bounds:
        """Return (lower, upper) of the attacker's true-positive rate 1 - beta; override where 1 - beta loses digits."""
        lower, upper = self.beta_bounds(alpha)
        # no attacker is worse than blind guessing, but a rounded difference may be
        return np.maximum(1.0 - upper, alpha), np.maximum(1.0 - lower, alpha)

    def epsilon_bounds(self, delta: FloatArray) -> Bounds:
        """Return (lower, upper) of the smallest epsilon >= 0 with delta(epsilon) <= delta; upper is safe."""
        from dpcore.curves.roots import epsilon_bounds  # noqa: PLC0415  roots need Curve itself

        return epsilon_bounds(self, delta)

    def log_mgf(self, s: ComplexArray) -> ComplexArray:
        """Return log E_P1[exp(s L); L finite]; curves without it are composed between two polygons."""
        raise NotImplementedError

    def log_decay(self, c: float, y: float) -> float:  # noqa: ARG002  the bound 0 holds for every pair
        """Return an upper bound of log(|M(c + iY)| / M(c)) for every |Y| >= y; 0 always holds."""
        return 0.0

    @property
    def has_far_jumps(self) -> bool:
        """Whether `trimmed` has something to remove."""
        return False

    @property
    def rarely(self) -> bool:
        """Whether the far jumps are so rare that composition without them is the first choice."""
        return False

    def trimmed(self, mass: float) -> Factor:  # noqa: ARG002  most curves have nothing to trim
        """Return the pair with rare far losses, at most `mass` of P1, moved to infinity, if that eases composition."""
        return self

    def trimmed_above(self, loss: float) -> Trimmed | None:  # noqa: ARG002  most curves have nothing to trim
        """Return the pair with losses above a given one moved to infinity, if the effect of that is known."""
        return None

    def few_jumps(self, copies: int) -> FewJumps | None:  # noqa: ARG002  most curves have no jumps
        """Return the profile of many copies where a few rare far losses make it up, if the pair has such losses."""
        return None

    @property
    def mgf_rounding(self) -> float:
        """Rounding error of M(s) in units of 2^-53 M(Re s): 2 for a closed form; of parts, the sum over copies."""
        return float(sum(k * part.mgf_rounding for part, k in self.transform_parts)) or 2.0

    def log_moments(self, c: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log M(c) at real c and a bound of its error beyond 4 abs(log M(c)), in units of 2^-53."""
        return self.log_mgf(c.astype(np.complex128)).real, np.full(c.size, 4.0 * self.mgf_rounding)

    @property
    def transform_parts(self) -> tuple[tuple[Curve, int], ...]:
        """Curves, and how often each occurs, whose transforms are multiplied; empty if the curve has a transform of its own."""
        return ()

    def transform_effort(self, copies: int) -> float:  # noqa: ARG002  for most curves the number does not matter
        """Return about how many operations the transform takes for a composition of `copies` (see `dpcore.regions.cost`)."""
        return 3e6

    @property
    def has_mgf(self) -> bool:
        """Whether `log_mgf` is known for this curve."""
        return type(self).log_mgf is not Curve.log_mgf


SMALLEST_SHIFT, LARGEST_SHIFT = 1e-306, 1e12
"""Range of a loss or mu of a curve in closed form: below, doubles lose digits; above, its exponentials have none left."""


def check_shift(what: str, value: float, least: float = SMALLEST_SHIFT) -> float:
    """Return a positive size; refuse one beyond the reach of doubles."""
    if not least <= value <= LARGEST_SHIFT:
        msg = f"{what} is {numeral(value)}; in double precision it must be from {nearest(least)} to {nearest(LARGEST_SHIFT)}."
        raise BudgetError(msg)
    return float(value)


def largest_loss(parts: Iterable[tuple[float, int]]) -> float:
    """Return the sum of (loss, count) pairs, the largest loss of a product, never too small by rounding.

    Numbers mean what their shortest decimal says: 0.1 is a tenth, so 0.1 + 0.7 is at least 0.8 (a sum of doubles is less),
    and a hundred times 0.01 is 1 (a hundred times the double next to 0.01 is more). A larger sum of doubles is kept.
    """
    pairs = list(parts)
    rough = float(sum(count * loss for loss, count in pairs))
    if not isfinite(rough):
        return rough
    with localcontext() as context:
        context.prec, context.rounding = 40, ROUND_CEILING
        decimal = sum((int(count) * Decimal(repr(float(loss))) for loss, count in pairs), Decimal(0))
        total = float(decimal)
        if Decimal(repr(total)) < decimal:
            total = nextafter(total, inf)
    return max(total, rough)


def mirrored_delta(epsilon: FloatArray, delta_of_inverse: FloatArray) -> FloatArray:
    """Return delta(epsilon) from the inverse's delta(-epsilon): delta(e) = 1 - e^e + e^e delta_inverse(-e).

    Used for e < 0, where it loses nothing: 1 - e^e is formed by expm1.
    """
    return np.asarray(-np.expm1(epsilon) + np.exp(epsilon) * delta_of_inverse, dtype=np.float64)
