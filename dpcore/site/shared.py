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
    """Return a file of the folder of assets."""
    return (resources.files("dpcore.site") / "assets" / name).read_bytes()


@cache
def vega() -> str:
    """Return Vega, Vega-Lite and their embedder as one script; a function around it keeps its names local."""
    import vl_convert  # noqa: PLC0415  # large, and only needed when something is written

    converter: Any = vl_convert  # its stub requires an argument that is optional
    bundle: str = converter.javascript_bundle()
    return f"(()=>{{{bundle}\n}})();\n"


def boot() -> str:
    """Return the script that makes pictures live, with the colours and the configuration of the charts."""
    text = asset("boot.js").decode()
    return text.replace("/*DARK*/ {}", json.dumps(counterparts())).replace("/*LOOK*/ {}", compact(look()))


def style(*, pictures: bool = False) -> str:
    """Return the style sheet, with the rules that turn embedded pictures dark if the page has any."""
    sheet = asset("style.css").decode()
    return f"{sheet}\n{picture_rules('.still ')}\n" if pictures else sheet


def shared(*, live: bool) -> dict[str, bytes]:
    """Return the shared files by their path in the site; Vega only if the site has a live chart."""
    return {
        **({"assets/vega.js": vega().encode()} if live else {}),
        "assets/style.css": style().encode(),
        "assets/boot.js": boot().encode(),
        "assets/page.js": asset("page.js"),
        f"assets/{FONT}": asset(FONT),
        "assets/OFL.txt": asset("OFL.txt"),
        "assets/icon.svg": asset("icon.svg"),
    }
