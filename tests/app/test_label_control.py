"""The pages that know what is released offer its label."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from dpcore.app.label_control import label_page
from dpcore.ledger import Ledger
from tests.site.test_whole import Reader


def _script() -> None:
    from dpcore.app.label_control import offer_label
    from dpcore.ledger import Ledger

    offer_label(Ledger.of(("counts", "laplace(0.1)", 10)), key="label", delta=1e-6, epsilon=2.0)


def test_the_control_shows_a_download() -> None:
    at = AppTest.from_function(_script).run()
    assert not at.exception
    assert [one.proto.label for one in at.get("download_button")] == ["Label as HTML"]


def test_the_label_of_a_ledger_needs_nothing_else() -> None:
    page = label_page(Ledger.of(("counts", "gaussian(5)", 10), relation="substitution"), 1e-6).decode()
    tags = Reader(page).tags
    assert not any(tag == "script" for tag, _ in tags)
    assert "substitution" in page
    assert page.count("<td>open</td>") > 10


def test_a_label_without_a_budget_shows_none() -> None:
    one = Ledger.of(("counts", "gaussian(5)", 10))
    page = label_page(one, 1e-6).decode()
    assert "no budget is stated" in page
    assert "under budget" not in page
    assert "of 100 under ledger" not in page, "a single curve needs no name in the sentence"
    assert ">budget<" not in page
    assert "for one release." in page
    assert "the one row of the ledger is;" in page
    with_budget = label_page(Ledger.of(("a", "gaussian(5)", 10), ("b", "laplace(0.1)", 1)), 1e-6, 3.0).decode()
    assert ">budget<" in with_budget
    assert 'for all <span class="value">2</span> releases together.' in with_budget
    assert "2 rows of the ledger are;" in with_budget
