"""Processor time of the server for one committed change: ``python -m tests.benchmarks.changes [CHANGES]``.

One visitor changes one number of a page, again and again, to values that were never asked before; printed are the
milliseconds of the server's processor for one of these changes, workers included, and the median over the pages.
"""

from __future__ import annotations

import argparse
import statistics
from typing import Final

from tests.benchmarks.visitors import Visitor, seconds, server

PORT: Final = 8793
# page, key of its field, text with the number, first number, step, and the width after which it starts again, beside itself
CHANGES: Final = (
    ("", "t", "{0}", 35.0, 0.1, 12.97),
    ("Privacy_regions", "regions", "dptv({0}, 0.01, 0.2);laplace({0})", 0.5, 0.013, 9.0),
    ("Composition", "k", "{0:.0f}", 80.0, 1.0, 900.0),
    ("Mechanisms", "expression", "laplace({0})", 0.5, 0.013, 9.0),
    ("Subsampling", "sub_p", "{0}", 0.01, 0.0007, 0.9),
)


def main() -> None:
    """Measure every page and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("changes", nargs="?", type=int, default=40)
    changes = parser.parse_args().changes
    costs = []
    with server(PORT) as pid:
        for page, key, text, start, step, width in CHANGES:
            visitor = Visitor(f"127.0.0.1:{PORT}", page)
            visitor.shown()
            before = 0.0
            for number in range(-3, changes):  # three to warm up
                if number == 0:
                    before = seconds(pid)
                value = round(start + step * (number + 3) % width, 6)
                visitor.put(key, text.format(value))
                if problems := visitor.shown():
                    raise RuntimeError(problems[0])
            costs.append(1000 * (seconds(pid) - before) / changes)
            print(f"{page or 'Start':20} {costs[-1]:6.0f} ms", flush=True)
            visitor.leave()
    print(f"median over the pages {statistics.median(costs):6.0f} ms")


if __name__ == "__main__":
    main()
