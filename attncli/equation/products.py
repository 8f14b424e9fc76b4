"""Sums of products as they are written on paper: factors in the order of a matrix product, sums
around what they need.

The chain rule leaves a heap of factors, and of letters to be summed over. Put in order they read as
Σ_j dS[i, j]·K[j, k], which is dS K, and not as Σ_j K[j, k]·dS[i, j].
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from attncli.equation.indexing import free_names, names_in, replace_letters, unused_letter
from attncli.equation.nodes import Call, Expression, Number, Reduce, number_node


@dataclass(frozen=True, slots=True)
class Product:
    """A signed product of factors over divisors, summed over letters, the outermost first."""

    factors: tuple[Expression, ...] = ()
    divisors: tuple[Expression, ...] = ()
    summed: tuple[str, ...] = ()
    negative: bool = False


def as_product(expression: Expression) -> Product:
    """The factors of an expression; those of a sum are among them, and its letter among the others
    summed over.

    Of -(a·Σ_k b[k]), they are a and b[k], summed over k, and it is negative.
    """
    match expression:
        case Number(value=value) if value == 1:
            return Product()
        case Call(function="neg", arguments=(inner,)):
            found = as_product(inner)
            return Product(found.factors, found.divisors, found.summed, not found.negative)
        case Call(function="mul", arguments=arguments):
            return _together(as_product(argument) for argument in arguments)
        case Call(function="div", arguments=(part, by)):
            return _together((as_product(part), Product(divisors=(by,))))
        case Reduce(function="add", index=index, body=body):
            within = _with_other_letters(as_product(body), frozenset((index,)))
            return replace(within, summed=(index, *within.summed))
        case _:
            return Product((expression,))


def to_expression(product: Product, target: Sequence[str]) -> Expression:
    """The product as one expression, for a cell with these letters; its sign stays in
    `negative`.
    """
    summed_over = {*product.summed}
    inside = [divisor for divisor in product.divisors if free_names(divisor) & summed_over]
    outside: list[Expression] = []
    summed: list[Expression] = []
    for factor in product.factors:
        if not summed_over or free_names(factor) & summed_over:
            summed.append(factor)
        else:
            outside.append(factor)
    body = _nested(_divided(summed, inside), product.summed, target)
    for factor in reversed(outside):
        body = Call("mul", (factor, body))
    for divisor in product.divisors:
        if divisor not in inside:
            body = Call("div", (body, divisor))
    return body


def _with_other_letters(product: Product, taken: frozenset[str]) -> Product:
    """The product with other letters for those it is summed over that are taken."""
    for letter in product.summed:
        if letter not in taken:
            continue
        parts = (*product.factors, *product.divisors)
        used = taken.union(product.summed, *map(names_in, parts))
        other = {letter: unused_letter(used, letter)}
        factors = tuple(replace_letters(factor, other) for factor in product.factors)
        divisors = tuple(replace_letters(divisor, other) for divisor in product.divisors)
        summed = tuple(other.get(each, each) for each in product.summed)
        product = Product(factors, divisors, summed, product.negative)
    return product


def _free_names(product: Product) -> frozenset[str]:
    """The names that a product depends on, without the letters it is summed over."""
    names: set[str] = set()
    for part in (*product.factors, *product.divisors):
        names |= free_names(part)
    return frozenset(names.difference(product.summed))


def _together(products: Iterable[Product]) -> Product:
    """All of them as one, whose sums go around all factors: each over a letter that no other part
    has a use for.
    """
    products = list(products)
    factors: list[Expression] = []
    divisors: list[Expression] = []
    summed: list[str] = []
    negative = False
    for at, product in enumerate(products):
        others = [*products[:at], *products[at + 1 :]]
        taken = frozenset(summed).union(*map(_free_names, others))
        product = _with_other_letters(product, taken)
        factors += product.factors
        divisors += product.divisors
        negative ^= product.negative
        summed += product.summed
    # What is multiplied and divided by the same is left as it is: c·(1 - tanh²)/c.
    for divisor in [each for each in divisors if each in factors]:
        factors.remove(divisor)
        divisors.remove(divisor)
    return Product(tuple(factors), tuple(divisors), tuple(summed), negative)


def _divided(factors: Sequence[Expression], divisors: Sequence[Expression]) -> list[Expression]:
    """The factors, with every divisor under the one that it shares most letters with."""
    found = list(factors)
    for divisor in divisors:
        names = free_names(divisor)
        shared = []
        for factor in found:
            both = free_names(factor) & names
            shared.append(len(both))
        at = shared.index(max(shared))
        found[at] = Call("div", (found[at], divisor))
    return found


def _nested(
    factors: Sequence[Expression], summed: Sequence[str], target: Sequence[str]
) -> Expression:
    """The factors from the row of the target to its column, each joined to the next by the letter
    they share.

    Factors are the points of a graph, and a letter that just two of them have is the line between
    these. Where the lines make one path, the product is a chain of matrix products, and each sum
    closes as soon as both its factors stand: Σ_k (Σ_j A[i, j]·B[j, k])·C[k, l]. A letter in one
    factor, or in three, such as that of a sum over heads, has no such place, and stands around all;
    so do all letters where there is no path.
    """
    carried = [free_names(factor) for factor in factors]
    links: dict[tuple[int, int], str] = {}
    for letter in summed:
        carriers = [number for number, letters in enumerate(carried) if letter in letters]
        if len(carriers) == 2:
            one, other = carriers
            # The last of several letters counts: rows come before heads and entries.
            links[one, other] = letter
    row = target[-2] if len(target) > 1 else None
    order = _path(links, len(factors), [row in letters for letters in carried])
    outer = [letter for letter in summed if not order or letter not in links.values()]
    order = order or list(range(len(factors)))
    body = factors[order[0]] if order else number_node(1)
    for before, number in pairwise(order):
        body = Call("mul", (body, factors[number]))
        joint = links.get((min(before, number), max(before, number)))
        if joint and joint not in outer:
            body = Reduce("add", joint, body)
    for letter in reversed(outer):
        body = Reduce("add", letter, body)
    return body


def _path(links: dict[tuple[int, int], str], number: int, has_row: Sequence[bool]) -> list[int]:
    """The factors in an order in which each is linked to the next, from one with the row; empty
    where there is none.
    """
    neighbours: dict[int, list[int]] = {at: [] for at in range(number)}
    for one, other in links:
        neighbours[one].append(other)
        neighbours[other].append(one)
    ends = [at for at, near in neighbours.items() if len(near) <= 1]
    branches = any(len(near) > 2 for near in neighbours.values())
    if len(links) != number - 1 or branches or not ends:
        return []
    first = min(ends, key=lambda at: not has_row[at])
    order = [first]
    while len(order) < number:
        following = [at for at in neighbours[order[-1]] if at not in order]
        if not following:
            return []
        order += following
    return order
