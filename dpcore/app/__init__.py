"""What the Streamlit pages share: the figure component, forms from the registry, the region list, presets and links."""

from altair.utils.schemapi import disable_debug_mode

# Altair would check every part of a chart against its schema while it is made, and that takes longer than all else;
# the tests make the check for every kind of chart.
disable_debug_mode()
