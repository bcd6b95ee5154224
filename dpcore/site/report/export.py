"""Reports for other programs: PDF by Typst, and docx, tex, md and ipynb by Pandoc."""

from __future__ import annotations

import base64
import json
import re
import tempfile
from importlib import resources
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dpcore.core.errors import DpcoreError
from dpcore.files.paths import inside
from dpcore.site.report.pandoc_ast import AstWriter
from dpcore.site.report.tex import preamble
from dpcore.site.report.tools import need, pandoc, picture_of, typst_pdf

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpcore.site.figures import RenderedFigure
    from dpcore.site.report.citations import Citations
    from dpcore.site.report.document import Document

WRITERS: Final = {".docx": "docx", ".tex": "latex", ".md": "gfm+tex_math_dollars", ".ipynb": "ipynb"}
PPI: Final = 192  # of pictures for word processors: twice the pixels of a screen
_PIECES: Final = re.compile(r"```.*?```|`[^`]*`|\\\\.|\$[^$]*\$", re.DOTALL)  # code, escaped signs, formulas
_SYMBOLS: Final = tuple(
    (re.compile(old), new)
    for old, new in (
        (r"\b(backslash|bar\.v|dash|div|dot|eq|gt|lt|minus|parallel|perp|plus|times)\.circle\b", r"\1.o"),
        (r"\b(brace|bracket|paren)\.([lr])\.double\b", r"\1.\2.stroked"),
        (r"\bintegral\.sect\b", "integral.inter"),
        (r"(?<![.\w])sect\b", "inter"),
    )
)


def write_document(
    document: Document, figures: Mapping[str, RenderedFigure], citations: Citations, target: Path
) -> None:
    """Write a report as PDF, docx, tex, md or ipynb.

    Parameters
    ----------
    document : Document
        The report.
    figures : mapping of str to RenderedFigure
        Its figures, drawn.
    citations : Citations
        Its citations, written.
    target : Path
        The file; its ending says the format. Pictures of a tex or md file are in a folder beside it.
    """
    suffix = target.suffix.lower()
    if suffix == ".pdf":
        target.write_bytes(_pdf(document, figures, citations))
        return
    need("pypandoc", f"A {suffix} file")
    writer = WRITERS[suffix]
    pictures = _Pictures(suffix, target)
    ast = AstWriter(document, figures, citations, pictures.address, writer.partition("+")[0]).write()
    options = ["-f", "json", "-t", writer, "--standalone"]
    files: dict[str, bytes] = {}
    if suffix == ".tex":
        files["header.tex"] = preamble().encode()
        options.append("--include-in-header=header.tex")
    if suffix == ".docx":
        options += ["-o", "-"]
    data = pandoc(options, json.dumps(ast).encode(), files)
    target.write_bytes(data)
    pictures.write()


class _Pictures:
    """Turns pictures into what a format takes: inside the file, or in a folder beside it."""

    def __init__(self, suffix: str, target: Path) -> None:
        self.suffix, self.name = suffix, f"{target.stem}_files"
        self.folder = inside(target.parent, self.name)
        self.files: dict[str, bytes] = {}

    def address(self, name: str, kind: str, data: bytes) -> str:
        """Return the address of a picture."""
        if self.suffix in (".docx", ".ipynb"):
            png = png_of(data, name) if kind == "image/svg+xml" else data
            return f"data:{'image/png' if kind == 'image/svg+xml' else kind};base64,{base64.b64encode(png).decode()}"
        return f"{self.name}/{add_picture(self.files, name, kind, data, pdf=self.suffix == '.tex')}"

    def write(self) -> None:
        """Write the folder."""
        if self.files:
            self.folder.mkdir(exist_ok=True)
            for name, data in self.files.items():
                inside(self.folder, name).write_bytes(data)


def add_picture(files: dict[str, bytes], name: str, kind: str, data: bytes, *, pdf: bool) -> str:
    """Add a picture to some files and return its name there: another picture of the same name keeps its own."""
    ending = Path(name).suffix.lower()
    if kind == "image/svg+xml":
        data, ending = (pdf_of(data, name), ".pdf") if pdf else (data, ".svg")
    plain = re.sub(r"[^A-Za-z0-9._-]", "-", Path(name).stem)
    # one of that many names is free
    names = (f"{plain}{f'-{n}' if n > 1 else ''}{ending}" for n in count(1))
    file = next(file for file in names if files.get(file, data) == data)
    files[file] = data
    return file


def png_of(svg: bytes, name: str) -> bytes:
    """Return an SVG as PNG: figures here, files that a document names in a process of its own."""
    if _is_file(name):
        return picture_of(_sized(svg), "png", PPI)
    import vl_convert  # noqa: PLC0415  # large, and only needed when something is written

    converter: Any = vl_convert
    return bytes(converter.svg_to_png(_sized(svg), ppi=PPI))


def pdf_of(svg: bytes, name: str) -> bytes:
    """Return an SVG as a PDF of one picture, as `png_of` does."""
    if _is_file(name):
        return picture_of(_sized(svg), "pdf", PPI)
    import vl_convert  # noqa: PLC0415  # as above

    converter: Any = vl_convert
    return bytes(converter.svg_to_pdf(_sized(svg)))


def _is_file(name: str) -> bool:
    """Return whether a picture comes from a file: figures have names without an ending."""
    return Path(name).suffix.lower() == ".svg"


def _sized(svg: bytes) -> str:
    """Return an SVG with the size of its viewBox, which converters look for."""
    text = svg.decode("utf-8")
    match = re.search(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)"', text)
    head = text.partition(">")[0]
    if match is None or re.search(r"\swidth=", head):
        return text
    return text.replace("<svg", f'<svg width="{match[1]}" height="{match[2]}"', 1)


def renamed_symbols(source: str) -> str:
    """Return a text of Typst with the symbols of its formulas under the names of Typst 0.15; Pandoc 3.9 writes older ones."""

    def renamed(match: re.Match[str]) -> str:
        text = match[0]
        if not text.startswith("$"):
            return text
        for pattern, new in _SYMBOLS:
            text = pattern.sub(new, text)
        return text

    return _PIECES.sub(renamed, source)


def _pdf(document: Document, figures: Mapping[str, RenderedFigure], citations: Citations) -> bytes:
    """Return a report as PDF: Pandoc writes Typst, and Typst sets it."""
    need("pypandoc", "A PDF")
    need("typst", "A PDF")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)

        files: dict[str, bytes] = {}

        def address(name: str, kind: str, data: bytes) -> str:
            return add_picture(files, name, kind, data, pdf=True)

        ast = AstWriter(document, figures, citations, address, "typst").write()
        template = (resources.files("dpcore.site") / "assets" / "report.typ").read_bytes()
        options = ["-f", "json", "-t", "typst", "--standalone", "--template=report.typ"]
        source = pandoc(options, json.dumps(ast).encode(), {"report.typ": template})
        for name, data in files.items():
            (folder / name).write_bytes(data)
        (folder / "main.typ").write_text(renamed_symbols(source.decode()), encoding="utf-8")
        pdf = typst_pdf(folder)
    if not pdf.startswith(b"%PDF-"):
        msg = "Typst wrote no PDF."
        raise DpcoreError(msg)
    return pdf
