"""Tables as text: CSV or JSON in full double precision."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

_ROWS_AT_ONCE = 50_000


def write(frame: pd.DataFrame, stream: TextIO, form: str) -> None:
    """Write a table as ``csv`` or ``json``; floats by their shortest exact decimal, infinity as ``inf``.

    Names of theorems hold Greek letters, so a terminal's stream is set to UTF-8 whatever the locale.
    """
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding="utf-8")
    if form == "json":
        _write_json(frame, stream)
    else:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(frame.columns)
        writer.writerows(_rows(frame))


def _rows(frame: pd.DataFrame) -> Iterator[tuple[object, ...]]:
    """Yield the rows as plain Python values, a block at a time; a missing value is None."""
    for start in range(0, len(frame), _ROWS_AT_ONCE):
        block = frame.iloc[start : start + _ROWS_AT_ONCE]
        columns = [[_plain(value) for value in block[name].tolist()] for name in frame.columns]
        yield from zip(*columns, strict=True)


def _plain(value: object) -> object:
    return None if isinstance(value, float) and math.isnan(value) else value


def _write_json(frame: pd.DataFrame, stream: TextIO) -> None:
    """Write a list of records, one per line; JSON has no infinity, so it becomes the text ``inf``."""
    names = [str(name) for name in frame.columns]
    stream.write("[")
    for index, row in enumerate(_rows(frame)):
        cells = (str(v) if isinstance(v, float) and math.isinf(v) else v for v in row)
        record = json.dumps(dict(zip(names, cells, strict=True)), allow_nan=False)
        stream.write(f"{',' if index else ''}\n{record}")
    stream.write("\n]\n" if len(frame) else "]\n")
