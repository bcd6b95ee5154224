"""The expression language: what is read, how it is printed, and what a mistake is told."""

from __future__ import annotations

import math
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.core.errors import DomainError, DpcoreError, ParseError
from dpcore.language import parse, pointer
from dpcore.language.build import build
from dpcore.language.grammar import parse_syntax
from dpcore.language.problems import PlacedError
from dpcore.language.syntax import (
    CallNode,
    IntersectionNode,
    ListNode,
    NumberNode,
    PowerNode,
    ProductNode,
    TextNode,
    UnknownNode,
    fill,
    unknowns,
)
from dpcore.language.tokens import LONGEST
from dpcore.regions.tradeoff import TradeOff


def value_of(text: str) -> object:
    """Return the first argument of x(...)."""
    tree = parse_syntax(f"x({text})")
    assert isinstance(tree, CallNode)
    return tree.arguments[0].value


def problem(text: str) -> PlacedError:
    with pytest.raises(PlacedError) as caught:
        parse(text)
    return caught.value


def check_one_line(error: DpcoreError) -> None:
    assert len(str(error).splitlines()) == 1
    assert len(pointer(error).splitlines()) in {0, 2}


class TestGrammar:
    def test_precedence(self) -> None:
        tree = parse_syntax("a(1) & b(2) * c(3)^4 & d(5)")
        assert isinstance(tree, IntersectionNode)
        first, second, third = tree.parts
        assert isinstance(first, CallNode)
        assert isinstance(second, ProductNode)
        assert isinstance(third, CallNode)
        power = second.factors[1]
        assert isinstance(power, PowerNode)
        assert power.exponent == 4

    def test_brackets_group(self) -> None:
        tree = parse_syntax("(a(1) & b(2)) * c(3)")
        assert isinstance(tree, ProductNode)
        assert isinstance(tree.factors[0], IntersectionNode)
        assert parse_syntax("((a(1)))") == CallNode("a", parse_syntax("  a(1)").arguments, 2, 5)  # type: ignore[union-attr]  # a Call

    def test_positions(self) -> None:
        tree = parse_syntax("a(1) *\n b(x=2)")
        assert isinstance(tree, ProductNode)
        second = tree.factors[1]
        assert isinstance(second, CallNode)
        assert (second.start, second.end) == (8, 13)
        assert second.arguments[0].name == "x"
        assert second.arguments[0].value == NumberNode(2, 12)

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("0.6", 0.6),
            (".5", 0.5),
            ("5.", 5.0),
            ("1e-6", 1e-6),
            ("1E+3", 1000.0),
            ("log(3)", math.log(3)),
            ("log(3/2)", math.log(1.5)),
            ("sqrt(2)", math.sqrt(2)),
            ("sqrt(log(3))", math.sqrt(math.log(3))),
            ("1/3", 1 / 3),
            ("inf", math.inf),
            (" log ( 1 ) ", 0.0),
        ],
    )
    def test_numbers(self, text: str, expected: float) -> None:
        value = value_of(text)
        assert isinstance(value, NumberNode)
        assert value.value == expected

    def test_plain_digits_are_integers(self) -> None:
        assert type(value_of("7").value) is int  # type: ignore[attr-defined]  # a Number
        assert type(value_of("7.0").value) is float  # type: ignore[attr-defined]  # a Number
        assert value_of("1" * 30).value == int("1" * 30)  # type: ignore[attr-defined]  # a Number

    def test_texts_and_lists(self) -> None:
        assert value_of('"add/remove"') == TextNode("add/remove", 2)
        nested = value_of("[[0, 1], [1, 0]]")
        assert isinstance(nested, ListNode)
        assert isinstance(nested.items[0], ListNode)

    def test_regions_are_values(self) -> None:
        assert isinstance(value_of("dp(1) * dp(2)"), ProductNode)

    def test_unknowns(self) -> None:
        tree = parse_syntax("a(?, 1)^2 * b(x=?)^? & c(d([?]))", allow_unknown=True)
        assert [mark.start for mark in unknowns(tree)] == [2, 16, 19, 28]
        filled = fill(tree, 3)
        assert unknowns(filled) == ()
        assert isinstance(filled, IntersectionNode)
        assert isinstance(filled.parts[0], ProductNode)
        power = filled.parts[0].factors[1]
        assert isinstance(power, PowerNode)
        assert power.exponent == 3
        assert unknowns(UnknownNode(4)) == (UnknownNode(4),)

    def test_an_unknown_is_refused_elsewhere(self) -> None:
        for text in ("dp(?)", "dp(1)^?"):
            assert "calibrated" in str(problem(text))
        with pytest.raises(ParseError, match="calibrated"):
            build(parse_syntax("dp(?)", allow_unknown=True), "dp(?)")
        with pytest.raises(ParseError, match="calibrated"):
            build(parse_syntax("dp(1)^?", allow_unknown=True), "dp(1)^?")
        for text in ("?", "? * dp(1)", "dp(1) & ?", "dp(1)?"):
            with pytest.raises(ParseError):
                parse_syntax(text, allow_unknown=True)


