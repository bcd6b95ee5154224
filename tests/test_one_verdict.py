"""One checker: whatever is typed or given has the same verdict in Python, in an expression, on a form, as an option and in a spec."""

from __future__ import annotations

import argparse
import ast
import dataclasses
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import dpcore
from dpcore import parse
from dpcore.app import forms, settings
from dpcore.cli.options import Parser, Reader, add_common, number_list
from dpcore.cli.own_options import own_options
from dpcore.cli.program import command_names, load
from dpcore.core import domains, registry
from dpcore.core.errors import DomainError, DpcoreError, ParseError
from dpcore.core.notices import collected
from dpcore.core.parameter import Parameter, value_text
from dpcore.labs import LABS
from dpcore.language.numbers import integer, number, read_value
from dpcore.regions.tradeoff import literal
from dpcore.specs import base as specs
from dpcore.specs import fields
from dpcore.utility import PAIRS

if TYPE_CHECKING:
    from dpcore.core.registry import Entry

PLAIN = ("number", "integer")
REFUSED = "refused"
PACKAGE = Path(dpcore.__file__).parent

# What a person may type and the number it stands for; None stands for no number at all.
TYPED: dict[str, float | None] = {
    "0": 0, "0.0": 0.0, "1": 1, "1.0": 1.0, "2": 2, "0.5": 0.5, ".5": 0.5, "5.": 5.0, "1e-6": 1e-6, "1e6": 1e6, "1e7": 1e7,
    "1000000": 10**6, "1e-320": 1e-320, "1e300": 10**300, "9007199254740993": 9007199254740993, "1e400": None, "1e-400": None,
    "nan": None, "x": None, "": None, "1 x": None, "0x10": None, "1,5": None, "True": None, "mu=1": None, "1)": None,
    "[1]": None, "dp(1)": None, "__import__": None,
}  # fmt: skip
# What the language writes and LIST does not: / stands for a count there.
OF_THE_LANGUAGE: dict[str, float | None] = {
    "inf": math.inf, "1/3": 1 / 3, "4/2": 2.0, "log(3)": math.log(3), "sqrt(4)": 2.0, "1/0": None, "log(0.5)": None, "log(inf)": None,
}  # fmt: skip
SIGNED: dict[str, float | None] = {"-1": -1.0, "-0.5": -0.5, "-0": 0.0, "+1": 1.0}
GIVEN: tuple[Any, ...] = (
    0, 1, 2, 0.0, -0.0, 0.5, 1.0, -1, 1e6, 1e7, 1e-320, 1e300, math.inf, -math.inf, math.nan, True, False, None, "1", "x",
    b"1", 1j, [], [1.0], {}, 10**30, 10**400, np.float64(0.5), np.float32(0.5), np.int64(1), np.uint8(2), np.bool_(True),
    np.array(1.0), np.array([1.0]), np.str_("1"),
)  # fmt: skip


def verdict(ask: Any, *given: Any) -> Any:
    """Return the number that is accepted, or that it was refused."""
    try:
        return ask(*given)
    except DpcoreError:
        return REFUSED


def ends(parameter: Parameter) -> list[float]:
    """Return numbers at, next to and beyond the ends of a domain."""
    if parameter.kind == "integer":
        whole = [int(end) for end in (parameter.low, parameter.high) if abs(end) < math.inf]
        return [x for end in whole for x in (end - 1, end, end + 1)]
    finite = [float(end) for end in (parameter.low, parameter.high, parameter.least) if abs(end) < math.inf]
    return [x for end in finite for x in (end, np.nextafter(end, -np.inf).item(), np.nextafter(end, np.inf).item())]


def texts(parameter: Parameter, *tables: dict[str, float | None]) -> dict[str, float | None]:
    """Return texts and what they stand for, those of the ends among them."""
    own = {repr(end): end for end in ends(parameter) if end >= 0 and not (0 < end < 1e-307)}
    return {text: value for table in (own, *tables) for text, value in table.items()}


def unique(parameters: list[Parameter]) -> list[Parameter]:
    """Return one parameter of each name, kind and domain."""
    return list({(p.name, p.kind, p.domain): p for p in parameters}.values())


