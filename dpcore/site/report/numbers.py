"""The numbers of a report: values of its text are computed once, shown with their kind, and listed at its end."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from dpcore.core.errors import DpcoreError
from dpcore.core.numerals import nearest, numeral
from dpcore.site.dialect import values_in
from dpcore.specs import SpecError
from dpcore.values import NumberValue, Scope, TextValue, condition, shown_value, value
from dpcore.values.quantity import GIVEN, given
from dpcore.values.show import exact_text

if TYPE_CHECKING:
    from pathlib import Path

    from dpcore.site.report.front import Front

_POWER: Final = re.compile(r"([0-9.]+)e(-?[0-9]+)")
COLUMNS: Final = ("line", "expression", "shown", "value", "other side", "kind", "theorem", "neighbours")


@dataclass(frozen=True)
class CheckedClaim:
    """A statement that was checked: its text, and the words of the check."""

    text: str
    words: str


@dataclass
class TextValues:
    """Computes the values of a text; called with an expression, its line and a form.

    Attributes
    ----------
    file : str
        For messages.
    scope : Scope
        Named values and the folder of the document.
    entries : dict
        Every number that was shown: (line, expression) to the text and the number.
    """

    file: str
    scope: Scope
    entries: dict[tuple[int, str], tuple[str, NumberValue]] = field(default_factory=dict)

    @classmethod
    def of(cls, front: Front, file: str, folder: Path) -> TextValues:
        """Return the values of a report, with those at its top computed and its conditions checked."""
        values = cls(file, Scope(folder=folder))
        for name, one in front.parameters.items():
            values.scope.values[name] = TextValue(one) if isinstance(one, str) else given(one)
        for name, (text, line) in front.values.items():
            values.scope.values[name] = values.computed(text, line)
        for text, line in front.require:
            values.check(text, line)
        return values

    def __call__(self, expression: str, line: int, form: str) -> str:
        """Return a value as words of a sentence, in a formula, or in full for another expression."""
        text, *formats = (part.strip() for part in expression.split("|"))
        one = self.computed(text, line)
        try:
            if form == "exact":
                return exact_text(one)
            shown = shown_value(one, *(formats if form == "words" else [*formats, "plain"]))
        except DpcoreError as error:
            raise self.problem(str(error), line) from error
        if isinstance(one, NumberValue) and one.kind != GIVEN:
            self.entries.setdefault((line, text), (shown, one))
        return _latex(shown) if form == "math" else shown

    def computed(self, text: str, line: int) -> Any:
        """Return the value of an expression; an error names file and line."""
        parts, at = [], 0
        for match in values_in(text):
            parts += [text[at : match.start()], self(match[1], line, "exact")]
            at = match.end()
        try:
            return value("".join(parts) + text[at:], self.scope)
        except SpecError:
            raise
        except DpcoreError as error:
            raise self.problem(str(error), line) from error

    def check(self, text: str, line: int) -> str:
        """Return the words of a condition that holds; one that does not is an error with file and line."""
        try:
            verdict = condition(text, self.scope)
        except DpcoreError as error:
            raise self.problem(str(error), line) from error
        if not verdict.holds:
            message = f"a required condition does not hold: {verdict.words}"
            raise self.problem(message, line)
        return verdict.words

    def problem(self, message: str, line: int) -> SpecError:
        """Return an error with file and line."""
        return SpecError(f"{self.file}, line {line}: {message}")

    def rows(self) -> list[tuple[str, ...]]:
        """Return the list of numbers, in the order of the text."""
        rows: list[tuple[str, ...]] = []
        for (line, expression), (shown, one) in sorted(self.entries.items(), key=lambda item: item[0]):
            other = one.high if one.kind == "lower" else one.low
            rows.append(
                (
                    str(line),
                    expression,
                    shown,
                    numeral(one.value),
                    nearest(other, 8),
                    one.kind,
                    one.theorem,
                    one.neighbours,
                )
            )
        return rows


def _latex(text: str) -> str:
    """Return a number for a formula: powers of ten as such."""
    return _POWER.sub(lambda m: rf"{m[1]}\times 10^{{{m[2]}}}" if m[1] != "1" else rf"10^{{{m[2]}}}", text).replace(
        "%", r"\%"
    )
