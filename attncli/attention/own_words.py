"""What an equation does, in plain words made from it: for steps whose author says nothing."""

from __future__ import annotations

from attncli.english import listed
from attncli.equation.indices import INDICES, KEPT
from attncli.equation.nodes import Call, Equation, Expression, Name, Number, Reduce, Ref, walk

_OPERATIONS = {
    "add": "a sum",
    "sub": "a difference",
    "mul": "a product",
    "div": "a quotient",
    "pow": "a power",
    "where": "a choice",
    "share": "a share",
}


def in_words(equation: Equation) -> str:
    """A sentence about a step: for which places it is, and what each number is.

    >>> from attncli.equation.parser import parse_equation
    >>> in_words(parse_equation("total[i] = sum(j, weights[i, j])"))
    'For each query: the sum over all keys, from `weights`.'
    """
    places = [f"each {_place(letter)}" for letter in equation.target.letters]
    what = _what(equation.expression)
    if not places:
        return f"One number: {what}."
    return f"For {listed(places)}: {what}."


def _place(letter: str) -> str:
    known = INDICES.get(letter) if letter in KEPT else None
    if known is None:
        return f"`{letter}`"
    return known.meaning.removeprefix("a ").removeprefix("an ").removeprefix("another ")


def _what(expression: Expression) -> str:
    read = [f"`{name}`" for name in _names(expression)]
    of = f" of {listed(read[:4])}" if read else ""
    match expression:
        case Reduce(function="add", index=letter):
            return f"the sum over all {_plural(letter)}, from {listed(read[:4])}"
        case Reduce(index=letter):
            return f"the largest over all {_plural(letter)}{of}"
        case Call(function=function) if function in _OPERATIONS:
            return f"{_OPERATIONS[function]}, from {listed(read[:4])}" if read else "a number"
        case Call(function=function):
            return f"{function}{of}"
        case Ref(name=name):
            return f"a number of `{name}`"
        case Number() | Name():
            return "the same number"


def _plural(letter: str) -> str:
    known = INDICES.get(letter) if letter in KEPT else None
    if known is None:
        return f"`{letter}`"
    place = _place(letter)
    if " " in place:
        first, _, rest = place.partition(" ")
        return f"{_many(first)} {rest}"
    return _many(place)


def _many(word: str) -> str:
    if word.endswith("y"):
        return (
            "queries" if word == "query" else f"{word[:-1]}ies" if word == "entry" else f"{word}s"
        )
    return f"{word}s"


def _names(expression: Expression) -> list[str]:
    names = dict.fromkeys(node.name for node in walk(expression) if isinstance(node, Ref))
    return list(names)
