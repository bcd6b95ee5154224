"""Local privacy: the best channel by a second route, every bound on random cases, false ones shown false."""

from __future__ import annotations

import itertools
import math
from typing import Any

import mpmath
import numpy as np
import pytest

from dpcore import parse
from dpcore.core.errors import BudgetError, DomainError
from dpcore.local import (
    MEASURES,
    Case,
    Channel,
    Hypotheses,
    LocalPromise,
    binary,
    bounds,
    measure_named,
    not_applicable,
    optimum,
    people,
    randomized_response,
    ratios,
    regime_words,
    regimes,
    silence,
    why_not,
)
from dpcore.local.checks import proved_bounds
from dpcore.local.extremal import columns, levels

KL = MEASURES["kl"]
TIED = Hypotheses((0.5, 0.3, 0.2), (0.2, 0.3, 0.5))
THREE = Hypotheses((0.5, 0.3, 0.2), (0.2, 0.35, 0.45))
COIN = Hypotheses((1.0, 0.0), (0.0, 1.0))
PROMISES = [
    LocalPromise(1),
    LocalPromise(3, 0, 0.3),
    LocalPromise(0.5, 0.04),
    LocalPromise(1, 0.05, 0.2),
    LocalPromise(0, 0.1),
    LocalPromise(2, 0, 1),
]


def some(rng: np.random.Generator, k: int, spread: float = 1.0) -> Hypotheses:
    first, second = (rng.dirichlet(np.full(k, spread)).tolist() for _ in range(2))
    return Hypotheses(tuple(first), tuple(second))


# ---- questions and promises ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (((0.5, 0.5), (0.5, 0.3, 0.2)), "same number of letters, got 2 and 3"),
        (((0.5, 0.4), (0.5, 0.5)), "P0 must add up to 1 within 1e-9, got 0.9"),
        (
            ((1.5, -0.5), (0.5, 0.5)),
            r"probability of P0 must be a number in \[0, 1.000000001\], got 1.5 \(number 1 of 2\)",
        ),
        (((0.5, 0.5), (math.nan, 0.5)), "probability of P1"),
        (((0.5, True), (0.5, 0.5)), "probability of P0"),
        (((1.0,), (1.0,)), "2 to 64 letters, got 1"),
        ((tuple([1 / 65] * 65), tuple([1 / 65] * 65)), "2 to 64 letters, got 65"),
        (("half", (0.5, 0.5)), "list of probabilities"),
        (((0.5, 0.5), (0.5, 0.5), ("a",)), "as many names as letters"),
        (((0.5, 0.5), (0.5, 0.5), ("a", "a")), "its own name"),
        (((0.5, 0.5), (0.5, 0.5), ("a", "")), "1 to 24 characters"),
        (((0.5, 0.5), (0.5, 0.5), ("a", "erased")), "cannot be called 'erased'"),
    ],
)
def test_what_is_no_question_is_explained(arguments: Any, words: str) -> None:
    with pytest.raises(DomainError, match=words):
        Hypotheses(*arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((-1,), "epsilon must be"),
        ((math.inf,), "epsilon must be"),
        ((101,), "epsilon must be"),
        ((1, 1.0), "delta must be"),
        ((1, 0.1, 0.05), r"eta must be a number in \[0.1, 1\], got 0.05"),
    ],
)
def test_what_is_no_promise_is_explained(arguments: Any, words: str) -> None:
    with pytest.raises(DomainError, match=words):
        LocalPromise(*arguments)


def test_sums_are_made_exact_and_equal_ratios_are_found() -> None:
    question = Hypotheses((0.2, 0.1, 0.4, 0.3, 0.0), (0.1, 0.2, 0.2, 0.5, 0.0))
    assert question.groups == ((0, 2, 4), (3,), (1,))
    assert question.grouped[0].tolist() == pytest.approx([0.6, 0.3, 0.1])
    assert math.fsum(Hypotheses((1 / 3, 1 / 3, 1 / 3 + 5e-10), (1 / 3, 1 / 3, 1 / 3)).p0) == pytest.approx(1, abs=3e-16)


