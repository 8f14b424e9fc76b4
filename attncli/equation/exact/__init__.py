"""Exact numbers with closed forms: what attention makes of fractions and roots, and how it is compared and written.

A number is a Fraction where it is rational, and else a `Closed`: a sum of fractions times roots, powers of e, tanh, cos
and sin, and quotients by such sums. `unit.py`, `terms.py` and `number.py` have their arithmetic, `powers.py` and
`functions.py` what equations do with them, `value.py` their decimals, `form.py` how they are printed; `reading.py`
reads that back.
"""

from attncli.equation.exact.decimals import decimal_of, float_of
from attncli.equation.exact.form import expression_of, text_of
from attncli.equation.exact.functions import work_exactly
from attncli.equation.exact.numbers import Closed, Exact, is_zero
from attncli.equation.exact.reading import read_closed
from attncli.equation.exact.terms import ExactError

__all__ = [
    "Closed",
    "Exact",
    "ExactError",
    "decimal_of",
    "expression_of",
    "float_of",
    "is_zero",
    "read_closed",
    "text_of",
    "work_exactly",
]
