"""``dpcore plan``: the answers about a table, the noise that fits one budget, and how far off each answer is."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpcore.core.domains import COUNT, DELTA, EPSILON, MU, SEED
from dpcore.core.errors import DomainWarning, ParseError

if TYPE_CHECKING:
    import argparse

    import pandas as pd

    from dpcore.cli.options import Parser
    from dpcore.planner import PlannedRelease, PublicColumn, ReleasePlan

HELP = "plan a release about a CSV file: noise that keeps one budget, and the error of every answer"
TABLES = ("answers", "parts", "budget", "numbers")
EPILOG = (
    "Example: dpcore plan staff.csv --answers 'count where department = Sales' 'count where department = Support' "
    "'mean of salary' --bounds salary=0:200000 --categories department=Sales,Support --epsilon 1 --delta 1e-6. "
    "Errors, true answers and simulated ones depend on the data and are for the planner's eyes only."
)


def configure(parser: Parser) -> None:
    """Add the arguments."""
    parser.epilog = EPILOG
    parser.add_argument("file", metavar="FILE", help="a CSV file")
    parser.add_argument("--plan", metavar="FILE", help="a plan (.toml or .json); other options replace what it says")
    parser.add_argument(
        "--answers", metavar="ANSWER", nargs="+", help="such as 'mean of salary where department = Sales'"
    )
    parser.add_argument("--bounds", metavar="C=A:B", nargs="+", help="public bounds of columns of numbers")
    parser.add_argument("--categories", metavar="C=A,B", nargs="+", help="declared answers of columns of text")
    parser.add_value(
        "--epsilon", EPSILON.but(low_open=True, infinite=False), "the budget (default: 1) ...", metavar="E"
    )
    parser.add_value("--delta", DELTA, "... at this delta (default: 1e-6)", metavar="D")
    parser.add_value("--mu", MU, "the budget as Gaussian privacy, instead of epsilon", metavar="M")
    parser.add_argument(
        "--relation", choices=("add/remove", "substitution"), help="neighbouring tables (default: add/remove)"
    )
    parser.add_argument("--person-column", metavar="C", help="the column that says which person a record belongs to")
    parser.add_value("--records", COUNT.but(name="records"), "records of one person at most (default: 1)", metavar="M")
    parser.add_value("--rows", COUNT.but(name="rows"), "number of records, if it is public", metavar="N")
    parser.add_argument("--split", choices=("weights", "equal error", "worst error"), help="how the budget is shared")
    parser.add_argument("--noise", metavar="NAMES", help="the noises that may be used, such as laplace,gaussian")
    parser.add_argument("--table", choices=TABLES, default="answers", help="what is printed (default: answers)")
    parser.add_value("--simulate", SEED, "print a simulated release with this seed; never publish it", metavar="SEED")
    parser.add_argument("--ledger", metavar="FILE", help="write the rows for a ledger (.csv)")
    parser.add_argument("--save", metavar="FILE", help="write the plan (.toml or .json)")
    parser.add_argument("--program", choices=("opendp", "numpy"), help="write a Python program that makes the release")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="where the program is written (default: printed instead of the table)"
    )
    parser.add_argument(
        "--figure", metavar="FILE", help="draw shares and errors, from public numbers (.svg, .png, .pdf, .html)"
    )
    parser.add_argument("--report", metavar="FILE", help="write a report (.md, .html or .pdf)")


def run(arguments: argparse.Namespace) -> pd.DataFrame | None:
    """Compute the table, and write any other requested output."""
    from dpcore.planner import plan_release, plan_to_json, plan_to_toml  # noqa: PLC0415  # pandas is slow to import

    if arguments.output is not None and arguments.program is None:
        msg = "-o names the file of a program; say which with --program."
        raise ParseError(msg)
    plan = _plan(arguments)
    source = Path(arguments.file)
    release = plan_release(source, plan)
    for note in release.table.notes[1:]:
        warnings.warn(note, DomainWarning, stacklevel=2)
    if arguments.save:
        as_json = Path(arguments.save).suffix.lower() == ".json"
        Path(arguments.save).write_text((plan_to_json if as_json else plan_to_toml)(plan), encoding="utf-8")
    if arguments.ledger:
        Path(arguments.ledger).write_text(release.ledger_csv(), encoding="utf-8")
    if arguments.figure:
        _figure(release.plan, arguments.figure)
    if arguments.report:
        _report(release, Path(arguments.report), source.name)
    if arguments.program:
        text = release.program(arguments.program, file=source.name)
        if arguments.output is None:
            sys.stdout.write(text)
            return None
        Path(arguments.output).write_text(text, encoding="utf-8")
    return _table(release, arguments)


def _table(release: PlannedRelease, arguments: argparse.Namespace) -> pd.DataFrame:
    import numpy as np  # noqa: PLC0415  # slow to import and not needed for --help

    if arguments.simulate is not None:
        return release.cells_frame(np.random.default_rng(arguments.simulate))
    tables = {
        "answers": release.answers_frame,
        "parts": release.parts_frame,
        "budget": release.budget_frame,
        "numbers": release.cells_frame,
    }
    return tables[arguments.table]()


def _figure(plan: ReleasePlan, target: str) -> None:
    """Draw the plan."""
    from dpcore import charts  # noqa: PLC0415  # altair is an extra and slow to import
    from dpcore.charts.plan import plan_figure  # noqa: PLC0415  # as above
    from dpcore.planner import plan_words, planned_frame  # noqa: PLC0415  # pandas is slow to import

    charts.check_suffix(target)
    frame = planned_frame(plan)
    charts.save(plan_figure(frame, plan_words(plan, frame)), target)


def _report(release: PlannedRelease, target: Path, name: str) -> None:
    """Write the report: its Markdown, or the page or PDF made from it."""
    text = release.report(title=f"Planned release of {name}")
    if target.suffix.lower() in (".md", ".markdown"):
        target.write_text(text, encoding="utf-8")
        return
    import tempfile  # noqa: PLC0415  # needed for pages only

    from dpcore.site import build_report  # noqa: PLC0415  # an extra, slow to import

    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "report.md"
        source.write_text(text, encoding="utf-8")
        build_report(source, target)


def _plan(arguments: argparse.Namespace) -> ReleasePlan:
    """Return the plan from the file and the options."""
    from dpcore.files.documents import text_of  # noqa: PLC0415  # as below
    from dpcore.planner import parse_answer, plan_from_dict, plan_from_json, plan_from_toml, plan_to_dict  # noqa: PLC0415
    from dpcore.planner.release.documents import plain_values  # noqa: PLC0415  # pandas is slow to import

    values: dict[str, Any] = {}
    if arguments.plan is not None:
        path = Path(arguments.plan)
        read = plan_from_json if path.suffix.lower() == ".json" else plan_from_toml
        values = plan_to_dict(read(text_of(path)))
    elif not arguments.answers:
        msg = "Say what is released: --answers 'mean of salary' ..., or --plan FILE."
        raise ParseError(msg)
    names = ("epsilon", "delta", "mu", "relation", "person_column", "records", "rows", "split", "noise")
    stated = {name: value for name in names if (value := getattr(arguments, name)) is not None}
    if "epsilon" in stated and "mu" in stated:
        msg = "--epsilon and --mu are two ways to state the budget; give one of them."
        raise ParseError(msg)
    if "epsilon" in stated:
        values.pop("mu", None)
    values |= stated
    if arguments.answers:
        values["answers"] = [plain_values(parse_answer(text)) for text in arguments.answers]
    columns = {column["name"]: column for column in values.get("columns", [])}
    for column in [*map(_bounds, arguments.bounds or ()), *map(_categories, arguments.categories or ())]:
        columns[column.name] = plain_values(column)
    return plan_from_dict({**values, "columns": list(columns.values())})


def _bounds(text: str) -> PublicColumn:
    from dpcore.core.domains import REAL  # noqa: PLC0415  # with the import below
    from dpcore.language.numbers import read_value  # noqa: PLC0415  # as above
    from dpcore.planner import PublicColumn  # noqa: PLC0415  # pandas is slow to import

    name, _, span = text.rpartition("=")
    low, mark, high = span.partition(":")
    if not name or not mark:
        msg = f"--bounds takes COLUMN=LOWER:UPPER, such as salary=0:200000, got {text!r}."
        raise ParseError(msg)
    ends = (read_value(REAL.but(name=f"{end} of {name}"), value) for end, value in (("lower", low), ("upper", high)))
    return PublicColumn(name, *ends)


def _categories(text: str) -> PublicColumn:
    from dpcore.planner import PublicColumn  # noqa: PLC0415  # pandas is slow to import
    from dpcore.utility.reading import declared  # noqa: PLC0415  # as above

    name, mark, names = text.partition("=")
    if not name or not mark:
        msg = f"--categories takes COLUMN=A,B,C, such as department=Sales,Support, got {text!r}."
        raise ParseError(msg)
    return PublicColumn(name, categories=declared(names))
