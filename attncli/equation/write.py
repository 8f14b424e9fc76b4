"""Write an expression in a notation: one walker for formulas and for worked cells alike."""

from __future__ import annotations

from attncli.equation.notation import ATOM, MINUS, POWER, PRODUCT, Notation
from attncli.equation.tree import Call, Equation, Expression, Name, Number, Reduce, Ref


def write(expression: Expression, notation: Notation) -> str:
    """The expression as text, with parentheses only where it would read differently without them."""
    return _write(expression, notation)[0]


def write_equation(equation: Equation, notation: Notation) -> str:
    """target = expression."""
    left, right = write(equation.target, notation), write(equation.expression, notation)
    return f"{left} {notation.equals} {right}"


def _write(node: Expression, notation: Notation) -> tuple[str, int]:
    text, level = _form(node, notation)
    return text, min(level, MINUS) if text.startswith("-") else level


def _form(node: Expression, notation: Notation) -> tuple[str, int]:
    match node:
        case Number(text=text):
            fine = text.lstrip("-").replace(".", "", 1).isdigit() or text in ("inf", "-inf")
            return notation.number(text), ATOM if fine else PRODUCT
        case Name(name=name):
            return notation.name(name), ATOM
        case Ref(name=name, indices=()):
            return notation.name(name), ATOM
        case Ref(name=name, indices=indices):
            return notation.cell(notation.name(name), indices), ATOM
        case Reduce(function=function, index=index, body=body):
            form = notation.sums if function == "add" else notation.maxima
            return form.format(index=index, body=_within(body, PRODUCT, notation)), PRODUCT
        case Call(function=function, arguments=arguments):
            return _call(function, arguments, notation)
    raise TypeError(f"cannot write {node!r}")


def _call(function: str, arguments: tuple[Expression, ...], notation: Notation) -> tuple[str, int]:
    spelling = notation.functions[function]
    needs = spelling.needs + spelling.needs[-1:] * len(arguments)
    parts = [_within(argument, need, notation) for argument, need in zip(arguments, needs, strict=False)]
    if function == "max":
        return f"max({', '.join(parts)})", ATOM
    if spelling.joins:
        return spelling.form.join(parts), spelling.level
    if spelling.of_number and isinstance(arguments[0], Number):
        return spelling.of_number.format(*parts), POWER
    if spelling.of_number:  # the ordinary form brings its own parentheses
        parts = [write(argument, notation) for argument in arguments]
    return spelling.form.format(*parts), spelling.level


def _within(node: Expression, need: int, notation: Notation) -> str:
    text, level = _write(node, notation)
    return notation.parenthesis.format(text) if level < need else text
