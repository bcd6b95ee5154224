"""The grid of training runs, and three other samplers, beside the peers in one run; writes ``TRAINING.md`` beside this file.

`python -m tests.benchmarks.training_grid` asks dpcore all 225 cells and the peers, in an environment of their own, a fixed sample of
them; `--alone` leaves the peers out and `--python PATH` names their interpreter. Times are CPU seconds, each region fresh. The truth of
some cells comes from `training_truth`.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import dpcore
from dpcore import DpcoreError, parse
from tests.benchmarks.training_truth import holds

HERE = Path(__file__).parent
RESULTS = HERE / "TRAINING.md"
PREFACE = "Written by `python -m tests.benchmarks.training_grid`: CPU time of single questions, libraries imported; ε at the δ named."
TOLERANCE, SECONDS, RATIO, EVENT_RATIO = 1e-6, 0.05, 50, 20
GRID = list(
    itertools.product((0.5, 0.8, 1.1, 2, 10), (1e-5, 1e-4, 1e-3, 0.01, 0.1), (100, 10**4, 10**6), (1e-5, 1e-8, 1e-12))
)
SAMPLE = GRID[7::16]
"""Cells that the peers are asked: they take up to a minute each."""

CHECKED = [
    (1.1, 0.01, 10**4, 1e-5),
    (10, 1e-4, 100, 1e-5),
    (10, 1e-3, 10**6, 1e-8),
    (10, 1e-5, 10**6, 1e-5),
    (2, 1e-3, 10**6, 1e-12),
    (2, 0.1, 10**4, 1e-8),
]
"""Cells whose truth is computed: losses without rare far jumps, in either direction, up to a million steps."""

GRID_PEERS = ("dp-accounting PLD", "prv-accountant", "Opacus RDP")
EVENTS: list[tuple[str, list[Any]]] = [
    ("truncated_poisson(1, 0.01, 120, 10000)^1000", ["TruncatedSubsampledGaussianDpEvent", [10000, 0.01, 120, 1.0], 1000]),
    ("truncated_poisson(2, 0.1, 150, 1000)^100", ["TruncatedSubsampledGaussianDpEvent", [1000, 0.1, 150, 2.0], 100]),
    ("poisson(laplace(1), 0.01)^1000", ["laplace", [1.0, 0.01], 1000]),
    ("poisson(laplace(0.25), 0.1)^100", ["laplace", [4.0, 0.1], 100]),
    ("gaussian_mixture(2, [0, 1, 2, 3], [0.9, 0.06, 0.03, 0.01])^1000", ["MixtureOfGaussiansDpEvent", [2.0, [0, 1, 2, 3], [0.9, 0.06, 0.03, 0.01]], 1000]),
    ("gaussian_mixture(1, [0, 1, 2], [0.98, 0.015, 0.005])^100", ["MixtureOfGaussiansDpEvent", [1.0, [0, 1, 2], [0.98, 0.015, 0.005]], 100]),
]  # fmt: skip


class Own(NamedTuple):
    """Our answer: CPU seconds, and the bracket or the words of a refusal."""

    seconds: float
    bracket: tuple[float, float] | None
    words: str

    @property
    def width(self) -> float:
        """Relative width of the bracket, infinite for a refusal."""
        if self.bracket is None:
            return math.inf
        return (self.bracket[1] - self.bracket[0]) / self.bracket[1] if self.bracket[1] else 0.0


def own(text: str, delta: float) -> Own:
    """Ask one question of a fresh region."""
    region = parse(text)
    start = time.process_time()
    try:
        (lower,), (upper,) = region.epsilon_bounds([delta])
        bracket, words = (float(lower), float(upper)), f"{upper:.9g}"
    except DpcoreError as error:
        bracket, words = None, str(error)
    return Own(time.process_time() - start, bracket, words)


def answers(python: str, questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what the peers say, in one process of their environment."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "questions.json"
        file.write_text(json.dumps(questions), encoding="utf-8")
        command = [python, str(HERE / "training_peers.py"), str(file)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def row(text: str, ours: Own, peer: str, theirs: dict[str, Any]) -> str:
    """Return a line of the table."""
    said = f"{theirs['epsilon']:.9g}" if "epsilon" in theirs else theirs["error"]
    ratio = f"{theirs['seconds'] / ours.seconds:.3g}" if "epsilon" in theirs else "-"
    width = f"{ours.width:.0e}" if ours.bracket else "-"
    cells = (
        text,
        ours.words,
        width,
        f"{1e3 * ours.seconds:.1f}",
        peer,
        said,
        f"{1e3 * theirs['seconds']:.0f}",
        ratio,
        verdict(ours, theirs),
    )
    return "| " + " | ".join(cells) + " |"  # fmt: skip


def verdict(ours: Own, theirs: dict[str, Any]) -> str:
    """Return how their epsilon stands to our bracket: what lies below a certified lower end is below the truth."""
    epsilon = theirs.get("epsilon")
    if ours.bracket is None or epsilon is None:
        return "-"
    lower, upper = ours.bracket
    if not math.isfinite(epsilon) or epsilon >= upper * (1 - TOLERANCE):
        return "ours is not above"
    return "theirs is below the truth" if epsilon < lower else "**ours is above**"


def report(title: str, rows: list[tuple[str, Own, str, dict[str, Any]]], needed: float, *, each: bool) -> list[str]:
    """Return a table and what it shows: the ratio of times in the median, or in each row."""
    lines = [
        f"## {title}",
        "",
        "| question | ε of dpcore | width | ms | peer | ε of the peer | ms | ratio | |",
        "|" + "---|" * 9,
    ]
    lines += [row(*entry) for entry in rows]
    lines.append("")
    for peer in dict.fromkeys(entry[2] for entry in rows):
        ratios = [
            theirs["seconds"] / ours.seconds for _, ours, who, theirs in rows if who == peer and "epsilon" in theirs
        ]
        if ratios:
            ratio, words = (min(ratios), "in the worst") if each else (statistics.median(ratios), "in the median")
            met = "met" if ratio >= needed else "**not met**"
            lines.append(f"- {peer}: time ratio {ratio:.3g} {words} of {len(ratios)} (at least {needed:g}: {met}).")
    worse = sum(verdict(ours, theirs) == "**ours is above**" for _, ours, _, theirs in rows)
    lines.append(f"- Our ε is above theirs by more than 1e-6, and theirs is not below the truth: {worse} times.")
    return [*lines, ""]


def main() -> None:
    """Ask everybody, print and keep the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--python")
    options = parser.parse_args()
    ours: dict[tuple[float, ...], Own] = {}
    own("poisson_gaussian(1, 0.01)^1000", 1e-5)  # what is imported on first use is no cell's fault
    for sigma, q, steps, delta in GRID:
        ours[sigma, q, steps, delta] = answer = own(f"poisson_gaussian({sigma}, {q})^{steps}", delta)
        if answer.width > TOLERANCE or answer.seconds > 1:
            print(
                f"sigma {sigma} q {q:g} steps {steps} delta {delta:g}: {1e3 * answer.seconds:.0f} ms, {answer.words}",
                flush=True,
            )
    times = [answer.seconds for answer in ours.values()]
    narrow = sum(answer.width <= TOLERANCE for answer in ours.values())
    inside = sum(holds(*cell, bracket) for cell in CHECKED if (bracket := ours[cell].bracket) is not None)
    median = statistics.median(times)
    whole = (
        f"All {len(GRID)} cells (σ in 0.5, 0.8, 1.1, 2, 10; q in 1e-5 … 0.1; 100, 10^4, 10^6 steps; δ in 1e-5, 1e-8, 1e-12): "
        f"{narrow} certified to 1e-6 or better, {len(GRID) - narrow} refused; median {1e3 * median:.0f} ms "
        f"(at most {1e3 * SECONDS:.0f}: {'met' if median <= SECONDS else '**not met**'}), largest {max(times):.2g} s. "
        f"Truth to 24 digits inside the bracket: {inside} of the {len(CHECKED)} cells computed."
    )
    text = ["# Training runs", "", PREFACE, "", whole, ""]
    if not options.alone:
        python = options.python or str(_environment())
        cells = [(cell, peer) for cell in SAMPLE for peer in GRID_PEERS]
        questions = [{"peer": peer, "arguments": cell[:3], "delta": cell[3]} for cell, peer in cells]
        questions += [{"peer": "dp-accounting event", "arguments": arguments, "delta": 1e-5} for _, arguments in EVENTS]
        said = answers(python, questions)
        versions = {answer["library"]: answer["version"] for answer in said} | {"dpcore": dpcore.__version__}
        text += ["Versions: " + ", ".join(f"{name} {version}" for name, version in sorted(versions.items())) + ".", ""]
        grid = [
            (f"σ {cell[0]:g}, q {cell[1]:g}, {cell[2]} steps, δ {cell[3]:g}", ours[cell], peer, answer)
            for (cell, peer), answer in zip(cells, said, strict=False)
        ]
        text += report("The Gaussian on Poisson samples", grid, RATIO, each=False)
        others = [
            (f"`{name}`, δ 1e-5", own(name, 1e-5), "dp-accounting event", answer)
            for (name, _), answer in zip(EVENTS, said[len(cells) :], strict=True)
        ]
        text += report("Other samplers", others, EVENT_RATIO, each=True)
        RESULTS.write_text("\n".join(text), encoding="utf-8")
    print("\n".join(text))


def _environment() -> Path:
    """Return the interpreter of the peers, in an environment of their own."""
    sys.path.insert(0, str(HERE))
    from peers_environment import peers_python

    return peers_python()


if __name__ == "__main__":
    main()
