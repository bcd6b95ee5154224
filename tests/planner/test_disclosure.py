"""The disclosure check: classes, generalisation, PRAM and noise on one's own table, each by a second route."""

from __future__ import annotations

import itertools
import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from dpcore.cli.program import main
from dpcore.core.errors import DomainError
from dpcore.files.csv_writer import read_frame
from dpcore.files.matrices import NamedMatrix, read_matrix
from dpcore.files.microdata import Microdata, read_microdata
from dpcore.files.sheet import open_csv
from dpcore.planner.disclosure import (
    ColumnNoise,
    Pram,
    Protection,
    corrected,
    equivalence_classes,
    generalised,
    noise,
    noise_frame,
    pram,
    rules_of,
    summary,
    transition,
)
from dpcore.planner.disclosure.chance import uniforms

if TYPE_CHECKING:
    from pathlib import Path

TOY = "age,zip,job,diagnosis\n31,01067,nurse,flu\n34,01067,doctor,flu\n38,01069,clerk,cold\n45,01097,clerk,=cmd()\n47,01099,nurse,flu\n49,01097,,cold\n"


def table_of(text: str) -> Microdata:
    return read_microdata(open_csv(text.encode()))


def random_frame(rng: np.random.Generator) -> pd.DataFrame:
    """Return a table with a few columns of few values, some of them missing, as texts."""
    rows = int(rng.integers(1, 80))
    columns = {}
    for place in range(int(rng.integers(2, 5))):
        words = rng.choice(["A", "B", "C", "12", "12.0", "", "NA"], int(rng.integers(1, 7)), replace=False)
        columns[f"c{place}"] = rng.choice(words, rows)
    return pd.DataFrame({**columns, "secret": rng.choice(["x", "y", "z", ""], rows)}).astype(str)


@pytest.mark.parametrize("seed", range(20))
def test_numbers_equal_a_groupby(seed: int) -> None:
    """The second implementation: pandas groups texts by their own values, and counts per group."""
    frame = random_frame(np.random.default_rng(seed))
    quasi = [name for name in frame.columns if name != "secret"]
    data = table_of(frame.to_csv(index=False))
    assert data.frame().equals(frame), "nothing is lost or changed by reading"
    classes = equivalence_classes(data, quasi, ["secret"])
    groups = frame.groupby(quasi, dropna=False)["secret"]
    sizes = groups.size()
    assert classes.k == sizes.min()
    assert classes.uniques == (sizes == 1).sum()
    assert len(classes.sizes) == len(sizes)
    assert classes.below(5) == sizes[sizes < 5].sum()
    known = {key: part[part != ""].value_counts() for key, part in groups}
    shares = {key: counts / counts.sum() for key, counts in known.items()}
    assert classes.diversity["secret"].distinct.min() == min(max(1, len(counts)) for counts in known.values())
    entropy = {key: math.exp(-(share * np.log(share)).sum()) for key, share in shares.items()}
    assert classes.diversity["secret"].entropy.min() == pytest.approx(min(entropy.values()))
    assert classes.diversity["secret"].top.max() == pytest.approx(
        max(share.max() if len(share) else 0.0 for share in shares.values())
    )
    exposed = sum(len(groups.get_group(key)) for key, counts in known.items() if len(counts) == 1)
    assert classes.exposed("secret") == exposed
    rows = classes.frame.set_index(quasi)
    assert rows["size"].is_monotonic_increasing
    for key, part in groups:
        row = rows.loc[key if len(quasi) > 1 else key[0]]
        own = row if isinstance(row, pd.Series) else row.iloc[0]
        assert own["size"] == len(part)
        assert own["distinct secret"] == max(1, len(known[key]))
        assert own["entropy secret"] == pytest.approx(entropy[key])
    measures = summary(classes).set_index(["measure", "column"])["value"]
    assert measures[("k", " and ".join(quasi))] == sizes.min()
    assert measures[("risk_average", " and ".join(quasi))] == pytest.approx(
        (1 / sizes.loc[sizes.index]).pipe(lambda s: (s * sizes).sum()) / len(frame)
    )


