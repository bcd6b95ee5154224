"""Regions as numbers: curves compute deltas and betas and know no names or texts."""
