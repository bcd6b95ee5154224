"""The transform of Laplace noise on samples against high precision, its decay, and products by two engines."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from dpcore.core.effort import effort
from dpcore.curves.composed import Certified
from dpcore.curves.laplace import LaplaceCurve
from dpcore.curves.subsampled import SampledLaplace, Subsampled, subsampled
from dpcore.engine.sampled_laplace_mgf import ClosedSampledLaplaceLoss, SampledLaplaceLoss, TallError
from dpcore.engine.sandwich import Sandwich
from dpcore.language import parse

PAIRS = [(1.0, 0.01), (1.0, 0.5), (0.1, 0.1), (8.0, 0.001), (3.0, 0.9), (25.0, 1e-4), (1e-3, 0.3)]
EXPONENTS = [0, -1, -0.5, 2 + 3j, 10 + 50j, 40, -5 + 20j, 1 + 120j, 100 + 5j, -60]


def precise(s: complex, eps0: float, q: float) -> mp.mpc:
    """Return M(s) by its definition with forty digits."""
    e, share, a = mp.mpf(eps0), mp.mpf(q), mp.mpc(s) + 1
    pieces = max(4, int(abs(s.imag) * 0.3) + 2)
    points = [-e + 2 * e * mp.mpf(i) / pieces for i in range(pieces + 1)]
    inside = mp.quad(lambda t: mp.e ** (-t / 2) * (1 - share + share * mp.e**t) ** a, points)
    atoms = (1 - share + share * mp.e**-e) ** a / 2 + mp.e**-e * (1 - share + share * mp.e**e) ** a / 2
    return atoms + mp.e ** (-e / 2) / 4 * inside


@pytest.mark.parametrize(("eps0", "q"), PAIRS)
def test_the_error_is_within_the_units_that_are_counted(eps0: float, q: float) -> None:
    law = SampledLaplaceLoss(eps0, q)
    with mp.workdps(40):
        for s in map(complex, EXPONENTS):
            ours = law.log_mgf(np.array([s]))[0]
            error = abs(mp.e ** mp.mpc(ours) - precise(s, eps0, q)) / precise(complex(s.real), eps0, q).real
            assert float(error) <= 0.5 * float(law.units(np.array([s]))[0]) * 2.0**-53


@pytest.mark.parametrize(("eps0", "q"), PAIRS)
def test_the_decay_is_a_bound(eps0: float, q: float) -> None:
    law = SampledLaplaceLoss(eps0, q)
    rng = np.random.default_rng(1)
    for c in (-3.0, -0.5, 0.0, 5.0):
        whole = law.log_mgf(np.array([complex(c)]))[0].real
        for y in (0.0, 0.3, 2.0, 20.0, 200.0):
            above = y + (law.tallest / 2 - y) * rng.random(100) ** 6
            assert (law.log_mgf(c + 1j * above).real - whole).max() <= law.log_decay(c, y) + 1e-9


def test_the_derivative_and_the_exchanged_pair() -> None:
    curve = subsampled(LaplaceCurve(1.0), 0.2)
    assert isinstance(curve, SampledLaplace)
    c = np.array([-4.0, -1.0, -0.3, 0.0, 2.0, 30.0])
    for one in (curve, curve.inverse()):
        value, slope = one.cumulants(c)
        step = 1e-5
        assert value == pytest.approx(one.log_mgf(c.astype(np.complex128)).real, abs=1e-14)
        assert slope == pytest.approx((one.cumulants(c + step)[0] - one.cumulants(c - step)[0]) / (2 * step), abs=1e-7)
        assert one.cumulants(np.array([-1.0, 0.0]))[0] == pytest.approx([0.0, 0.0], abs=1e-15)
        losses, masses = one.atoms()
        assert losses.max() == pytest.approx(one.max_loss, rel=1e-12) or losses.min() == pytest.approx(
            one.min_loss, rel=1e-12
        )
        assert masses.sum() < 1
    assert type(subsampled(LaplaceCurve(1e-7), 0.2)) is Subsampled
    assert subsampled(LaplaceCurve(1.0), 1.0).laplace_epsilon == 1.0


@pytest.mark.parametrize(("eps0", "q", "k"), [(1.0, 0.1, 100), (0.5, 0.3, 150), (2.0, 0.05, 200)])
def test_the_contour_and_the_lattice_agree(eps0: float, q: float, k: int) -> None:
    """Two engines that share no code: the brackets of both directions overlap."""
    forward = Certified([(subsampled(LaplaceCurve(eps0), q), k)])
    epsilon = np.array([0.1, 0.5, 1.5])
    for product in (forward, forward.inverse()):
        assert product.by_contour
        with effort(tolerance=1e-5):
            low, high = product.delta_bounds(epsilon)
            below, above = Sandwich(product.parts).delta_bounds(epsilon, 1e-5)
        assert (low <= high).all()
        assert (high - low <= 1e-5 * high).all()
        assert (np.maximum(low, below) <= np.minimum(high, above) * (1 + 1e-12)).all()


def test_few_copies_stay_on_the_lattice() -> None:
    product = Certified([(subsampled(LaplaceCurve(1.0), 0.1), 5)])
    assert not product.by_contour


def test_an_exponent_too_far_out_is_refused() -> None:
    law = SampledLaplaceLoss(5.0, 0.5)
    with pytest.raises(TallError, match="too many nodes"):
        law.log_mgf(np.array([1j * 1e9]))
    assert np.isnan(law.cumulants(np.array([1e12]))[0]).all()
    assert law.log_decay(1e12, 1.0) == 0.0


# ---- the symmetric closure -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("eps0", "q"), [(1.0, 0.01), (0.1, 0.1), (6.0, 0.01), (3.0, 0.9)])
def test_the_closure_by_its_profile(eps0: float, q: float) -> None:
    """M(s) = 1 + s (s+1) times the integral of delta(v) (e^(sv) + e^(-(s+1)v)), delta(v) = q delta_Laplace(x)."""
    law = ClosedSampledLaplaceLoss(eps0, q)
    with mp.workdps(30):
        e, share = mp.mpf(eps0), mp.mpf(q)
        top = mp.log(1 - share + share * mp.e**e)

        def by_profile(s: complex) -> mp.mpc:
            z = mp.mpc(s)
            pieces = max(4, int(abs(s.imag) * 0.3) + 2)

            def inside(v: mp.mpf) -> mp.mpc:
                delta = share * (1 - mp.e ** ((mp.log(1 + (mp.e**v - 1) / share) - e) / 2))
                return delta * (mp.e ** (z * v) + mp.e ** (-(z + 1) * v))

            return 1 + z * (z + 1) * mp.quad(inside, [top * i / pieces for i in range(pieces + 1)])

        for s in (0j, -1 + 0j, 2 + 3j, 10 + 50j, -5 + 20j, 60 + 0j):
            error = (
                abs(mp.e ** mp.mpc(law.log_mgf(np.array([s]))[0]) - by_profile(s)) / by_profile(complex(s.real)).real
            )
            assert float(error) <= 0.5 * float(law.units(np.array([s]))[0]) * 2.0**-53
    rng = np.random.default_rng(2)
    for c in (-3.0, 0.0, 5.0):
        whole = law.log_mgf(np.array([complex(c)]))[0].real
        for y in (0.0, 1.0, 20.0, 200.0):
            above = y + (law.tallest / 2 - y) * rng.random(100) ** 6
            assert (law.log_mgf(c + 1j * above).real - whole).max() <= law.log_decay(c, y) + 1e-9


def test_the_closure_and_the_lattice_agree() -> None:
    closure = parse("subsample(laplace(1), 0.1)").pair
    assert closure.symmetric
    product = Certified([(closure, 100)])
    assert product.by_contour
    epsilon = np.array([0.1, 1.0, 3.0])
    with effort(tolerance=1e-5):
        low, high = product.delta_bounds(epsilon)
        below, above = Sandwich(product.parts).delta_bounds(epsilon, 1e-5)
    assert (high - low <= 1e-5 * high).all()
    assert (np.maximum(low, below) <= np.minimum(high, above) * (1 + 1e-12)).all()


def test_a_thousand_samples_no_longer_need_a_lattice() -> None:
    """A lattice took half a minute for each; it said [1.12376732, 1.12376814] and at most 1.34476553."""
    sampled, fixed = parse("poisson(laplace(1), 0.01)^1000"), parse("subsample(laplace(1), 0.01)^1000")
    low, high = (float(side[0]) for side in sampled.epsilon_bounds(np.array([1e-5])))
    assert 1.12376732 <= low <= high <= 1.12376814
    assert float(fixed.epsilon(1e-5)) == pytest.approx(1.3447655, abs=2e-7)
    assert "contour" in sampled.theorem
