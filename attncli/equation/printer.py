"""Write an expression in a notation: one walker for formulas and for worked cells alike."""

from __future__ import annotations

import re

from attncli.equation.nodes import Call, Equation, Expression, Name, Number, Reduce, Ref
from attncli.equation.notation import ATOM, POWER, PRODUCT, Notation

_DIGITS = re.compile(r"[0-9.]+")
# Such a number looks alike in every notation, as does nearly every number of a large matrix.
_SIMPLE = re.compile(r"-?[0-9.]+")


def write(expression: Expression, notation: Notation) -> str:
    r"""The expression as text, with parentheses only where it would read differently without
    them.

    >>> from attncli.equation.notation import LATEX, UNICODE
    >>> from attncli.equation.parser import parse_expression
    >>> product = parse_expression("(a * (b + c)) * sqrt(d_k)")
    >>> write(product, UNICODE)
    'a·(b + c)·√d_k'
    >>> print(write(product, LATEX))
    a \cdot (b + c) \cdot \sqrt{d_{k}}
    """
    return _write(expression, notation)[0]


def write_equation(equation: Equation, notation: Notation) -> str:
    """target = expression.

    >>> from attncli.equation.notation import UNICODE
    >>> from attncli.equation.parser import parse_equation
    >>> write_equation(parse_equation("S[i, j] = sum(k, Q[i, k] * K_T[k, j])"), UNICODE)
    'S[i, j] = Σ_k Q[i, k]·Kᵀ[k, j]'
    """
    left, right = write(equation.target, notation), write(equation.expression, notation)
    return f"{left} {notation.equals} {right}"


def write_number(text: str, notation: Notation) -> str:
    r"""A number as printed, such as 1/3 or -inf.

    >>> from attncli.equation.notation import LATEX
    >>> print(write_number("-1/3", LATEX))
    -\frac{1}{3}
    """
    if _SIMPLE.fullmatch(text):
        return text
    return write(numeral(text), notation)


def numeral(text: str) -> Expression:
    """The printed number as a tree of `neg`, `ratio`, `multiple` and `sqrt` over numbers that are
    only digits.

    Digits may have a point and a power of ten, 1.5e+20; `inf` and `nan` count as digits.

    >>> numeral("-5")
    Call(function='neg', arguments=(Number(value=None, text='5'),))
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


def _write(node: Expression, notation: Notation) -> tuple[str, int]:
    """The text, and how tightly it binds."""
    match node:
        # Most numbers are only digits, and need no tree.
        case Number(text=text) if _DIGITS.fullmatch(text):
            return notation.digits(text), ATOM
        case Number(text=text):
            tree = numeral(text)
            if not isinstance(tree, Number):
                return _write(tree, notation)
            return notation.digits(text), PRODUCT if "e" in text else ATOM
        case Name(name=name) | Ref(name=name, indices=()):
            return _named(notation.name(name), notation)
        case Ref(name=name, indices=indices):
            positions = tuple(_position(index, notation) for index in indices)
            return _named(notation.cell(name, positions), notation)
        case Reduce(function=function, index=index, body=body):
            form = notation.sums if function == "add" else notation.maxima
            return (
                form.format(index=notation.name(index), body=_within(body, PRODUCT, notation)[0]),
                PRODUCT,
            )
        case Call(function=function, arguments=arguments):
            return _call(function, arguments, notation)
    raise TypeError(f"cannot write {node!r}")


def _named(text: str, notation: Notation) -> tuple[str, int]:
    """A name: one with something raised is put in parentheses before a power."""
    is_raised = any(sign in text for sign in notation.raised)
    return text, POWER if is_raised else ATOM


def _position(index: str | Expression, notation: Notation) -> str:
    return notation.name(index) if isinstance(index, str) else write(index, notation)


def _call(function: str, arguments: tuple[Expression, ...], notation: Notation) -> tuple[str, int]:
    spelling = notation.spelling(function)
    if spelling.of_number and isinstance(arguments[0], Number):
        spelling = spelling.of_number
    needs = spelling.needs + spelling.needs[-1:] * len(arguments)
    if function == "neg" and _rounds_down(arguments[0]):
        # -a // b is (-a) // b, and another number than -(a // b).
        needs = (POWER,)
    written = [
        _within(argument, need, notation) for argument, need in zip(arguments, needs, strict=False)
    ]
    # A form that begins with its first argument begins with its minus, too, and binds no tighter.
    level = (
        min(spelling.level, written[0][1]) if spelling.form.startswith("{0}") else spelling.level
    )
    parts = [text for text, _ in written]
    if spelling.of_tall and any(_is_tall(text, notation) for text in parts):
        spelling = spelling.of_tall
    if spelling.separator:
        parts = [spelling.separator.join(parts)]
    return spelling.form.format(*parts), level


def _rounds_down(node: Expression) -> bool:
    return isinstance(node, Call) and node.function in ("floor_div", "mod")


def _within(node: Expression, need: int, notation: Notation) -> tuple[str, int]:
    """The text, in parentheses where it does not bind as tightly as is needed, and how tightly it
    binds then.
    """
    text, level = _write(node, notation)
    if level >= need:
        return text, level
    around = notation.tall_parenthesis if _is_tall(text, notation) else notation.parenthesis
    return around.format(text), ATOM


def _is_tall(text: str, notation: Notation) -> bool:
    """Whether something in the text is taller than a line."""
    return any(sign in text for sign in notation.tall)
