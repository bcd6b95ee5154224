"""The release planner: answers about a table, one budget, and the noise that stays within it."""
