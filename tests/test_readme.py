"""Every example we show is run: the README's Python and its command line, and the examples in docstrings."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import importlib.util
import io
import pkgutil
import re
import runpy
import shlex
from pathlib import Path

import pytest

import dpcore
from dpcore.cli import main

ROOT = Path(__file__).resolve().parent.parent
NUMBER = re.compile(
    r"(?<![\w.])([0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?)(?![\w.])"
)  # its last digits may differ elsewhere
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def sessions(block: str) -> list[tuple[str, str]]:
    """Split a console block into commands and the text printed after each."""
    pieces = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    assert pieces[0] == ""
    return list(zip(pieces[1::2], pieces[2::2], strict=True))


SESSIONS = [session for block in blocks("console") for session in sessions(block)]


def test_the_readme_has_examples() -> None:
    assert blocks("python")
    assert SESSIONS


@pytest.mark.parametrize("block", blocks("python"), ids=lambda block: block.splitlines()[0])
def test_python_example(block: str, tmp_path: Path) -> None:
    """Run a block; a comment after a print is what it prints."""
    promised = re.findall(r"^print\(.*\)  # (.*)$", block, flags=re.MULTILINE)
    assert len(promised) == block.count("print(")
    script = tmp_path / "example.py"
    script.write_text(block, encoding="utf-8")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(script))
    assert printed.getvalue().splitlines() == promised


@pytest.mark.parametrize(("command", "promised"), SESSIONS, ids=[command for command, _ in SESSIONS])
def test_console_example(command: str, promised: str, capsys: pytest.CaptureFixture[str]) -> None:
    program, *arguments = shlex.split(command)
    assert program == "dpcore"
    assert main(arguments) == 0
    printed = NUMBER.split(capsys.readouterr().out)
    expected = NUMBER.split(promised)
    assert printed[0::2] == expected[0::2]
    assert [float(number) for number in printed[1::2]] == pytest.approx([float(n) for n in expected[1::2]], rel=1e-12)


def test_links_lead_somewhere() -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", README)
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(
        re.findall(r"\bmake ([a-z]+)\b(?= |`|$)", "\n".join([*blocks("sh"), *re.findall(r"`[^`\n]+`", README)]))
    )
    assert named >= {"app", "test"}
    assert [target for target in sorted(named) if not re.search(rf"^{target}:", makefile, flags=re.MULTILINE)] == []


def modules() -> list[str]:
    walked = pkgutil.walk_packages(dpcore.__path__, "dpcore.")
    return [module.name for module in walked if not module.name.endswith("__main__")]


@pytest.mark.parametrize("name", modules())
def test_docstring_examples(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_the_picture_can_be_drawn_again(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("make_region", ROOT / "data" / "pictures" / "make_region.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main(tmp_path / "region.svg")
    drawn = (tmp_path / "region.svg").read_text(encoding="utf-8")
    assert drawn.startswith("<svg")
    for label in module.REGIONS:
        assert label in drawn
