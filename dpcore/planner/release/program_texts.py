"""The fixed parts of the programs: how they read a table, compute cells, add noise and state what is spent."""

from __future__ import annotations

from typing import Final

_IMPORTS: Final = """import bisect
import csv
import math
import sys
"""

OPENDP: Final = (
    _IMPORTS
    + '''
import opendp.prelude as dp

dp.enable_features("contrib")


def add_noise(charge, cells, noise, scale, move, cells_moved, times, integers):
    """Return noisy cells; `times` says how often the charge counts if several answers are parallel."""
    number = dp.atom_domain(T=int) if integers else dp.atom_domain(T=float, nan=False)
    data = [int(cell) for cell in cells] if integers else [float(cell) for cell in cells]
    if noise == "gaussian":
        measurement = dp.m.make_gaussian(dp.vector_domain(number), dp.l2_distance(T=float), scale=scale)
        rho = measurement.map(move) * cells_moved  # cells that gain and cells that lose are different cells
        spend(charge, "rho", rho, times)
    else:
        kind = int if integers else float
        measurement = dp.m.make_laplace(dp.vector_domain(number), dp.l1_distance(T=kind), scale=scale)
        spend(charge, "epsilon", measurement.map(kind(move * cells_moved)), times)
    return measurement(data)


def choose(charge, scores, scale, move, one_way, times):
    """Return the place of a high score, by the exponential mechanism (largest score plus Gumbel noise)."""
    number = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    metric = dp.linf_distance(T=float, monotonic=one_way)
    measurement = dp.m.make_noisy_max(number, metric, dp.zero_concentrated_divergence(), scale=scale)
    spend(charge, "choice", measurement.map(move), times)
    return measurement([float(score) for score in scores])


def spend(charge, measure, amount, times):
    """Keep the largest amount of every charge: answers about disjoint records are charged once, or as often as `times` says."""
    spent[charge] = max(spent.get(charge, (measure, 0.0, times)), (measure, amount, times))


def epsilon_of(rho, delta):
    """Return OpenDP's epsilon of zero-concentrated privacy at a delta."""
    if rho == 0.0:
        return 0.0
    if delta == 0.0:
        return math.inf
    unit = dp.m.make_gaussian(dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), scale=1.0)
    approximate = dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(unit), delta=delta)
    return approximate.map(math.sqrt(2.0 * rho))[0]


def total_epsilon(delta):
    """Return the epsilon that OpenDP's rules give all charges together: losses added, or all of it as concentrated privacy."""
    pure = {"epsilon": lambda a: a, "choice": lambda a: math.sqrt(8.0 * a), "rho": lambda a: 0.0}
    rho = {"epsilon": lambda a: a * a / 2.0, "choice": lambda a: a, "rho": lambda a: a}
    gaussian = sum(times * amount for measure, amount, times in spent.values() if measure == "rho")
    added = sum(times * pure[measure](amount) for measure, amount, times in spent.values()) + epsilon_of(gaussian, delta)
    concentrated = epsilon_of(sum(times * rho[measure](amount) for measure, amount, times in spent.values()), delta)
    return min(added, concentrated)

'''
)

NUMPY: Final = (
    _IMPORTS
    + '''
import numpy as np

rng = np.random.default_rng()


def add_noise(charge, cells, noise, scale, move, cells_moved, times, integers):
    """Return noisy cells: NOT FOR RELEASE."""
    size = len(cells)
    if noise == "gaussian":
        drawn = rng.normal(0.0, scale, size)
    elif noise == "laplace":
        drawn = rng.laplace(0.0, scale, size)
    else:
        success = -math.expm1(-1.0 / scale)
        drawn = rng.geometric(success, size) - rng.geometric(success, size)
    return [cell + float(one) for cell, one in zip(cells, drawn)]


def choose(charge, scores, scale, move, one_way, times):
    """Return the place of a high score, by the exponential mechanism: NOT FOR RELEASE."""
    return int(np.argmax(np.asarray(scores, dtype=float) + rng.gumbel(0.0, scale, len(scores))))

'''
)

