"""Memory of the app while visitors change numbers: ``python tests/benchmarks/soak.py [RERUNS]``.

Five visitors take turns on Privacy regions, Composition and Subsampling; each rerun asks for numbers that were never
asked before, every third one for a region whose lattices take tens of megabytes. Printed are the megabytes of the server
and of its workers (proportional set size, so that pages shared by both count once).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PORT = 8791
ADDRESS = f"http://127.0.0.1:{PORT}"
VISITORS = 5
PAGES = (
    ("Privacy_regions", "regions", "subsample(laplace({0}), 0.1)^100", 1.0),
    ("Composition", "mechanism", "laplace({0})", 0.1),
    ("Subsampling", "base", "gaussian({0})", 1.0),
    ("Privacy_regions", "regions", "dp({0});gdp({0});laplace({0})^20", 0.5),
)


def megabytes(pid: int) -> float:
    """Return the proportional set size of a process and of all that it started."""
    total, waiting = 0, [pid]
    while waiting:
        process = waiting.pop()
        try:
            rows = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
            total += sum(int(row.split()[1]) for row in rows if row.startswith("Pss:"))
            for task in Path(f"/proc/{process}/task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
        except (FileNotFoundError, ProcessLookupError):
            continue
    return total / 1000


def ask(session: str | None, page: str, **query: str) -> tuple[str, str]:
    """Run a page with the parameters of a link and return the session and what is wrong with the answer, if anything."""
    body: dict[str, object] = {"page": page, "query_params": {key: [value] for key, value in query.items()}}
    if session is not None:
        body["session_id"] = session
    for _ in range(40):
        request = urllib.request.Request(
            f"{ADDRESS}/_stcore/agent/interact", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                found = json.load(answer)
        except urllib.error.HTTPError as error:
            found = json.load(error)
        if "tree" in found:
            shown = json.dumps(found["tree"])
            wrong = [kind for kind in ("error", "exception") if f'"type": "{kind}"' in shown]
            return str(found["session_id"]), " ".join(wrong) if found["status"] == "ready" else str(found["status"])
        body = {"session_id": found.get("session_id", session)}
        time.sleep(0.2)
    return str(session), f"no answer: {found}"


def main() -> None:
    """Start a server, let the visitors in, print the curve and end the server."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reruns", nargs="?", type=int, default=300)
    reruns = parser.parse_args().reruns
    options = ["--server.port", str(PORT), "--server.address", "127.0.0.1", "--server.headless", "true"]
    server = subprocess.Popen(
        [sys.executable, "serve.py", *options, "--server.enableAgentApi", "true"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
    )
    try:
        for _ in range(100):
            try:
                urllib.request.urlopen(f"{ADDRESS}/_stcore/health", timeout=5).close()
                break
            except OSError:
                time.sleep(0.3)
        sessions: list[str | None] = [None] * VISITORS
        begun, peak, failed = time.monotonic(), 0.0, 0
        print(f"start {megabytes(server.pid):.0f} MB", flush=True)
        for number in range(reruns):
            page, key, text, start = PAGES[number % len(PAGES)]
            value = text.format(round(start + 0.0007 * (number + 1), 6))
            visitor = number % VISITORS
            sessions[visitor], wrong = ask(sessions[visitor], page, **{key: value})
            failed += bool(wrong)
            peak = max(peak, megabytes(server.pid))
            if number % 20 == 19:
                seconds = time.monotonic() - begun
                print(f"{number + 1} reruns, {seconds:.0f} s: {megabytes(server.pid):.0f} MB", flush=True)
        print(f"peak {peak:.0f} MB, {failed} of {reruns} runs without an answer", flush=True)
    finally:
        server.terminate()
        server.wait(20)


if __name__ == "__main__":
    main()
