"""The proved rounding bound of the transform of noise with random moves, against many digits, and the hypotheses it rests on."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

from dpcore import parse
from dpcore.curves.gaussian import GaussianCurve
from dpcore.engine import contour_product, mixture_mgf, mixture_rounding
from dpcore.engine.mixture_rounding import LIBRARY
from dpcore.engine.normal_jumps import Jumps

FUNCTIONS = {
    "exp": (-700.0, 700.0),
    "expm1": (-40.0, 700.0),
    "log": (1e-300, 1e300),
    "log1p": (-0.999, 1e3),
    "sin": (-1e6, 1e6),
    "cos": (-1e6, 1e6),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_library_functions_keep_the_accuracy_that_the_bound_assumes(name: str) -> None:
    """The hypothesis of every proof: two units in the last place. A platform on which this fails has no proved bounds."""
    low, high = FUNCTIONS[name]
    rng = np.random.default_rng(5)
    wide = rng.uniform(low, high, 1500)
    near = rng.choice([-1.0, 1.0], 1500) * 10.0 ** rng.uniform(-12, 1, 1500)
    x = np.concatenate((wide, near[(near > low) & (near < high)]))
    got = getattr(np, name)(x)
    with mp.workdps(40):
        truth = [getattr(mp, name)(mp.mpf(v)) for v in x.tolist()]
        errors = [abs(mp.mpf(g) / t - 1) * 2**53 for g, t in zip(got.tolist(), truth, strict=True) if t != 0]
    assert max(errors) <= LIBRARY


def test_the_argument_of_a_complex_number_too() -> None:
    a, b = np.random.default_rng(6).normal(size=(2, 2000)) * 10.0 ** np.random.default_rng(7).uniform(-9, 9, (2, 2000))
    got = np.arctan2(a, b)
    with mp.workdps(40):
        errors = [
            abs(mp.mpf(g) / mp.atan2(mp.mpf(x), mp.mpf(y)) - 1) * 2**53
            for g, x, y in zip(got.tolist(), a.tolist(), b.tolist(), strict=True)
        ]
    assert max(errors) <= LIBRARY


def truths(law: Jumps, c: float, places: list[float]) -> list[mp.mpc]:
    """Return M(c + iy) / M(c) on a path of half the height in steps of a sixteenth of it, and M(c), in forty digits."""
    height = mp.mpf(mixture_mgf._height(law, c)) / 2
    step, (low, high) = height / 16, mixture_mgf._ends(law, c)
    moves = [(mp.mpf(m), mp.mpf(p)) for m, p in zip(law.moves, law.shares, strict=True)]
    rest = 1 - mp.fsum(p for _, p in moves)
    nodes = [n * step + 1j * height for n in range(int((low - 3) / step), int((high + 3) / step))]
    logs = [mp.log(rest + mp.fsum(p * mp.exp(m * x - m * m / 2) for m, p in moves)) for x in nodes]
    tilted = [mp.exp(-x * x / 2 + (mp.mpf(c) + 1) * log) for x, log in zip(nodes, logs, strict=True)]
    scale = step / mp.sqrt(2 * mp.pi)
    return [
        scale * mp.fsum(w * mp.exp(1j * mp.mpf(y) * log) for w, log in zip(tilted, logs, strict=True)) for y in places
    ]


def worst_share(law: Jumps, c: float, y: np.ndarray, at: list[int]) -> float:
    """Return the largest error at some of the points over its bound."""
    s = (c + 1j * y)[None]
    got = mixture_mgf.log_mgf(s, law)[0]
    units = mixture_mgf.rounding(s, law)[0]
    with mp.workdps(40):
        total, *values = truths(law, c, [0.0, *(float(y[i]) for i in at)])
        worst = 0.0
        for i, truth in zip(at, values, strict=True):
            error = abs(mp.exp(mp.mpc(got[i])) - truth) / abs(total) * 2**53
            allowed = units[i] + 4 * abs(complex(got[i])) * math.exp(got[i].real - got[0].real)
            worst = max(worst, float(error) / float(allowed))
    return worst


CASES = [
    (1.0, 0.01, 7.4, 30.0),
    (1.0, 0.01, 25.0, 3.0),
    (0.5, 0.001, -300.0, 500.0),
    (2.0, 0.02, -6.0, 40.0),
    (0.5, 0.3, 0.4, 2000.0),
    # nearly everybody is sampled: as differences of numbers near 1 these ratios were off by 10^5 units and more
    (4.0, 0.999, -0.5, 8.0),
    (4.0, 0.999, -1.5, 8.0),
    (2.0, 0.99999, -1.5, 8.0),
    (4.0, 1.0 - 1e-9, -0.5, 4.0),
]


@pytest.mark.parametrize(
    ("mu", "q", "c", "top"), [*CASES[:5], *(pytest.param(*case, marks=pytest.mark.long) for case in CASES[5:])]
)
def test_the_error_in_many_digits_is_below_the_proved_bound(mu: float, q: float, c: float, top: float) -> None:
    y = np.arange(60) * (top / 59)
    assert worst_share(Jumps.single(mu, q), c, y, [0, 1, 9, 31, 59]) <= 1.0


@pytest.mark.parametrize("seed", range(12))
def test_random_laws_and_lines_too(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mu = float(10.0 ** rng.uniform(-1.3, 0.7))
    q = float(rng.choice([10.0 ** rng.uniform(-4, -0.3), 1.0 - 10.0 ** rng.uniform(-7, -0.3)]))
    law = Jumps.single(mu, q)
    first, last = mixture_mgf._range(law)
    c = float(rng.uniform(max(first, -8.0), min(last, 8.0)))
    y = np.arange(40) * float(10.0 ** rng.uniform(-2, 1.5))
    assert worst_share(law, c, y, [0, 1, 17, 39]) <= 1.0


@pytest.mark.parametrize("c", [-1.4, 0.6, 3.0])
def test_several_moves_too(c: float) -> None:
    shares = (0.3, 0.05, 0.01)
    law = Jumps((0.4, 1.1, 2.0), shares, 1.0 - math.fsum(shares))
    assert worst_share(law, c, np.arange(30) * 0.7, [0, 1, 13, 29]) <= 1.0


def test_the_bound_is_not_met_by_a_library_a_thousand_times_less_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison can fail: with functions right to 2^-41 only, errors exceed the bound."""
    exact = np.exp
    monkeypatch.setattr(mixture_mgf, "_turned", lambda size, angle: exact(size + 1j * angle) * (1 + 2.0**-41))
    mixture_mgf._lines.cache_clear()
    assert worst_share(Jumps.single(1.0, 0.013), 2.0, np.arange(30) * 0.5, [1, 13, 29]) > 1.0
    mixture_mgf._lines.cache_clear()


