"""What everything else stands on: errors, the checker of values, the registry of names, kinds of numbers, and the budget of a computation."""
