"""Exact numbers with closed forms: what attention makes of fractions and roots, and how it is compared and written.

A number is a Fraction where it is rational, and else a `Closed`: a sum of fractions times roots, powers of e, tanh, cos
and sin, and quotients by such sums. `unit.py`, `terms.py` and `number.py` have their arithmetic, `powers.py` and
`functions.py` what equations do with them, `value.py` their decimals, `form.py` how they are printed; `reading.py`
reads that back.
"""

from attncli.equation.closed.form import expression_of, text_of
from attncli.equation.closed.functions import work_exactly
from attncli.equation.closed.number import Closed, Exact, is_zero
from attncli.equation.closed.reading import read_closed
from attncli.equation.closed.terms import ExactError
from attncli.equation.closed.value import decimal_of, float_of

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