class TestCanonical:
    @pytest.mark.parametrize(
        ("text", "canonical"),
        [
            ("dp(1)", "dp(1)"),
            (" dp ( 0.60 ,\n 5e-2 ) ", "dp(0.6, 0.05)"),
            ("dp(1, 0)", "dp(1)"),
            ("dp(delta=0.1, epsilon=1)", "dp(1, 0.1)"),
            ("dp(log(3))", "dp(1.0986122886681098)"),
            ("dp(inf)", "dp(inf)"),
            ("dp(1)^5", "dp(1)^5"),
            ("(dp(1))^5", "dp(1)^5"),
            ("dp(1)*dp(2)", "dp(1) * dp(2)"),
            ("(dp(1)*dp(2))^3", "(dp(1) * dp(2))^3"),
            ("dp(1)&gdp(2)", "dp(1) & gdp(2)"),
            ("(dp(1)&gdp(2))*dp(3)", "(dp(1) & gdp(2)) * dp(3)"),
            ("dp(1)&(gdp(2)*dp(3))", "dp(1) & gdp(2) * dp(3)"),
            ("points([[0, 1], [0.25, 1/4], [1, 0]])", "points([[0, 1], [0.25, 0.25], [1, 0]])"),
            ("dp(0.6, 0.05)^5 & gdp(1.2)", "dp(0.6, 0.05)^5 & gdp(1.2)"),
            ("symmetric(dp(1) * tv(0.5))", "symmetric(dp(1) * tv(0.5))"),
        ],
    )
    def test_canonical(self, text: str, canonical: str) -> None:
        region = parse(text)
        assert isinstance(region, TradeOff)
        assert str(region) == canonical
        assert parse(str(region)) == region

    def test_many_factors(self) -> None:
        text = " * ".join(["dp(0.001)"] * 3000)
        assert parse(str(parse(text))) == parse(text)

    @pytest.mark.parametrize("text", ["dp(1)^1000000000000", "gdp(1)^" + "9" * 30])
    def test_huge_exponents_are_read(self, text: str) -> None:
        assert parse(str(parse(text))) == parse(text)


