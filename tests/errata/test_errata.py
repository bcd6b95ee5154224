"""The errata: every row is complete, every false statement is refuted, and the refuting numbers hold by a second route."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING

import mpmath
import numpy as np
import pytest

from dpcore import parse
from dpcore.core.errors import DomainError
from dpcore.labs import errata, mixed_noise_checks, time_series
from dpcore.labs.errata import statistics_series, statistics_utility, thesis
from dpcore.labs.errata.claims import PrintedClaim
from dpcore.labs.errata.moments import absolute_moment
from dpcore.labs.errata.rows import EVIDENCE, Row
from dpcore.utility.spread import spread_delta

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS = errata.rows()
FALSE = errata.rows(kind=errata.FALSE)


def true(name: str, at: int = 0) -> float:
    """Return the true number of one claim of a piece of evidence."""
    return EVIDENCE[name]().claims[at].true


# ---- all rows ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", FALSE, ids=lambda row: row.name)
def test_a_false_statement_is_refuted(row: Row) -> None:
    """Every number listed against it contradicts it; were the statement true, the two numbers would agree."""
    assert row.fails.endswith(".")
    made = row.computed()
    assert made is not None
    against = [claim for claim in made.claims if claim.says != "beside"]
    assert against
    assert [claim for claim in against if not claim.refuted] == []
    assert made.text.endswith(".")


def test_rows_are_complete() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)
    assert {row.name_of_evidence for row in ROWS} - {""} == set(EVIDENCE)
    assert {row.source for row in ROWS} == {source.name for source in errata.sources()}
    for row in ROWS:
        assert row.place
        assert row.printed
        assert row.corrected
        assert row.why.endswith(".")
        assert row.printed.count("$") % 2 == row.corrected.count("$") % 2 == 0
        assert row.printed != row.corrected


def test_every_row_gives_evidence_without_nan() -> None:
    for row in ROWS:
        text, frame = row.evidence()
        assert text.startswith(row.why)
        assert (frame is None) == (not row.name_of_evidence)
        assert frame is None or not frame.isna().any().any()


def test_all_items_of_the_first_lists_are_here() -> None:
    """47 items of the four shorter sources less the withdrawn one, and what was added."""
    short = [row for row in ROWS if row.source != "statistics"]
    assert sum(not row.added for row in short) == 46
    assert sum(len(errata.rows(kind=kind)) for kind in errata.KINDS) == len(ROWS)
    assert len(errata.rows(source="statistics")) >= 60


def test_the_table_has_one_line_per_row() -> None:
    table = errata.table()
    assert table["name"].tolist() == [row.name for row in ROWS]
    assert not table.isna().any().any()


def test_wrong_rows_are_refused() -> None:
    with pytest.raises(DomainError, match="must be one of false, misprint, reading, note, got 'wrong'"):
        Row("x", "thesis", "p", "a", "b", "wrong", "w")
    with pytest.raises(DomainError, match="calls a statement false and names no evidence"):
        Row("x", "thesis", "p", "a", "b", "false", "w")
    with pytest.raises(DomainError, match="must say where the statement fails if and only if it is false, got ''"):
        Row("x", "thesis", "p", "a", "b", "false", "w", "group_privacy")
    with pytest.raises(DomainError, match="must say where the statement fails if and only if it is false, got 'ε > 1'"):
        Row("x", "thesis", "p", "a", "b", "note", "w", fails="ε > 1")
    with pytest.raises(DomainError, match="no evidence 'nothing'"):
        Row("x", "thesis", "p", "a", "b", "note", "w", "nothing")
    with pytest.raises(DomainError, match="needs two numbers, got nan"):
        PrintedClaim("x", math.nan, 1.0)
    with pytest.raises(DomainError, match="says must be one of"):
        PrintedClaim("x", 1.0, 1.0, "less")


@pytest.mark.parametrize(
    ("claim", "refuted"),
    [
        (PrintedClaim("a true bound", 0.5, 0.4, "at most"), False),
        (PrintedClaim("a false bound", 0.5, 0.6, "at most"), True),
        (PrintedClaim("equal", 0.3, 0.3), False),
        (PrintedClaim("equal up to rounding", 0.1 + 0.2, 0.3), False),
        (PrintedClaim("different", 0.3, 0.4), True),
        (PrintedClaim("a true lower bound", 0.5, 0.6, "at least"), False),
        (PrintedClaim("a false lower bound", 0.5, 0.4, "at least"), True),
        (PrintedClaim("no claim", 0.5, 0.4, "beside"), False),
        (PrintedClaim("unbounded", math.inf, 1.0), True),
        (PrintedClaim("an upper bound refutes no upper bound", 0.5, 1.6, "at most", "upper"), False),
        (PrintedClaim("an upper bound refutes no equality from above", 0.5, 1.6, "=", "upper"), False),
        (PrintedClaim("an upper bound refutes a lower bound", 0.5, 0.4, "at least", "upper"), True),
        (PrintedClaim("a lower bound refutes no lower bound", 0.5, 0.4, "at least", "lower"), False),
        (PrintedClaim("a lower bound refutes an upper bound", 0.5, 0.6, "at most", "lower"), True),
    ],
)
def test_a_true_statement_is_not_refuted(claim: PrintedClaim, refuted: bool) -> None:
    assert claim.refuted is refuted


# ---- numbers by a second route -------------------------------------------------------------------------------


def gaussian_delta(mu: float, epsilon: float) -> float:
    with mpmath.workdps(40):
        phi = mpmath.ncdf
        return float(phi(mu / 2 - epsilon / mu) - mpmath.e**epsilon * phi(-mu / 2 - epsilon / mu))


def test_gaussian_deltas_in_high_precision() -> None:
    for at, (epsilon, delta) in enumerate(((10, 1e-5), (5, 0.3))):
        mu = epsilon / math.sqrt(2 * math.log(1.25 / delta))
        assert true("gaussian_any_epsilon", at) == pytest.approx(gaussian_delta(mu, epsilon), rel=1e-10)
    assert true("mixed_noise") == pytest.approx(gaussian_delta(1 / math.sqrt(2), 1), rel=1e-10)
    assert true("mixed_noise") == pytest.approx(0.0396326, abs=1e-7)
    assert true("variance_for_many_queries") == pytest.approx(0.7827, abs=1e-4)
    assert true("delta_of_two_answers") == pytest.approx(5.889e-5, abs=1e-8)


def test_the_total_variation_of_three_by_enumeration() -> None:
    """All 27 outcomes of three mechanisms with losses +1, 0, -1."""
    alpha = 1 - 0.3 * (1 + math.e) / (math.e - 1)
    p = np.array([(1 - alpha) * math.e / (1 + math.e), alpha, (1 - alpha) / (1 + math.e)])
    total = sum(max(0.0, np.prod(p[list(s)]) - np.prod(p[[2 - i for i in s]])) for s in product(range(3), repeat=3))
    assert true("variation_theorem") == pytest.approx(total, rel=1e-12)
    assert thesis._printed_total_variation(1.0, 0.3, 3, power_of_l=False) == pytest.approx(-0.1214, abs=1e-4)


def test_a_group_of_two_by_an_explicit_mechanism() -> None:
    """The three yes-or-no mechanisms keep (2, 0.01) step by step."""
    yes = [0.0, 0.01, 0.01 * (1 + math.exp(2))]
    for a, b in ((0, 1), (1, 0), (1, 2), (2, 1)):
        for p, q in ((yes[a], yes[b]), (1 - yes[a], 1 - yes[b])):
            assert p <= math.exp(2) * q + 0.01 + 1e-15
    assert yes[2] - math.exp(4) * yes[0] == pytest.approx(true("group_privacy"), rel=1e-12)


def test_the_noisy_variance_by_simulation() -> None:
    rng = np.random.default_rng(7)
    n, epsilon, runs = 50, 2.0, 20_000
    x = (np.arange(n) + 0.5) / n
    found = (x + rng.laplace(0, 1 / epsilon, (runs, n))).var(axis=1, ddof=1)
    squares = (found - x.var(ddof=1)) ** 2
    _, closed = statistics_utility._variance_formulas(n, epsilon)
    assert abs(squares.mean() - closed) < 4 * squares.std() / math.sqrt(runs)


def test_the_fourth_moment_by_simulation() -> None:
    rng = np.random.default_rng(8)
    z = rng.laplace(0, 1, (200_000, 5))
    fourth = (z[:, 0] - z.mean(axis=1)) ** 4
    assert abs(fourth.mean() - true("fourth_moment")) < 4 * fourth.std() / math.sqrt(len(fourth))


def test_variances_of_the_candidates_by_simulation() -> None:
    rng = np.random.default_rng(9)
    runs = 400_000
    blur = 2 * (0.5 * rng.uniform(1, 2, runs) + 0.5 * 0.5) * rng.laplace(0, 1, runs)
    assert abs(np.mean(blur**2) - true("variance_of_candidate_2")) < 4 * np.std(blur**2) / math.sqrt(runs)
    plain = 2 * rng.laplace(0, 1, runs)
    assert abs(np.mean(plain**2) - true("variance_of_candidate_1")) < 4 * np.std(plain**2) / math.sqrt(runs)


def test_sums_of_laplace_by_numerical_integration() -> None:
    x = np.linspace(-60, 61, 400_001)
    density = (1 + np.abs(x)) * np.exp(-np.abs(x)) / 4
    shifted = (1 + np.abs(x - 1)) * np.exp(-np.abs(x - 1)) / 4
    step = x[1] - x[0]
    assert float(density.sum() * step) == pytest.approx(1, abs=1e-6)
    assert float(np.abs(density - shifted).sum() * step / 2) == pytest.approx(true("more_noise_helps"), abs=1e-6)
    largest = float(np.abs(np.log(density / shifted)).max())
    assert true("sum_of_two_laplace") == pytest.approx(1 - math.log(2), abs=1e-3)
    assert 0.98 < largest < true("sum_of_two_laplace", 1) == 1


def test_dilations_by_trying_sets() -> None:
    """The worst set is a pair of tails; no other threshold asks for more."""
    beta = 10 / (2 * math.log(20))
    edges = np.linspace(0, 20, 20_001)
    gaps = np.exp(-edges) - math.exp(5) * np.exp(-math.exp(beta) * edges)
    assert true("dilation_beyond_one") == pytest.approx(gaps.max(), abs=1e-6)
    assert true("dilation_of_the_normal") == pytest.approx(1.2208e-5, rel=1e-3)


def test_concentration_wins_below_the_crossing() -> None:
    """The crossing at which the text puts 0.448."""
    log = math.log(1e5)
    crossing = (2 * math.sqrt(log + math.log(1.25)) - math.sqrt(log)) ** 2 - log
    assert crossing == pytest.approx(0.448429, abs=1e-6)
    for epsilon, wins in ((0.44, True), (0.46, False)):
        concentrated = (math.sqrt(2 * log) + math.sqrt(2 * log + 2 * epsilon)) ** 2 / (4 * epsilon**2)
        assert (concentrated < 2 * math.log(1.25e5) / epsilon**2) is wins


def test_the_curves_of_chapter_six() -> None:
    assert statistics_series._later_epsilon(0.0, 1) == pytest.approx(1.571445, abs=1e-6)
    assert statistics_series._later_epsilon(0.0, 2) == pytest.approx(1.747475, abs=1e-6)
    assert statistics_series._later_epsilon(1.0, 2) == pytest.approx(1.571445, abs=1e-6)


def test_the_weight_of_the_box_keeps_the_promise() -> None:
    """By the law of the rows, drawn: 50 normal squares, and the same widened by 1 + 2 / w."""
    row = next(row for row in ROWS if row.name == "weight-of-the-box")
    made = row.computed()
    assert made is not None
    assert row.kind == errata.READING
    assert not any(claim.refuted for claim in made.claims)
    assert made.claims[0].true < 1e-100
    assert "w = 86.4 is enough" in made.text
    rng, excess = np.random.default_rng(13), 2 / 30.0
    total = rng.chisquare(50, 400_000) * (1 + excess)
    loss = total / 2 * (1 - 1 / (1 + excess)) - 25 * math.log1p(excess)
    gains = np.maximum(0.0, -np.expm1(0.5 - loss))
    assert spread_delta(50, excess, 0.5) == pytest.approx(
        float(gains.mean()), abs=4 * float(gains.std()) / math.sqrt(gains.size)
    )


def test_ranges_of_failure_by_bisection() -> None:
    """The edges that the rows name: classical noise, two groups, the mended conditions, one block."""

    def edge(excess: Callable[[float], float], low: float, high: float) -> float:
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (low, middle) if excess(middle) > 0 else (middle, high)
        return high

    fails = {row.name: row.fails for row in FALSE}
    for delta, said in ((1e-5, "8.42"), (0.1, "5.74"), (0.3, "4.97")):
        shift = math.sqrt(2 * math.log(1.25 / delta))
        at = edge(lambda e, s=shift, d=delta: gaussian_delta(e / s, e) - d, 0.5, 20.0)
        assert f"{at:.2f}" == said
        assert said in fails["gaussian-every-epsilon"]
    assert "1.490" in fails["group-privacy"]
    assert f"{math.log(2 * math.e - 1):.3f}" == "1.490"
    for delta, said in ((0.1, "35.9"), (1e-5, "59.0")):

        def late(e: float, d: float = delta) -> float:
            variance = max(4 / e**2 * math.log(math.e + e / d), 1 / (4 * e))
            return gaussian_delta(1 / math.sqrt(variance), e) - d

        assert f"{edge(late, 20.0, 80.0):.1f}" == said
        assert said in fails["variance-for-many-queries"]
    one = edge(lambda e: -math.expm1((e - e / 2 * math.exp(0.9)) / 2) - math.exp(e / 2 - e / 1.8), 2.0, 20.0)
    assert f"{one:.2f}" == "8.50"
    assert "8.50" in fails["spurious-delta"]
    assert f"{math.sqrt(2) / (0.5 - 0.025 - 0.0693):.2f}" == "3.49"
    assert "3.49" in fails["mean-of-block-medians"]
    assert f"{4 * math.log(2) / 15:.3f}" == "0.185"
    assert "0.185" in fails["median-bound"]


def test_notes_refute_nothing() -> None:
    for row in errata.rows(kind=errata.NOTE):
        made = row.computed()
        assert made is None or not any(claim.refuted for claim in made.claims), row.name


def test_quotations_close() -> None:
    """What is quoted stands between quotation marks or dollar signs; each row quotes something."""
    for row in ROWS:
        assert row.printed.count("“") == row.printed.count("”"), row.name
        assert "“" in row.printed or "$" in row.printed, row.name


def test_the_lower_bound_of_the_course_is_true() -> None:
    """The sharper bound, from the variance of the likelihood ratio, is above the printed one for every epsilon."""
    for epsilon in (0.001, 0.05, 0.2, 0.5):
        assert 1 / (4 * math.sinh(epsilon / 2) ** 2) >= 1 / (68 * epsilon**2)


def test_active_constraint_by_its_condition() -> None:
    limit = 1 - 0.95 * math.sqrt(1 - math.tanh(0.3))
    assert 0.2 < limit < 0.2003
    for second, active in ((limit - 1e-4, True), (limit + 1e-4, False)):
        assert (1 - (1 - second) ** 2 < parse("dp(0.6, 0.05)^2").total_variation) is active


def test_the_median_bound_holds_when_mended() -> None:
    """Exhaustive over small datasets: the corrected bound is never below the probability."""
    for data in product((1, 2, 3), repeat=4):
        signs = np.abs([sum(np.sign(c - x) for x in data) for c in (1, 2, 3)])
        weights = np.exp(-signs / 4.0)
        position = np.array([sum(x < c for x in data) + sum(x == c for x in data) / 2 for c in (1, 2, 3)])
        assert (2 * np.abs(position - 2) == signs).all()
        for t in (0.5, 1.0, 1.5, 2.0):
            chance = weights[np.abs(position - 2) >= t].sum() / weights.sum()
            best = int((signs == signs.min()).sum())
            assert chance <= 3 / best * math.exp(-(2 * t - signs.min()) / 4) + 1e-12


# ---- what was found in a second reading ----------------------------------------------------------------------


def test_moments_by_their_closed_forms() -> None:
    for scale in (0.5, 1.0, 2.0):
        laplace = f"laplace(scale={scale!r}, sensitivity=1)"
        assert [absolute_moment(laplace, k, scale) for k in (0, 1, 2, 4)] == pytest.approx(
            [1, scale, 2 * scale**2, 24 * scale**4], rel=1e-11
        )
    assert absolute_moment("gaussian(1.5)", 1, 1.5) == pytest.approx(1.5 * math.sqrt(2 / math.pi), rel=1e-11)
    assert absolute_moment("gaussian(1.5)", 2, 1.5) == pytest.approx(2.25, rel=1e-11)


def test_randomized_response_is_private_between_two_thresholds() -> None:
    """The corrected condition, at every hundredth: (ln 3, 0.1)."""
    for p in np.arange(0.01, 1.0, 0.01).tolist():
        delta = parse(f"pmf([{1 - p!r}, {p!r}], [{p!r}, {1 - p!r}])").delta(math.log(3))
        assert (delta <= 0.1 + 1e-12) is bool(0.225 - 1e-12 <= p <= 3.1 / 4 + 1e-12), p
    assert true("response_both_ways") == 1.0


def test_a_product_of_independent_variables_has_the_printed_variance() -> None:
    """The formula is right where both are independent: all nine pairs of values."""
    x, y = np.array([0.0, 1.0, 5.0]), np.array([-2.0, 1.0, 2.0])
    formula = x.var() * y.var() + x.var() * y.mean() ** 2 + y.var() * x.mean() ** 2
    assert np.multiply.outer(x, y).var() == pytest.approx(formula, rel=1e-12)


def test_variances_transfer_for_convex_functions() -> None:
    theta = np.linspace(-3, 3, 601)
    gradients = np.array([theta - 1, theta + 1])
    mean = ((theta - 1) ** 2 + (theta + 1) ** 2) / 4
    noise = (gradients**2).mean(axis=0)[np.argmin(mean)]
    assert ((gradients**2).mean(axis=0) <= 4 * (mean - mean.min()) + 2 * noise + 1e-12).all()
    assert true("variance_transfer") == 1.0


def test_uneven_samples_by_counting() -> None:
    """The chance of the course's median, summed in whole numbers."""
    n = 1001
    for at, t in enumerate((1.0, 1.36)):
        least = math.ceil(n / 2 + t * math.sqrt(n))
        chance = 2 * sum(math.comb(n, s) for s in range(least, n + 1)) / 2**n
        assert f"{chance:.4f}" in EVIDENCE["only_when"]().text
        assert chance < 0.05, at


