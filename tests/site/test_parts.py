"""Long pages in parts: nothing is lost, and a heading inside of something else starts no part."""

from __future__ import annotations

import re

from dpcore.site.parts import LONG, in_parts

FILL = "<p>" + "word " * (LONG // 20) + "</p>"


def test_a_long_page_has_a_part_for_each_heading() -> None:
    body = f'<p>First.<br></p>{FILL}<h2 id="a">A</h2><img src="x.svg">{FILL}<h2 id="b">B</h2>{FILL}{FILL}'
    parts = in_parts(body)
    assert re.sub(r'<div class="part">\n|\n</div>\n', "", parts) == body
    assert re.findall(r'<div class="part">\n<h2 id="(.)">', parts) == ["a", "b"]
    assert parts.count("</div>") == 2


def test_a_heading_in_a_quotation_starts_no_part() -> None:
    body = f"{FILL * 5}<blockquote><h2>Quoted</h2></blockquote><h2>Own</h2><p>End.</p>"
    assert in_parts(body).count('class="part"') == 1
    assert '<div class="part">\n<h2>Own</h2><p>End.</p>\n</div>' in in_parts(body)


def test_short_pages_and_pages_without_headings_stay() -> None:
    for body in ("<h2>A</h2><p>Short.</p>", FILL * 5):
        assert in_parts(body) == body
