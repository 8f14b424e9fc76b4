"""What an equation does, in plain words made from it: for steps whose author says nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from attncli.attention.softmax import INSIDE_OF_SOFTMAX
from attncli.english import listed
from attncli.equation.indices import INDICES, KEPT
from attncli.equation.nodes import Call, Equation, Expression, Name, Number, Reduce, Ref, walk
from attncli.equation.rule import Rule

_OPERATIONS = {
    "add": "a sum",
    "sub": "a difference",
    "mul": "a product",
    "div": "a quotient",
    "pow": "a power",
    "where": "a choice",
    "share": "a share",
}

# What is said of the built-in steps of a softmax that has another step in it: that the rows of the
# weights sum to 1 is true of the whole one alone.
_BESIDE_OWN_SOFTMAX = {
    "shifted": (
        "The number of each row in `row_max` is subtracted from every score of the row.",
        "",
    ),
    "exp": (
        "The exponential of every score.",
        "An exponential is never negative. If a score is higher by 1, its exponential is `e` ≈"
        " 2.718 times as large.",
    ),
    "row_sum": ("The sum of each row of `exp`.", ""),
    "weights": (
        "Row `i` says how much attention query `i` gives to each key: its number in `exp`, divided"
        " by that of its row in `row_sum`.",
        "",
    ),
}


def beside_own_softmax(rules: Sequence[Rule]) -> list[Rule]:
    """The rules with other words for the built-in steps of a softmax in which an equation of the
    problem's own has taken a place.
    """
    parts = (*INSIDE_OF_SOFTMAX, "weights")
    if not any(rule.own and rule.name in parts for rule in rules):
        return list(rules)
    return [_beside_own_softmax(rule) for rule in rules]


def _beside_own_softmax(rule: Rule) -> Rule:
    if rule.own or rule.name not in _BESIDE_OWN_SOFTMAX:
        return rule
    meaning, why = _BESIDE_OWN_SOFTMAX[rule.name]
    headline = rule.headline
    if rule.name == "weights":
        headline = "share(exp, row_sum)"
    return replace(rule, meaning=meaning, why=why, headline=headline)


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
