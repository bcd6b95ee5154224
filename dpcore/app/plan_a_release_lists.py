"""The two lists of the planner page, answers and public facts: CSV in links, rows in editors, objects in plans."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any, Final

from dpcore.core.domains import COUNT, REAL
from dpcore.core.errors import DomainError
from dpcore.core.numerals import numeral
from dpcore.core.registry import value_text
from dpcore.files.sheet import rows_of
from dpcore.language.numbers import read_value
from dpcore.planner import PlanAnswer, PublicColumn
from dpcore.words import grouped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dpcore.core.parameter import Parameter

LONGEST_TEXT: Final = 65536
ANSWER_FIELDS: Final = (
    "label", "answer", "column", "where", "weight", "among", "by", "bins", "level", "scale", "size",
)  # fmt: skip
COLUMN_FIELDS: Final = ("name", "lower", "upper", "categories", "from_data")
FROM_DATA: Final = "from the data"
_NUMBERS: Final[dict[str, Parameter]] = {
    "weight": REAL,
    "level": REAL,
    "scale": REAL,
    "lower": REAL,
    "upper": REAL,
    "bins": COUNT.but(low=0),
    "size": COUNT.but(low=0),
}


def cells_of(text: str, fields: Sequence[str], what: str) -> list[dict[str, str]]:
    """Return the rows of a table that the link carries as CSV, with the column names in the first line.

    Parameters
    ----------
    text : str
        The table.
    fields : sequence of str
        The columns it may have.
    what : str
        What the rows are, for messages.
    """
    if len(text) > LONGEST_TEXT:
        msg = f"The list of {what} may have at most {grouped(LONGEST_TEXT)} characters, got {grouped(len(text))}."
        raise DomainError(msg)
    rows = [row for row in rows_of(csv.reader(io.StringIO(text), skipinitialspace=True)) if any(map(str.strip, row))]
    if not rows:
        return []
    names = [name.strip() for name in rows[0]]
    wrong = next((name for place, name in enumerate(names) if name not in fields or name in names[:place]), None)
    if wrong is not None:
        msg = f"The first line of the list of {what} names columns, each once, out of {', '.join(fields)}; got {value_text(wrong)}."
        raise DomainError(msg)
    long = next((place for place, row in enumerate(rows[1:], start=1) if len(row) > len(names)), None)
    if long is not None:
        msg = f"Row {long} of the list of {what} has {len(rows[long])} cells, more than the {len(names)} columns; quote a text with commas."
        raise DomainError(msg)
    return [{name: cell.strip() for name, cell in zip(names, row, strict=False) if cell.strip()} for row in rows[1:]]


def text_of(rows: Sequence[Mapping[str, str]], fields: Sequence[str], always: Sequence[str]) -> str:
    """Return rows as the text that `cells_of` reads; unused columns are left out, except some."""
    used = [name for name in fields if name in always or any(row.get(name) for row in rows)]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([used, *([row.get(name, "") for name in used] for row in rows)])
    return out.getvalue()


def answers_text(rows: Sequence[Mapping[str, str]]) -> str:
    """Return answers in the form carried by the link."""
    return text_of(rows, ANSWER_FIELDS, ANSWER_FIELDS[:4])


def columns_text(rows: Sequence[Mapping[str, str]]) -> str:
    """Return public facts in the form carried by the link."""
    return text_of(rows, COLUMN_FIELDS, COLUMN_FIELDS[:4])


def _values(cells: Mapping[str, str]) -> dict[str, Any]:
    return {name: read_value(_NUMBERS[name], text, name) if name in _NUMBERS else text for name, text in cells.items()}


def answer_of(cells: Mapping[str, str]) -> PlanAnswer:
    """Return the answer in a row; an error says what is wrong with it."""
    values = _values(cells)
    kind = values.pop("answer", "")
    if not kind:
        msg = "answer is empty; write what is published, such as count or mean."
        raise DomainError(msg)
    return PlanAnswer(kind, **values)


def column_of(cells: Mapping[str, str]) -> PublicColumn:
    """Return the public facts in a row; an error says what is wrong with it."""
    facts = _values(cells)
    listed = facts.pop("categories", "")
    facts["from_data"] = bool(facts.get("from_data"))
    names = next(iter(rows_of(csv.reader([listed], skipinitialspace=True))), []) if listed else []
    return PublicColumn(**{"name": "", **facts}, categories=tuple(" ".join(name.split()) for name in names))


def column_cells(column: PublicColumn) -> dict[str, str]:
    """Return public facts as a row of the list."""
    cells = {"name": column.name}
    if column.categories:
        cells["categories"] = category_list(column.categories)
    else:
        low, high = column.bounds
        cells |= {"lower": numeral(low), "upper": numeral(high)}
    return cells | ({"from_data": FROM_DATA} if column.from_data else {})


def category_list(names: Sequence[str]) -> str:
    """Return categories as a comma-separated text."""
    quoted = [f'"{name}"' if "," in name or '"' in name else name for name in names]
    return ", ".join(quoted)


def condition_of(column: str, category: str) -> str:
    """Return the condition that a column has a category, quoted only if necessary."""
    name = column if column.isidentifier() and column not in ("and", "in") else f"`{column}`"
    plain = category.isidentifier() and category.lower() not in ("and", "in")
    return f"{name} = {category if plain else repr_text(category)}"


def repr_text(text: str) -> str:
    """Return a text in single quotes, or in double quotes if it contains a single one."""
    return f'"{text}"' if "'" in text else f"'{text}'"
