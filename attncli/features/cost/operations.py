"""Counts the operations of an equation, as polynomials in the lengths of its indices.

A part of an equation is computed once for every combination of the indices that it depends on. So
Σ_d X[i,d]·W_Q[d,k] has i·d·k multiplications and i·k·(d - 1) additions, and √d_k is computed once.
In a choice, as between the two features of a pair in a rotation, each cell computes only one
branch; the longer branch is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import prod
from typing import TypeAlias

from attncli.equation.functions import FUNCTIONS
from attncli.equation.indexing import all_letters, free_names
from attncli.equation.nodes import (
    Call,
    Equation,
    Expression,
    Name,
    Number,
    Reduce,
    Ref,
    number_node,
)

# The letters of a product of lengths, sorted; () is 1.
Monomial: TypeAlias = tuple[str, ...]
Polynomial: TypeAlias = Mapping[Monomial, int]


def operations(equation: Equation) -> dict[str, Polynomial]:
    """How often each kind of operation occurs, as a polynomial; other kinds are left out."""
    letters = all_letters(equation)
    counts: dict[str, Counter[Monomial]] = {}
    for node in _nodes_worked_out(equation.expression):
        match node:
            # A constant is no operation.
            case Call(arguments=()):
                pass
            case Call(function=name, arguments=arguments):
                function = FUNCTIONS[name]
                times = len(arguments) - 1 if function.any_number else 1
                count = counts.setdefault(function.operation, Counter())
                count[_depends_on(node, letters)] += times
            case Reduce(function=name, body=body):
                count = counts.setdefault(FUNCTIONS[name].operation, Counter())
                # A sum of d terms has d - 1 additions.
                count[_depends_on(body, letters)] += 1
                count[_depends_on(node, letters)] -= 1
            case Number() | Name() | Ref():
                pass
    kinds = dict.fromkeys(function.operation for function in FUNCTIONS.values())
    in_order: dict[str, Polynomial] = {}
    for kind in kinds:
        if kind in counts:
            in_order[kind] = dict(counts[kind])
    return in_order


def number(polynomial: Polynomial, sizes: Mapping[str, int]) -> int:
    """The value of a polynomial for these lengths, exactly."""
    total = 0
    for letters, times in polynomial.items():
        lengths = (sizes[letter] for letter in letters)
        total += times * prod(lengths)
    return total


def in_cells(equation: Equation, polynomial: Polynomial) -> Polynomial:
    """The part that is computed for every cell of the result, and not once for a row, a column or
    all cells.
    """
    return {
        letters: times
        for letters, times in polynomial.items()
        if {*equation.target.letters} <= {*letters}
    }


def growth(polynomials: Iterable[Polynomial], symbols: Mapping[str, str]) -> Expression | None:
    """The terms that grow fastest, with a symbol for each letter: n² · d_k.

    The symbols have the order of the mapping; one may be a product, heads*d_v. None if there are no
    operations.
    """
    factors: dict[str, list[str]] = {}
    for letter, symbol in symbols.items():
        factors[letter] = symbol.split("*")
    order = list(dict.fromkeys(chain(*factors.values())))
    terms: set[tuple[int, ...]] = set()
    for letters in chain(*polynomials):
        powers: Counter[str] = Counter()
        for letter in letters:
            powers.update(factors[letter])
        terms.add(tuple(powers[symbol] for symbol in order))
    fastest: list[Expression] = []
    for term in sorted(terms, reverse=True):
        if not _is_outgrown(term, terms):
            fastest.append(_product(term, order))
    return _joined("add", fastest)


def _is_outgrown(term: tuple[int, ...], terms: Iterable[tuple[int, ...]]) -> bool:
    """Whether another term has no smaller power of any symbol: n · d_k beside n² · d_k."""
    others = (other for other in terms if other != term)
    return any(all(map(int.__le__, term, other)) for other in others)


def _product(powers: tuple[int, ...], order: list[str]) -> Expression:
    factors: list[Expression] = [
        Name(symbol) if power == 1 else Call("pow", (Name(symbol), number_node(power)))
        for symbol, power in zip(order, powers, strict=True)
        if power
    ]
    return _joined("mul", factors) or number_node(1)


def _joined(function: str, parts: Sequence[Expression]) -> Expression | None:
    return Call(function, tuple(parts)) if len(parts) > 1 else parts[0] if parts else None


def _nodes_worked_out(expression: Expression) -> Iterator[Expression]:
    """Every node that is computed for a cell."""
    yield expression
    match expression:
        case Call(function="where", arguments=(condition, first, second)):
            branches = [list(_nodes_worked_out(first)), list(_nodes_worked_out(second))]
            yield from (*_nodes_worked_out(condition), *max(branches, key=len))
        case Call(arguments=arguments):
            yield from (node for argument in arguments for node in _nodes_worked_out(argument))
        case Reduce(body=body):
            yield from _nodes_worked_out(body)
        case Number() | Name() | Ref():
            pass


def _depends_on(expression: Expression, letters: frozenset[str]) -> Monomial:
    """The indices that the value of an expression depends on."""
    return tuple(sorted(free_names(expression) & letters))
