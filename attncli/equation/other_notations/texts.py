"""Texts that are no equation in Python's syntax, and what their authors mean."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable
from typing import NamedTuple

from attncli.equation.other_notations.words import LATEX

_NAME = r"[A-Za-z]\w*"
# Words of Python that no name can be; the others stand in expressions.
_WORDS = {*keyword.kwlist} - {
    "and",
    "or",
    "not",
    "if",
    "else",
    "for",
    "in",
    "True",
    "False",
    "None",
}


class Misread(NamedTuple):
    """What cannot be read, at which character, and what to write."""

    message: str
    at: int
    help: str


def misread(text: str) -> Misread | None:
    """The first of the known forms in a text; None where there is none.

    >>> misread("scaled(i, j) = scores[i, j] / 2").help
    'write scaled[i, j] = …'
    """
    for find in _FORMS:
        found = find(text)
        if found is not None:
            return found
    return None


def _left_side(text: str) -> Misread | None:
    called = re.match(rf"\s*({_NAME})\(([a-z, ]*)\)\s*:?=(?!=)", text)
    if called is None:
        return None
    cell = f"{called[1]}[{called[2].strip()}]"
    return Misread("a cell has square brackets", called.start(1), f"write {cell} = …")


def _signs(text: str) -> Misread | None:
    for sign, message, help in _SIGNS:
        at = text.find(sign)
        if at >= 0:
            return Misread(message, at, help)
    return None


_SIGNS = (
    (":=", ":= is no sign here", "write ="),
    ("&&", "&& joins no conditions here", "write and: 0 <= i and i < j"),
    ("||", "|| joins no conditions here", "write or: i < 1 or i < j"),
    ("->", "-> is no sign here", "write ="),
    ("!(", "! cannot be read", "write where(condition, 0, 1) for what does not hold"),
    ("_{", "LaTeX cannot be read here", "write the indices in brackets: scores[i, j]"),
    ("^{", "LaTeX cannot be read here", "write ** for a power: x ** 2"),
)


def _latex(text: str) -> Misread | None:
    command = re.search(r"\\([A-Za-z]*)", text)
    if command is None:
        return None
    meant = LATEX.get(command[1])
    help = f"write {meant}" if meant else "write scores[i, j] = sum(k, Q[i, k] * K[j, k])"
    return Misread("LaTeX cannot be read here", command.start(), help)


def _sum_with_a_letter(text: str) -> Misread | None:
    found = re.search(r"(?<!\w)(sum|max|min|mean)_\{?([a-z])\}?", text)
    if found is None:
        return None
    function, letter = found.groups()
    return Misread(
        f"{function} takes its letter in the brackets",
        found.start(),
        f"write {function}({letter}, …)",
    )


def _call_without_brackets(text: str) -> Misread | None:
    functions = "exp|log|sqrt|tanh|sin|cos|sigmoid|relu|gelu|silu|softplus|erf|abs"
    found = re.search(rf"(?<!\w)({functions}) +(?=[A-Za-z0-9])", text)
    if found is None:
        return None
    name = found[1]
    return Misread(f"{name} has no brackets", found.start(), f"write {name}(…)")


def _loop(text: str) -> Misread | None:
    if not re.match(r"\s*for\b", text):
        return None
    return Misread(
        "for cannot be read",
        len(text) - len(text.lstrip()),
        "write the equation alone: it holds for every place of its letters",
    )


def _word_of_python(text: str) -> Misread | None:
    for found in re.finditer(_NAME, text):
        word = found[0]
        if word in _WORDS:
            message = f"{word} cannot be a name: it is a word of Python"
            return Misread(message, found.start(), f"give it another name, such as my_{word}")
    return None


def _range(text: str) -> Misread | None:
    found = re.search(r"(?<!\w)(sum|mean|max|min)\( *([a-z]) *=", text)
    if found is None:
        return None
    function, letter = found.groups()
    return Misread(
        f"{function} runs over a whole axis",
        found.start(),
        f"write {function}({letter}, …), and where(condition, …, 0) inside for a part of it",
    )


def _side_by_side(text: str) -> Misread | None:
    product = re.search(r"(?<![\w.])[0-9.]+ +(?=[A-Za-z])", text)
    if product is None:
        return None
    return Misread(
        "a number and a name stand side by side",
        product.start(),
        f"write * between them: {product[0].strip()} * …",
    )


def _size(text: str) -> Misread | None:
    if "|" not in text:
        return None
    return Misread("| cannot be read", text.index("|"), "write abs(x) for the size of x")


_FORMS: tuple[Callable[[str], Misread | None], ...] = (
    _loop,
    _left_side,
    _latex,
    _sum_with_a_letter,
    _range,
    _word_of_python,
    _signs,
    _call_without_brackets,
    _size,
    _side_by_side,
)
