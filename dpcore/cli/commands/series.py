"""``dpcore series``: what noisy means at several times reveal about a user, and the least noise for all attacks."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from dpcore.cli.options import number_list
from dpcore.core.domains import COUNT, DELTA, LOSS, POSITIVE, REAL
from dpcore.core.errors import DomainWarning, ParseError
from dpcore.core.numerals import nearest

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.cli.options import Parser
    from dpcore.planner.series import Panel, SeriesModel

HELP = "plan noisy means over time: exact privacy of every attack on an autoregression, and the least noise"
VIEWS = ("plan", "models", "scenarios", "fit", "matrix")
_MODELS, _PRIORS = ("pooled", "full"), "stationary, flat, known, or a variance"


def configure(parser: Parser) -> None:
    """Add the arguments."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        "FILE has a row per user and time (--user, --time, --value), or a row per user and a column per time (--user alone).\n"
        "Without FILE, --matrix and --covariance give A and the covariance of the innovations. What a series hides at event\n"
        "and group level depends on the model being true; user level counts on the noise alone."
    )
    parser.add_argument("file", metavar="FILE", nargs="?", help="a CSV file of users and times")
    for name, words in (("user", "names the users"), ("time", "holds the times"), ("value", "holds the values")):
        parser.add_argument(f"--{name}", metavar="COLUMN", help=f"the column that {words}")
    parser.add_value("--lower", REAL.but(name="lower"), "public lower bound of the values ...", metavar="A")
    parser.add_value("--upper", REAL.but(name="upper"), "... and upper bound", metavar="B")
    parser.add_argument(
        "--model", choices=_MODELS, default=_MODELS[0], help="one law for all users (default), or A in full"
    )
    parser.add_argument("--matrix", metavar="FILE", help="A as a CSV file, instead of a table")
    parser.add_argument("--covariance", metavar="FILE", help="the covariance of the innovations as a CSV file")
    parser.add_value("--range", POSITIVE.but(name="range"), "with --matrix: how far one value can move (default: 1)")
    parser.add_value(
        "--releases",
        COUNT.but(name="releases"),
        "how many means are released (default: the times of the file, or 2)",
        metavar="T",
    )
    parser.add_value("--epsilon", LOSS, "target of the worst attack (default: 1)", default=1.0)
    parser.add_value("--delta", DELTA.but(low_open=True, high_open=True), "its delta (default: 1e-5)", default=1e-5)
    parser.add_argument(
        "--noise",
        metavar="LIST",
        type=number_list,
        help="standard deviation of the noise, for --view scenarios: one, or one per release (default: the least for events)",
    )
    parser.add_argument("--prior", default="stationary", help=f"of the first values: {_PRIORS} (default: stationary)")
    parser.add_argument("--view", choices=VIEWS, default=VIEWS[0], help="which table to print (default: plan)")


def run(arguments: argparse.Namespace) -> pd.DataFrame:
    """Compute the table."""
    from dpcore.planner.series import fit, least_noise, noise_at, plan, range_words, scenarios, target_shift  # noqa: PLC0415  # pandas is slow to import
    from dpcore.planner.series.model import prior_of  # noqa: PLC0415  # as above

    panel = None if arguments.file is None else _panel(arguments)
    if arguments.view == "fit":
        return _fitted(arguments, panel)
    if arguments.view == "models":
        return _both(arguments, panel)
    model, releases = _model(arguments, panel)
    prior = prior_of(arguments.prior)
    if arguments.view == "matrix":
        return _matrix(model)
    if arguments.view == "plan":
        if panel is not None:
            shift = target_shift(arguments.epsilon, arguments.delta)
            _say(range_words(fit(panel, arguments.model), releases, shift, prior))
        return plan(model, releases, arguments.epsilon, arguments.delta, prior)
    if arguments.noise is None:
        noise, _ = least_noise(model, releases, target_shift(arguments.epsilon, arguments.delta), prior=prior)
    else:
        noise = arguments.noise
    names = () if panel is None else panel.users
    return scenarios(model, noise_at(noise, releases), arguments.delta, prior, names)


def _say(text: str) -> None:
    """Write a sentence to standard error."""
    warnings.warn(text, DomainWarning, stacklevel=2)


