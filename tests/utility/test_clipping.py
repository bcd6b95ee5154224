"""Records outside the public bounds: what is claimed is about the records as they came, by closed form and by simulation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.core.errors import DomainError
from dpcore.files.sheet import open_csv
from dpcore.utility import PAIRS, Dataset, closed_table, pair, simulate
from dpcore.utility.bounds import BIAS, LEAK, NOISE, TOTAL, bound_grid, bound_table, parts
from dpcore.utility.noise import CentredNoise, GeometricNoise, LaplaceNoise, NormalNoise
from dpcore.utility.reading import read_numbers
from dpcore.utility.samples import part, sample
from dpcore.utility.shifted import Off, missed, off_mean, off_quantile

WAITING = np.random.default_rng(3).exponential(10.0, 1000)
CLIPPING = [name for name, cls in PAIRS.items() if cls.clips]


def waiting(how: str = "clip", high: float = 10.0, *, whole: bool = False, n: int = 1000) -> Dataset:
    values = np.rint(WAITING[:n]) if whole else WAITING[:n]
    text = "v\n" + "\n".join(repr(float(v)) for v in values) + "\n"
    return read_numbers(open_csv(text.encode()), "v", 0.0, high, how).dataset


def fact(query: Any, data: Dataset, measure: str) -> Any:
    return next(f for f in query.closed_forms(data) if f.measure == measure and f.about == "release")


# ---- the findings --------------------------------------------------------------------------------------------


def test_the_mean_squared_error_is_squared_bias_and_variance() -> None:
    data, query = waiting(), pair("mean_laplace", epsilon=1.0)
    bias = np.clip(WAITING, 0, 10).mean() - WAITING.mean()
    mse = fact(query, data, "mse")
    assert mse.kind == "exact"
    assert mse.value == pytest.approx(bias**2 + 2 * 0.01**2, rel=1e-12)
    assert mse.value > 13
    assert float(query.answer(data)[0]) == pytest.approx(WAITING.mean(), rel=1e-15)
    said = query.sentence(data)
    assert "within 3.75 of the mean of the data in 95 of 100 releases (exact, bias included, rounded up)" in said
    assert "turn the true answer 10.1399 into 6.42222: 389 of 1 000 values are moved to the nearer bound" in said


def test_the_error_against_the_population_too() -> None:
    data, query = waiting(), pair("mean_laplace", epsilon=1.0, accuracy="statistical")
    clipped = np.clip(WAITING, 0, 10)
    mse = (clipped.mean() - WAITING.mean()) ** 2 + 2 * 0.01**2 + clipped.var() / 1000
    assert fact(query, data, "mse").value == pytest.approx(mse, rel=1e-12)
    reach = fact(query, data, "quantile")
    assert reach.kind == "upper"
    _agree(query, waiting(n=50))
    assert abs(clipped.mean() - WAITING.mean()) < reach.value < math.sqrt(mse / 0.05)


def test_bounds_that_leave_the_answer_alone_are_said_to() -> None:
    data, query = waiting(high=20.0), pair("median_exponential", epsilon=1.0)
    assert float(query.answer(data)) == float(query.centre(data))
    said = (
        f"do not change the true answer, {float(query.answer(data)):g}, though {np.sum(WAITING > 20)} of 1 000 values"
    )
    assert said in query.sentence(data)


def test_the_sum_and_the_quantiles_speak_of_the_data() -> None:
    data = waiting()
    total = pair("sum_laplace", epsilon=1.0)
    assert float(total.answer(data)) == pytest.approx(WAITING.sum(), rel=1e-14)
    assert fact(total, data, "quantile").value > 3700
    high = pair("quantile_exponential", epsilon=1.0, level=0.9)
    truth = np.sort(WAITING)[899]
    assert float(high.answer(data)) == truth
    assert fact(high, data, "quantile").value >= truth - 10
    assert fact(high, data, "distance").value >= truth - 10
    assert f"turn the true answer {truth:.6g} into 10:" in high.sentence(data)
    assert "off by at most 13.5 in the units of the data" in high.sentence(data)


@pytest.mark.parametrize("name", ["median_exponential", "quantile_inverse"])
def test_a_median_beyond_the_bounds(name: str) -> None:
    data = Dataset.clipped([1.0, 2.0, 12.0, 14.4, 30.0, 30.0, 31.0], 0.0, 10.0)[0]
    query: Any = pair(name, size=11, epsilon=1.0)
    assert float(query.answer(data)) == 14.0
    assert float(query.centre(data)) == 10.0
    assert query.costs(data)["distance"].tolist() == [14.0 - y for y in range(11)]
    assert fact(query, data, "miss" if name == "quantile_inverse" else "distance").value >= 1.0 - 1e-12


def test_ranks_of_the_ends_are_those_of_the_records() -> None:
    """50 records below the bounds are below the lowest candidate, not at it."""
    data = Dataset.clipped([-5.0] * 50 + [5.0] * 50 + [20.0], 0.0, 10.0)[0]
    query: Any = pair("median_exponential", size=11, epsilon=1.0)
    raw = np.array([-5.0] * 50 + [5.0] * 50 + [20.0])
    true = [abs(np.sum(raw < c) - np.sum(raw > c)) / 2 for c in range(11)]
    assert query.costs(data)["rank"].tolist() == true
    assert query.costs(data.unclipped())["rank"][0] != true[0]


def test_a_count_and_queries_need_no_bounds() -> None:
    for how in ("clip", "drop"):
        data = waiting(how)
        count = pair("count_laplace", at_least=20.0)
        assert float(count.answer(data)) == np.sum(WAITING >= 20) == float(count.centre(data))
        queries = pair("queries_gaussian", k=4)
        assert queries.answer(data).tolist() == [np.sum(c <= WAITING) for c in (2, 4, 6, 8)]
        assert fact(queries, data, "mse").value == fact(queries, data.unclipped(), "mse").value


def test_a_histogram_knows_who_is_in_no_bin() -> None:
    data, query = waiting(), pair("histogram_laplace", epsilon=1.0, bins=5)
    outside = int(np.sum(WAITING > 10))
    assert query.answer(data).sum() == 1000 - outside
    assert query.centre(data).sum() == 1000
    assert fact(query, data, "mse").value == pytest.approx(outside**2 + 5 * 8, rel=1e-12)
    assert (
        f"{outside} of 1 000 values lie outside [0, 10] and are counted in the bin beside the bound"
        in query.sentence(data)
    )


# ---- every query that clips, against a simulation ------------------------------------------------------------


@pytest.mark.parametrize("how", ["clip", "drop"])
@pytest.mark.parametrize("name", CLIPPING)
def test_closed_forms_agree_with_a_simulation(name: str, how: str) -> None:
    data = waiting(how, whole="geometric" in name, n=200, high=8.0)
    others: dict[str, Any] = {"median_exponential": {"size": 17}, "quantile_inverse": {"level": 0.7}}
    others["threshold_cells"] = {"threshold": 20.0}
    _agree(pair(name, epsilon=0.2, **others.get(name, {})), data)


@pytest.mark.parametrize("how", ["clip", "drop"])
@pytest.mark.parametrize("noise", ["laplace", "geometric", "gaussian"])
@pytest.mark.parametrize(
    ("unit", "after"), [("counts", "clip"), ("frequencies", "clip"), ("frequencies", "nothing"), ("counts", "renormalise"),
                        ("frequencies", "renormalise")],
)  # fmt: skip
def test_histograms_of_every_kind(noise: str, unit: str, after: str, how: str) -> None:
    data = waiting(how, n=60, high=30.0, whole=noise == "geometric")
    _agree(pair(f"histogram_{noise}", epsilon=0.3, bins=4, unit=unit, after=after), data)


@pytest.mark.parametrize("accuracy", ["empirical", "statistical"])
def test_means_of_several_columns(accuracy: str) -> None:
    rows = np.random.default_rng(5).exponential([5.0, 2.0], (80, 2))
    data = Dataset.clipped(rows, [0.0, 0.0], [6.0, 3.0])[0]
    assert data.moved > 0
    for name in ("mean_laplace", "mean_gaussian"):
        _agree(pair(name, d=2, epsilon=0.5, accuracy=accuracy), data)


def _agree(query: Any, data: Dataset) -> None:
    """Every exact fact within five standard errors of 40 000 releases, and every bound on its side."""
    assert data.moved > 0
    seen = simulate(query, data, np.random.default_rng(11), 40_000).set_index("measure")
    for known in query.closed_forms(data):
        value, error = seen.loc[known.measure, "simulated"], 5 * seen.loc[known.measure, "standard_error"] + 1e-9
        if known.kind == "exact":
            assert known.value == pytest.approx(value, abs=error), known
        elif known.about == "release":
            assert (known.value >= value - error) if known.kind == "upper" else (known.value <= value + error), known
    assert query.sentence(data)


# ---- the law of bias and noise -------------------------------------------------------------------------------

NOISES: list[CentredNoise] = [
    LaplaceNoise(2.0),
    LaplaceNoise(0.05),
    NormalNoise(1.5),
    GeometricNoise(0.4),
    GeometricNoise(3.0),
]


def numbers(noise: CentredNoise) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return values and weights of the noise: a fine lattice of cells, or its integers."""
    if isinstance(noise, GeometricNoise):
        x = np.arange(-400.0, 401.0)
        return x, np.exp(-noise.rate * np.abs(x)) * np.tanh(noise.rate / 2)
    edges = np.linspace(-60.0, 60.0, 2_400_001) * math.sqrt(noise.variance) / 2
    return (edges[1:] + edges[:-1]) / 2, -np.diff(noise.above(edges))


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: f"{noise.name} {noise.deviation:.3g}")
@pytest.mark.parametrize(
    ("bias", "count"), [(0.0, None), (1.0, None), (-2.5, None), (3.3, 7.0), (0.0, 2.0), (2.0, 2.0)]
)
def test_moments_tails_and_quantiles(noise: CentredNoise, bias: float, count: float | None) -> None:
    x, weight = numbers(noise)
    assert weight.sum() == pytest.approx(1.0, abs=1e-9)
    error = np.abs((x if count is None else np.maximum(x, -count)) + bias)
    part_of = Off(noise, np.array([bias]), None if count is None else np.array([count]))
    near = 1e-9 if isinstance(noise, GeometricNoise) else 2e-4 * math.sqrt(noise.variance)
    assert part_of.absolute == pytest.approx(weight @ error, abs=near)
    assert part_of.squared == pytest.approx(weight @ error**2, abs=near * (1 + abs(bias)) * 4)
    for s in (0.0, 0.4, 1.0, 2.5, 6.0):
        assert missed([part_of], np.array(s)) == pytest.approx(weight[error > s].sum(), abs=3e-4)
    for miss in (0.3, 0.05):
        t = off_quantile([part_of], miss)
        assert float(missed([part_of], np.array(t))) <= miss
        assert t == 0 or float(missed([part_of], np.array(t * (1 - 1e-9)))) > miss
    mean, kind = off_mean([part_of])
    if kind == "exact":
        assert mean == pytest.approx(part_of.absolute, rel=1e-9)
    else:
        assert isinstance(noise, GeometricNoise)
        assert bias != round(bias)
        assert mean >= part_of.absolute


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([LaplaceNoise(1.0), NormalNoise(2.0), GeometricNoise(0.7)]),
    st.lists(st.floats(-50, 50).map(lambda x: round(x, 2)), min_size=1, max_size=6),
    st.floats(0.01, 0.9),
)
def test_the_worst_of_several_biased_errors(noise: CentredNoise, biases: list[float], miss: float) -> None:
    """Against the product of the single laws, and between simple bounds."""
    bias = np.array(biases)
    whole = Off(noise, bias)
    t = off_quantile([whole], miss)
    single = [Off(noise, bias[j : j + 1]) for j in range(bias.size)]
    at = np.array([0.5 * t, t])
    assert missed([whole], at) == pytest.approx(missed(single, at), abs=1e-12)
    mean, _ = off_mean([whole])
    singles = [one.absolute for one in single]
    assert (
        max(singles) * (1 - 1e-9) <= mean <= sum(singles) * (1 + 1e-9) + np.abs(bias).max() + noise.mean_abs * bias.size
    )
    assert whole.absolute == pytest.approx(sum(singles), rel=1e-12)


