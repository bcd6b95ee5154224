"""Audits: what measured attack results prove about the mechanism that was attacked, with a stated confidence."""

from __future__ import annotations

from dpcore.audit.assertion import assert_private
from dpcore.audit.bounds import Audit, audit
from dpcore.audit.measurements import Counts, Scores
from dpcore.audit.one_run import OneRun, OneRunAudit
from dpcore.audit.one_run_report import one_run_report, one_run_sentence
from dpcore.audit.reading import AuditReading, read_audit
from dpcore.audit.simulate import simulate
from dpcore.audit.statements import bounds_table, consistent, report, sentence, verdict

__all__ = [
    "Audit",
    "AuditReading",
    "Counts",
    "OneRun",
    "OneRunAudit",
    "Scores",
    "assert_private",
    "audit",
    "bounds_table",
    "consistent",
    "one_run_report",
    "one_run_sentence",
    "read_audit",
    "report",
    "sentence",
    "simulate",
    "verdict",
]
