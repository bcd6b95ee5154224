"""Light and dark: every colour of a light chart has its counterpart, so one picture serves both."""

from __future__ import annotations

from functools import cache
from typing import Final

from dpcore.charts import theme

SHARES: Final = (0.22,)


@cache
def counterparts() -> dict[str, str]:
    """Return light colour -> dark colour, for everything that the charts' look uses."""
    pairs = dict(zip(theme.LIGHT, theme.DARK, strict=True))
    pairs |= {
        theme.pale(light, share=share): theme.pale(dark, dark=True, share=share)
        for light, dark in zip(theme.LIGHT, theme.DARK, strict=True)
        for share in SHARES
    }
    light, dark = theme.config()["axis"], theme.config(dark=True)["axis"]
    pairs |= {light[name]: dark[name] for name in ("gridColor", "domainColor", "labelColor", "titleColor")}
    pairs |= {theme.paper(): theme.paper(dark=True), theme.ink(): theme.ink(dark=True)}
    return {old: new for old, new in pairs.items() if old != new}


def picture_rules(inside: str = "", svg: str | None = None) -> str:
    """Return the style sheet's lines that turn a light picture dark.

    Parameters
    ----------
    inside : str, default ""
        Selector of the place where pictures are.
    svg : str, optional
        A picture, to list its own colours only.
    """
    rules = [
        f'{inside}[{part}="{old}"]{{{part}:{new}}}'
        for old, new in counterparts().items()
        for part in ("fill", "stroke")
        if svg is None or f'{part}="{old}"' in svg
    ]
    return "@media screen and (prefers-color-scheme:dark){" + "".join(rules) + "}"


def adaptable(svg: str) -> str:
    """Return a picture that turns dark with its reader's screen, and stays light on paper."""
    head, rest = svg.split(">", 1)
    return f"{head}><style>{picture_rules(svg=svg)}</style>{rest}"
