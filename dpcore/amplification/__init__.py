"""Amplification by sampling: a mechanism that sees each record with some probability only tells less about it.

`forms` compares what is known after one use of a sample, by statement and by region; `gradients` is about many steps
of Gaussian noise on Poisson samples, with the bounds and approximations in use beside the certified numbers.
"""

from dpcore.amplification.forms import FIXED, POISSON, Form, Statement, form_table, forms, sampled
from dpcore.amplification.gradients import clt_mu, gradient_ladder, gradients, rates, renyi, renyi_epsilon

__all__ = [
    "FIXED",
    "POISSON",
    "Form",
    "Statement",
    "clt_mu",
    "form_table",
    "forms",
    "gradient_ladder",
    "gradients",
    "rates",
    "renyi",
    "renyi_epsilon",
    "sampled",
]