# ---- measures ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gap", [1e-9, 1e-5, 0.0099, 0.0101, 0.3])
def test_measures_keep_their_digits(gap: float) -> None:
    first, second = np.array([0.3, 0.7]), np.array([0.3 - gap, 0.7 + gap])
    mpmath.mp.dps = 50
    a, b = [mpmath.mpf(float(x)) for x in first], [mpmath.mpf(float(x)) for x in second]
    slack = [x - y for x, y in zip(a, b, strict=True)]  # what doubles do not add up to is part of the terms
    true = {
        "kl": sum((x * mpmath.log(x / y) - s if y else 0) for x, y, s in zip(a, b, slack, strict=True)),
        "tv": sum(abs(s) for s in slack) / 2,
        "hellinger": sum((mpmath.sqrt(x) - mpmath.sqrt(y)) ** 2 for x, y in zip(a, b, strict=True)) / 2,
    }
    if gap < 0.3:
        true["chi2"] = sum(s**2 / y for s, y in zip(slack, b, strict=True))
        true["symmetric"] = sum(s * mpmath.log(x / y) for x, y, s in zip(a, b, slack, strict=True))
    else:
        assert MEASURES["kl"].between(second, first) < math.inf
        assert MEASURES["kl"].between(first, second) == math.inf == MEASURES["chi2"].between(first, second)
        del true["kl"]
    for name, value in true.items():
        assert MEASURES[name].between(first, second) == pytest.approx(float(value), rel=1e-10), name
    with pytest.raises(DomainError, match="one of kl, tv"):
        measure_named("renyi")


# ---- channels ------------------------------------------------------------------------------------------------


def by_sets(channel: Channel, epsilon: float) -> float:
    """Return the largest Q(S|x) - e^epsilon Q(S|x') over all sets of answers, one by one."""
    count = len(channel.answers)
    sets = [np.array(bits, dtype=float) for bits in itertools.product((0, 1), repeat=count)]
    mass = channel.matrix @ np.array(sets).T
    return float(max((mass[x] - math.exp(epsilon) * mass[z]).max() for x in range(len(mass)) for z in range(len(mass))))


@pytest.mark.parametrize("promise", PROMISES, ids=str)
def test_channels_keep_their_promise(promise: LocalPromise) -> None:
    for channel in (
        binary(THREE, promise),
        randomized_response(THREE, promise),
        optimum(THREE, promise, KL).channel,
        optimum(THREE, promise, MEASURES["chi2"]).channel,
    ):
        assert by_sets(channel, promise.epsilon) <= promise.delta + 1e-14
        assert channel.delta(promise.epsilon) == pytest.approx(by_sets(channel, promise.epsilon), abs=1e-14)
        assert channel.total_variation == pytest.approx(by_sets(channel, 0.0), abs=1e-14)
        assert channel.total_variation <= promise.total_variation + 1e-14
        assert channel.region().total_variation == pytest.approx(channel.total_variation, abs=1e-13)
        if promise.delta == 0:
            assert channel.epsilon <= promise.epsilon + 1e-12


@pytest.mark.parametrize("promise", [*PROMISES, LocalPromise(1e-3, 0, 1e-4)], ids=str)
def test_the_binary_mechanism_has_the_region_of_the_promise(promise: LocalPromise) -> None:
    assert binary(THREE, promise).region().same_region(promise.region, 1e-12)


def test_randomized_response_is_the_mechanism_of_that_name() -> None:
    assert randomized_response(THREE, LocalPromise(1.3)).region().same_region(parse("rr(1.3, 3)"), 1e-13)
    twice = randomized_response(THREE, LocalPromise(1.3)).region(2)
    assert twice.same_region(parse("rr(1.3, 3)^2"), 1e-13)


def test_several_answers_of_one_person_by_enumeration() -> None:
    channel = optimum(Hypotheses((0.4, 0.3, 0.2, 0.1), (0.1, 0.2, 0.3, 0.4)), LocalPromise(1.5, 0, 0.45), KL).channel
    region = channel.region(3)
    grown = [np.einsum("i,j,k->ijk", row, row, row).ravel() for row in channel.matrix]
    for epsilon in (0.0, 0.4, 1.5, 2.9, 4.4):
        true = max(np.maximum(a - math.exp(epsilon) * b, 0).sum() for a in grown for b in grown)
        assert region.delta(epsilon) == pytest.approx(true, abs=1e-14)
    union_first = channel.region() ** 3
    assert union_first.total_variation >= region.total_variation - 1e-12


