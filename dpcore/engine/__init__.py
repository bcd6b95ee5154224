"""Numeric routines on arrays: exact lattices, enumeration, splines and the certified contour integral."""
