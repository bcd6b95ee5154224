"""Your data: open a table, and see what can be said about it privately."""

from dpcore.app import page, privacy_regions_panels, your_data

page.setup(
    "Your data",
    "Open a table and see what you can publish about it privately, and how accurately. It stays in the memory of your session.",
)
page.preset_row("Your_data", your_data.DEFAULTS)
tool = your_data.choose()
tool.section()
privacy_regions_panels.preset_note("Your_data", your_data.DEFAULTS)
