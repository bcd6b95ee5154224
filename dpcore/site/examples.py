"""The examples of our own texts: run when the site is built, and compared with the output in the text.

A number in the output or in a sentence that no example computes fails the build, with its file and line. Only texts that
come with dpcore are run; the text of anybody else is never executed.
"""

from __future__ import annotations

import contextlib
import io
import re
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from dpcore.files.data import data_folder
from dpcore.specs import SpecError

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

_EXAMPLE: Final = re.compile(
    r"^```python\n(.*?)^```[ \t]*$(?:\s*^```text\n(.*?)^```[ \t]*$)?", re.MULTILINE | re.DOTALL
)
_FENCED: Final = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
_DECIMAL: Final = re.compile(r"(?<![\w.])\d+\.\d+(?:e-?\d+)?(?![\w]|\.\d)")
_POWER: Final = re.compile(r"(?<![\w.])(\d+\.\d+)\s*\\cdot\s*10\^\{(-?\d+)\}")
_WHOLE: Final = re.compile(r"(?<![\w.,^_{/-])\d{3,}(?![\w]|\.\d)")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_PLACE: Final = re.compile(
    r"(?:Theorem|Section|Figure|Lemma|Proposition|Corollary|Table|Example|Definition|[Qq]uestions?|answer to)s?\s*$"
)
_NUMBER: Final = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
_COMPUTED: Final = ("text", "python", "figure")
_CUT: Final = 120  # characters of a line in a message


@dataclass(frozen=True)
class Example:
    """Lines of Python in a text.

    Attributes
    ----------
    code : str
        The lines.
    output : str or None
        Their output according to the text; None if it shows none.
    line, output_line : int
        Where both start in the file.
    """

    code: str
    output: str | None
    line: int
    output_line: int


def is_own(file: Path) -> bool:
    """Whether a text comes with dpcore, so that its examples may be run."""
    return file.resolve().is_relative_to(data_folder().resolve())


def examples(text: str) -> list[Example]:
    """Return the Python blocks of a text, each with the text block that follows it directly."""
    return [
        Example(
            match[1],
            match[2],
            text.count("\n", 0, match.start(1)) + 1,
            text.count("\n", 0, max(0, match.start(2))) + 1,
        )
        for match in _EXAMPLE.finditer(text)
    ]


def outputs(text: str, file: str) -> list[str]:
    """Run the examples of a text in order, in one namespace, and return the output of each.

    Raises
    ------
    SpecError
        If one fails, or its output differs from the text; it names the file and the line.
    """
    names: dict[str, object] = {"__name__": "example"}
    printed: list[str] = []
    for example in examples(text):
        out = io.StringIO()
        try:
            with contextlib.redirect_stdout(out):
                exec(compile("\n" * (example.line - 1) + example.code, file, "exec"), names)  # noqa: S102  # our own text
        except Exception as error:  # an example may raise anything; the message names its file and line
            msg = f"{file}, line {example.line}: the example fails: {type(error).__name__}: {error}"
            raise SpecError(msg) from error
        printed.append(out.getvalue())
        if example.output is not None:
            _compare(example, out.getvalue(), file)
    return printed


def _compare(example: Example, printed: str, file: str) -> None:
    text, true = (part.strip("\n").split("\n") for part in (example.output or "", printed.rstrip()))
    for place, (old, new) in enumerate(zip_longest(map(str.rstrip, text), map(str.rstrip, true))):
        if old != new:
            pair = ["nothing" if line is None else repr(line[:_CUT]) for line in (new, old)]
            msg = f"{file}, line {example.output_line + place}: the example prints {pair[0]}, the text says {pair[1]}."
            raise SpecError(msg)


# ---- numbers in sentences ------------------------------------------------------------------------------------


def prose(text: str) -> str:
    """Return a text with its fenced blocks blanked, so that line numbers stay the same."""
    return _FENCED.sub(lambda match: "\n" * match[0].count("\n"), text)


def numbers(text: str) -> list[tuple[str, int]]:
    """Return the decimals with at least two digits and the integers with at least three in the sentences, with their lines.

    Numbers of places such as Theorem 2.14, years, and thousands written with a space are left out.
    """
    sentences = _POWER.sub(r" \1e\2 ", prose(text))
    sentences = re.sub(r"\\[a-zA-Z]+", " ", sentences)  # a LaTeX command may come right before a number
    places = [
        match
        for match in _DECIMAL.finditer(sentences)
        if _digits(match[0]) >= 2 and not _PLACE.search(sentences[max(0, match.start() - 14) : match.start()])
    ]
    short = re.sub(r"\d+ 000", lambda match: " " * len(match[0]), sentences)
    places += [match for match in _WHOLE.finditer(short) if not _YEAR.fullmatch(match[0])]
    return [(match[0], sentences.count("\n", 0, match.start()) + 1) for match in places]


def unknown_numbers(text: str, constants: Collection[str] = ()) -> list[tuple[str, int]]:
    """Return the numbers in the sentences that occur in no example or output, with their lines; `constants` are allowed."""
    inside = "\n".join(body for kind, body in _FENCED.findall(text) if kind in _COMPUTED)
    computed = [float(number) for number in _NUMBER.findall(inside)]
    return [one for one in numbers(text) if one[0] not in constants and not _is_among(one[0], computed)]


def check(text: str, file: str, constants: Collection[str]) -> list[str]:
    """Run the examples of a text, check the numbers in its sentences, and return the outputs."""
    printed = outputs(text, file)
    for number, line in unknown_numbers(text, constants):
        msg = f"{file}, line {line}: no example of the text computes the number {number}."
        raise SpecError(msg)
    return printed


def _digits(number: str) -> int:
    """Return the number of significant digits of a numeral."""
    return len(number.split("e", maxsplit=1)[0].replace(".", "").lstrip("0"))


def _is_among(number: str, computed: list[float]) -> bool:
    """Whether a numeral is one of these numbers, rounded to its digits; an integer must match exactly."""
    if "." not in number:
        return float(number) in computed
    mantissa, _, power = number.partition("e")
    half = 0.5 * 10.0 ** (int(power or 0) - len(mantissa.split(".")[1]))
    return any(abs(abs(value) - float(number)) <= half * (1 + 1e-9) for value in computed)