@pytest.mark.parametrize("y", [1e3, 1e7, 1e12])
def test_the_bound_is_finite_and_never_more_than_the_trivial_one(y: float) -> None:
    law = Jumps.single(0.7, 0.2)
    units = mixture_mgf.rounding((0.3 + 1j * np.linspace(0.0, y, 32))[None], law)
    assert np.all(units * mixture_rounding.UNIT <= 4.0)
    assert np.all(units >= mixture_mgf.rounding((0.3 + 1j * np.linspace(0.0, 1.0, 32))[None], law))


AXIS = [
    (1.0, 0.01, 9.0),
    (4.0, 0.999, -3.0),
    (3.0, 0.5, -7.0),
    (0.2, 0.3, 60.0),
    (0.05, 1e-3, -900.0),
    (2.8, 0.4, -8.0),
]


@pytest.mark.parametrize(("mu", "q", "c"), AXIS)
def test_the_table_of_saddle_points_is_as_exact_as_is_proved(mu: float, q: float, c: float) -> None:
    """The coarser rule on the real axis, on which Chernoff's bound rests."""
    law = Jumps.single(mu, q)
    first, last = mixture_mgf._range(law)
    at = np.array([min(max(c, first), last)])
    got, units = float(mixture_mgf.cumulants(at, law)[0][0]), float(mixture_mgf.cumulant_rounding(at, law)[0])
    with mp.workdps(40):
        truth = mp.log(mp.re(truths(law, float(at[0]), [0.0])[0]))
        assert abs(truth - got) <= (units + abs(got)) * mixture_rounding.UNIT


