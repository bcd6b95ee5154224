"""The noise lab: two noises are safer than one, even if the largest loss stays the same."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpcore.core.numerals import nearest
from dpcore.core.registry import SCALE, SENSITIVITY, SIGMA, Parameter
from dpcore.labs import noise_zoo as zoo
from dpcore.labs.base import Lab, LabCheck, Makers, Plot, Regions, Story, series, together
from dpcore.labs.catalogue import enter
from dpcore.labs.noise_zoo_checks import fixed_checks
from dpcore.mechanisms.gaussian import Gaussian
from dpcore.mechanisms.laplace import Laplace

if TYPE_CHECKING:
    from numpy.random import Generator

    from dpcore.mechanisms.base import Mechanism

MOVE = SENSITIVITY.but(low=0.01, high=10.0, low_open=False)
WIDTH = SCALE.but(low=0.1, high=10.0, low_open=False, infinite=False, meaning="scale of each Laplace noise")
EXTRA = SIGMA.but(
    low=0.01,
    high=10.0,
    low_open=False,
    infinite=False,
    meaning="standard deviation of the normal noise added to the Laplace noise",
)
ORDER = Parameter("order", low=1.0, high=50.0, label="a", meaning="order of the Rényi divergence", example=2.0)
_GRID = 161
_NO_BETTER = "no improvement on one noise"
_SAME = "Normal and uniform noise have the variance of one Laplace noise."


@enter
@dataclass(frozen=True)
class NoiseZoo(Lab):
    """Five noises, their densities, regions and distances."""

    name = "noise_zoo"
    title = "The noise zoo"
    place = "Sections 2.3 and 4.5"
    story = Story(
        claimed="Adding a second noise does not improve privacy, and the sum of two Laplace noises is not even private.",
        true="The sum of two Laplace noises has the same privacy loss as one of them, but a smaller region: at scale 1 "
        "and sensitivity 1 the attacker's advantage falls from 0.394 to 0.242.",
        matters="One number, the largest loss, hides what the extra noise gains; the region shows it, and removes one of "
        "the later chapters' arguments against Laplace noise.",
    )
    formula = (
        r"p_{L+L}(x)=\tfrac{1}{4b}(1+|x|/b)e^{-|x|/b},\qquad |(\log p_{L+L})'|=\frac{|x|/b}{b(1+|x|/b)}<\frac1b,"
        r"\qquad f(\alpha)=F(F^{-1}(1-\alpha)-\Delta)"
    )
    assumptions = (
        "One answer that moves by Δ. The two Laplace noises are independent and have the same scale b; the curve f is "
        "for noise with a symmetric log-concave density and distribution function F."
    )
    reference = "Dong, Roth, Su 2022, Proposition A.3; Reed, Jorgensen 2004 for the normal-Laplace density"

    sensitivity: float = MOVE.field(1.0)
    scale: float = WIDTH.field(1.0)
    sigma: float = EXTRA.field(1.0)
    order: float = ORDER.field(2.0)

    @property
    def noises(self) -> dict[str, Mechanism]:
        """The five noises at these parameters, by name."""
        return zoo.zoo(self.sensitivity, self.scale, self.sigma)

    def checks(self, rng: Generator) -> tuple[LabCheck, ...]:  # noqa: ARG002  nothing is simulated
        """Return printed against true: first the sums, then the distances."""
        return (*self._sums(), *fixed_checks())

    def _sums(self) -> list[LabCheck]:
        one, two, move = self.noises[zoo.LAPLACE], self.noises[zoo.TWICE], self.sensitivity / self.scale
        at = f"sensitivity {nearest(self.sensitivity)}, scale {nearest(self.scale)}"
        rows = [
            LabCheck(
                "Example 4.5.7",
                f"largest loss of Laplace + Laplace noise, {at}",
                "unbounded, hence not private",
                two.curve.max_loss,
                "false",
                "The slope of the log density is |x|/(1+|x|) < 1 in units of the scale; the printed limit moves the two "
                "answers infinitely far apart, which the sensitivity forbids.",
                row="sum-of-two-laplace",
            ),
            LabCheck(
                "Fallacy 4.5.10",
                f"total variation of Laplace + Laplace noise, {at}",
                _NO_BETTER,
                two.total_variation,
                "false",
                f"The source says that extra noise improves nothing; one Laplace noise alone gives {nearest(one.total_variation)}.",
                row="more-noise-helps",
            ),
        ]
        for share in (0.5, 0.75):
            epsilon = share * move
            rows.append(
                LabCheck(
                    "Fallacy 4.5.10",
                    f"δ of Laplace + Laplace noise at ε = {nearest(epsilon)}, {at}",
                    _NO_BETTER,
                    float(two.delta(epsilon)),
                    "false",
                    f"Extra noise is post-processing, and here strictly lowers δ, from {nearest(float(one.delta(epsilon)))} with one noise.",
                    row="more-noise-helps",
                )
            )
        return rows

    def pictures(self, rng: Generator) -> Makers:  # noqa: ARG002  nothing is simulated
        """Return the functions that draw the pictures."""
        return {
            "regions": self._regions,
            "hockey_stick": self._hockey_stick,
            "density": self._density,
            "divergences": self._divergences,
        }

    def _regions(self) -> Regions:
        noises = self.noises
        one, two, mixed = (noises[name] for name in (zoo.LAPLACE, zoo.TWICE, zoo.MIXED))
        takeaway = (
            f"A second Laplace noise lowers the attacker's advantage from {nearest(one.total_variation, 4)} to "
            f"{nearest(two.total_variation, 4)}, a normal one of standard deviation {nearest(self.sigma)} to {nearest(mixed.total_variation, 4)} "
            "(exact): the regions of the sums lie inside that of one Laplace noise."
        )
        notes = (
            f"The largest loss of all three Laplace regions is {nearest(self.sensitivity / self.scale)}: their ends touch.",
        )
        return Regions("One noise and two", takeaway, noises, notes=notes)

    def _hockey_stick(self) -> Plot:
        top = 1.5 * self.sensitivity / self.scale
        epsilon = np.linspace(0.0, top, _GRID)
        frame = together(*(series(name, epsilon, noise.delta(epsilon)) for name, noise in self.noises.items()))
        half = 0.5 * self.sensitivity / self.scale
        one, two = (float(self.noises[name].delta(half)) for name in (zoo.LAPLACE, zoo.TWICE))
        takeaway = (
            f"At ε = {nearest(half)} δ falls from {nearest(one, 4)} with one Laplace noise to {nearest(two, 4)} with two (exact); at "
            f"{nearest(2 * half)} both are 0. The uniform noise has one δ for every ε."
        )
        notes = ("The hockey-stick divergence at gamma = e^ε is δ at ε.", _SAME)
        return Plot("δ for every ε", takeaway, frame, "ε", "δ", notes=notes)

    def _density(self) -> Plot:
        mixed = self.noises[zoo.MIXED]
        spread = mixed.law.deviation
        x = np.linspace(-4 * spread, 4 * spread, _GRID)
        scale = spread / math.sqrt(2.0)
        same = {
            f"Laplace of variance {nearest(spread**2)}": Laplace(1.0 / scale),
            f"normal of variance {nearest(spread**2)}": Gaussian(spread),
        }
        parts = [series(zoo.MIXED, x, zoo.density(mixed, x, self.sensitivity))]
        parts += [series(name, x, noise.density(x)) for name, noise in same.items()]
        parts.append(series(zoo.TWICE, x, zoo.density(self.noises[zoo.TWICE], x, self.sensitivity)))
        parts.append(series(zoo.LAPLACE, x, zoo.density(self.noises[zoo.LAPLACE], x, self.sensitivity)))
        centre = float(zoo.density(mixed, np.zeros(1), self.sensitivity)[0])
        first, second = (float(noise.density(np.zeros(1))[0]) for noise in same.values())
        takeaway = (
            f"Normal and Laplace noise together have density {nearest(centre)} at 0, between the normal ({nearest(second)}) and the "
            f"Laplace density ({nearest(first)}) of the same variance {nearest(spread**2)} (exact)."
        )
        notes = (
            "Figure 4.1 has σ = 1 and scale 2: variance 9.",
            "A sum of noises is smooth where Laplace has a peak.",
        )
        return Plot("Densities of the noises", takeaway, together(*parts), "Noise", "Density", notes=notes)

    def _divergences(self) -> Plot:
        orders = {
            "Kullback-Leibler": 1.0,
            f"Rényi of order {nearest(self.order)}": self.order,
            "largest loss": math.inf,
        }
        variation = [noise.total_variation for noise in self.noises.values()]
        parts, missing = [series("total variation", list(self.noises), variation, mark="bar")], []
        for what, order in orders.items():
            values = {name: zoo.renyi(noise, order) for name, noise in self.noises.items()}
            missing += [f"{what} of {name}" for name, (value, _) in values.items() if math.isinf(value)]
            rows = {name: pair for name, pair in values.items() if math.isfinite(pair[0])}
            kind = "exact" if all(pair[1] == "exact" for pair in rows.values()) else "approximate"
            parts.append(series(what, list(rows), [pair[0] for pair in rows.values()], kind=kind, mark="bar"))
        one, two = (zoo.renyi(self.noises[name], 1.0)[0] for name in (zoo.LAPLACE, zoo.TWICE))
        takeaway = (
            f"A second Laplace noise lowers the Kullback-Leibler divergence from {nearest(one, 4)} to {nearest(two, 4)} and every other "
            "distance, except the largest loss."
        )
        notes = (
            f"Infinite and not drawn: {', '.join(missing)}.",
            "Divergences of the sums are quadratures, about 1e-10.",
        )
        return Plot("Distances of the two answers", takeaway, together(*parts), "Noise", "Distance", notes=notes)
