"""The pictures of the disclosure-control lab: Figures 3.2 to 3.5, Table 3.4, and what they leave out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.core.effort import checkpoint
from dpcore.core.numerals import nearest
from dpcore.labs import disclosure as sdc
from dpcore.labs.base import Plot, Regions, series, simulated, together
from dpcore.mechanisms.uniform import Uniform
from dpcore.planner.disclosure import noise, pram
from dpcore.regions.guarantees import TV
from dpcore.words import outward

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.curves.base import FloatArray

BINS: Final = [f"{low + 1}-{low + 5}" for low in sdc.EDGES[:-1]]
METHODS: Final = ("k-PRAM", "k-noise")
_MADE_UP = "Made-up ages with the printed bin counts, none below 22 or above 78; the source's data are not published."


def classes() -> Plot:
    """Return the k of Tables 3.2 and 3.3 by each column and by both, claimed and counted."""
    one, two = sdc.printed_one(), sdc.printed_two()
    questions = {
        "Table 3.2, age": (one, [sdc.AGE]),
        "Table 3.3, age": (two, [sdc.AGE]),
        "Table 3.3, amount": (two, [sdc.AMOUNT]),
        "Table 3.3, both": (two, [sdc.AGE, sdc.AMOUNT]),
    }
    sizes = {name: sdc.anonymity(table, columns) for name, (table, columns) in questions.items()}
    frame = together(
        series("claimed", list(sizes), [float(sdc.CLAIMED_K)] * len(sizes), kind="printed", mark="bar"),
        series("counted", list(sizes), list(sizes.values()), mark="bar"),
    )
    both = sizes["Table 3.3, both"]
    says = (
        f"Each column alone has classes of {sdc.CLAIMED_K}, but someone who knows age and amount finds classes as small as {both}: "
        f"the printed 3-anonymity for both is {both}-anonymity."
    )
    return Plot(
        "Table 3.3 is not 3-anonymous",
        says,
        frame,
        "table and what the attacker knows",
        "records in the smallest class, k",
        notes=("Amount 120.00 is printed in the group 51-100, where it does not belong.",),
    )


def counts_after(view: str, data: FloatArray, halfwidth: float) -> Plot:
    """Return Figure 3.2 (k-PRAM, which leaves the bins as they are) or 3.3 (k-noise)."""
    before = series("before, and after k-PRAM (printed)", BINS, sdc.COUNTS, kind="printed", mark="bar")
    if view == "figure_3_2":
        says = (
            f"k-PRAM draws anew inside each bin, so all {sum(sdc.COUNTS)} records stay in theirs. The last two bins hold "
            f"{sdc.COUNTS[-2]} and {sdc.COUNTS[-1]}: there k is {sdc.COUNTS[-1]}."
        )
        return Plot("Ages after k-PRAM", says, before, "age", "records", notes=(_BIN_NOTE,))
    expected = sdc.expected_bins(data, halfwidth)
    frame = together(
        before,
        series("after k-noise (printed, one draw)", BINS, sdc.NOISY_COUNTS, kind="printed", mark="bar"),
        series("after k-noise, expected", BINS, expected, mark="bar"),
    )
    off = float(np.abs(np.array(sdc.NOISY_COUNTS) - expected).max())
    says = (
        f"With noise in [-{nearest(halfwidth)}, {nearest(halfwidth)}] the expected counts smooth the histogram; the printed draw, of noise "
        f"in [-2.5, 2.5], is at most {outward(off, 3)} records away in a bin. The last bin still holds about {expected[-1]:.1f} records."
    )
    return Plot("Ages after k-noise", says, frame, "age", "records", notes=(_MADE_UP, _BIN_NOTE))


_BIN_NOTE = "Bins of five years from 19 to 79: twelve; the text's interval [24, 79] holds eleven."


def scatter(data: FloatArray, width: float, halfwidth: float, rng: Generator) -> Plot:
    """Return Figure 3.4: released against true age under both methods."""
    released = {"k-PRAM": noise.k_pram(data, rng, width, sdc.EDGES[0]), "k-noise": noise.k_noise(data, rng, halfwidth)}
    parts = [series(name, data, y, kind="simulation", mark="point") for name, y in released.items()]
    parts.append(series("no change", [data.min(), data.max()], [data.min(), data.max()]))
    far = {name: float(np.abs(y - data).max()) for name, y in released.items()}
    says = (
        f"k-PRAM shows boxes: an age moves by up to {nearest(far['k-PRAM'], 3)} years, but never out of its bin of {nearest(width)}. "
        f"k-noise shows a band: it never moves by more than {nearest(halfwidth)} (here {nearest(far['k-noise'], 3)})."
    )
    return Plot("Released against true age", says, together(*parts), "true age", "age", notes=(_MADE_UP,))


def groups(data: FloatArray, halfwidth: float) -> Plot:
    """Return Figure 3.5: the expected number of noisy ages within 2.5 years of each record."""
    order = np.sort(data)
    expected = noise.expected_near(order, data, halfwidth, 2.5)
    frame = together(
        series("noisy records within 2.5 years, expected", order, expected),
        series("records strictly within 2.5 years", order, noise.near(order, data, 2.5).astype(float)),
    )
    says = (
        f"On average a record has {expected.mean():.1f} noisy records within 2.5 years (printed for noise of 2.5: {nearest(sdc.PRINTED_GROUP)}), but "
        f"the oldest has {expected[-1]:.2f}: an average protects nobody at the edge."
    )
    return Plot(
        "Expected group size",
        says,
        frame,
        "true age",
        "records",
        reference={"printed mean": sdc.PRINTED_GROUP},
        notes=(_MADE_UP,),
    )


def bound(data: FloatArray, halfwidth: float) -> Plot:
    """Return how far the expected group stays above the half that Theorem 3.5.1 promises."""
    radius = 2.0 * halfwidth
    points = np.linspace(data.min(), data.max(), 400)
    here = noise.near(points, data, radius)
    occupied = here > 0
    ratio = noise.expected_near(points[occupied], data, halfwidth, radius) / here[occupied]
    least = noise.smallest_group(data, radius)
    says = (
        f"The expected number of noisy records within {nearest(radius)} years is at least {outward(float(ratio.min()), 3, up=False)} of "
        f"the true number at the ages drawn; the theorem promises more than one half. The k it starts from is {least} here."
    )
    return Plot(
        "Theorem 3.5.1 on the ages",
        says,
        series("expected over true number", points[occupied], ratio),
        "age",
        "share of the group that remains",
        reference={"promised, more than": 0.5},
        notes=(_MADE_UP, "The printed '= k/2' in the theorem should be 'at least k/2'."),
    )


def table(data: FloatArray, width: float, halfwidth: float, rng: Generator, replications: int) -> Plot:
    """Return Table 3.4: bias and mean squared error as printed, exact on the made-up ages, and simulated."""
    exact = {
        "k-PRAM": noise.k_pram_moments(data, width, sdc.EDGES[0]),
        "k-noise": noise.k_noise_moments(len(data), halfwidth),
    }
    draws = simulations(data, width, halfwidth, rng, replications)
    labels = [f"{method}, {what}" for method in METHODS for what in ("bias", "MSE", "RMSE")]
    printed = [value for method in METHODS for value in sdc.PRINTED[method]]
    truth = [value for method in METHODS for value in (exact[method].bias, exact[method].mse, exact[method].rmse)]
    means = np.concatenate([draws[method].mean(axis=0) for method in METHODS])
    spread = np.concatenate([draws[method].std(axis=0, ddof=1) for method in METHODS]) / math.sqrt(replications)
    frame = together(
        series("printed for 5 and 2.5, one draw", labels, printed, kind="printed", mark="bar"),
        series("exact on the made-up ages", labels, truth, mark="bar"),
        simulated("simulated", labels, means, spread, mark="bar"),
    )
    errors = [math.sqrt(each) for each in (25 / 6 / 659, 25 / 12 / 659)]
    says = (
        f"Both printed biases, {printed[0]:.3f} and {printed[3]:.3f}, are below one standard error "
        f"({errors[0]:.3f} and {errors[1]:.3f}): they do not say which method has less bias. With bins of {nearest(width)} and noise of "
        f"{nearest(halfwidth)} the errors are {exact['k-PRAM'].mse:.3f} and {exact['k-noise'].mse:.3f} exactly."
    )
    return Plot(
        "Bias and error of k-PRAM and k-noise",
        says,
        frame,
        "method and measure",
        "years, or years squared",
        notes=(_MADE_UP, f"Bars of the simulation reach two standard errors over {replications} draws."),
    )


def simulations(
    data: FloatArray, width: float, halfwidth: float, rng: Generator, replications: int
) -> dict[str, FloatArray]:
    """Return bias, MSE and RMSE of many releases of either method: one row a release."""
    rows: dict[str, list[tuple[float, float, float]]] = {method: [] for method in METHODS}
    for i in range(replications):
        if i % 100 == 0:
            checkpoint(i / replications)
        rows["k-PRAM"].append(sdc.simulated(data, noise.k_pram(data, rng, width, sdc.EDGES[0])))
        rows["k-noise"].append(sdc.simulated(data, noise.k_noise(data, rng, halfwidth)))
    return {method: np.array(errors) for method, errors in rows.items()}


def widths() -> Plot:
    """Return the mean squared error of both methods against the width of the interval an age is spread over."""
    w = np.linspace(1.0, 20.0, 39)
    frame = together(series("k-PRAM, w²/6", w, w * w / 6), series("k-noise with a = w/2, w²/12", w, w * w / 12))
    says = (
        "k-noise has half the error of k-PRAM at every width: the release varies over the same width, but around the record "
        "instead of the middle of a bin. At w = 5 the errors are 4.167 and 2.083."
    )
    return Plot(
        "Error against width",
        says,
        frame,
        "width of the interval, w years",
        "mean squared error",
        notes=("For k-PRAM: ages uniform in their bins.",),
    )


def regions(keep: float, halfwidth: float, shift: float) -> Regions:
    """Return what one released value reveals: k-noise, PRAM and k-PRAM."""
    k_noise = Uniform(halfwidth, shift)
    shapes = {
        f"k-noise, age moved by {nearest(shift)}": k_noise,
        f"PRAM, kept with {nearest(keep)}": pram(keep).region(),
        "k-PRAM, age in another bin": TV(1.0),
    }
    share = float(np.ravel(k_noise.delta_bounds(0.0)[1])[0])
    says = (
        f"k-noise of half-width {nearest(halfwidth)} is exactly (0, {nearest(share, 4)})-private for an age moved by {nearest(shift)}: a straight line, "
        f"and no privacy from {nearest(2 * halfwidth)} years on. PRAM is {_loss(keep)}; k-PRAM tells the bin with certainty."
    )
    return Regions("What one released value reveals", says, shapes, notes=("Within a bin k-PRAM tells nothing.",))


def _loss(keep: float) -> str:
    """Return the local epsilon of PRAM in words."""
    epsilon = pram(keep).epsilon
    if math.isinf(epsilon):
        return "no protection"
    return f"randomized response with ε at most {outward(epsilon, 4)}"
