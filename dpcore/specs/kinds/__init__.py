"""One way to draw per class; a file holds those that belong together. `dpcore.specs.drawers()` lists them."""
