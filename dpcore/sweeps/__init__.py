"""Sweeps: one measure of one expression over a grid of its parameters, on one core, all cores or a cluster."""

from dpcore.sweeps.cells import COLUMNS
from dpcore.sweeps.grid import Grid
from dpcore.sweeps.measures import MEASURES
from dpcore.sweeps.reading import read_grid
from dpcore.sweeps.run import run_sweep, sweep

__all__ = ["COLUMNS", "MEASURES", "Grid", "read_grid", "run_sweep", "sweep"]
