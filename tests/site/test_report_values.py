"""Numbers in a report are computed: a changed row changes every sentence, or the build fails with file and line."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from dpcore.cli import main
from dpcore.files.fingerprint import cache_folder
from dpcore.site.report import build as building
from dpcore.site.report import build_report, load_document
from dpcore.site.report.build import build
from dpcore.site.report.preview import Preview
from dpcore.specs import SpecError

if TYPE_CHECKING:
    from pathlib import Path

ROWS = "label,expression,count,date\na,laplace(0.1),10,2026-01-01\nb,gaussian(5),2,2026-02-03\n"
TOP = """+++
authors = ["A. Author"]
require = "budget.epsilon <= limit"

[set]
limit = 5

[values]
budget = 'ledger("rows.csv", delta=1e-6, epsilon=limit)'
+++

# The budget of {{ limit }}

The {{ budget.rows }} tables use ε ≤ {{ budget.epsilon }}, in formulas $\\varepsilon \\le {{ budget.epsilon }}$.

```claim
require = "budget.left > 1"
text = "More than 1 is left: {{ budget.left | plain }}."
```

```figure
name = "budget"
draw = "ledger"
title = "A budget of {{ limit }}"
caption = "It is {{ budget.epsilon | 3 | plain }}."
file = "rows.csv"
epsilon = "{{ limit }}"
```
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "rows.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "r.md").write_text(TOP, encoding="utf-8")
    return tmp_path


def page(home: Path, **settings: str) -> str:
    return build_report(home / "r.md", home / "r.html", settings=settings).read_text(encoding="utf-8")


def test_values_stand_in_the_title_sentences_formulas_captions_and_claims(home: Path) -> None:
    text = page(home)
    epsilon = re.search(r"ε ≤ <span class=\"value\">([0-9.]+) \((upper bound|exact)\)</span>", text)
    assert epsilon
    assert "<h1>The budget of 5</h1>" in text
    assert "A budget of 5</p>" in text
    assert "{{" not in text
    assert f"<mn>{epsilon[1]}</mn>" in text
    assert "budget.left &gt; 1: holds" in text
    assert "Numbers in the text (" in text
    assert "2026-02-03" in text, "the newest date of the inputs"
    assert re.search(r"Built by dpcore [0-9.]+ from r\.md \(sha256 [0-9a-f]{16}\), rows\.csv \(sha256", text)
    assert text == page(home), "byte for byte"


def test_a_changed_row_changes_every_sentence_or_fails(home: Path) -> None:
    before = page(home)
    (home / "rows.csv").write_text(ROWS.replace(",10,", ",12,"), encoding="utf-8")
    after = page(home)
    pattern = re.compile(
        r"ε ≤ <span class=\"value\">([0-9.]+)|<mn>([0-9.]+)</mn>|It is <span class=\"value\">([0-9.]+)"
    )
    numbers = [[next(filter(None, match)) for match in pattern.findall(text)] for text in (before, after)]
    assert len(numbers[0]) == len(numbers[1]) >= 3
    assert all(old != new for old, new in zip(*numbers, strict=True) if float(old) != 5)
    (home / "rows.csv").write_text(ROWS.replace(",10,", ",5000,"), encoding="utf-8")
    with pytest.raises(
        SpecError, match=r"r\.md, line 3: a required condition does not hold: budget\.epsilon <= limit: fails"
    ):
        page(home)


def test_a_wrong_row_names_its_file(home: Path) -> None:
    (home / "rows.csv").write_text(ROWS.replace("laplace", "laplce"), encoding="utf-8")
    with pytest.raises(
        SpecError, match=r"r\.md, line 9: rows\.csv: Row 1 \(a\) is not included: Unknown name 'laplce'"
    ):
        page(home)


def test_parameters_are_set_from_outside(home: Path) -> None:
    assert "The budget of 7" in page(home, limit="7")
    with pytest.raises(SpecError, match=r"did you mean limit\?"):
        page(home, limits="7")
    with pytest.raises(SpecError, match="the parameter limit is a number, got 'x'"):
        page(home, limit="x")
    with pytest.raises(SpecError, match=r"r\.md, line 17: a required condition does not hold: budget\.left > 1: fails"):
        page(home, limit="2.5")


