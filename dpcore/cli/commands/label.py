"""``dpcore label``: a one-page privacy label for a release."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from dpcore.core.domains import DELTA, LOSS
from dpcore.core.errors import DpcoreError, ParseError

if TYPE_CHECKING:
    import argparse

    from dpcore.cli.options import Parser

HELP = (
    "one page that a release can carry: who is protected, by how much, what an attacker can do, and a list of questions"
)
TABLE = False


def configure(parser: Parser) -> None:
    """Add the arguments."""
    parser.epilog = (
        "dpcore label releases.csv -o label.html --epsilon 5 --fact 'unit=one patient' --fact 'sampler=OpenDP'. Facts: title, protected, "
        "unit, period, invariants, trust, sampler, choices, bounds, accuracy, side_channels, access, code, link, contact."
    )
    parser.add_argument("file", metavar="LEDGER", help="a ledger: CSV or JSON with label, expression, count")
    words = "the label: .html, .pdf, .docx, .tex or .ipynb, or .md for its source"
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help=words)
    parser.add_value("--delta", DELTA, "delta at which epsilon is stated (default: 1e-6)", default=1e-6, metavar="D")
    parser.add_value("--epsilon", LOSS, "the budget; the label is refused if it is exceeded", metavar="E")
    parser.add_argument("--plan", metavar="FILE", help="the plan of the release, which answers some questions")
    words = "write the proof of epsilon into this file (JSON), and cite it in the label by its SHA-256"
    parser.add_argument("--certificate", metavar="FILE", help=words)
    words = "an answer; may be repeated"
    parser.add_argument("--fact", metavar="NAME=TEXT", action="append", default=[], dest="facts", help=words)


def run(arguments: argparse.Namespace) -> None:
    """Write the label."""
    from dpcore.files.documents import bytes_of, text_of  # noqa: PLC0415  # with the imports below
    from dpcore.ledger import open_ledger  # noqa: PLC0415  # pandas is slow to import and not needed for --help
    from dpcore.planner.label import label_report  # noqa: PLC0415  # as above
    from dpcore.planner.release.documents import read_plan  # noqa: PLC0415  # as above

    pairs = [word.partition("=") for word in arguments.facts]
    if any(not sign for _, sign, _ in pairs):
        msg = "A fact is written NAME=TEXT, such as unit=one patient."
        raise ParseError(msg)
    source, target = Path(arguments.file), Path(arguments.output)
    plan = None if arguments.plan is None else read_plan(text_of(Path(arguments.plan)))
    content = bytes_of(source)
    ledger = open_ledger(content)
    if arguments.certificate is not None:
        from dpcore.certificates import certify  # noqa: PLC0415  # needs python-flint

        Path(arguments.certificate).write_text(
            certify(ledger.named_region, delta=arguments.delta).text(), encoding="utf-8"
        )
    text = label_report(
        ledger,
        ledger_file=source.name,
        delta=arguments.delta,
        epsilon=arguments.epsilon,
        plan=plan,
        facts={name.strip(): words.strip() for name, _, words in pairs},
        certificate=arguments.certificate is not None,
    )
    if target.suffix.lower() == ".md":
        beside = target.parent / source.name
        if beside.exists() and bytes_of(beside) != content:
            msg = f"{str(beside)[-80:]!r} is not the same file as the ledger; write the label into another folder."
            raise DpcoreError(msg)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        if not beside.exists():
            beside.write_bytes(content)
    else:
        from dpcore.site.report import build_report  # noqa: PLC0415  # an extra, slow to import

        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / source.name).write_bytes(content)
            (Path(folder) / "label.md").write_text(text, encoding="utf-8")
            build_report(Path(folder) / "label.md", target)
    sys.stdout.write(f"wrote {target}\n")
