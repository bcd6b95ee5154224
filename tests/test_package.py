"""The repository as a package: what the wheel carries, what an import pulls in, which way imports point."""

from __future__ import annotations

import ast
import csv
import io
import os
import re
import socket
import subprocess
import sys
import sysconfig
import time
import tomllib
import urllib.error
import urllib.request
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import dpcore
from tests.house import (
    HEIGHT,
    MODULES,
    PICTURE,
    ROOT,
    TEXT,
    arrows,
    drawing,
    imported,
    imports_of,
    room,
    rooms_below,
    table,
    with_table,
)

BUNDLED = ("serve.py", "streamlit_app.py", "pages", "data", ".streamlit")


def quiet_environment() -> dict[str, str]:
    """Return the environment without what could make an installed package find the checkout."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "STREAMLIT"))}


def run(command: list[str | Path], **options: object) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)  # type: ignore[call-overload]  # options go through untouched
    assert done.returncode == 0, done.stderr
    return done


def project_files() -> list[str]:
    """List the files of the project, relative to its root: git's own list, or a walk where there is no git."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        listed = None
    if listed is not None and listed.returncode == 0 and listed.stdout:
        names = listed.stdout.split("\0")
    else:
        passed_over = re.compile(
            r"(^|/)(\.venv|\.git|\.stamps|build|dist|screenshots|__pycache__|\.[a-z]+_cache|\.hypothesis)/"
        )
        found = (path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*"))
        names = [name for name in found if not passed_over.search(name)]
    return sorted(name for name in names if name and (ROOT / name).is_file())


# --- the wheel ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run([sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder], cwd=ROOT)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into an empty environment that borrows only third-party packages; return its bin folder."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=False)
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / "python"
    install = ["install", "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check", wheel]
    run([sys.executable, "-m", "pip", "--python", python, *install])
    # A folder named in a .pth file is searched, but the .pth files inside it (the checkout's own) are not read.
    inner = Path(run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).stdout.strip())
    borrowed = dict.fromkeys((sysconfig.get_path("purelib"), sysconfig.get_path("platlib")))
    (inner / "borrowed.pth").write_text("\n".join(borrowed) + "\n", encoding="utf-8")
    return scripts


