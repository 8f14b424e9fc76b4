"""A worked line in stages, as 50·tanh(100 / 50) = 50·tanh(2) ≈ 50·0.964, and whether `=` or `≈`
stands before each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import NamedTuple

from attncli.equation.functions import FUNCTIONS
from attncli.equation.nodes import Call, Expression, Number, rewrite, walk
from attncli.equation.rounding import EXACTLY
from attncli.equation.substitution import decimal_value, exact_value
from attncli.page.printer import printed_value

NO_DIVISOR = ("the divisor is printed as 0; a higher --precision shows its digits",)
STAGED = frozenset(name for name, function in FUNCTIONS.items() if function.looked_up)
Print = Callable[[float], Number]


class Stage(NamedTuple):
    """A line once more with some of its parts as numbers; whether it `holds` that it comes to the
    same.
    """

    sentence: Expression
    holds: bool


def needs_lookup(expression: Expression) -> bool:
    """Whether there is such a function in it, whose values are hardly ever rational."""
    return any(isinstance(node, Call) and node.function in STAGED for node in walk(expression))


def gives(sentence: Expression, result: Number) -> bool:
    """Whether the printed numbers of a sentence give exactly the printed result.

    What fractions leave open because of roots, as √2·√2, is worked to 50 digits, which tell it from
    any number that is printed.
    """
    exact = exact_value(sentence)
    if exact is not None or needs_lookup(sentence):
        return exact is not None and bool(exact == result.value)
    value, printed = value_of_numbers(rewrite(sentence, _in_digits)), printed_value(result)
    if not (value.is_finite() and printed.is_finite()):
        return False
    return abs(value - printed) < EXACTLY * max(Decimal(1), abs(printed))


def divides_by_nothing(sentence: Expression) -> bool:
    """Whether a divisor is printed as 0 without being 0, so that the printed numbers give nothing
    at all.
    """
    calls = (
        node
        for node in walk(sentence)
        if isinstance(node, Call) and node.function in ("div", "share")
    )
    return any(exact_value(call.arguments[1]) == 0 for call in calls)


def _in_digits(node: Expression) -> Expression:
    """A printed root with 50 digits."""
    return (
        Number(None, str(printed_value(node)))
        if isinstance(node, Number) and node.value is None
        else node
    )


def value_of_numbers(sentence: Expression) -> Decimal:
    """What a sentence that holds numbers only comes to, to 50 digits."""
    return decimal_value(sentence, {}, {}, _no_array, {})


def _no_array(name: str, index: tuple[int, ...]) -> Decimal:
    raise LookupError(f"{name}{list(index)} is still in a sentence that should hold numbers only")


def stages(sentence: Expression, truth: Expression, number: Print) -> Iterator[Stage]:
    """The stages after a sentence of printed numbers; none where it calls no such function inside
    another one.

    `truth` is the same sentence with numbers in full, of which what is inside is worked out.
    """
    worker = _Worker(number)
    while not (isinstance(sentence, Call) and _is_ready(sentence)):
        worker.holds = True
        next_sentence, truth = worker.step(sentence, truth)
        if next_sentence == sentence:
            return
        before, sentence = exact_value(sentence), next_sentence
        alike = before is not None and before == exact_value(sentence)  # 0·tanh(2) = 0·0.964
        yield Stage(sentence, worker.holds or alike)


def chain_stages(sentence: Expression, following: list[Stage]) -> Expression:
    """Sentence = stage ≈ stage, as one expression."""
    for stage in following:
        sentence = Call("comes_to" if stage.holds else "comes_near", (sentence, stage.sentence))
    return sentence


def has_rounded_stage(worked: Expression | None) -> bool:
    """Whether one of the stages is only near the one before it."""
    match worked:
        case Call(function="comes_to" | "comes_near" as relation, arguments=(before, _)):
            return relation == "comes_near" or has_rounded_stage(before)
    return False


class _Worker:
    """Works out a stage, and notes whether it `holds`."""

    def __init__(self, number: Print) -> None:
        self.number, self.holds = number, True

    def step(self, node: Expression, truth: Expression) -> tuple[Expression, Expression]:
        """One stage further: arguments that are not numbers become so, and else the function of
        them does.
        """
        if not isinstance(node, Call) or not isinstance(truth, Call):
            return node, truth
        if node.function in STAGED and _is_ready(node):
            return self.worked(node, truth)
        further = self.worked if node.function in STAGED else self.step
        pairs = [
            further(one, true) for one, true in zip(node.arguments, truth.arguments, strict=True)
        ]
        first, second = zip(*pairs, strict=True)
        return Call(node.function, first), Call(node.function, second)

    def worked(self, node: Expression, truth: Expression) -> tuple[Expression, Expression]:
        """The number that comes of a node, printed and in full."""
        if isinstance(node, Number):
            return node, truth
        value = value_of_numbers(truth)
        shown = self.number(float(value))
        self.holds &= gives(node, shown)
        # nan, not NaN, as it is printed
        return shown, Number(None, str(value if value.is_finite() else float(value)))


def _is_ready(node: Call) -> bool:
    """Whether nothing is left to do but to look the function up."""
    return node.function in STAGED and all(
        isinstance(argument, Number) for argument in node.arguments
    )