def test_a_column_of_the_file_may_be_called_size() -> None:
    data = table_of("size,town\n1,A\n1,A\n2,B\n")
    frame = equivalence_classes(data, ["size", "town"]).frame
    assert frame.columns.tolist() == ["size", "town", "size (measured)"]
    assert frame["size (measured)"].tolist() == [1, 2]


def test_intervals_place_decimals_exactly() -> None:
    """In doubles 0.3 / 0.1 is below 3, and 0.7 / 0.1 is below 7."""
    cells = [f"{i / 10:.1f}" for i in range(-12, 30)]
    data = table_of("x\n" + "\n".join(cells) + "\n")
    coarse = generalised(data, rules_of("x:0.1", data)).frame()["x"].tolist()
    starts = [float(text[1:].split(",")[0]) for text in coarse]
    assert starts == [float(cell) for cell in cells]
    shifted = generalised(data, rules_of("x:1@0.5", data)).frame()["x"].tolist()
    assert shifted[cells.index("0.5")] == "[0.5, 1.5)"
    assert shifted[cells.index("0.4")] == "[-0.5, 0.5)"


@pytest.mark.parametrize(
    ("rules", "column", "result"),
    [
        ("age:10", "age", ["[30, 40)"] * 3 + ["[40, 50)"] * 3),
        ("age:35|46", "age", ["<35", "<35", "[35, 46)", "[35, 46)", ">=46", ">=46"]),
        ("zip:3*", "zip", ["010**"] * 6),
        ("zip:3", "zip", ["010**"] * 6),
        ("zip:*", "zip", ["*"] * 6),
        ("job:2", "job", ["nu***", "do****", "cl***", "cl***", "nu***", ""]),
        ("job:medical=nurse|doctor", "job", ["medical", "medical", "other", "other", "medical", ""]),
    ],
)
def test_rules(rules: str, column: str, result: list[str]) -> None:
    data = table_of(TOY)
    coarse = generalised(data, rules_of(rules, data))
    assert coarse.frame()[column].tolist() == result
    untouched = [name for name in data.names if name != column]
    assert coarse.frame()[untouched].equals(data.frame()[untouched])


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ("age", "column:how"),
        ("ages:10", "did you mean age"),
        ("age:ten", "cannot be read"),
        ("age:0", "width of intervals must be"),
        ("age:40|30", "must rise"),
        ("job:10@0", "Row 1: column 'job' must hold a number"),
        ("job:a=nurse;b=nurse", "'nurse' in two"),
        ("job:=nurse", "A group is name=answer"),
        ("age:5,age:10", "each column once"),
        (
            "huge:0.1",
            r"Row 1: column 'huge' must hold a number, because it becomes intervals \(of a size up to 1e15\), got '1e308'",
        ),
    ],
)
def test_rules_that_cannot_be_read(rules: str, words: str) -> None:
    data = table_of(TOY if not rules.startswith("huge") else "huge\n1e308\n")
    with pytest.raises(DomainError, match=words):
        generalised(data, rules_of(rules, data))


def test_coarser_columns_never_split_a_class() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"age": rng.integers(0, 90, 400), "zip": rng.integers(10_000, 10_400, 400)})
    data = Microdata.of_frame(frame)
    sizes = [
        equivalence_classes(generalised(data, rules_of(text, data)), ["age", "zip"]).sizes
        for text in ("", "age:5", "age:10", "age:10,zip:3*", "age:*,zip:*")
    ]
    assert [len(part) for part in sizes] == sorted((len(part) for part in sizes), reverse=True)
    assert len(sizes[-1]) == 1
    assert all(part.sum() == 400 for part in sizes)


# ---- PRAM ----------------------------------------------------------------------------------------------------------


