"""Errors, whose messages name the value and what is allowed."""


class DpcoreError(ValueError):
    """Base of every error the package raises on purpose; its text is a complete sentence."""


class DomainError(DpcoreError):
    """A value lies outside the domain of a theorem, guarantee or mechanism."""


class ParseError(DpcoreError):
    """A text is not an expression of the language."""


class RelationError(DpcoreError):
    """Parts of one product have different neighbouring relations."""


class BudgetError(DpcoreError):
    """An answer would need more time, memory or precision than allowed; the text says how much."""


class InternalError(DpcoreError):
    """A computed number cannot be true; it is not published, and the text names it and its expression."""


class ImpossibleError(InternalError):
    """The same, detected in a curve that does not know its expression; `dpcore.regions.gate` adds it."""


class DomainWarning(UserWarning):
    """A value was clamped to the edge of its domain, visibly and without changing the region."""
