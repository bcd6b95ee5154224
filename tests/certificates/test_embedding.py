"""A report embeds a certificate, and a label cites it: both hold the file that the checker accepts."""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING

import pytest

from dpcore.cli import main
from dpcore.core.errors import DpcoreError
from dpcore.site.report import build_report
from dpcore_verify import verify

if TYPE_CHECKING:
    from pathlib import Path

REPORT = """+++
[values]
proof = 'certificate("laplace(0.1)^10", delta=1e-6)'
+++

# Our release

Proved: {{ proof.claim }}; SHA-256 {{ proof.digest }}.

```certificate
value = "proof"
```
"""


def test_a_report_embeds_the_file(tmp_path: Path) -> None:
    source = tmp_path / "report.md"
    source.write_text(REPORT, encoding="utf-8")
    build_report(source, tmp_path / "report.html")
    page = html.unescape(re.sub(r"<[^>]+>", "", (tmp_path / "report.html").read_text(encoding="utf-8")))
    found = re.search(r'\{\s*"format": "dpcore certificate 1".*?"digest": "[0-9a-f]{64}"\s*\}', page, re.DOTALL)
    assert found is not None
    document = json.loads(found[0])
    assert verify(document).endswith("for laplace(0.1)^10")
    assert f"SHA-256 {document['digest']}" in page


@pytest.mark.parametrize("block", ['value = "other"', "value = 3", 'region = "dp(1)"'])
def test_a_mistake_names_its_line(tmp_path: Path, block: str) -> None:
    source = tmp_path / "report.md"
    source.write_text(REPORT.replace('value = "proof"', block), encoding="utf-8")
    with pytest.raises(DpcoreError, match=r"report\.md, line 1[0-2]"):
        build_report(source, tmp_path / "report.html")


def test_a_label_cites_the_file(tmp_path: Path) -> None:
    ledger = tmp_path / "releases.csv"
    ledger.write_text("label,expression,count\ncounts,laplace(0.1),10\nmeans,gaussian(5),3\n", encoding="utf-8")
    proof = tmp_path / "proof.json"
    main(["label", str(ledger), "-o", str(tmp_path / "label.html"), "--certificate", str(proof)])
    document = json.loads(proof.read_text(encoding="utf-8"))
    assert verify(document).endswith("for laplace(0.1)^10 * gaussian(5)^3")
    assert document["digest"] in (tmp_path / "label.html").read_text(encoding="utf-8")