def test_empty_histograms_by_simulation() -> None:
    rng = np.random.default_rng(10)
    counts = np.zeros(10)
    counts[0] = 1
    empty = (counts + rng.laplace(0, 20, (400_000, 10)) <= 0).all(axis=1)
    assert abs(empty.mean() - true("histogram_of_nothing")) < 4 * empty.std() / math.sqrt(len(empty))


def test_the_loss_at_a_negative_answer_from_the_densities() -> None:
    with mpmath.workdps(30):
        loss = float(mpmath.log(mpmath.npdf(-1, 0, 1) / mpmath.npdf(-1, 1, 1)))
    assert true("sign_of_the_answer") == pytest.approx(loss, rel=1e-12)


def test_a_pdf_below_delta_everywhere_still_tells_all() -> None:
    assert true("densities_are_no_probabilities") == pytest.approx(gaussian_delta(10, 1), rel=1e-10)


def test_parts_of_the_staircase_add_up() -> None:
    """The corrected areas of Appendix F give the total variation of the mechanism."""
    claim = EVIDENCE["area_of_a_step"]().claims[1]
    height = (1 - math.exp(-1)) / (2 * (0.25 + math.exp(-1) * 0.75))
    assert height * (math.exp(-1) + 0.5 * (1 - math.exp(-1))) == pytest.approx(claim.true, rel=1e-12)


