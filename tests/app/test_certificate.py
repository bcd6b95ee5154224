"""The button under a certified number: it proves the number and hands out the file, or says why there is none."""

from __future__ import annotations

import pytest

from dpcore.app import certificate
from tests.app import visits

COMPOSITION = visits.Page("pages/2_Composition.py", "Composition")


def test_the_comparison_offers_a_proof() -> None:
    app = COMPOSITION.opened(mechanism="laplace(0.1)", k="1000")
    app.button(key="composition_certify").click().run()
    words = visits.unescaped([str(block.value) for block in app.markdown])
    assert "Proved: " in words
    assert "<= epsilon(1e-06) <=" in words
    assert "for laplace(0.1)^1000" in words
    assert not app.exception


def test_the_file_is_what_the_checker_reads() -> None:
    import json

    from dpcore_verify import verify

    claim, text = certificate._certified("(dp(0.6, 0.05))^5", 0.3)
    assert verify(json.loads(text)) == claim


def test_a_region_without_a_proof_says_so_at_once() -> None:
    app = COMPOSITION.opened(mechanism="rdp(2, 0.1)", k="2")
    assert any("No certificate" in str(caption.value) for caption in app.caption)
    assert "composition_certify" not in {button.key for button in app.button}


def test_claimed_and_true_offers_a_proof_where_it_says_certified() -> None:
    page = visits.Page("pages/10_Claimed_and_true.py", "Claimed and true")
    app = page.opened(claimed_mechanism="poisson_gaussian(2, 0.01)", claimed_k="300")
    assert "(certified)" in visits.said(app)
    app.button(key="claimed_certify").click().run(timeout=60)
    assert "Proved: " in visits.said(app)


@pytest.mark.long
def test_private_training_offers_a_proof() -> None:
    app = visits.Page("pages/18_Private_training.py", "Private training").opened()
    app.button(key="training_certify").click().run(timeout=120)
    assert any("Proved: " in str(block.value) for block in app.markdown)
