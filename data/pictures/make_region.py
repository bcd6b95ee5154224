"""Draw the picture of the README: one private answer, five of them exactly, and what the basic theorem says of five."""

from __future__ import annotations

from pathlib import Path

import dpcore
from dpcore import charts

TARGET = Path(__file__).with_name("region.svg")
ONE = dpcore.dp(0.6, 0.05)
REGIONS = {
    "one answer": ONE,
    "five answers, exact": ONE**5,
    "five answers, basic theorem": dpcore.dp(3.0, 0.25),
}


def draw() -> charts.Figure:
    """Lay the regions over each other, the largest behind."""
    look = charts.Look(title="Privacy regions of dp(0.6, 0.05)", width=400, height=400)
    return charts.region_figure(REGIONS, look=look)


def main(target: Path = TARGET) -> None:
    """Write the picture."""
    charts.save(draw(), target)
    print(f"wrote {target.name}")


if __name__ == "__main__":
    main()