ENTRIES = [(entry, p) for entry in registry.entries() for p in entry.parameters if p.kind in PLAIN]
OWN = unique([p for cls in (*PAIRS.values(), *LABS.values()) for p in cls.parameters() if p.kind in PLAIN])
NAMED = [value for value in vars(domains).values() if isinstance(value, Parameter) and value.kind in PLAIN]
named = pytest.mark.parametrize(
    "parameter", [pytest.param(p, id=str(i)) for i, p in enumerate(unique([*NAMED, *OWN, *(p for _, p in ENTRIES)]))]
)
each_entry = pytest.mark.parametrize(
    ("entry", "parameter"), [pytest.param(e, p, id=f"{e.name}-{p.name}") for e, p in ENTRIES]
)


# ---- the language, Python and the forms of the registry ------------------------------------------------------------


def example(parameter: Parameter) -> Any:
    """Return a value that belongs to a parameter."""
    if parameter.kind == "region":
        return parse("dp(1)^2" if parameter.example is None else str(parameter.example))
    if not parameter.required:
        return parameter.default
    return parameter.example


def built(entry: Entry, parameter: Parameter, value: Any) -> Any:
    """Return what an entry makes of one value beside examples, as the parameter's own field holds it or as a refusal."""
    arguments = [value if p is parameter else example(p) for p in entry.parameters]
    try:
        with collected():
            entry.build(*arguments)
    except DpcoreError as error:
        # what refuses all of them together, such as lower above upper, says nothing about this one alone
        return REFUSED if str(error).startswith(f"{parameter.name} must be {parameter.domain}, got") else "together"
    return "built"


@each_entry
def test_python_refuses_what_the_parameter_refuses_and_nothing_else(entry: Entry, parameter: Parameter) -> None:
    for value in (*GIVEN, *ends(parameter)):
        alone = verdict(parameter.check, value)
        together = built(entry, parameter, value)
        assert (together == REFUSED) == (alone is REFUSED), (value, alone, together)


@each_entry
def test_an_expression_and_a_form_say_the_same(entry: Entry, parameter: Parameter) -> None:
    for text, value in texts(parameter, TYPED, OF_THE_LANGUAGE).items():
        alone = REFUSED if value is None else verdict(parameter.check, value)
        assert verdict(parameter.check, forms.meant(parameter, text)) == alone, text
        assert verdict(read_value, parameter, text) == alone, text
        if value is None:
            continue
        written = ", ".join(text if p is parameter else literal(example(p)) for p in entry.parameters)
        try:
            with collected():
                parse(f"{entry.name}({written})")
        except DomainError as error:
            refused = f"{parameter.name} must be {parameter.domain}, got" in str(error)
        except DpcoreError:
            refused = False
        else:
            refused = False
        assert refused == (alone is REFUSED), text


# ---- what is typed --------------------------------------------------------------------------------------------------


def test_a_number_is_read_as_it_is_typed() -> None:
    for text, value in (TYPED | OF_THE_LANGUAGE | SIGNED).items():
        found = number(text)
        if value is None:
            assert found is None or math.isnan(found), text
        else:
            assert found is not None, text
            assert float(found) == float(value), text
    assert number("1_000") == 1000.0
    assert number(" 0.5 ") == 0.5


def test_an_integer_is_read_to_the_last_digit() -> None:
    for text, value in {
        "1 000 000": 10**6, "1_000": 1000, "1e3": 1000, "1000.0": 1000, "1e23": 10**23, "9007199254740993": 2**53 + 1,
        "1.000": None, "12.000.000": None, "1.5": None, "1000000000000000000.5": None, "inf": None, "nan": None, "": None,
        "1e999999999": None, "9" * 5000: None, "1e-400": None, "-3": -3, "4/2": 2,
        "60*60000/240": 15_000, "60*60000/256": None, "1/3*3": 1, "1.000*2": None, "6/0": None, "2**3": None, "1*" * 10 + "1": None,
    }.items():  # fmt: skip
        assert integer(text) == value, text