def test_a_group_of_two_is_attained_by_a_path_of_three() -> None:
    """The path of the guide for dp(1, 0.1): distribution functions id, g, g of g, the best tests on [0, a]."""
    region, group = parse("dp(1, 0.1)"), parse("group(dp(1, 0.1), 2)")
    a = np.linspace(0, 1, 201)
    once = 1 - region.beta(a)
    twice = 1 - region.beta(once)
    slopes = np.diff(twice) / np.diff(once).clip(1e-15)
    rising = np.diff(once) > 1e-12
    assert (np.diff(slopes[rising]) <= 1e-9).all(), "the likelihood ratio falls, so these are the best tests"
    assert group.beta(a) == pytest.approx(1 - twice, abs=1e-12)


# ---- what was judged again -----------------------------------------------------------------------------------


def test_weighted_noise_by_integration() -> None:
    """The exact δ of b = 0.4 at ε = 10, beside which the printed bound (5.10) asks for b ≥ 0.504."""
    epsilon, b = 10, mpmath.mpf("0.4")
    with mpmath.workdps(30):
        edge = 2 * b / (epsilon * (1 - b)) * (epsilon - mpmath.log(b))
        gap = mpmath.quad(
            lambda x: epsilon / 4 * (mpmath.exp(-x * epsilon / 2) - mpmath.exp(epsilon - x * epsilon / (2 * b)) / b),
            [edge, edge + 1, edge + 5, 60],
        )
    assert f"an exact δ of {float(2 * gap):.3g}" in EVIDENCE["weights_that_help"]().text
    least = math.exp(-1 / (1 + 2 / 10 * math.log(1 / 0.1)))
    assert f"{least:.3f}" == "0.504"
    row = next(row for row in ROWS if row.name == "weights-that-help")
    assert "0.504" in row.why
    assert "b\\ge0.153" in row.corrected
    for weight, kept in ((0.153, True), (0.152, False)):
        assert ((1 - weight) * weight ** (weight / (1 - weight)) * math.exp(-10 * weight / (1 - weight)) < 0.1) is kept


