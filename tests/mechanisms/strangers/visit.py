"""Everything that is asked of a mechanism, asked of five that came as files: run in a copy of the package that has them."""

from __future__ import annotations

import json
import math
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.special import expit, gammaln, ndtri, xlogy

import dpcore
from dpcore import parse, specs
from dpcore.app.mechanisms import MechanismView, noise_spec
from dpcore.audit import audit
from dpcore.audit.simulate import simulate
from dpcore.audit.threshold import pair_of
from dpcore.calibration import calibrate
from dpcore.calibration.answers import Question, answers
from dpcore.calibration.requirements import Advantage
from dpcore.calibration.sentences import verdict, words
from dpcore.charts.noise import noise_table
from dpcore.cli import main
from dpcore.core.effort import effort
from dpcore.ledger import Ledger, total
from dpcore.site.reference.names import name_pages

NAMES = ("capped_gaussian", "gumbel", "logistic", "poisson_count", "skew_laplace")


def masses(sigma: float, cap: int, move: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the answers and their probabilities without and with the person, summed directly."""
    n = np.arange(-cap, cap + move + 1)
    weights = [np.where(np.abs(n - m) <= cap, np.exp(-((n - m) ** 2) / (2 * sigma**2)), 0.0) for m in (0, move)]
    return n, *(w / w.sum() for w in weights)


def direct_delta(p: np.ndarray, q: np.ndarray, epsilon: float) -> float:
    """Return the sum of (q - e^epsilon p)+."""
    return float(np.maximum(q - math.exp(epsilon) * p, 0.0).sum())


def poisson(rate: float, move: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the masses of a Poisson number without the person, and moved up or down by 1."""
    n = np.arange(0, int(rate + 60 * math.sqrt(rate) + 100))
    mass = np.exp(xlogy(n, rate) - rate - gammaln(n + 1))
    both = np.append(mass, 0.0), np.append(0.0, mass)
    return both if move > 0 else both[::-1]


def skew_delta(right: float, left: float, epsilon: float) -> float:
    """Return delta of skew Laplace noise moved up by 1: the answers above the point where the loss is epsilon."""
    if epsilon >= 1 / right:
        return 0.0
    point = (epsilon + 1 / left) / (1 / right + 1 / left)  # between 0 and 1
    moved = 1 - left / (right + left) * math.exp((point - 1) / left)
    return moved - math.exp(epsilon) * right / (right + left) * math.exp(-point / right)


def by_fourier(loss: np.ndarray, q: np.ndarray, lost: float, k: int, epsilon: float) -> tuple[float, float, float]:
    """Return delta of k copies three times, by FFT of the masses under P1 on a grid of losses.

    Losses are rounded down and up, which bounds it, and split between both neighbours, which keeps the mean and is off by the
    square of the step.
    """
    size = 2**20
    step = 16 * math.sqrt(k * float(q @ loss**2)) / (size // 2)  # sixteen standard deviations either side
    down = np.floor(loss / step)
    share = loss / step - down
    at = np.arange(size)
    at = np.where(at < size // 2, at, at - size) * step
    gain = np.where(at > epsilon, -np.expm1(np.minimum(epsilon - at, 0.0)), 0.0)
    found = []
    for upper in (0.0, share, 1.0):
        row = np.zeros(size)
        np.add.at(row, down.astype(int) % size, q * (1.0 - upper))
        np.add.at(row, (down.astype(int) + 1) % size, q * upper)
        found.append(1.0 - (1.0 - lost) ** k + float(np.fft.irfft(np.fft.rfft(row) ** k, size) @ gain))
    return found[0], found[1], found[2]


def check_numbers() -> None:
    """Compare deltas, powers, pictures and rates with direct sums and integrals."""
    _, p, q = masses(3.0, 12, 2)
    region = parse("capped_gaussian(3, 12, 2)")
    for epsilon in (0.0, 0.3, 1.0, 2.5):
        assert abs(region.delta(epsilon) - direct_delta(p, q, epsilon)) < 1e-14
    smooth = parse("logistic(2, 3)")
    for epsilon in (0.0, 0.4, 1.2):
        closed = (math.exp(0.75) - math.exp(epsilon / 2)) ** 2 / math.expm1(1.5)
        assert abs(smooth.delta(epsilon) - closed) < 1e-9
    for epsilon in (0.0, 0.3, 1.0, 2.5):  # noise that is not symmetric: the worse direction counts
        worst = max(direct_delta(*poisson(4.0, move), epsilon) for move in (1, -1))
        assert abs(parse("poisson_count(4)").delta(epsilon) - worst) < 1e-13
        worst = max(skew_delta(3.0, 1.0, epsilon), skew_delta(1.0, 3.0, epsilon))
        assert abs(parse("skew_laplace(3, 1)").delta(epsilon) - worst) < 1e-9
    table = noise_table(pair_of(region).at_rate(0.05))  # type: ignore[arg-type]  # a mechanism
    for name, m in (("without you", 0), ("with you", 2)):
        rows = table[table["dataset"] == name]
        n = rows["answer"].to_numpy()
        true = (
            np.where(np.abs(n - m) <= 12, np.exp(-((n - m) ** 2) / 18.0), 0.0)
            / np.exp(-(np.arange(-12, 13.0) ** 2) / 18.0).sum()
        )
        np.testing.assert_allclose(rows["density"], true, rtol=1e-12, atol=1e-300)
    for rate in (0.0, 0.01, 0.3, 1.0):
        test = pair_of(region).at_rate(rate)  # type: ignore[arg-type]  # a mechanism
        order = np.argsort(-(np.log(np.maximum(q, 1e-300)) - np.log(np.maximum(p, 1e-300))), kind="stable")
        spent, found = np.cumsum(p[order]), np.cumsum(q[order])
        best = 1 - np.interp(rate, np.append(0.0, spent), np.append(0.0, found)) if rate else 1 - q[p == 0].sum()
        assert abs(test.alpha - rate) < 1e-12
        assert abs(test.beta - best) < 1e-12, (rate, test.beta, best)
    view = MechanismView(str(region), 0.05, 1e-5)
    assert view.is_best
    assert specs.draw(noise_spec(view)).takeaway


def check_thousand() -> None:
    """Compare a thousand copies with the convolution of their losses on a grid."""
    n, p, q = masses(40.0, 200, 1)
    both = (p > 0) & (q > 0)
    loss = np.log(q[both]) - np.log(p[both])
    x = np.linspace(-1500, 1500, 600_001)
    steps = np.diff(expit((x - 1) / 30))
    middle = (x[1:] + x[:-1]) / 2
    moved = np.log(expit((middle - 1) / 30) * expit((1 - middle) / 30)) - np.log(
        expit(middle / 30) * expit(-middle / 30)
    )
    for text, brute in (
        ("capped_gaussian(40, 200)^1000", by_fourier(loss, q[both], float(q[p == 0].sum()), 1000, 0.5)),
        ("logistic(30)^1000", by_fourier(moved, steps, 0.0, 1000, 0.5)),
    ):
        with effort(tolerance=1e-4):
            lower, upper = (float(side[0]) for side in parse(text).delta_bounds(0.5))
        assert brute[0] - 1e-9 <= upper
        assert lower <= brute[2] + 1e-9
        assert lower * (1 - 1e-5) <= brute[1] <= upper * (1 + 1e-5), (text, lower, brute, upper)
    assert n.size == 402
    with effort(tolerance=1e-3):
        lower, upper = (float(side[0]) for side in parse("poisson_count(4000)^1000").delta_bounds(1.0))
    for move in (1, -1):
        p, q = poisson(4000.0, move)
        both = (p > 0) & (q > 0)
        lost = float(q[p == 0].sum())
        brute = by_fourier(np.log(q[both]) - np.log(p[both]), q[both], lost, 1000, 1.0)
        assert 0.97 * upper <= brute[1] <= upper, (move, lower, brute, upper)
    with effort(tolerance=1e-3):
        lower, upper = (float(side[0]) for side in parse("gumbel(50)^1000").delta_bounds(1.0))
    assert 0.0 < lower <= upper < 0.1
    x = np.linspace(-500.0, 2500.0, 600_001)
    for move in (1.0, -1.0):  # the noise is not symmetric: neither direction may be above the bound
        shifted, middle = (x - move) / 50, (x[1:] + x[:-1]) / 100
        steps, back = np.diff(np.exp(-np.exp(-shifted))), middle - move / 50
        brute = by_fourier((middle - back) + np.exp(-middle) - np.exp(-back), steps, 0.0, 1000, 1.0)
        assert brute[1] <= upper, (move, brute, upper)


def check_uses() -> None:
    """Ask what the commands, the pages and the tables ask."""
    assert dpcore.logistic(2.0).text == "logistic(2)"
    row = calibrate("capped_gaussian(?, 40)^4", advantage=0.2).iloc[0]
    assert 0.199 < parse(row["expression"]).total_variation <= 0.2
    row = calibrate("skew_laplace(?, 2)", epsilon=0.8, delta=1e-3).iloc[
        0
    ]  # above 1/0.8 delta is 0, on either side of 2
    assert 0.99e-3 < skew_delta(row["value"], 2.0, 0.8) <= 1e-3 * (1 + 1e-9)
    row = calibrate("logistic(?)", advantage=0.1).iloc[0]
    assert abs(row["value"] - 1 / (4 * math.atanh(0.1))) < 1e-6
    for text in ("capped_gaussian(3, 12, 2)", "logistic(2)", "gumbel(2)", "poisson_count(4)", "skew_laplace(3, 1)"):
        found = audit(simulate(parse(text), np.random.default_rng(2), 4000, 4000), 0.9999)
        assert np.all(parse(text).curve.beta_bounds(found.limits[0])[0] <= found.limits[1] + 1e-9), text

    question = Question("noise", Advantage(0.1))
    offered = {one.candidate.name: one for one in answers(question)}
    one = offered["logistic"]
    assert not one.trouble
    assert abs((one.error or 0.0) / one.value - 2 * math.atanh(0.95)) < 1e-9
    assert "Logistic noise" in words(question, one)
    assert verdict(question, tuple(offered.values()))
    reach = offered["capped_gaussian"]
    assert not reach.trouble
    assert (reach.error or 0.0) <= math.ceil(-reach.value * ndtri(0.025)) + 1
    with effort(tolerance=1e-3):
        book = Ledger.of(("a", "logistic(20)", 3), ("b", "capped_gaussian(10, 60)", 2), ("c", "laplace(0.1)", 1))
        assert 0 < total(book, 1e-4).upper < 5
    pages = name_pages("reference")
    assert all(any(f"'{name}'" in page.source for page in pages) for name in NAMES)


def check_commands() -> None:
    """Run the commands as somebody types them."""
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "picture.json"
        assert main(["plot", "logistic(2)", "capped_gaussian(3, 12, 2)", "gumbel(2)", "--output", str(picture)]) == 0
        assert json.loads(picture.read_text())
    assert main(["deltas", "logistic(2)^3", "--epsilon", "0,1"]) == 0
    assert main(["risk", "capped_gaussian(3, 12, 2)"]) == 0


for check in (check_numbers, check_thousand, check_uses, check_commands):
    check()
    sys.stderr.write(f"{check.__name__}\n")
