"""Fuzzers of what strangers state: grids of a sweep, accounts of other libraries, deployments, values of a text, certificates."""

from __future__ import annotations

import json
import random
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from dpcore.certificates import certify
from dpcore.core.errors import DomainError
from dpcore.deployments import read_deployments, write_deployments
from dpcore.files.documents import toml_of
from dpcore.sweeps.cells import compute_part
from dpcore.sweeps.grid import Grid
from dpcore.sweeps.reading import grid_of
from dpcore.training.interop import read_accounts
from dpcore.values import NumberValue, Scope, shown_value, value
from dpcore_verify import Unproved, verify
from dpcore_verify.claims import digest
from tests.fuzz.kinds import Answer, Kind
from tests.fuzz.language import NUMBERS, draw_text
from tests.fuzz.readers import DATA, mutated

SWEEPS: Final = (
    b'expression = "poisson_gaussian({s}, 0.01)^{k}"\nmeasure = "epsilon"\ndelta = 1e-6\n[grid]\ns = "1:2:0.5"\nk = [1, 100]\n',
    b'expression = "{r} * dp({e})"\nmeasure = "delta"\nepsilon = "{e}"\n[grid]\nr = ["gdp(1)", "dp(1, 0.1)"]\ne = "0.1..1/3"\n',
    b'expression = "laplace({b})^2"\nmeasure = "advantage"\n[grid]\nb = [0.5, 1, 2]\n',
    b'expression = "gaussian(?)^{k}"\nmeasure = "calibrate"\ndelta = 1e-6\nepsilon = 1\n[grid]\nk = [1, 2]\n',
    b'expression = "dptv({e}, 0, 0.2)"\nmeasure = "beta"\nalpha = 0.05\n[grid]\ne = [1, 2]\n',
)
MOST_CELLS: Final = 12
"""A larger grid is read and not computed: its first cells tell as much as all of them."""

ACCOUNTS: Final = (
    b"[[1.1, 0.01, 100], [1.3, 0.01, 50]]",
    b'{"history": [[0.9, 0.004, 1000]], "mechanism": "rdp"}',
    b'{"class_name": "SelfComposedDpEvent", "count": 10, "event": {"class_name": "PoissonSampledDpEvent", "sampling_probability": 0.1, "event": {"class_name": "GaussianDpEvent", "noise_multiplier": 2}}}',
    b'{"class_name": "ComposedDpEvent", "events": [{"class_name": "LaplaceDpEvent", "noise_multiplier": 3}, {"class_name": "EpsilonDeltaDpEvent", "epsilon": 1, "delta": 1e-6}, {"class_name": "ZCDpEvent", "rho": 0.1, "xi": 0}]}',
)
VALUES: Final = (
    'deltas("laplace(0.1)^100", epsilon=1)', 'epsilons("gdp(1)", delta=1e-6)', '1 + 2 * sigma / (3 - 0.5)', '-sigma', 'risk("dp(1)").advantage',
    'mu("poisson_gaussian(1, 0.01)^100")', 'misses("gaussian(1)", alpha=0.05)', 'risk("dp(1)", fpr=0.1, prior=0.1)', 'region("dp(1)")',
    'sigma * calibrate("gaussian(?)", epsilon=1, delta=1e-6)', 'cell("deployments/published.yaml", "a", 1)', 'table("x.csv").rows',
)  # fmt: skip
CLAIMS: Final = (("dp(1)^10", 1.0), ("laplace(0.5)^3", 0.5), ("dp(0.5, 0.01) * dp(1)", 1.2))
DIGITS: Final = "0123456789"


def draw_sweep(seed: int, index: int) -> bytes:
    """Return a TOML text of a sweep, changed byte by byte, or with other numbers."""
    turn = random.Random(f"sweep {seed} {index}")
    text = turn.choice(SWEEPS)
    if turn.random() < 0.5:
        return mutated(text, turn)
    words = text.decode().replace("1e-6", turn.choice(NUMBERS), 1).replace("[1, 2]", f"[{turn.choice(NUMBERS)}]", 1)
    return words.encode()


def ask_sweep(data: bytes) -> Answer:
    """Read a grid and compute its first cells, each an answer or one sentence."""
    try:
        document = toml_of(data.decode("utf-8", "replace"))
    except ValueError as error:
        raise DomainError(str(error)) from None
    grid = grid_of(document)
    if grid.size > MOST_CELLS:
        axes = tuple((name, values[:1]) for name, values in grid.axes)
        grid = Grid(grid.expression, grid.measure, axes, grid.arguments)
    cells = compute_part(grid, 0, 1e-3).cells
    numbers = [float(side) for cell in cells if not isinstance(cell, str) for side in (cell.lower, cell.upper)]
    return Answer(numbers) if grid.measure in ("delta", "beta", "advantage") else Answer((), numbers)