def test_pram_by_enumeration() -> None:
    """Every release of four records with its probability: mean, covariance and corrected counts are exact."""
    channel = transition(NamedMatrix(((0.7, 0.2, 0.1), (0.25, 0.5, 0.25), (0.0, 0.3, 0.7)), ("a", "b", "c")))
    data = table_of("x\na\nb\nb\nc\n")
    one = Pram.of(data, "x", channel)
    letters = [0, 1, 1, 2]
    mean, square, fixed, fixed_square, covariance = (
        np.zeros(3),
        np.zeros((3, 3)),
        np.zeros(3),
        np.zeros((3, 3)),
        np.zeros((3, 3)),
    )
    for outcome in itertools.product(range(3), repeat=4):
        chance = math.prod(channel.rows[letter][answer] for letter, answer in zip(letters, outcome, strict=True))
        released = np.bincount(outcome, minlength=3).astype(float)
        counts, estimated = corrected(channel, released)
        mean += chance * released
        square += chance * np.outer(released, released)
        fixed += chance * counts
        fixed_square += chance * np.outer(counts, counts)
        covariance += chance * estimated
    assert one.expected == pytest.approx(mean)
    assert one.bias == pytest.approx(mean - [1, 2, 1])
    assert one.covariance == pytest.approx(square - np.outer(mean, mean))
    assert fixed == pytest.approx([1, 2, 1]), "corrected counts are unbiased"
    assert one.corrected_covariance == pytest.approx(fixed_square - np.outer(fixed, fixed))
    assert covariance == pytest.approx(one.corrected_covariance), "a data user estimates it without bias"
    frame = one.frame()
    assert frame["sd_corrected"].to_numpy() == pytest.approx(np.sqrt(np.diag(one.corrected_covariance)))
    assert one.covariance_frame().iloc[:, 1:].to_numpy() == pytest.approx(one.corrected_covariance)


def test_epsilon_of_a_matrix_by_brute_force() -> None:
    rng = np.random.default_rng(8)
    for size in (2, 3, 5):
        rows = rng.dirichlet(np.ones(size), size)
        channel = transition(NamedMatrix(tuple(map(tuple, rows.tolist())), tuple("abcde"[:size])))
        brute = max(
            math.log(rows[k, column] / rows[other, column])
            for column in range(size) for k in range(size) for other in range(size)
        )  # fmt: skip
        assert channel.epsilon == pytest.approx(brute, rel=1e-12)
        plan = Protection((), pram=("x", channel))
        row = plan.statements().iloc[0]
        assert row["epsilon"] >= brute
        assert row["epsilon"] == pytest.approx(brute, rel=1e-13)
        region = plan.regions()["PRAM on x"]
        assert float(np.ravel(region.delta_bounds(brute + 1e-9)[1])[0]) <= 1e-12
        assert float(np.ravel(region.delta_bounds(brute * 0.9)[0])[0]) > 0


def test_pram_draws_by_its_matrix() -> None:
    channel = pram(0.6, ("no", "yes", "maybe"))
    data = table_of("x\n" + "no\n" * 30_000 + "yes\n" * 10_000)
    one = Pram.of(data, "x", channel)
    drawn = one.release(np.random.default_rng(1))
    counts = np.array([drawn.counts[drawn.texts.index(name)] for name in channel.letters])
    assert np.all(np.abs(counts - one.expected) < 4 * np.sqrt(np.diag(one.covariance)))
    stays = np.mean(np.array(drawn.texts)[drawn.codes[:30_000]] == "no")
    assert stays == pytest.approx(0.6, abs=4 * math.sqrt(0.24 / 30_000))
    again = one.release(None), one.release(None)
    assert not np.array_equal(again[0].codes, again[1].codes), "chance comes from the operating system"


