"""The functions of values: each file lists its own in ``FUNCTIONS``, and they are found automatically."""
