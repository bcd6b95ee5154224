"""Links that nobody would write by hand: the page of privacy regions opens all the same, and says what is wrong."""

from __future__ import annotations

from functools import cache

import pytest

from tests.app.visits import Page, alts, errors, listing

opened = Page("pages/1_Privacy_regions.py", "Privacy regions").opened

HOSTILE = {
    "garbage": "%%%~~~\x00\x07{}[]",
    "1 MB": "dp(1); " * 150_000,
    "200 kB": "dp(1); " * 28_000,
    "400 kB of one": "a" * 400_000,
    "64 kB of semicolons": ";" * 65_000,
    "64 kB of quotes": '"' * 65_000,
    "64 kB of brackets": "(" * 65_000,
    "many": "; ".join(f"dp({n}.0)" for n in range(1, 40)),
    "k": "dp(0.6)^1000000000000",
    "k of Laplace": "laplace(1)^1000000000000",
    "k beyond a browser": "dp(0.6)^99999999999999999999",
    "sensitivity beyond a browser": "geometric(1, 99999999999999999999)",
    "unknown name": "foo(1)",
    "nearest name": "laplce(1)",
    "script": "<script>alert(1)</script>",
    "script as name": "<script>alert(1)</script> := dp(1)",
    "negative": "dp(-1)",
    "nan": "dp(nan)",
    "overflow": "dp(1e999)",
    "infinite": "dp(inf); gdp(inf); gaussian(inf)",
    "circle": "A := @B; B := @A",
    "itself": "A := @A & @A",
    "doubling": "A := dp(1); " + "; ".join(f"{chr(66 + n)} := @{chr(65 + n)} & @{chr(65 + n)}" for n in range(20)),
    "no such reference": "@nobody & dp(1)",
    "code": "__import__('os').system('true')",
    "relations": "rr(1) * poisson_gaussian(1, 0.1)",
    "unicode": "ｄｐ(１)",
    "nothing but marks": "!; :=; ! := ;",
    "a simplified composition by hand": "simplified(dp(1e999, 0.1)^2, 0.03)",
}
# Streamlit leaves out links above 512 kB; a list of nothing is empty
FINE = {"1 MB", "64 kB of semicolons", "infinite", "nothing but marks"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=(pytest.mark.long,) if name == "doubling" else ()) for name in HOSTILE]
)
def test_a_hostile_list_gives_the_page_with_a_clear_message(name: str) -> None:
    app = opened(regions=HOSTILE[name])
    assert bool(app.error) == (name not in FINE)
    assert "Traceback" not in errors(app)
    assert all(len(str(found.value)) < 1000 for found in app.error)
    assert app.selectbox(key="add").options


def test_one_bad_region_does_not_hide_the_others() -> None:
    app = opened(regions="dp(1); foo(1); laplace(1)^1000000000000; gdp(1)")
    assert "foo" in errors(app)
    assert "1000000000000" in errors(app)
    assert "under DP, ε = 1" in alts(app)[0]
    assert "Gaussian DP, μ = 1" in alts(app)[0]


@cache
def python_of_the_first_view() -> str:
    return listing(opened(), "privacy_regions")


@pytest.mark.parametrize("value", ["", "nan", "<script>", "x" * 1_000_000, "profile", "-1"])
def test_hostile_options_fall_back_to_the_defaults(value: str) -> None:
    names = ("picture", "axes", "scale", "draw", "legend", "front", "pick", "selected")
    app = opened(**dict.fromkeys(names, value))
    assert not app.error
    assert listing(app, "privacy_regions") == python_of_the_first_view()
