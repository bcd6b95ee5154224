"""From one notion of privacy to another: a table of conversions and the function that applies them.

Each conversion is a record: which regions it takes, what it gives, its formula, assumptions and reference, and a
number to check it by. Values are rounded to the safe side: what comes out is implied by what went in.
"""

from dpcore.theorems.conversion.gaussian import bounded_fit, fit_table, fit_words, gaussian_fit, gaussian_mu
from dpcore.theorems.conversion.records import DEFAULT_DELTA, DEFAULT_ORDER, SINGLE, Check, Conversion, Options, Values
from dpcore.theorems.conversion.table import COLUMNS, CONVERSIONS, applicable, convert

__all__ = [
    "COLUMNS",
    "CONVERSIONS",
    "DEFAULT_DELTA",
    "DEFAULT_ORDER",
    "SINGLE",
    "Check",
    "Conversion",
    "Options",
    "Values",
    "applicable",
    "bounded_fit",
    "convert",
    "fit_table",
    "fit_words",
    "gaussian_fit",
    "gaussian_mu",
]