PLACES = [
    ("", 0, "empty"),
    ("   ", 0, "empty"),
    ("()", 1, "expected a region"),
    ("dp(1", 4, "expected ',' or ')'"),
    ("dp(1,)", 5, "expected a number"),
    ("dp(,1)", 3, "expected a number"),
    ("dp(1))", 5, "or the end"),
    ("dp(1) dp(2)", 6, "or the end"),
    ("dp(nan)", 3, "'nan' stands alone"),
    ("dp(True)", 3, "'True' stands alone"),
    ("dp", 0, "'dp' stands alone"),
    ("dp(1j)", 4, "'j'"),
    ("dp(0x10)", 4, "'x10'"),
    ("dp(1_000)", 4, "'_000'"),
    ("dp(-1)", 3, "without a sign"),
    ("dp(+1)", 3, "without a sign"),
    ("dp(1)^0", 6, "integer from 1"),
    ("dp(1)^1.5", 6, "plain digits"),
    ("dp(1)^1e3", 6, "plain digits"),
    ("dp(1)^-1", 6, "without a sign"),
    ("dp(1)^", 6, "plain digits"),
    ("dp(1)^2^3", 7, "in brackets"),
    ("dp(1)^" + "9" * 31, 6, "31 digits"),
    ("dp(1)**2", 6, "written with '^'"),
    ("dp(2*3)", 4, "only arithmetic"),
    ("dp(2+3)", 4, "without a sign"),
    ("dp(log(3)/2)", 9, "only arithmetic"),
    ("dp(1/2/3)", 6, "only arithmetic"),
    ("dp(log(0.5))", 7, "negative"),
    ("dp(log(inf))", 7, "finite"),
    ("dp(log 3)", 7, "'(' after 'log'"),
    ("dp(log(x(1)))", 7, "a number"),
    ("dp(1/0)", 5, "zero"),
    ("dp(1/log(2))", 5, "decimal"),
    ("dp(1e308/1e-308)", 3, "double precision"),
    ("dp(1e400)", 3, "too large"),
    ("dp(1e-400)", 3, "too small"),
    ("log(3)", 0, "expected a region"),
    ("inf", 0, "expected a region"),
    ("union", 0, "stands alone"),
    ("3", 0, "expected a region"),
    ("[1]", 0, "expected a region"),
    ('"dp(1)"', 0, "expected a region"),
    ("dp[1]", 0, "stands alone"),
    ("dp([1)", 5, "']'"),
    ("dp(a=)", 5, "a number"),
    ("dp(=1)", 3, "a number"),
    ("dp(a=b=1)", 5, "stands alone"),
    ('assume(dp(1), "sub)', 14, "no end"),
    ("assume(dp(1), 'substitution')", 14, "double quotes"),
    ("dp(1); dp(2)", 5, "one region"),
    ("dp(1) | dp(2)", 6, "union"),
    ("dp(\x00)", 3, "'\\x00'"),
    ("dp(1)\x1b[31m", 5, "'\\x1b'"),
    ("<script>alert(1)</script>", 0, "'<'"),
    ("dp(ε)", 3, "'ε'"),
    ("dp(١)", 3, "'١'"),
    ("dp(1)\u2028", 5, "\\u2028"),
    ("\ud800", 0, "\\ud800"),
    ("__import__('os')", 11, "double quotes"),
    ("dp.__class__(1)", 2, "'.'"),
    ("foo(1)", 0, "Unknown name 'foo'"),
    ("dp(1) * laplac(1)", 8, "did you mean laplace?"),
    ("GDP(1)", 0, "did you mean gdp?"),
    ("dp(1, 0, 0)", 9, "Too many arguments for dp"),
    ("dp(1, epsilon=2)", 6, "epsilon twice"),
    ("dp(epsilon=1, epsilon=2)", 14, "epsilon twice"),
    ("dp(epsilon=1, 0.1)", 14, "after one with name"),
    ("dp(epsilom=1)", 3, "did you mean epsilon?"),
    ("dp(1, zzz=1)", 6, "'zzz'"),
]


