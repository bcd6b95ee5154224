"""The form of a record as JSON Schema, for editors and other programs, stored as `data/deployments/schema.json`."""

from __future__ import annotations

from typing import Any, Final

from dpcore.deployments.record import FLAVORS, LONGEST, MODELS, NUMBERS, REQUIRED, TIERS
from dpcore.deployments.yaml_files import MOST_RECORDS

CHOICES: Final = {"flavor": FLAVORS, "model": MODELS}


def record_schema() -> dict[str, Any]:
    """Return the JSON Schema of a file of records: one mapping or a list of mappings.

    Returns
    -------
    dict of str to object
        Draft 2020-12. A number may be written as text, so that its last digit stays as published.

    Examples
    --------
    >>> record_schema()["$defs"]["record"]["required"]
    ['name', 'curator', 'product', 'sources']
    """
    fields = {
        name: _field(name, f"Tier {tier}: {words}.") for tier, all_ in TIERS.items() for name, words in all_.items()
    }
    record = {"type": "object", "required": list(REQUIRED), "additionalProperties": False, "properties": fields}
    reference = {"$ref": "#/$defs/record"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Deployments of differential privacy",
        "oneOf": [reference, {"type": "array", "items": reference, "minItems": 1, "maxItems": MOST_RECORDS}],
        "$defs": {"record": record},
    }


def _field(name: str, words: str) -> dict[str, Any]:
    if name == "sources":
        address = {"type": "string", "pattern": "^https?://"}
        return {"description": words, "oneOf": [address, {"type": "array", "items": address, "minItems": 1}]}
    if name in NUMBERS:
        return {"description": words, "type": ["number", "string"]}
    if name in CHOICES:
        return {"description": words, "enum": list(CHOICES[name])}
    return {"description": words, "type": "string", "maxLength": LONGEST}
