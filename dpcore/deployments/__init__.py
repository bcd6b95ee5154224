"""Deployments: public records of differential privacy in use, read and written as YAML, and checked for consistency."""

from dpcore.deployments.checking import COLUMNS, check, comparison
from dpcore.deployments.record import FIELDS, TIERS, Deployment, Stated, tier
from dpcore.deployments.schema import record_schema
from dpcore.deployments.yaml_files import read_deployments, write_deployments

__all__ = [
    "COLUMNS",
    "FIELDS",
    "TIERS",
    "Deployment",
    "Stated",
    "check",
    "comparison",
    "read_deployments",
    "record_schema",
    "tier",
    "write_deployments",
]
