"""Files from and for other people: CSV, JSON, TOML and Markdown read within bounds, paths confined to their folder, and CSV that a spreadsheet cannot run."""
