"""What ``import dpcore`` offers: its names, their signatures and documentation, to people, editors and type checkers."""

from __future__ import annotations

import ast
import doctest
import inspect
import os
import pickle
import pkgutil
import subprocess
import sys
import typing
import warnings
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpcore
from dpcore import DomainError, TradeOff
from dpcore.core import registry
from dpcore.core.registry import Choice, Entry
from dpcore.language import constructors
from dpcore.language.constructors import LEFT_OUT
from tests import stub

ROOT = Path(__file__).resolve().parent.parent
ENTRIES = registry.entries()
OWN = {
    "BudgetError", "DomainError", "DomainWarning", "DpcoreError", "InternalError", "ParseError", "RelationError",
    "TradeOff", "__version__", "parse", "sweep",
}  # fmt: skip
PUBLIC = OWN | {entry.name for entry in ENTRIES}
each_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)


# --- the names -----------------------------------------------------------------------------------------------------


def test_the_public_names_and_nothing_else() -> None:
    assert sorted(dpcore.__all__) == sorted(PUBLIC)
    assert dir(dpcore) == sorted(PUBLIC)
    assert not [name for name in dir(dpcore) if isinstance(getattr(dpcore, name), ModuleType)]


def test_a_star_import_gives_them_all() -> None:
    names: dict[str, Any] = {}
    exec("from dpcore import *", names)  # noqa: S102  # the only way to write it inside a function
    assert names.keys() - {"__builtins__"} == PUBLIC
    assert names["dp"](1) == dpcore.parse("dp(1)")


def test_no_name_of_the_language_is_a_module_of_the_package() -> None:
    """Importing ``dpcore.group`` would put the module in the place of the function."""
    modules = {module.name for module in pkgutil.iter_modules(dpcore.__path__)}
    assert modules & PUBLIC == set()


def test_a_misspelt_name_is_an_attribute_error_that_python_can_answer() -> None:
    with pytest.raises(AttributeError, match="module 'dpcore' has no attribute 'lapalce'") as error:
        dpcore.lapalce  # type: ignore[attr-defined]  # noqa: B018  # that is the point
    assert (error.value.name, error.value.obj) == ("lapalce", dpcore)


def test_a_new_entry_is_a_function_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_entries", dict(registry._entries))

    @registry.register(
        "twice",
        title="two answers",
        group="mechanism",
        symbol="t",
        formula="t",
        meaning="Two Laplace answers.",
        reference="a test",
        oracles=(registry.Oracle((0.0,), "delta", 0.0, 0.0, 0.0, "no answer at all"),),
    )
    @dataclass(frozen=True, eq=False, repr=False)
    class Twice(type(dpcore.dp(1))):  # type: ignore[misc]  # any region will do
        epsilon_: float = registry.EPSILON.field()
        delta_: float = registry.DELTA.field(0.0)

    twice = dpcore.twice  # type: ignore[attr-defined]  # the stub is written afterwards
    assert twice(0.5).delta(0.5) == 0.0
    assert str(inspect.signature(twice)) == "(epsilon: 'Real', delta: 'Real' = 0.0) -> 'TradeOff'"
    assert "twice" in dir(dpcore)
    assert "def twice(epsilon: Real, delta: Real = 0.0) -> TradeOff:" in stub.text()


# --- their signatures and documentation, while the package runs ----------------------------------------------------


@each_entry
def test_a_signature_is_that_of_the_entry(entry: Entry) -> None:
    function = getattr(dpcore, entry.name)
    arguments = inspect.signature(function).parameters
    described = (*entry.parameters, *entry.also_accepts)
    assert list(arguments) == [parameter.name for parameter in described]
    for parameter, argument in zip(described, arguments.values(), strict=True):
        if parameter.required:
            assert argument.default is (LEFT_OUT if entry.also_accepts else inspect.Parameter.empty)
        else:
            assert argument.default == parameter.default
    hints = typing.get_type_hints(function)
    assert hints.pop("return") is TradeOff
    assert list(hints) == list(arguments)
    for parameter in described:
        if isinstance(parameter, Choice):
            assert typing.get_args(hints[parameter.name]) == parameter.choices


@each_entry
def test_help_shows_parameters_domain_formula_reference_and_example(entry: Entry) -> None:
    function = getattr(dpcore, entry.name)
    text = inspect.getdoc(function)
    assert text is not None
    for parameter in (*entry.parameters, *entry.also_accepts):
        assert f"{parameter.name} : {parameter.domain_words}" in text
    for part in (entry.formula, *entry.reference.split(), *entry.meaning.split()):
        assert part in text
    assert (function.__name__, function.__qualname__, function.__module__) == (entry.name, entry.name, "dpcore")