# ---- the data ------------------------------------------------------------------------------------------------


def test_data_remember_what_was_clipped() -> None:
    data, moved = Dataset.clipped([1.0, 5.0, 12.0, -3.0], 0.0, 10.0)
    assert (moved, data.moved, data.n) == (2, 2, 4)
    assert data.values.tolist() == [1.0, 5.0, 10.0, 0.0]
    assert data.raw.tolist() == [1.0, 5.0, 12.0, -3.0]
    assert data.within(0.0, 20.0).values.tolist() == [1.0, 5.0, 12.0, 0.0]
    assert data.within(-5.0, 20.0).original is None
    assert data.first(3).raw.tolist() == [1.0, 5.0, 12.0]
    assert data.unclipped().moved == 0
    inside, _ = Dataset.clipped([1.0], 0.0, 10.0)
    assert inside.original is None
    assert inside.raw is inside.values
    with pytest.raises(ValueError, match="read-only"):
        data.raw[0] = 9.0


def test_data_remember_what_was_left_out() -> None:
    data = waiting("drop", n=100)
    assert data.n == np.sum(WAITING[:100] <= 10)
    assert len(data.raw) == 100
    cut = data.first(10)
    assert cut.n == 10
    assert cut.values.tolist() == WAITING[:100][WAITING[:100] <= 10][:10].tolist()
    assert np.sum(cut.raw <= 10) == 10
    assert cut.raw[-1] <= 10
    assert data.within(0.0, 5.0).values.max() <= 5


