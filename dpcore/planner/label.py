"""The label of a release: one page that says who is protected, by how much, what an attacker can do, and what is still open.

The label is a report (`dpcore report build`): its numbers are computed from the ledger when it is built. The list of
questions follows the topics of NIST SP 800-226 in our own words; a question that nobody answered is marked open.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from dpcore.core.errors import DomainError
from dpcore.core.numerals import numeral
from dpcore.core.registry import value_text
from dpcore.language.problems import nearest, quoted
from dpcore.ledger.writing import all_cells, cells_to_csv
from dpcore.planner.release.planned import protection_words
from dpcore.words import grouped, outward

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpcore.ledger import Ledger
    from dpcore.planner.release.plan import ReleasePlan

__all__ = ["FACTS", "OPEN", "label_report"]

OPEN: Final = "open"
"""The mark of a question that nobody answered."""
FACTS: Final = {
    "title": "the heading of the label",
    "protected": "who is protected: the people in the data",
    "unit": "what one unit is: a record, a person, a household, a device",
    "period": "the period that the budget is for, and when it is renewed",
    "invariants": "numbers that are published without noise",
    "trust": "who sees the data before the noise is added",
    "sampler": "the generator of the noise",
    "choices": "choices that were made after looking at the data",
    "bounds": "how bounds, categories and conditions were chosen",
    "accuracy": "where the errors of the published numbers are stated",
    "side_channels": "what else could be observed: times, memory, failures",
    "access": "who may read the data, and when they are deleted",
    "code": "where the code is",
    "link": "where the release is",
    "contact": "who answers questions",
}
"""Facts that a label can be given, by name; a question without its fact stays open."""

_QUESTIONS: Final[tuple[tuple[str, str], ...]] = (
    ("Is the promise a number with its δ, and the whole curve?", "numbers"),
    ("Who is protected?", "protected"),
    ("What is one unit of protection?", "unit"),
    ("Which datasets are neighbours?", "neighbours"),
    ("Are all releases about the same people counted together?", "counted"),
    ("For which period is the budget, and when is it renewed?", "period"),
    ("Is δ far below one over the number of people?", "delta"),
    ("Is anything published without noise?", "invariants"),
    ("Who sees the data before noise is added?", "trust"),
    ("Does a generator made for releases draw the noise?", "sampler"),
    ("Were bounds and categories chosen without the data?", "bounds"),
    ("Did any choice depend on the data?", "choices"),
    ("Are the errors of the published numbers stated?", "accuracy"),
    ("Could times, memory or failures give anything away?", "side_channels"),
    ("Who may read the data, and when are they deleted?", "access"),
    ("Can others read the code?", "code"),
)
_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>|$#!~@])")
_LONGEST: Final = 1000
MOST_ROWS: Final = 10
"""Maximum number of releases that a label lists."""


def label_report(
    ledger: Ledger,
    *,
    ledger_file: str,
    delta: float = 1e-6,
    epsilon: float | None = None,
    plan: ReleasePlan | None = None,
    facts: Mapping[str, str] | None = None,
    certificate: bool = False,
) -> str:
    """Return the label of the releases of a ledger as a report.

    Parameters
    ----------
    ledger : Ledger
        All releases about the same people.
    ledger_file : str
        The name of its file, which must be beside the report.
    delta : float, default 1e-6
        The delta at which epsilon is stated.
    epsilon : float, optional
        The budget; without one the label says only what is spent.
    plan : ReleasePlan, optional
        The plan of the release, which answers some of the questions.
    facts : mapping of str to str, optional
        Answers by the names of `FACTS`.
    certificate : bool, default False
        Whether the label cites the certificate of epsilon by its SHA-256; the region must be one that `dpcore certify` knows.

    Returns
    -------
    str
        Markdown; `dpcore report build` makes the page, the PDF or the docx.

    Examples
    --------
    >>> from dpcore.ledger import Ledger
    >>> text = label_report(Ledger.of(("counts", "laplace(0.1)", 10)), ledger_file="rows.csv")
    >>> text.splitlines()[0], "| open |" in text
    ('+++', True)
    """
    entries = {name: _plain(text) for name, text in _checked(facts or {}).items()}
    if plan is not None:
        entries = _planned(plan) | entries
    budget = "" if epsilon is None else f", epsilon={numeral(epsilon)}"
    budget += f', relation="{ledger.relation}"' if ledger.relation else ""
    region = "spent.region"
    name = json.dumps(ledger_file, ensure_ascii=False)
    together = "for one release" if len(ledger) == 1 else "for all {{ spent.rows }} releases together"
    parts = [
        _top(name, delta, budget, epsilon, certificate=certificate),
        f"# {entries.get('title', 'Privacy label')}",
        f"ε = {{{{ spent.epsilon }}}} at δ = {{{{ spent.delta }}}}, {together}.",
        _facts_table(entries, ledger, epsilon is not None, certificate),
        "## What an attacker can do",
        f"{{{{ risk({region}, fpr=0.01) }}}} {{{{ risk({region}).advantage_words }}}}",
        _profile(ledger_file, delta, epsilon, ledger.relation),
        "## Releases",
        _releases(ledger, ledger_file),
        "## Questions",
        "The questions follow the topics of NIST SP 800-226. Those marked open were not answered by the people who released the data.",
        _questions(entries, ledger, delta, plan),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _checked(facts: Mapping[str, str]) -> Mapping[str, str]:
    for name, text in facts.items():
        if name not in FACTS:
            msg = f"A label has no fact {quoted(name)}; {nearest(name, FACTS) or 'it has ' + ', '.join(FACTS) + '.'}"
            raise DomainError(msg)
        if not text.strip() or len(text) > _LONGEST:
            msg = f"The fact {name} must be a text of at most {_LONGEST} characters, got {value_text(text)}."
            raise DomainError(msg)
    return facts


def _plain(text: str) -> str:
    """Return a text that Markdown shows as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _planned(plan: ReleasePlan) -> dict[str, str]:
    """Return the answers that a plan gives."""
    leaks = [column.name for column in plan.columns if column.from_data]
    bounds = "public" if not leaks else f"from the data for {', '.join(leaks)}: no noise protects what they reveal"
    return {
        "unit": _plain(protection_words(plan)),
        "bounds": _plain(bounds),
        "accuracy": "in the report of the plan: the error of each answer by its noise",
    }