@each_entry
def test_the_example_in_help_is_true(entry: Entry) -> None:
    text = constructors.documentation(entry)
    example = doctest.DocTestParser().get_doctest(text, {}, entry.name, None, None)
    assert len(example.examples) == 3
    assert doctest.DocTestRunner().run(example).failed == 0


def test_help_of_laplace() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import dpcore; help(dpcore.laplace)"],
        capture_output=True, text=True, check=True, timeout=120, cwd=ROOT,
    )  # fmt: skip
    lines = [line.strip() for line in done.stdout.splitlines()]
    head = "laplace(epsilon: 'Real' = ..., *, scale: 'Real' = ..., sensitivity: 'Real' = 1.0) -> 'TradeOff'"
    assert head in lines
    assert "epsilon : 0 or a number in [1e-300, 1000000] or inf" in lines
    assert "Scale of the noise (b; by name, in the place of epsilon)." in lines
    assert "How far the answer moves between neighbours (Δ; by name, beside scale)." in lines
    assert "0.393469" in lines  # 1 - e^(-1/2)


def test_a_function_is_one_object_and_can_be_sent_to_another_process() -> None:
    assert dpcore.laplace is dpcore.laplace
    assert pickle.loads(pickle.dumps(dpcore.laplace)) is dpcore.laplace


def test_a_notice_points_at_the_line_that_made_the_region() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dpcore.dptv(1, 0, 0.9)
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("dpcore.dp()", "dp needs epsilon: 0 or a number in"),
        ("dpcore.dp(1, detla=2)", "dp has no argument 'detla'; .* Did you mean delta?"),
        ("dpcore.dp(1, 0, 3)", "dp takes at most 2 arguments"),
        ("dpcore.laplace(1, scale=2)", "laplace takes epsilon or scale, not both"),
        ("dpcore.laplace(sensitivity=2)", "sensitivity came without scale"),
        ("dpcore.union(parts=[dpcore.dp(1)])", r"union takes its parts one after the other and not by name"),
        ("dpcore.assume(dpcore.dp(1), 'add')", "relation must be one of any, substitution, add/remove, got 'add'"),
    ],
)
def test_a_wrong_call_gets_one_sentence(call: str, words: str) -> None:
    with pytest.raises(DomainError, match=words):
        eval(call, {"dpcore": dpcore})


# --- the questions -------------------------------------------------------------------------------------------------


QUESTIONS = ("delta", "epsilon", "beta", "power")


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("region", [dpcore.dp(1, 0.01), dpcore.gdp(1), dpcore.laplace(0.5) ** 3], ids=str)
def test_a_number_gets_a_float_and_a_list_an_array(region: TradeOff, question: str) -> None:
    ask = getattr(region, question)
    half = ask(0.5)
    assert type(half) is float
    for same in (np.float64(0.5), np.float32(0.5), Fraction(1, 2), np.array(0.5)):
        answer = ask(same)
        assert type(answer) is float
        assert answer == half
    for whole in (1, np.int64(1), np.uint8(1)):
        assert type(ask(whole)) is float
    for several in ([0.5], (0.5,), np.array([0.5]), pd.Series([0.5]), [Fraction(1, 2)], np.array([0.5], dtype="f4")):
        answers = ask(several)
        assert type(answers) is np.ndarray
        assert (answers.dtype, answers.tolist()) == (np.float64, [half])


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize(
    "bad", [10**400, -(10**400), Fraction(10) ** 400, [0.5, 10**400]], ids=["+", "-", "fraction", "list"]
)
def test_a_number_beyond_doubles_is_refused_in_a_sentence(question: str, bad: Any) -> None:
    with pytest.raises(DomainError, match=r"^(alpha|delta|epsilon) must be a number in .*, got "):
        getattr(dpcore.dp(1), question)(bad)


@pytest.mark.parametrize("bad", ["x", None, True, [], [[0.5]], [[0.5], [0.1, 0.2]], [0.5, "x"], [True], 1j])
def test_what_is_no_number_is_refused_in_a_sentence(bad: Any) -> None:
    with pytest.raises(DomainError, match=r"^alpha must be a number in \[0, 1\], got "):
        dpcore.dp(1).beta(bad)


def test_the_message_about_a_bad_number_names_it() -> None:
    with pytest.raises(DomainError, match=r"^delta must be a number in \[0, 1\], got 2 \(number 2 of 2\)\.$"):
        dpcore.dp(1).epsilon([0.1, 2.0])


# --- the stub ------------------------------------------------------------------------------------------------------


def test_the_stub_is_what_the_registry_says() -> None:
    assert stub.PATH == ROOT / "dpcore" / "__init__.pyi"
    assert stub.PATH.read_text(encoding="utf-8") == stub.text(), "run `make stub`"


