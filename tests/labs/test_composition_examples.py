"""Groups, sequences, disjoint parts and an answer asked twice."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import dpcore
from dpcore import DomainError, theorems
from dpcore.labs import composition_examples as rules
from dpcore.labs import lab


def test_groups() -> None:
    """Lemma 4.5.12: k = 3, epsilon 0.5, delta 1e-5."""
    printed = rules.group_delta(0.5, 1e-5, 3)
    assert printed == pytest.approx(5.36700e-5, abs=5e-11)
    assert printed == pytest.approx(1e-5 * math.expm1(1.5) / math.expm1(0.5), rel=1e-12)
    assert printed == pytest.approx(theorems.group(0.5, 1e-5, 3)["delta"].iloc[0], rel=1e-9)
    regions = rules.groups(0.5, 1e-5, 3)
    epsilon = np.linspace(0.0, 2.0, 41)
    line, worst = regions["printed statement"].delta(epsilon), regions["worst mechanism"].delta(epsilon)
    assert np.all(worst <= line + 1e-15)
    assert worst[30] == pytest.approx(printed, rel=1e-9)  # it touches at k epsilon
    for name in ("normal noise", "Laplace noise"):
        assert np.all(regions[name].delta(epsilon) <= worst + 1e-12)
    assert regions["Laplace noise"].epsilon(0.0) == 1.5


def test_a_chain_of_worst_mechanisms_attains_the_group_line() -> None:
    """Second route: on a chain of 4 data sets, one mechanism that is (0.5, 0.01)-private between neighbours."""
    e, d = math.exp(0.5), 0.01
    p = [0.02]
    for _ in range(3):
        p.append(e * p[-1] + d)
    assert p[-1] == pytest.approx(math.exp(1.5) * 0.02 + rules.group_delta(0.5, d, 3), rel=1e-12)
    for low, high in itertools.pairwise(p):
        assert high <= e * low + d + 1e-12  # more likely answer
        assert 1 - low <= e * (1 - high) + d + 1e-12  # less likely answer
    assert dpcore.pmf([1 - p[0], p[0]], [1 - p[-1], p[-1]]).delta(1.5) == pytest.approx(
        rules.group_delta(0.5, d, 3), rel=1e-12
    )


def test_a_replaced_record_touches_two_parts() -> None:
    """Lemma 4.5.14 under the source's own neighbours, by brute force: two counts with Laplace noise."""
    region = rules.counts(1.0, replaced=True)
    assert region.epsilon(0.0) == pytest.approx(2.0)
    assert rules.parts_epsilon((1.0, 1.0)) == 1.0
    node, weight = np.polynomial.legendre.leggauss(12)
    edges = np.arange(-24, 25) * 0.5
    half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    x = (middle[:, None] + half[:, None] * node).ravel()
    w = (half[:, None] * weight).ravel()
    noise = dpcore.laplace(1.0)
    stays, moves = noise.density(x), noise.density(x, 1.0)
    # the record leaves the first part and enters the second: (1, 0) becomes (0, 1)
    before, after = np.outer(moves, stays), np.outer(stays, moves)
    for epsilon in (0.0, 0.7, 1.0, 1.5):
        brute = w @ np.maximum(after - math.exp(epsilon) * before, 0.0) @ w
        assert region.delta(epsilon) == pytest.approx(brute, abs=2e-3), epsilon
    assert region.delta(1.0) > 0.1
    assert rules.counts(1.0, replaced=False).delta(1.0) == 0


def test_randomized_response_twice() -> None:
    """Example 4.5.3: p = 1/4, epsilon log 3, delta 0.1."""
    e = math.log(3)
    assert rules.least_flip(e, 0.1) == pytest.approx(0.225, rel=1e-12)
    assert rules.flipped_delta(0.25, e, 1) == pytest.approx(0.0, abs=1e-15)
    assert rules.flipped_delta(0.25, e, 2) == pytest.approx(0.375, abs=1e-14)
    brute = sum(
        max(0.0, math.prod(q) - 3 * math.prod(p))
        for q, p in zip(
            itertools.product((0.75, 0.25), repeat=2), itertools.product((0.25, 0.75), repeat=2), strict=True
        )
    )
    assert brute == pytest.approx(0.375)
    for epsilon, delta in ((e, 0.1), (0.5, 0.0), (1.0, 0.3)):
        least = rules.least_flip(epsilon, delta)
        assert rules.flipped_delta(least, epsilon, 1) == pytest.approx(delta, abs=1e-12)
        assert rules.flipped_delta(0.99 * least, epsilon, 1) > delta


def test_sequences_add_and_are_cheaper_for_a_delta() -> None:
    assert rules.sequence_epsilon(0.5, 3) == pytest.approx(1.5)
    assert (dpcore.dp(0.5) ** 3).epsilon(0.0) == pytest.approx(1.5)
    assert (dpcore.dp(0.5) ** 100).epsilon(1e-5) == pytest.approx(31.17, abs=0.01)


def test_the_story_is_in_the_first_picture() -> None:
    shown = lab("composition_examples")
    regions = shown.view(shown.views[0]).regions
    assert regions["a record replaced"].beta(0.1) < regions["claimed"].beta(0.1)
    assert regions["a record added or removed"].beta(0.1) >= regions["claimed"].beta(0.1)
    first = shown.table().iloc[0]
    assert (first["place"], first["verdict"], first["row"]) == ("Lemma 4.5.14", "loose", "parts-by-value")


def test_parameters_are_refused() -> None:
    for bad, words in (
        ({"k": 0}, "k must be an integer"),
        ({"flip": 0.7}, "flip must be"),
        ({"epsilon": 9.0}, "epsilon"),
    ):
        with pytest.raises(DomainError, match=words):
            lab("composition_examples", **bad)
    for call in (
        lambda: rules.group_delta(1.0, 0.1, 0),
        lambda: rules.flipped(0.0),
        lambda: rules.parts_epsilon(()),
    ):
        with pytest.raises(DomainError, match=r"must be"):
            call()
