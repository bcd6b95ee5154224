"""What the Streamlit pages share: the figure component, forms from the registry, the region list, presets and links."""
