"""A strange file at every command that takes one: one sentence with row and reason, or numbers with what was left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dpcore.cli.program import main

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "dep,pay,id,t\n"
FILES = {
    "text": HEAD + "A,lots,1,1\nB,more,2,2\n",
    "mixed": "dep;pay;id;t\nA;1,5;1;1\nB;2.5;2;2\nC;1.234,5;3;1\nA;4;4;2\n",
    "missing": HEAD + "A,,1,1\n,5,2,2\nB,7,3,1\nC,NA,4,2\nA,9,5,3\n",
    "one row": HEAD + "A,5,1,1\n",
    "constant": HEAD + "".join(f"A,5,{one},{one % 4}\n" for one in range(40)),
    "undeclared": HEAD + "A,5,1,1\nCEO,6,2,2\nB,7,3,1\nC,8,4,2\n",
    "no row": HEAD,
    "nothing": "",
    "blank lines": HEAD + "\nA,5,1,1\n,,,\nB,x,2,2\nC,8,4,2\n",
}


def words_of(command: str, file: str, lower: str = "0", upper: str = "2000", column: str = "pay") -> list[str]:
    bounds = ["--lower", lower, "--upper", upper]
    return {
        "plan": [
            "plan", file, "--answers", f"mean of {column}", "count where dep = A", "--bounds", f"{column}={lower}:{upper}",
            "--categories", "dep=A,B,C", "--rows", "60",
        ],
        "interval": ["interval", file, "--column", column, *bounds, "--releases", "20"],
        "sensitivity": ["sensitivity", file, "--column", column, *bounds],
        "disclosure": ["disclosure", file, "--quasi", column, "--pram", "dep", "--keep", "0.8", "--categories", "A,B,C", "--view", "pram"],
        "series": ["series", file, "--user", "id", "--time", "t", "--value", column, *bounds],
    }[command]  # fmt: skip


def run(capsys: pytest.CaptureFixture[str], words: list[str]) -> tuple[int, str, str]:
    code = main(words)
    out, err = capsys.readouterr()
    return code, out, err


REFUSALS = {
    ("plan", "text"): "Column 'pay' gives no number: of its 2 rows, 2 not a number (the first in row 1: 'lots').",
    ("interval", "text"): "of its 2 rows, 2 no number (the first: 'lots' in row 1).",
    ("sensitivity", "text"): "of its 2 rows, 2 no number (the first: 'lots' in row 1).",
    ("series", "text"): "Row 1: column 'pay' must hold a number, got 'lots'.",
    ("series", "mixed"): "Row 3: column 'pay' must hold a number, got '1.234,5'.",
    ("disclosure", "missing"): "Row 2: column 'dep' must hold one of the categories A, B, C, got a missing value.",
    ("interval", "one row"): "needs at least 2 records, got 1.",
    ("sensitivity", "one row"): "needs at least 2 records, got 1.",
    ("series", "one row"): "A series needs 2 to 200 times, got 1.",
    ("series", "constant"): "All values are 5: a constant series has no autoregression to fit.",
    ("disclosure", "undeclared"): "Row 2: column 'dep' must hold one of the categories A, B, C, got 'CEO'.",
    ("series", "blank lines"): "Row 4: column 'pay' must hold a number, got 'x'.",
}
WARNINGS = {
    ("plan", "mixed"): "1 not a number (the first in row 3: '1.234,5'); they are left out.",
    ("plan", "missing"): "2 empty (the first in row 1)",
    ("plan", "undeclared"): "1 answer of column 'dep' not declared (the first in row 2: 'CEO'): counted as 'other'.",
    ("plan", "blank lines"): "1 not a number (the first in row 4: 'x')",
    (
        "interval",
        "mixed",
    ): "1 value dropped: 1 no number (the first: '1.234,5' in row 3). In 1 value of column 'pay' the comma was read",
    ("interval", "missing"): "1 empty (the first: row 1), 1 marked as missing (the first: 'NA' in row 4)",
    ("sensitivity", "blank lines"): "2 empty (the first: row 1), 1 no number (the first: 'x' in row 4)",
}


@pytest.mark.parametrize("command", ["plan", "interval", "sensitivity", "disclosure", "series"])
@pytest.mark.parametrize("name", FILES)
def test_a_strange_file(command: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "table.csv"
    file.write_text(FILES[name], encoding="utf-8")
    code, out, err = run(capsys, words_of(command, str(file)))
    assert "Traceback" not in err
    assert "nan" not in out.lower()
    if name in ("no row", "nothing"):
        assert (code, out) == (2, "")
        assert ("0 rows of data" if name == "no row" else "The file has no row") in err
    if (command, name) in REFUSALS:
        assert (code, out) == (2, "")
        assert REFUSALS[command, name] in err
        assert err.count("error:") == 1
    elif code == 0:
        assert out.count("\n") >= 2
    assert WARNINGS.get((command, name), "") in err
    assert file.read_text(encoding="utf-8") == FILES[name]


COMMA = HEAD.replace(",", ";") + "A;1,5;1;1\nB;2,5;2;1\nC;3;3;1\nA;2,25;1;2\nB;2;2;2\nC;2;3;2\n"
READ_AS_NUMBERS = {
    "plan": [],
    "interval": [],
    "sensitivity": [],
    "disclosure": ["--generalise", "pay:1"],
    "series": [],
}


@pytest.mark.parametrize("command", READ_AS_NUMBERS)
def test_every_reader_says_that_a_comma_was_the_decimal_sign(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where every cell is a number, so that nothing else is unusual."""
    file = tmp_path / "table.csv"
    file.write_text(COMMA, encoding="utf-8")
    words = [*words_of(command, str(file)), *READ_AS_NUMBERS[command]]
    said = "In 3 values of column 'pay' the comma was read as the decimal sign (the first: '1,5' in row 1)."
    code, out, err = run(capsys, words)
    assert (code, err.count(said)) == (0, 1)
    file.write_text(COMMA.replace(",", "."), encoding="utf-8")
    code, other, err = run(capsys, words)
    assert (code, other) == (0, out)
    assert "decimal sign" not in err


