"""Fuzzers: functions that take a count and a seed and return what they found, for the suite and for longer runs."""
