"""Plans as files and links: TOML and JSON that read back as the same plan."""

from __future__ import annotations

import json
import tomllib
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, Final

from dpcore.core.errors import DomainError
from dpcore.core.numerals import numeral
from dpcore.core.parameter import value_text
from dpcore.files.documents import json_of, toml_of
from dpcore.language.problems import nearest
from dpcore.planner.release.plan import PlanAnswer, PublicColumn, ReleasePlan

if TYPE_CHECKING:
    from collections.abc import Mapping

ANSWERS, COLUMNS = "answers", "columns"
_TEXTS: Final = {
    "kind",
    "column",
    "where",
    "label",
    "among",
    "by",
    "name",
    "relation",
    "person_column",
    "split",
    "noise",
}
_LISTS: Final = {"categories"}
_FLAGS: Final = {"from_data"}


def plan_to_dict(plan: ReleasePlan) -> dict[str, Any]:
    """Return a plan as plain values, without the fields that have their default.

    Parameters
    ----------
    plan : ReleasePlan
        The plan.

    Returns
    -------
    dict
        What `plan_from_dict` takes.
    """
    own = {name: value for name, value in plain_values(plan).items() if name not in (ANSWERS, COLUMNS)}
    if plan.mu is None:
        own = {"epsilon": plan.epsilon, "delta": plan.delta, **own}
    columns = [plain_values(column) for column in plan.columns]
    return {
        **own,
        **({COLUMNS: columns} if columns else {}),
        ANSWERS: [plain_values(answer) for answer in plan.answers],
    }


def plain_values(item: ReleasePlan | PlanAnswer | PublicColumn) -> dict[str, Any]:
    """Return the fields of one table that do not have their default."""
    values = {one.name: getattr(item, one.name) for one in fields(item) if one.init}
    return {
        one.name: list(values[one.name]) if one.name in _LISTS else values[one.name]
        for one in fields(item)
        if one.init and (one.default is MISSING or values[one.name] != one.default)
    }


def plan_from_dict(values: Mapping[str, Any]) -> ReleasePlan:
    """Return the plan from plain values; unknown names are rejected.

    Parameters
    ----------
    values : mapping
        Fields of `ReleasePlan`; ``answers`` and ``columns`` are lists of tables with the fields of `PlanAnswer` and
        `PublicColumn`.
    """
    if not isinstance(values, dict):
        msg = f"A plan is a table with answers and columns, got {value_text(values)}."
        raise DomainError(msg)
    own = _checked(values, ReleasePlan, "the plan")
    for name, kind in ((ANSWERS, PlanAnswer), (COLUMNS, PublicColumn)):
        items = own.get(name, [])
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            msg = f"{name} of a plan must be a list of tables, got {value_text(items)}."
            raise DomainError(msg)
        parts = []
        for place, item in enumerate(items, start=1):
            checked = _checked(item, kind, f"number {place} of {name}")
            try:
                parts.append(kind(**checked))
            except DomainError as error:
                msg = f"Number {place} of {name}: {error}"
                raise DomainError(msg) from None
        own[name] = tuple(parts)
    return ReleasePlan(**own)


def _checked(values: Mapping[str, Any], kind: type, where: str) -> dict[str, Any]:
    """Return the fields of one table, with texts and lists checked; unknown and missing names are rejected."""
    known = {one.name: one for one in fields(kind) if one.init}
    for name, value in values.items():
        if name not in known:
            hint = nearest(str(name), known)
            msg = f"{value_text(name)} is not a field of {where}{f'; {hint}' if hint else '.'}"
            raise DomainError(msg)
        if name in _TEXTS and not isinstance(value, str):
            msg = f"{name} in {where} must be a text, got {value_text(value)}."
            raise DomainError(msg)
        if name in _FLAGS and not isinstance(value, bool):
            msg = f"{name} in {where} must be true or false, got {value_text(value)}."
            raise DomainError(msg)
        if name in _LISTS and not (isinstance(value, list) and all(isinstance(one, str) for one in value)):
            msg = f"{name} in {where} must be a list of texts, got {value_text(value)}."
            raise DomainError(msg)
    missing = [name for name, one in known.items() if one.default is MISSING and name not in values]
    if missing:
        msg = f"{where[:1].upper()}{where[1:]} lacks {' and '.join(missing)}."
        raise DomainError(msg)
    return {name: tuple(value) if name in _LISTS else value for name, value in values.items()}


def plan_to_json(plan: ReleasePlan) -> str:
    """Return a plan as JSON on one line, for a link."""
    return json.dumps(plan_to_dict(plan), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def plan_from_json(text: str) -> ReleasePlan:
    """Return the plan in a JSON text."""
    try:
        values = json_of(text)
    except ValueError as error:
        msg = f"The plan cannot be read as JSON: {str(error).rstrip('.')}."
        raise DomainError(msg) from None
    return plan_from_dict(values)


def plan_to_toml(plan: ReleasePlan) -> str:
    """Return a plan as TOML, for a file that people read and edit."""
    values = plan_to_dict(plan)
    lines = [f"{name} = {_toml(value)}" for name, value in values.items() if name not in (ANSWERS, COLUMNS)]
    for name in (COLUMNS, ANSWERS):
        for item in values.get(name, []):
            lines += ["", f"[[{name}]]", *(f"{key} = {_toml(value)}" for key, value in item.items())]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_toml(one) for one in value)}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value) if isinstance(value, bool) else numeral(value)


def plan_from_toml(text: str) -> ReleasePlan:
    r"""Return the plan in a TOML text.

    Examples
    --------
    >>> plan = plan_from_toml('epsilon = 0.5\ndelta = 0\n[[answers]]\nkind = "count"\n')
    >>> plan.answers[0].name
    'count of all records'
    """
    try:
        values = toml_of(text)
    except tomllib.TOMLDecodeError as error:
        msg = f"The plan cannot be read as TOML: {str(error).rstrip('.')}."
        raise DomainError(msg) from None
    return plan_from_dict(values)


def read_plan(text: str) -> ReleasePlan:
    """Return the plan in a text, TOML or JSON.

    Parameters
    ----------
    text : str
        What `plan_to_toml`, `plan_to_json` or a person wrote.
    """
    return plan_from_json(text) if text.lstrip().startswith("{") else plan_from_toml(text)