def _top(name: str, delta: float, budget: str, epsilon: float | None, *, certificate: bool) -> str:
    require = f'require = "spent.epsilon <= {numeral(epsilon)}"\n' if epsilon is not None else ""
    proof = f"proof = 'certificate(spent.region, delta={numeral(delta)})'\n" if certificate else ""
    return f"+++\ncontents = false\ncompact = true\n{require}\n[values]\nspent = 'ledger({name}, delta={numeral(delta)}{budget})'\n{proof}+++"


def _facts_table(told: Mapping[str, str], ledger: Ledger, has_budget: bool, certificate: bool) -> str:
    rows = [
        ("Protected", told.get("protected", OPEN)),
        ("Unit of protection", told.get("unit", OPEN)),
        (
            "Neighbouring datasets",
            ledger.neighbours if ledger.neighbours != "any" else "add/remove or substitution, as each release states",
        ),
        ("Privacy loss", "ε = {{ spent.epsilon }} at δ = {{ spent.delta }}"),
        ("Certificate of ε", "SHA-256 {{ proof.digest }}, for `dpcore-verify`" if certificate else "none"),
        ("Gaussian privacy", "μ = {{ spent.mu }}" if ledger.rows else OPEN),
        ("Budget", "{{ spent.words }}" if has_budget else "no budget is stated"),
        ("Period and renewal", told.get("period", OPEN)),
        ("Published without noise", told.get("invariants", OPEN)),
        ("Trust", told.get("trust", OPEN)),
        ("Noise drawn by", told.get("sampler", OPEN)),
        ("Choices that depend on the data", told.get("choices", OPEN)),
        ("Code", told.get("code", OPEN)),
        ("Release", told.get("link", OPEN)),
        ("Contact", told.get("contact", OPEN)),
    ]
    return "\n".join(["| what | answer |", "|---|---|", *(f"| {name} | {text} |" for name, text in rows)])


def _profile(file: str, delta: float, epsilon: float | None, relation: str) -> str:
    lines = [
        "```figure",
        'name = "region"',
        'draw = "ledger"',
        'view = "region"',
        'title = "What all releases reveal together"',
        'caption = "An attacker who wrongly accuses some share of the people outside the data misses at least the share of the people inside it that the curve shows."',
        f"file = {json.dumps(file, ensure_ascii=False)}",
        f"delta = {numeral(delta)}",
        f"epsilon = {numeral(epsilon)}" if epsilon is not None else "",
        f'relation = "{relation}"' if relation else "",
        "height = 260",
        "```",
    ]
    return "\n".join(line for line in lines if line)


def _releases(ledger: Ledger, file: str) -> str:
    """Return the table of releases; of a long ledger its first rows, so that the label stays a page."""
    caption, rows = (
        "One row per release; each number has its own noise.",
        f"file = {json.dumps(file, ensure_ascii=False)}",
    )
    if len(ledger) > MOST_ROWS:
        caption = f"The first {MOST_ROWS} of {grouped(len(ledger))} releases; the others are in the ledger, whose digest stands below."
        csv = cells_to_csv(all_cells(ledger)[:MOST_ROWS])
        cells = re.sub(r"\{(?=\{)", "{ ", csv)  # the name of a release computes nothing
        rows = f"rows = {json.dumps(cells, ensure_ascii=False)}"
    return "\n".join(
        [
            "```figure",
            'name = "releases"',
            'draw = "table"',
            'title = "Releases"',
            f"caption = {json.dumps(caption)}",
            rows,
            'columns = ["label", "expression", "count"]',
            "```",
        ]
    )


def _questions(told: Mapping[str, str], ledger: Ledger, delta: float, plan: ReleasePlan | None) -> str:
    answers = dict(told)
    answers["numbers"] = "yes: see the table and the figure above"
    answers["neighbours"] = f"{ledger.neighbours}" if ledger.neighbours != "any" else "as each release states"
    counted = "the one row of the ledger is" if len(ledger) == 1 else f"{len(ledger)} rows of the ledger are"
    answers["counted"] = f"{counted}; only its keeper can say whether it lists all releases"
    if plan is not None and plan.rows is not None:
        small = delta * plan.rows
        answers["delta"] = f"{grouped(plan.rows)} records times δ is {outward(small, 2)}"
    rows = []
    for question, key in _QUESTIONS:
        answer = answers.get(key)
        rows.append(f"| {question} | {answer or ''} | {'answered' if answer else OPEN} |")
    return "\n".join(
        ["| question | answer | state |", "|---|---|---|", *rows, "", "Table: Questions and answers {#tbl:questions}"]
    )
