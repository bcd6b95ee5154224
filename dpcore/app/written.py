"""A named region as written: its name and the texts of its parameters, before the library parses them.

A region may hold different numbers than were typed: an η above its bound is stored as the bound, log(3) as 1.0986....
Fields and links keep what was typed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpcore.core import registry
from dpcore.core.errors import DpcoreError
from dpcore.language.grammar import parse_number, parse_syntax
from dpcore.language.syntax import CallNode, PowerNode
from dpcore.regions.tradeoff import Atom, TradeOff, literal, parameters_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpcore.core.registry import Entry, Parameter
    from dpcore.language.syntax import Region

VERBATIM = ("number", "region")  # kinds of parameters whose fields keep the text as typed
LARGEST_FIELD = 2**53 - 1  # the largest number that a browser's field stores without rounding


@dataclass(frozen=True)
class Written:
    """A name of the language and the contents of its fields, by parameter name."""

    entry: Entry
    shown: Mapping[str, Any]


@dataclass(frozen=True)
class Repeated:
    """A written region, k copies of it, inside ``basic`` or nothing."""

    written: Written
    k: int = 1
    wrapper: str = ""

    def expression(self, atom: str, k: int) -> str:
        """Return the expression with another region and another k."""
        body = atom if k == 1 else f"{atom}^{k}"
        return f"{self.wrapper}({body})" if self.wrapper else body


def copies(text: str, region: TradeOff) -> Repeated | None:
    """Return how an expression for `region` is written; None unless it is a named region or copies of one."""
    tree: Region = parse_syntax(text)
    wrapper, k = "", 1
    if isinstance(tree, CallNode) and tree.name == "basic" and len(tree.arguments) == 1:
        inner = tree.arguments[0].value
        if isinstance(inner, CallNode | PowerNode):
            tree, wrapper, region = inner, "basic", getattr(region, "region", region)
    if isinstance(tree, PowerNode) and isinstance(tree.exponent, int):
        k, region = tree.exponent, getattr(region, "base", region)
        tree = tree.base
    if not isinstance(tree, CallNode) or not isinstance(region, Atom):
        return None
    return Repeated(_written(tree, text, region), k, wrapper)


def _written(call: CallNode, text: str, region: Atom) -> Written:
    """Return the call as it is in the text, or the region's own if fields cannot show the text."""
    entry = registry.lookup(call.name)
    names = [p.name for p in entry.parameters]
    places = {a.name or names[min(at, len(names) - 1)]: at for at, a in enumerate(call.arguments)}
    own = dict(of(region).shown) if region.entry is entry else {}
    unknown = [p for p in entry.parameters if p.required and p.name not in own and p.kind not in VERBATIM]
    if unknown or not places.keys() <= set(names):
        return of(region)
    shown = {}
    for parameter in entry.parameters:
        at = places.get(parameter.name)
        if at is not None and parameter.kind in VERBATIM:
            shown[parameter.name] = _argument(call, at, text)
        elif parameter.name in own:
            shown[parameter.name] = own[parameter.name]
        else:
            shown[parameter.name] = field_value(parameter, parameter.default)
    return Written(entry, shown)


def _argument(call: CallNode, at: int, text: str) -> str:
    """Return an argument as it is in the text."""
    end = call.arguments[at + 1].start if at + 1 < len(call.arguments) else call.end
    return text[call.arguments[at].value.start : end].strip().removesuffix(",").strip()


def of(region: Atom) -> Written:
    """Return a region as it would be written."""
    values = {p.name: field_value(p, getattr(region, name)) for name, p in parameters_of(type(region))}
    return Written(region.entry, values)


def field_value(parameter: Parameter, value: Any) -> Any:
    """Return a value as its field shows it; an integer that a number field cannot hold is typed as text."""
    if parameter.kind == "integer":
        return int(value) if abs(value) <= LARGEST_FIELD else str(value)
    if parameter.kind == "regions":
        return "; ".join(str(item) for item in value)
    return value if parameter.kind == "text" else str(value) if parameter.kind == "region" else literal(value)


def expression(entry: Entry, arguments: list[tuple[Parameter, Any, Any]]) -> str:
    """Return ``name(a, b)`` from (parameter, content of its field, value), with values as typed."""
    parts: list[str] = []
    skipped = False
    for parameter, shown, value in arguments:
        if not parameter.required and value == parameter.default:
            skipped = True
            continue
        text = str(shown).strip() if parameter.kind in VERBATIM and _means(shown, value) else literal(value)
        parts.append(f"{parameter.name}={text}" if skipped else text)
    return f"{entry.name}({', '.join(parts)})"


def _means(shown: Any, value: Any) -> bool:
    """Whether the language reads a typed text as this value; Python reads 1_000 and .5, the language does not."""
    if isinstance(value, TradeOff):
        return True  # it was parsed from the text
    try:
        return parse_number(str(shown)) == float(value)
    except DpcoreError:
        return False
