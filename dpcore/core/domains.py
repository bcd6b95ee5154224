"""The domains that recur, each declared once: what an epsilon, a delta, a rate or a count may be."""

from __future__ import annotations

import math

from dpcore.core.parameter import Parameter

# The limits of doubles. Beyond them results overflow, vanish or lose the digits that are promised.
_LARGEST_LOSS = 1e6  # exact numbers are promised to 1e-10, which is the last place of a loss of 1e6
_SMALLEST = 1e-300  # a factor of a probability must not vanish
_SMALLEST_ROOT = 1e-100  # a mu is squared
_SIZES = 1e-50, 1e50  # scales are divided by each other and squared

EPSILON = Parameter(
    "epsilon",
    low=0.0,
    high=_LARGEST_LOSS,
    infinite=True,
    least=_SMALLEST,
    label="ε",
    unit="nats",
    meaning="bound on the privacy loss; 0 is perfect privacy",
    example=1.0,
)
DELTA = Parameter(
    "delta",
    low=0.0,
    high=1.0,
    label="δ",
    meaning="by how much probabilities may exceed the factor e^ε; 0 is never, 1 no promise",
    example=0.01,
)
ETA = Parameter(
    "eta",
    low=0.0,
    high=1.0,
    label="η",
    meaning="total variation, the attacker's best advantage; 0 is blind, 1 certain",
    example=0.2,
)
MU = Parameter(
    "mu",
    low=0.0,
    high=_LARGEST_LOSS,
    infinite=True,
    least=_SMALLEST_ROOT,
    label="μ",
    meaning="shift of a unit Gaussian; 0 is perfect",
    example=1.0,
)
SIGMA = Parameter(
    "sigma",
    low=0.0,
    high=_SIZES[1],
    low_open=True,
    infinite=True,
    least=_SIZES[0],
    label="σ",
    meaning="standard deviation of the noise",
    example=1.0,
)
SCALE = Parameter(
    "scale",
    low=0.0,
    high=_SIZES[1],
    low_open=True,
    infinite=True,
    least=_SIZES[0],
    label="b",
    meaning="scale of the noise",
    example=1.0,
)
SENSITIVITY = Parameter(
    "sensitivity",
    low=0.0,
    high=_SIZES[1],
    low_open=True,
    least=_SIZES[0],
    label="Δ",
    meaning="how far the answer moves between neighbours",
    example=1.0,
)
ALPHA = Parameter("alpha", low=0.0, high=1.0, label="α", meaning="false-positive rate of a test", example=0.05)
PROBABILITY = Parameter("p", low=0.0, high=1.0, label="p", meaning="a probability", example=0.1)
COUNT = Parameter("k", "integer", low=1, label="k", meaning="how many", example=2)
REGION = Parameter("region", "region", label="region", meaning="any region of the language", example="dp(1)")

# Arguments of questions, without the bounds that keep a region within doubles.
LOSS = Parameter("epsilon", low=0.0, label="ε", meaning="a finite privacy loss")
LOSS_OR_INF = LOSS.but(infinite=True, meaning="a privacy loss; inf is no promise")
ANY_LOSS = LOSS_OR_INF.but(low=-math.inf, meaning="any loss, on either side of 0")
SHARE = PROBABILITY.but(low_open=True, meaning="a probability above 0")
SLACK = SHARE.but(name="slack", label="δ~", meaning="what a theorem may add to delta")
FPR = ALPHA.but(name="fpr")
TPR = ALPHA.but(name="tpr", meaning="true-positive rate of a test")
ADVANTAGE = ALPHA.but(name="advantage", label="", meaning="true minus false positives of the best test")
PRIOR = PROBABILITY.but(name="prior", low_open=True, high_open=True, meaning="a belief that is not certain")
ORDER = Parameter(
    "order", low=1.0, infinite=True, meaning="order of a Rényi divergence: 1 is Kullback-Leibler, inf the largest loss"
)
OPEN_ORDER = ORDER.but(low_open=True, infinite=False, meaning="a finite order above 1")
POSITIVE = Parameter("size", low=0.0, low_open=True, meaning="a finite number above 0")
REAL = Parameter("value", meaning="any finite number")
COPIES = COUNT.but(high=10**300, meaning="how many copies in a closed form: k times a number stays a double")
SEED = Parameter("seed", "integer", low=0, meaning="seed of the random numbers")
TOLERANCE = Parameter("tolerance", low=1e-12, high=1.0, high_open=True, meaning="largest relative width of a bracket")
CONFIDENCE = Parameter(
    "confidence", low=0.5, high=0.999999, meaning="confidence of an audit, chosen before looking at the data"
)
WIDTH_MM = Parameter("width_mm", low=20.0, high=1000.0, unit="mm", meaning="width of a figure on paper", example=85.0)
HEIGHT_MM = WIDTH_MM.but(name="height_mm", meaning="height of a figure on paper")
LETTER_SIZE = Parameter("size", low=4.0, high=40.0, unit="pt", meaning="size of the letters on paper", example=8.0)
