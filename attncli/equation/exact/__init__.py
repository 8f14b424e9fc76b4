"""Exact numbers with closed forms: what attention makes of fractions and roots, and how it is
compared and written.

A number is a Fraction where it is rational, and else an `ExactNumber`: a sum of fractions times
roots and powers of e, and quotients by such sums. What has no such form is a Decimal of 50 digits.
`numbers.py` has their arithmetic, `functions.py` what equations do with them, `decimals.py` their
decimals, `text.py` how they are printed and read back.
"""

from attncli.equation.exact.decimals import decimal_of, float_of
from attncli.equation.exact.functions import EULERS_NUMBER, ExactValue, evaluate_exactly
from attncli.equation.exact.numbers import Exact, ExactError, ExactNumber, is_zero
from attncli.equation.exact.text import expression_of, read_exact, text_of

__all__ = [
    "EULERS_NUMBER",
    "Exact",
    "ExactError",
    "ExactNumber",
    "ExactValue",
    "decimal_of",
    "evaluate_exactly",
    "expression_of",
    "float_of",
    "is_zero",
    "read_exact",
    "text_of",
]