@pytest.mark.parametrize("mu", [1e-4, 0.01, 0.3, 1.0, 4.0, 9.0])
@pytest.mark.parametrize("q", [1e-6, 1e-2, 0.5, 0.999])
def test_the_error_of_the_table_grows_at_most_with_the_exponent(mu: float, q: float) -> None:
    """`TransformProduct.table_error` leaves it to the margin of a hundredth as long as this is small enough."""
    law = Jumps.single(mu, q)
    first, last = (max(-1e5, min(1e5, end)) for end in mixture_mgf._range(law))
    c = np.concatenate((np.linspace(first, last, 100), [0.01, -0.5, -1.01]))
    value, units = mixture_mgf.cumulants(c, law)[0], mixture_mgf.cumulant_rounding(c, law)
    assert np.nanmax((units + 4.0 * np.abs(value)) / (2.0 + np.abs(c))) <= contour_product._UNITS


@pytest.mark.parametrize(("sigma", "q", "k"), [(0.25, 1.0 - 1e-9, 3), (0.5, 1.0 - 1e-7, 5), (1.0, 1.0 - 1e-6, 30)])
@pytest.mark.parametrize("epsilon", [0.5, 4.0, 12.0])
def test_a_sample_of_nearly_everybody_is_nearly_the_noise_itself(
    sigma: float, q: float, k: int, epsilon: float
) -> None:
    """As ((1-q) P0 + q P1)^k is at least q^k P1^k, delta lies between q^k delta_G(epsilon - k log q) and delta_G(epsilon)."""
    noise = GaussianCurve(math.sqrt(k) / sigma)
    most = float(noise.delta_bounds(np.array([epsilon]))[1][0])
    least = q**k * float(noise.delta_bounds(np.array([epsilon - k * math.log(q)]))[0][0])
    pair = parse(f"poisson_gaussian({sigma}, {q!r})^{k}").pair
    low, high = (float(side[0]) for side in pair.delta_bounds(np.array([epsilon])))
    assert least * (1 - 1e-12) <= high
    assert low <= most * (1 + 1e-12)
    assert high - low <= 1e-9 * high
    back_low, back_high = (float(side[0]) for side in pair.inverse().delta_bounds(np.array([epsilon])))
    assert 0.0 <= back_low <= back_high
    assert back_low <= high
    assert high - back_low <= 1e-3 * high + 2 * k * (1 - q) * math.exp(epsilon)


@pytest.mark.parametrize(("mu", "q", "c", "y"), [(2.0, 0.4, -6.0, 2.0), (1.0, 0.02, 3.0, 60.0), (1.2, 0.3, 0.5, 9.0)])
def test_the_bound_of_the_decay_is_the_integral_of_its_path(mu: float, q: float, c: float, y: float) -> None:
    """The highest path in forty digits: four times as many nodes, and three more deviations, change less than is allowed for."""
    law = Jumps.single(mu, q)
    steep = c < -1.0
    unit = min(1.0, 1.0 / mu, math.sqrt(2.0 / mixture_mgf._bend(law, c)) if steep else 1.0)
    height = mp.mpf(float((mixture_mgf._HEIGHTS[: mixture_mgf._STEEP] if steep else mixture_mgf._HEIGHTS)[-1]) * unit)
    step = mixture_mgf._FINE * unit if steep else mixture_mgf._step(mixture_mgf._height(law, -1.0))
    low, high = mixture_mgf._ends(law, c)

    def integral(spacing: float, room: float, up: mp.mpf, fade: float) -> mp.mpf:
        places = range(math.floor((low - room) / spacing), math.ceil((high + room) / spacing) + 1)
        logs = ((n * mp.mpf(spacing), mp.mpc(n * mp.mpf(spacing), up)) for n in places)
        terms = ((x, mp.log(1 - mp.mpf(q) + mp.mpf(q) * mp.exp(mu * z - mp.mpf(mu) ** 2 / 2))) for x, z in logs)
        total = mp.fsum(mp.exp((up**2 - x * x) / 2 + (c + 1) * log.real - fade * log.imag) for x, log in terms)
        return total * mp.mpf(spacing) / mp.sqrt(2 * mp.pi)

    with mp.workdps(40):
        whole = integral(step / 4, 3.0, mp.mpf(0), 0.0)
        missed = integral(step / 4, 3.0, height, y) - integral(step, 0.0, height, y)
        assert abs(missed) <= mixture_mgf._LOST * whole
        bound = mixture_mgf.log_decay(c, y, law)
        assert abs(truths(law, c, [y])[0]) / whole <= mp.exp(bound)
        assert bound < 0.0
