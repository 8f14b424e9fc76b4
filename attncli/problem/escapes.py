"""Says what is wrong with an escape in a quoted text of YAML, in the same words whichever parser stumbles over it.

Of PyYAML's two, the one in C refuses half of a surrogate pair and the one in Python lets it pass; past the last of
characters the one in Python fails altogether.
"""

from __future__ import annotations

import json
import re
from typing import NoReturn

from attncli.problem.values import ErrorCollector

SURROGATE = re.compile("[\ud800-\udfff]")
NO_HALF = "half of a surrogate pair is not a character", "write the character itself"
_DIGITS = {"x": 2, "u": 4, "U": 8}
_FIRST_HALF, _LAST_HALF, _LAST = 0xD800, 0xDFFF, 0x10FFFF
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")  # as JSON has it


def fail_in_words(errors: ErrorCollector, at: int, words: str) -> None:
    """End the reading where the words of a parser, which stopped there, are about an escape."""
    if "unknown escape" in words:
        fail_at(errors, at - (errors.source.text[at : at + 1] != "\\"))
    if "hexdecimal" in words or "hexadecimal" in words or "invalid Unicode" in words:
        fail_at(errors, at - len(r"\u"))


def fail_inside(errors: ErrorCollector, at: int) -> NoReturn:
    """End the reading for the first half of a surrogate pair in the text that begins there."""
    for found in _ESCAPE.finditer(errors.source.text, at):
        if found[0][1] in "uU" and _FIRST_HALF <= int(found[0][2:], 16) <= _LAST_HALF:
            fail_at(errors, found.start())
    raise AssertionError("unreachable: only an escape makes a surrogate")


def fail_at(errors: ErrorCollector, at: int) -> NoReturn:
    """End the reading for the escape with this backslash."""
    text = errors.source.text
    sign = text[at + 1 : at + 2]
    if sign not in _DIGITS:
        help = r"write a backslash as \\, or use single quotes"
        errors.fail("there is no such escape in a text", at=at, help=help)
    digits = text[at + 2 : at + 2 + _DIGITS[sign]]
    if not re.fullmatch(f"[0-9a-fA-F]{{{_DIGITS[sign]}}}", digits):
        help = rf"write a backslash as \\, or an escape such as \{sign}{'e9'.zfill(_DIGITS[sign])}"
        errors.fail(rf"\{sign} needs {_DIGITS[sign]} hexadecimal digits", at=at, help=help)
    if pair := _PAIR.match(text, at):
        character = json.loads(f'"{pair[0]}"')
        help = f"write the character itself, or \\U{ord(character):08X}"
        errors.fail(f"YAML does not write a character in two halves, as in {pair[0]}", at=at, help=help)
    if int(digits, 16) > _LAST:
        errors.fail(f"there is no character U+{digits.lstrip('0').upper()}", at=at, help=f"U+{_LAST:X} is the last")
    errors.fail(NO_HALF[0], at=at, help=NO_HALF[1])
