"""Counts the operations of an equation by walking its tree: polynomials in the lengths of its indices.

A part of an equation is worked once for every place of the indices it depends on, as evaluation does it:
the products of Σ_d X[i,d]·W_Q[d,k] number i·d·k, their additions i·k·(d - 1), and √d_k is taken once. Of a choice, such
as that between the two features of a pair in a rotation, each place works only one branch: the longer one is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import TypeAlias

from attncli.equation.nodes import Call, Equation, Expression, Name, Reduce, Ref, whole
from attncli.equation.positions import letters_in, names_in

Monomial: TypeAlias = tuple[str, ...]  # the letters of a product of lengths, sorted; () is 1
Polynomial: TypeAlias = Mapping[Monomial, int]

KINDS = {
    "mul": "multiplications", "add": "additions", "add_mask": "additions", "sub": "subtractions", "neg": "subtractions",
    "div": "divisions", "share": "divisions", "exp": "exponentials", "pow": "powers", "sqrt": "roots",
    "log": "logarithms", "tanh": "hyperbolic tangents", "sin": "sines", "cos": "cosines", "abs": "absolute values",
    "floor_div": "divisions", "mod": "divisions", "max": "comparisons", "le": "comparisons", "lt": "comparisons",
    "ge": "comparisons", "gt": "comparisons", "eq": "comparisons", "finite": "comparisons",
    "and_": "conjunctions", "where": "choices",
}  # fmt: skip
_BETWEEN = ("add", "mul", "max", "and_")  # one operation between each two of any number of arguments


def operations(equation: Equation) -> dict[str, Polynomial]:
    """How often each kind of operation is done, as a polynomial; kinds that do not occur are left out."""
    letters = letters_in(equation)
    counts: dict[str, Counter[Monomial]] = {}
    for node in _worked(equation.expression):
        if isinstance(node, Call):
            times = len(node.arguments) - 1 if node.function in _BETWEEN else 1
            counts.setdefault(KINDS[node.function], Counter())[_free(node, letters)] += times
        elif isinstance(node, Reduce):
            count = counts.setdefault(KINDS[node.function], Counter())
            count[_free(node.body, letters)] += 1  # the first term of every sum is only taken
            count[_free(node, letters)] -= 1
    return {kind: dict(counts[kind]) for kind in dict.fromkeys(KINDS.values()) if kind in counts}


def number(polynomial: Polynomial, sizes: Mapping[str, int]) -> int:
    """The value of a polynomial for these lengths, exactly."""
    return sum(times * prod(sizes[letter] for letter in letters) for letters, times in polynomial.items())


def in_cells(equation: Equation, polynomial: Polynomial) -> Polynomial:
    """The part that is done anew in every cell of the result, and not once for a row, a column or all."""
    return {letters: times for letters, times in polynomial.items() if {*equation.target.letters} <= {*letters}}


def growth(polynomials: Iterable[Polynomial], symbols: Mapping[str, str]) -> Expression | None:
    """The terms that no other outgrows, with a symbol for each letter: n² · d_k.

    Symbols stand in the order of the mapping; one may be a product, heads*d_v. None where nothing is counted.
    """
    factors = {letter: symbol.split("*") for letter, symbol in symbols.items()}
    order = list(dict.fromkeys(symbol for product in factors.values() for symbol in product))
    terms = {
        tuple(Counter(symbol for letter in letters for symbol in factors[letter])[symbol] for symbol in order)
        for polynomial in polynomials
        for letters in polynomial
    }
    outgrown = {term for term in terms for other in terms - {term} if all(map(int.__le__, term, other))}
    return _joined("add", [_product(term, order) for term in sorted(terms - outgrown, reverse=True)])


def _product(powers: tuple[int, ...], order: list[str]) -> Expression:
    factors: list[Expression] = [
        Name(symbol) if power == 1 else Call("pow", (Name(symbol), whole(power)))
        for symbol, power in zip(order, powers, strict=True)
        if power
    ]
    return _joined("mul", factors) or whole(1)


def _joined(function: str, parts: Sequence[Expression]) -> Expression | None:
    return Call(function, tuple(parts)) if len(parts) > 1 else parts[0] if parts else None


def _worked(expression: Expression) -> Iterator[Expression]:
    """Every node that is worked out for a cell."""
    yield expression
    match expression:
        case Call(function="where", arguments=(condition, first, second)):
            branches = [list(_worked(first)), list(_worked(second))]
            yield from (*_worked(condition), *max(branches, key=len))
        case Call(arguments=arguments):
            yield from (node for argument in arguments for node in _worked(argument))
        case Reduce(body=body):
            yield from _worked(body)


def _free(expression: Expression, letters: frozenset[str]) -> Monomial:
    """The indices that the value of an expression depends on."""
    return tuple(sorted(_depends(expression) & letters))


def _depends(expression: Expression) -> set[str]:
    match expression:
        case Ref(indices=indices):
            return {letter for index in indices for letter in names_in(index)}
        case Name(name=name):
            return {name}
        case Call(arguments=arguments):
            return set().union(*map(_depends, arguments))
        case Reduce(index=index, body=body):
            return _depends(body) - {index}
    return set()
