"""The transform of Laplace noise on samples against high precision, its decay, and products by two engines."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from dpcore.core.effort import effort
from dpcore.curves.composed import Certified
from dpcore.curves.laplace import LaplaceCurve
from dpcore.curves.subsampled import SampledLaplace, Subsampled, subsampled
from dpcore.engine.contour import Contour
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


@pytest.mark.parametrize(
    ("eps0", "q"), [PAIRS[0], *(pytest.param(*pair, marks=pytest.mark.long) for pair in PAIRS[1:])]
)
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


def test_few_copies_still_reach_the_tolerance_on_the_lattice() -> None:
    """The sums of atoms alone weigh so much that no line is tall enough: the contour leaves the bracket to the lattice."""
    product = Certified([(subsampled(LaplaceCurve(1.0), 0.1), 5)])
    epsilon = np.array([0.1, 0.3])
    low, high = product.delta_bounds(epsilon)
    assert (high - low <= 1e-6 * high).all()


@pytest.mark.parametrize(("eps0", "q", "k"), [(0.25, 0.1, 100), (1.0, 0.1, 30), (0.5, 0.02, 60)])
def test_without_the_sums_of_atoms_the_contour_agrees_with_the_lattice(eps0: float, q: float, k: int) -> None:
    """So few copies do not fade: the sums of atoms alone are a finite sum, and the contour has the rest."""
    forward = Certified([(subsampled(LaplaceCurve(eps0), q), k)])
    scale = eps0 * q * np.sqrt(k)
    epsilon = scale * np.array([0.05, 0.8, 2.0])
    closure = Certified([(parse(f"subsample(laplace({eps0}), {q})").pair, k)])
    for product in (forward, forward.inverse(), closure):
        engine = Contour(product.parts, 1e-6)
        lines = [engine._line(bucket, 0) for bucket, _ in engine._assign(epsilon, 4.0, engine._line_cache())]
        assert any(line is not None and line.without_atoms for line in lines)
        low, high = engine.delta_bounds(epsilon)
        below, above = Sandwich(product.parts).delta_bounds(epsilon, 1e-6)
        assert (high - low <= 1e-6 * high).all()
        assert (np.maximum(low, below) <= np.minimum(high, above) * (1 + 1e-12)).all()


@pytest.mark.parametrize(("eps0", "q"), PAIRS)
def test_atoms_and_density_apart(eps0: float, q: float) -> None:
    rng = np.random.default_rng(3)
    for law in (SampledLaplaceLoss(eps0, q), ClosedSampledLaplaceLoss(eps0, q)):
        scale = 1.0 / (law.high - law.low)
        for c in (-3.0, 0.0, 5.0):
            whole = law.log_mgf(np.array([complex(c)]))[0].real
            for y in (0.5 * scale, 3.0 * scale, 10.0 * scale, 30.0 * scale):
                split = law.split_decay(c, y)
                assert split is not None
                s = c + 1j * (y + 30.0 * scale * rng.random(60) ** 3)
                s = s[law.nodes(s) <= 1024]  # of the tallest the transform is unknown
                if not s.size:
                    continue
                density = np.exp(law.log_mgf(s) - whole) - np.exp(law.log_atoms(s) - whole)
                assert np.abs(density).max() <= split[1] + 1e-11
                assert split[0] == pytest.approx(
                    np.exp(law.log_atoms(np.array([complex(c)]))[0].real - whole), rel=1e-9
                )


def test_the_bound_of_the_density_is_close_where_it_is_attained() -> None:
    """A nearly even density: the bound is the height of the first arc of sin(x)/x, which the next arcs do not reach."""
    law = SampledLaplaceLoss(0.01, 0.3)
    y = np.pi / (law.high - law.low)
    split = law.split_decay(0.0, y)
    assert split is not None
    s = np.array([1j * y])
    density = abs(np.exp(law.log_mgf(s)) - np.exp(law.log_atoms(s)))[0]
    assert density <= split[1] <= 1.02 * density


def test_a_line_by_products_of_exponentials() -> None:
    law = SampledLaplaceLoss(1.0, 0.1)
    line = 3.0 + 1j * 2.5 * np.arange(100)
    by_product, one_by_one = law.log_mgf(line), law._one_by_one(line)
    assert np.abs(np.exp(by_product) - np.exp(one_by_one)).max() <= 1e-13
    both = law.log_mgf(np.stack((line, line + 1.0)))
    assert np.array_equal(both[0], by_product)
    mirrored = law.log_mgf(line.conj())
    assert np.abs(np.exp(mirrored) - np.exp(one_by_one).conj()).max() <= 1e-13


def test_an_exponent_too_far_out_is_refused() -> None:
    law = SampledLaplaceLoss(5.0, 0.5)
    with pytest.raises(TallError, match="too many nodes"):
        law.log_mgf(np.array([1j * 1e9]))
    assert np.isnan(law.cumulants(np.array([1e12]))[0]).all()
    assert law.log_decay(1e12, 1.0) == 0.0


# ---- the symmetric closure -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("eps0", "q"),
    [(1.0, 0.01), (0.1, 0.1), *(pytest.param(*pair, marks=pytest.mark.long) for pair in [(6.0, 0.01), (3.0, 0.9)])],
)
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
