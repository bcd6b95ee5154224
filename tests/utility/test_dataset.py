"""Numbers and text are told apart: a query about numbers refuses a column of answers."""

from __future__ import annotations

import pytest

from dpcore.core.errors import DomainError
from dpcore.utility import pair
from dpcore.utility.dataset import Dataset


@pytest.mark.parametrize("name", ["mean_laplace", "mean_gaussian"])
def test_text_has_no_mean(name: str) -> None:
    data = Dataset.coded([0, 1, 1, 2], ("HR", "Sales", "IT"), "department")
    with pytest.raises(DomainError, match="'department' holds answers such as 'HR': choose a column of numbers"):
        pair(name).answer(data)
