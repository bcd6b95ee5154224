"""The checker's methods against each other, against closed forms and against mpmath: they share no formula."""

from __future__ import annotations

import ast
import itertools
import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest
from flint import arb, ctx

import dpcore_verify
from dpcore_verify import contour, cut, sums
from dpcore_verify.claims import compositions
from dpcore_verify.contour import Line
from dpcore_verify.cut import Cut
from dpcore_verify.expression import Unproved, read
from dpcore_verify.halves import halves
from dpcore_verify.regions import Composition, region
from dpcore_verify.sampled import Sampled


@pytest.fixture(autouse=True)
def _precision():
    before = ctx.prec
    ctx.prec = 200
    yield
    ctx.prec = before


def composition(text: str, *, backward: bool = False) -> Composition:
    (leaf,) = compositions(region(read(text)))
    return leaf.reversed() if backward else leaf


def line(c: str, window: str, nodes: int, above: str, below: str) -> Line:
    return Line(Fraction(c), Fraction(window), nodes, Fraction(above), Fraction(below))


def agree(low: arb, high: arb, value: arb, width: float) -> None:
    assert low <= value.upper()
    assert high >= value.lower()
    assert high - low <= width * value


def test_shares_no_code_with_dpcore():
    folder = Path(dpcore_verify.__file__).parent
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(name.split(".")[0] in {"dpcore", "numpy", "scipy", "pandas"} for name in names), path
    code = (
        "import sys, dpcore_verify; print([m for m in sys.modules if m.split('.')[0] in ('dpcore', 'numpy', 'scipy')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("epsilon", ["-0.7", "0", "1.2", "1.8", "2.9", "3"])
def test_binomial_sum_halves_and_brute_force(epsilon):
    pair, at = composition("dp(0.6, 0.05)^5"), Fraction(epsilon)
    values = [method(pair, at) for method in (sums.binomial, sums.closed, halves)]
    high = 1 / (1 + math.exp(-0.6))
    truth = 1 - 0.95**5
    for signs in itertools.product((1, -1), repeat=5):
        mass = 0.95**5 * math.prod(high if sign > 0 else 1 - high for sign in signs)
        truth += mass * max(0.0, 1 - math.exp(float(at) - 0.6 * sum(signs)))
    for value in values:
        assert abs(float(value) - truth) < 1e-14
        assert value.rad() < 1e-40


def trinomial(k: int, low: mpmath.mpf, middle: mpmath.mpf, high: mpmath.mpf) -> list[tuple[int, mpmath.mpf]]:
    """Return the sum of k signs 1, 0 and -1, each with its mass."""
    masses = {0: mpmath.mpf(1)}
    for _ in range(k):
        fresh: dict[int, mpmath.mpf] = {}
        for place, mass in masses.items():
            for step, share in ((-1, low), (0, middle), (1, high)):
                fresh[place + step] = fresh.get(place + step, mpmath.mpf(0)) + mass * share
        masses = fresh
    return list(masses.items())


@pytest.mark.parametrize("epsilon", ["0.3", "4.25", "8"])
def test_halves_of_a_mixed_ledger(epsilon):
    """Three different laws with copies, whose losses have no common lattice, against sums of 60 digits."""
    text, at = "dp(0.31, 0.001)^20 * dp(0.0517)^15 * rr(0.7, 3)^4", Fraction(epsilon)
    value = halves(composition(text), at)
    with mpmath.workdps(60):
        e = [mpmath.mpf(x) / 10**4 for x in (3100, 517, 7000)]
        first, second = (
            trinomial(k, 1 / (1 + mpmath.exp(x)), 0, 1 / (1 + mpmath.exp(-x))) for k, x in ((20, e[0]), (15, e[1]))
        )
        total = mpmath.exp(e[2]) + 2
        third = trinomial(4, 1 / total, 1 / total, mpmath.exp(e[2]) / total)
        kept = (1 - mpmath.mpf(1) / 1000) ** 20
        truth, goal = 1 - kept, mpmath.mpf(epsilon)
        for a, p in first:
            for c, r in third:
                truth += kept * mpmath.fsum(
                    p * q * r * (1 - mpmath.exp(goal - loss))
                    for b, q in second
                    if (loss := a * e[0] + b * e[1] + c * e[2]) > goal
                )
        assert abs(mpmath.mpf(value.mid().str(50, radius=False)) - truth) < mpmath.mpf(10) ** -30
    assert value.rad() < 1e-40


def test_residues_are_the_integral_of_the_density():
    # one Laplace step in closed form, and two by mpmath
    for epsilon in ("0", "0.3", "0.99"):
        value = sums.residues(composition("laplace(1)"), Fraction(epsilon))
        assert abs(float(value) - (1 - math.exp((float(epsilon) - 1) / 2))) < 1e-15
    e, t = 1.0, 0.5
    one = lambda x: max(0.0, 1 - math.exp((x - e) / 2)) if x > -e else 1 - math.exp(x)
    density = lambda u: math.exp((u - e) / 2) / 4
    with mpmath.workdps(20):
        middle = mpmath.quad(lambda u: density(float(u)) * one(t - float(u)), [-1, -0.5, 0.5, 1])
    truth = 0.5 * one(t - e) + 0.5 * math.exp(-e) * one(t + e) + float(middle)
    assert abs(float(sums.residues(composition("laplace(1)^2"), Fraction("0.5"))) - truth) < 1e-12


def test_line_and_residues_agree():
    ctx.prec = 700
    pair = composition("laplace(1)^120")
    exact = sums.residues(pair, Fraction(50))
    found = contour.on_line(pair, Fraction(50), line("0.7", "150", 400, "2", "0"))
    agree(found.low, found.high, exact, 1e-8)


def test_lattice_and_sum_agree():
    pair = composition("dptv(0.1, 0.001, 0.03)^300 * dp(0.2)^10")
    exact = sums.closed(pair, Fraction("3.1"))
    found = contour.on_lattice(pair, Fraction("3.1"), line("3", "300", 60, "8", "0"))
    agree(found.low, found.high, exact, 1e-9)


def test_line_and_closed_form_agree_on_a_gaussian_with_atoms():
    pair = composition("gaussian(2) * dp(0.3, 0.01)^6")
    exact = sums.closed(pair, Fraction(1))
    found = contour.on_line(pair, Fraction(1), line("2", "40", 200, "5", "0"))
    agree(found.low, found.high, exact, 1e-12)


@pytest.mark.parametrize(("forward", "y"), [(True, 0.0), (True, 7.5), (False, 0.0), (False, 11.0), (True, 60.0)])
def test_transform_of_a_sampled_gaussian(forward, y):
    sigma, q, c = 0.9, 0.07, 2.5
    law = Sampled(arb("0.9"), arb("0.07"), forward)
    value = law.line(arb("2.5"), arb(y), 1)[1] if y else law.line(arb("2.5"), arb(1), 0)[0]
    with mpmath.workdps(30):
        s = mpmath.mpc(c, y)
        ratio = lambda x: (
            1 - mpmath.mpf("0.07") + mpmath.mpf("0.07") * mpmath.exp((2 * x - 1) / (2 * mpmath.mpf("0.9") ** 2))
        )
        power = s + 1 if forward else -s
        integrand = lambda x: mpmath.npdf(x, 0, mpmath.mpf("0.9")) * ratio(x) ** power
        truth = mpmath.quad(integrand, mpmath.linspace(-12, 16, 57))
    assert abs(complex(value) - complex(truth)) < 1e-15
    assert value.rad() < 1e-40
    assert sigma * q > 0


def test_bounds_of_the_transform_hold_up_the_line():
    ctx.prec = 80
    for law in (
        Sampled(arb(1), arb("0.01")),
        Sampled(arb(1), arb("0.01"), forward=False),
        Sampled(arb("0.5"), arb("0.2")),
    ):
        tilt = law.tilt(arb(3))
        scale, power = tilt.tail(arb(1))
        assert power == 1
        for y in (0.5, 3.0, 20.0, 90.0, 300.0, 1000.0):
            true = abs(law.line(arb(3), arb(y), 1)[1]) / law.real(arb(3))
            for high in (y * 1.001, y * 1.2):
                assert tilt.bound(arb(y), arb(high)) >= true
            assert scale / y >= true
            assert tilt.at(arb(y)) >= true
    for text in ("laplace(0.7)", "dptv(0.6, 0.1, 0.2)", "geometric(1, 3)"):
        ((law, _),) = composition(text).parts
        tilt = law.tilt(arb(2))
        for y in (0.1, 1.0, 2.0, 5.0, 30.0):
            true = abs(law.line(arb(2), arb(y), 1)[1]) / law.real(arb(2))
            assert tilt.bound(arb(y), arb(y) * 1.05) >= true
            assert tilt.tail(arb(y))[0] >= true


@pytest.mark.parametrize(("forward", "y"), [(True, 0.0), (True, 7.5), (False, 11.0), (True, 400.0), (False, 400.0)])
def test_transform_of_cut_losses(forward, y):
    law = Cut(arb("0.9"), arb("0.07"), forward, arb(0), arb("1.3"))
    value = law.line(arb("2.5"), arb(y), 1)[1] if y else law.line(arb("2.5"), arb(1), 0)[0]
    with mpmath.workdps(30):
        s, sigma, q = mpmath.mpc(2.5, y), mpmath.mpf("0.9"), mpmath.mpf("0.07")
        ratio = lambda x: 1 - q + q * mpmath.exp((2 * x - 1) / (2 * sigma**2))
        integrand = lambda x: mpmath.npdf(x, 0, sigma) * ratio(x) ** (s + 1 if forward else -s)
        truth = mpmath.quad(integrand, mpmath.linspace(-12, mpmath.mpf("1.3"), 60))
    assert abs(complex(value) - complex(truth)) < 1e-15
    assert value.rad() < 1e-15
    tilt = law.tilt(arb("2.5"))
    true = abs(value) / law.real(arb("2.5"))
    for high in (y * 1.001 + 0.01, y * 1.2 + 0.02):
        assert tilt.bound(arb(y + 0.001), arb(high)) >= true - arb("0.001")
    assert tilt.tail(arb(1))[0] >= true * y
    assert tilt.at(arb(y)) >= true


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("text", ["poisson_gaussian(1, 0.05)^30", "poisson_gaussian(1, 0.05)^20 * dp(0.1, 0.001)^3"])
def test_cut_and_line_agree(text, backward):
    """Beyond the cut the losses decide whatever the others are; the plain line knows nothing of that."""
    pair, epsilon = composition(text, backward=backward), Fraction("0.2")
    plain = contour.on_line(pair, epsilon, line("3", "14", 60, "5", "0.5"))
    parts = cut.on_cut(pair, epsilon, line("3", "10", 60, "6", "0.5"))
    assert plain.low <= parts.high
    assert parts.low <= plain.high
    assert parts.high - parts.low < 2e-6
    assert plain.high - plain.low < 3e-5


@pytest.mark.parametrize("text", ["poisson_gaussian(1, 0.01)^10", "poisson_gaussian(1, 0.01)^2 * dp(0.1, 0.001)"])
def test_cut_where_epsilon_is_above_all_losses(text):
    """Backward no loss is larger than -log(1-q): what is left is the mass at infinity, without any line."""
    pair = composition(text, backward=True)
    found = cut.on_cut(pair, Fraction(800), line("3", "10", 8, "6", "0.5"))
    assert found.low.overlaps(pair.lost)
    assert found.high - found.low < 1e-15


def test_cut_of_a_loss_beyond_doubles():
    """e^800 is no double, and the place with this loss is one; so is that of 10^30, and far too far."""
    law = Sampled(arb(1), arb("0.01"))
    assert law.ratio(cut._cut(law, arb(800)).end).log() >= 800
    with pytest.raises(Unproved, match="more than 100000 panels"):
        cut._cut(law, arb(10) ** 30).real(arb(2))
    with pytest.raises(Unproved, match="No place was found"):
        cut._cut(law, arb("inf"))


def test_sampled_step_in_closed_form_and_its_reverse():
    forward, backward = composition("poisson_gaussian(1, 0.1)"), composition("poisson_gaussian(1, 0.1)", backward=True)
    for epsilon in ("0", "0.05"):
        assert sums.closed(forward, Fraction(epsilon)) >= sums.closed(backward, Fraction(epsilon)).lower()
    # below 0 both directions are tied to those above: delta(-e) = 1 - e^-e (1 - delta of the reverse)
    left = sums.closed(forward, Fraction("-0.05"))
    right = 1 - (-arb(1) / 20).exp() * (1 - sums.closed(backward, Fraction("0.05")))
    assert left.overlaps(right)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("dp(1) & gdp(1)", "intersection"),
        ("bounded_laplace(1, 0, 1, 1)", "bounded_laplace"),
        ("subsample(dp(1), 0.5)^3", "subsample inside a composition"),
        ("dp(inf)", "finite"),
        ("dp(1", "lacks|ends"),
        ("dp(1)^0", "exponent"),
        ("pmf([0.5,0.5],[0.4,0.6]) * poisson_gaussian(1, 0.5)", "orientation"),
    ],
)
def test_says_what_it_does_not_know(text, reason):
    with pytest.raises(Unproved, match=reason):
        region(read(text))
