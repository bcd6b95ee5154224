"""Reports to start from: each works as it is, on data that come with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dpcore.core.errors import DomainError, DpcoreError
from dpcore.files.data import data_folder
from dpcore.language.problems import nearest, quoted

if TYPE_CHECKING:
    from pathlib import Path

TEMPLATES: Final = ("office", "lecture", "appendix", "modelcard", "label")
REPORT: Final = "report.md"


def new_report(name: str, target: Path) -> list[Path]:
    """Write a report from a template, with its data beside it.

    Parameters
    ----------
    name : str
        One of `TEMPLATES`.
    target : Path
        The report to write, a Markdown file; its data get their own names in the same folder.

    Returns
    -------
    list of Path
        The files that were written. Nothing is ever written over an existing file.
    """
    if name not in TEMPLATES:
        msg = f"There is no template {quoted(name)}; {nearest(name, TEMPLATES) or 'there are ' + ', '.join(TEMPLATES) + '.'}"
        raise DomainError(msg)
    if target.suffix.lower() not in (".md", ".markdown"):
        msg = f"A new report is a file that ends in .md, got {str(target)[-80:]!r}."
        raise DpcoreError(msg)
    folder = data_folder() / "templates" / name
    files = {target.parent / file.name: file.read_bytes() for file in sorted(folder.iterdir()) if file.name != REPORT}
    if name == "label":
        from dpcore.ledger import open_ledger  # noqa: PLC0415  # only here
        from dpcore.planner.label import label_report  # noqa: PLC0415  # as above

        files[target] = label_report(open_ledger(folder / "releases.csv"), ledger_file="releases.csv").encode()
    else:
        files[target] = (folder / REPORT).read_bytes()
    for path in files:
        if path.exists():
            msg = f"{str(path)[-80:]!r} exists already; name another file or folder."
            raise DpcoreError(msg)
    target.parent.mkdir(parents=True, exist_ok=True)
    for path, data in files.items():
        path.write_bytes(data)
    return list(files)
