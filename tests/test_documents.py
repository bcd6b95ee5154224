"""Documents of strangers: bounded in size and depth, and looked through in one go before a parser sees them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.core.errors import DomainError
from dpcore.files.documents import (
    MOST_DEPTH,
    MOST_DIGITS,
    MOST_TEXT,
    DocumentError,
    bytes_of,
    json_of,
    text_of,
    toml_of,
)

DEEP = MOST_DEPTH + 1
LONG = MOST_DIGITS + 1
HIDDEN = ('"""\n""""', "'''\n'''''", '"\\""', "'\"'", '"""\\""""""', '"a" # "\n', '"""a\n"b" ""c"""')
"""Strings after which a careless reader believes itself inside or outside of one."""


@pytest.mark.parametrize(
    "text",
    [
        f"a = {'[' * DEEP}{']' * DEEP}",
        f"a = {'{a=' * DEEP}1{'}' * DEEP}",
        ".".join("a" * DEEP) + " = 1",
        " . ".join(['"a"'] * DEEP) + " = 1",
        f"[{'.'.join('a' * DEEP)}]",
        f"a = {'1' * LONG}",
        f"a = 0x{'f' * LONG}",
        f"a = 1.{'0' * LONG}",
        *(f"b = {text}\na = {'[' * 3000}{']' * 3000}" for text in HIDDEN),
    ],
)
def test_toml_that_is_too_deep_or_too_long_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(DocumentError, match=r"at most 300 are read|nested more than 64 deep") as caught:
        toml_of(text)
    assert caught.value.line == text.count("\n") + 1


@pytest.mark.parametrize(
    "text",
    [
        f"a = {'[' * MOST_DEPTH}{']' * MOST_DEPTH}",
        f'a = "{"[" * 500}"',
        f"a = '{'[' * 500}'",
        f'a = """\n{"[" * 500}\n"""',
        f"a = '''\n{'[.' * 500}'' {'9' * 900}\n'''",
        f"a = 1 # {'[' * 500}\n",
        "a = [" + "1.5, " * 5000 + "]",
        "\n".join(f"[[figure]]\na.b.c.d = {i}" for i in range(500)),
        *(f"b = {text}\n" for text in HIDDEN),
    ],
)
def test_toml_within_the_bounds_is_what_tomllib_reads(text: str) -> None:
    assert toml_of(text) == tomllib.loads(text)


def test_a_mistake_of_toml_stays_one() -> None:
    for text in ("a = [", 'a = "', "a = '''", "= 1", 'a = """x', "a = 'x\n'"):
        with pytest.raises(tomllib.TOMLDecodeError):
            toml_of(text)


KEYS = st.text(st.sampled_from("ab.\"'[]{}# \\\n"), max_size=6)


@given(
    st.recursive(
        st.integers() | st.booleans() | KEYS, lambda some: st.lists(some, max_size=3) | st.dictionaries(KEYS, some)
    )
)
def test_json_within_the_bounds_is_what_json_reads(value: object) -> None:
    text = json.dumps(value, indent=1)
    assert json_of(text) == json.loads(text)


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "[" * DEEP + "]" * DEEP, '{"a":' * DEEP + "1" + "}" * DEEP, '["\\"", ' + "[" * DEEP, "1" * LONG],
)
def test_json_that_is_too_deep_or_too_long_is_refused(text: str) -> None:
    with pytest.raises(DocumentError, match=r"are read|nested more than"):
        json_of(text)


@pytest.mark.parametrize("text", ["[NaN]", "[Infinity]", "[1e999]", "[", '["', "1 2", ""])
def test_what_is_no_json_is_an_error(text: str) -> None:
    with pytest.raises(
        ValueError, match=r"not a number of JSON|too large for a number|Expecting|Unterminated|Extra data"
    ):
        json_of(text)


def test_files_are_bounded_and_named(tmp_path: Path) -> None:
    large = tmp_path / "large.md"
    large.write_bytes(b"a" * (MOST_TEXT + 1))
    with pytest.raises(DomainError, match=r"large\.md' has more than 2 000 000 bytes"):
        text_of(large)
    with pytest.raises(DomainError, match=r"There is no file '.*nothing'"):
        bytes_of(tmp_path / "nothing")
    with pytest.raises(DomainError, match="There is no file '/dev/zero'"):
        bytes_of(Path("/dev/zero"))
    (tmp_path / "latin").write_bytes(b"\xe9")
    with pytest.raises(DomainError, match="latin is not a text in UTF-8"):
        text_of(tmp_path / "latin")
    (tmp_path / "lines").write_bytes(b"a\r\nb\rc\n")
    assert text_of(tmp_path / "lines") == "a\nb\nc\n"
