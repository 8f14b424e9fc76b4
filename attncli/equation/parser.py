"""Read an equation written in Python syntax: `scores[i, j] = sum(k, Q[i, k] * K_T[k, j])`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from attncli.equation.functions import FUNCTIONS, MATRIX_FORMS, REDUCTIONS
from attncli.equation.nodes import Call, Equation, Expression, Name, Number, Reduce, Ref

OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.FloorDiv: "floor_div",
    ast.Mod: "mod",
    ast.LtE: "le",
    ast.Lt: "lt",
    ast.GtE: "ge",
    ast.Gt: "gt",
    ast.Eq: "eq",
    ast.And: "and_",
    ast.Or: "or_",
    ast.USub: "neg",
}
# A function without arguments.
PI = Call("pi", ())


class EquationError(ValueError):
    """An equation that cannot be read, from the character `at` on; `help` says what to write.

    Of a rule it is a fault, and of an equation that a person gave an error in the input.
    """

    def __init__(self, message: str, *, at: int = 0, help: str = "") -> None:
        super().__init__(message)
        self.at = at
        self.help = help


@lru_cache(maxsize=512)
def parse_equation(source: str) -> Equation:
    """`target[i, j] = expression` as a tree; raises EquationError naming the equation.

    >>> parse_equation("K_T[k, j] = K[j, k]").target
    Ref(name='K_T', indices=('k', 'j'))
    """
    try:
        statement = ast.parse(source.strip()).body[0]
    except (SyntaxError, IndexError) as error:
        raise EquationError(f"not an equation: {source!r}") from error
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        raise EquationError(f"not of the form target[i, j] = expression: {source!r}")
    target = _convert(statement.targets[0], source)
    if isinstance(target, Name):
        target = Ref(target.name)
    if not isinstance(target, Ref) or target.indices != target.letters:
        raise EquationError(f"the left side must be a name with letters as indices: {source!r}")
    return Equation(target, _convert(statement.value, source))


@lru_cache(maxsize=512)
def parse_expression(source: str) -> Expression:
    """An expression alone, as the headline of a rule (`Q @ K_T`) or a piece of prose
    (`sqrt(d_k)`).

    >>> parse_expression("sqrt(d_k)")
    Call(function='sqrt', arguments=(Name(name='d_k'),))
    """
    try:
        return _convert(ast.parse(source.strip(), mode="eval").body, source)
    except SyntaxError as error:
        raise EquationError(f"not an expression: {source!r}") from error


def _convert(node: ast.AST, source: str) -> Expression:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            text = str(value)
            return Number(Fraction(text), text)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Name(id="inf")):
            return Number(float("-inf"), "-inf")
        case ast.Name(id="inf"):
            return Number(float("inf"), "inf")
        case ast.Name(id="pi"):
            return PI
        case ast.Name(id=name):
            return Name(name)
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Tuple(elts=elements)):
            return Ref(name, tuple(_index(element, source) for element in elements))
        case ast.Subscript(value=ast.Name(id=name), slice=element):
            return Ref(name, (_index(element, source),))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            return binary(OPERATORS[type(op)], _convert(left, source), _convert(right, source))
        case ast.UnaryOp(op=op, operand=operand) if type(op) in OPERATORS:
            return Call(OPERATORS[type(op)], (_convert(operand, source),))
        case ast.BoolOp(op=op, values=values):
            return _joined(OPERATORS[type(op)], [_convert(value, source) for value in values])
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in OPERATORS:
            return Call(OPERATORS[type(op)], (_convert(left, source), _convert(right, source)))
        case ast.Call(func=ast.Name(id=name), args=[ast.Name(id=index), body]) if (
            name in REDUCTIONS
        ):
            return Reduce(REDUCTIONS[name], index, _convert(body, source))
        case ast.Call(func=ast.Name(id=name), args=arguments) if (
            name in FUNCTIONS or name in MATRIX_FORMS
        ):
            return Call(name, tuple(_convert(argument, source) for argument in arguments))
    raise EquationError(f"cannot read {ast.unparse(node)!r} in {source!r}")


def binary(function: str, left: Expression, right: Expression) -> Expression:
    """A sign before a product or a quotient is that of all of it, as it is read on paper: -a * b is
    -(a * b).
    """
    match left:
        case Call("neg", (inner,)) if function in ("mul", "div"):
            return Call("neg", (binary(function, inner, right),))
    return Call(function, (left, right))


def _index(node: ast.AST, source: str) -> str | Expression:
    return node.id if isinstance(node, ast.Name) else _convert(node, source)


def _joined(function: str, conditions: Sequence[Expression]) -> Call:
    """`a and (b and c)` is printed like `a and b and c`, and so it is the same."""
    joined: list[Expression] = []
    for condition in conditions:
        match condition:
            case Call(name, parts) if name == function:
                joined.extend(parts)
            case _:
                joined.append(condition)
    return Call(function, tuple(joined))
