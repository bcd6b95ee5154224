"""Run a sweep: part by part on this core, on all cores, or on the workers of a cluster, always with the same table.

A part is computed by the same function wherever it runs, so neither the number of workers nor their order changes a bit
of the table. Finished parts can be kept in a folder, from which an interrupted sweep continues.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from dpcore.core.domains import COUNT, TOLERANCE
from dpcore.core.effort import current
from dpcore.core.errors import BudgetError, DomainError, InternalError
from dpcore.core.kinds import FACTS
from dpcore.sweeps.cells import COLUMNS, Part, compute_part, part_count, part_of
from dpcore.sweeps.grid import Grid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Progress = Callable[[int, int, float], None]

WORTHWHILE: Final = 10.0
"""Seconds of work left from which a local cluster is started: its processes take a few seconds to start."""

AHEAD: Final = 4
"""Parts queued at each worker: enough to keep it busy, few enough to lose little if it dies."""


def sweep(
    expression: str,
    measure: str,
    grid: Mapping[str, Any],
    *,
    cores: int | None = None,
    scheduler: str | None = None,
    folder: str | Path | None = None,
    progress: Progress | None = None,
    **arguments: Any,
) -> pd.DataFrame:
    """Compute one measure of an expression over a grid of its parameters.

    Parameters
    ----------
    expression : str
        An expression in which ``{name}`` stands for a value of the grid.
    measure : str
        ``epsilon`` (at `delta`), ``delta`` (at `epsilon`), ``beta`` (at `alpha`), ``advantage``, ``mu``, ``calibrate``
        (the expression has a ``?``; `epsilon` and `delta`, `advantage`, or `tpr` and `fpr`) or ``utility`` (the
        expression is a pair, such as ``count_laplace(epsilon={epsilon})``).
    grid : mapping
        The values of every hole: a list, or a text such as ``0.5:2:0.5`` or ``1e-3..1/7``.
    cores, scheduler, folder, progress
        See `run_sweep`.
    **arguments : float or str
        The arguments of the measure: numbers, or ``"{name}"`` for a hole.

    Returns
    -------
    DataFrame
        One row per cell, the last hole moving fastest: a column per hole, then `value, lower, upper, error, kind,
        theorem, neighbours`. The truth is between `lower` and `upper`; `value` is the safe side. A cell that cannot be
        answered has an `error` and no value.

    Examples
    --------
    >>> table = sweep("gaussian({sigma})^{k}", "epsilon", {"sigma": [1, 2], "k": [1, 10]}, delta=1e-5, cores=1)
    >>> table["value"].round(3).tolist()
    [4.377, 17.857, 1.993, 7.511]
    """
    return run_sweep(
        Grid.of(expression, measure, grid, **arguments),
        cores=cores,
        scheduler=scheduler,
        folder=folder,
        progress=progress,
    )


def run_sweep(
    grid: Grid,
    *,
    cores: int | None = None,
    scheduler: str | None = None,
    folder: str | Path | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Compute all cells of a grid.

    Parameters
    ----------
    grid : Grid
        The questions.
    cores : int, optional
        Processes on this machine. By default one, and all cores once the remaining work is worth it and
        ``distributed`` is installed.
    scheduler : str, optional
        Address of a running Dask scheduler, such as ``tcp://127.0.0.1:8786``; its workers need this version of dpcore.
    folder : str or Path, optional
        Where finished parts are kept; a sweep that was interrupted continues there.
    progress : callable, optional
        Called after every part with the parts done, all parts, and the seconds left (an estimate).

    Returns
    -------
    DataFrame
        As in `sweep`.
    """
    tolerance = TOLERANCE.check(current().tolerance)
    processes = None if cores is None else COUNT.but(name="cores").check(cores)
    store = PartFolder(None if folder is None else Path(folder), grid, tolerance)
    parts: dict[int, Part] = store.finished()
    open_ = [number for number in range(part_count(grid)) if number not in parts]
    watch = Watch(len(parts), len(parts) + len(open_), progress)
    for number, part in _computed(grid, open_, tolerance, processes, scheduler):
        store.keep(number, part)
        parts[number] = part
        watch.step()
    if lost := [number for number in open_ if number not in parts]:
        msg = f"{len(lost)} of {part_count(grid)} parts of the sweep were not computed, the first is number {lost[0]}."
        raise InternalError(msg)
    return _table(grid, parts)


class Watch:
    """Counts the parts and estimates the remaining seconds from those done so far."""

    def __init__(self, done: int, whole: int, listener: Progress | None) -> None:
        self.first, self.done, self.whole, self.listener = done, done, whole, listener
        self.start = time.monotonic()

    def step(self) -> None:
        """Count one part and notify the listener."""
        self.done += 1
        if self.listener is not None:
            pace = (time.monotonic() - self.start) / (self.done - self.first)
            self.listener(self.done, self.whole, pace * (self.whole - self.done))


def _computed(
    grid: Grid, numbers: list[int], tolerance: float, processes: int | None, scheduler: str | None
) -> Iterator[tuple[int, Part]]:
    """Compute parts here or, if much work is left, elsewhere; in any order."""
    start = time.monotonic()
    for count, number in enumerate(numbers):
        if scheduler is not None or (processes or 0) > 1:
            yield from _elsewhere(grid, numbers[count:], tolerance, processes, scheduler)
            return
        yield number, compute_part(grid, number, tolerance)
        left = (time.monotonic() - start) / (count + 1) * (len(numbers) - count - 1)
        if processes is None and left > WORTHWHILE and (os.cpu_count() or 1) > 1 and find_spec("distributed"):
            processes = os.cpu_count()


