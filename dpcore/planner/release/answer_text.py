"""Answers as people type them: ``mean of salary where department = "IT"``, ``quantile of age level 0.9``."""

from __future__ import annotations

import re
from typing import Any, Final

from dpcore.core.domains import REAL
from dpcore.core.errors import DomainError
from dpcore.core.parameter import one_of, value_text
from dpcore.language.numbers import read_value
from dpcore.planner.release.catalogue import KINDS
from dpcore.planner.release.plan import PlanAnswer

_TEXTS: Final = ("where", "among", "by")
_NUMBERS: Final = ("bins", "level", "weight", "scale", "size")
_CLAUSE: Final = re.compile(rf"\s+({'|'.join((*_TEXTS, *_NUMBERS))})\s+", re.IGNORECASE)
_LABEL: Final = re.compile(r"\s+label\s+", re.IGNORECASE)
_QUOTED: Final = re.compile(r"\"[^\"]*\"|'[^']*'|`[^`]*`")


def parse_answer(text: str) -> PlanAnswer:
    """Return the answer of a text: a kind, a column, and clauses such as ``where`` or ``level``.

    Parameters
    ----------
    text : str
        A kind, ``of`` (may be left out) and a column, then clauses in any order: ``where CONDITION``, ``among CONDITION``,
        ``by COLUMN``, ``bins N``, ``level Q``, ``weight W``, ``scale S``, ``size N``; at the end ``label TEXT``.

    Returns
    -------
    PlanAnswer
        The answer, checked.

    Examples
    --------
    >>> parse_answer("median of salary where department = IT").name
    'median of salary where department = "IT"'
    """
    hidden = _QUOTED.sub(lambda match: "\0" * len(match[0]), text)  # words inside quotation marks are not clauses
    label = _LABEL.search(hidden)
    stop = label.start() if label else len(text)
    marks = list(_CLAUSE.finditer(hidden, 0, stop))
    head = text[: marks[0].start() if marks else stop].strip()
    values = _head(head, text)
    if label:
        values["label"] = text[label.end() :].strip().strip('"')
    for place, mark in enumerate(marks):
        end = marks[place + 1].start() if place + 1 < len(marks) else stop
        name, value = mark[1].lower(), text[mark.end() : end].strip()
        if name in values:
            msg = f"The answer {value_text(text)} says {name} twice."
            raise DomainError(msg)
        values[name] = _number(name, value) if name in _NUMBERS else value.strip("`") if name == "by" else value
    return PlanAnswer(**values)


def _head(head: str, text: str) -> dict[str, Any]:
    """Return the kind and the column of the words before the first clause."""
    lowered = head.lower()
    if re.match(r"median\b", lowered):
        head, lowered = f"quantile{head[6:]}", f"quantile{lowered[6:]}"
    kind = next((name for name in sorted(KINDS, key=len, reverse=True) if re.match(rf"{name}\b", lowered)), None)
    if kind is None:
        first = head.split()[0] if head else ""
        one_of(f"The kind of answer in {value_text(text)}", KINDS).check(first)
        raise DomainError(first)  # the line above says why
    column = re.sub(r"^(of|with)\b\s*", "", head[len(kind) :].strip(), flags=re.IGNORECASE).strip().strip("`")
    return {"kind": kind, **({"column": column} if column else {})}


def _number(name: str, text: str) -> Any:
    value = read_value(REAL.but(name=name), text)
    return int(value) if name in ("bins", "size") and value == int(value) else value
