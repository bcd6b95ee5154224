"""Make the sample datasets: invented people whose answers look like real ones. Seeded; a test runs it again."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

HERE = Path(__file__).resolve().parent
SEED = 1965  # the year of Warner's paper on randomized response
PEOPLE, STUDENTS, STAFF = 2000, 1500, 1200
MEMBERS, MONTHS = 80, 12
WEEKS = 60
# what each home's electricity owes to that of the four a week before, in hundredths: neighbours follow each other
HOMES = {"North": (55, 20, 0, 0), "East": (10, 50, 15, 0), "South": (0, 15, 45, 20), "West": (0, 0, 25, 50)}

# share of each five-year group, from 0-4 to 95-99, in thousandths: a population that grows slowly older
AGE_GROUPS = (49, 50, 52, 54, 60, 66, 70, 71, 67, 64, 66, 69, 64, 54, 46, 39, 29, 18, 9, 3)
# households of 1, 2, ... people, in hundredths, for those below 20, from 20 to 64, and above
HOUSEHOLDS = ((0, 10, 27, 39, 16, 5, 2, 1), (22, 33, 20, 17, 5, 2, 1, 0), (38, 50, 7, 3, 1, 1, 0, 0))
CHEATED = 0.22
TRANSPORT = {"walk": 0.16, "bicycle": 0.27, "bus": 0.21, "train": 0.26, "car": 0.10}
# share of each department in hundredths, and its pay in a first year
DEPARTMENTS = {
    "Administration": (12, 38_000),
    "Production": (38, 34_000),
    "Research": (14, 52_000),
    "Sales": (22, 41_000),
    "Support": (14, 36_000),
}
SATISFACTION = {1: 0.05, 2: 0.12, 3: 0.28, 4: 0.37, 5: 0.18}


def pick(rng: random.Random, values: list[str], weights: list[float]) -> str:
    """Return one value with chances in proportion to the weights, by one uniform number.

    Only ``random.Random.random`` is used: its numbers are the same in every version of Python.
    """
    place = rng.random() * sum(weights)
    for value, weight in zip(values, weights, strict=True):
        place -= weight
        if place < 0:
            return value
    return values[-1]


def person(rng: random.Random) -> list[str]:
    """Return the age and the size of the household of one person."""
    group = int(pick(rng, [str(i) for i in range(len(AGE_GROUPS))], [float(w) for w in AGE_GROUPS]))
    age = 5 * group + int(5 * rng.random())
    sizes = HOUSEHOLDS[(age >= 20) + (age >= 65)]
    return [str(age), pick(rng, [str(i + 1) for i in range(len(sizes))], [float(w) for w in sizes])]


def student(rng: random.Random) -> list[str]:
    """Return the answers of one student: cheated, transport, satisfaction, hours of study in a week."""
    cheated = rng.random() < CHEATED
    transport = pick(rng, list(TRANSPORT), list(TRANSPORT.values()))
    satisfied = pick(rng, [str(v) for v in SATISFACTION], list(SATISFACTION.values()))
    hours = 16.0 + 14.0 * (rng.random() + rng.random() + rng.random() - 1.5) - 3.0 * cheated + 1.5 * int(satisfied)
    return ["yes" if cheated else "no", transport, satisfied, f"{min(60.0, max(0.0, hours)):.1f}"]


def employee(rng: random.Random) -> list[str]:
    """Return the department, the salary in a year and the years of service of one employee; a few earn far more."""
    department = pick(rng, list(DEPARTMENTS), [float(share) for share, _ in DEPARTMENTS.values()])
    years = int(35 * rng.random() * rng.random())
    salary = DEPARTMENTS[department][1] * (1 + 0.025 * years) * (0.85 + 0.3 * rng.random())
    leads = rng.random() < 0.03
    return [department, str(100 * round(salary * (1.5 + 2.0 * rng.random() if leads else 1) / 100)), str(years)]


def table(header: list[str], rows: list[list[str]]) -> bytes:
    """Return a CSV file."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([header, *rows])
    return out.getvalue().encode()


def hours(rng: random.Random) -> list[list[str]]:
    """Return the hours of sport of every member in every month: each month three fifths of the last, and chance.

    Twelve uniform numbers minus 6 stand for a normal one: only additions, so every machine gives the same digits.
    """
    rows = []
    for member in range(1, MEMBERS + 1):
        value = 20.0
        for month in range(-11, MONTHS + 1):  # a year before the first month, so that the start is forgotten
            value = 8.0 + 0.6 * value + 4.0 * (sum(rng.random() for _ in range(12)) - 6.0)
            if month >= 1:
                rows.append([str(member), str(month), f"{min(60.0, max(0.0, value)):.1f}"])
    return rows


def electricity(rng: random.Random) -> list[list[str]]:
    """Return the electricity of four homes in every week: each follows its own last week and that of its neighbours, and the weather.

    As in `hours`, twelve uniform numbers stand for a normal one.
    """
    rows, values = [], [60.0] * len(HOMES)
    for week in range(-19, WEEKS + 1):  # twenty weeks before the first, so that the start is forgotten
        weather = 3.0 * (sum(rng.random() for _ in range(12)) - 6.0)
        shocks = [weather + 5.0 * (sum(rng.random() for _ in range(12)) - 6.0) for _ in HOMES]
        values = [
            18.0 + sum(share * value for share, value in zip(shares, values, strict=True)) / 100.0 + shock
            for shares, shock in zip(HOMES.values(), shocks, strict=True)
        ]
        if week >= 1:
            rows += [
                [home, str(week), f"{min(150.0, max(0.0, value)):.1f}"]
                for home, value in zip(HOMES, values, strict=True)
            ]
    return rows


def datasets() -> dict[str, bytes]:
    """Return file name -> content."""
    rng = random.Random(SEED)
    people = [person(rng) for _ in range(PEOPLE)]
    students = [student(rng) for _ in range(STUDENTS)]
    staff = [employee(rng) for _ in range(STAFF)]
    sport = hours(random.Random(SEED + 1))
    return {
        "ages.csv": table(["age", "household"], people),
        "survey.csv": table(["cheated", "transport", "satisfaction", "study_hours"], students),
        "staff.csv": table(["department", "salary", "years"], staff),
        "sport.csv": table(["member", "month", "hours"], sport),
        "homes.csv": table(["home", "week", "electricity"], electricity(random.Random(SEED + 2))),
    }


def main() -> None:
    """Write the files beside this script."""
    for name, content in datasets().items():
        (HERE / name).write_bytes(content)


if __name__ == "__main__":
    main()