@pytest.mark.parametrize("original", [[1.0, 12.0], [1.0, 2.0, 3.0], [1.0, 5.0]])
def test_original_records_must_fit_the_values(original: list[float]) -> None:
    with pytest.raises(DomainError, match="values must be the"):
        Dataset([1.0, 9.0], 0.0, 10.0, original=original)  # type: ignore[arg-type]  # lists are read too


def test_a_sample_with_other_bounds_is_still_about_its_people() -> None:
    ages = sample("ages.age", high=40.0)
    whole = sample("ages.age")
    assert ages.moved == np.sum(whole.values > 40)
    assert pair("mean_laplace").answer(ages).tolist() == pair("mean_laplace").answer(whole).tolist()
    assert part(part(whole, high=40.0), high=90.0).raw.tolist() == whole.values.tolist()


# ---- the inverse question and n ------------------------------------------------------------------------------


def test_no_epsilon_repairs_a_bias() -> None:
    data, query = waiting(), pair("mean_laplace", epsilon=1.0)
    with pytest.raises(DomainError, match=r"makes the mean squared error at most 10; the best is 13\.8"):
        query.requirement("mse", 10.0, data)
    assert query.requirement("mse", 14.0, data).kind == "exact"


@pytest.mark.parametrize(
    "name", ["mean_laplace", "sum_laplace", "sum_geometric", "histogram_laplace", "histogram_geometric"]
)
@pytest.mark.parametrize("probability", [0.05, 0.9])
def test_what_is_needed_keeps_its_promise(name: str, probability: float) -> None:
    data, query = waiting(whole=True, n=200), pair(name, probability=probability)
    target = 1.5 * fact(query, data, "quantile").value
    found = query.requirement("quantile", target, data)
    for factor in (1.0, 1.3, 4.0):
        assert fact(query.but(epsilon=found.value * factor), data, "quantile").value <= target * (1 + 1e-9)