def test_a_matrix_without_inverse_has_no_correction() -> None:
    data = table_of("x\na\nb\n")
    one = Pram.of(data, "x", pram(0.5, ("a", "b")))
    assert one.channel.epsilon == 0.0
    assert "sd_corrected" not in one.frame()
    with pytest.raises(DomainError, match="no inverse"):
        one.covariance_frame()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (",a,b\na,0.7,0.2\nb,0.5,0.5\n", "Row 'a' of the matrix must hold probabilities that add up to 1, got a sum of 0.8999"),
        (",a,b\na,1.2,-0.2\nb,0.5,0.5\n", "Row 'a' .* got the entry 1.2"),
        ("a,b,c\n0.5,0.5,0\n", "must be square, got 1 row of 3 numbers"),
        ("0.5,0.5,0\n0.5,0.5,0\n", "must be square, got 2 rows of 3 numbers"),
        (",a,b\na,0.5,x\nb,0.5,0.5\n", "got 'x' in row 1, column 2"),
        (",a,b\na,0.5,0.5\nc,0.5,0.5\n", "'c' on the left"),
        ("0.5,0.5\n0.5,0.5\n", "needs a category for each of its 2 rows, got 0"),
    ],
)  # fmt: skip
def test_matrices_that_are_none(text: str, words: str) -> None:
    with pytest.raises(DomainError, match=words):
        transition(read_matrix(open_csv(text.encode())))


def test_matrices_with_and_without_names() -> None:
    plain = read_matrix(open_csv(b"0.7;0,3\n0,4;0.6\n"))
    assert plain == NamedMatrix(((0.7, 0.3), (0.4, 0.6)))
    above = read_matrix(open_csv(b"a,b\n0.7,0.3\n0.4,0.6\n"))
    both = read_matrix(open_csv(b",a,b\nb,0.4,0.6\na,0.7,0.3\n"))
    assert above == both == NamedMatrix(((0.7, 0.3), (0.4, 0.6)), ("a", "b"))
    numbers = read_matrix(open_csv(b",0,1\n0,0.7,0.3\n1,0.4,0.6\n"))
    assert numbers.names == ("0", "1")


# ---- noise ---------------------------------------------------------------------------------------------------------


def test_expected_groups_by_adding_shares() -> None:
    rng = np.random.default_rng(5)
    for a, r in ((1.0, 2.0), (2.0, 1.0), (2.5, 2.5), (0.3, 4.0)):
        data, points = np.round(rng.normal(10, 3, 60), 1), np.linspace(0, 20, 41)
        distance = np.abs(points[:, None] - data)
        room = np.minimum(a, r - distance) - np.maximum(-a, -r - distance)  # of x + U[-a, a] within r of the point
        brute = np.maximum(0.0, room / (2 * a)).sum(axis=1)
        assert noise.expected_near(points, data, a, r) == pytest.approx(brute, abs=1e-11)


def test_errors_of_noise_by_simulation() -> None:
    rng = np.random.default_rng(6)
    data = table_of("x\n" + "\n".join(f"{value:.2f}" for value in rng.gamma(3, 10, 500)) + "\n")
    values = data.numbers("x")
    for one in (ColumnNoise("x", "k-noise", 4.0), ColumnNoise("x", "k-PRAM", 10.0, 5.0)):
        row = noise_frame(data, [one]).iloc[0]
        off = np.array([values - one.release(values, rng) for _ in range(400)])
        assert off.mean() == pytest.approx(row["bias"], abs=4 * row["bias_error"] / 20)
        squares = (off * off).mean(axis=1)
        assert squares.mean() == pytest.approx(row["mse"], abs=4 * squares.std() / 20)
        assert off.mean(axis=1).std() == pytest.approx(row["bias_error"], rel=0.2)
    assert noise_frame(data, [ColumnNoise("x", "k-PRAM", 10.0, 5.0)])["k"].item() == int(
        pd.Series(np.ceil((values - 5) / 10)).value_counts().min()
    )


