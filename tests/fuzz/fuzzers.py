"""All fuzzers, by name, in the order in which `make fuzz` runs them."""

from __future__ import annotations

from typing import Final

from tests.fuzz import documents, formulas, language, links, readers, records

KINDS: Final = {**language.KINDS, **readers.KINDS, **records.KINDS, **documents.KINDS, **formulas.KINDS, **links.KINDS}