def test_outputs_by_simulation() -> None:
    rng = np.random.default_rng(11)
    channel = binary(THREE, LocalPromise(1, 0.05, 0.3))
    letters = rng.choice(3, size=40_000, p=THREE.p0)
    seen = np.bincount(channel.sample(rng, letters), minlength=len(channel.answers)) / 40_000
    expected = channel.outputs(THREE)[0]
    assert np.all(np.abs(seen - expected) <= 4 * np.sqrt(expected * (1 - expected) / 40_000) + 1e-12)


def test_wrong_channels() -> None:
    with pytest.raises(DomainError, match="one row per letter"):
        Channel(((1.0,),), ("a", "b"), ("0",))
    with pytest.raises(DomainError, match="add up to 1"):
        Channel(((0.7,), (1.0,)), ("a", "b"), ("0",))
    with pytest.raises(DomainError, match="its own name"):
        Channel(((0.5, 0.5), (0.5, 0.5)), ("a", "b"), ("0", "0"))
    assert silence(THREE).region().total_variation == 0
    odd = Hypotheses((0.4, 0.3, 0.2, 0.1), (0.1, 0.2, 0.3, 0.4), ("a", "b", "a or b", "c"))
    assert len(set(optimum(odd, LocalPromise(1, 0.1, 0.3), KL).channel.answers)) > 3


# ---- the best channel ----------------------------------------------------------------------------------------


def test_the_number_of_extremal_columns() -> None:
    assert [len(levels(k, pure=True)) for k in range(2, 7)] == [3, 7, 15, 31, 63]
    assert [len(levels(k, pure=False)) for k in range(2, 6)] == [5, 25, 149, 1081]
    assert columns(2, 0.0, pure=True).tolist() == [[1.0, 1.0]]


def brute(question: Hypotheses, epsilon: float, name: str) -> float:
    """Return the best divergence over all channels made of k linearly independent staircase columns."""
    k = question.size
    patterns = [np.array(p) for p in itertools.product((1.0, math.exp(epsilon)), repeat=k)][:-1]
    best = 0.0
    for chosen in itertools.combinations(patterns, k):
        matrix = np.array(chosen).T
        if abs(np.linalg.det(matrix)) < 1e-9:
            continue
        weight = np.linalg.solve(matrix, np.ones(k))
        if np.all(weight >= -1e-12):
            rows = matrix * np.maximum(weight, 0.0)
            best = max(best, MEASURES[name].between(question.arrays[0] @ rows, question.arrays[1] @ rows))
    return best


@pytest.mark.parametrize(("k", "epsilon"), [(2, 0.7), (3, 0.2), (3, 1.5), (3, 4.0), (4, 2.5)])
def test_the_program_finds_what_trying_all_vertices_finds(k: int, epsilon: float) -> None:
    question = some(np.random.default_rng([k, int(10 * epsilon)]), k)
    for name in ("kl", "tv") if k == 4 else MEASURES:
        found = optimum(question, LocalPromise(epsilon), MEASURES[name])
        assert found.kind == "exact"
        assert found.value == pytest.approx(brute(question, epsilon, name), rel=1e-9), name


@pytest.mark.parametrize("promise", PROMISES, ids=str)
@pytest.mark.parametrize("name", MEASURES)
def test_two_letters_are_best_sent_through_the_dominating_pair(promise: LocalPromise, name: str) -> None:
    """By Blackwell every channel of two letters that keeps the promise is a garbling of the binary mechanism."""
    question = Hypotheses((0.7, 0.3), (0.4, 0.6))
    expected = MEASURES[name].between(*binary(question, promise).outputs(question))
    assert optimum(question, promise, MEASURES[name]).value == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("promise", PROMISES[1:4], ids=str)
