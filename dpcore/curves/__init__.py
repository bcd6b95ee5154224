"""Regions as numbers: curves know their deltas and betas, and nothing of names or texts."""
