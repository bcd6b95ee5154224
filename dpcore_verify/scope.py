"""What the checker knows: the names it has laws for, and how they may be put together.

This needs no arithmetic: it reads the expression alone, and decides before anything is computed. Some values are refused later (an
orientation that depends on a number, a list that is too long).
"""

from __future__ import annotations

from dpcore_verify.expression import Call, Node, Number, Power, Product, Unproved, read

MOST_COPIES = 10**9
SYMMETRIC = frozenset(
    [
        "dp",
        "tv",
        "dptv",
        "uniform",
        "rr",
        "staircase",
        "geometric",
        "laplace",
        "laplace_vector",
        "histogram",
        "gaussian",
        "gdp",
        "gaussian_classic",
        "discrete_gaussian",
        "discrete_laplace",
    ]
)
"""Names whose pair may be exchanged."""
ORIENTED = {"pmf": "pair", "poisson": "add/remove", "poisson_gaussian": "add/remove"}
"""Names whose pair has a direction, and what fixes it."""
FINITE = frozenset(
    ["dp", "tv", "dptv", "uniform", "rr", "staircase", "geometric", "discrete_gaussian", "discrete_laplace"]
)
"""Names with finitely many losses."""
SAMPLED = FINITE | {"gaussian", "gdp", "gaussian_classic"}
"""Names that `poisson` may sample."""
FUNCTIONS = frozenset(["union", "erase", "subsample", "symmetric", "assume"])
"""Functions of a region: outside a composition only."""


def objection(expression: object) -> str:
    """Return why the checker has no method for a region, in one sentence; empty if it has one.

    Parameters
    ----------
    expression : object
        A text, or anything whose text is an expression.

    Returns
    -------
    str
        A sentence, or nothing.
    """
    try:
        require(read(str(expression)))
    except Unproved as reason:
        return str(reason)
    return ""


def require(tree: Node) -> None:
    """Raise `Unproved` with the reason if the checker has no method for a tree."""
    if isinstance(tree, Call) and tree.name in FUNCTIONS:
        _finite(tree)
        if tree.name == "union" and (tree.named or not tree.arguments):
            msg = "union takes regions without names."
            raise Unproved(msg)
        for part in tree.arguments if tree.name == "union" else [tree.region()]:
            require(part)
        return
    labels: set[str] = set()
    _compose(tree, 1, labels)
    if len(labels) > 1:
        msg = "This checker does not compose pairs of different orientation."
        raise Unproved(msg)


def _compose(tree: Node, k: int, labels: set[str]) -> None:
    """Go through the factors of a composition and collect their orientations."""
    if k > MOST_COPIES:
        msg = f"This checker composes at most {MOST_COPIES} copies."
        raise Unproved(msg)
    if isinstance(tree, Power):
        _compose(tree.base, k * tree.k, labels)
    elif isinstance(tree, Product):
        for part in tree.parts:
            _compose(part, k, labels)
    elif not isinstance(tree, Call):
        msg = "This checker does not know an intersection."
        raise Unproved(msg)
    elif tree.name == "assume":
        _compose(tree.region(), k, labels)
    elif tree.name in SYMMETRIC or tree.name in ORIENTED:
        _finite(tree)
        if tree.name == "poisson":
            _sampled(tree.region())
        labels |= {ORIENTED[tree.name]} if tree.name in ORIENTED else set()
    else:
        where = " inside a composition" if tree.name in FUNCTIONS else ""
        msg = f"This checker does not know {tree.name}{where}."
        raise Unproved(msg)


def _finite(call: Call) -> None:
    if any(isinstance(value, Number) and value.infinite for value in (*call.arguments, *dict(call.named).values())):
        msg = "This checker takes finite numbers only."
        raise Unproved(msg)


def _sampled(tree: Node) -> None:
    if not isinstance(tree, Call) or tree.name not in SAMPLED | {"assume"}:
        msg = "This checker samples single mechanisms with Gaussian noise or finitely many losses only."
        raise Unproved(msg)
    if tree.name == "assume":
        _sampled(tree.region())
