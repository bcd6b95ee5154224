"""Reports: the examples as a page and as a PDF, alone and without a network; mistakes with file, line and expression."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe

from dpcore.cli import main
from dpcore.core.errors import DpcoreError
from dpcore.site import build_report, is_report
from dpcore.site.report import tools
from dpcore.site.report.pandoc_nodes import column_shares, words
from dpcore.site.writer import Writer
from dpcore.specs import SpecError
from tests.site.test_whole import Reader

if TYPE_CHECKING:
    from playwright.sync_api import Browser

REPORTS = Path(__file__).resolve().parents[2] / "data" / "reports"
LEDGER = 'file = "nothing.csv"'
WAYS = 'mechanism = "dp(0.1)"\nk = 3\ntheorems = ["basic", "basik"]'
EVIL = """# A title

```figure
draw = "regions"
title = "</title><script>alert(4)</script>"
regions = ["dp(1)"]
labels = ["</script><img src=x onerror=alert(7)>"]
link = { page = 'x"><script>alert(8)</script>', state = { a = '"><script>' } }
```
"""
SHORT = '# Title\n\nWords.\n\n```figure\ndraw = "regions"\ntitle = "T"\nregions = ["dp(1)"]\n```\n'


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_report(REPORTS / "spring_release.md", tmp_path_factory.mktemp("report") / "report.html")


@pytest.mark.browser
def test_a_report_holds_everything_itself(page: Path, browser: Browser) -> None:
    text = page.read_text(encoding="utf-8")
    assert "<math" in text
    assert "data:font/woff2" in text
    assert text.count("<figure") == 4
    context = browser.new_context(offline=True, color_scheme="dark")
    shown = context.new_page()
    trouble: list[str] = []
    shown.on("console", lambda message: trouble.append(message.text))
    shown.on("pageerror", lambda error: trouble.append(str(error)))
    shown.on(
        "request", lambda r: trouble.append(r.url[:80]) if not r.url.startswith((page.as_uri(), "data:")) else None
    )
    shown.goto(page.as_uri())
    shown.wait_for_selector("#one-count .still svg")
    assert shown.locator("script").count() == 0, "a report without moving charts has no script"
    assert page.stat().st_size < 500_000
    assert trouble == []
    found = Axe().run(shown, options={"preload": False}).response["violations"]
    assert [v["id"] for v in found] == []
    with shown.expect_download() as coming:
        shown.get_by_role("link", name="CSV of One noisy count").click()
    assert coming.value.path().read_text(encoding="utf-8").startswith("region,label,alpha")
    context.close()


@pytest.mark.parametrize(("suffix", "start"), [(".pdf", b"%PDF-"), (".docx", b"PK"), (".tex", b"%"), (".ipynb", b"{")])
def test_a_report_becomes_a_document(tmp_path: Path, suffix: str, start: bytes) -> None:
    spec = tmp_path / "short.md"
    spec.write_text(SHORT, encoding="utf-8")
    made = build_report(spec, tmp_path / f"out{suffix}")
    assert made.read_bytes().startswith(start)
    assert made.read_bytes() == build_report(spec, tmp_path / "again" / f"out{suffix}").read_bytes()


def test_without_the_wheels_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "find_spec", lambda _: None)
    spec = tmp_path / "short.md"
    spec.write_text(SHORT, encoding="utf-8")
    for suffix in (".pdf", ".docx", ".md"):
        with pytest.raises(
            DpcoreError, match=r'needs pypandoc, which is not installed: pip install "dpcore\[documents\]"'
        ):
            build_report(spec, tmp_path / f"out{suffix}")
    assert build_report(spec, tmp_path / "out.html").is_file()


def test_a_report_may_be_toml(tmp_path: Path) -> None:
    made = build_report(REPORTS / "two_promises.toml", tmp_path)
    assert made == tmp_path / "two_promises.html"
    text = made.read_text(encoding="utf-8")
    assert "The sliders work in the page itself." in text
    assert "http://localhost:8501/Privacy_regions?regions=" in text
    assert is_report(REPORTS / "two_promises.toml")
    assert not is_report(REPORTS.parent / "site.toml")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("r.md", SHORT.replace("dp(1)", "dp(1"), "r.md, line 8, figure figure-1, regions: 'dp(1':"),
        ("r.md", SHORT.replace("# Title\n\n", ""), "r.md, line 1: a report starts with its title"),
        ("r.md", SHORT.replace('"regions"', '"ledger"'), "is not a key of ledger"),
        ("r.md", SHORT.replace("Words.", "$\\frac$"), "r.md"),
        (
            "r.toml",
            'title = "T"\n\n[[figure]]\ndraw = "utility"\nutility = "nothing"\n',
            "r.toml, line 5, figure figure-1, utility: There is no pair 'nothing'",
        ),
        (
            "r.md",
            SHORT.replace('"regions"', '"ledger"').replace('regions = ["dp(1)"]', LEDGER),
            "r.md, line 8, figure figure-1, file: There is no file",
        ),
        (
            "r.md",
            SHORT.replace('"regions"', '"composition"').replace('regions = ["dp(1)"]', WAYS),
            "r.md, line 10, figure figure-1, theorems: unknown value 'basik'",
        ),
        (
            "r.md",
            SHORT.replace("```\n", "points = [{ alpha = nan, beta = 0 }]\n```\n"),
            "r.md, line 9, figure figure-1, points: ",
        ),
        (
            "r.md",
            SHORT.replace("```\n", 'link = { page = "x", state = { a = nan } }\n```\n'),
            "r.md, line 9, figure figure-1, link: ",
        ),
        (
            "r.md",
            SHORT.replace("Words.", "Words\nand ![x](http://other.example/x.png)"),
            "r.md, line 4: The image 'http://other.example/x.png' is not a file",
        ),
        ("r.toml", 'title = "T"\nfigure = [{ draw = "live" }]\n', "r.toml: every figure starts with a line [[figure]]"),
        ("r.toml", 'title = "T"\ntext = 3\n', "r.toml, line 2: text must be a text, got 3"),
        ("r.toml", 'title = "T"\ntext = """\nOne\n\n$\\\\foo$"""\n', "r.toml, line 5: The formula"),
        ("r.toml", 'titel = "T"\n', "r.toml, line 1: 'titel' is not a key of a report"),
        ("r.toml", 'title = "T"\n[[figure]\n', "r.toml, line 2: not TOML"),
        ("r.txt", "x", "A spec is a file that ends in .md or .toml"),
    ],
)
def test_mistakes_name_file_line_and_expression(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, said: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    code = main(["site", "--spec", str(tmp_path / name), "-o", str(tmp_path / "out.html"), "--quiet"])
    told = capsys.readouterr()
    assert code == 2
    assert told.out == ""
    assert said in told.err
    assert len(told.err.splitlines()) == 1


def test_what_a_report_holds_is_text_and_never_runs(tmp_path: Path) -> None:
    (tmp_path / "evil.md").write_text(EVIL, encoding="utf-8")
    for line in ("# A <script>alert(1)</script>", "Words <img src=x onerror=alert(2)>.", "[a](javascript:alert(3))"):
        (tmp_path / "html.md").write_text(SHORT.replace("Words.", line), encoding="utf-8")
        with pytest.raises(SpecError, match=r"html\.md, line 3: ('<|.*The link)"):
            build_report(tmp_path / "html.md", tmp_path / "evil.html")
    text = build_report(tmp_path / "evil.md", tmp_path / "evil.html").read_text(encoding="utf-8")
    tags = Reader(text).tags
    assert [tag for tag, _ in tags].count("script") == 0
    assert not any(tag == "img" or key.startswith("on") for tag, given in tags for key in given)
    assert "&lt;/title&gt;" in text


def test_a_chart_that_moves_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "r.md").write_text(f"+++\nlive = true\n+++\n{SHORT}", encoding="utf-8")
    text = build_report(tmp_path / "r.md", tmp_path / "r.html").read_text(encoding="utf-8")
    assert [tag for tag, _ in Reader(text).tags].count("script") == 2, "the chart and the page's own"
    (tmp_path / "r.md").write_text(SHORT, encoding="utf-8")
    assert build_report(tmp_path / "r.md", tmp_path / "r.html").stat().st_size < 100_000


def test_the_output_must_have_a_form(tmp_path: Path) -> None:
    with pytest.raises(DpcoreError, match=r"ends in \.html, \.pdf, \.docx"):
        build_report(REPORTS / "two_promises.toml", tmp_path / "report.odt")


def test_numbers_with_spaces_and_percentages_stay_on_one_line() -> None:
    page = Writer("a.md").markdown("Of 1 000 people 12 % and of 1 000 000 it's 5 of 3.\n\n`1 000`")
    assert "Of 1\u00a0000 people 12\u00a0% and of 1\u00a0000\u00a0000 it's 5 of 3." in page
    assert "<code>1 000</code>" in page


def test_columns_of_a_document_hold_their_longest_words() -> None:
    def row(*cells: str) -> list[list[dict[str, object]]]:
        return [words(cell) for cell in cells]

    narrow = column_shares([row("line", "kind"), row("18", "upper")])
    assert narrow == pytest.approx([7 / 66, 8 / 66], abs=1e-4)
    wide = column_shares([row("value", "theorem"), row("1.9770901513917385", "a long sentence " * 9)])
    assert sum(wide) == pytest.approx((21 + 31) / 66, abs=1e-3), "long cells are wrapped"
    assert wide[0] * 66 >= len("1.9770901513917385")
    full = column_shares([row("a" * 60, "b" * 60)])
    assert full == pytest.approx([0.5, 0.5], abs=1e-3)
