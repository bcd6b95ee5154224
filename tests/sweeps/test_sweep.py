"""Sweeps: the same numbers as single questions, the same table wherever it is computed, nothing lost when a worker dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import dpcore
from dpcore import BudgetError, DomainError, parse, poisson_gaussian
from dpcore.calibration import calibrate
from dpcore.cli import main
from dpcore.core.effort import effort
from dpcore.core.errors import InternalError
from dpcore.engine.sandwich import Sandwich
from dpcore.files.csv_writer import read_frame
from dpcore.regions.powers import power_epsilons
from dpcore.sweeps import COLUMNS, Grid, run, run_sweep, sweep
from dpcore.sweeps.cells import compute_part, part_count, part_size
from dpcore.sweeps.run import AHEAD
from dpcore.theorems.conversion import gaussian_fit
from dpcore.utility import pair

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TRAINING = "poisson_gaussian({sigma}, {q})^{steps}"
AXES: dict[str, Any] = {"sigma": [1, 2], "steps": [1, 100, 1000], "q": [0.01, 0.05]}


@pytest.mark.parametrize(
    ("expression", "measure", "arguments", "single"),
    [
        ("gaussian({x})^2", "delta", {"epsilon": 0.5}, lambda r: r.delta_bounds(0.5)),
        ("laplace({x})^20", "epsilon", {"delta": 1e-6}, lambda r: r.epsilon_bounds(1e-6)),
        ("subsample(gdp({x}), 0.1)", "beta", {"alpha": 0.1}, lambda r: r.beta_bounds(0.1)),
        ("dp({x}, 0.01)", "advantage", {}, lambda r: r.delta_bounds(0.0)),
    ],
)
def test_cells_are_single_questions(expression: str, measure: str, arguments: dict[str, float], single: Any) -> None:
    table = sweep(expression, measure, {"x": [0.5, 2]}, cores=1, **arguments)
    for x, row in zip((0.5, 2), table.itertuples(), strict=True):
        lower, upper = single(parse(expression.format(x=x)))
        assert (row.lower, row.upper) == (lower[0], upper[0])
        assert row.value == (lower[0] if measure == "beta" else upper[0])


def test_mu_calibration_and_utility_are_those_of_their_functions() -> None:
    table = sweep("poisson_gaussian({s}, 0.05)^50", "mu", {"s": [1]}, cores=1)
    fit = gaussian_fit(parse("poisson_gaussian(1, 0.05)^50"))
    assert fit is not None
    assert (table["lower"][0], table["upper"][0]) == fit.mu
    table = sweep("gaussian(?)^{k}", "calibrate", {"k": [1, 10]}, epsilon=1, delta=1e-5, cores=1)
    assert table["value"][1] == calibrate("gaussian(?)^10", epsilon=1, delta=1e-5)["value"].item()
    table = sweep("count_laplace(epsilon={e})", "utility", {"e": [0.5, 1]}, error="mse", cores=1)
    query = pair("count_laplace", epsilon=0.5)
    known = [fact.value for fact in query.closed_forms(query.example()) if fact.measure == "mse"]
    assert table["value"][0] in known


def test_powers_that_share_lines_agree_with_single_powers() -> None:
    axes = {"sigma": [0.7, 1, 3], "q": [0.005, 0.01, 0.2], "steps": [200, 1234, 100_000]}
    table = sweep(TRAINING, "epsilon", axes, delta=1e-7, cores=1)
    for row in table.sample(12, random_state=3).itertuples():
        region = parse(f"poisson_gaussian({row.sigma}, {row.q})^{row.steps}")
        lower, upper = (float(side[0]) for side in region.epsilon_bounds(1e-7))
        assert row.lower <= upper
        assert lower <= row.upper  # both brackets hold the truth
        assert row.upper - row.lower <= 1e-6 * row.upper
        assert (row.kind, row.theorem, row.neighbours) == ("upper", region.theorem, region.neighbours)


@pytest.mark.parametrize(("sigma", "rate"), [(1.767, 0.00117), (2.946, 0.00105), (7.315, 0.00153), (9.72, 0.00262)])
def test_powers_with_rare_far_jumps_share_lines_too(sigma: float, rate: float) -> None:
    region = poisson_gaussian(sigma, rate)
    copies = np.array([100, 145, 700, 1484])
    bounds = power_epsilons(region, copies, np.full(4, 1e-6))
    assert bounds is not None
    assert np.isfinite(bounds).all()
    alone = power_epsilons(region, copies[1:2], np.full(1, 1e-6))
    assert alone is not None
    for k, lower, upper in zip(copies.tolist(), *bounds, strict=True):
        assert upper - lower <= 1e-6 * upper
        single = (region**k).epsilon_bounds(1e-6)
        assert lower <= single[1][0]
        assert single[0][0] <= upper
    assert (alone[0][0], alone[1][0]) == (bounds[0][1], bounds[1][1])
    # a lattice knows nothing of transforms and jumps
    lattice = Sandwich([((region**2).pair.forward.parts[0][0], 145)]).delta_bounds(
        np.array([alone[0][0], alone[1][0]]), 1e-4
    )
    assert lattice[1][0] >= 1e-6
    assert lattice[0][1] <= 1e-6
    assert lattice[1][0] <= 1.02e-6


@pytest.mark.parametrize("spare", [1e-8, 1e-2])
@pytest.mark.parametrize(("sigma", "rate", "delta"), [(8.654, 0.000537, 2.04e-5), (8.0, 0.01, 1e-6)])
def test_removed_jumps_count_nothing_below_and_fully_above(
    spare: float, sigma: float, rate: float, delta: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpcore.regions.powers._SPARE", spare)
    region = poisson_gaussian(sigma, rate)
    with effort(tolerance=0.1):
        bounds = power_epsilons(region, np.array([2]), np.array([delta]))
    assert bounds is not None
    # delta of two copies by an integral over the first: no transform, nothing removed
    curve = (region**2).pair.forward.parts[0][0]
    node, weight = np.polynomial.legendre.leggauss(20)
    edges = np.linspace(-12.0, 13.0, 1001)
    x = (0.5 * (edges[1:] + edges[:-1])[:, None] + 0.0125 * node).ravel()
    ratio = 1 + rate * np.expm1(x / sigma - 0.5 / sigma**2)
    mass = np.tile(0.0125 * weight, 1000) * np.exp(-x * x / 2) / np.sqrt(2 * np.pi) * ratio
    below, above = (
        float(mass @ curve.delta_bounds(at - np.log(ratio))[0]) / delta - 1 for at in np.concatenate(bounds)
    )
    assert -1e-11 <= below <= 1.1 * spare
    assert -1.1 * spare <= above <= 1e-11


def test_a_line_without_a_period_is_no_answer_and_no_failure() -> None:
    table = sweep("poisson_gaussian(0.926, 0.00077)^{k}", "epsilon", {"k": [152, 2411]}, delta=5.52e-5, cores=1)
    assert table["value"].notna().all()


def test_deltas_below_what_is_removed_are_left_to_single_questions() -> None:
    bounds = power_epsilons(poisson_gaussian(0.6, 1e-3), np.array([2, 5]), np.array([1e-28, 1e-60]))
    assert bounds is not None
    assert np.isnan(bounds).all()


def test_an_answer_does_not_depend_on_what_else_is_asked() -> None:
    whole = sweep(TRAINING, "epsilon", {"sigma": 1, "q": 0.01, "steps": [50, 500, 5000]}, delta=1e-6, cores=1)
    alone = sweep(TRAINING, "epsilon", {"sigma": 1, "q": 0.01, "steps": [500]}, delta=1e-6, cores=1)
    pd.testing.assert_frame_equal(whole.iloc[1:2].reset_index(drop=True), alone, check_exact=True)


def test_a_cell_that_fails_says_why_and_the_rest_is_there() -> None:
    table = sweep("gaussian({sigma})^{k}", "delta", {"sigma": [1, 0], "k": [1, 1.5]}, epsilon=1, cores=1)
    assert table["value"].notna().tolist() == [True, False, False, False]
    assert "sigma" in table["error"][2]
    assert "integer" in table["error"][1]
    assert table["kind"].tolist() == ["exact", "none", "none", "none"]
    assert tuple(table)[2:] == COLUMNS


def test_the_facade_has_it() -> None:
    assert dpcore.sweep is sweep


def test_parts_cover_every_cell_once() -> None:
    grid = Grid.of("gdp({m})^{k}", "delta", {"k": "1:7:1", "m": "0.01:1:0.01"}, epsilon=1)
    rows = [row for number in range(part_count(grid)) for row in compute_part(grid, number, 1e-6).rows]
    assert sorted(rows) == list(range(700))
    assert part_size(grid) % 7 == 0


def test_an_interrupted_sweep_continues(tmp_path: Path) -> None:
    grid = Grid.of("gdp({m})", "delta", {"m": "0.001:1:0.001"}, epsilon=1)
    whole = run_sweep(grid, cores=1)

    class Stop(Exception):
        pass

    def stop(done: int, _whole: int, _seconds: float) -> None:
        if done == 2:
            raise Stop

    with pytest.raises(Stop):
        run_sweep(grid, cores=1, folder=tmp_path / "parts", progress=stop)
    before = {file: file.stat().st_mtime_ns for file in (tmp_path / "parts").glob("part-*.json")}
    assert len(before) == 2
    (tmp_path / "parts" / "part-0000099.draft").write_text("half", encoding="utf-8")
    pd.testing.assert_frame_equal(run_sweep(grid, cores=1, folder=tmp_path / "parts"), whole, check_exact=True)
    assert all(file.stat().st_mtime_ns == when for file, when in before.items()), (
        "finished parts are not computed again"
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "[" * 100_000,
        '{"rows": [0, 1], "cells": ["x"]}',
        '{"rows": [1, 0], "cells": ["x", "y"]}',
        '{"rows": [0, 1], "cells": [[1, 2, 1, "exact", "", ""], "y"]}',
        '{"rows": [0, 1], "cells": [[NaN, NaN, NaN, "exact", "", ""], "y"]}',
        '{"rows": [0, 1], "cells": [[1, 1, 1, 1, "", ""], "y"]}',
    ],
)
def test_a_damaged_part_is_computed_again(tmp_path: Path, text: str) -> None:
    grid = Grid.of("gdp({m})", "delta", {"m": [1, 2]}, epsilon=1)
    whole = run_sweep(grid, cores=1, folder=tmp_path)
    (tmp_path / "part-0000000.json").write_text(text, encoding="utf-8")
    (tmp_path / "part-x.json").write_text(text, encoding="utf-8")
    pd.testing.assert_frame_equal(run_sweep(grid, cores=1, folder=tmp_path), whole, check_exact=True)
    (tmp_path / "sweep.json").write_text(text, encoding="utf-8")
    with pytest.raises(DomainError, match="another sweep"):
        run_sweep(grid, cores=1, folder=tmp_path)


def test_parts_of_another_sweep_are_not_taken(tmp_path: Path) -> None:
    run_sweep(Grid.of("gdp({m})", "delta", {"m": [1]}, epsilon=1), cores=1, folder=tmp_path)
    with pytest.raises(DomainError, match="another sweep"):
        run_sweep(Grid.of("gdp({m})", "delta", {"m": [2]}, epsilon=1), cores=1, folder=tmp_path)
    with effort(tolerance=1e-3), pytest.raises(DomainError, match="another sweep"):
        run_sweep(Grid.of("gdp({m})", "delta", {"m": [1]}, epsilon=1), cores=1, folder=tmp_path)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_the_command_writes_a_table(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / "grid.toml"
    text = 'expression = "gdp({m})"\nmeasure = "delta"\nepsilon = 1\n[grid]\nm = [1, 2, -1]\n'
    path.write_text(text, encoding="utf-8")
    output = tmp_path / f"table{suffix}"
    assert main(["sweep", str(path), "-o", str(output)]) == 0
    text = output.read_text(encoding="utf-8") if suffix == ".csv" else ""
    table = read_frame(text) if text else pd.read_parquet(output)
    assert list(table) == ["m", *COLUMNS]
    assert table["value"][:2].tolist() == parse("gdp(1)").delta([1.0]).tolist() + parse("gdp(2)").delta([1.0]).tolist()
    assert pd.isna(table["value"][2])
    assert sorted(file.name for file in tmp_path.iterdir()) == ["grid.toml", output.name]


def test_the_command_refuses_other_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", str(tmp_path / "grid.toml"), "-o", "table.xlsx"]) == 2
    assert ".csv or .parquet" in capsys.readouterr().err
    assert main(["sweep", str(tmp_path / "none.toml")]) == 2


def test_a_scheduler_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "grid.toml"
    path.write_text('expression = "gdp({m})"\nmeasure = "delta"\nepsilon = 1\n[grid]\nm = [1]\n', encoding="utf-8")
    # in a process of its own: Dask teaches pickle of this one to write tracebacks
    words = [sys.executable, "-m", "dpcore", "sweep", str(path), "--scheduler", "no-scheduler"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "No Dask scheduler answers at no-scheduler" in done.stderr


@pytest.fixture
def cluster() -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Start a scheduler and two workers as processes of their own on 127.0.0.1."""
    from distributed.utils import open_port  # slow to import

    port = str(open_port())
    address = f"tcp://127.0.0.1:{port}"
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    local = ["--host", "127.0.0.1", "--no-dashboard"]
    scheduler = [sys.executable, "-m", "distributed.cli.dask_scheduler", *local, "--port", port]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny", *local]
    processes = [subprocess.Popen(scheduler, **quiet)]
    processes += [subprocess.Popen(worker, **quiet) for _ in range(2)]
    try:
        yield address, processes[1:]
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.mark.long
def test_two_workers_give_the_same_table_and_one_may_die(
    cluster: tuple[str, list[subprocess.Popen[bytes]]],
) -> None:
    address, workers = cluster
    grid = Grid.of(
        TRAINING, "epsilon", {"sigma": "1:4:0.05", "q": [0.01, 0.02, 0.05], "steps": [100, 1000]}, delta=1e-6
    )
    here = run_sweep(grid, cores=1)

    def kill(done: int, whole: int, _seconds: float) -> None:
        if done == whole // 2 and workers[0].poll() is None:
            os.kill(workers[0].pid, signal.SIGKILL)

    deadline = time.monotonic() + 60
    while True:
        try:
            there = run_sweep(grid, scheduler=address)
            break
        except (DomainError, BudgetError):  # scheduler and workers take some seconds to be there
            if time.monotonic() > deadline:
                raise
            time.sleep(1)
    pd.testing.assert_frame_equal(there, here, check_exact=True)
    again = run_sweep(grid, scheduler=address, progress=kill)
    pd.testing.assert_frame_equal(again, here, check_exact=True)
    assert workers[0].wait(10) == -signal.SIGKILL