@pytest.mark.parametrize("name", ["median_exponential", "quantile_inverse", "quantile_exponential"])
def test_promises_of_choices_keep_their_side(name: str) -> None:
    """The fact that only falls with epsilon is never below the exact one, and does only fall."""
    data, query = waiting(n=100), pair(name)
    for measure in (m.name for m in query.measures):
        values = []
        for epsilon in (0.01, 0.05, 0.2, 1.0, 5.0):
            at = query.but(epsilon=epsilon)
            steady = at.monotone_facts(measure, "epsilon", data)[0]
            assert steady.value >= fact(at, data, measure).value * (1 - 1e-12)
            values.append(steady.value)
        assert values == sorted(values, reverse=True)
    if name != "quantile_exponential":
        with pytest.raises(DomainError, match="not known to be monotone in n"):
            query.requirement("distance", 20.0, data, "n")


def test_the_bias_does_not_fall_with_n() -> None:
    data = waiting()
    frame = closed_table(pair("mean_laplace"), "n", [10, 10_000], data)
    first, last = frame[(frame["measure"] == "mse") & (frame["kind"] == "exact")]["closed_form"]
    assert first > last > 13.8


# ---- the trade-off over a bound ------------------------------------------------------------------------------


def test_bias_falls_and_noise_grows_with_the_bound() -> None:
    table, notes = bound_table(pair("mean_laplace", epsilon=1.0), waiting())
    lines = {label: rows["value"].to_numpy() for label, rows in table.groupby("label")}
    assert set(lines) == {TOTAL, BIAS, NOISE}
    assert (np.diff(lines[BIAS]) <= 0).all()
    assert (np.diff(lines[NOISE]) > 0).all()
    assert lines[TOTAL] == pytest.approx(lines[BIAS] + lines[NOISE], rel=1e-12)
    assert 0 < np.argmin(lines[TOTAL]) < len(lines[TOTAL]) - 1
    assert notes == (LEAK,)
    assert not table.isna().any().any()


