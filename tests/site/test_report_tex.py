"""LaTeX, Markdown and notebooks of reports: nothing is lost, nothing leads nowhere, and readers of TeX take every formula."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from dpcore.core.errors import DpcoreError
from dpcore.site import build_report
from dpcore.site.report.tex import SIGNS, inside_formula, preamble, rows_with_tags

if TYPE_CHECKING:
    from pathlib import Path

REPORT = r"""+++
authors = [{ name = "A. Author", affiliation = "Office" }]
date = "2026-03-31"
bibliography = "r.bib"

[values]
counts = 'epsilons("laplace(0.1)^10", delta=1e-6)'
+++

# Counts with ε ≤ 1

First.

## How {#sec:how}

As @martin2020 says [@martin2020, p. 3], ε = {{ counts }} and σ² ≤ 2: see @eq:rows, @tbl:limits and @sec:how.

$$
\begin{align}
a &= b \\
  &= c \nonumber
\end{align}
$$ {#eq:rows}

| ε | limit |
|---|--:|
| 1 | 2 |

Table: Limits {#tbl:limits}

```figure
name = "ten"
draw = "table"
title = "Rows"
caption = "Of ours."
rows = "a,b\n1,2\n"
```
"""
REFERENCES = r"@book{martin2020, author = {Mart{\'\i}n, Ana}, title = {A Book}, year = 2020}"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the report in three formats."""
    home = tmp_path_factory.mktemp("tex")
    (home / "r.bib").write_text(REFERENCES, encoding="utf-8")
    (home / "r.md").write_text(REPORT, encoding="utf-8")
    return {
        suffix: build_report(home / "r.md", home / f"out{suffix}").read_text(encoding="utf-8")
        for suffix in (".tex", ".md", ".ipynb")
    }


def test_latex_has_a_command_for_every_sign_that_its_fonts_lack(made: dict[str, str]) -> None:
    head, _, body = made[".tex"].partition(r"\begin{document}")
    for sign in set(body) - {chr(code) for code in range(128)} - set("–—‘’“”\xa0"):
        assert sign in SIGNS or sign.isalpha(), sign
    for sign in "εσ≤²":
        assert rf"\textsign{{{ord(sign):04X}}}{{{SIGNS[sign]}}}" in head
    assert r"\tracinglostchars=3" in head


def test_names_with_a_dotless_i_have_one_letter(made: dict[str, str]) -> None:
    for text in made.values():
        assert "Martín" in text
        assert "\u0301" not in text


def test_rows_stand_inside_a_formula_and_keep_their_number(made: dict[str, str]) -> None:
    for text in made.values():
        assert r"\begin{align}" not in text
        assert "nonumber" not in text
    assert re.search(r"\\begin\{aligned\}.*\\end\{aligned\} \\tag\{1\}\\\]", made[".tex"], re.DOTALL)


@pytest.mark.parametrize(
    ("latex", "inside"),
    [
        (r"\begin{alignat}{2} a &= b \end{alignat}", r"\begin{alignedat}{2} a &= b \end{alignedat}"),
        (r"\begin{multline} a \\ b \end{multline}", r"\begin{gathered} a \\ b \end{gathered}"),
        (r"\begin{eqnarray*} a &=& b \end{eqnarray*}", r"\begin{array}{rcl} a &=& b \end{array}"),
        (r"\begin{cases} a & b \end{cases}", r"\begin{cases} a & b \end{cases}"),
    ],
)
def test_environments_that_are_formulas_themselves_are_renamed(latex: str, inside: str) -> None:
    assert inside_formula(latex) == inside
    assert rows_with_tags(latex) == ""


def test_rows_with_numbers_of_their_own_stand_alone(tmp_path: Path) -> None:
    (tmp_path / "r.md").write_text("# T\n\n$$\n\\begin{align}\na &= b \\tag{A} \\\\ c &= d\n\\end{align}\n$$\n")
    text = build_report(tmp_path / "r.md", tmp_path / "out.tex").read_text(encoding="utf-8")
    assert "\\begin{align*}\na &= b \\tag{A} \\\\ c &= d\n\\end{align*}" in text
    assert "\\[\\begin{align" not in text


def test_the_list_of_references_is_one_of_latex(made: dict[str, str]) -> None:
    tex = made[".tex"]
    assert r"\newenvironment{CSLReferences}" in tex or "{CSLReferences}[2]" in tex
    assert r"\begin{CSLReferences}" in tex
    assert r"\citeproc{ref-martin2020}{2020}" in tex
    assert "ref-martin2020" in tex.partition(r"\begin{CSLReferences}")[2]


def test_every_link_of_markdown_and_a_notebook_leads_somewhere(made: dict[str, str]) -> None:
    cells = "\n".join("".join(cell["source"]) for cell in json.loads(made[".ipynb"])["cells"])
    for text in (made[".md"], cells):
        names = set(re.findall(r'\bid="([^"]+)"', text))
        links = set(re.findall(r"\]\(#([^)]+)\)", text))
        assert {"how", "eq-rows", "tbl-limits", "ref-martin2020"} <= links <= names
        assert "{#" not in text
    assert "compact" not in made[".md"].partition("\n---\n")[0]


def test_a_notebook_has_a_title_and_a_kernel_and_shows_its_figures(made: dict[str, str]) -> None:
    notebook = json.loads(made[".ipynb"])
    first = "".join(notebook["cells"][0]["source"])
    assert first.startswith("# Counts with ε ≤ 1\n\nA. Author (Office) · 2026-03-31")
    assert '## <span id="how">How</span>' in first
    assert notebook["metadata"]["kernelspec"] == {"display_name": "Python 3", "language": "python", "name": "python3"}
    code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(code) == 1
    assert code[0].endswith("\nfigure.chart")
    scope: dict[str, object] = {}
    exec(code[0].removesuffix("figure.chart"), scope)  # noqa: S102  # what the notebook runs
    assert hasattr(scope["figure"], "chart")


def test_the_preamble_names_each_sign_once() -> None:
    codes = re.findall(r"\\textsign\{([0-9A-F]{4})\}", preamble())
    assert len(codes) == len(set(codes)) == len(SIGNS)
    assert all(len(sign) == 1 and not sign.isascii() for sign in SIGNS)


@pytest.mark.parametrize(
    ("bib", "words"),
    [
        ("@book{a, title = {x\n}\n@book{b, title = {y}}\n", "r.bib, line 1: the entry a has a { without its }."),
        ("@book{b,\n title = {y}}\n\n@book{a,\n title = {x}\n", "r.bib, line 4: the entry a has a { without its }."),
    ],
)
def test_a_broken_file_of_references_names_its_entry(tmp_path: Path, bib: str, words: str) -> None:
    (tmp_path / "r.bib").write_text(bib, encoding="utf-8")
    (tmp_path / "r.md").write_text('+++\nbibliography = "r.bib"\n+++\n\n# T\n\nAs [@a].\n', encoding="utf-8")
    with pytest.raises(DpcoreError) as caught:
        build_report(tmp_path / "r.md", tmp_path / "out.html")
    assert str(caught.value) == f"r.md, line 2: bibliography: {words}"
