"""Files from and for other people: bounded readers of CSV, JSON, TOML and Markdown, confined paths, and safe CSV.

Paths in a document stay in its folder, and no spreadsheet runs a cell of the CSV files that are written here.
"""
