"""What an equation does, in plain words made from it: for steps whose author says nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from attncli.attention.softmax import INSIDE_OF_SOFTMAX
from attncli.english import listed
from attncli.equation.indices import INDICES, KEPT, is_letter
from attncli.equation.nodes import Call, Equation, Expression, Name, Number, Reduce, Ref, walk
from attncli.equation.rule import Rule

# What a function makes, from several arrays; and, with "the" before it, of one cell.
_OPERATIONS = {
    "add": "a sum",
    "sub": "a difference",
    "mul": "a product",
    "div": "a quotient",
    "floor_div": "a quotient, rounded down",
    "mod": "a remainder of a division",
    "pow": "a power",
    "where": "a choice",
    "share": "a share",
    "neg": "an opposite",
    "max": "the larger of two numbers",
    "min": "the smaller of two numbers",
    "exp": "an exponential",
    "log": "a logarithm",
    "sqrt": "a root",
    "abs": "an absolute value",
    "tanh": "a hyperbolic tangent",
    "sin": "a sine",
    "cos": "a cosine",
    "relu": "what is above 0",
    "sigmoid": "a sigmoid",
    "gelu": "a GELU",
    "silu": "a SiLU",
    "softplus": "a softplus",
    "erf": "an error function",
}
# What is said of the built-in steps of a softmax that has another step in it: that the rows of the
# weights sum to 1 is true of the whole one alone.
_BESIDE_OWN_SOFTMAX = {
    "shifted": (
        "The number of each row in `row_max` is subtracted from every score of the row.",
        "",
    ),
    "exp": (
        "Take the exponential of every score.",
        "An exponential is never negative. If a score is higher by 1, its exponential is `e` ≈"
        " 2.718 times as large.",
    ),
    "row_sum": ("Add the numbers of each row of `exp`.", ""),
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
    over = _over_letters(expression)
    if over is not None:
        what, letters = over
        places = listed([_plural(letter) for letter in letters])
        # What is largest is one of these numbers, and a sum is made from them.
        link = of if what.endswith("est") else f", from {listed(read[:4])}"
        return f"{what} over all {places}{link if read else ''}"
    match expression:
        case Call(function=function, arguments=(Ref(name=name),)):
            article, _, what = _OPERATIONS.get(function, f"a {function}").partition(" ")
            if article == "what":
                return f"what is above 0 in `{name}`, and else 0"
            return f"the {what} of `{name}`"
        case Call("pi"):
            return "the number π"
        case Call(function=function):
            what = _OPERATIONS.get(function, f"a {function}")
            return f"{what}, from {listed(read[:4])}" if read else _of_positions(expression)
        case Ref(name=name):
            return f"a number of `{name}`"
        case Number(text=text):
            return f"the number {text}"
        case Name(name=name) if is_letter(name):
            return "its own position, counted from 0"
        case Name() | Reduce():
            return "the same number"


def _over_letters(expression: Expression) -> tuple[str, tuple[str, ...]] | None:
    """What is worked out over which letters: the sum, the mean, the largest or the smallest; None
    for anything else.
    """
    match expression:
        case Reduce(function="add", index=letter, body=body):
            inside = _over_letters(body)
            letters = inside[1] if inside and inside[0] == "the sum" else ()
            return "the sum", (letter, *letters)
        case Reduce(index=letter):
            return "the largest", (letter,)
        case Call("neg", (Reduce("max", letter, Call("neg", _)),)):
            return "the smallest", (letter,)
        case Call("div", (Reduce("add", letter), Name(name=length))) if _is_length(length, letter):
            return "the mean", (letter,)
        case _:
            return None


def _is_length(name: str, letter: str) -> bool:
    """Whether a name is how long the axis of a letter is: n_j, or d_k for k."""
    known = INDICES.get(letter) if letter in KEPT else None
    return name == f"n_{letter}" or (known is not None and name == known.length)


def _of_positions(expression: Expression) -> str:
    """What an expression is that reads no array."""
    has_letters = any(isinstance(node, Name) and is_letter(node.name) for node in walk(expression))
    return "a number that depends on the place alone" if has_letters else "a number"


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
