"""Private training: what sampling hides, what many noisy steps reveal, what accountants report, and whether a claim is true.

`step_accountant` follows a run step by step, and `interop` reads and serves other libraries' accounts. `run` describes a training run by the numbers people know, `summary` answers what it reveals, `libraries` what Opacus and others
print for it, `inverse` which noise, batch or number of steps meets a target. `gradients` is about many steps of Gaussian noise
on Poisson samples, with the usual bounds and approximations beside the certified numbers. `sampling` compares what holds after
one use of a sample, by statement and by region. `tuning` says what the best of several runs reveals. `reports` holds what the usual accountants say about k uses of a mechanism, and
`judgement` compares a claim with the truth.
"""

from dpcore.training.accountants import ACCOUNTANTS, AccountingMethod, accountant
from dpcore.training.events import ledger_from_event
from dpcore.training.gradients import clt_mu, gradient_ladder, gradients, rates, renyi, renyi_epsilon
from dpcore.training.interop import ledger_from_opacus, opacus_accountant, read_accounts
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
from dpcore.training.measurements import ledger_from_opendp
from dpcore.training.reports import COLUMNS, Report, report, reports
from dpcore.training.run import TrainingRun, training_run
from dpcore.training.samplers import SAMPLERS, Sampler
from dpcore.training.sampling import FIXED, POISSON, DpTvStatement, Form, form_table, forms, sampled
from dpcore.training.shuffled import ShuffledRun, shuffled_run
from dpcore.training.step_accountant import Accountant, StepRecord
from dpcore.training.steps import step_ladder, step_rates
from dpcore.training.summary import TrainingSummary, training_summary
from dpcore.training.tuning import RUN_LAWS, RunLaw, tuned, tuning_costs

__all__ = [
    "ACCOUNTANTS",
    "COLUMNS",
    "FIXED",
    "OPEN",
    "POISSON",
    "RUN_LAWS",
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
    "RunLaw",
    "Sampler",
    "ShuffledRun",
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
    "ledger_from_opendp",
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
    "shuffled_run",
    "solve_training",
    "step_ladder",
    "step_rates",
    "training_run",
    "training_summary",
    "tuned",
    "tuning_costs",
]
