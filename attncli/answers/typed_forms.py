"""What a page in a browser needs to tell numbers of answers from other texts: regular expressions
that scripts read, too.
"""

from __future__ import annotations

from collections.abc import Mapping

from attncli.answers.arithmetic import FUNCTION_NAMES, NUMBER_TOKEN
from attncli.answers.claims import BLANK, LONGEST_NUMBER
from attncli.problem.text.number_forms import PLAIN
from attncli.problem.text.number_signs import RAISED_DIGITS


def typed_forms() -> Mapping[str, str | int | list[str]]:
    """The forms by their names in the script: a blank, a plain number, a number or a fraction in a
    calculation, the functions in it, raised digits, and how long a number may be.
    """
    return {
        "blank": BLANK.pattern,
        "plain": PLAIN.pattern,
        "token": NUMBER_TOKEN,
        "functions": [*FUNCTION_NAMES],
        "raised": RAISED_DIGITS,
        "longest": LONGEST_NUMBER,
    }