def test_a_comma_beside_commas_is_no_decimal_sign(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The comma separates the fields here, so that a quoted 1,5 may as well be two numbers."""
    file = tmp_path / "table.csv"
    file.write_text(HEAD + 'A,"1,5",1,1\nB,2,2,2\nC,3,3,1\nA,4,4,2\n', encoding="utf-8")
    code, _, err = run(capsys, words_of("plan", str(file)))
    assert code == 0
    assert "1 not a number (the first in row 1: '1,5'); they are left out." in err
    code, out, err = run(capsys, words_of("series", str(file)))
    assert (code, out) == (2, "")
    assert "Row 1: column 'pay' must hold a number, got '1,5'." in err


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("A,5,1,1\nB,6,2,1\n\nC,7,3,1\nA,NA,1,2\nB,,2,2\nC,4,3,2\n", "2 of 6 values are missing (the first: row 5)."),
        (
            "A,5,1,1\nB,6,2,1\nC,7,3,1\nA,8,1,2\nC,4,3,2\n",
            "1 of 6 values are missing (the first: no row for user '2' at '2').",
        ),
    ],
)
def test_a_series_names_the_first_missing_value(
    rows: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "table.csv"
    file.write_text(HEAD + rows, encoding="utf-8")
    assert words in run(capsys, words_of("series", str(file)))[2]


def test_a_series_with_a_column_per_time_names_row_and_column(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "wide.csv"
    file.write_text("id;may;june;july\n1;1,5;2;3\n2;2;;4\n3;;1;2\n4;1;2;1\n", encoding="utf-8")
    code, _, err = run(capsys, ["series", str(file), "--user", "id", "--lower", "0", "--upper", "9"])
    assert code == 0
    assert "2 of 12 values are missing (the first: row 2, column 'june')." in err
    assert "In 1 value of column 'may' the comma was read as the decimal sign (the first: '1,5' in row 1)." in err


@pytest.mark.parametrize("command", ["plan", "interval", "sensitivity", "series"])
def test_reversed_bounds_and_unknown_columns(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "table.csv"
    file.write_text(FILES["undeclared"], encoding="utf-8")
    code, out, err = run(capsys, words_of(command, str(file), "2000", "0"))
    assert (code, out) == (2, "")
    assert "must be below the upper bound" in err
    assert "got 2000 and 0." in err
    code, out, err = run(capsys, words_of(command, str(file), column="wage"))
    assert (code, out) == (2, "")
    assert "here is no column 'wage'" in err
    assert "dep, pay, id, t" in err
