"""The house: its rooms, which layer each is on, what it imports, and the map of it in CONTRIBUTING.

``python -m tests.house`` (or ``make map``) draws ``data/pictures/house.svg`` and the table of rooms again; a test fails
where they are not those of the imports and docstrings.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "dpcore"
PICTURE = ROOT / "data" / "pictures" / "house.svg"
TEXT = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- rooms: made by make map -->\n", "<!-- end of rooms -->\n"

# Lower layers never import upper ones. A module belongs to the longest name here that it starts with; `dpcore`
# itself is the facade: it gathers the layers below it, and only layers above it may import names from it.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("core", "words", "files"),
    ("curves", "engine"),
    ("regions",),
    ("mechanisms",),
    ("language", "frames", "risk", "central_limit", "theorems"),
    ("training", "calibration", "ledger", "constraints", "local", "audit", "utility", "deployments"),
    ("planner", "certificates", "sweeps"),
    ("labs",),
    ("",),
    ("charts",),
    ("specs", "values"),
    ("site", "app"),
    ("cli", "__main__"),
)
HEIGHT = {name: height for height, names in enumerate(LAYERS) for name in names}


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def room(module: str) -> str:
    return module.split(".", maxsplit=1)[0]


def imported(tree: ast.AST, module: str, *, is_package: bool) -> set[str]:
    """Return the modules of dpcore that a file imports anywhere, relative to the package."""
    full = ["dpcore", *(module.split(".") if module else [])]
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            up = node.level - is_package
            base = ".".join(full[: len(full) - up]) if node.level else ""
            start = ".".join(part for part in (base, node.module) if part)
            for alias in node.names:
                deeper = f"{start}.{alias.name}".removeprefix("dpcore.")
                found.add(f"dpcore.{deeper}" if deeper in MODULES else start)
    ours = {name for name in found if name.split(".")[0] == "dpcore"}
    return {name.removeprefix("dpcore").removeprefix(".") for name in ours}


def for_types_only(tree: ast.Module) -> ast.Module:
    """Drop what only a type checker imports: it cannot tie two modules together when they run."""

    class Dropper(ast.NodeTransformer):
        def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
            self.generic_visit(node)
            return node.orelse if ast.unparse(node.test).endswith("TYPE_CHECKING") else node

    return Dropper().visit(tree)


@cache
def imports_of(module: str) -> frozenset[str]:
    """Return the modules of dpcore that a module imports when it runs."""
    path = MODULES[module]
    tree = for_types_only(ast.parse(path.read_text(encoding="utf-8")))
    return frozenset(imported(tree, module, is_package=path.name == "__init__.py"))


# --- the map -------------------------------------------------------------------------------------------------------


def rooms_below(name: str) -> set[str]:
    """Return the rooms on lower layers that a room imports itself."""
    found = {room(target) for module in MODULES if room(module) == name for target in imports_of(module)}
    return {target for target in found if HEIGHT[target] < HEIGHT[name]}


def arrows() -> list[tuple[str, str]]:
    """Return the imports that the map draws: those that do not follow from others by going through a room between."""
    below = {name: rooms_below(name) for name in HEIGHT}

    def reached(start: set[str]) -> set[str]:
        seen: set[str] = set()
        todo = list(start)
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                todo += below[name]
        return seen

    return [
        (name, target)
        for name in HEIGHT
        for target in sorted(below[name], key=list(HEIGHT).index)
        if target not in reached(below[name] - {target})
    ]


def meaning(name: str) -> str:
    """Return the first sentence of the docstring of a room."""
    path = MODULES[name]
    doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(doc.split("\n\n", maxsplit=1)[0].split())


def label(name: str) -> str:
    return name or "dpcore"


def table() -> str:
    """Return the table of rooms, the highest first."""
    rows = ["| layer | room | what it holds |", "|---|---|---|"]
    for height, names in reversed(list(enumerate(LAYERS))):
        for number, name in enumerate(names):
            file = "`dpcore`" if not name else f"`{name}`" + ("" if MODULES[name].name == "__init__.py" else " (file)")
            rows.append(f"| {height if number == 0 else ''} | {file} | {meaning(name).replace('``', '`')} |")
    return "\n".join(rows) + "\n"


WIDTH, LEFT, BOX, ROW, AIR, GAP = 960, 34, 24, 34, 34, 8
TEXT_STYLE = 'font-family="DejaVu Sans, Verdana, sans-serif"'
PER_LETTER = 7.4
"""Width of a letter of size 12, generous, so that names fit whatever the font."""


def places() -> tuple[dict[str, tuple[float, float, float]], list[tuple[float, float]], float]:
    """Return (x, y, width) of every room, (y, height) of every layer from the top, and the height of the picture."""
    boxes: dict[str, tuple[float, float, float]] = {}
    bands: list[tuple[float, float]] = []
    y = 12.0
    for names in reversed(LAYERS):
        rows: list[list[str]] = [[]]
        used = 0.0
        for name in names:
            width = len(label(name)) * PER_LETTER + 14
            if rows[-1] and used + width > WIDTH - LEFT - 24:
                rows.append([])
                used = 0.0
            rows[-1].append(name)
            used += width + GAP
        top = y
        for row in rows:
            widths = [len(label(name)) * PER_LETTER + 14 for name in row]
            x = LEFT + (WIDTH - LEFT - 8 - sum(widths) - GAP * (len(row) - 1)) / 2
            for name, width in zip(row, widths, strict=True):
                boxes[name] = (x, y + 5, width)
                x += width + GAP
            y += ROW
        bands.append((top, y - top))
        y += AIR
    return boxes, bands, y - AIR + 12


def drawing() -> str:
    """Return the map as SVG: a band for every layer, a box for every room, a line for every import it draws."""
    boxes, bands, height = places()
    title = "The rooms of dpcore in layers; every import points down."
    size = f'width="{WIDTH}" height="{height:g}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {WIDTH} {height:g}" role="img">',
        f"<title>{title}</title>",
        f'<rect {size} fill="#ffffff"/>',
    ]
    for number, (y, tall) in enumerate(bands):
        parts.append(f'<rect x="{LEFT}" y="{y:g}" width="{WIDTH - LEFT - 8}" height="{tall:g}" rx="6" fill="#eef3f7"/>')
        parts.append(
            f'<text x="{LEFT - 10}" y="{y + tall / 2 + 4:g}" text-anchor="end" font-size="11" fill="#595959" '
            f"{TEXT_STYLE}>{len(bands) - 1 - number}</text>"
        )
    for name, target in arrows():
        x, y, width = boxes[name]
        to_x, to_y, to_width = boxes[target]
        start, end = (x + width / 2, y + BOX), (to_x + to_width / 2, to_y)
        bend = min(60.0, (end[1] - start[1]) / 2)
        parts.append(
            f'<path d="M{start[0]:.1f},{start[1]:.1f} C{start[0]:.1f},{start[1] + bend:.1f} {end[0]:.1f},{end[1] - bend:.1f} '
            f'{end[0]:.1f},{end[1]:.1f}" fill="none" stroke="#0072b2" stroke-opacity="0.4"/>'
        )
    for name, (x, y, width) in boxes.items():
        parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{BOX}" rx="4" fill="#ffffff" stroke="#5c6b77"/>'
        )
        parts.append(
            f'<text x="{x + width / 2:.1f}" y="{y + 16:.1f}" text-anchor="middle" font-size="12" fill="#1a1a1a" '
            f"{TEXT_STYLE}>{escape(label(name))}</text>"
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def with_table(text: str) -> str:
    """Return the text of CONTRIBUTING with the table of rooms as it is now."""
    return re.sub(
        f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: f"{BEGIN}\n{table()}\n{END}", text, flags=re.DOTALL
    )


if __name__ == "__main__":
    PICTURE.write_text(drawing(), encoding="utf-8")
    TEXT.write_text(with_table(TEXT.read_text(encoding="utf-8")), encoding="utf-8")
