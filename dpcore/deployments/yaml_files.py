"""Records as YAML: read event by event within limits, without anchors or tags, and written to read back the same.

PyYAML only parses; its constructors build nothing, so a text cannot create objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dpcore.core.errors import DomainError, DpcoreError
from dpcore.deployments.record import FIELDS, NUMBERS, Deployment, stated
from dpcore.files.documents import MOST_DEPTH, MOST_TEXT
from dpcore.language.problems import nearest, quoted
from dpcore.words import grouped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_RECORDS: Final = 1000
MOST_NODES: Final = 100_000
_SPECIAL: Final = set(":#{}[]&*!|>'\"%@`,\\\n\t")


class YamlError(DomainError):
    """A mistake in a record; the message names file and line."""


def read_deployments(text: str, file: str = "deployments.yaml") -> tuple[Deployment, ...]:
    """Read the records in a YAML text: one mapping or a list of mappings.

    Parameters
    ----------
    text : str
        The text.
    file : str, default "deployments.yaml"
        For messages.

    Returns
    -------
    tuple of Deployment
        The checked records; the error for a mistake names the file, the line and what is allowed.
    """
    if len(text) > MOST_TEXT:
        msg = f"{file}: the text has {grouped(len(text))} characters; at most {grouped(MOST_TEXT)} are read."
        raise YamlError(msg)
    tree, line = _tree(text, file)
    rows = tree if isinstance(tree, list) else [(tree, line)]
    if not rows or len(rows) > MOST_RECORDS:
        msg = f"{file}: a file has 1 to {MOST_RECORDS} records, got {len(rows)}."
        raise YamlError(msg)
    return tuple(_deployment(row, at, file) for row, at in rows)


def _deployment(row: Any, line: int, file: str) -> Deployment:
    if not isinstance(row, dict):
        msg = f"{file}, line {line}: a record is a mapping such as name: ..., got {quoted(str(row), 40)}."
        raise YamlError(msg)
    texts: dict[str, str] = {}
    numbers = {}
    sources: tuple[str, ...] = ()
    for name, (value, at) in row.items():
        if name not in FIELDS:
            msg = f"{file}, line {at}: {quoted(name)} is not a field; {nearest(name, FIELDS) or 'there are ' + ', '.join(FIELDS) + '.'}"
            raise YamlError(msg)
        try:
            if name == "sources":
                items = value if isinstance(value, list) else [(value, at)]
                sources = tuple(_text(item, name) for item, _ in items)
            elif name in NUMBERS:
                numbers[name] = stated(name, _text(value, name))
            else:
                texts[name] = _text(value, name)
        except DpcoreError as error:
            msg = f"{file}, line {at}: {error}"
            raise YamlError(msg) from None
    try:
        return Deployment(texts, numbers, sources, line)
    except DpcoreError as error:
        msg = f"{file}, line {line}: {error}"
        raise YamlError(msg) from None


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        msg = f"{name} must be a text or a number, got {'a list' if isinstance(value, list) else 'a mapping'}."
        raise DomainError(msg)
    return value


# ---- reading -------------------------------------------------------------------------------------------------


def _tree(text: str, file: str) -> tuple[Any, int]:
    """Return mappings, lists and texts with their lines."""
    try:
        import yaml  # noqa: PLC0415  # an optional dependency
    except ModuleNotFoundError:
        msg = 'Records are YAML, which needs pyyaml: pip install "dpcore[documents]".'
        raise DpcoreError(msg) from None
    try:
        events = _events(yaml, text, file)
        tree = _node(events, next(events), 0, file)
        next(events, None)  # the rest must be empty: a second document is an error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f", line {mark.line + 1}" if mark is not None else ""
        msg = f"{file}{place}: not YAML: {getattr(error, 'problem', None) or error}."
        raise YamlError(msg) from None
    return tree


def _events(yaml: Any, text: str, file: str) -> Iterator[Any]:
    skipped = (yaml.StreamStartEvent, yaml.StreamEndEvent, yaml.DocumentEndEvent)
    documents = 0
    for count, event in enumerate(yaml.parse(text, Loader=yaml.SafeLoader)):
        line = event.start_mark.line + 1
        if count > MOST_NODES:
            msg = f"{file}, line {line}: a file has at most {grouped(MOST_NODES)} parts."
            raise YamlError(msg)
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                msg = f"{file}, line {line}: a file holds one document."
                raise YamlError(msg)
        elif isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) or getattr(event, "tag", None):
            msg = f"{file}, line {line}: anchors, aliases and tags are not read; write the value itself."
            raise YamlError(msg)
        elif not isinstance(event, skipped):
            yield event
    if not documents:
        msg = f"{file}: the file is empty."
        raise YamlError(msg)


def _node(events: Iterator[Any], event: Any, depth: int, file: str) -> tuple[Any, int]:
    line = event.start_mark.line + 1
    kind = type(event).__name__
    if depth > MOST_DEPTH:
        msg = f"{file}, line {line}: nested more than {MOST_DEPTH} deep."
        raise YamlError(msg)
    if kind == "ScalarEvent":
        return event.value, line
    if kind == "SequenceStartEvent":
        items = []
        while type(inner := next(events)).__name__ != "SequenceEndEvent":  # one event of the file per round
            items.append(_node(events, inner, depth + 1, file))
        return items, line
    table: dict[str, Any] = {}
    while type(key := next(events)).__name__ != "MappingEndEvent":  # one event of the file per round
        name, at = _node(events, key, depth + 1, file)
        if not isinstance(name, str) or name in table:
            msg = f"{file}, line {at}: {'a name' if not isinstance(name, str) else quoted(name) + ' stands twice'} in one mapping."
            raise YamlError(msg)
        value, _ = _node(events, next(events), depth + 1, file)
        table[name] = (value, at)
    return table, line


# ---- writing -------------------------------------------------------------------------------------------------


def write_deployments(deployments: Sequence[Deployment]) -> str:
    """Return records as YAML that `read_deployments` reads back.

    Parameters
    ----------
    deployments : sequence of Deployment
        The records.

    Returns
    -------
    str
        A list of mappings, with fields in the order of the tiers.
    """
    lines = []
    for one in deployments:
        start = "- "
        for name in FIELDS:
            if name == "sources":
                lines.append(f"{start}sources:")
                lines += [f"    - {_scalar(address)}" for address in one.sources]
            elif name in one.numbers:
                lines.append(f"{start}{name}: {one.numbers[name].text}")
            elif name in one.texts:
                lines.append(f"{start}{name}: {_scalar(one.texts[name])}")
            else:
                continue
            start = "  "
    return "\n".join(lines) + "\n"


def _scalar(text: str) -> str:
    """Return a text as a scalar: plain where that is safe, otherwise in double quotes."""
    if text and not _SPECIAL & set(text) and text.strip() == text and text[0] not in "-?=~." and not text[0].isdigit():
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'