def test_released_numbers_tell_no_low_digits() -> None:
    """With all digits the last bits of x + U would tell x: only the digits of the noise are released."""
    values = np.array([1.0, 2.0, 3.0] * 200)
    drawn = ColumnNoise("x", "k-noise", 2.5).release(values, np.random.default_rng(0))
    assert np.array_equal(drawn, np.round(drawn, 3))
    assert np.abs(drawn - values).max() <= 2.5 + 5e-4


def test_uniform_numbers() -> None:
    drawn = uniforms(100_000)
    assert 0 <= drawn.min() < drawn.max() < 1
    assert drawn.mean() == pytest.approx(0.5, abs=4 / math.sqrt(12 * 100_000))
    assert np.array_equal(drawn, np.floor(drawn * 2**53) / 2**53)


# ---- protection ----------------------------------------------------------------------------------------------------


def test_small_classes_are_left_out() -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"a": rng.integers(0, 12, 100), "b": rng.integers(0, 4, 100)})
    data = Microdata.of_frame(frame)
    plan = Protection(("a", "b"), suppress=3)
    released = plan.release(data)
    sizes = frame.astype(str).groupby(["a", "b"])["a"].transform("size")
    assert released.equals(frame.astype(str)[sizes >= 3].reset_index(drop=True))
    assert equivalence_classes(Microdata.of_frame(released), ["a", "b"]).k >= 3
    with pytest.raises(DomainError, match="no row would be left"):
        Protection(("a", "b"), suppress=50).release(data)


def test_rows_are_those_of_the_file_after_some_are_left_out() -> None:
    data = table_of("town,pay\nA,1\n\nB,2\nB,old\n")
    plan = Protection(("town",), suppress=2, noises=(ColumnNoise("pay", "k-noise", 2.0),))
    with pytest.raises(DomainError, match="Row 4: column 'pay' must hold a number, got 'old'"):
        plan.release(data)


def test_a_column_is_protected_in_one_way() -> None:
    data = table_of(TOY)
    with pytest.raises(DomainError, match="'age' gets noise and something else"):
        Protection((), rules=rules_of("age:10", data), noises=(ColumnNoise("age", "k-noise", 2.0),))


# ---- the command ---------------------------------------------------------------------------------------------------


def shown(capsys: Any, *words: str) -> tuple[int, pd.DataFrame, str]:
    code = main(["disclosure", *words])
    streams = capsys.readouterr()
    return code, read_frame(streams.out) if streams.out else pd.DataFrame(), streams.err


@pytest.fixture
def toy(tmp_path: Path) -> str:
    path = tmp_path / "toy.csv"
    path.write_text(TOY, encoding="utf-8")
    return str(path)


