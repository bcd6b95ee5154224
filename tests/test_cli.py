"""The command line: tables and nothing else on standard output, one line for every mistake or warning."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import subprocess
import sys
import warnings
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from dpcore.cli import main, output, program
from dpcore.cli.commands import deltas as deltas_command
from dpcore.cli.options import join_negative
from dpcore.core.errors import BudgetError, DomainWarning
from dpcore.core.numerals import numeral
from dpcore.files import csv_writer
from dpcore.language import parse

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*words: str) -> tuple[int, str, str]:
        code = main(words)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def rows(out: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(out)))


class TestSeveral:
    """A command that asks several expressions answers what it can and names what it cannot."""

    @pytest.mark.parametrize("command", ["deltas", "epsilons", "curve", "risk"])
    def test_what_can_be_answered_is(self, run: Run, command: str) -> None:
        code, out, err = run(command, "dp(1)", "dq(1)", "gdp(1)", "dp(-1)")
        assert code == 2
        assert list(dict.fromkeys(row["region"] for row in rows(out))) == ["dp(1)", "gdp(1)"]
        said = err.splitlines()
        assert len(said) == 2
        assert said[0].startswith("error: dq(1): Unknown name")
        assert said[1].startswith("error: dp(-1): ")

    def test_a_refused_tolerance_is_named(self, run: Run) -> None:
        code, out, err = run("deltas", "dp(1)", "exponential(1)^50", "--epsilon", "1", "--tolerance", "1e-12")
        assert (code, len(rows(out))) == (2, 1)
        assert err.startswith("error: exponential(1)^50: ")

    def test_none_can_be_answered(self, run: Run) -> None:
        code, out, err = run("curve", "dp(", "dq(1)")
        assert (code, out, len(err.splitlines())) == (2, "", 2)


class TestTables:
    @pytest.mark.parametrize(
        ("words", "columns"),
        [
            (("deltas", "dp(1)"), "region,epsilon,delta,delta_lower,kind,theorem,neighbours"),
            (("epsilons", "dp(1)"), "region,delta,epsilon,epsilon_lower,kind,theorem,neighbours"),
            (("curve", "dp(1)"), "region,alpha,beta,beta_upper,kind,theorem,neighbours"),
            (("vertices", "dp(1)"), "region,alpha,beta,kind,theorem,neighbours"),
            (("constraints", "dp(1)"), "region,epsilon,delta,kind,theorem,neighbours"),
            (
                ("compare", "dp(1)", "gdp(1)"),
                "a,b,relation,crossing_alpha,crossing_beta,area_a,area_b,kind,theorem,neighbours",
            ),
            (("theorems", "dp(0.1)^10"), "region,theorem,epsilon,delta,kind,note,neighbours"),
            (("risk", "dp(1)"), "region,measure,at,value,words,kind,theorem,neighbours"),
            (("convert", "dp(1)", "--to", "tv"), "region,to,parameters,formula,kind,theorem,neighbours"),
        ],
    )
    def test_header(self, run: Run, words: tuple[str, ...], columns: str) -> None:
        code, out, err = run(*words)
        assert (code, err) == (0, "")
        assert out.splitlines()[0] == columns
        assert len(out.splitlines()) > 1
        records = json.loads(run(*words, "--format", "json")[1])
        assert ",".join(records[0]) == columns
        assert len(records) == len(rows(out))

    def test_numbers_keep_every_digit(self, run: Run) -> None:
        _, out, _ = run("deltas", "gdp(1)", "--epsilon", "0:3:0.1")
        table = rows(out)
        assert [row["epsilon"] for row in table[:4]] == ["0.0", "0.1", "0.2", "0.3"]
        at = np.array([float(row["epsilon"]) for row in table])
        assert [float(row["delta"]) for row in table] == parse("gdp(1)").delta(at).tolist()

    def test_cells_with_commas_are_quoted(self, run: Run) -> None:
        _, out, _ = run("deltas", "dp(1, 0.1)")
        assert '"dp(1, 0.1)"' in out
        assert rows(out)[0]["region"] == "dp(1, 0.1)"

    @pytest.mark.parametrize("words", [("--epsilon", "-1,0"), ("--epsilon=-1,0",), ("--epsilon", "-.5")])
    def test_negative_values(self, run: Run, words: tuple[str, ...]) -> None:
        code, out, err = run("deltas", "dp(1)", *words)
        assert (code, err) == (0, "")
        first = rows(out)[0]
        below = float(first["epsilon"])
        assert below < 0
        by_duality = 1 - math.exp(below) + math.exp(below) * parse("dp(1)").delta(-below)
        assert float(first["delta"]) == pytest.approx(by_duality, rel=1e-14)

    def test_infinity(self, run: Run) -> None:
        _, out, _ = run("epsilons", "gdp(1)", "--delta", "0")
        assert rows(out)[0]["epsilon"] == "inf"
        _, out, _ = run("epsilons", "gdp(1)", "--delta", "0", "--format", "json")
        assert json.loads(out)[0]["epsilon"] == "inf"

    def test_several_regions(self, run: Run) -> None:
        _, out, _ = run("deltas", "dp(1)", "gdp(1)", "--epsilon", "0")
        assert [row["region"] for row in rows(out)] == ["dp(1)", "gdp(1)"]

    def test_empty_cells(self, run: Run) -> None:
        _, out, _ = run("compare", "dp(1)", "dp(2)")
        (row,) = rows(out)
        assert row["relation"] == "a inside b"
        assert row["crossing_alpha"] == row["crossing_beta"] == ""
        _, out, _ = run("compare", "dp(1)", "dp(2)", "--format", "json")
        assert json.loads(out)[0]["crossing_alpha"] is None

    def test_output_in_blocks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(csv_writer, "_ROWS_AT_ONCE", 3)
        frame = pd.DataFrame({"x": np.arange(8) / 3, "n": range(8), "s": ['a "b"', *["c\nd"] * 7]})
        text = io.StringIO()
        output.write(frame, text, "csv")
        back = list(csv.DictReader(io.StringIO(text.getvalue())))
        assert [float(row["x"]) for row in back] == frame["x"].tolist()
        assert [row["s"] for row in back] == frame["s"].tolist()
        assert [row["n"] for row in back] == [str(i) for i in range(8)]
        text = io.StringIO()
        output.write(frame.iloc[:0], text, "json")
        assert json.loads(text.getvalue()) == []


MISTAKES = [
    ((), "Name a command"),
    (("delta", "dp(1)"), "did you mean deltas?"),
    (("zzzzzz",), "choose one of"),
    (("--wrong",), "Unknown command"),
    (("deltas",), "EXPR"),
    (("deltas", "dp(1)", "--eps", "1"), "unrecognized arguments"),
    (("deltas", "dp(1)", "--epsilon"), "expected one argument"),
    (("deltas", "dp(1)", "--epsilon", "a"), "'a' is not a list"),
    (("deltas", "dp(1)", "--epsilon", "0:1:1e-9"), "more than 1000000 values"),
    (("deltas", "dp(1)", "--format", "xml"), "xml"),
    (("deltas", "dp(1)", "--tolerance", "2"), "tolerance"),
    (("deltas", "dp(1)", "--tolerance", "nan"), "tolerance must be a number in [1e-12, 1), got 'nan'"),
    (("deltas", "dp(1)", "--deadline", "-1"), "deadline must be a number in (0, inf), got '-1'"),
    (("deltas", "dp(-1)"), "without a sign"),
    (("deltas", "laplac(1)"), "did you mean laplace?"),
    (("deltas", "dp(1, 2)"), "delta must be"),
    (("deltas", "dp(1)\n* foo(2)"), "Unknown name"),
    (("deltas", "\x1b[31m\x00"), "\\x1b"),
    (("deltas", "\udcff"), "\\udcff"),
    (("deltas", "x" * 100_000), "at most 65536"),
    (("deltas", "dp(1)\nx", "--a\nb"), "--a"),
    (("epsilons", "dp(1)", "--delta", "2"), "delta must be"),
    (("epsilons", "dp(1)", "--delta", "-1"), "delta must be"),
    (("curve", "dp(1)", "--alpha", "1.5"), "alpha must be"),
    (("vertices", "gdp(1)"), "smooth"),
    (("constraints", "gdp(1)"), "smooth"),
    (("vertices", "dp(1)", "dp(2)"), "unrecognized"),
    (("compare", "dp(1)"), "required: B"),
    (("deltas", "dp(0.0001)^5000"), "--epsilon"),
]


class TestMistakes:
    @pytest.mark.parametrize(("words", "expected"), MISTAKES)
    def test_one_line_and_code_2(self, run: Run, words: tuple[str, ...], expected: str) -> None:
        code, out, err = run(*words)
        assert code == 2
        assert out == ""
        assert expected in err
        assert len(err.splitlines()) == 1
        assert len(err) < 1000
        assert "Traceback" not in err

    @pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (MemoryError(), 2), (OSError("disk"), 2)])
    def test_what_stops_a_computation(
        self, run: Run, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int
    ) -> None:
        def fail(_: object) -> None:
            raise error

        monkeypatch.setattr(deltas_command, "run", fail)
        found, out, err = run("deltas", "dp(1)")
        assert (found, out) == (code, "")
        assert len(err.splitlines()) == 1

    def test_a_closed_pipe_is_quiet(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object) -> None:
            raise BrokenPipeError

        monkeypatch.setattr(output, "write", fail)
        assert run("deltas", "dp(1)") == (0, "", "")

    def test_deadline_reaches_the_computation(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        from dpcore.core.effort import checkpoint, current

        def spy(_: object) -> None:
            assert current().tolerance == 1e-3
            with pytest.raises(BudgetError):
                checkpoint(0.5)

        monkeypatch.setattr(deltas_command, "run", spy)
        assert run("deltas", "dp(1)", "--tolerance", "1e-3", "--deadline", "1e-9")[0] == 0

    def test_warnings_are_lines(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        def warn(_: object) -> None:
            for _ in range(2):
                warnings.warn("eta was\nclamped", DomainWarning, stacklevel=1)
            warnings.warn("another", RuntimeWarning, stacklevel=1)

        monkeypatch.setattr(deltas_command, "run", warn)
        assert run("deltas", "dp(1)") == (0, "", "warning: eta was clamped\nwarning: another\n")

    def test_a_clamp_is_a_warning(self, run: Run) -> None:
        code, out, err = run("deltas", "dptv(1, 0, 0.9)", "--epsilon", "0")
        assert code == 0
        assert err.startswith("warning: ")
        assert len(err.splitlines()) == 1
        assert float(rows(out)[0]["delta"]) == pytest.approx(math.tanh(0.5), rel=1e-12)


class TestHelp:
    def test_help_names_every_command(self, run: Run) -> None:
        code, out, err = run("--help")
        assert (code, err) == (0, "")
        for name in program.command_names():
            assert f"\n  {name} " in out
            assert program.load(name).HELP in out

    @pytest.mark.parametrize("name", program.command_names())
    def test_help_of_a_command(self, run: Run, name: str) -> None:
        code, out, err = run(name, "--help")
        assert (code, err) == (0, "")
        assert out.startswith(f"usage: dpcore {name}")
        tolerance = getattr(program.load(name), "TOLERANCE", 1e-6)
        assert f"relative width of a bracket, at most (default: {numeral(tolerance)})" in " ".join(out.split())

    @pytest.mark.long
    def test_a_picture_takes_wider_brackets_than_a_table(self, run: Run, tmp_path: Path) -> None:
        """It was refused for a bracket that nobody can see."""
        code, out, err = run("plot", "top_k(0.5, 4)", "--profile", "-o", str(tmp_path / "four.json"))
        assert (code, err) == (0, "")
        assert "upper bound" in out

    def test_version(self, run: Run) -> None:
        code, out, _ = run("--version")
        assert code == 0
        assert len(out.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "joined"),
    [
        (["x", "--epsilon", "-1,0"], ["x", "--epsilon=-1,0"]),
        (["--epsilon", "-inf"], ["--epsilon=-inf"]),
        (["--epsilon=1", "-1"], ["--epsilon=1", "-1"]),
        (["--epsilon", "-o"], ["--epsilon", "-o"]),
        (["--", "--epsilon", "-1"], ["--", "--epsilon", "-1"]),
        (["-1"], ["-1"]),
    ],
)
def test_join_negative(words: list[str], joined: list[str]) -> None:
    assert join_negative(words) == joined


class TestProcess:
    def test_a_real_run(self) -> None:
        words = [sys.executable, "-m", "dpcore", "deltas", "dp(0.6, 0.05)^5", "dp(1)", "--epsilon", "-1,0.6"]
        environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
        done = subprocess.run(words, capture_output=True, check=False, timeout=60, env=environment)
        assert (done.returncode, done.stderr) == (0, b"")
        table = rows(done.stdout.decode("utf-8"))
        assert [row["region"] for row in table] == ["dp(0.6, 0.05)^5"] * 2 + ["dp(1)"] * 2

    def test_a_real_mistake_and_no_needless_import(self) -> None:
        script = (
            "import sys; from dpcore.cli import main; code = main(['deltas', 'dp(1']); main(['deltas', 'dp(1)']);"
            "loaded = {'altair', 'streamlit', 'scipy.optimize', 'scipy.stats', 'scipy.signal'} & set(sys.modules);"
            "sys.exit(99 if loaded else code)"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 2
        assert done.stderr == "error: The expression ends at column 5: expected ',' or ')'.\n"

    @pytest.mark.skipif(sys.platform == "win32", reason="head and pipes are those of a Unix shell")
    def test_a_reader_that_leaves(self) -> None:
        command = f"'{sys.executable}' -m dpcore curve 'dp(1)' --alpha 0:1:1e-5; echo code $? >&2"
        done = subprocess.run(
            f"({command}) | head -1", shell=True, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.stdout == "region,alpha,beta,beta_upper,kind,theorem,neighbours\n"
        assert done.stderr == "code 0\n"
