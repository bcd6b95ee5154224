"""Private training: what sampling hides, what many noisy steps reveal, what accountants report, and whether a claim is true.

`step_accountant` follows a run step by step, and `interop` reads and serves other libraries' accounts. `run` describes a training run by the numbers people know, `summary` answers what it reveals, `libraries` what Opacus and others
print for it, `inverse` which noise, batch or number of steps meets a target. `gradients` is about many steps of Gaussian noise
on Poisson samples, with the usual bounds and approximations beside the certified numbers. `sampling` compares what holds after
one use of a sample, by statement and by region. `reports` holds what the usual accountants say about k uses of a mechanism, and
`judgement` compares a claim with the truth.
"""

from dpcore.training.accountants import ACCOUNTANTS, AccountingMethod, accountant
from dpcore.training.gradients import clt_mu, gradient_ladder, gradients, rates, renyi, renyi_epsilon
from dpcore.training.interop import ledger_from_event, ledger_from_opacus, opacus_accountant, read_accounts
from dpcore.training.inverse import TrainingTarget, solve_training
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
from dpcore.training.libraries import library_reports
from dpcore.training.reports import COLUMNS, Report, report, reports
from dpcore.training.run import SAMPLERS, TrainingRun, training_run
from dpcore.training.sampling import FIXED, POISSON, DpTvStatement, Form, form_table, forms, sampled
from dpcore.training.step_accountant import Accountant, StepRecord
from dpcore.training.summary import TrainingSummary, training_summary

__all__ = [
    "ACCOUNTANTS",
    "COLUMNS",
    "FIXED",
    "OPEN",
    "POISSON",
    "SAFE",
    "SAMPLERS",
    "TIGHT",
    "WRONG",
    "Accountant",
    "AccountingMethod",
    "DpTvStatement",
    "Form",
    "Judgement",
    "LeastNoise",
    "Refutation",
    "Report",
    "StepRecord",
    "TrainingRun",
    "TrainingSummary",
    "TrainingTarget",
    "accountant",
    "clt_mu",
    "form_table",
    "forms",
    "gradient_ladder",
    "gradients",
    "judge",
    "least_noise",
    "ledger_from_event",
    "ledger_from_opacus",
    "library_reports",
    "opacus_accountant",
    "rates",
    "read_accounts",
    "refutation",
    "renyi",
    "renyi_epsilon",
    "report",
    "reports",
    "sampled",
    "solve_training",
    "training_run",
    "training_summary",
]
