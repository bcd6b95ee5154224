"""Very many copies of small steps: what rounding does to one copy must be counted once for each, in forty digits."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore import parse
from dpcore.regions.guarantees import three_point

UNIT = 2.0**-53


def pure(s, epsilon, delta=0.0):
    """Transform of (epsilon, delta)-DP."""
    e, d = mp.mpf(epsilon), mp.mpf(delta)
    return (1 - d) * (mp.exp((s + 1) * e) + mp.exp(-s * e)) / (1 + mp.exp(e))


def laplace(s, epsilon):
    """Transform of Laplace noise: half the mass at +epsilon, e^-epsilon / 2 at -epsilon, e^((l - epsilon)/2) / 4 between."""
    e, a = mp.mpf(epsilon), s + mp.mpf(1) / 2
    return (mp.exp(s * e) + mp.exp(-(s + 1) * e)) / 2 + mp.sinh(a * e) * mp.exp(-e / 2) / (2 * a)


def gaussian(s, mu):
    """Transform of Gaussian noise."""
    return mp.exp(mu**2 * s * (s + 1) / 2)


def truth(transform, epsilon, delta_inf, c, step, top):
    """Return delta by the trapezoidal rule along Re s = c; the kernel's image at 2 pi / step is negligible."""
    total = mp.mpf(0)
    for n in range(int(top / step) + 1):
        s = mp.mpc(c, n * step)
        term = (transform(s) * mp.exp(-s * mp.mpf(epsilon)) / (s * (s + 1))).real
        total += term if n else term / 2
    return delta_inf + total * step / mp.pi


@pytest.mark.parametrize(
    ("epsilon", "delta", "k"),
    [(1e-5, 0.0, 40_000), (1e-3, 0.0, 1000), (1e-5, 0.0, 400_000), (1e-6, 0.0, 10**6), (1e-4, 1e-9, 10**6)],
)
def test_copies_beside_smooth_noise_hold_the_truth(epsilon, delta, k):
    region = parse(f"gaussian(0.7)*laplace(0.01)*dp({epsilon!r}, {delta!r})^{k}*dp(0.3777)")
    with mp.workdps(40):
        lost = 1 - (1 - mp.mpf(delta)) ** k

        def transform(s):
            return gaussian(s, 1 / mp.mpf(0.7)) * laplace(s, 0.01) * pure(s, epsilon, delta) ** k * pure(s, 0.3777)

        for at in (0.5, 1.0, 3.0):
            exact = truth(transform, at, lost, 1.0, mp.mpf("0.1"), 16)
            assert abs(exact - truth(transform, at, lost, 1.3, mp.mpf("0.08"), 16)) <= mp.mpf("1e-20")
            lower, upper = region.curve.delta_bounds(np.array([at]))
            assert mp.mpf(float(lower[0])) <= exact <= mp.mpf(float(upper[0])), (at, float(lower[0] / exact - 1))
            assert upper[0] - lower[0] <= 1e-9 * upper[0]


def test_the_masses_of_many_copies_sum_to_one():
    """The two masses of dp(1e-5) sum to 1 - 1.1e-16; forty thousand copies were off by 4.4e-12."""
    curve = parse("dp(1e-5)^40000*dp(0.3777)").curve
    assert curve.exact
    assert abs(math.fsum(curve.q.tolist()) - 1.0) <= 1e-15
    with mp.workdps(40):
        e, k, other = mp.mpf(1e-5), 40_000, mp.mpf(0.3777)
        up, high = 1 / (1 + mp.exp(-e)), 1 / (1 + mp.exp(-other))
        at = mp.mpf(0.2)
        exact = mp.mpf(0)
        first = k // 2 - 1800  # eighteen standard deviations: what is left out is below 1e-70
        mass = mp.binomial(k, first) * up**first * (1 - up) ** (k - first)
        for i in range(first, k - first + 1):
            for sign, share in ((1, high), (-1, 1 - high)):
                loss = (2 * i - k) * e + sign * other
                exact += mass * share * (1 - mp.exp(at - loss)) if loss > at else 0
            mass *= mp.mpf(k - i) / (i + 1) * up / (1 - up)
        assert abs(float(curve.delta_bounds(np.array([0.2]))[0][0]) - exact) <= mp.mpf("4e-15") * exact


@given(
    st.sampled_from([1e-12, 1e-6, 3e-4, 9e-3, 0.02, 0.7, 5.0]),
    st.sampled_from([0.0, 1e-9, 0.2]),
    st.floats(-3, 3),
    st.floats(-3, 2),
    st.floats(-1.57, 1.57),
)
def test_the_transform_of_a_polygon_keeps_its_promise(epsilon, delta, centre, log_radius, angle):
    polygon = three_point(epsilon, delta, 0.0)
    s = complex(centre, 0.0) + 10.0**log_radius * np.exp(1j * angle) / max(epsilon, 1e-2)
    line = np.array([[s.real, s]])
    value = polygon.log_mgf(line.ravel())[1]
    units = np.broadcast_to(polygon.mgf_rounding_along(line), line.shape)[0, 1]
    with mp.workdps(60):
        exact, size = pure(mp.mpmathify(s), epsilon, delta), pure(mp.mpf(s.real), epsilon, delta)
        error = abs(mp.exp(mp.mpmathify(value)) / exact - 1)
        allowed = UNIT * ((units + abs(s) * epsilon) * size / abs(exact) + 4 * abs(value))
        assert error <= allowed, (float(error / UNIT), float(allowed / UNIT))