@named
def test_fields_options_and_specs_say_the_same_of_a_text(parameter: Parameter) -> None:
    read = Reader(parameter)
    field = fields.number if parameter.kind == "number" else fields.integer
    kept = (
        ("low", "high", "low_open", "high_open", "infinite", "least") if parameter.kind == "number" else ("low", "high")
    )
    spec = field(**{name: getattr(parameter, name) for name in kept}).metadata["check"]
    for text, value in texts(parameter, TYPED, OF_THE_LANGUAGE, SIGNED).items():
        alone = REFUSED if value is None else verdict(parameter.check, value)
        option = REFUSED
        if alone is REFUSED:
            sentence = re.escape(f"{parameter.name} must be {parameter.domain}, got {value_text(text)}")
            with pytest.raises(argparse.ArgumentTypeError, match=f"^{sentence}$"):
                read(text)
        else:
            option = read(text)
        for found in (option, verdict(read_value, parameter, text), verdict(spec, text)):
            assert found == alone, text
            assert type(found) is type(alone), text
        assert verdict(parameter.check, settings.meant(parameter, text)) == alone, text
    for given in (*GIVEN, *ends(parameter)):
        if not isinstance(given, str):
            assert str(verdict(spec, given)) == str(verdict(parameter.check, given)), given


@pytest.mark.parametrize("parameter", [pytest.param(p, id=str(i)) for i, p in enumerate(OWN)])
def test_the_options_of_pairs_and_labs_say_the_same(parameter: Parameter) -> None:
    def asked(text: str) -> Any:
        (value,) = own_options("it", [parameter], [f"--{parameter.name.replace('_', '-')}={text}"])[parameter.name]
        return parameter.check(value)

    for text, value in texts(parameter, TYPED, SIGNED).items():
        if "," not in text and ":" not in text:
            assert verdict(asked, text) == (REFUSED if value is None else verdict(parameter.check, value)), text


# ---- every number of every face is a parameter ------------------------------------------------------------------------


@pytest.mark.parametrize("name", command_names())
def test_every_number_of_a_command_is_read_by_the_one_reader(name: str) -> None:
    module = load(name)
    parser = Parser(prog=name, description=module.HELP)
    module.configure(parser)
    add_common(parser, table=True)
    for action in parser._actions:
        assert action.type is None or action.type is number_list or isinstance(action.type, Reader), (
            action.option_strings
        )
        if isinstance(action.type, Reader):
            parameter = action.type.parameter
            option = action.option_strings[0]
            for text, value in {**texts(parameter, TYPED, SIGNED)}.items():
                alone = REFUSED if value is None else verdict(parameter.check, value)
                one = Parser(prog=name, description="")
                one.add_value(option, parameter, "help")
                try:
                    found = getattr(one.parse_args([f"{option}={text}"]), action.dest)
                except ParseError:
                    found = REFUSED
                assert found == alone, (option, text)


def test_every_number_of_a_figure_is_read_by_the_one_reader() -> None:
    seen = 0
    for drawer in specs.drawers().values():
        for one in dataclasses.fields(drawer):
            check, words = one.metadata.get("check"), str(one.metadata.get("words", ""))
            if check is None or not words.startswith(("a number in", "an integer in", "0 or a number")):
                continue
            seen += 1
            for bad in ("nan", "x", True, math.nan, [1.0], "1e400"):
                assert verdict(check, bad) is REFUSED, (drawer, one.name, bad)
    assert seen > 10


SENTENCES = ("must be a number", "must be an integer", "must be in [", "whole number", "must be one of")
ELSEWHERE = {
    "core/parameter.py": "the one checker",
    "audit/columns.py": "cells of a data file, whose decimal sign may be a comma",
    "curves/renyi.py": "what an order of infinity means instead",
    "labs/noise_zoo.py": "a mechanism",
    "utility/choosing.py": "a release",
    "utility/count.py": "answers of the data",
    "files/sheet.py": "signs that are shown in quotes",
}


def test_no_other_file_writes_the_sentence_about_a_bad_number() -> None:
    """A private checker would; what is said about two values together, or about a shape, is no such sentence."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE).as_posix()
        if place in ELSEWHERE:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                text = "".join(
                    part.value for part in node.values if isinstance(part, ast.Constant) and isinstance(part.value, str)
                )
                found += [f"{place}:{node.lineno}: {text}" for words in SENTENCES if words in text and "got" in text]
    assert found == []
