"""Stop: whatever a page is computing, it ends at once and the page says so."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest
import streamlit

from dpcore.app.work import STOPPED
from tests.benchmarks.visitors import processes
from tests.browser.visitor import PATIENCE, start_server, stop_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.browser.visitor import Visitor

pytestmark = pytest.mark.browser

LONGEST = 5000  # ms; what is measured is printed, and a busy machine is no error
EARLY = "from dpcore.app import work; work.LONG = 0.3"  # so that a fast machine shows a Stop, too
HEAVY = {
    "Privacy_regions": {
        "regions": "; ".join(
            f"subsample(normal_laplace(1, 1.{tenth}), 0.1)^1000 * normal_laplace(1, 1)^10" for tenth in range(6)
        )
    },
    "Composition": {"mechanism": "subsample(normal_laplace(1, 1), 0.1)", "k": "1000"},
    "Limits": {"lim_mechanism": "subsample(normal_laplace(1, 1), 0.1)", "lim_k": "1000"},
    "Private_training": {
        "train_by": "rate and steps",
        "train_sigma": "0.3",
        "train_rate": "0.00001",
        "train_steps": "100000",
    },
    "Choose_your_noise": {"choose_k": "90000", "choose_q": "0.03", "choose_epsilon": "5", "choose_picture": "ladder"},
    "Audit": {"audit_mechanism": "subsample(normal_laplace(1, 2), 0.1)^200 * normal_laplace(1, 1)^10"},
    "Statistics_lab": {"lab": "blocking n=20000 replications=20000"},
}
# From the click on Stop until the page answers, and until it is drawn again without what was stopped, in milliseconds; and the
# scripts that were loaded before the answer: the page goes on meanwhile, and what it shows next may have scripts of its own.
_PRESS = """(button, [words, patience]) => new Promise((resolve, reject) => {
  const begun = performance.now();
  let answered, scripts;
  const seen = new MutationObserver(() => {
    if (!answered && document.querySelector("[data-testid='stToast']")) {
      answered = performance.now() - begun;
      scripts = performance.getEntriesByType("resource").filter(e => e.startTime >= begun && e.name.endsWith(".js")).map(e => e.name);
    }
    if (!button.isConnected && !answered) setTimeout(() => answered || resolve(null), 3000);  // the work had just ended
    if (!answered || button.isConnected || !document.body.innerText.includes(words)) return;
    seen.disconnect();
    resolve([answered, performance.now() - begun, scripts]);
  });
  seen.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  setTimeout(() => reject(new Error("nothing was stopped")), patience);
  button.click();
})"""


@pytest.fixture(scope="module")
def own() -> Iterator[tuple[int, str]]:
    """Run an app of our own; give the number of its process and its address."""
    server, address = start_server(before=EARLY)
    yield server.pid, address
    stop_server(server)


def scripts_of_a_notice() -> set[str]:
    """Return the names of the scripts that Streamlit needs to show a notice: its own, and what they import at once."""
    folder = Path(streamlit.__file__).parent / "static" / "static" / "js"
    names: set[str] = set()
    new = {file.name for file in folder.glob("Toast.*.js")}
    assert new
    while new:
        names |= new
        texts = [(folder / name).read_text(encoding="utf-8") for name in new]
        new = {name for text in texts for name in re.findall(r'from ?"\./([\w.-]+\.js)"', text)} - names
    return names


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.long] if page != "Composition" else []) for page in HEAVY]
)
def test_stop_ends_whatever_runs(own: tuple[int, str], visit: Callable[..., Visitor], page: str) -> None:
    pid, address = own
    visitor = visit(address)
    visitor.page.goto(f"{address}/{page}?{urlencode(HEAVY[page])}")
    stop = visitor.page.get_by_test_id("stButton").get_by_role("button", name="Stop").first
    found = None
    while found is None:
        stop.wait_for()
        time.sleep(1.5)  # in the middle of the work; what was drawn before it is drawn
        found = stop.evaluate(_PRESS, [STOPPED, PATIENCE])
    answered, drawn, scripts = found
    print(f"{page}: stopped after {answered:.0f} ms, drawn after {drawn:.0f} ms")  # noqa: T201  read it with pytest -s
    assert answered < LONGEST
    late = scripts_of_a_notice() & {script.rpartition("/")[2] for script in scripts}
    assert not late, "a browser that was never here waits for a file before it can say that the work has stopped"
    visitor.settle()
    assert processes(pid) == [pid], "the worker has ended"
    assert visitor.page.get_by_test_id("stException").count() == 0
    assert visitor.page.get_by_role("button", name="Try again").count() >= 1
