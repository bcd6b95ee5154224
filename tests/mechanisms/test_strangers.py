"""A mechanism that came as a file is served everywhere: five files, dropped into a copy of the package, nothing else touched."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STRANGERS = Path(__file__).parent / "strangers"
NAMES = ("capped_gaussian", "gumbel", "logistic", "poisson_count", "skew_laplace")
GENERATED = (
    "tests/mechanisms/test_every.py",
    "tests/charts/test_noise.py",
    "tests/test_registry.py",
    "tests/test_guide.py",
)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a copy of the package that has five more mechanisms; all else is what it was."""
    folder = tmp_path_factory.mktemp("house")
    shutil.copytree(ROOT / "dpcore", folder / "dpcore", ignore=shutil.ignore_patterns("__pycache__"))
    for name in NAMES:
        shutil.copy(STRANGERS / f"{name}.py", folder / "dpcore" / "mechanisms")
    for name in ("data", "tests", "pages", "pyproject.toml"):
        (folder / name).symlink_to(ROOT / name)
    return folder


def run(house: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the copy."""
    environment = {**os.environ, "PYTHONPATH": str(house), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("PYTEST_XDIST_WORKER", None)
    return subprocess.run(
        [sys.executable, *words], cwd=house, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.long
def test_everything_that_is_asked_of_a_mechanism_is_answered(house: Path) -> None:
    done = run(house, str(STRANGERS / "visit.py"))
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stderr.count("check_") == 4


def test_the_page_draws_it(house: Path) -> None:
    script = (
        "from streamlit.testing.v1 import AppTest\n"
        "app = AppTest.from_file('pages/3_Mechanisms.py', default_timeout=120)\n"
        "app.query_params['expression'] = 'capped_gaussian(3, 60, 1)'\n"
        "app.run()\n"
        "assert not app.exception, app.exception\n"
        "assert not app.error, [one.value for one in app.error]\n"
        "said = ' '.join(one.value for one in app.markdown)\n"
        "assert 'the point lies on the region' in said, said\n"
    )
    done = run(house, "-c", script)
    assert done.returncode == 0, done.stderr[-4000:]


@pytest.mark.parametrize("names", [NAMES[:1], pytest.param(NAMES[1:], marks=pytest.mark.long)])
def test_the_generated_tests_test_it(house: Path, names: tuple[str, ...]) -> None:
    done = run(house, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *GENERATED, "-k", " or ".join(names))
    assert done.returncode == 0, done.stdout[-6000:]
    passed = int(done.stdout.rsplit(" passed", maxsplit=1)[0].split()[-1])
    assert passed >= 20 * len(names), done.stdout[-500:]
