"""Light and dark: each colour of a light chart has a dark counterpart, so that one picture serves both."""

from __future__ import annotations

from functools import cache

from dpcore.charts import theme


@cache
def counterparts() -> dict[str, str]:
    """Return light colour -> dark colour, for all colours of the charts."""
    pairs = zip(theme.shades(), theme.shades(dark=True), strict=True)
    return {old: new for old, new in pairs if old != new}


def picture_rules(inside: str = "", svg: str | None = None) -> str:
    """Return the rules of the style sheet that turn a light picture dark.

    Parameters
    ----------
    inside : str, default ""
        Selector of the elements that contain pictures.
    svg : str, optional
        A picture, to list its colours only; all by default.
    """
    rules = [
        f'{inside}[{part}="{old}"]{{{part}:{new}}}'
        for old, new in counterparts().items()
        for part in ("fill", "stroke")
        if svg is None or f'{part}="{old}"' in svg
    ]
    return "@media screen and (prefers-color-scheme:dark){" + "".join(rules) + "}"


def adaptable(svg: str) -> str:
    """Return a picture that turns dark with the screen of its reader and stays light in print."""
    head, rest = svg.split(">", 1)
    return f"{head}><style>{picture_rules(svg=svg)}</style>{rest}"
