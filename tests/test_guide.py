"""The guide's texts: their Python runs, and what a line prints is what the text says it prints."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

TEXTS = sorted((Path(__file__).resolve().parent.parent / "data" / "guide").glob("*.md"))


def blocks(text: str) -> list[tuple[str, str]]:
    """Return each Python block with the text block that follows it directly, or an empty one."""
    return re.findall(r"```python\n(.*?)```(?:\s*```text\n(.*?)```)?", text, re.DOTALL)


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: file.stem)
def test_the_code_of_a_guide_text_runs_and_prints_what_it_says(file: Path) -> None:
    found = blocks(file.read_text(encoding="utf-8"))
    assert found, "a guide text needs a worked example"
    names: dict[str, object] = {}
    for code, printed in found:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, file.name, "exec"), names)  # noqa: S102  our own text
        if printed:
            assert out.getvalue().strip() == printed.strip()