def test_no_fine_grid_of_columns_does_better(promise: LocalPromise) -> None:
    """Solve the same program over a lattice of columns that knows nothing of rays: it must stay below, and come close."""
    from scipy.optimize import linprog

    steps = np.arange(0, 41) / 40
    grid_ = np.array([c for c in itertools.product(steps, repeat=3) if max(c) == 1.0])
    if promise.delta == 0:
        grid_ = grid_[grid_.max(axis=1) <= math.exp(promise.epsilon) * grid_.min(axis=1) * (1 + 1e-12)]
    pairs = list(itertools.permutations(range(3), 2))
    rows = [np.maximum(grid_[:, x] - grid_[:, z], 0) for x, z in pairs]
    most = [promise.total_variation] * 6
    if promise.delta > 0:
        rows += [np.maximum(grid_[:, x] - math.exp(promise.epsilon) * grid_[:, z], 0) for x, z in pairs]
        most += [promise.delta] * 6
    for name in ("kl", "hellinger"):
        terms = MEASURES[name].terms(grid_ @ THREE.arrays[0], grid_ @ THREE.arrays[1])
        found = linprog(-100 * terms, A_eq=grid_.T, b_eq=np.ones(3), A_ub=np.array(rows), b_ub=most, method="highs")
        best = optimum(THREE, promise, MEASURES[name])
        assert best.kind == "exact"
        assert 0.95 * best.value <= -found.fun / 100 <= best.upper * (1 + 1e-7)


def test_equal_ratios_cost_nothing_and_many_letters_are_refused() -> None:
    split = Hypotheses((0.25, 0.25, 0.3, 0.1, 0.1), (0.1, 0.1, 0.35, 0.225, 0.225))
    for name, measure in MEASURES.items():
        value = optimum(split, LocalPromise(2, 0, 0.5), measure).value
        assert value == pytest.approx(optimum(THREE, LocalPromise(2, 0, 0.5), measure).value, rel=1e-10), name
    wide = some(np.random.default_rng(1), 13)
    assert "at most 12 letters" in why_not(wide, LocalPromise(1))
    assert "(with δ = 0: 12)" in why_not(some(np.random.default_rng(2), 7), LocalPromise(1, 0.1))
    with pytest.raises(BudgetError, match="these hypotheses have 13"):
        optimum(wide, LocalPromise(1), KL)
    assert optimum(wide, LocalPromise(1), MEASURES["tv"]).value == pytest.approx(math.tanh(0.5) * wide.total_variation)
    many = Hypotheses(tuple([0.05] * 20), (*[0.08] * 10, *[0.02] * 10))
    assert optimum(many, LocalPromise(1), KL).kind == "exact"


def test_nothing_to_tell_and_everything_to_tell() -> None:
    same = Hypotheses((0.4, 0.6), (0.4, 0.6))
    assert optimum(same, LocalPromise(1), KL).value == 0 == optimum(THREE, LocalPromise(0), KL).value
    assert optimum(COIN, LocalPromise(1, 0.1), KL).value == math.inf
    assert optimum(COIN, LocalPromise(1), KL).value == pytest.approx(math.tanh(0.5), rel=1e-12)
    assert people(silence(THREE), THREE).enough == math.inf


def test_which_simple_channel_is_best_where() -> None:
    rng = np.random.default_rng(4)
    for _ in range(6):
        question = some(rng, 4, 3.0)
        for name in ("kl", "hellinger"):
            measure = MEASURES[name]
            low, high = LocalPromise(0.01), LocalPromise(12.0)
            two = measure.between(*binary(question, low).outputs(question))
            many = measure.between(*randomized_response(question, high).outputs(question))
            assert two == pytest.approx(optimum(question, low, measure).value, rel=1e-10)
            assert many == pytest.approx(optimum(question, high, measure).value, rel=1e-9)
    table = regimes(THREE, LocalPromise(1), KL, [0.1, 1.0, 2.4, 2.64, 5.0])
    assert table["binary"].tolist() == [True, True, True, False, False]
    assert table["response"].tolist() == [False, False, False, True, True]
    assert "up to ε = 2.4 and randomized response from ε = 2.64 on" in regime_words(table, THREE)


def test_a_tie_on_the_wrong_side_is_never_the_best() -> None:
    """The definition of the binary mechanism puts a letter with P0 = P1 on the side of 0; KL prefers the other one."""
    for epsilon in (0.001, 0.01, 0.1, 1.0):
        best = optimum(TIED, LocalPromise(epsilon), KL)
        defined, other = (KL.between(*binary(TIED, LocalPromise(epsilon), ties=side).outputs(TIED)) for side in (0, 1))
        assert defined < best.value * (1 - 1e-8)
        assert other == pytest.approx(best.value, rel=1e-9)


# ---- bounds --------------------------------------------------------------------------------------------------


