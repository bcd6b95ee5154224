"""All questions of the benchmark, the presets and a random sample of the language, certified and checked: ``make verify``.

What the checker cannot prove is counted with its reason and never passed. A bracket that the checker refutes fails the run.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import re
import sys
import time
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpcore import parse
from dpcore.certificates import certify
from dpcore.core.effort import effort
from dpcore.core.errors import DpcoreError
from dpcore.core.notices import collected
from dpcore_verify.expression import Refuted
from tests.benchmarks.tasks import TASKS

ROOT = Path(__file__).resolve().parent.parent.parent
Question = tuple[str, dict[str, float]]


class Late(Exception):
    """A question has used the time allowed for it."""


@dataclass
class Tally:
    """What became of the questions."""

    proved: int = 0
    unproved: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    late: int = 0
    seconds: float = 20.0
    """Time of the processor allowed for a question."""
    refuted: list[str] = field(default_factory=list)
    largest: int = 0
    slowest: float = 0.0

    def ask(self, text: str, at: dict[str, float]) -> None:
        """Certify one question."""
        from dpcore_verify import verify

        end = time.process_time() + self.seconds

        def listen(_: float) -> None:
            if time.process_time() > end:
                raise Late

        try:
            with effort(progress=listen, work=1e7 * self.seconds), collected():
                certificate = certify(text, **at)
        except Late:
            self.late += 1
            return
        except DpcoreError as error:
            cause = error.__cause__
            if isinstance(cause, Refuted):
                self.refuted.append(f"{text} {at}: {cause}")
            elif str(error).startswith("No certificate"):
                self.unproved[_kind(str(error))] += 1
            else:
                self.refused += 1
            return
        start = time.process_time()
        verify(json.loads(certificate.text()))
        self.slowest = max(self.slowest, time.process_time() - start)
        self.largest = max(self.largest, len(certificate.text()))
        self.proved += 1

    def words(self) -> str:
        """Return the result."""
        proved = (
            f"{self.proved} proved again (largest file {self.largest} bytes, slowest check {self.slowest:.2f} s of CPU)"
        )
        others = (
            f"{self.refused} refused by dpcore itself, {sum(self.unproved.values())} without a certificate, "
            f"{self.late} not done in {self.seconds:g} s of CPU"
        )
        lines = [f"{proved}, {others}, {len(self.refuted)} refuted"]
        lines += [f"  {count} x {reason}" for reason, count in self.unproved.most_common()]
        return "\n".join([*lines, *(f"REFUTED {line}" for line in self.refuted)])


def _kind(message: str) -> str:
    """Return a reason without its numbers."""
    return re.sub(r"-?\d[\d.e+-]*", "#", message.removeprefix("No certificate: "))[:160]


def random_question(rng: random.Random) -> Question:
    """Return a random product and a random question about it."""

    def number(low: float, high: float) -> str:
        value = low * (high / low) ** rng.random()
        return f"{value:.{rng.choice((1, 2, 3, 6))}g}"

    def copies(most: int) -> str:
        k = int(most ** rng.random())
        return f"^{k}" if k > 1 else ""

    finite = (
        lambda: f"dp({number(0.005, 2)}, {number(1e-9, 0.05)}){copies(20000)}",
        lambda: f"dp({number(0.005, 2)}){copies(20000)}",
        lambda: f"dptv({number(0.05, 1.5)}, 0.001, {number(0.005, 0.1)}){copies(5000)}",
        lambda: f"rr({number(0.1, 3)}, {rng.choice((2, 3, 10))}){copies(300)}",
        lambda: f"geometric({number(0.1, 2)}, {rng.choice((1, 2, 5))}){copies(100)}",
        lambda: f"discrete_gaussian({number(1, 10)}){copies(50)}",
        lambda: f"gaussian({number(0.5, 50)}){copies(1000)}",
    )
    laplace = (
        lambda: f"laplace({number(0.01, 2)}){copies(3000)}",
        lambda: f"laplace({number(0.1, 3)}){copies(100)}",
        finite[-1],
    )
    sampled = (lambda: f"poisson_gaussian({number(0.7, 4)}, {number(0.0005, 0.3)}){copies(3000)}",)
    # mostly products that take a few hundredths of a second; one in eight is of anything, and may take a hundred times longer
    families = rng.choices((finite, laplace, (*finite, *laplace, *sampled)), (5, 2, 1))[0]
    parts = [rng.choice(families)() for _ in range(rng.choice((1, 1, 1, 2, 2, 3)))]
    oriented = [text for text in parts if text.startswith("poisson")]
    text = " * ".join(part for part in parts if not (oriented and part.startswith("rr")))
    if rng.random() < 0.06:
        text = f"erase({text}, {number(0.05, 0.9)})"
    elif rng.random() < 0.06 and "poisson" not in text:
        text = f"subsample({text}, {number(0.01, 0.9)})"
    kind = rng.random()
    if kind < 0.5:
        return text, {"delta": float(number(1e-12, 0.3))}
    if kind < 0.94:
        return text, {"epsilon": round(rng.uniform(0, 8), 3)}
    return text, {"alpha": round(rng.uniform(0.01, 0.6), 3)}


def preset_questions() -> list[Question]:
    """Return the regions that presets name, asked at one epsilon and one delta."""
    texts: set[str] = set()
    for path in sorted((ROOT / "data" / "presets").glob("*.toml")):
        for preset in tomllib.loads(path.read_text(encoding="utf-8")).get("preset", []):
            texts |= set(_texts(preset.get("state", {})))
    found: list[Question] = []
    for text in sorted(texts):
        with contextlib.suppress(DpcoreError, RecursionError), collected():
            parse(text)
            found += [(text, {"epsilon": 0.5}), (text, {"delta": 1e-5})]
    return found


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for inner in value.values() for text in _texts(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in _texts(inner)]
    return [value] if isinstance(value, str) and "(" in value and len(value) < 2000 else []


def benchmark_questions() -> list[Question]:
    """Return the questions of the benchmark; of 1000 false-positive rates, those inside the range of the checker."""
    names = {"delta": "epsilon", "corners": "epsilon", "epsilon": "delta", "beta": "alpha"}
    found: list[Question] = []
    for task in TASKS.values():
        places = task.at if task.measure != "beta" else task.at[600::100]
        if task.measure in names:
            found += [(task.expression, {names[task.measure]: float(place)}) for place in places]
    return found


def main(words: list[str] | None = None) -> int:
    """Run everything, or the random part alone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300, help="random questions")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--random-only", action="store_true")
    parser.add_argument("--seconds", type=float, default=20.0, help="time of the processor for one question")
    parser.add_argument("--minutes", type=float, default=60.0, help="stop after this time")
    arguments = parser.parse_args(words)
    rng = random.Random(arguments.seed)
    groups = {"random": [random_question(rng) for _ in range(arguments.count)]}
    if not arguments.random_only:
        groups = {"benchmark": benchmark_questions(), "presets": preset_questions(), **groups}
    end, failed = time.monotonic() + 60 * arguments.minutes, False
    for name, questions in groups.items():
        tally, asked = Tally(seconds=arguments.seconds), 0
        for text, at in questions:
            if time.monotonic() > end:
                break
            tally.ask(text, at)
            asked += 1
            if tally.refuted and len(tally.refuted) > int(failed):
                sys.stdout.write(f"REFUTED {tally.refuted[-1]}\n")
                failed = True
        sys.stdout.write(f"{name}: {asked} of {len(questions)} questions: {tally.words()}\n")
        sys.stdout.flush()
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