MISTAKES = {
    "{{ budget.epsilom }}": "line 14: budget has no part 'epsilom'; did you mean epsilon?",
    "{{ budget.epsilon | twelve }}": "line 14: There is no format 'twelve'",
    "{{ budget.epsilon": "line 14: '{{ budget.epsi': write a computed value between",
    "$5 and then $10": "line 14: '$5 and then $': this $ does not start or end a formula",
    r"$\begin{alinged} a \end{alinged}$": "did you mean aligned?",
    r"$\vareps$": r"unknown command \vareps; did you mean \varepsilon?",
    r"$\frac{1}{2$": "has a { without its }",
    r"A formula \(x\).": "write it between dollar signs",
    "$a & b$": "has & outside of rows",
    "```Figure\ndraw = 1\n```": "line 14: the block 'Figure' is not computed; did you mean figure?",
    "```{figure}\ndraw = 1\n```": "line 14: the block '{figure}' is not computed; did you mean figure?",
    "```clam\n```": "did you mean claim?",
    "See @fig:bugdet.": "there is no 'fig:bugdet' to refer to; did you mean fig:budget?",
    "See @tbl:budget.": "line 14: there is no 'tbl:budget' to refer to; did you mean fig:budget?",
    '{{ epsilons("dp(1)", delta="a") }}': "line 14: delta of epsilons must be a number, got 'a'.",
    "{{ epsilons(3, delta=0.1) }}": "line 14: ",
    "{{ table(3) }}": "line 14: file of table must be a text, got '3'.",
    "$$\na\n{#eq:a}\n\nWords\n\n$$ b $$": "line 14: the formula that begins here has no end before its name; close it, $$ {#eq:name}.",
    "See @figure 1.": "a reference is written @fig:name",
    "A note[^9].": "there is no footnote with this name",
    "!!! note": "'!!!' does not start a note here",
    "- [ ] task": "task lists are not supported",
    "::: warning": "':::' does not start a block here",
    "[a](missing.md)": "The link 'missing.md' leads nowhere",
    "[a](#nowhere)": "The link '#nowhere' leads nowhere",
    "[a][b]": "there is no link with this name",
    "As in [@dong].": "needs a bibliography",
    "A <b>tag</b>.": "'<b>' is HTML",
    "![x](missing.png)": "There is no file",
    "![x](../x.png)": "leads out of the folder",
    "Words {#sec:x}": "a name in braces belongs to a heading",
    "    ```figure\n    draw = 1\n    ```": "an indented line would be shown as code",
    "\tWords": "an indented line would be shown as code",
    "As @dong2022 say.": r"the citation @dong2022 needs a bibliography; name a file of references at the top: bibliography = "
    r'"references.bib", or write \@ for the sign itself.',
    r"\begin{equation}x\end{equation}": r"'\begin' is TeX outside of a formula",
    r"See \ref{eq:a}.": r"'\ref' is TeX outside of a formula",
    "$50%$": r"has %, which is not allowed in a formula; write \%.",
    "A &nosuch; sign.": "there is no character with this name",
    "{ budget.epsilon }": "write a computed value between",
    "{% if x %}": "a text has no statements",
    "`{python} x`": "is not run; write a computed value between",
    "**strong": "this ** does not start or end bold text",
    "H~2~O": "a sub- or superscript is a formula",
    "Term\n: words": "definition lists are not supported",
    "#Heading": "a heading needs a space after its #",
    "> [!NOTE]\n> words": "'[!' does not start a note here",
    "[TOC]": "the table of contents is made automatically",
    "[[text:reports]]": "names a page of a site, and a report has none",
    "| a | b |\n| 1 | 2 |": "a table needs a line such as |---|---|",
    "[a]()": "a link has no address",
    "[a] (https://example.org)": "a link has no space between its words and its address",
    "(a)[https://example.org]": "a link has its words first",
    "![x](r.svg){width=50%}": "an image keeps the size of its file",
    "![x](row.csv)": "must end in .png",
    "It is { limit } here.": "'{ limit }' is not computed; write {{ limit }}.",
    "# Second": "the text has a title already; a section starts with ##.",
    "$$\na": "this $$ has no partner: a formula on lines of its own begins and ends with $$.",
    "$$\n\\begin{a}": r"'$$\n\\begin{a}': this $$ has no partner",
    '{{ cell("rows.csv", "count", 9) }}': "rows.csv: The file has rows 1 to 2, got row 9.",
}
LATER = {  # the second line of what was inserted, or a later one
    "a `b\nc` d\n\\(x\\)": (16, "does not start a formula"),
    "| a |\n|---|\n| $|x|$ |": (16, "a row of the table has 3 cells, its head 1"),
    '```claim\nrequire = "limit <= 9"\ntext = "It is 4.2."\n```': (
        16,
        "the claim says 4.2, which its condition does not check",
    ),
    '```claim\nrequire = "limit <= 9,5"\ntext = "x"\n```': (15, "a number has a decimal point"),
    '```claim\nrequire = "limit <= 5%"\ntext = "x"\n```': (15, "5 % as 0.05"),
    "A[^1].\n\n[^1]: One.\n\n[^1]: Two.": (18, "there are two footnotes [^1]"),
    "A.\n\n[^1]: One.": (16, "nothing refers to the footnote [^1]"),
    "| a | b |\n|---|---|\n| 1 |": (
        16,
        "a row of the table has 1 cells, its head 2; an empty cell is a space between two bars",
    ),
    "| a |\n|---|\n| 1 |\n\nTable: One\n\nTable: Two": (20, "the table above has a caption already"),
    "$$\na\n$$ {#eqn:a}": (16, "'{#eqn:a}' is no name of a formula; write $$ {#eq:name}."),
    "## A\n\n#### B": (16, "the heading is 2 levels below the one before it; write ###."),
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes_are_errors_with_file_line_and_remedy(
    home: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = TOP.replace("The {{ budget.rows }}", f"{text}\n\nThe {{{{ budget.rows }}}}")
    (home / "r.md").write_text(whole, encoding="utf-8")
    assert main(["report", "build", str(home / "r.md"), "-o", str(home / "r.html"), "--quiet"]) == 2
    said = capsys.readouterr().err
    assert MISTAKES[text] in said
    assert said.startswith("error: r.md, line 14: ")
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize("text", LATER)
def test_mistakes_in_later_lines(home: Path, text: str) -> None:
    whole = TOP.replace("The {{ budget.rows }}", f"{text}\n\nThe {{{{ budget.rows }}}}")
    (home / "r.md").write_text(whole, encoding="utf-8")
    line, words = LATER[text]
    with pytest.raises(SpecError) as caught:
        page(home)
    assert str(caught.value).startswith(f"r.md, line {line}: ")
    assert words in str(caught.value)


def test_a_block_without_an_end_is_named(home: Path) -> None:
    (home / "r.md").write_text(TOP.removesuffix("```\n"), encoding="utf-8")
    with pytest.raises(SpecError, match=r"r\.md, line 21: the block has no end; close it with a line ```\."):
        page(home)


def test_a_text_in_another_encoding_is_named(home: Path) -> None:
    (home / "r.md").write_bytes(TOP.replace("tables", "Größen").encode("latin-1", "replace"))
    with pytest.raises(SpecError, match=r"r\.md is not a text in UTF-8: line 14 has the byte f6; save it in UTF-8"):
        page(home)


def test_a_typed_statement_is_noted(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = "Theirs is ε ≤ 3.2, ours {{ budget.epsilon }}; `ε = 1`, ε = {{ 2.5 }} and $\\mu = 1/\\sigma$ are not typed, nor is ε > 0.\n"
    (home / "r.md").write_text(TOP + f"\n{words}", encoding="utf-8")
    assert main(["report", "build", str(home / "r.md"), "-o", str(home / "r.html"), "--quiet"]) == 0
    notes = capsys.readouterr().err.splitlines()
    note = "'ε ≤ 3.2' is typed and will not follow the data; compute it, or write {{ 3.2 }} for a number that is given."
    assert notes == [f"note: r.md, line 30: {note}"]


def test_a_value_with_a_format_stands_in_a_table(home: Path) -> None:
    table = "\n| what | value |\n|---|---|\n| left | {{ budget.left | 2 | plain }} |\n"
    (home / "r.md").write_text(TOP + table, encoding="utf-8")
    assert re.search(r'<td><span class="value">[0-9.]+</span></td>', page(home))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('authors = ["A. Author"]', 'logo = "rows.svg"', "r.md, line 2: logo: There is no file 'rows.svg'"),
        (
            'authors = ["A. Author"]',
            'bibliography = "row.bib"',
            "r.md, line 2: bibliography: There is no file 'row.bib'",
        ),
        ('authors = ["A. Author"]', 'date = "Today"', "r.md, line 2: date is a day, 'today' or 'newest', got 'Today'."),
        (
            'authors = ["A. Author"]',
            'date = "newset"',
            "r.md, line 2: date is a day, 'today' or 'newest', got 'newset'.",
        ),
        ("[set]", "[sets]", "r.md, line 5: 'sets' is not a key of a report; did you mean set?"),
        ("+++\nauthors", "---\nauthors", "r.md, line 1: a text starts with TOML between two lines +++"),
        ("limit = 5", "limit = 5\n4x = 1", "r.md, line 7: a parameter has a name"),
        ("require =", "requires =", "r.md, line 3: 'requires' is not a key of a report; did you mean require?"),
        ("ledger(", "leger(", "r.md, line 9: There is no function 'leger'; did you mean ledger?"),
        (
            '"rows.csv", delta',
            '"row.csv", delta',
            "r.md, line 9: There is no file 'row.csv' in the folder of the document; did you mean rows.csv?",
        ),
        ("+++\n\n# The", "\n# The", "r.md, line 1: the top of a report ends with a second line +++."),
        ('authors = ["A. Author"]', "authors = [3]", "r.md, line 2: authors are names"),
        ('authors = ["A. Author"]', 'language = "not a tag"', "r.md, line 2: language must be a language tag"),
    ],
)
def test_mistakes_at_the_top(home: Path, old: str, new: str, said: str) -> None:
    (home / "r.md").write_text(TOP.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        page(home)
    assert said in str(caught.value)


def test_what_looks_like_a_mistake_and_is_none(home: Path) -> None:
    signs = "a * b, 5*3, a:b:c, x^2 and 2~3, a@b.org, R&D; {1, 2}, #1, ~~gone~~, `python -m x`"
    text = f"{signs}. It costs \\$5 and `{{{{ x }}}}`, `$5`.\n\n```text\n{{{{ x }}}} $ @fig:x [^1]\n```\n\nThe {{{{ budget.rows }}}}"
    (home / "r.md").write_text("\ufeff" + TOP.replace("The {{ budget.rows }}", text, 1), encoding="utf-8")
    made = page(home)
    assert "It costs $5" in made
    assert "<code>{{ x }}</code>" in made


def test_a_second_build_draws_only_what_changed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["report", "build", str(home / "r.md"), "-o", str(home / "r.html"), "--quiet"]
    said = []
    for change in ("", "", "words"):
        if change:
            (home / "r.md").write_text(TOP + f"\nMore {change}.\n", encoding="utf-8")
        assert main(command) == 0
        said.append(capsys.readouterr().out)
    assert "drew 1 figures" in said[0]
    assert "nothing changed" in said[1]
    assert "wrote" in said[2]
    assert "drew" not in said[2]
    (home / "r.html").write_text("broken", encoding="utf-8")
    assert main(command) == 0
    assert "wrote" in capsys.readouterr().out
    assert "More words" in (home / "r.html").read_text(encoding="utf-8")
    assert build(home / "r.md", home / "r.html", cache=cache_folder(home / "r.html")).drawn == ()


def test_a_preview_follows_its_files_and_shows_mistakes(home: Path) -> None:
    preview = Preview(home / "r.md", {}, home / "cache")
    preview.build()
    assert "EventSource" in preview.page
    assert not preview.look()
    (home / "rows.csv").write_text(ROWS.replace(",10,", ",12,"), encoding="utf-8")
    (home / "rows.csv").touch()
    preview.seen = dict.fromkeys(preview.seen, 0.0)
    assert preview.look()
    assert preview.drawn == ("budget",)
    (home / "r.md").write_text(TOP.replace("limit = 5", "limit = 0.1"), encoding="utf-8")
    preview.seen = dict.fromkeys(preview.seen, 0.0)
    assert preview.look()
    assert "a required condition does not hold" in preview.page


def test_a_document_says_what_it_reads(home: Path) -> None:
    document = load_document(home / "r.md")
    assert document.inputs == ("rows.csv",)
    assert document.date == "2026-02-03"
    assert [label.words() for label in document.text.labels.values()] == ["Figure 1"]


def test_an_image_has_a_name_and_a_heading_may_have_that_of_a_figure(home: Path) -> None:
    (home / "own.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"/>', encoding="utf-8")
    more = "\n## Budget\n\n## Again {#sec:budget}\n\n![Our *own*](own.svg){#fig:Own}\n\nSee @fig:budget, @sec:budget and @fig:Own.\n"
    (home / "r.md").write_text(TOP + more, encoding="utf-8")
    text = page(home)
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    for target, words in (("budget", "Figure 1"), ("budget-2", "“Again”"), ("fig-Own", "Figure 2")):
        assert f'<a href="#{target}">{words}</a>' in text
        assert target in ids
    assert re.search(r'<h2 id="budget-2">.*Again', text)
    assert build_report(home / "r.md", home / "r.pdf").read_bytes().startswith(b"%PDF")
    (home / "r.md").write_text(TOP + "\n![Costs $5](own.svg){#fig:own}\n", encoding="utf-8")
    with pytest.raises(SpecError, match=r"line 30: 'Costs \$5': this \$ does not start or end a formula"):
        page(home)


def test_captions_and_claims_cite(home: Path) -> None:
    text = TOP.replace("[set]", 'bibliography = "own.bib"\n\n[set]').replace("It is {{", "After @key2020: {{")
    text = text.replace("More than 1 is left:", "As in [@other2021, p. 3], more than 1 is left:")
    entry = "@article{%s, author={Berg, %s}, title={T}, journal={J}, year={%s}}\n"
    (home / "own.bib").write_text(entry % ("key2020", "A.", 2020) + entry % ("other2021", "B.", 2021), encoding="utf-8")
    (home / "r.md").write_text(text, encoding="utf-8")
    whole = page(home)
    assert whole.count('id="ref-') == 2
    assert "After Berg" in whole
    (home / "r.md").write_text(text.replace("@key2020", "@kye2020"), encoding="utf-8")
    with pytest.raises(SpecError, match=r"r\.md, line 27: own\.bib has no reference 'kye2020'; did you mean key2020\?"):
        page(home)


def test_parallel_rows_reach_the_risk_figure_by_the_file_of_the_ledger(home: Path) -> None:
    """No expression says what a group promises, so that its region cannot be written into a figure."""
    rows = "label,expression,count,date,group\na,laplace(0.1),1,2026-01-01,g\nb,laplace(0.1),1,2026-01-02,g\n"
    (home / "rows.csv").write_text(rows, encoding="utf-8")
    figure = '\n```figure\nname = "risk"\ndraw = "risk"\ntitle = "Risk"\n%s\n```\n'
    top = TOP.replace("budget.left > 1", "budget.left > 0.1")
    (home / "r.md").write_text(top + figure % 'regions = "{{ budget.region }}"', encoding="utf-8")
    with pytest.raises(SpecError, match=r'No expression says what <ledger of 2 rows> promises.*file = "releases\.csv"'):
        page(home)
    (home / "r.md").write_text(top + figure % 'file = "rows.csv"', encoding="utf-8")
    assert "all releases" in page(home)
    (home / "rows.csv").write_text(rows.replace(",g\n", ",\n"), encoding="utf-8")
    (home / "r.md").write_text(top + figure % 'regions = "{{ budget.region }}"', encoding="utf-8")
    assert "laplace(0.1)^2" in page(home)


def test_authors_are_cited_within_a_sentence_and_in_brackets(home: Path) -> None:
    entry = "@article{dong2022, author = {Dong, J. and Roth, A.}, title = {Gaussian}, year = {2022}, journal = {J}}\n"
    (home / "own.bib").write_text(entry, encoding="utf-8")
    text = TOP.replace('authors = ["A. Author"]', 'bibliography = "own.bib"')
    (home / "r.md").write_text(text + "\nAs @dong2022 say, and others [@dong2022, Theorem 2].\n", encoding="utf-8")
    plain = re.sub(r"<[^>]+>", "", page(home)).replace("\N{NO-BREAK SPACE}", " ")
    assert "As Dong and Roth (2022) say, and others (Dong and Roth 2022, Theorem 2)." in plain
    assert plain.count("“Gaussian.”") == 1, "in the list of references"
    (home / "r.md").write_text(text + "\nAs @dong2023 say.\n", encoding="utf-8")
    with pytest.raises(SpecError, match=r"line 30: own\.bib has no reference 'dong2023'; did you mean dong2022\?"):
        page(home)


def test_several_formats_are_one_reading(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = []

    def counted(*arguments: Any) -> Any:
        read.append(arguments)
        return load_document(*arguments)

    monkeypatch.setattr(building, "load_document", counted)
    outputs = [word for suffix in ("html", "pdf", "docx") for word in ("-o", str(home / f"r.{suffix}"))]
    assert main(["report", "build", str(home / "r.md"), *outputs, "--quiet"]) == 0
    assert len(read) == 1


def test_an_unchanged_report_is_recognised_in_a_second(home: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "dpcore",
        "report",
        "build",
        str(home / "r.md"),
        "-o",
        str(home / "r.html"),
        "--quiet",
    ]
    said, seconds = [], 0.0
    for _ in range(2):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        said.append(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime - before.ru_utime
    assert "nothing changed" in said[1]
    assert seconds < 1, "CPU time, which does not depend on how many figures there are"
