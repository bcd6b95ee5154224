"""Every closed-form number of the digest that belongs to the labs of noise, intervals and sensitivity, to its last digit.

The digest (sections 2.1, 2.2, 2.4, 2.5, 2.7, 2.9 to 2.12, 2.15 and 2.16) corrects a thesis; its numbers are written here as it
prints them. A number agrees if it lies within half a unit of the last digit printed. The tests of the labs check the same
formulas by second routes and at other places.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from dpcore import parse
from dpcore.labs import bounded_noise as cut
from dpcore.labs import concentrated as con
from dpcore.labs import intervals
from dpcore.labs import mixed_noise as mix
from dpcore.labs import noise_zoo as zoo
from dpcore.labs import sensitivity as plain
from dpcore.labs import sensitivity_smooth as smooth
from dpcore.labs import sensitivity_weighted as weighted
from dpcore.labs.sensitivity_checks import fixed_checks
from dpcore.planner.sensitivity.noise import laplace_worst_delta

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ONE, TEN, AGES = cut.Bounds(0.0, 1.0), cut.Bounds(0.0, 10.0), cut.Bounds(0.0, 110.0)
ELEVEN = (0.05, 0.1, 0.2, 0.3, 0.35, 0.5, 0.55, 0.6, 0.7, 0.8, 0.9)
SKEWED = (100.0, 1.0, 2.0, 3.0, 4.0, 5.0)
Rows = list[tuple[str, str, "Callable[[], float]"]]


def half_unit(text: str) -> float:
    """Return half a unit of the last digit of a printed number: 0.0005 for 2312.574, 5e-14 for 2.6359e-9."""
    digits, _, power = text.partition("e")
    return 0.5 * 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))


def each(section: str, what: str, texts: str, function: Callable[..., float], *places: tuple[object, ...]) -> Rows:
    """Return one row for every printed number: the function at each place."""
    return [
        (f"{section} {what} {place}", text, lambda place=place: float(function(*place)))  # type: ignore[misc]
        for text, place in zip(texts.split(), places, strict=True)
    ]


def at(values: str) -> Iterator[tuple[float]]:
    """Return the places of a function of one number."""
    return ((float(value),) for value in values.split())


def noises() -> Rows:
    """Sections 2.2, 2.4 and 2.7."""
    one, two, wide = parse("laplace(1)"), parse("laplace_sum(1)"), parse("laplace(0.5)")
    more, tenth = parse("normal_laplace(1, 2)"), np.linspace(-60.0, 60.0, 24_001)
    peaks = (zoo.Laplace(1 / math.sqrt(4.5)), zoo.Gaussian(3.0))
    return [
        *each("2.2", "total variation of normal laws", "0.38292 0.197413", zoo.normal_total_variation, (1, 1), (1, 2)),
        *each("2.2", "printed total variation", "0.76585", zoo.printed_total_variation, (1, 1)),
        *each("2.4", "trade-off of Laplace", "0.864086 0.728172 0.459849 0.183940", one.beta, *at("0.05 0.1 0.2 0.5")),
        *each("2.7", "delta of Laplace", "0.393469 0.221199 0.117503", one.delta, *at("0 0.5 0.75")),
        *each("2.7", "delta of two Laplace", "0.241837 0.057238 0.004446", two.delta, *at("0 0.5 0.75")),
        *each("2.7", "sensitivity 2, one", "0.632121", parse("laplace(2)").delta, (0.0,)),
        *each("2.7", "sensitivity 2, two", "0.448181", parse("laplace_sum(1, 2)").delta, (0.0,)),
        *each("2.7", "largest log-ratio", "0.98374", lambda: np.abs(zoo.loss(two, tenth, 1.0)).max(), ()),
        *each(
            "2.7", "Figure 4.1", "0.174809 0.150012 0.063113", lambda x: more.density(np.array([x]))[0], *at("0 1 3")
        ),
        *each("2.7", "overlays", "0.235702 0.132981", lambda i: peaks[i].density(np.zeros(1))[0], (0,), (1,)),
        *each("2.7", "normal-Laplace", "0.172519 0.074320", more.delta, *at("0 0.25")),
        *each("2.7", "Laplace of scale 2", "0.221199 0.117503", wide.delta, *at("0 0.25")),
        *each("2.7", "largest loss of normal-Laplace", "0.5", lambda: more.epsilon(0.0), ()),
    ]


def calibrations() -> Rows:
    """Sections 2.5 and 2.16."""
    asked = ((0.1, 1e-5), (0.5, 1e-5), (1.0, 1e-5), (1.0, 0.01), (1.0, 0.05), (10.0, 0.05))
    tight = ((0.1, 1e-5), (0.5, 1e-5), (1.0, 1e-5), (2.0, 1e-5))
    figure = "23.47214 14.26180 9.65663 6.43775 5.05146 3.21888 1.83258"
    total = con.totals(0.1, 1e-6, 100, 1e-4)

    def sigma(e: float, d: float) -> float:
        return math.sqrt(con.classical_variance(e, d))

    def least(e: float, d: float) -> float:
        return math.sqrt(con.exact_variance(e, d))

    def true(e: float, d: float) -> float:
        return float(parse(f"gaussian_classic({e}, {d})").delta(e))

    deltas = tuple((1.0, d) for d in (1e-5, 1e-3, 0.01, 0.05, 0.1, 0.25, 0.5))
    classical = "48.448053 9.689611 4.844805 3.107511 2.537272 0.253727"
    exact = "30.749566 7.031827 3.730632 1.877876 1.332778 0.304367"
    return [
        *each("2.5", "classical sigma", classical, sigma, *asked),
        *each("2.5", "true delta", "2.6359e-9 1.6079e-8 4.1137e-8 1.3644e-4 1.1409e-3 0.21337", true, *asked),
        *each("2.5", "least sigma", exact, least, *asked),
        *each("2.5", "Figure 5.4", figure, con.classical_variance, *deltas),
        *each("2.16", "rho", "0.0208199", con.zcdp_rho, (1.0, 1e-5)),
        *each("2.16", "crossover", "0.448429 0.451566", con.crossover, (1e-5,), (0.01,)),
        *each("2.16", "printed variance", "9230.33 372.403 94.0928 24.0154", con.printed_variance, *tight),
        *each("2.16", "right variance", "2312.574 94.0928 24.0154 6.24646", con.zcdp_variance, *tight),
        *each("2.16", "classical variance", "2347.214 93.8886 23.4721 5.86803", con.classical_variance, *tight),
        *each("2.16", "least variance", "945.536 49.4466 13.9176 3.97529", con.exact_variance, *tight),
        *each("2.16", "sigma of each answer", "52.98803", sigma, (0.1, 1e-6)),
        *each("2.16", "rho of 100", "0.01780797", lambda: 50 / con.classical_variance(0.1, 1e-6), ()),
        *each("2.16", "epsilon of 100", "10.0000 0.827789 0.563548", lambda i: total[i], (0,), (1,), (3,)),
    ]


def mixed() -> Rows:
    """Section 2.11."""
    stars = "0.0026404 0.0070985 0.0159541 0.0396326 0.1145246 0.2279835 0.5296200"
    n, (laplace, normal) = 500, mix.errors(2.0).values()
    powers = ((1 / n,), (1 / (2 * n),), (n**-1.5,), (n**-2.0,))
    return [
        *each("2.11", "delta of the normal branch", stars, mix.branch_delta, *at("0.1 0.25 0.5 1 2 3 5")),
        *each("2.11", "the lemma's sensitivity", "0.00107008", mix.printed_largest_sensitivity, (1, 0.01, 0.001)),
        *each("2.11", "delta there", "0.152205 0.024521", mix.lemma_delta, (1, 0.01, 0.001), (1, 0.01, 0.01)),
        *each("2.11", "mean error", "1.12838", lambda: normal.mean_absolute / laplace.mean_absolute, ()),
        *each("2.11", "median errors", "0.693 0.954", lambda i: (laplace, normal)[i].median_absolute, (0,), (1,)),
        *each("2.11", "level of the ratios", "0.155334 0.140235 0.104766 0.079037", mix.expected_ratio, *powers),
    ]


def bounded() -> Rows:
    """Section 2.12. The delta 0.002636 printed there is that of the pair at the end; `test_bounded_noise` has the worst one."""
    scales = "1.0 1.611560 1.609668 1.431746 18.772741 3.527871 0.697456 0.161156 16.120430"
    asked = (
        (1.0, 1.0, ONE), (1.0, 1.0, TEN), (1.0, 1.0, TEN, 1e-3), (1.0, 1.0, TEN, 0.1), (0.1, 1.0, TEN), (0.5, 1.0, TEN),
        (2.0, 1.0, TEN), (1.0, 0.1, ONE), (1.0, 10.0, AGES),
    )  # fmt: skip
    answers = ((1.0, 1.61156, TEN), (5.0, 1.61156, TEN), (0.0, 1.0, TEN), (10.0, 16.12043, AGES))
    return [
        *each("2.12", "scale", scales, cut.required_scale, *asked),
        *each("2.12", "loss of the uncut scale", "1.489850", cut.largest_loss, (1.0, 1.0, TEN)),
        *each("2.12", "bias", "0.935364 0.000000 0.999546 9.458780", cut.bias, *answers),
        *each("2.12", "mean square", "3.354297 3.259889 1.994552 345.853472", cut.mean_square, *answers),
    ]


def sensitivities() -> Rows:
    """Sections 2.1, 2.9 and 2.10."""
    beta = smooth.laplace_beta
    pairs = ((1.0, 0.01), (0.5, 1e-4))
    remark = next(row for row in fixed_checks() if row.place == "Remark 5.2.10")
    gaussian = smooth.printed_gaussian_beta(0.5, 1e-5)
    boxes = ((1, 0.3), (1, 0.5), (1, 0.7), (5, 0.3), (5, 0.5), (5, 0.7))
    samples = ((1, 0.5), (1, 0.9), (15, 0.45), (15, 0.5), (15, 0.6))
    least = tuple((e, 0.1) for e in (0.5, 1.0, 2.0, 10.0, 15.0))

    def median(b: float) -> float:
        return smooth.smooth_median(ELEVEN, 0.0, 1.0, b)

    def needed(e: float, d: float) -> float:
        return weighted.private_weight(e, d, printed=True)

    return [
        *each("2.1", "dropping a record", "16.1667", plain.leave_one_out, (SKEWED,)),
        *each("2.1", "the printed loop", "3.6333", plain.printed_leave_one_out, (SKEWED,)),
        *each("2.1", "variance of 4 records", "0.25", plain.largest, ("variance", 4, 0.0, 1.0)),
        *each("2.9", "median", "0.576950 0.365913 0.219525 0.150000", median, *at("0.05 0.1 0.2 0.5")),
        *each("2.9", "mean", "0.317076", smooth.smooth_mean, ((0.25, 0.5, 0.5), 0.0, 1.0, 0.05)),
        *each("2.9", "beta", "0.094370", beta, (1.0, 0.01)),
        *each("2.9", "printed bound", "0.013244 1.142e-4", smooth.printed_laplace_delta, *pairs),
        *each("2.9", "exact", "1.10969e-4 2.629e-7", lambda e, d: laplace_worst_delta(e, beta(e, d)), *pairs),
        *each("2.9", "dilation", "1.22e-5", lambda: smooth.dilation(0.25, gaussian, gaussian=True), ()),
        *each("2.9", "Remark 5.2.10", "10.5966 10.5866", lambda name: getattr(remark, name), ("printed",), ("value",)),
        *each("2.10", "admissible for utility", "0.7071", lambda: weighted.useful_weight(0.0, printed=True), ()),
        *each("2.10", "admissible", "0.906703 0.836602 0.738752 0.504247 0.465285", needed, *least),
        *each("2.10", "printed", "0.801438 0.014327 0.150691 0.036145 0.000760", weighted.printed_delta, *samples),
        *each(
            "2.10", "exact", "0.272196 0.091970 0.012657 0.049020 0.0016845 1.1192e-6", weighted.delta, *boxes
        ),
        *each("2.10", "a quarter", "0.25", lambda: weighted.delta(3.0, 0.5) * math.exp(3.0), ()),
    ]  # fmt: skip


def widths() -> Rows:
    """Section 2.15: the deviation of the noise; coverages are simulated in `test_intervals`."""
    places = tuple((0.5, 1e-5, 1.0, n) for n in (50, 100, 500, 1000))
    return each("2.15", "noise", "0.193792 0.096896 0.019379 0.009690", intervals.noise_deviation, *places)


ROWS = [*noises(), *calibrations(), *mixed(), *bounded(), *sensitivities(), *widths()]


@pytest.mark.parametrize(("what", "text", "value"), ROWS, ids=[row[0] for row in ROWS])
def test_to_the_last_digit(what: str, text: str, value: Callable[[], float]) -> None:
    assert abs(value() - float(text)) <= half_unit(text) * (1 + 1e-6), (what, text, value())


def test_half_a_unit_of_the_last_digit() -> None:
    assert [half_unit(text) for text in ("2312.574", "10", "2.6359e-9")] == pytest.approx([5e-4, 0.5, 5e-14])
