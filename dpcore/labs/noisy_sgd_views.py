"""The pictures of the noisy gradient descent lab."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from dpcore.core.effort import checkpoint, stage
from dpcore.core.numerals import nearest
from dpcore.labs.base import Plot, Regions, series, simulated, standard_error, together
from dpcore.labs.noisy_sgd import PRINTED_CONSTANT, Schedule, cheaper, grid, vanishing
from dpcore.labs.noisy_sgd_runs import run
from dpcore.mechanisms.laplace import Laplace
from dpcore.regions.algebra import Product
from dpcore.regions.guarantees import DP
from dpcore.words import outward

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.labs.noisy_sgd_runs import Ridge

KAPPAS: Final = [round(x, 2) for x in np.linspace(0.0, 1.5, 31).tolist()]
RHOS: Final = (0.0, 0.25, 0.5, 0.75, 0.9)
FEW = 6  # steps whose exact composition shows within a second


def trade(plan: Schedule, records: int) -> Plot:
    """Return noise error and losses against kappa."""
    with stage(0.0, 0.5):
        table = grid([plan.rho], KAPPAS, plan.steps, rate=plan.rate, epsilon=plan.epsilon, gradient=plan.gradient)
    line, hidden = vanishing(plan.rho), []
    for i, kappa in enumerate(KAPPAS):
        checkpoint(0.5 + i / len(KAPPAS) / 2)
        hidden.append(Schedule(plan.steps, plan.rho, kappa, plan.rate, plan.epsilon, plan.gradient).sampled(records))
    at = Schedule(plan.steps, plan.rho, line, plan.rate, plan.epsilon, plan.gradient)
    frame = together(
        series("noise term A3 of the error", table["kappa"], table["a3"]),
        series("promised for the last iterate alone", table["kappa"], table["promised"], kind="printed"),
        series("all iterates, losses added", table["kappa"], table["joint"], kind="upper"),
        series("all iterates, records hidden", KAPPAS, hidden, kind="upper"),
    )
    says = (
        f"The noise term can vanish only beyond κ = {nearest(line)}. There, after {plan.steps} steps, the source promises "
        f"ε = {nearest(at.promised[-1], 4)} for the last iterate alone; plain addition gives at most {outward(at.joint, 4)} for all, "
        f"and {outward(at.sampled(records), 3)} if nobody sees which of {records} records a step uses."
    )
    return Plot(
        "Error or privacy: one of them grows",
        says,
        frame,
        "growth of the promised loss, κ",
        "A3, and ε",
        log_y=True,
        notes=(
            f"ρ = {nearest(plan.rho)}, N = {plan.steps}, D = {nearest(plan.gradient)}, first rate {nearest(plan.rate)}.",
        ),
    )


def errors(plan: Schedule) -> Plot:
    """Return the three error terms against the number of steps."""
    marks = counts(plan.steps)
    rows = np.array([[*_cut(plan, n).terms] for n in marks])
    names = ("A1, start", "A2, sampling", "A3, noise")
    frame = together(*(series(name, marks, rows[:, i]) for i, name in enumerate(names)))
    a3 = rows[:, 2]
    way = "falls" if a3[-1] < a3[len(a3) // 2] else "does not fall"
    says = (
        f"With ρ = {nearest(plan.rho)} and κ = {nearest(plan.kappa)}, 2κ + ρ = {nearest(2 * plan.kappa + plan.rho)}: the noise term {way} "
        f"in the second half and ends at {nearest(a3[-1], 4)} after {plan.steps} steps."
    )
    return Plot("Three error terms", says, frame, "steps, N", "term of the bound", log_x=True, log_y=True)


def lines() -> Plot:
    """Return where the noise term vanishes, and where plain composition beats the printed promise."""
    rhos = [round(x, 2) for x in np.linspace(0.0, 0.99, 34).tolist()]
    frame = together(
        series("noise term vanishes above", rhos, [vanishing(r) for r in rhos]),
        series("adding all losses promises more above", rhos, [cheaper(r) for r in rhos]),
        series("printed for a constant rate", [0.0], [PRINTED_CONSTANT], kind="printed", mark="point"),
    )
    says = (
        "The noise term vanishes above κ = 1 - ρ/2, so at κ > 1 for a constant rate, not only at the printed 3/2. "
        "That line lies above κ = 1 - ρ: wherever the error vanishes, plain composition beats the theorem in the long run."
    )
    note = "All three terms vanish above the upper line for 0 < ρ < 1; at ρ = 0 the sampling term A2 stays."
    return Plot("Where the error vanishes", says, frame, "fall of the rate, ρ", "growth of the loss, κ", notes=(note,))


def sums(plan: Schedule) -> Plot:
    """Return the sum of the three terms on a grid of rho and kappa."""
    kappas = KAPPAS[::2]
    table = grid(RHOS, kappas, plan.steps, rate=plan.rate, epsilon=plan.epsilon, gradient=plan.gradient)
    table["sum"] = table["a1"] + table["a2"] + table["a3"]
    groups = [own for _, own in table.groupby("rho")]
    parts = [series(f"ρ = {nearest(own['rho'].iloc[0])}", own["kappa"], own["sum"]) for own in groups]
    best = table.iloc[int(np.argmin(table["sum"].to_numpy()))]
    says = (
        f"Of these, the least sum after {plan.steps} steps is {nearest(best['sum'], 3)} at ρ = {nearest(best['rho'])}, κ = {nearest(best['kappa'])}: "
        f"there all iterates together cost at most ε = {outward(float(best['joint']), 3)}."
    )
    return Plot("The error on a grid", says, together(*parts), "κ", "A1 + A2 + A3", log_y=True)


def schedule(plan: Schedule) -> Plot:
    """Return noise, promise and loss of each step."""
    steps = np.array(counts(plan.steps))
    frame = together(
        series("noise level γ", steps, plan.noise[steps - 1]),
        series("promised for this iterate alone", steps, plan.promised[steps - 1], kind="printed"),
        series("all iterates so far, losses added", steps, np.cumsum(plan.losses)[steps - 1], kind="upper"),
    )
    says = (
        f"The noise level runs from {nearest(plan.noise[0], 3)} to {nearest(plan.noise[-1], 4)}; the last iterate alone is promised "
        f"ε = {nearest(plan.promised[-1], 4)}, all of them together cost at most {outward(plan.joint, 4)}."
    )
    return Plot(
        "The noise schedule",
        says,
        frame,
        "step, t",
        "γ, and ε",
        log_x=True,
        log_y=True,
        notes=(
            _HONEST,
            "Its proof also needs D to bound gradients at different parameters; adding losses needs equal ones only.",
        ),
    )


_HONEST = (
    "The promise is for one iterate seen alone; the error bound is for the average of all, which needs all of them."
)


def excesses(problem: Ridge, plan: Schedule, rng: Generator, replications: int) -> Plot:
    """Return simulated excess losses on ridge regression beside the bound."""
    marks = counts(plan.steps)[2:] or [plan.steps]
    parts, ends = [], {}
    for at, (name, noisy) in enumerate((("with privacy noise", True), ("without noise", False))):
        with stage(at / 2, at / 2 + 0.25):
            averages = run(problem, plan, rng, replications, marks, noisy=noisy)
        losses = []
        for i, n in enumerate(marks):
            with stage(at / 2 + 0.25 + i / len(marks) / 4, at / 2 + 0.25 + (i + 1) / len(marks) / 4):
                losses.append(problem.excess(averages[n]))
        means = np.array([float(loss.mean()) for loss in losses])
        errors = [standard_error(loss) for loss in losses]
        parts.append(simulated(name, marks, means, errors, least=means / 100.0))
        ends[name] = means[-1]
    covered = plan.rate <= 1.0 / (4.0 * problem.smoothness)
    start = float(problem.best @ problem.best)
    bounds = [_cut(plan, n).bound(start, problem.spread, problem.dimension) for n in marks]
    parts.append(series("bound of the source", marks, bounds, kind="upper" if covered else "approximate"))
    says = (
        f"After {plan.steps} steps the average loss exceeds that of the ridge line by {nearest(ends['with privacy noise'], 3)} with "
        f"noise and {nearest(ends['without noise'], 3)} without; the bound says {outward(bounds[-1], 3)}. Seeing the average costs "
        f"at most ε = {outward(plan.sampled(problem.records), 3)}."
    )
    notes = (
        f"Bars reach two standard errors over {replications} runs. D = {nearest(problem.sensitivity)} for residuals clipped at 1.",
        f"The ε counts that a step uses one record at random and hides which; without that it is {outward(plan.joint, 4)}.",
        *(
            ()
            if covered
            else (f"The bound is proved for rates up to {outward(1 / (4 * problem.smoothness), 4, up=False)} only.",)
        ),
    )
    return Plot(
        "Ridge regression with noisy steps",
        says,
        together(*parts),
        "steps, N",
        "loss above the ridge line",
        log_x=True,
        log_y=True,
        notes=notes,
    )


def path(problem: Ridge, plan: Schedule, rng: Generator) -> Plot:
    """Return the average slope along one run, with and without noise, beside the closed form."""
    marks = counts(plan.steps)[2:] or [plan.steps]
    slope = float(problem.best[1])
    parts, ends = [], {}
    for at, (name, noisy) in enumerate((("with privacy noise", True), ("without noise", False))):
        with stage(at / 2, (at + 1) / 2):
            averages = run(problem, plan, rng, 1, marks, noisy=noisy)
        ends[name] = float(averages[marks[-1]][0, 1])
        parts.append(series(name, marks, [float(averages[n][0, 1]) for n in marks], kind="simulation"))
    says = (
        f"The ridge slope is {slope:.4f}. One run of {plan.steps} steps gives {nearest(ends['with privacy noise'], 3)} with privacy "
        f"noise and {nearest(ends['without noise'], 3)} without."
    )
    return Plot(
        "One run beside the closed form",
        says,
        together(*parts),
        "steps, N",
        "average slope so far",
        log_x=True,
        reference={"ridge slope in closed form": slope},
    )


def regions(plan: Schedule) -> Regions:
    """Return the promise for the last of a few iterates beside the exact region of all of them."""
    few = _cut(plan, min(FEW, plan.steps))
    checkpoint(0.1)
    parts = tuple(Laplace(float(loss)) for loss in few.losses)
    exact = parts[0] if len(parts) == 1 else Product(parts)
    shapes = {
        "promised for the last iterate alone": DP(float(few.promised[-1])),
        "all iterates, losses added": DP(few.joint),
        "all iterates, composed": exact,
    }
    says = (
        f"After {few.steps} steps the last iterate alone is promised ε = {nearest(few.promised[-1], 4)}; the losses of all add up to "
        f"{nearest(few.joint, 4)}, and at a false alarm rate of 5 of 100 the composed steps let an attacker be right "
        f"{outward(100 * float(np.ravel(exact.power(0.05))[0]), 3)} times of 100 at most."
    )
    return Regions("A few steps, exactly", says, shapes, notes=(_HONEST, "For a record that every step uses, p = 1."))


def counts(steps: int) -> list[int]:
    """Return about thirty step numbers from 1 to `steps`, evenly spread on a logarithmic axis."""
    return sorted({round(x) for x in np.geomspace(1, steps, 30)} | {1, steps})


def _cut(plan: Schedule, steps: int) -> Schedule:
    """Return the same schedule, stopped after this many steps."""
    return Schedule(steps, plan.rho, plan.kappa, plan.rate, plan.epsilon, plan.gradient)