def test_processes_on_this_machine_give_the_same_table() -> None:
    sigmas = np.linspace(0.5, 5.0, 5000).tolist()  # more parts than wait at the workers at first
    grid = Grid.of("gaussian({sigma})", "delta", {"sigma": sigmas}, epsilon=1)
    assert part_count(grid) > 2 * AHEAD * 2
    done: list[int] = []
    table = run_sweep(grid, cores=2, progress=lambda parts, _whole, _left: done.append(parts))
    assert done == list(range(1, part_count(grid) + 1))
    pd.testing.assert_frame_equal(table, run_sweep(grid, cores=1), check_exact=True)


def test_a_part_that_gets_lost_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    computed = run._computed
    monkeypatch.setattr(run, "_computed", lambda *asked: islice(computed(*asked), 1, None))
    with pytest.raises(InternalError, match="1 of 2 parts of the sweep were not computed, the first is number 0"):
        sweep("gdp({m})", "delta", {"m": np.linspace(1, 2, 500).tolist()}, epsilon=1, cores=1)


def test_numbers_are_finite_and_ordered() -> None:
    table = sweep(TRAINING, "epsilon", AXES, delta=1e-6, cores=1)
    numbers = table[["lower", "value", "upper"]].to_numpy(dtype=np.float64)
    assert np.isfinite(numbers).all()
    assert (np.diff(numbers, axis=1) >= 0).all()


