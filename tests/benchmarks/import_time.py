"""Time ``import dpcore`` against the libraries it stands on; each import has a fresh process of its own.

The aim is at most 1.5 times ``import numpy, scipy.special, pandas``. The two take turns and the fastest
of each counts, because whatever else the machine does only adds time.
"""

from __future__ import annotations

import subprocess
import sys

ROUNDS = 9
AIM = 1.5
BASE, OURS = "import numpy, scipy.special, pandas", "import dpcore"


def seconds(statement: str) -> float:
    """Return the time one statement takes in a fresh interpreter, without the interpreter's own start."""
    code = f"import time; start = time.perf_counter()\n{statement}\nprint(time.perf_counter() - start)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> None:
    """Print both times and their ratio."""
    for statement in (BASE, OURS):  # fill the file cache and write the byte code
        seconds(statement)
    pairs = [(seconds(BASE), seconds(OURS)) for _ in range(ROUNDS)]
    base, ours = (min(column) for column in zip(*pairs, strict=True))
    print(f"{BASE}: {base:.3f} s")
    print(f"{OURS}: {ours:.3f} s")
    print(f"ratio: {ours / base:.2f} (aim: at most {AIM})")


if __name__ == "__main__":
    main()
