"""The benchmark is run by `make benchmark`; nothing here is a test."""

collect_ignore_glob = ["*.py"]