HELPERS: Final = '''
MISSING = MISSING_TEXTS
DECIMAL_COMMA = COMMA_ALLOWED  # where commas do not separate the fields


def read(path, delimiter, encoding, names):
    """Return the rows of a CSV file that hold some text, each a dictionary."""
    with open(path, newline="", encoding="utf-8-sig" if encoding == "utf-8" else encoding) as file:
        rows = csv.DictReader(file, names, delimiter=delimiter, restkey="", restval="")
        return [row for row in rows if "".join(map(str, row.values())).strip()]


def first_records(table, column, most):
    """Return the first records of every person."""
    seen, kept = {}, []
    for row in table:
        person = text(row, column)
        if person is not None and seen.get(person, 0) < most:
            seen[person] = seen.get(person, 0) + 1
            kept.append(row)
    return kept


def text(row, column):
    """Return the text of a cell, None if it is missing."""
    cell = " ".join((row[column] or "").split())
    return None if cell.lower() in MISSING else cell


def number(row, column):
    """Return the number of a cell, None if there is none."""
    cell = row[column] or ""
    if DECIMAL_COMMA and cell.count(",") == 1 and "." not in cell:
        cell = cell.replace(",", ".")
    try:
        value = float(cell) if "_" not in cell else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def holds(value, sign, bound):
    """Return whether a number satisfies a comparison."""
    if value is None:
        return False
    return {"<": value < bound, "<=": value <= bound, ">": value > bound, ">=": value >= bound}[sign]


def inside(value, low, high):
    """Return a number moved between two bounds."""
    return min(max(value, low), high)


def clipped(records, column, low, high):
    """Return the numbers of a column moved between its bounds."""
    numbers = (number(row, column) for row in records)
    return [inside(value, low, high) for value in numbers if value is not None]


def category(row, column, names):
    """Return the place of a category, that of the others if it is not declared, None if the cell is empty."""
    cell = text(row, column)
    if cell is None:
        return None
    return names.index(cell) if cell in names else names.index("other")


def bin_of(row, column, low, high, bins):
    """Return the bin of a number between the bounds, None if there is none."""
    value = number(row, column)
    if value is None:
        return None
    return min(int((inside(value, low, high) - low) / (high - low) * bins), bins - 1)


def pair(first, second, width):
    """Return the place of a pair of categories or bins."""
    return None if first is None or second is None else first * width + second


def counts(places, size):
    """Return how often every place occurs."""
    cells = [0] * size
    for place in places:
        if place is not None:
            cells[place] += 1
    return cells


def share(cells):
    """Return the first of two cells over their sum, within [0, 1]."""
    whole = cells[0] + cells[1]
    return inside(cells[0] / whole, 0.0, 1.0) if whole > 0 else 0.5


def variance(values):
    """Return the mean squared distance from the mean."""
    mean = math.fsum(values) / len(values)
    return math.fsum((x - mean) ** 2 for x in values) / len(values)


def variance_of_shares(cells):
    """Return the variance on [0, 1] from the sums of u^2, 2uv and v^2."""
    whole = sum(cells)
    first, middle, _ = [cell / whole for cell in cells] if whole > 0 else [1 / 3] * 3
    return inside(first - (first + middle / 2) ** 2, 0.0, 0.25)

'''

OPENDP_TOTAL: Final = """
for name, value in answers.items():
    print(f"{{name}}: {{value}}")
print(f"OpenDP adds up to epsilon = {{total_epsilon({delta!r})!r}} at delta = {delta!r}", file=sys.stderr)
print("The exact composition is epsilon = {epsilon!r}; the noise is the same.", file=sys.stderr)
"""

NUMPY_TOTAL: Final = """
print("NOT FOR RELEASE: a trial with numpy.", file=sys.stderr)
for name, value in answers.items():
    print(f"{{name}}: {{value}}")
"""
