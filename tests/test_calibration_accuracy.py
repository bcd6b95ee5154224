"""Calibration by an error: the most private value whose noise stays within it, against closed forms and sums."""

from __future__ import annotations

import math

import pytest

from dpcore.calibration import epsilon_for_error
from dpcore.core.errors import DomainError
from dpcore.language import parse


def geometric_tail(epsilon: float, error: float, sensitivity: float = 1.0) -> float:
    """P(|noise| > error) = 2 r^m / (1 + r), r = e^(-epsilon / sensitivity), m the next integer above."""
    rate = epsilon / sensitivity
    return 2.0 * math.exp(-rate * (math.floor(error) + 1)) / (1.0 + math.exp(-rate))


class TestAccuracy:
    @pytest.mark.parametrize(
        ("mechanism", "tail", "better"),
        [
            ("laplace", lambda epsilon, error: math.exp(-epsilon * error), -1),
            ("geometric", geometric_tail, -1),
            ("gaussian", lambda sigma, error: math.erfc(error / sigma / math.sqrt(2)), 1),
            ("uniform", lambda halfwidth, error: max(0.0, 1.0 - error / halfwidth), 1),
        ],
    )
    @pytest.mark.parametrize(("error", "probability"), [(2.0, 0.05), (7.0, 1e-9), (0.5, 0.9)])
    def test_the_most_private_value(
        self, mechanism: str, tail: object, better: int, error: float, probability: float
    ) -> None:
        found = epsilon_for_error(mechanism, error, probability)
        assert callable(tail)
        assert tail(found.value, error) <= probability * (1 + 1e-14)
        assert tail(found.value * (1 + better * 1e-9), error) > probability
        parse(found.expression)
        assert found.words.startswith(f"With {found.parameter} = ")

    def test_geometric_tail_by_summation(self) -> None:
        r = math.exp(-0.3 / 2)
        mass = [(1 - r) / (1 + r) * r ** abs(n) for n in range(-400, 401)]
        beyond = sum(m for n, m in zip(range(-400, 401), mass, strict=True) if abs(n) > 3)
        assert geometric_tail(0.3, 3.7, 2) == pytest.approx(beyond, rel=1e-12)

    @pytest.mark.parametrize("mechanism", ["laplace", "geometric", "gaussian", "uniform", "staircase"])
    @pytest.mark.parametrize(("error", "probability"), [(1e-3, 1e-300), (1e9, 0.999999), (3.0, 1 - 1e-15)])
    def test_rare_and_certain_errors_have_an_answer(self, mechanism: str, error: float, probability: float) -> None:
        """A search by single roundings never ended for probabilities next to 1."""
        parse(epsilon_for_error(mechanism, error, probability).expression)

    def test_what_no_noise_can_keep_is_refused(self) -> None:
        with pytest.raises(DomainError, match="No laplace noise keeps the error"):
            epsilon_for_error("laplace", 1e-9, 1e-300)

    def test_sensitivity(self) -> None:
        once = epsilon_for_error("laplace", 2, 0.05).value
        assert epsilon_for_error("laplace", 2, 0.05, sensitivity=3).value == pytest.approx(3 * once, rel=1e-12)

    @pytest.mark.parametrize(
        ("arguments", "keywords"),
        [
            (("laplas", 1.0), {}),
            (("laplace", 0.0), {}),
            (("laplace", math.nan), {}),
            (("laplace", True), {}),
            (("laplace", 1.0, 0.0), {}),
            (("laplace", 1.0, 1.0), {}),
            (("geometric", 1.0, 0.1), {"sensitivity": 1.5}),
        ],
    )
    def test_bad_input(self, arguments: tuple[object, ...], keywords: dict[str, float]) -> None:
        with pytest.raises(DomainError):
            epsilon_for_error(*arguments, **keywords)  # type: ignore[arg-type]  # wrong on purpose