class TestMistakes:
    @pytest.mark.parametrize(("text", "start", "words"), PLACES)
    def test_reason_and_place(self, text: str, start: int, words: str) -> None:
        error = problem(text)
        assert error.start == start
        assert words in str(error)
        assert f"column {start + 1}" in str(error)
        assert len(str(error).splitlines()) == 1

    def test_the_caret_stands_under_the_place(self) -> None:
        assert problem("dp(1) * laplac(1)").pointer == "dp(1) * laplac(1)\n        ^"
        assert pointer(problem("dp(1")) == "dp(1\n    ^"

    @pytest.mark.parametrize("start", [0, 10, 31, 500, 970, 999, 1000])
    def test_long_texts_are_cut_around_the_place(self, start: int) -> None:
        text = "".join(chr(97 + i % 26) for i in range(1000))
        error = PlacedError(text, start, "Something")
        shown, caret = error.pointer.split("\n")
        assert len(shown) <= 60
        assert len(caret) <= 61
        assert (shown + "!")[len(caret) - 1] == (text + "!")[start]
        assert shown in text

    def test_lines_are_counted(self) -> None:
        error = problem("dp(1)\n& dp(")
        assert "line 2, column 6" in str(error)
        assert error.pointer == "dp(1) & dp(\n           ^"

    def test_the_error_can_be_pickled(self) -> None:
        error = problem("foo(1)")
        again = pickle.loads(pickle.dumps(error))
        assert (str(again), again.pointer) == (str(error), error.pointer)

    @pytest.mark.parametrize(
        ("text", "words", "at"),
        [
            ("gdp(1) & dp(1, 2)", "delta must be", 15),
            ("dp(1, delta=inf)", "delta must be", 12),
            ("dp()", "dp needs epsilon", 3),
            ("dp([1])", "epsilon must be", 3),
            ('dp("1")', "epsilon must be", 3),
            ("dp(dp(1))", "epsilon must be", 3),
            ("symmetric(1)", "region must be", 10),
            ("points([[0, 1], [1]])", "must be pairs", 7),
            ("points([])", "at least one", 7),
        ],
    )
    def test_values_outside_their_domain(self, text: str, words: str, at: int) -> None:
        with pytest.raises(DomainError, match=words) as caught:
            parse(text)
        assert len(str(caught.value).splitlines()) == 1
        assert pointer(caught.value) == f"{text}\n{' ' * at}^"

    def test_depth(self) -> None:
        assert parse("(" * 99 + "dp(1)" + ")" * 99) == parse("dp(1)")
        assert "100 deep" in str(problem("(" * 100 + "dp(1)" + ")" * 100))
        assert "100 deep" in str(problem("dp(" * 101))
        assert "100 deep" in str(problem("dp(" + "[" * 30_000))
        assert "100 deep" in str(problem("dp(" + "log(" * 10_000))

    def test_a_deep_text_needs_little_stack(self) -> None:
        assert "Unknown name" in str(problem("f(" * 100 + ")" * 100))

    @pytest.mark.parametrize("text", ["x" * 10**6, "(" * 10**6, " " * (LONGEST + 1), "\x00" * 10**6])
    def test_length(self, text: str) -> None:
        with pytest.raises(ParseError, match=f"at most {LONGEST}") as caught:
            parse(text)
        assert len(str(caught.value)) < 200

    def test_long_but_allowed(self) -> None:
        assert len(str(problem("x" * LONGEST))) < 300
        assert len(str(problem("x" * (LONGEST - 3) + "(1)"))) < 1000
        assert len(str(problem("dp(" + "9" * 60_000 + ")"))) < 300
        assert len(str(problem("dp(" + "x" * 60_000 + "=1)"))) < 300

    @pytest.mark.parametrize("value", [None, 1, b"dp(1)", ["dp(1)"], math.nan])
    def test_only_text(self, value: object) -> None:
        with pytest.raises(DomainError, match="must be a text"):
            parse(value)  # type: ignore[arg-type]  # the mistake under test

    @settings(max_examples=200, deadline=None)
    @given(st.text() | st.text(alphabet='dpgtv()[]&*^,=/?".0123456789einflogsqrt \n', max_size=30))
    def test_fuzz(self, text: str) -> None:
        try:
            region = parse(text)
        except DpcoreError as error:
            check_one_line(error)
        else:
            assert parse(str(region)) == region

    @settings(max_examples=100, deadline=None)
    @given(st.data())
    def test_fuzz_by_mutation(self, data: st.DataObject) -> None:
        text = "dp(0.6, 0.05)^5 & gdp(1.2) * points([[0, 1], [1/4, 0.25], [1, 0]])"
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 3))
        piece = data.draw(st.text(alphabet='dp()[]&*^,=/?"- .19einf\x00', max_size=3))
        try:
            region = parse(text[:at] + piece + text[at + cut :])
        except DpcoreError as error:
            check_one_line(error)
        else:
            assert parse(str(region)) == region
