"""Work one cell: the equation with a cell's numbers put in, and its value in exact or decimal
arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from attncli.equation.functions import FUNCTIONS, PRINTED_AS
from attncli.equation.indexing import Place, free_names, position
from attncli.equation.nodes import Call, Expression, Name, Number, Reduce, Ref, walk
from attncli.equation.rounding import DIGITS

# What was asked of conditions, and of the sums in them, at places of the letters they depend on.
Known: TypeAlias = dict[
    tuple[Callable[[Expression], Any], Expression, tuple[tuple[str, int], ...]], Any
]


def substitute(
    expression: Expression,
    place: Place,
    sizes: Mapping[str, int],
    number: Callable[[str, tuple[int, ...]], Expression],
    scalars: Mapping[str, Number],
    truth: Callable[[str, tuple[int, ...]], Expression] | None = None,
    known: Known | None = None,
) -> Expression:
    """The cell's own sentence: sums written out, every array cell replaced by `number(name,
    indices)`.

    A `where` whose condition the numbers decide is replaced by the branch it takes, and `finite` by
    the number it lets through. The `truth` of a cell is asked for a condition where `number` gives
    fewer digits: it may be above 0, and be printed as 0.000. What is `known` of conditions from
    other cells of the same equation is not worked out again, and what is found is put there. A sum
    among the terms of a sum hands them its own.

    >>> from attncli.equation.notation import UNICODE
    >>> from attncli.equation.parser import parse_expression
    >>> from attncli.equation.printer import numeral, write
    >>> numbers = {"Q": [["2", "0"]], "K": [["1/3", "-1"]]}
    >>> sentence = substitute(
    ...     parse_expression("sum(k, Q[i, k] * K[j, k])"),
    ...     place={"i": 0, "j": 0},
    ...     sizes={"k": 2},
    ...     number=lambda name, cell: numeral(numbers[name][cell[0]][cell[1]]),
    ...     scalars={},
    ... )
    >>> write(sentence, UNICODE)
    '2·(1/3) + 0·(-1)'
    """

    def put(node: Expression, place: Place) -> Expression:
        match node:
            case Ref(name=name, indices=indices):
                return number(name, tuple(position(index, place, scalars) for index in indices))
            case Name(name=name) if name in place:
                return Number(Fraction(place[name]), str(place[name]))
            case Name(name=name):
                return scalars.get(name, node)
            case Reduce(function=function, index=index, body=body):
                terms = tuple(put(body, {**place, index: at}) for at in range(sizes[index]))
                return Call(
                    function, tuple(term for each in terms for term in _terms(each, function))
                )
            case Call(function="where", arguments=(condition, yes, no)):
                holds = once(_holds, in_condition, condition, place)
                if holds is None:
                    return Call("where", tuple(put(each, place) for each in node.arguments))
                return put(yes if holds else no, place)
            case Call(function="finite", arguments=(argument,)):
                through = put(argument, place)
                return Number(Fraction(0), "0") if exact_value(through) == -math.inf else through
            case Call(function="add", arguments=arguments):
                return Call(
                    "add",
                    tuple(term for each in arguments for term in _terms(put(each, place), "add")),
                )
            case Call(function=function, arguments=arguments):
                return Call(function, tuple(put(argument, place) for argument in arguments))
            case Number():
                return node

    def in_full(node: Expression, place: Place) -> Expression:
        if truth is None:
            return put(node, place)
        return substitute(node, place, sizes, truth, scalars)

    def in_condition(node: Expression, place: Place) -> Expression:
        match node:
            case Reduce() if known is not None:
                number: Expression = once(_as_number, in_full, node, place)
                return number
            case Call(function=function, arguments=arguments) if function != "where":
                return Call(function, tuple(in_condition(each, place) for each in arguments))
        return in_full(node, place)

    def once(
        asked: Callable[[Expression], Any],
        numbers: Callable[[Expression, Place], Expression],
        node: Expression,
        place: Place,
    ) -> Any:
        if known is None:
            return asked(numbers(node, place))
        depends = free_names(node).intersection(place)
        key = (asked, node, tuple((letter, place[letter]) for letter in sorted(depends)))
        if key not in known:
            known[key] = asked(numbers(node, place))
        return known[key]

    return put(expression, place)


def _as_number(sentence: Expression) -> Expression:
    """The number that a sentence of numbers comes to; the sentence itself where not all of it is
    numbers.
    """
    exact = exact_value(sentence)
    if exact is not None:
        return Number(exact, str(exact))
    if any(isinstance(node, Name | Ref | Reduce) for node in walk(sentence)):
        return sentence
    return Number(None, str(decimal_value(sentence, {}, {}, _no_array, {})))


def _holds(condition: Expression) -> bool | None:
    """Whether a condition of numbers holds; None where not all of it is numbers."""
    exact = exact_value(condition)
    if exact is not None:
        return bool(exact)
    if any(isinstance(node, Name | Ref | Reduce) for node in walk(condition)):
        return None
    value = decimal_value(condition, {}, {}, _no_array, {})
    return bool(value)


def _no_array(name: str, index: tuple[int, ...]) -> Decimal:
    raise LookupError(f"{name}{list(index)} is still in a sentence that should hold numbers only")


def _terms(expression: Expression, function: str) -> tuple[Expression, ...]:
    return (
        expression.arguments
        if isinstance(expression, Call) and expression.function == function
        else (expression,)
    )


def exact_value(expression: Expression) -> Any:
    """The exact value of a worked cell's printed numbers: a Fraction, an infinity, a truth value,
    or None.

    >>> from attncli.equation.parser import parse_expression
    >>> exact_value(parse_expression("2*0.5 + 1/3")), exact_value(parse_expression("sqrt(2)"))
    (Fraction(4, 3), None)
    """
    match expression:
        case Number(value=value):
            return value
        case Call(function=function, arguments=arguments):
            values = [exact_value(argument) for argument in arguments]
            meant = FUNCTIONS.get(PRINTED_AS.get(function, function))
            if None in values or meant is None:
                return Fraction(0) if meant and 0 in values[: meant.zero_arguments] else None
            try:
                return meant.rational(*values)
            except (ZeroDivisionError, OverflowError):
                return None
        case Name() | Ref() | Reduce():
            return None


def decimal_value(
    expression: Expression,
    place: Place,
    sizes: Mapping[str, int],
    number: Callable[[str, tuple[int, ...]], Decimal],
    scalars: Mapping[str, Decimal],
) -> Decimal:
    """One cell's value as a pocket calculator of 50 digits finds it from `number(name, indices)`.

    What is too large for it is infinite, and what it cannot divide is NaN, as in floating point.
    """

    def apply(function: str, *arguments: Any) -> Any:
        # Closed forms have quotients and powers of their own, which are printed in another way.
        return FUNCTIONS[PRINTED_AS.get(function, function)].decimal(*arguments)

    arithmetic = Arithmetic(Decimal, as_decimal_constant, apply)
    with localcontext(Context(prec=DIGITS, traps=[])):
        return Decimal(evaluate_cell(expression, place, sizes, number, scalars, arithmetic))


def as_decimal_constant(number: Number) -> Decimal:
    """A number that stands in an equation, in the context of decimals at hand."""
    if isinstance(number.value, Fraction):
        return Decimal(number.value.numerator) / Decimal(number.value.denominator)
    return Decimal(number.text)


class Arithmetic(NamedTuple):
    """One kind of numbers: a position as such a number, a number of an equation, and a function of
    such numbers.
    """

    whole: Callable[[int], Any]
    constant: Callable[[Number], Any]
    # It takes the name of a function and its arguments.
    apply: Callable[..., Any]


def evaluate_cell(
    expression: Expression,
    place: Place,
    sizes: Mapping[str, int],
    read: Callable[[str, tuple[int, ...]], Any],
    scalars: Mapping[str, Any],
    arithmetic: Arithmetic,
) -> Any:
    """One cell's value in any kind of numbers; `read(name, indices)` gives the cells of arrays."""
    whole, constant, apply = arithmetic

    def value(node: Expression, place: Place) -> Any:
        match node:
            case Ref(name=name, indices=indices):
                return read(name, tuple(position(index, place, scalars) for index in indices))
            case Number():
                return constant(node)
            case Name(name=name):
                return whole(place[name]) if name in place else scalars[name]
            case Reduce(function=function, index=index, body=body):
                return apply(
                    function, *(value(body, {**place, index: at}) for at in range(sizes[index]))
                )
            case Call(function="where", arguments=(condition, yes, no)):
                return value(yes if value(condition, place) else no, place)
            case Call(function=function, arguments=arguments):
                return apply(function, *(value(argument, place) for argument in arguments))

    return value(expression, place)
