"""The stub of the package: what type checkers and editors, which do not run it, know of its names.

``make stub`` writes it from the registry. A test compares it with what the package says of itself when it runs.
"""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Final

import dpcore
from dpcore.core.registry import entries, knows
from dpcore.language.constructors import documentation, signatures

if TYPE_CHECKING:
    from inspect import Signature

    from dpcore.core.registry import Entry

PATH: Final = Path(dpcore.__file__).with_suffix(".pyi")
_HEAD: Final = '"""The public names with their types, for type checkers and editors; written by `make stub`."""'
_IMPORTED: Final = {
    "collections.abc": ("Iterable",),
    "typing": ("Literal", "overload"),
    "dpcore.regions.tradeoff": ("Real", "Whole"),
}


WIDEST = 120  # characters of a line, as for the formatter


def text() -> str:
    """Return the whole stub."""
    functions = [_functions(entry) for entry in sorted(entries(), key=lambda entry: entry.name)]
    names = "".join(f'    "{name}",\n' for name in sorted(dpcore.__all__))
    body = [f"__version__: str\n\n__all__ = [\n{names}]", *functions]
    return "\n\n".join([_HEAD, _imports("\n".join(functions)), *body]) + "\n"


def _imports(code: str) -> str:
    """Return the import lines: the types that the signatures use, and what the package itself takes from its rooms."""
    found = {module: {n for n in names if re.search(rf"\b{n}\b", code)} for module, names in _IMPORTED.items()}
    for name in dpcore.__all__:
        if not (knows(name) or name.startswith("_")):
            found.setdefault(getattr(dpcore, name).__module__, set()).add(name)
    used = {module: sorted(names) for module, names in found.items() if names}
    ours = sorted(module for module in used if module.startswith("dpcore"))
    groups = (sorted(set(used) - set(ours)), ours)
    return "\n\n".join("\n".join(_import(module, used[module]) for module in group) for group in groups)


def _import(module: str, names: list[str]) -> str:
    """Return one import, on a line for every name where one line does not hold them all."""
    line = f"from {module} import {', '.join(names)}"
    return line if len(line) <= 120 else f"from {module} import (\n" + "".join(f"    {n},\n" for n in names) + ")"


def _functions(entry: Entry) -> str:
    """Return the definition of one name, or the overloads of one with two forms."""
    forms = signatures(entry)
    overload = "@overload\n" if len(forms) > 1 else ""
    doc = indent(f'r"""{documentation(entry)}"""', "    ", lambda line: line.strip() != "")
    return "\n".join(f"{overload}{_head(entry.name, _arguments(form))}\n{doc}\n" for form in forms).rstrip()


def _head(name: str, arguments: str) -> str:
    """Return the first line of a definition, or three as the formatter writes a long one."""
    line = f"def {name}({arguments}) -> TradeOff:"
    return line if len(line) <= WIDEST else f"def {name}(\n    {arguments}\n) -> TradeOff:"


def _arguments(form: Signature) -> str:
    text = str(form.replace(return_annotation=form.empty))[1:-1]
    return re.sub(r"= '([^']*)'", r'= "\1"', re.sub(r": '([^']*)'", r": \1", text))


def main() -> None:
    """Write the stub where type checkers look for it."""
    PATH.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
