"""The files that all pages share: style sheet, scripts, font, icon."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any, Final

from dpcore.site.colours import counterparts, picture_rules
from dpcore.site.figures import compact, look

FONT: Final = "STIXTwoMath-subset.woff2"


def asset(name: str) -> bytes:
    """Return a file of the package's folder of assets."""
    return (resources.files("dpcore.site") / "assets" / name).read_bytes()


@cache
def vega() -> str:
    """Return Vega, Vega-Lite and their embedder as one script; in a function of its own it leaks no names."""
    import vl_convert  # noqa: PLC0415  # large, and needed when something is written only

    converter: Any = vl_convert  # its stub asks for an argument that is optional
    bundle: str = converter.javascript_bundle()
    return f"(()=>{{{bundle}\n}})();\n"


def boot() -> str:
    """Return the script that makes pictures live, with the colours and the look of the charts."""
    text = asset("boot.js").decode()
    return text.replace("/*DARK*/ {}", json.dumps(counterparts())).replace("/*LOOK*/ {}", compact(look()))


def style(*, pictures: bool = False) -> str:
    """Return the style sheet, with the rules that turn pictures dark if the page itself holds them."""
    sheet = asset("style.css").decode()
    return f"{sheet}\n{picture_rules('.still ')}\n" if pictures else sheet


def shared() -> dict[str, bytes]:
    """Return the shared files by their path in the site."""
    return {
        "assets/style.css": style().encode(),
        "assets/boot.js": boot().encode(),
        "assets/vega.js": vega().encode(),
        f"assets/{FONT}": asset(FONT),
        "assets/OFL.txt": asset("OFL.txt"),
        "assets/icon.svg": asset("icon.svg"),
    }
