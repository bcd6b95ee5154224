"""Every number that a caption of the gallery says, by a formula of its own, and rounded to the safe side."""

from __future__ import annotations

import math
import re

import pytest
from scipy.special import ndtr

from tests.specs.test_gallery import (
    E1,
    E6,
    ETA,
    LAP,
    MU,
    SPECS,
    STAIRCASES,
    composed,
    gaussian,
    histogram_variation,
    missed,
)

UP, DOWN = 1, -1

NUMBERS: dict[str, list[tuple[str, float, int]]] = {
    "thesis_2_1": [("0.3366", 0.95 / (1 + E6), DOWN), ("0.3268", 0.05 + 0.95 * math.tanh(0.3), UP)],
    "thesis_2_2": [
        ("(0.6, 0.4717)", composed(0.6, 0.05, None, 5, 1), UP),
        ("(1.8, 0.2869)", composed(0.6, 0.05, None, 5, 3), UP),
        ("(3, 0.2263)", 1 - 0.95**5, UP),
        ("0.3268", 0.05 + 0.95 * math.tanh(0.3), UP),
        ("0.6256", composed(0.6, 0.05, None, 5, 0), UP),
    ],
    "thesis_2_3": [
        ("0.6283", 0.75 - 0.1 / (E6 - 1), DOWN),
        ("0.1216", 0.1 / (E6 - 1), DOWN),
        ("0.3977", 0.15 + 0.85 * math.tanh(0.3), UP),
    ],
    "thesis_2_4": [
        ("0.5101", composed(0.6, 0.05, 0.2, 5, 0), UP),
        ("0.6256", composed(0.6, 0.05, None, 5, 0), UP),
        ("0.3759", composed(0.6, 0.05, 0.2, 5, 1), UP),
        ("0.4717", composed(0.6, 0.05, None, 5, 1), UP),
    ],
    "thesis_2_5": [("0.1586", float(ndtr(-1)), DOWN), ("0.3830", gaussian(0, 1), UP)],
    "thesis_3_1": [
        ("0.3268", 0.05 + 0.95 * math.tanh(0.3), UP),
        ("0.3109", gaussian(0, 0.8), UP),
        ("0.2592", 1 - math.exp(-0.3), UP),
        ("0.6256", composed(0.6, 0.05, None, 5, 0), UP),
    ],
    "thesis_3_2": [("0.8083", 2 * math.log(12.5) * 10**2 / (50**2 * 0.5**2), UP)],
    "thesis_3_2_region": [
        ("0.2225", MU, UP),
        ("0.0886", gaussian(0, MU), UP),
        ("0.3205", 0.1 + 0.9 * math.tanh(0.25), UP),
    ],
    "thesis_3_4": [("0.7588", 0.85 - E6 * 0.05, DOWN)],
    "thesis_3_5": [("0.7588", 0.85 - E6 * 0.05, DOWN), ("0.5575", missed(1.5), DOWN), ("0.5468", gaussian(0, 1.5), UP)],
    "thesis_3_6": [("0.3109", gaussian(0, 0.8), UP), ("0.8009", missed(0.8), DOWN), ("0.7588", 0.85 - E6 * 0.05, DOWN)],
    "thesis_3_7": [("0.8009", missed(0.8), DOWN)],
    "thesis_3_8": [
        ("0.2592", 1 - math.exp(-0.3), UP),
        ("0.2744", math.exp(-0.6) / 2, DOWN),
        ("0.3704", math.exp(-0.3) / 2, DOWN),
    ],
    "thesis_3_9": [
        *((f"({text}", composed(0.6, 0.05, None, 5, j), UP) for j, text in ((1, "0.6, 0.4717"), (3, "1.8, 0.2869"))),
        *(
            (f"({text})", composed(0.6, 0.05, 0.15, 5, j), UP)
            for j, text in enumerate(
                ("0, 0.4543", "0.6, 0.3187", "1.2, 0.2506", "1.8, 0.2299", "2.4, 0.2265", "3, 0.2263")
            )
        ),
    ],
    "thesis_3_9_statements": [
        ("0.8464", 0.25 + 0.75 * (math.exp(3) - math.exp(1.2)) / (1 + math.exp(3)), UP),
        ("0.4062", composed(0.6, 0.05, None, 5, 2), UP),
        ("0.2506", composed(0.6, 0.05, 0.15, 5, 2), UP),
    ],
    "thesis_3_11": [("320", 8 * 10 / 0.5**2, UP)],
    "thesis_3_11_region": [
        ("0.1239", histogram_variation(0.5), UP),
        ("0.2212", 1 - math.exp(-0.25), UP),
        ("0.2450", math.tanh(0.25), UP),
    ],
    "thesis_3_12": [("0.000112", 30 * math.exp(-12.5), UP)],
    "thesis_3_12_region": [("0.1244", math.tanh(0.125), UP), ("0.2450", math.tanh(0.25), UP)],
    "thesis_3_13": [("0.8852", 5 / (math.exp(0.5) + 4), UP), ("0.7082", 4 / (math.exp(0.5) + 4), UP)],
    "thesis_3_13_region": [("0.1149", math.expm1(0.5) / (math.exp(0.5) + 4), UP), ("0.2450", math.tanh(0.25), UP)],
    "thesis_4_1": [
        ("(0, 0.36)", 1 - 0.8**2, UP),
        ("(0.6, 0.24)", 1 - 0.95 * 0.8, UP),
        ("(1.2, 0.0975)", 1 - 0.95**2, UP),
        ("(0, 0.3053)", composed(0.6, 0.05, 0.2, 2, 0), UP),
        ("(0.6, 0.1474)", composed(0.6, 0.05, 0.2, 2, 1), UP),
    ],
    "tv_paper_1": [("0.2420", 0.9 / (1 + E1), DOWN), ("0.5160", 0.1 + 0.9 * math.tanh(0.5), UP)],
    "tv_paper_2": [
        ("0.4254", 0.6 - 0.3 / (E1 - 1), DOWN),
        ("0.1745", 0.3 / (E1 - 1), DOWN),
        ("0.5160", 0.1 + 0.9 * math.tanh(0.5), UP),
    ],
    "tv_paper_3": [("0.3935", LAP, UP), ("0.3032", math.exp(-0.5) / 2, DOWN), ("0.1839", 1 / (2 * E1), DOWN)],
    "tv_paper_4a": [("0.3235", ETA, UP), ("0.4622", math.tanh(0.5), UP)],
    "tv_paper_4b": [
        *(
            (text, composed(1, 0, ETA, 5, j), UP)
            for j, text in enumerate(("0.6311", "0.4327", "0.2394", "0.0954", "0.0222"))
        ),
        ("0.5372", composed(1, 0, None, 5, 1), UP),
        ("0.1806", composed(1, 0, None, 5, 3), UP),
        ("0.7511", composed(1, 0, None, 5, 0), UP),
    ],
    "tv_paper_5": [
        ("0.0596", 1 / (2 * (math.exp(2) + 1)), DOWN),
        ("0.0071", 1 / (2 * (math.exp(2) + 1) ** 2), DOWN),
    ],
    "tv_paper_6": [("0.4236", STAIRCASES["tv_paper_6"], UP)],
    "tv_paper_7": [("0.3901", STAIRCASES["tv_paper_7"], UP)],
    "kov_1": [("0.3611", 0.9 / (1 + math.exp(0.4)), DOWN)],
    "kov_2_pure": [
        ("0.1974", math.tanh(0.2), UP),
        ("0.3606", composed(0.4, 0, None, 5, 0), UP),
        ("(0.4, 0.2034)", composed(0.4, 0, None, 5, 1), UP),
        ("(1.2, 0.0424)", composed(0.4, 0, None, 5, 3), UP),
    ],
    "kov_2_approximate": [
        ("(0.4, 0.5296)", composed(0.4, 0.1, None, 5, 1), UP),
        ("(1.2, 0.4346)", composed(0.4, 0.1, None, 5, 3), UP),
        ("(2, 0.40951)", 1 - 0.9**5, UP),
        ("0.2777", 0.1 + 0.9 * math.tanh(0.2), UP),
        ("0.6225", composed(0.4, 0.1, None, 5, 0), UP),
    ],
    "kov_2_statements": [
        ("0.1388", composed(0.4, 0, None, 5, 2), UP),
        ("0.4915", composed(0.4, 0.1, None, 5, 2), UP),
    ],
    "kov_3": [("0.4346", composed(0.4, 0.1, None, 5, 3), UP)],
    "course_densities": [("0.4598", 1 / (4 * E1 * 0.2), DOWN)],
    "course_response": [("0.01,", 0.25 / (100 * 0.25), UP), ("0.0075", 0.75 / (4 * 100 * 0.25), UP)],
    "course_threshold": [("0.3085", float(ndtr(-0.5)), DOWN)],
    "course_errors": [("0.25", 1 / (1 + 3), DOWN), ("0.3085", float(ndtr(-0.5)), DOWN)],
    "course_equal_error_rate": [
        ("0.2689", 1 / (1 + E1), DOWN),
        ("0.2420", 0.9 / (1 + E1), DOWN),
        ("0.3032", math.exp(-0.5) / 2, DOWN),
    ],
    "course_binary_median": [
        ("0.9568", 1 / (1 + math.exp(-(66 - 50.5) * 0.2)), DOWN),
        ("0.9608", 1 / (1 + math.exp(-(66 - 50) * 0.2)), DOWN),
        ("0.9980", 1 / (1 + math.exp(-(132 - 101) * 0.2)), UP),
    ],
    "course_laplace_curve": [
        ("0.2212", 1 - math.exp(-0.25), UP),
        ("0.3935", LAP, UP),
        ("0.6322", 1 - math.exp(-1), UP),
    ],
    "course_gaussian_curve": [
        ("0.5099", gaussian(1, 2), UP),
        ("0.1270", gaussian(1, 1), UP),
        ("0.0069", gaussian(1, 0.5), UP),
    ],
    "course_trade_off": [
        ("0.8738", missed(0.5), DOWN),
        ("0.7404", missed(1), DOWN),
        ("0.3612", missed(2), DOWN),
    ],
}
SAID = [(name, text, value, side) for name, found in NUMBERS.items() for text, value, side in found]


@pytest.mark.parametrize(("name", "text", "value", "side"), SAID, ids=[f"{one[0]}: {one[1]}" for one in SAID])
def test_a_number_in_a_caption_is_right_and_on_the_safe_side(name: str, text: str, value: float, side: int) -> None:
    assert text in SPECS[name]["caption"]
    said = text.strip("(),").split(", ")[-1]
    unit = 10.0 ** -len(said.partition(".")[2])
    assert -1e-12 <= side * (float(said) - value) < unit + 1e-12


def test_no_number_of_a_caption_goes_unchecked() -> None:
    for name, spec in SPECS.items():
        if name == "thesis_3_10":
            continue  # its distances are found from the drawn points
        checked = " ".join(text for text, _, _ in NUMBERS.get(name, []))
        given = {*re.findall(r"0\.\d{3,}", str({**spec, "caption": ""}))}
        assert {*re.findall(r"0\.\d{3,}", spec["caption"])} - given <= {*re.findall(r"0\.\d{3,}", checked)}, name
