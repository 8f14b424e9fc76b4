"""Says why a text is not a number, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from attncli.english import shorten

_FORMS = "numbers look like 3, -0.5, .5, 1e3, 1/3 or sqrt(2)"
_Help: TypeAlias = Callable[[re.Match[str]], str]


class NumberError(ValueError):
    """A text that is no number attncli reads; `help` says what to write instead."""

    def __init__(self, message: str, help: str) -> None:
        super().__init__(message)
        self.message = message
        self.help = help


def why_not_a_number(text: str) -> tuple[str, str]:
    """(message, help) for a text outside the grammar of numbers."""
    shown = shorten(text)
    for pattern, message, help in _REASONS:
        if found := re.fullmatch(pattern, text.strip(), re.ASCII | re.IGNORECASE):
            return message.format(shown), help(found)
    return f"{shown} is not a number", _FORMS


def _fixed(help: str) -> _Help:
    return lambda found: help


def _decimal(found: re.Match[str]) -> str:
    base = {"x": 16, "o": 8, "b": 2}[found[2].lower()]
    try:
        return f"write {found[1]}{int(found[3][:15], base)}" if len(found[3]) <= 15 else _FORMS
    except ValueError:
        return _FORMS


_REASONS: tuple[tuple[str, str, _Help], ...] = (
    (r"|~|null", "there is no number here", _fixed("write a number, such as 0")),
    (r"true|false|yes|no|on|off", "{} is a truth value, not a number", _fixed("write 1 or 0")),
    (r"[-+]?\.?nan", "{} is not a number", _fixed("a matrix holds finite numbers only")),
    (r"[-+]?\.?inf(inity)?", "{} is not allowed here",
     _fixed("only a mask can hold an infinity, and only -inf, which hides a key")),
    (r"\d{4}-\d\d?-\d\d?.*", "{} is a date, not a number", _fixed(_FORMS)),
    (r"[-+]?[\d_]*\d_[\d_.]*", "{} is not a number: digits are not grouped",
     lambda found: f"write {shorten(found[0].replace('_', ''))}"),
    (r"[-+]?\d+(:\d+)+(\.\d*)?", "{} is not a number", _fixed("hours and minutes are not read; " + _FORMS)),
    (r"([-+]?)0([xob])([0-9a-f]+)", "{} is not a decimal number", _decimal),
    (r"([-+]?)0+(\d.*)", "{} has a leading zero", lambda found: f"write {shorten(found[1] + found[2])}"),
    (r"[-+]?\d+,\d+", "{} is not a number", lambda found: f"write {shorten(found[0].replace(',', '.'))}"),
    (r"−.*", "{} begins with a minus sign that keyboards do not have",
     lambda found: f"write {shorten(found[0].replace('−', '-'))}"),
    (r"([-+]?\d*\.?\d+)\s*%", "{} is not a number", lambda found: f"write {shorten(found[1])}/100"),
    (r"√\(?(\d+)\)?", "{} is not a number", lambda found: f'write "sqrt({shorten(found[1])})"'),
)  # fmt: skip
