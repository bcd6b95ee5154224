"""Regions: the central type, statements as regions, regions made of regions, and the gate before every published number."""
