"""What a printed number is made of: -3*sqrt(2)/2 is a fraction with a multiple of a root above the line."""

from __future__ import annotations

from attncli.equation.nodes import Call, Expression, Number


def numeral(text: str) -> Expression:
    """The printed number as a tree of `neg`, `ratio`, `multiple` and `sqrt` over numbers that are only digits.

    Digits may have a point and a power of ten, 1.5e+20; `inf` and `nan` count as digits.
    """
    if text.startswith("-"):
        return Call("neg", (numeral(text[1:]),))
    above, line, below = text.rpartition("/")
    if line:
        return Call("ratio", (numeral(above), numeral(below)))
    times, star, root = text.rpartition("*")
    if star:
        return Call("multiple", (numeral(times), numeral(root)))
    if text.startswith("sqrt("):
        return Call("sqrt", (numeral(text.removeprefix("sqrt(").removesuffix(")")),))
    return Number(None, text)


def unicode_digits(digits: str) -> str:
    """∞ for inf, also after a sign."""
    return digits.removesuffix("inf") + "∞" if digits.endswith("inf") else digits


def latex_digits(digits: str) -> str:
    r"""\infty for inf, and 1.5 \times 10^{20} for 1.5e+20."""
    if digits == "inf":
        return r"\infty"
    digits, power, exponent = digits.partition("e")
    return rf"{digits} \times 10^{{{int(exponent)}}}" if power else digits
