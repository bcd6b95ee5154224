"""LaTeX of formulas before it is shown: braces, environments and commands are checked, and rows of equations are split.

The converter to MathML accepts much that it does not understand, and would show another statement. So a formula is read
once here; what is not known is an error that names the nearest known command.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final, NoReturn

from latex2mathml import commands
from latex2mathml.symbols_parser import SYMBOLS

from dpcore.core.errors import DpcoreError
from dpcore.language.problems import nearest, quoted

RIGHT_LEFT: Final = ("aligned", "align", "align*", "alignedat", "alignat", "alignat*", "split", "flalign", "flalign*")
CENTRED: Final = ("gathered", "gather", "gather*", "multline", "multline*", "equation", "equation*")
THREE: Final = ("eqnarray", "eqnarray*")
ROWS: Final = (*RIGHT_LEFT, *CENTRED, *THREE)
"""Environments whose rows are set here; a column is right, left or centred by its place."""

CONVERTED: Final = (
    "cases", "matrix", "pmatrix", "bmatrix", "Bmatrix", "vmatrix", "Vmatrix", "smallmatrix", "array", "substack",
)  # fmt: skip
"""Environments that the converter knows."""

FORBIDDEN: Final = (
    r"\href", r"\class", r"\style", r"\unicode", r"\def", r"\newcommand", r"\newenvironment", r"\verb",
    r"\DeclareMathOperator", r"\color", r"\math", r"\emph",
)  # fmt: skip
OWN: Final = (
    r"\nonumber",
    r"\notag",
    r"\tag",
    r"\label",
    r"\\",
    r"\mathds",
    r"\&",
    r"\%",
    r"\#",
    r"\$",
    r"\_",
    r"\}",
    r"\ ",
)
_TOKEN: Final = re.compile(r"\\(?:[A-Za-z]+\*?|.|$)|[{}&$]", re.DOTALL)
_ENVIRONMENT: Final = re.compile(r"\\(begin|end)\s*\{([A-Za-z]*\*?)\}")
_RESERVED: Final = re.compile(r"(?<!\\)(?:\\\\)*([%#])")
_MOST_DEPTH: Final = 40  # groups and environments inside each other; the converter recurses


@dataclass(frozen=True)
class EquationRows:
    """The rows of an environment such as aligned.

    Attributes
    ----------
    environment : str
        Its name.
    cells : tuple of tuple of str
        Its cells, row by row.
    tags : tuple of str
        The number of each row, empty if it has none.
    """

    environment: str
    cells: tuple[tuple[str, ...], ...]
    tags: tuple[str, ...]

    def side(self, column: int) -> str:
        """Return where a column is aligned: left, right or center."""
        if self.environment in THREE:
            return ("right", "center", "left")[column % 3]
        return ("right", "left")[column % 2] if self.environment in RIGHT_LEFT else "center"


@cache
def known_commands() -> frozenset[str]:
    """Return the commands that the converter understands and that a page may carry."""
    names = {value for value in vars(commands).values() if isinstance(value, str)}
    for value in vars(commands).values():
        if isinstance(value, (tuple, list, set, frozenset, dict)):
            names |= {item for item in value if isinstance(item, str)}
    every = {name for name in {*names, *SYMBOLS} if re.fullmatch(r"\\(?:[A-Za-z]+|.)", name, re.DOTALL)}
    environments = {f"\\{name}" for name in CONVERTED if name not in ("substack",)}
    return frozenset((every | set(OWN)) - set(FORBIDDEN) - environments)


def check(latex: str) -> None:
    """Refuse a formula with unbalanced braces, an unknown environment or an unknown command.

    Raises
    ------
    DpcoreError
        It names what is wrong and what could be meant.
    """
    if reserved := _RESERVED.search(latex):
        _fail(latex, rf"has {reserved[1]}, which is not allowed in a formula; write \{reserved[1]}")
    stack: list[str] = []
    at = 0
    while match := _TOKEN.search(latex, at):  # takes one sign of the formula per pass
        token, at = match[0], match.end()
        environment = _ENVIRONMENT.match(latex, match.start())
        if environment:
            at = environment.end()
            _nested(latex, stack, environment[1], environment[2])
        elif token == "{":
            stack.append("{")
        elif token == "}":
            if not stack or stack.pop() != "{":
                _fail(latex, "has a } without its {")
        elif token == "$":
            _fail(latex, r"has a $ inside; write \$ for the sign")
        elif token in ("&", r"\\") and not any(name != "{" for name in stack) and r"\substack" not in latex:
            _fail(latex, rf"has {token} outside of rows; write them between \begin{{aligned}} and \end{{aligned}}")
        elif token.startswith("\\"):
            _known(latex, token)
        if len(stack) > _MOST_DEPTH:
            _fail(latex, f"has groups more than {_MOST_DEPTH} deep")
    if stack:
        _fail(latex, "has a { without its }" if stack[-1] == "{" else rf"lacks \end{{{stack[-1]}}}")
    if latex.count(r"\left") - len(re.findall(r"\\left[a-zA-Z]", latex)) != latex.count(r"\right") - len(
        re.findall(r"\\right[a-zA-Z]", latex)
    ):
        _fail(latex, r"has a \left without its \right")


def _nested(latex: str, stack: list[str], which: str, name: str) -> None:
    if which == "begin":
        every = (*ROWS, *CONVERTED)
        if name not in every:
            hint = nearest(name, every) or f"there are {', '.join(every)}."
            _fail(latex, f"has the unknown environment {quoted(name)}; {hint.rstrip('.')}")
        stack.append(name)
    elif not stack or stack.pop() != name:
        _fail(latex, rf"has \end{{{name}}} without its \begin{{{name}}}")


def _known(latex: str, token: str) -> None:
    command = token.rstrip("*") if token not in known_commands() else token
    if command in known_commands():
        if command == r"\label":
            _fail(latex, r"has \label; a formula is named after its last $$, as in $$ {#eq:name}")
        return
    if command in (r"\(", r"\)", r"\[", r"\]"):
        _fail(latex, f"has {command}; write formulas between dollar signs")
    longer = sorted((name for name in known_commands() if len(command) > 3 and name.startswith(command)), key=len)
    names = [name for name in known_commands() if len(name) > 2]
    hint = f"did you mean {longer[0]}?" if longer else nearest(command, names)
    allowed = " is not allowed" if command in FORBIDDEN else ""
    tail = "" if allowed else f"; {hint.rstrip('.')}" if hint else ""
    _fail(
        latex, f"has the {'' if allowed else 'unknown '}command {command}{', which' + allowed if allowed else ''}{tail}"
    )


def _fail(latex: str, reason: str) -> NoReturn:
    msg = f"The formula {quoted(latex.strip(), 80)} {reason}{'' if reason.endswith('?') else '.'}"
    raise DpcoreError(msg)


# ---- rows ----------------------------------------------------------------------------------------------------


def outermost(latex: str) -> tuple[str, list[EquationRows]]:
    """Return a formula with its outermost row environments replaced by marks, and these environments."""
    parts: list[str] = []
    environments: list[EquationRows] = []
    at = 0
    while True:  # takes one environment per pass
        start = next((m for m in _ENVIRONMENT.finditer(latex, at) if m[1] == "begin" and m[2] in ROWS), None)
        if start is None:
            return "".join(parts) + latex[at:], environments
        end = _end(latex, start)
        body = latex[start.end() : end.start()]
        if start[2].startswith(("alignat", "alignedat")):
            body = re.sub(r"^\s*\{\d+\}", "", body)
        parts += [latex[at : start.start()], mark(len(environments))]
        environments.append(_rows(start[2], body))
        at = end.end()


def mark(number: int) -> str:
    """Return the text that stands for an environment while the rest is converted."""
    return rf"\text{{rows{number}}}"


def _end(latex: str, start: re.Match[str]) -> re.Match[str]:
    depth = 0
    for match in _ENVIRONMENT.finditer(latex, start.start()):
        depth += 1 if match[1] == "begin" else -1
        if depth == 0:
            return match
    _fail(latex, rf"lacks \end{{{start[2]}}}")


def _rows(environment: str, body: str) -> EquationRows:
    """Split the body of an environment at its own ``&`` and line ends, not at those of inner ones."""
    rows: list[list[str]] = [[""]]
    depth = at = 0
    while match := _TOKEN.search(body, at):  # takes one sign of the formula per pass
        token = match[0]
        rows[-1][-1] += body[at : match.start()]
        at = match.end()
        inner = _ENVIRONMENT.match(body, match.start())
        if inner:
            depth += 1 if inner[1] == "begin" else -1
            token, at = inner[0], inner.end()
        elif token in "{}":
            depth += 1 if token == "{" else -1
        elif depth == 0 and token == "&":
            rows[-1].append("")
            continue
        elif depth == 0 and token == r"\\":
            spacing = re.compile(r"\s*\[[^\]]*\]").match(body, at)
            at = spacing.end() if spacing else at
            rows.append([""])
            continue
        rows[-1][-1] += token
    rows[-1][-1] += body[at:]
    if len(rows) > 1 and not "".join(rows[-1]).strip():
        rows.pop()
    cells, tags = [], []
    for row in rows:
        tagged = [without_tag(cell) for cell in row]
        cells.append(tuple(cell for cell, _ in tagged))
        tags.append("".join(tag for _, tag in tagged))
    return EquationRows(environment, tuple(cells), tuple(tags))


def without_tag(latex: str) -> tuple[str, str]:
    """Return a formula without its number, and the number; two numbers of one formula are an error."""
    text = re.sub(r"\\(?:nonumber|notag)(?![A-Za-z])", "", latex)
    tags = re.findall(r"\\tag\*?\s*\{([^{}]*)\}", text)
    if len(tags) > 1:
        _fail(latex, r"has two \tag in one row")
    return re.sub(r"\\tag\*?\s*\{[^{}]*\}", "", text), tags[0] if tags else ""