@pytest.mark.parametrize("name", CLIPPING)
def test_every_query_that_clips_has_a_trade_off(name: str) -> None:
    data = waiting(whole=True, n=200)
    query = pair(name)
    table, _ = bound_table(query, data, values=[5.0, 10.0, 20.0, 500.0])
    last = table[table["parameter"] == 500.0].set_index("label")["value"]
    assert last[TOTAL] == last[NOISE]
    for measure in query.measures:
        found = parts(query, data, measure.name)
        assert math.isfinite(found.bias)


def test_the_lower_bound_moves_too() -> None:
    data = Dataset.clipped(-WAITING, -10.0, 0.0)[0]
    table, _ = bound_table(pair("mean_laplace", epsilon=1.0), data, side="lower", values=[-40.0, -10.0])
    upper, _ = bound_table(pair("mean_laplace", epsilon=1.0), waiting(), values=[10.0, 40.0])
    mirrored = {
        (label, -at): value for label, at, value in zip(table["label"], table["parameter"], table["value"], strict=True)
    }
    for label, at, value in zip(upper["label"], upper["parameter"], upper["value"], strict=True):
        assert mirrored[label, at] == pytest.approx(value, rel=1e-12)


def test_the_grid_of_bounds_does_not_look_at_records() -> None:
    assert bound_grid(waiting()) == bound_grid(Dataset([1.0], 0.0, 10.0))
    assert 10.0 in bound_grid(waiting())
    assert bound_grid(Dataset([1.0], 0.0, 10.0), "lower")[-1] < 10


@pytest.mark.parametrize(
    ("query", "options", "words"),
    [
        ("count_laplace", {}, "Bounds do not affect the count"),
        ("mean_laplace", {"side": "left"}, "side must be one of upper, lower, got 'left'"),
        ("mean_laplace", {"values": [-1.0]}, "lower must be below upper, got 0 and -1"),
        ("mean_laplace", {"values": []}, "at least one bound"),
    ],
)
def test_mistakes_are_explained(query: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(DomainError, match=words):
        bound_table(pair(query), waiting(), **options)


@pytest.mark.parametrize("epsilon", [0.05, 0.7, 5.0, 900.0])
@pytest.mark.parametrize("level", [0.01, 0.37, 0.999])
def test_intervals_left_out_have_no_chance(epsilon: float, level: float) -> None:
    """Against the law over all intervals of 20 000 records, most of which are out of reach."""
    values = np.sort(np.random.default_rng(8).gamma(2.0, 3.0, 20_000))
    data = Dataset.clipped(values, 0.0, 15.0)[0]
    query: Any = pair("quantile_exponential", epsilon=epsilon, level=level)
    knots = np.concatenate(([0.0], np.clip(values, 0.0, 15.0), [15.0]))
    width = np.diff(knots)
    with np.errstate(divide="ignore"):
        log_mass = np.log(width) - epsilon / 2 * np.abs(np.arange(20_001) - level * 20_000)
    mass = np.exp(log_mass - log_mass.max())
    mass /= mass.sum()
    steps = query.steps(data)
    assert steps.chance == pytest.approx(mass[np.searchsorted(knots, steps.start, "right") - 1], rel=1e-12)
    assert steps.chance.sum() == pytest.approx(1.0, rel=1e-12)
    wanted = mass @ np.abs((knots[:-1] + knots[1:]) / 2 - values[math.ceil(level * 20_000) - 1])
    assert fact(query, data, "distance").value == pytest.approx(wanted, rel=1e-9)
