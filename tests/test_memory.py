"""However large a composition is asked for, memory stays below the cap: measured from outside, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
CAP = 2_000_000_000
ASKED = {
    "geometric(1, 1000)^100000000": "A lattice law of",
    "rr(1, 3)^1000000000": "",
    "dp(0.5)^1000000000": "",
    "dp(1)^1000000000 * dp(0.5)^1000": "",
    "geometric(1, 10000)^2": "",
    "geometric(1, 10000)^3": "",
    "geometric(1, 5000)^10": "",
    "laplace(0.0001)^1000000000": "",
    "pmf([0.3, 0.3, 0.4], [0.2, 0.5, 0.3])^100000": "",
}
PROGRAM = """
import json, resource, sys
from dpcore import parse
from dpcore.core.errors import BudgetError
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
resource.setrlimit(resource.RLIMIT_AS, (8 * 10**9, 8 * 10**9))  # a defect shall not take the whole machine
said = {}
for text in json.loads(sys.argv[1]):
    try:
        said[text] = float(parse(text).delta(1.0))
    except BudgetError as error:
        said[text] = str(error)
print(json.dumps([said, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before]))
"""


def test_no_composition_takes_more_than_the_cap() -> None:
    command = [sys.executable, "-c", PROGRAM, json.dumps(list(ASKED))]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True, env=environment)
    said, more = json.loads(done.stdout)
    assert more * 1024 < CAP
    for text, words in ASKED.items():
        answer = said[text]
        if words:
            assert answer.startswith(words), text
            assert "GB are allowed" in answer
        else:
            assert 0 < answer <= 1, text
