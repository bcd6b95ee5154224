"""Values in a document: names, computed numbers with their kinds, and conditions that must hold.

A small language in which an expression of dpcore is a text in double quotes::

    budget.epsilon                                     a named value and one of its parts
    deltas("laplace(0.1)^100", epsilon=1)              a function of the package
    2 * sigma + 1                                      arithmetic, rounded outward
    budget.epsilon <= 5 and budget.rows == 6           a condition, decided by both sides of every number

Nothing is evaluated as Python. Functions are the files of `dpcore.values.functions`.
"""

from dpcore.values.evaluation import ConditionVerdict, Scope, condition, text_functions, value
from dpcore.values.grammar import ValueParseError, parse_condition, parse_value
from dpcore.values.quantity import NumberValue, RecordValue, TextValue, Value
from dpcore.values.show import FORMATS, shown_value

__all__ = [
    "FORMATS",
    "ConditionVerdict",
    "NumberValue",
    "RecordValue",
    "Scope",
    "TextValue",
    "Value",
    "ValueParseError",
    "condition",
    "parse_condition",
    "parse_value",
    "shown_value",
    "text_functions",
    "value",
]