def test_the_wheel_carries_the_whole_app(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    expected = {f"dpcore/_bundle/{name}" for name in project_files() if name.split("/")[0] in BUNDLED}
    expected |= {name for name in project_files() if name.startswith("dpcore/")}
    assert "dpcore/_bundle/serve.py" in expected
    assert "dpcore/_bundle/streamlit_app.py" in expected
    assert "dpcore/_bundle/.streamlit/config.toml" in expected
    assert "dpcore/py.typed" in expected
    assert expected - inside == set()
    assert not [name for name in inside if "__pycache__" in name or name.startswith("tests")]


def test_the_installed_wheel_is_what_runs(installed: Path, tmp_path: Path) -> None:
    command = [installed / "python", "-c", "import dpcore; print(dpcore.__file__)"]
    where = Path(run(command, cwd=tmp_path, env=quiet_environment()).stdout.strip())
    assert where.is_relative_to(installed.parent)


def test_the_installed_command_line_answers(installed: Path, tmp_path: Path) -> None:
    command = [installed / "dpcore", "deltas", "dp(0.6, 0.05)^5"]
    table = csv.DictReader(io.StringIO(run(command, cwd=tmp_path, env=quiet_environment()).stdout))
    found = {round(float(row["epsilon"]), 9): float(row["delta"]) for row in table}
    assert found[3.0] == pytest.approx(0.2262190625, rel=1e-10)
    assert found[1.8] == pytest.approx(0.286890111785, rel=1e-10)
    assert found[0.6] == pytest.approx(0.471648769767, rel=1e-10)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answer(url: str, server: subprocess.Popen[bytes], seconds: float) -> str:
    """Ask until the server answers, ends or takes too long."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends and server.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5) as reply:
                return str(reply.read().decode())
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.2)
    return f"no answer; exit code {server.poll()}"


def test_the_installed_app_starts(installed: Path, tmp_path: Path) -> None:
    port = str(free_port())
    options = ["--server.port", port, "--server.address", "127.0.0.1", "--server.headless", "true"]
    log = tmp_path / "log.txt"
    with log.open("wb") as out:
        server = subprocess.Popen(
            [installed / "dpcore", "app", *options], cwd=tmp_path, env=quiet_environment(), stdout=out, stderr=out
        )
        try:
            assert answer(f"http://127.0.0.1:{port}/_stcore/health", server, 60) == "ok", log.read_text()
        finally:
            server.terminate()
            try:
                server.wait(timeout=20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def test_the_app_without_streamlit_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    from dpcore.cli import app
    from dpcore.core.errors import DpcoreError

    monkeypatch.setattr(app.importlib.util, "find_spec", lambda name: None)  # noqa: ARG005  # the real one's signature
    with pytest.raises(DpcoreError, match=r'^The app needs streamlit and altair; .* "dpcore\[app\]"\.$'):
        app.run_app()


def test_the_checkout_runs_its_own_app() -> None:
    from dpcore.cli.app import find_app

    assert find_app() == ROOT / "serve.py"


# --- what an import costs ------------------------------------------------------------------------------------------


def test_import_dpcore_pulls_only_numpy_scipy_special_and_pandas() -> None:
    code = "import sys, numpy, scipy.special, pandas; before = set(sys.modules); import dpcore; "
    code += "print(*sorted(set(sys.modules) - before))"
    more = run([sys.executable, "-c", code], cwd=ROOT).stdout.split()
    assert "dpcore.regions.tradeoff" in more
    assert [name for name in more if name.split(".")[0] not in {"dpcore", *sys.stdlib_module_names}] == []
    late = ("app", "charts", "cli", "regions.notebook", "site", "specs")  # what draws, asks or writes
    assert [name for name in more if name.startswith(tuple(f"dpcore.{part}" for part in late))] == []


# --- layers --------------------------------------------------------------------------------------------------------


def test_every_module_has_a_layer() -> None:
    assert {room(name) for name in MODULES} - set(HEIGHT) == set(), "add the new room to LAYERS in tests/house.py"


@pytest.mark.parametrize("module", MODULES, ids=lambda name: name or "dpcore")
def test_imports_point_down(module: str) -> None:
    assert {name for name in imports_of(module) if HEIGHT[room(name)] > HEIGHT[room(module)]} == set()


def test_the_layer_check_sees_every_form_of_import() -> None:
    tree = ast.parse("import dpcore.cli\nfrom dpcore import core, dp\ndef f():\n    from ..cli import main\n")
    assert imported(tree, "curves.polygon", is_package=False) == {"cli", "core", ""}


def test_the_map_of_the_house_is_that_of_the_imports() -> None:
    assert PICTURE.read_text(encoding="utf-8") == drawing(), "the imports changed: run `make map`"
    text = TEXT.read_text(encoding="utf-8")
    assert table() in text
    assert text == with_table(text), "rooms or their docstrings changed: run `make map`"


def test_the_map_leaves_out_only_what_follows() -> None:
    """Along the lines of the map a room reaches every room below that it imports, and no other."""
    lines = arrows()
    reached: dict[str, set[str]] = {}
    for name in sorted(HEIGHT, key=HEIGHT.__getitem__):
        ends = {target for start, target in lines if start == name}
        assert ends <= rooms_below(name)
        reached[name] = ends.union(*(reached[end] for end in ends))
        assert rooms_below(name) <= reached[name]


# --- requirements and cleanliness ----------------------------------------------------------------------------------


def pins(name: str) -> dict[str, str]:
    lines = (line.strip() for line in (ROOT / name).read_text(encoding="utf-8").splitlines())
    written = [line for line in lines if line and not line.startswith(("#", "-e .", "-r requirements"))]
    assert [line for line in written if not re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*", line)] == []
    return dict(line.split("==") for line in written)


def closure(roots: list[str]) -> set[str]:
    """Return every distribution that installing these requirements brings here."""
    todo, seen = [Requirement(text) for text in roots], set()
    names: set[str] = set()
    while todo:
        requirement = todo.pop()
        name = canonicalize_name(requirement.name)
        key = (name, frozenset(requirement.extras))
        if key in seen:
            continue
        seen.add(key)
        names.add(name)
        for text in metadata.requires(name) or []:
            deeper = Requirement(text)
            if deeper.marker is None or any(deeper.marker.evaluate({"extra": e}) for e in ("", *requirement.extras)):
                todo.append(deeper)
    return names


@pytest.mark.parametrize(
    ("extras", "files"),
    [
        (["app", "docs", "report", "verify"], ["requirements.txt"]),
        (["dev"], ["requirements.txt", "requirements-dev.txt"]),
    ],
    ids=["app, docs, report and verify", "dev"],
)
def test_everything_installed_is_pinned(extras: list[str], files: list[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    roots = list(project["dependencies"])
    todo = list(extras)
    while todo:
        for text in project["optional-dependencies"][todo.pop()]:
            ours = re.fullmatch(r"dpcore\[(.+)\]", text)
            if ours is None:
                roots.append(text)
            else:
                todo += ours.group(1).split(",")
    pinned = {name for file in files for name in pins(file)}
    assert closure(roots) == pinned


FORBIDDEN = {
    "a path of one machine": re.compile(
        r"(?<![\w.])/(?:root|home/\w+|Users/\w+|work/\w+|opt/\w+|mnt/\w+)/|[A-Z]:\\Users|\.pyenv\b"
    ),
    "the address of a package index": re.compile(
        r"pypi\.org|pythonhosted|test\.pypi|--(?:extra-)?index-url|--find-links|--hash="
    ),
}
LOCK_FILE = re.compile(r"(\.lock|pylock.*\.toml|lock\.json|lock\.ya?ml|Pipfile.*|environment\.ya?ml)$")


def test_no_lock_files() -> None:
    assert [name for name in project_files() if LOCK_FILE.search(name)] == []


def test_nothing_of_one_machine_is_in_the_files() -> None:
    found = []
    for name in project_files():
        if name == "tests/test_package.py":  # holds the patterns themselves
            continue
        try:
            text = (ROOT / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{name}: {what}: {hit[0]}" for what, pattern in FORBIDDEN.items() for hit in pattern.finditer(text)]
    assert found == []


# --- one version -----------------------------------------------------------------------------------------------------


def test_every_place_names_the_same_version() -> None:
    version = dpcore.__version__
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {version}\n" in citation
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert headings[0] == version


CHANGES = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_the_changelog_sorts_changes_into_the_usual_headings() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^### (.+)$", text, flags=re.MULTILINE)) <= CHANGES
    for version in re.split(r"^## .*$", text, flags=re.MULTILINE)[1:]:
        headings = re.findall(r"^### (.+)$", version, flags=re.MULTILINE)
        assert headings
        assert len(headings) == len(set(headings))
        assert version.split("\n### ", maxsplit=1)[0].count("\n- ") == 0, "every line stands under a heading"


def test_what_contributing_names_exists() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = {path for path in re.findall(r"`((?:dpcore|data|tests)/[\w/.]+)`", text) if "name" not in path.lower()}
    assert len(named) > 20
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []
    code = "\n".join(
        [*re.findall(r"^```sh\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL), *re.findall(r"`make [^`\n]+`", text)]
    )
    targets = set(re.findall(r"\bmake ([a-z]+)", code))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert [name for name in targets if not re.search(rf"^{name}:", makefile, flags=re.MULTILINE)] == []
    files = (path for folder in ("dpcore", "tests") for path in (ROOT / folder).rglob("*.py"))
    sources = "\n".join(path.read_text(encoding="utf-8") for path in files)
    names = set(re.findall(r"`([A-Z]\w+)(?:\([^`]*\))?`", text)) - {"DeprecationWarning"}
    assert len(names) > 20
    assert [name for name in sorted(names) if not re.search(rf"^\s*(?:class )?{name}\b", sources, re.MULTILINE)] == []


def test_hooks_are_of_this_repository_alone() -> None:
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert re.findall(r"repo: (\S+)", text) == ["local"]
    assert {"ruff", "mypy"} <= {entry.split()[0] for entry in re.findall(r"python -m (.+)", text)}