def test_the_command_checks_and_protects(capsys: Any, toy: str, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    rules = ("--generalise", "zip:3*", "--k-noise", "age:2.5", "--pram", "job", "--keep", "0.8")
    declared = ("--categories", "nurse,doctor,clerk,", "--quasi", "zip", "--sensitive", "diagnosis")
    code, _, err = shown(capsys, toy, *rules, *declared, "-o", str(out))
    assert code == 2
    assert "none of them empty" in err
    code, _, err = shown(capsys, toy, *rules, "--categories", "nurse,doctor,clerk", "--quasi", "zip", "-o", str(out))
    assert (code, out.exists()) == (2, False)
    assert "Row 6: column 'job' must hold one of the categories" in err
    code, table, err = shown(
        capsys, toy, "--quasi", "age,zip", "--sensitive", "diagnosis", "--generalise", "age:10,zip:3*", "-o", str(out)
    )
    assert code == 0
    values = table.set_index(["table", "measure"])["value"]
    assert (values["as read", "k"], values["generalised", "k"], values["generalised", "l"]) == (1, 3, 2)
    assert "no privacy region" in err
    text = out.read_text(encoding="utf-8")
    assert "'=cmd()" in text, "a formula is made safe"
    assert read_frame(text)["diagnosis"].tolist() == ["flu", "flu", "cold", "=cmd()", "flu", "cold"]


def test_the_same_seed_gives_the_same_table(capsys: Any, toy: str, tmp_path: Path) -> None:
    words = ("--pram", "diagnosis", "--keep", "0.5", "--k-pram", "age:10", "--view", "regions")
    files = [tmp_path / name for name in ("a.csv", "b.csv", "c.csv")]
    for file, seed in zip(files, (("--seed", "7"), ("--seed", "7"), ()), strict=True):
        code, table, err = shown(capsys, toy, *words, "-o", str(file), *seed)
        assert code == 0
        assert ("undo the protection" in err) == bool(seed)
        assert table["delta"].tolist() == [0, 0, 1]
    assert files[0].read_bytes() == files[1].read_bytes() != files[2].read_bytes()


@pytest.mark.parametrize(
    ("content", "words", "message"),
    [
        ("age,town\nold,A\n", ("--quasi", "age", "--generalise", "age:10@0"), "Row 1: column 'age' must hold a number"),
        ("age,town\n31,A\n3 5,A\n", ("--quasi", "age", "--generalise", "age:10"), "Row 2: column 'age' .* got '3 5'"),
        ("age;town\n31,5;A\n32.5;A\nx;A\n", ("--quasi", "age", "--generalise", "age:10"), "Row 3: .* got 'x'"),
        (
            "age,town\n31,A\n,A\n",
            ("--quasi", "age", "--k-noise", "age:2", "--view", "noise"),
            "Row 2: .* a missing value",
        ),
        ("age,town\n", ("--quasi", "age"), "0 rows"),
        ("age,town\n31,A\n", ("--quasi", "years"), "no column 'years'"),
        ("age,town\n31,A\n", ("--quasi", "age", "--sensitive", "age"), "as both"),
        ("age,town\n31,A\n", ("--quasi", "age", "--keep", "0.5"), "belong to PRAM"),
        ("age,town\n31,A\n", ("--quasi", "age", "--pram", "town"), "either a matrix or the probability"),
        ("age,town\n31,A\n", ("--quasi", "age", "--k-noise", "age"), "method, column and size"),
        ("age,town\n31,A\n", ("--view", "pram"), "needs --pram"),
        ("age,town\n31,A\n", (), "--quasi names the columns"),
    ],
)
def test_bad_files_and_options(capsys: Any, tmp_path: Path, content: str, words: tuple[str, ...], message: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(content, encoding="utf-8")
    code, table, err = shown(capsys, str(path), *words)
    assert (code, len(table)) == (2, 0)
    line = [text for text in err.splitlines() if text.startswith("error")]
    assert len(line) == 1
    assert re.search(message, line[0]), line[0]


def test_one_row_and_a_constant_column(capsys: Any, tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("age,town\n31,A\n", encoding="utf-8")
    _, table, _ = shown(capsys, str(path), "--quasi", "age", "--sensitive", "town")
    values = table.set_index("measure")["value"]
    assert (values["k"], values["uniques"], values["exposed"], values["l_entropy"]) == (1, 1, 1, 1)
    path.write_text("age,town\n" + "31,A\n" * 9, encoding="utf-8")
    _, table, _ = shown(capsys, str(path), "--quasi", "age", "--k-noise", "age:2", "--view", "noise")
    assert (table["k"].item(), table["bias"].item()) == (9, 0)


def test_decimal_commas_and_empty_lines() -> None:
    data = table_of("age;town\n31,5;A\n\n32.5;B\n;\nx;C\n")
    assert data.rows == 3
    assert data.notes[-1] == "2 empty lines were left out."
    with pytest.raises(DomainError, match="Row 5: column 'age' must hold a number, got 'x'"):
        data.numbers("age")
    coarse = table_of("age;town\n31,5;A\n32.5;B\n")
    assert coarse.numbers("age").tolist() == [31.5, 32.5]