def _elsewhere(
    grid: Grid, numbers: list[int], tolerance: float, processes: int | None, scheduler: str | None
) -> Iterator[tuple[int, Part]]:
    """Compute parts on the workers of a cluster; if a worker dies, another one computes its part."""
    with _client(processes, scheduler) as client:
        ahead = AHEAD * max(1, len(client.scheduler_info()["workers"]))
        waiting = iter(numbers)

        def submit(number: int) -> Any:
            return client.submit(_numbered, grid, number, tolerance, pure=False, retries=3)

        running = _distributed().as_completed([submit(number) for number in islice(waiting, ahead)])
        for future in running:
            number, plain = future.result()
            future.release()
            for following in waiting:
                running.add(submit(following))
                break
            yield number, Part.of(plain)


def _numbered(grid: Grid, number: int, tolerance: float) -> tuple[int, dict[str, Any]]:
    """Compute one part on a worker."""
    return number, compute_part(grid, number, tolerance).plain()


@contextmanager
def _client(processes: int | None, scheduler: str | None) -> Iterator[Any]:
    """Yield a client of the given scheduler, or of a cluster of processes on this machine."""
    distributed = _distributed()
    if scheduler is not None:
        try:
            client = distributed.Client(scheduler, timeout=10)
        except (OSError, ValueError, TimeoutError) as error:
            msg = f"No Dask scheduler answers at {scheduler}: {error}"
            raise DomainError(msg) from None
        with client:
            if not client.scheduler_info()["workers"]:
                msg = f"The scheduler at {scheduler} has no workers."
                raise BudgetError(msg)
            yield client
        return
    local = {"host": "127.0.0.1", "dashboard_address": None, "silence_logs": 50}
    with (
        distributed.LocalCluster(n_workers=processes, threads_per_worker=1, **local) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def _distributed() -> Any:
    """Return Dask's distributed engine, which is an extra."""
    try:
        return importlib.import_module("distributed")
    except ImportError:
        msg = 'More than one core needs Dask: pip install "dpcore[sweep]", or ask for one core.'
        raise DomainError(msg) from None


class PartFolder:
    """Finished parts in a folder: one file each, written whole or not at all."""

    def __init__(self, folder: Path | None, grid: Grid, tolerance: float) -> None:
        self.folder, self.grid, self.digest = folder, grid, grid.digest(tolerance)
        if folder is None:
            return
        folder.mkdir(parents=True, exist_ok=True)
        mark = folder / "sweep.json"
        version = vars(sys.modules["dpcore"])["__version__"]  # of the facade, which stands above this room
        facts = {"digest": self.digest, "version": version}
        if not mark.exists():
            self._write(mark, facts)
        elif _kept(mark) != facts:
            msg = f"{folder} holds parts of another sweep or version: remove the folder or name another one."
            raise DomainError(msg)

    def finished(self) -> dict[int, Part]:
        """Return the parts that exist; a damaged one is left out and computed again."""
        if self.folder is None:
            return {}
        files = ((number, self._file(number)) for number in range(part_count(self.grid)))
        parts = ((number, part_of(self.grid, number, _kept(file))) for number, file in files if file.is_file())
        return {number: part for number, part in parts if part is not None}

    def _file(self, number: int) -> Path:
        return Path(self.folder or ".") / f"part-{number:07}.json"

    def keep(self, number: int, part: Part) -> None:
        """Write one part."""
        if self.folder is not None:
            self._write(self._file(number), part.plain())

    @staticmethod
    def _write(path: Path, content: dict[str, Any]) -> None:
        """Write a file under another name first, so that an interrupted write leaves no partial file."""
        draft = path.with_suffix(".draft")
        draft.write_text(json.dumps(content), encoding="utf-8")
        draft.replace(path)


def _kept(file: Path) -> Any:
    """Return the content of a file in a folder; None if it is damaged."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


def _table(grid: Grid, parts: Mapping[int, Part]) -> pd.DataFrame:
    """Return the table of all cells in the order of the grid."""
    numbers = np.zeros((3, grid.size))
    missing = np.ones(grid.size, dtype=np.bool_)
    texts: dict[str, list[str]] = {name: [""] * grid.size for name in ("error", *FACTS)}
    for part in parts.values():
        for row, cell in zip(part.rows, part.cells, strict=True):
            if isinstance(cell, str):
                texts["error"][row], texts["kind"][row] = cell, "none"
                continue
            missing[row] = False
            numbers[:, row] = cell[:3]
            for name, text in zip(FACTS, cell[3:], strict=True):
                texts[name][row] = text
    columns: dict[str, Any] = {}
    repeats, before = grid.size, 1
    for name, values in grid.axes:
        repeats //= len(values)
        columns[name] = np.tile(np.repeat(np.array(values, dtype=_type(values)), repeats), before)
        before *= len(values)
    for name, column in zip(COLUMNS, numbers, strict=False):
        columns[name] = pd.arrays.FloatingArray(column.copy(), missing.copy())
    return pd.DataFrame({**columns, **texts})[[*grid.names, *COLUMNS]]


def _type(values: tuple[float | str, ...]) -> Any:
    """Return the type of an axis: integers, numbers, or texts and numbers."""
    if any(isinstance(value, str) for value in values):
        return object
    whole = all(float(value).is_integer() and abs(float(value)) < 2**53 for value in values)
    return np.int64 if whole else np.float64
