"""Which tangents of a curve matter: how steep it can be at a false-positive rate."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.effort import checkpoint

if TYPE_CHECKING:
    from dpcore.curves.base import Curve

_LEAST = 1.0  # ends below are short enough
_CLOSE = 1.15  # factor between the end and an epsilon that is too small


def steepest(curve: Curve, alpha: float) -> float:
    r"""Return an epsilon such that no steeper tangent touches the curve at rates above alpha.

    A tangent of slope :math:`-e^\varepsilon` touches at rates up to :math:`P_0(L\ge\varepsilon)`. That is at most
    :math:`e^{-\varepsilon}`, and for :math:`e<\varepsilon`

    .. math:: \delta(e) = E_0[(e^L-e^e)_+] \ge (e^\varepsilon-e^e)\,P_0(L\ge\varepsilon),

    so with :math:`\varepsilon=e+\log 2` it is at most :math:`e^{-e}\delta(e)`. A curve of rare far losses is flat long before
    the first bound says so, and deltas far beyond the answer are tiny and take long.
    """
    end = max(0.0, min(curve.max_loss, -math.log(alpha)))
    if end <= _LEAST or curve.exact:
        return end
    low, high = 0.0, end
    trial = end / 64.0
    while trial < end and high > _LEAST and high > _CLOSE * low:  # doubles, then halves: about ten rounds
        checkpoint()
        if float(curve.delta_bounds(np.array([trial]))[1][0]) <= alpha * math.exp(trial):
            high = trial
        else:
            low = trial
        trial = 2.0 * low if high == end and low else 0.5 * (low + high)
        if high == end and trial >= end:
            break
    return min(end, high + math.log(2.0))
