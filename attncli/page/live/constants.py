"""What the page's script knows of numbers and of colours, said once, in Python."""

from __future__ import annotations

from typing import Any

from attncli.equation.curves import PI
from attncli.equation.functions import MOST_EXACT_POWER
from attncli.equation.notation import INFINITY_SIGN
from attncli.equation.rounding import DIGITS, EXACTLY
from attncli.mistakes.mistaken_trace import ALIKE_WITHIN
from attncli.page.colors import MOST_TOLD_APART
from attncli.page.in_words import (
    ALMOST_ALL,
    ALMOST_NONE,
    HALF_A_TENTH_PERCENT,
    NEARLY_1,
    TIE,
)
from attncli.page.printer import (
    FLOAT_DIGITS,
    INFINITY,
    NAN,
    NEAR_TIE,
    NEAR_WHOLE,
    SAFE_UNITS,
)
from attncli.problem.text import decimal_commas, not_a_number, number_forms, numbers
from attncli.problem.text.number_signs import DASHES
from attncli.problem.text.pasted.text import TURNED
from attncli.problem.text.recurring_decimals import RECURRING
from attncli.tracing.warnings import MOST_QUERIES_NAMED

# More digits of a root are worked out than are compared, so that errors have room.
_SPARE_DIGITS = 10


def shared_constants() -> dict[str, Any]:
    """All of them; `Shared` in `render/html/script/types.d.ts` says what each of them is."""
    return {
        **_of_numbers_read(),
        **_of_numbers_printed(),
        "pasted": _of_pasted_matrices(),
        "most_exact_power": MOST_EXACT_POWER,
        "root_digits": DIGITS + _SPARE_DIGITS,
        "pi": str(PI),
        "same_digits": -EXACTLY.adjusted(),
        "tie": TIE,
        "half_a_tenth_percent": HALF_A_TENTH_PERCENT,
        "nearly_1": NEARLY_1,
        "almost_none": ALMOST_NONE,
        "almost_all": ALMOST_ALL,
        "alike_within": ALIKE_WITHIN,
        "most_queries_named": MOST_QUERIES_NAMED,
        "most_told_apart": MOST_TOLD_APART,
    }


def _of_numbers_read() -> dict[str, Any]:
    return {
        "plain": number_forms.PLAIN.pattern,
        # JavaScript spells named groups otherwise.
        "forms": [form.replace("(?P<", "(?<") for form in number_forms.FORMS],
        "minus_infinity": number_forms.MINUS_INFINITY,
        "longest_number": number_forms.LONGEST_NUMBER,
        "dashes": DASHES,
        "recurring": RECURRING,
        "grouped": not_a_number.GROUPED,
        "with_comma": not_a_number.WITH_COMMA,
        "without_end": not_a_number.WITHOUT_END,
        "examples": number_forms.EXAMPLES,
        "complaints": {each.name.lower(): each.value for each in number_forms.Complaint},
    }


def _of_pasted_matrices() -> dict[str, str]:
    return {
        "pair": decimal_commas.PAIR.pattern,
        "decimal": decimal_commas.DECIMAL.pattern,
        "one_group": decimal_commas.ONE_GROUP.pattern,
        "turned": TURNED.pattern,
    }


def _of_numbers_printed() -> dict[str, Any]:
    return {
        "infinity": INFINITY,
        "infinity_sign": INFINITY_SIGN,
        "nan": NAN,
        "plain_powers": [numbers.LEAST_PLAIN_POWER, numbers.MOST_PLAIN_POWER],
        "float_digits": FLOAT_DIGITS,
        "sure_below": SAFE_UNITS,
        "near_tie": NEAR_TIE,
        "near_whole": NEAR_WHOLE,
    }
