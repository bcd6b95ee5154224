"""Files: every row kept, wrong ones named with their reason, and nothing lost on the way back."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from dpcore.core.errors import DomainError
from dpcore.ledger import Ledger, read_ledger, reading, to_csv, to_frame, to_json

ROOT = Path(__file__).resolve().parents[2]
GOOD = 'label,expression,count,date,note,group\na,laplace(0.1),3,2026-01-01,first,\nb,"dp(1, 1e-6)",1,,,g\n'


def test_a_plain_file() -> None:
    found = read_ledger(GOOD)
    assert found.problems == found.messages == ()
    assert [str(row.region) for row in found.ledger.rows] == ["laplace(0.1)", "dp(1, 1e-6)"]
    assert found.ledger.rows[0].date == "2026-01-01"
    assert found.ledger.rows[1].group == "g"


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (GOOD.encode("utf-8-sig"), "byte-order mark"),
        (GOOD.encode("utf-16"), "UTF-16"),
        (GOOD.replace("first", "größer").encode("latin-1"), "Latin-1"),
        (GOOD.replace('"', "").replace(",", ";").replace("dp(1; 1e-6)", "dp(1, 1e-6)").encode(), "semicolons"),
        (("sep=;\r\n" + GOOD.replace('"', "").replace(",", ";")).replace("dp(1; ", "dp(1, ").encode(), "semicolons"),
        (GOOD.replace("\n", "\r\n").encode(), ""),
        (("\n\n" + GOOD + "\n,,,\n").encode(), ""),
        (GOOD.replace("label,", "Label ,").replace("count", "COUNT").encode(), ""),
        (GOOD.replace('"', "").encode(), ""),  # commas of an expression need no quotation marks
    ],
)
def test_unusual_files_say_the_same(data: bytes, told: str) -> None:
    found = read_ledger(data)
    assert found.problems == ()
    assert [str(row.region) for row in found.ledger.rows] == ["laplace(0.1)", "dp(1, 1e-6)"]
    assert any(told in words for words in found.messages) if told else found.messages == ()


def test_wrong_rows_are_named_good_ones_kept_and_nothing_is_lost() -> None:
    text = (
        "label,expression,count,owner\n"
        "good,laplace(0.1),3,Ann\n"
        "typo,lapl(0.1),3,Bob\n"
        "less,laplace(0.1),-3,Cid\n"
        ",laplace(0.1),1.000,Dan\n"
        "wide,laplace(0.1),1,Eve,extra,more\n"
        "short,dp(1\n"
        "none,,1\n"
        'also good,"dptv(1, 0, 0.9)",2,Fay\n'
    )
    found = read_ledger(text)
    reasons = {
        2: r"Row 2 (typo) is not included: Unknown name 'lapl' at column 1: did you mean laplace?",
        3: "Row 3 (less) is not included: count must be an integer in [1, 1000000000000000], got '-3'.",
        4: "Row 4 is not included: count must be an integer",
        6: "Row 6 (short) is not included: count is empty",
        7: "Row 7 (none) is not included: expression is empty",
    }
    assert [entry.row for entry in found.entries if entry.problem] == list(reasons)
    for problem, words in zip(found.problems, reasons.values(), strict=True):
        assert problem.startswith(words)
    assert [row.label for row in found.ledger.rows] == ["good", "wide", "also good"]
    assert found.ledger.rows[1].extra == (("owner", "Eve"), ("column 5", "extra"), ("column 6", "more"))
    assert found.ledger.rows[2].extra == (("owner", "Fay"),)
    assert any("Row 8 (also good)" in words and "changes nothing" in words for words in found.messages)
    for kept in ("Bob", "lapl(0.1)", "-3", "Dan", "1.000", "extra", "more", "dp(1", "Fay"):
        assert kept in to_csv(found)
        assert kept in to_json(found)
    again = read_ledger(to_csv(found))
    assert to_csv(again) == to_csv(found)
    assert read_ledger(to_json(found)).ledger.rows == found.ledger.rows
    assert to_frame(found)["owner"].tolist()[:3] == ["Ann", "Bob", "Cid"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "no row"),
        (b"\n \n", "no row"),
        (b"label,expr,count\na,dp(1),1\n", "without expression"),
        (b"a,dp(1),1\n", "without label and expression and count"),
        (b"label,expression,count,count\n", "names the column 'count' 2 times"),
        (b"PK\x03\x04rest", "spreadsheet"),
        (b"label,expression,count\n\0", "zero bytes"),
        (b'label,expression,count\n"a,dp(1),1\n' + b"x" * 200_000, "cannot be read as CSV"),
        (b'{"rows": [', "cannot be read as JSON"),
        (b'{"rows": 3}', "list of rows"),
        (b'[{"count": NaN}]', "NaN is not a number"),
        (b"[" * 100_000, "cannot be read as JSON"),
        (b'{"rows": [], "relation": "both"}', "relation must be empty"),
        (b"\0" * 100_000_000, "100 000 000 bytes; at most 20 971 520"),
    ],
)
def test_files_that_are_no_ledger(data: bytes, words: str) -> None:
    with pytest.raises(DomainError, match=words):
        read_ledger(data)


def test_too_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_ROWS", 1000)
    assert len(read_ledger("label,expression,count\n" + "a,dp(1),1\n" * 1000).ledger) == 1000
    with pytest.raises(DomainError, match="more than 1 000 rows"):
        read_ledger("label,expression,count\n" + "a,dp(1),1\n" * 1001)


def test_json_rows() -> None:
    body = [
        {"label": 2026, "expression": "dp(1)", "count": 2, "owner": "Ann", "tags": [1, 2]},
        {"label": "x", "expression": ["dp(1)"], "count": 2},
        {"label": "y", "count": 2},
        5,
        {"label": "z", "expression": "dp(1)", "count": None},
    ]
    found = read_ledger(json.dumps({"rows": body, "relation": "substitution"}))
    assert found.ledger.relation == "substitution"
    assert found.ledger.rows[0].label == "2026"
    assert [p.split(": ", 1)[1] for p in found.problems] == [
        "expression must be a text, got ['dp(1)'].",
        "it has no expression.",
        "it must be an object with label, expression, count, got 5.",
        "count is empty; write how many such releases there were, from 1 upwards.",
    ]
    again = json.loads(to_json(found))
    assert again["relation"] == "substitution"
    assert again["rows"][0]["tags"] == [1, 2]
    assert again["rows"][3] == {"value": 5}
    assert read_ledger(json.dumps(body)).ledger.relation == ""


def test_a_ledger_goes_out_and_comes_back() -> None:
    ledger = Ledger.of(
        ('a, "b"', "dp(1, 0.1)", 3, "2026", "line\nbreak", "g", 2), ("ä;", "laplace(0.1) * gdp(1)", 10**15)
    )
    assert read_ledger(to_csv(ledger)).ledger == ledger
    assert read_ledger(to_json(ledger)).ledger == ledger
    assert to_frame(Ledger()).columns.tolist()[:3] == ["label", "expression", "count"]


@pytest.mark.parametrize("file", sorted((ROOT / "data" / "ledgers").glob("*.csv")), ids=lambda file: file.stem)
def test_the_examples_read(file: Path) -> None:
    found = read_ledger(file.read_bytes())
    assert found.problems == found.messages == ()
    assert len(found.ledger) >= 4


def test_damaged_files_are_read_or_refused_in_words() -> None:
    whole = Ledger.of(("a", "dp(1, 0.1)", 3, "2026", "x; y", "g"), ("b", "laplace(0.1)", 2))
    chance = random.Random(7)
    read = 0
    for turn in range(600):
        data = bytearray((to_csv(whole) if turn % 2 else to_json(whole)).encode())
        for _ in range(chance.randint(1, 5)):
            place = chance.randrange(len(data))
            kind = chance.random()
            if kind < 0.4:
                data[place] = chance.randrange(256)
            elif kind < 0.7:
                del data[place]
            else:
                data.insert(place, chance.choice(b',;"\n\r{}[]():\\0'))
        try:
            found = read_ledger(bytes(data))
        except DomainError:
            continue
        read += 1
        assert len(found.entries) == len(found.ledger) + len(found.problems)
        assert to_csv(read_ledger(to_csv(found))) == to_csv(found)
    assert read > 100
