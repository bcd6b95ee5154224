"""Mistakes in the sources, and what is right: rows of data, with a computation that refutes each false statement.

`rows()` returns the rows, `table()` the same as a frame; `row.evidence()` computes.
"""

from dpcore.labs.errata.claims import Evidence, PrintedClaim
from dpcore.labs.errata.rows import FALSE, KINDS, MISPRINT, NOTE, READING, Row, Source, rows, sources, table

__all__ = [
    "FALSE",
    "KINDS",
    "MISPRINT",
    "NOTE",
    "READING",
    "Evidence",
    "PrintedClaim",
    "Row",
    "Source",
    "rows",
    "sources",
    "table",
]
