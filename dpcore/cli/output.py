"""Tables as text: CSV or JSON in full double precision."""

from __future__ import annotations

import io
import json
import math
from typing import TYPE_CHECKING, TextIO

from dpcore.files.csv_writer import plain_rows, write_frame

if TYPE_CHECKING:
    import pandas as pd


def write(frame: pd.DataFrame, stream: TextIO, form: str) -> None:
    """Write a table as ``csv`` or ``json``, with the shortest exact decimal of each float and infinity as ``inf``.

    Names of theorems contain Greek letters, so a terminal's stream is set to UTF-8 whatever the locale.
    """
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding="utf-8")
    if form == "json":
        _write_json(frame, stream)
    else:
        write_frame(frame, stream)


def _write_json(frame: pd.DataFrame, stream: TextIO) -> None:
    """Write a list of records, one per line; JSON has no infinity, so it becomes the text ``inf``."""
    names = [str(name) for name in frame.columns]
    stream.write("[")
    for index, row in enumerate(plain_rows(frame)):
        cells = (str(v) if isinstance(v, float) and math.isinf(v) else v for v in row)
        record = json.dumps(dict(zip(names, cells, strict=True)), allow_nan=False)
        stream.write(f"{',' if index else ''}\n{record}")
    stream.write("\n]\n" if len(frame) else "]\n")
