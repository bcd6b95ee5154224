"""Kinds of figures, one class each, grouped by subject. `dpcore.specs.drawers()` lists them."""
