"""What the Streamlit pages share: the figure component, forms from the registry, the region list, presets and links."""

from altair.utils.schemapi import disable_debug_mode

# Altair would check every part of a chart against its schema as it is built, which takes longer than everything else;
# the tests run this check for every kind of chart.
disable_debug_mode()