def written() -> dict[str, list[ast.FunctionDef]]:
    """Return the functions of the stub by their names, read without our own code."""
    functions: dict[str, list[ast.FunctionDef]] = {}
    for node in ast.parse(stub.PATH.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            functions.setdefault(node.name, []).append(node)
    return functions


def test_the_stub_says_what_the_functions_say() -> None:
    functions = written()
    assert functions.keys() == {entry.name for entry in ENTRIES}
    for entry in ENTRIES:
        function, forms = getattr(dpcore, entry.name), functions[entry.name]
        assert len(forms) == (2 if entry.also_accepts else 1)
        arguments = inspect.signature(function).parameters
        seen: list[str] = []
        for form in forms:
            assert inspect.cleandoc(ast.get_docstring(form) or "") == inspect.getdoc(function)
            star = [form.args.vararg] if form.args.vararg else []
            for argument in (*form.args.args, *star, *form.args.kwonlyargs):
                seen.append(argument.arg)
                assert argument.annotation is not None
                assert ast.unparse(argument.annotation).replace("'", '"') == arguments[argument.arg].annotation
            optional = [*form.args.defaults, *(value for value in form.args.kw_defaults if value is not None)]
            named = [p.default for p in (*entry.parameters, *entry.also_accepts) if p.name in seen and not p.required]
            assert [ast.literal_eval(value) for value in optional] == named or len(forms) > 1
        assert seen == list(arguments)


PROGRAM = """
from fractions import Fraction

import numpy as np

import dpcore
from dpcore import assume, dp, gdp, geometric, laplace, parse, pmf, points, union

region = dp(1) ** 2 & gdp(1.2)
one: float = region.delta(1.0) + region.epsilon(np.float64(0.1)) + region.beta(np.float32(0.5)) + region.power(1)
several: np.typing.NDArray[np.float64] = region.delta([0.0, 1]) + region.beta(np.linspace(0, 1, 2))
regions: list[dpcore.TradeOff] = [laplace(1), laplace(scale=2), laplace(Fraction(1, 3)), geometric(1, np.int64(2))]
regions += [pmf(np.array([0.5, 0.5]), (0.6, 0.4)), points([[0.1, 0.6]]), union(dp(1), gdp(1)), assume(dp(1), "any")]
from dpcore import lapalce  # 1 Module "dpcore" has no attribute "lapalce"; maybe "laplace"?
dpcore.gausian(1)  # 2 Module has no attribute "gausian"; maybe "gaussian"?
laplace("1")  # 3 No overload variant of "laplace" matches argument type "str"
laplace(1, scale=2)  # 4 No overload variant of "laplace" matches argument types "int", "int"
laplace(sensitivity=2)  # 5 No overload variant of "laplace" matches argument type "int"
dp(1, detla=2)  # 6 Unexpected keyword argument "detla" for "dp"; did you mean "delta"?
dp(1, 0, 3)  # 7 Too many arguments for "dp"
geometric(1, 1.5)  # 8 Argument 2 to "geometric" has incompatible type "float"; expected "int | integer[Any]"
union(dp(1), 2)  # 9 Argument 2 to "union" has incompatible type "int"; expected "TradeOff"
assume(dp(1), "x")  # 10 Argument 2 to "assume" has incompatible type "Literal['x']"
region.delta("x")  # 11 Argument 1 to "delta" of "TradeOff" has incompatible type "str"
region.delta(None)  # 12 No overload variant of "delta" of "TradeOff" matches argument type "None"
number: str = region.delta(1.0)  # 13 Incompatible types in assignment (expression has type "float"
parse(1)  # 14 Argument 1 to "parse" has incompatible type "int"; expected "str"
"""


@pytest.mark.long
def test_a_type_checker_knows_the_names_and_finds_every_mistake(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.lstrip(), encoding="utf-8")
    options = ["--strict", "--config-file=", "--hide-error-context", "--no-error-summary", "--no-pretty"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, f"--cache-dir={os.devnull}", program.name],
        capture_output=True, text=True, check=False, timeout=240, cwd=tmp_path, env={"MYPYPATH": str(ROOT)},
    )  # fmt: skip
    mistakes = [line for line in done.stdout.splitlines() if " error: " in line]
    lines = PROGRAM.lstrip().splitlines()
    expected = [(number, line.split("# ")[1].split(" ", 1)[1]) for number, line in enumerate(lines, 1) if "# " in line]
    assert len(expected) == 14
    assert len(mistakes) == len(expected), done.stdout + done.stderr
    for found, (number, words) in zip(mistakes, expected, strict=True):
        assert found.startswith(f"program.py:{number}: error: {words}"), found
