"""What the usual accountants report about k uses of a mechanism, and whether a claim of (epsilon, delta) is true."""

from dpcore.accountants.judgement import OPEN, SAFE, TIGHT, WRONG, Exposed, Judgement, Needed, exposed, judge, needed
from dpcore.accountants.records import ACCOUNTANTS, Accountant, accountant
from dpcore.accountants.reports import COLUMNS, Report, report, reports

__all__ = [
    "ACCOUNTANTS",
    "COLUMNS",
    "OPEN",
    "SAFE",
    "TIGHT",
    "WRONG",
    "Accountant",
    "Exposed",
    "Judgement",
    "Needed",
    "Report",
    "accountant",
    "exposed",
    "judge",
    "needed",
    "report",
    "reports",
]