def test_every_bound_holds_on_random_cases() -> None:
    rng = np.random.default_rng(2023)
    names = list(MEASURES)
    seen = 0
    for case in range(60):
        question = some(rng, int(rng.integers(2, 5)), float(rng.choice([0.3, 1.0, 5.0])))
        epsilon = float(rng.choice([0.02, 0.3, 1.0, 2.0, 4.0, 7.0]))
        delta = float(rng.choice([0.0, 0.0, 0.03]))
        most = LocalPromise(epsilon, delta).ceiling
        eta = None if case % 2 else float(delta + (most - delta) * rng.uniform(0.1, 1.0))
        table = bounds(question, LocalPromise(epsilon, delta, eta), MEASURES[names[case % len(names)]])
        proved = table[table["kind"] != "no bound"]
        seen += len(proved)
        assert set(proved["holds"]) == {"yes"}, proved.to_string()
        assert not table.isna().any(axis=None)
    assert seen > 200


def test_random_channels_stay_below_the_bounds() -> None:
    """The bounds speak of every channel: also of ones that no program made."""
    rng = np.random.default_rng(7)
    for _ in range(60):
        question = some(rng, 3)
        rows = rng.dirichlet(np.ones(4), size=3) + 0.05
        channel = Channel(
            tuple(map(tuple, (rows / rows.sum(axis=1, keepdims=True)).tolist())), ("1", "2", "3"), tuple("abcd")
        )
        promise = LocalPromise(channel.epsilon, 0.0, channel.total_variation)
        for measure in MEASURES.values():
            value = measure.between(*channel.outputs(question))
            upper = [bound for bound in proved_bounds(measure) if bound.side == "upper"]
            assert upper
            for bound in upper:
                most = bound.value(Case(question, promise, measure))
                assert most is not None
                assert value <= most * (1 + 1e-12), bound.name


def test_the_printed_bound_is_false_and_its_correction_is_not() -> None:
    table = bounds(COIN, LocalPromise(5.0), KL).set_index("bound")
    assert table.loc["(57) as printed", "holds"] == "no"
    assert table.loc["(57) as printed", "value"] == pytest.approx(4 * math.tanh(2.5))
    assert table.loc["(57) as printed", "truth"] == pytest.approx(5 * math.tanh(2.5), rel=1e-12)
    assert table.loc["Corollary 2", "holds"] == "yes"
    sharp = bounds(COIN, LocalPromise(5.0), KL)
    sharp = sharp[(sharp["bound"] == "sharper bound") & (sharp["of"] == "the best channel")]
    assert float(sharp["value"].iloc[0]) == pytest.approx(float(sharp["truth"].iloc[0]), rel=1e-12)  # attained at t = 1


def test_the_sharper_bounds_improve_on_the_published_ones() -> None:
    for epsilon in np.linspace(0.05, 8, 30):
        for t in (1e-3, 0.2, 0.7, 1.0):
            eta, e = math.tanh(epsilon / 2), math.exp(epsilon)
            ours = 2 * eta * t * math.log1p((e - 1) * t)
            assert ours <= 2 * eta * min(2, e) * (e - 1) * t * t
            assert 2 * min(2, e) / (e + 1) <= min(4, e * e)  # (45)
            assert 2 / (e + 1) >= 1 / (min(2, e) * (e + 1)) >= 0.5 / (e + 1) ** 2


def test_the_ratio_bound_is_nearly_reached() -> None:
    near = Hypotheses((0.001, 0, 0.499501, 0.499499), (0, 0.001, 0.499499, 0.499501))
    for epsilon in (2.0, 3.0):
        table = ratios(near, LocalPromise(epsilon), KL, [epsilon]).set_index("series")["value"]
        assert table["sharper bound"] <= table["binary mechanism / best channel"] <= 1.2 * table["sharper bound"]


def test_bounds_that_do_not_apply_are_named() -> None:
    notes = " ".join(not_applicable(COIN, LocalPromise(1, 0.1), KL))
    assert "as it needs δ = 0: η t log(1 + (e^ε - 1) t)" in notes
    assert "needs a finite divergence" in notes
    wide = some(np.random.default_rng(1), 13)
    table = bounds(wide, LocalPromise(1), KL)
    assert set(table["holds"]) == {"not checked"}
