"""Regions: the central type, statements and operations as regions, and the gate before every published number."""