def test_blocks_answer_the_middle_of_the_range() -> None:
    """Whatever the data are; tried on data of all shapes."""
    rng = np.random.default_rng(14)
    for m in (3, 10, 20):
        for power in (0.1, 1.0, 8.0):
            x = rng.random(300) ** power
            parts = [x[(x >= i / m) & (x < (i + 1) / m)] for i in range(m)]
            centre = np.mean([np.median(part) if len(part) else (i + 0.5) / m for i, part in enumerate(parts)])
            assert abs(centre - 0.5) <= 1 / (2 * m)
    assert true("mean_of_block_medians") == pytest.approx((47.5 - 10 * math.log(2)) ** 2, rel=1e-3)


def test_rows_and_labs_compute_the_same_numbers() -> None:
    """By different code: the figure of chapter 6, the ages of the R code, the table of coverages."""
    for rho, at in ((-1.0, 0), (0.0, 1)):
        series = time_series.pair(((0.5, 0.1), (0.0, 0.5)), rho)
        assert true("figure_below_one_again", at) == pytest.approx(series.printed_last(), rel=1e-12)
    assert true("sensitivity_of_the_ages") == pytest.approx(110**2 / 659, rel=1e-12)
    cells = mixed_noise_checks.table(1000, np.random.default_rng(0))
    far = sum(abs(mixed_noise_checks.surprise(cell, cell.at_99)) > 4 for cell in cells)
    kept = sum(abs(mixed_noise_checks.surprise(cell, cell.at_95)) <= 4 for cell in cells)
    row = next(row for row in ROWS if row.name == "table-of-coverage")
    assert f"{far} of the {len(cells)} cells" in row.fails
    assert f"{kept} of the {len(cells)} numbers fit a 95 % interval" in row.corrected
    exponential, pareto = sorted((cell for cell in cells if cell.outlier), key=lambda cell: cell.family)
    assert abs(mixed_noise_checks.surprise(exponential, exponential.at_99)) < 2
    assert pareto.at_99.value**1000 < 1e-6, "the chance of 1000 of 1000"


def test_the_inequality_of_densities_fails_below_its_edge() -> None:
    """Lemma 5.3.3 at ε = 1, δ = 0.01: the largest excess on a fine grid, just below (5.15)."""

    def excess(sigma: float) -> float:
        k = 2 * math.sqrt(2) * sigma**3 / (math.sqrt(math.pi) * 0.01)
        shift = math.sqrt(k + 2 * sigma**2) - math.sqrt(k)
        z = np.linspace(-12 * sigma, 3 * sigma, 200_001)
        here, there = (
            np.exp(-((z - m) ** 2) / (2 * sigma**2)) / (sigma * math.sqrt(2 * math.pi)) for m in (0.0, shift)
        )
        return float(np.max(here - math.e * there))

    assert excess(0.0450) > 0.01 > excess(0.0457)
    assert "below 0.045" in next(row for row in ROWS if row.name == "lemma-of-mixed-noise").fails
