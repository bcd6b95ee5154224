"""The word certified follows one predicate: it stands where the checker has a method, and nowhere else."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from flint import ctx

from dpcore import parse
from dpcore.certificates import certify
from dpcore.core import registry
from dpcore.core.certainty import BRACKET, CERTIFIED, certainty, is_certified
from dpcore.core.effort import effort
from dpcore.core.errors import BudgetError
from dpcore.core.notices import collected
from dpcore.training import training_run, training_summary
from dpcore.training.judgement import judge
from dpcore_verify.expression import Unproved, read
from dpcore_verify.regions import region
from tests.certificates.sweep import preset_questions
from tests.test_registry import argument

PACKAGE = Path(__file__).resolve().parents[2] / "dpcore"
ENTRIES = registry.entries()
SAY_IT = {
    "core/certainty.py",  # the predicate itself
    "cli/commands/certify.py",  # writes the proof
}


def text_of(entry: registry.Entry) -> str:
    with collected():
        return str(entry.build(*(argument(value) for value in entry.oracles[0].arguments)))


def checker_accepts(text: str) -> bool:
    before = ctx.prec
    try:
        ctx.prec = 96
        region(read(text))
    except Unproved:
        return False
    finally:
        ctx.prec = before
    return True


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_the_word_stands_where_the_checker_has_a_method(entry: registry.Entry) -> None:
    text = text_of(entry)
    for written in (text, f"({text})^3"):
        with collected():
            known = is_certified(parse(written))
        assert known == checker_accepts(written), written
    if not is_certified(text):
        assert certainty("upper", text) == BRACKET
        with effort(work=1.0), pytest.raises(BudgetError, match="No certificate"):
            certify(text, epsilon=0.5)
        return
    assert certainty("upper", text) == CERTIFIED
    assert certainty("exact", text) == "exact"
    with effort(deadline=20.0):
        assert certify(text, epsilon=0.5).claim.endswith(f"for {text}")


def test_the_word_stands_so_for_every_preset() -> None:
    """A region that a preset names is called certified where the checker reads it, and a bracket elsewhere."""
    texts = sorted({text for text, _ in preset_questions()})
    assert len(texts) > 30
    for text in texts:
        with collected():
            built = parse(text)
        assert is_certified(built) == checker_accepts(str(built)), text
        assert certainty("upper", built) == (CERTIFIED if checker_accepts(str(built)) else BRACKET), text


def literals(file: Path) -> list[str]:
    """Return the texts of a module that people may read: no docstrings."""
    source = file.read_text(encoding="utf-8")
    if "certified" not in source.lower():  # most modules: to parse all of them takes seconds
        return []
    tree = ast.parse(source)
    documentation = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation
    ]


def test_no_other_text_says_certified() -> None:
    found = {
        file.relative_to(PACKAGE).as_posix(): text
        for file in sorted(PACKAGE.rglob("*.py"))
        for text in literals(file)
        if "certified" in text.lower() and file.relative_to(PACKAGE).as_posix() not in SAY_IT
    }
    pages = {
        file.name: text
        for file in (PACKAGE.parent / "pages").glob("*.py")
        for text in literals(file)
        if "certified" in text.lower()
    }
    assert {**found, **pages} == {}


def test_sentences_follow_it() -> None:
    run = training_run("poisson", sigma=1.0, rate=0.01, steps=100)
    assert training_summary(run, delta=1e-5).answer().endswith("(certified).")
    with effort(tolerance=1e-3):
        wrong = judge(parse("truncated_poisson(1, 0.01, 20, 1000)"), 10, 0.01, 1e-5)
        assert "(bracket)" in wrong.words()
        assert "certified" not in wrong.words()
