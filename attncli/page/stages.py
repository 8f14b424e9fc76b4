"""Worked lines in stages: what stands inside a tanh or a power as a number, then what comes of it, then the result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from attncli.equation.nodes import Call, Expression, Number, walk
from attncli.equation.substitution import decimal, exact

STAGED = ("tanh", "cos", "sin", "exp", "pow")  # what nobody works out in the head

Print = Callable[[float], Number]


@dataclass(frozen=True, slots=True)
class Stage:
    """A line once more with some of its parts as numbers; `exact` where those are all that they stand for."""

    sentence: Expression
    exact: bool


def looks_up(expression: Expression) -> bool:
    """Whether there is such a function in it, whose values are hardly ever rational."""
    return any(isinstance(node, Call) and node.function in STAGED for node in walk(expression))


def stages(sentence: Expression, truth: Expression, number: Print) -> Iterator[Stage]:
    """The stages after a sentence of printed numbers; none where it calls no such function inside another one.

    `truth` is the same sentence with numbers in full, of which what is inside is worked out.
    """
    worker = _Worker(number)
    while not (isinstance(sentence, Call) and _is_ready(sentence)):
        worker.exact = True
        next_sentence, truth = worker.step(sentence, truth)
        if next_sentence == sentence:
            return
        sentence = next_sentence
        yield Stage(sentence, worker.exact)


def chained(sentence: Expression, following: list[Stage]) -> Expression:
    """Sentence = stage ≈ stage, as one expression."""
    for stage in following:
        sentence = Call("comes_to" if stage.exact else "comes_near", (sentence, stage.sentence))
    return sentence


def is_near(worked: Expression | None) -> bool:
    """Whether one of the stages is only near the one before it."""
    match worked:
        case Call(function="comes_to" | "comes_near" as relation, arguments=(before, _)):
            return relation == "comes_near" or is_near(before)
    return False


@dataclass(slots=True)
class _Worker:
    number: Print
    exact: bool = True

    def step(self, node: Expression, truth: Expression) -> tuple[Expression, Expression]:
        """One stage further: arguments that are not numbers become so, and else the function of them does."""
        if not isinstance(node, Call) or not isinstance(truth, Call):
            return node, truth
        if node.function not in STAGED:
            pairs = [self.step(one, true) for one, true in zip(node.arguments, truth.arguments, strict=True)]
        elif _is_ready(node):
            return self.worked(node, truth)
        else:
            pairs = [self.worked(one, true) for one, true in zip(node.arguments, truth.arguments, strict=True)]
        first, second = zip(*pairs, strict=True)
        return Call(node.function, first), Call(node.function, second)

    def worked(self, node: Expression, truth: Expression) -> tuple[Expression, Expression]:
        """The number that comes of a node, printed and in full."""
        if isinstance(node, Number):
            return node, truth
        value = decimal(truth, {}, {}, nowhere, {})
        shown = self.number(float(value))
        self.exact &= exact(node) is not None and bool(exact(node) == shown.value)
        return shown, Number(None, str(value))


def _is_ready(node: Call) -> bool:
    """Whether nothing is left to do but to look the function up."""
    return node.function in STAGED and all(isinstance(argument, Number) for argument in node.arguments)


def nowhere(name: str, index: tuple[int, ...]) -> Decimal:
    """In the place of arrays, for a sentence that holds numbers only."""
    raise LookupError(f"{name}{list(index)} is still in a sentence that should hold numbers only")
