"""What the page's script knows of numbers and of colours, said once, in Python."""

from __future__ import annotations

from typing import Any

from attncli.equation.rounding import DIGITS, EXACTLY
from attncli.page.colors import LOOKS
from attncli.page.printer import FLOAT_DIGITS, NEAR_TIE, NEAR_WHOLE, SAFE_UNITS
from attncli.problem.text.numbers import DASHES, FORMS, LONGEST_NUMBER, MINUS_INFINITY, PLAIN
from attncli.problem.text.recurring_decimals import RECURRING

# More digits of a root are worked out than are compared, so that errors have room.
_SPARE_DIGITS = 10


def shared_constants() -> dict[str, Any]:
    """All of them; `Shared` in `render/html/script/types.d.ts` says what each of them is."""
    return {
        "plain": PLAIN.pattern,
        # JavaScript spells named groups otherwise.
        "forms": [form.replace("(?P<", "(?<") for form in FORMS],
        "minus_infinity": MINUS_INFINITY,
        "longest_number": LONGEST_NUMBER,
        "dashes": DASHES,
        "recurring": RECURRING,
        "float_digits": FLOAT_DIGITS,
        "sure_below": SAFE_UNITS,
        "near_tie": NEAR_TIE,
        "near_whole": NEAR_WHOLE,
        "same_digits": -EXACTLY.adjusted(),
        "root_digits": DIGITS + _SPARE_DIGITS,
        "hues": LOOKS,
    }
