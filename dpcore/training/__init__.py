"""Private training: what sampling hides, what many noisy steps reveal, what accountants report, and whether a claim is true.

`sampling` compares what holds after one use of a sample, by statement and by region. `gradients` is about many steps of
Gaussian noise on Poisson samples, with the usual bounds and approximations beside the certified numbers. `reports` holds
what the usual accountants say about k uses of a mechanism, and `judgement` compares a claim with the truth.
"""

from dpcore.training.accountants import ACCOUNTANTS, Accountant, accountant
from dpcore.training.gradients import clt_mu, gradient_ladder, gradients, rates, renyi, renyi_epsilon
from dpcore.training.judgement import (
    OPEN,
    SAFE,
    TIGHT,
    WRONG,
    Judgement,
    LeastNoise,
    Refutation,
    judge,
    least_noise,
    refutation,
)
from dpcore.training.reports import COLUMNS, Report, report, reports
from dpcore.training.sampling import FIXED, POISSON, DpTvStatement, Form, form_table, forms, sampled

__all__ = [
    "ACCOUNTANTS",
    "COLUMNS",
    "FIXED",
    "OPEN",
    "POISSON",
    "SAFE",
    "TIGHT",
    "WRONG",
    "Accountant",
    "DpTvStatement",
    "Form",
    "Judgement",
    "LeastNoise",
    "Refutation",
    "Report",
    "accountant",
    "clt_mu",
    "form_table",
    "forms",
    "gradient_ladder",
    "gradients",
    "judge",
    "least_noise",
    "rates",
    "refutation",
    "renyi",
    "renyi_epsilon",
    "report",
    "reports",
    "sampled",
]