def draw_account(seed: int, index: int) -> bytes:
    """Return a file of Opacus or dp-accounting, changed."""
    turn = random.Random(f"accounts {seed} {index}")
    return mutated(turn.choice(ACCOUNTS), turn)


def ask_account(data: bytes) -> None:
    """Read the accounts of another library into a ledger, and its region."""
    str(read_accounts(data.decode("utf-8", "replace")).region)


@lru_cache(maxsize=1)
def _deployments() -> tuple[bytes, ...]:
    text = (DATA / "deployments" / "published.yaml").read_text(encoding="utf-8")
    rows = read_deployments(text)
    return tuple(write_deployments([row]).encode() for row in rows)


def draw_deployment(seed: int, index: int) -> bytes:
    """Return the record of a deployment, changed."""
    turn = random.Random(f"deployment {seed} {index}")
    return mutated(turn.choice(_deployments()), turn)


def ask_deployment(data: bytes) -> None:
    """Read records, and what is written of them again."""
    records = read_deployments(data.decode("utf-8", "replace"))
    assert read_deployments(write_deployments(records)) == records, "the records do not come back"


def draw_value(seed: int, index: int) -> str:
    """Return an expression of a text: a good one with other numbers and regions, cut and joined."""
    turn = random.Random(f"values {seed} {index}")
    text = turn.choice(VALUES)
    ways = (
        lambda: text.replace("1", turn.choice(NUMBERS), turn.randint(1, 3)),
        lambda: text.replace("dp(1)", draw_text(seed, index).replace('"', "")[:300], 1),
        lambda: f"{text}{turn.choice('+-*/^<>=,).')}{turn.choice(VALUES)}",
        lambda: f"({text}){turn.choice('+-*/')}({turn.choice(VALUES)})",
        lambda: mutated(text.encode(), turn).decode("utf-8", "replace"),
    )
    return turn.choice(ways)()


def ask_value(text: str) -> Answer:
    """Evaluate an expression and write it as a reader sees it: both sides are numbers, in order."""
    found = value(text, Scope(values={"sigma": value("1.1", Scope())}, folder=Path()))
    shown_value(found)
    if not isinstance(found, NumberValue):
        return Answer()
    assert found.low <= found.high, "the lower side is above the upper"
    return Answer((), [found.low, found.high])


@lru_cache(maxsize=1)
def _certificates() -> tuple[str, ...]:
    return tuple(json.dumps(certify(text, epsilon=epsilon).document) for text, epsilon in CLAIMS)


def draw_certificate(seed: int, index: int) -> str:
    """Return a certificate with one digit or more changed, often with the digest of what it says now."""
    turn = random.Random(f"certificates {seed} {index}")
    text = turn.choice(_certificates())
    if turn.random() < 0.4:
        return _with_digest(mutated(text.encode(), turn).decode("utf-8", "replace"))
    place = turn.choice([place for place, char in enumerate(text) if char in DIGITS])
    changed = text[:place] + turn.choice(DIGITS.replace(text[place], "")) + text[place + 1 :]
    return _with_digest(changed) if turn.random() < 0.9 else changed


def _with_digest(text: str) -> str:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return json.dumps({**document, "digest": digest(document)}) if isinstance(document, dict) else text


def ask_certificate(text: str) -> None:
    """Check a certificate as `dpcore-verify` does: proved, or rejected with one sentence."""
    try:
        certificate: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DomainError(str(error) or "too deep") from None
    try:
        verify(certificate)
    except Unproved as reason:
        raise DomainError(str(reason)) from None


_FUZZERS: Final = (
    Kind("sweep", "grids of a sweep, TOML, and their first cells", draw_sweep, ask_sweep, 2_000, 4.0),
    Kind("accounts", "accounts of Opacus and dp-accounting, JSON", draw_account, ask_account, 10_000, 2.0),
    Kind("deployments", "records of deployments, YAML", draw_deployment, ask_deployment, 5_000, 2.0),
    Kind("values", "expressions in the text of a report", draw_value, ask_value, 10_000, 2.0),
    Kind(
        "certificates",
        "certificates, JSON, with a digit or more changed",
        draw_certificate,
        ask_certificate,
        3_000,
        4.0,
    ),
)
KINDS: Final = {kind.name: kind for kind in _FUZZERS}
