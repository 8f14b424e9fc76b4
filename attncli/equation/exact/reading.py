"""Closed forms read from text: 5/sqrt(3), e^(5/√3)/(1 + e^2), 2*tanh(1/2), 0.25, as `text_of` and people write them."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from functools import reduce

from attncli.equation.exact.functions import work_exactly
from attncli.equation.exact.numbers import Exact
from attncli.equation.exact.powers import NAPIER
from attncli.equation.exact.terms import ExactError
from attncli.equation.nodes import Call, Expression, Number, rewrite
from attncli.equation.parser import EquationError, parse_expression

MOST_CHARACTERS = 100_000
MOST_TIMES = 20  # that a divisor is taken as a factor of its own; a higher power is multiplied out
_ROOT = re.compile(r"√(\d+)")
_SIGNS = str.maketrans({"^": "**", "·": "*", "−": "-", "√": "sqrt", "∞": "inf"})
_KNOWN = re.compile(r"(?:\d+(?:\.\d+)?|sqrt|exp|ln|tanh|sin|cos|inf|e|[-+*/() ])*")


def read_closed(text: str) -> Exact | float:
    """The number that a closed form says, or -inf; raises ExactError where it is none."""
    plain = _ROOT.sub(r"sqrt(\1)", text).translate(_SIGNS).strip()
    if len(plain) > MOST_CHARACTERS or not _KNOWN.fullmatch(plain):
        raise ExactError("not a closed form")
    try:
        expression = rewrite(parse_expression(plain.replace("ln", "log")), _factor_by_factor)
        found: Exact | float = work_exactly(expression, {}, {}, _nowhere, {"e": NAPIER})
    except (EquationError, RecursionError, MemoryError, TypeError, KeyError, ValueError) as error:
        raise ExactError(str(error) if isinstance(error, ExactError) else "not a closed form") from error
    except ZeroDivisionError as error:
        raise ExactError("it divides by zero") from error
    if isinstance(found, float) and found != -math.inf:
        raise ExactError("not a closed form")
    return found


def _factor_by_factor(node: Expression) -> Expression:
    """A quotient by a product or a power as quotients by its factors, as which exact numbers keep them."""
    match node:
        case Call("div", (above, Call("mul", factors))):
            return reduce(lambda left, factor: _factor_by_factor(Call("div", (left, factor))), factors, above)
        case Call("div", (above, Call("pow", (base, Number(value=Fraction(denominator=1, numerator=times)))))):
            if 1 < times <= MOST_TIMES:
                return reduce(lambda left, factor: Call("div", (left, factor)), [base] * times, above)
    return node


def _nowhere(name: str, index: tuple[int, ...]) -> Exact:
    raise ExactError(f"{name} is not known")