@pytest.mark.parametrize("text", ["gdp({m})", "gaussian({m})", "laplace({m})", "gdp({m})^3"])
def test_many_closed_forms_are_those_of_single_questions(text: str) -> None:
    values = [1e-4, 0.0283, 0.5, 1, 1.25, 7, 35.3, 900]
    alone = [parse(text.replace("{m}", repr(value))) for value in values]
    for epsilon in (0, 1e-3, 0.5, 7.546, 700):
        table = sweep(text, "delta", {"m": values}, epsilon=epsilon, cores=1)
        assert table["lower"].tolist() == [float(region.delta_bounds([epsilon])[0][0]) for region in alone]
        assert table["upper"].tolist() == [float(region.delta_bounds([epsilon])[1][0]) for region in alone]
    for delta in (0, 1e-300, 1e-12, 1e-5, 0.3, 1):
        table = sweep(text, "epsilon", {"m": values}, delta=delta, cores=1)
        assert table["value"].tolist() == pytest.approx([float(region.epsilon(delta)) for region in alone], rel=1e-14)
        ones = [sweep(text, "epsilon", {"m": [value]}, delta=delta, cores=1)["value"][0] for value in values]
        assert table["value"].tolist() == ones, "no answer depends on the other cells"


def test_a_wrong_cell_among_closed_forms_says_why() -> None:
    table = sweep("gdp({m})", "delta", {"m": [1, -1, 2], "e": [0.5, -2]}, epsilon="{e}", cores=1)
    wrong = table["value"].isna()
    assert wrong.tolist() == [False, True, True, True, False, True]
    assert "written without a sign" in table["error"][2]
    assert "epsilon must be" in table["error"][1]
