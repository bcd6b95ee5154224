"""The release planner: answers about a table, one budget, and the noise that keeps it."""
