"""Worked lines of functions that are looked up: 50·tanh(100 / 50) = 50·tanh(2) ≈ 50·0.964.

Nobody works out tanh by hand. So its argument is worked out first, then the function is looked up,
and what is around it follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from attncli.equation.nodes import Call, Expression, Number
from attncli.equation.substitution import exact_value
from attncli.page.relation import LOOKED_UP, gives, value_of_numbers

NumberPrinter = Callable[[float], Number]


class Stage(NamedTuple):
    """A line once more with some of its parts as numbers, 50·tanh(2) for 50·tanh(100 / 50).

    It `holds` where it comes to the same as the stage before: then `=` stands between them.
    """

    sentence: Expression
    holds: bool


def stages(sentence: Expression, truth: Expression, printed: NumberPrinter) -> Iterator[Stage]:
    """The stages after a sentence of printed numbers; none where no function is inside another one.

    `truth` is the same sentence with numbers in full, of which what is inside is worked out.
    """
    while not _is_ready(sentence):
        worker = _StageWorker(printed)
        further, truth = worker.step(sentence, truth)
        if further == sentence:
            return
        yield Stage(further, worker.holds or _are_equal(sentence, further))
        sentence = further


def chain_stages(sentence: Expression, following: Sequence[Stage]) -> Expression:
    """Sentence = stage ≈ stage, as one expression."""
    for stage in following:
        relation = "comes_to" if stage.holds else "comes_near"
        sentence = Call(relation, (sentence, stage.sentence))
    return sentence


def has_rounded_stage(work: Expression | None) -> bool:
    """Whether one of the stages is only near the one before it."""
    match work:
        case Call(function="comes_near"):
            return True
        case Call(function="comes_to", arguments=(before, _)):
            return has_rounded_stage(before)
        case _:
            return False


class _StageWorker:
    """Works out one stage, and notes whether it `holds`."""

    def __init__(self, printed: NumberPrinter) -> None:
        self.printed = printed
        self.holds = True

    def step(self, node: Expression, truth: Expression) -> tuple[Expression, Expression]:
        """One stage further: arguments that are not numbers become so, or else their function does.

        50·tanh(100 / 50) becomes 50·tanh(2), and this becomes 50·0.964.
        """
        if not isinstance(node, Call) or not isinstance(truth, Call):
            return node, truth
        if _is_ready(node):
            return self.worked(node, truth)
        further = self.worked if node.function in LOOKED_UP else self.step
        shown: list[Expression] = []
        in_full: list[Expression] = []
        for argument, true_argument in zip(node.arguments, truth.arguments, strict=True):
            one, true = further(argument, true_argument)
            shown.append(one)
            in_full.append(true)
        return Call(node.function, tuple(shown)), Call(node.function, tuple(in_full))

    def worked(self, node: Expression, truth: Expression) -> tuple[Expression, Expression]:
        """The number that comes of a node, printed and in full."""
        if isinstance(node, Number):
            return node, truth
        value = value_of_numbers(truth)
        shown = self.printed(float(value))
        self.holds &= gives(node, shown)
        if value.is_finite():
            return shown, Number(None, str(value))
        # A float says nan as pages print it, and a Decimal says NaN.
        return shown, Number(None, str(float(value)))


def _is_ready(node: Expression) -> bool:
    """Whether nothing is left to do but to look the function up."""
    if not isinstance(node, Call) or node.function not in LOOKED_UP:
        return False
    return all(isinstance(argument, Number) for argument in node.arguments)


def _are_equal(sentence: Expression, further: Expression) -> bool:
    """Whether both have the same exact value, although a part was rounded: 0·tanh(2) = 0·0.964."""
    value = exact_value(sentence)
    return value is not None and value == exact_value(further)
