"""Signs that people and programs write in numbers, in those of a keyboard: 2^(-1) for 2⁻¹, 5/3 for
5÷3, 1.5×10^3 for 1.5x10^3.
"""

from __future__ import annotations

import re
import unicodedata

# Word processors and web pages have these for a minus sign.
DASHES = "−–—‐‑‒﹣－"
# A · may be a decimal point, too, so that it is no *.
TIMES = "*·×⋅"
_SAME_SIGN = str.maketrans({"÷": "/", "∕": "/", "∗": "*", "∙": "·"})
RAISED_DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
# Above a ⁄ they are a numerator.
_RAISED_POWER = re.compile(
    rf"(?<=[^\s⁺⁻{RAISED_DIGITS}])[⁺⁻]?[{RAISED_DIGITS}]+(?![⁺⁻⁄{RAISED_DIGITS}])"
)
# An x is a × before a power of ten, and in 0x10 it says that the number is hexadecimal.
_X_BEFORE_POWER_OF_TEN = re.compile(
    r"(?<![0-9.])((?:[1-9][0-9]*\.?[0-9]*|0?\.[0-9]+)\s*)[xX](?=\s*10\s*(?:\^|\*\*|[-−–]?[0-9]))"
)
_POWER_OF_TEN = re.compile(
    rf"([-+]?[0-9.]+)\s*[{TIMES}]\s*10\s*(?:\^|\*\*)\s*(?:([-+]?[0-9]+)|\(\s*([-+]?[0-9]+)\s*\))"
)
# The full-width 3 of Chinese and Japanese keyboards, and the 3 of formulas in a document.
_LOOKS_OF_A_SIGN = ("<wide>", "<font>")


def in_keyboard_signs(text: str) -> str:
    """A number in the signs of a keyboard, with × · ⋅ √, fractions such as ½, and dashes left in
    it.

    Each sign that is changed has one meaning in numbers.
    """
    if not text.isascii():
        text = "".join(map(_plain_sign, text)).translate(_SAME_SIGN)
        text = _RAISED_POWER.sub(_as_power, text)
    return _X_BEFORE_POWER_OF_TEN.sub(r"\1×", text)


def with_exponent(number: str) -> str:
    """1.5e3 for 1.5·10^3; any other text as it is."""
    found = _POWER_OF_TEN.fullmatch(number)
    return f"{found[1]}e{found[2] or found[3]}" if found else number


def _plain_sign(sign: str) -> str:
    """The sign on a keyboard that this one is in another width or font."""
    if sign in DASHES:
        return sign
    look, _, code = unicodedata.decomposition(sign).partition(" ")
    plain = chr(int(code, 16)) if look in _LOOKS_OF_A_SIGN else sign
    return plain if plain.isascii() else sign


def _as_power(raised: re.Match[str]) -> str:
    """^(-3) for ⁻³."""
    digits = unicodedata.normalize("NFKC", raised[0]).replace("−", "-")
    return f"^({digits})"
