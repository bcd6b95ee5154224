"""Examples of the reference: short Python for each public name, run when the site is built: the output is current."""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import json
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from dpcore.core.errors import DpcoreError
from dpcore.files.data import data_folder
from dpcore.specs import load
from dpcore.specs.reading import source_text

if TYPE_CHECKING:
    from dpcore.site.pages import Job

FILE: Final = "examples.toml"
WIDEST: Final = 110  # characters of a line of output
MOST_LINES: Final = 14


@cache
def _all() -> dict[str, dict[str, str]]:
    file = data_folder() / FILE
    return load(source_text(file), FILE) if file.is_file() else {}


def read_examples(room: str) -> dict[str, str]:
    """Return the examples of a module by name, each with the import that it needs."""
    return {name: f"from {room} import {name}\n{code.strip()}\n" for name, code in _all().get(room, {}).items()}


def run_room(job: Job) -> dict[str, Any]:
    """Run the examples of a module and return their outputs by name; their lines are in the file."""
    codes = json.loads(job.content)
    return {
        "name": job.name,
        "results": {name: run_example(f"{job.row}.{name}", code)["output"] for name, code in codes.items()},
    }


def run_example(name: str, code: str) -> dict[str, str]:
    """Run an example as a session would: the value of its last line is printed.

    Parameters
    ----------
    name : str
        Its name, for messages.
    code : str
        The lines.

    Returns
    -------
    dict of str to str
        The lines and the output.

    Raises
    ------
    DpcoreError
        If the example fails.
    """
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out), warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # what the library says beside an answer belongs to the app and the command line
            _run(code)
    except Exception as error:  # an example may raise anything; the message names it
        msg = f"{FILE}, {name}: the example fails: {type(error).__name__}: {error}"
        raise DpcoreError(msg) from error
    lines = [line if len(line) <= WIDEST else f"{line[:WIDEST]} …" for line in out.getvalue().rstrip().splitlines()]
    cut = [*lines[:MOST_LINES], "…"] if len(lines) > MOST_LINES else lines
    return {"code": code, "output": "\n".join(cut)}


def _run(code: str) -> None:
    tree = ast.parse(code)
    names: dict[str, Any] = {"__name__": "example"}
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        exec(compile(ast.Module(tree.body[:-1], []), FILE, "exec"), names)  # noqa: S102  # our own examples
        value = eval(compile(ast.Expression(last.value), FILE, "eval"), names)  # as above
        if value is not None:
            pandas = importlib.import_module("pandas")
            with pandas.option_context(
                "display.width", WIDEST, "display.max_columns", 8, "display.max_rows", 8, "display.max_colwidth", 40
            ):
                print(value if isinstance(value, str) else repr(value))  # noqa: T201  # the output of the session
    else:
        exec(compile(tree, FILE, "exec"), names)  # noqa: S102  # our own examples
