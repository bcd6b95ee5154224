"""The composition theorems as a table: which of them apply to a list, and wrong input is named."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcore import theorems as th
from dpcore.core.errors import DomainError
from dpcore.theorems.table import COLUMNS


def names(frame):
    """Names of the theorems in order of appearance."""
    return list(dict.fromkeys(frame["theorem"]))


def test_applicable_lists():
    pure = th.applicable([("dp", (0.1, 0.0), 3), ("dp", [0.1, 0], 2)])
    assert names(pure) == ["basic", "kov_optimal", "advanced_course", "advanced_drv", "kov_simplified"]
    assert pure.loc[pure["theorem"] == "kov_optimal", "epsilon"].tolist() == pytest.approx([0.1, 0.3, 0.5])
    mixed = th.applicable([("dp", (0.1, 1e-6), 5), ("dptv", (0.2, 0.0, 0.01), 3), ("tv", (0.01,), 1)])
    assert names(mixed) == ["basic", "kov_heterogeneous", "kov_simplified"]
    assert set(mixed["kind"]) == {"upper"}
    assert mixed["note"].str.contains("not used").all()
    same = th.applicable([("dptv", (0.2, 0.0, 0.01), 3)])
    assert names(same)[0] == "dptv"
    assert same.loc[same["theorem"] == "dptv", "kind"].eq("exact").all()
    assert names(th.applicable([("dptv", (0.2, 0.0, 0.5), 3)]))[1] == "kov_optimal"
    gaussian = th.applicable([("gdp", (3.0,), 1), ("gdp", (2.0,), 4)])
    assert names(gaussian) == ["gdp"]
    assert gaussian["note"].iloc[0] == "mu = 5"
    nothing = th.applicable([("gdp", (1.0,), 1), ("dp", (1.0, 0.0), 1)])
    assert nothing.empty
    assert tuple(nothing.columns) == COLUMNS


def test_applicable_thins_and_tells_what_is_left_out():
    long = th.applicable([("dp", (0.01, 0.0), 10_000)], longest=100)
    kept = long[long["theorem"] == "kov_optimal"]
    assert len(kept) == 100
    assert kept["epsilon"].iloc[[0, -1]].tolist() == pytest.approx([0.0, 100.0])
    huge = th.applicable([("dp", (0.01, 0.0), 10**8)])
    assert "kov_optimal" not in names(huge)
    assert "50000001" in huge.attrs["left_out"]["kov_optimal"]


# --- inputs ----------------------------------------------------------------------------------------------------------

BAD_NUMBERS = [math.nan, math.inf, -math.inf, -0.1, True, 1 + 0j, "1", None, [[1.0]], np.ones((2, 2)), np.bool_(True)]
BAD_COUNTS = [0, -1, 1.5, math.nan, math.inf, True, "3", None, [3], np.ones(2), 10**301]
CALLS = {
    "kov_optimal": (th.kov_optimal, (0.1, 0.01, 3)),
    "dptv": (th.dptv, (0.6, 0.05, 0.2, 3)),
    "advanced_drv": (th.advanced_drv, (0.1, 0.01, 3, 0.01)),
    "advanced_course": (th.advanced_course, (0.1, 3, 0.01)),
    "group": (th.group, (0.1, 0.01, 3)),
    "group_exact": (th.group_exact, (0.1, 0.01, 3)),
    "rdp_to_dp": (th.rdp_to_dp, (2.0, 0.1, 0.01)),
    "rdp_delta": (th.rdp_delta, (2.0, 0.1, 0.5)),
    "zcdp_to_dp": (th.zcdp_to_dp, (0.1, 0.1, 0.01)),
    "zcdp_delta": (th.zcdp_delta, (0.1, 0.1, 0.5)),
    "gdp": (th.gdp, (0.1, 0.5)),
    "kov_simplified": (lambda e, d, s: th.kov_simplified([(e, d)], s), (0.1, 0.01, 0.01)),
    "kov_simplified_epsilon": (lambda e, d, s: th.kov_simplified_epsilon([(e, d)], s), (0.1, 0.01, 0.02)),
    "applicable": (lambda e, d, n: th.applicable([("dp", (e, d), n)]), (0.1, 0.01, 3)),
}
OF_LISTS = (th.basic, th.parallel, th.parallel_union, th.kov_heterogeneous)
CALLS |= {f.__name__: (lambda e, d, f=f: f([(e, d)]), (0.1, 0.01)) for f in OF_LISTS}


@pytest.mark.parametrize("name", CALLS)
def test_bad_input_is_named(name):
    function, good = CALLS[name]
    frame = function(*good)
    assert tuple(frame.columns) == COLUMNS
    assert not frame.isna().any(axis=None)
    assert set(frame["kind"]) <= {"exact", "upper"}
    for position, value in enumerate(good):
        for bad in BAD_COUNTS if isinstance(value, int) else BAD_NUMBERS:
            arguments = [*good[:position], bad, *good[position + 1 :]]
            with pytest.raises(DomainError, match="must be"):
                function(*arguments)


@pytest.mark.parametrize(
    "bad", [[], 0.1, "ab", None, [0.1], [(0.1,)], [(0.1, 0, 1, 2)], ["ab"], np.ones(2), {0.1: 0.2}]
)
def test_bad_lists_are_named(bad):
    for function in OF_LISTS:
        with pytest.raises(DomainError, match="statement"):
            function(bad)
    with pytest.raises(DomainError, match="part"):
        th.applicable(bad)


@pytest.mark.parametrize(
    "k", [3.0, np.int64(3), np.float64(3.0), np.array(3)], ids=["float", "int64", "float64", "array"]
)
def test_a_whole_number_is_an_integer_as_everywhere(k):
    assert th.kov_optimal(0.1, 0.01, k).equals(th.kov_optimal(0.1, 0.01, 3))


def test_arrays_and_generators_are_lists():
    expected = th.basic([(0.1, 0.01), (0.2, 0.02)])
    assert th.basic(np.array([[0.1, 0.01], [0.2, 0.02]])).equals(expected)
    assert th.basic(pair for pair in [(0.1, 0.01), (0.2, 0.02)]).equals(expected)
    for part in [("dp", (0.1,), 1), ("rr", (0.1,), 1), ("gdp", (0.1, 0.2), 1), ("tv", (1.5,), 1)]:
        with pytest.raises(DomainError):
            th.applicable([part])