def _both(arguments: argparse.Namespace, panel: Panel | None) -> pd.DataFrame:
    """Return the plans by the pooled and by the full fit."""
    from dpcore.planner.series import both_plans  # noqa: PLC0415  # pandas is slow to import
    from dpcore.planner.series.model import prior_of  # noqa: PLC0415  # as above

    if panel is None:
        msg = "--view models needs a file of users and times."
        raise ParseError(msg)
    releases, prior = arguments.releases or len(panel.times), prior_of(arguments.prior)
    table, notes = both_plans(panel, releases, arguments.epsilon, arguments.delta, prior)
    for text in notes:
        _say(text)
    return table


def _panel(arguments: argparse.Namespace) -> Panel:
    """Read the file."""
    from dpcore.files.microdata import read_microdata  # noqa: PLC0415  # as above
    from dpcore.files.sheet import open_csv  # noqa: PLC0415  # as above
    from dpcore.planner.series import read_panel  # noqa: PLC0415  # as above

    if arguments.matrix or arguments.covariance or arguments.range is not None:
        msg = "--matrix, --covariance and --range describe a series without a file; leave FILE or them out."
        raise ParseError(msg)
    data = read_microdata(open_csv(Path(arguments.file)))
    if arguments.user is None or arguments.lower is None or arguments.upper is None:
        missing = next(name for name in ("user", "lower", "upper") if getattr(arguments, name) is None)
        msg = f"A table needs --user, --lower and --upper; --{missing} is missing. It has the columns {', '.join(data.names)[:200]}."
        raise ParseError(msg)
    bounds = {"lower": arguments.lower, "upper": arguments.upper}
    panel = read_panel(data, arguments.user, arguments.time or "", arguments.value or "", **bounds)
    for text in panel.notes[bool(panel.notes and panel.notes[0].startswith("The first row gives")) :]:
        _say(text)
    return panel


def _model(arguments: argparse.Namespace, panel: Panel | None) -> tuple[SeriesModel, int]:
    """Return the series and the number of releases."""
    from dpcore.files.matrices import read_matrix  # noqa: PLC0415  # as above
    from dpcore.files.sheet import open_csv  # noqa: PLC0415  # as above
    from dpcore.planner.series import SeriesModel, fit  # noqa: PLC0415  # as above

    if panel is not None:
        fitted = fit(panel, arguments.model)
        model = fitted.model
        releases = arguments.releases or len(panel.times)
    else:
        if arguments.matrix is None or arguments.covariance is None:
            msg = "Name a file of users and times, or give both --matrix and --covariance."
            raise ParseError(msg)
        matrix = read_matrix(open_csv(Path(arguments.matrix)), "The matrix A")
        covariance = read_matrix(open_csv(Path(arguments.covariance)), "The covariance")
        for text in (*matrix.notes, *covariance.notes):
            _say(text)
        model = SeriesModel(matrix.rows, covariance.rows, 1.0 if arguments.range is None else arguments.range)
        releases = arguments.releases or 2
    if model.radius >= 1.0:
        _say(model.unstable)
    return model, releases


def _fitted(arguments: argparse.Namespace, panel: Panel | None) -> pd.DataFrame:
    """Return the parameters, and say how far they are from those of statsmodels where it is installed."""
    from dpcore.planner.series import fit  # noqa: PLC0415  # as above
    from dpcore.planner.series.fit import crosscheck  # noqa: PLC0415  # as above

    if panel is None:
        msg = "--view fit needs a file of users and times."
        raise ParseError(msg)
    apart = crosscheck(panel, arguments.model)
    if apart is not None:
        _say(f"statsmodels gives the same numbers within a relative {nearest(apart, 1)}.")
    return fit(panel, arguments.model).frame()


def _matrix(model: SeriesModel) -> pd.DataFrame:
    """Return A and the covariance that are used."""
    import pandas as pd  # noqa: PLC0415  # as above

    rows = [
        (name, i + 1, j + 1, value)
        for name, matrix in (("A", model.matrix), ("covariance", model.covariance))
        for i, row in enumerate(matrix)
        for j, value in enumerate(row)
    ]
    return pd.DataFrame(rows, columns=["matrix", "row", "column", "value"])
